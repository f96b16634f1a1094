"""The beginning of a stream: its first documents, which are kept until a fit of them is good.

EM finds the optimum next to where it begins, and a start from twenty or a hundred documents is next
to a bad one: however long a stream goes on, it stays some percent behind one fit of all documents.
Softer first fits and faster forgetting do not help, since even EM on all documents does not from a
random start. What helps is a start from more documents (docs/design.md, Streams). So the documents
of the first batches, as counts of terms, stay in the model until there are 80 for each topic and
400 at least. They are fitted anew whenever they have doubled, and a last time when they are
complete; then they are dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.params import check_int
from coview.views.container import Views
from coview.views.density import has_negatives, is_dense_real
from coview.views.vocabulary import read_known

DOCS_PER_TOPIC = 80
ENOUGH_DOCS = 400  # to learn weights of views: with a hundred a good view may get none
GROWTH = 2  # documents are fitted anew when there are so many times more


def docs_of_start(first_docs: Any, n_topics: int, half_life: float | None = None) -> int:
    """Return how many documents a stream begins with: those wanted, or by the number of topics."""
    if not isinstance(first_docs, str) or first_docs != "auto":
        return check_int("first_docs", first_docs, 0)
    enough = max(ENOUGH_DOCS, DOCS_PER_TOPIC * n_topics)
    return enough if half_life is None else min(enough, int(half_life))


@dataclass(frozen=True)
class FirstDocs:
    """The first documents of a stream, with the labels (documents,) that were given, or -1."""

    views: Views
    labels: np.ndarray
    wanted: int  # how many there shall be

    @classmethod
    def of(cls, views: Views, labels: Any, wanted: int) -> FirstDocs:
        """Return the documents of a batch; None are no labels."""
        given = np.full(views.n_docs, -1) if labels is None else np.asarray(labels, dtype=np.int64)
        return cls(views, given, wanted)

    def as_data(self) -> dict[str, Any]:
        """Return copies of the documents as plain arrays, for `first_docs_` and the model file.

        Views share the arrays that they are given, and a stream may fill the same ones again.
        """
        parts = {
            name: {
                "values": m.data.copy(),
                "indices": m.indices.copy(),
                "indptr": m.indptr.astype(np.int64),
            }
            for name, m in self.views.matrices.items()
        }
        present, labels = self.views.present.copy(), self.labels.copy()
        return {"views": parts, "present": present, "labels": labels, "wanted": self.wanted}

    @classmethod
    def from_data(
        cls,
        data: Mapping[str, Any],
        features: Mapping[str, Any],
        widths: Mapping[str, int],
        real: Collection[str] = (),
    ) -> FirstDocs:
        """Return the documents that `as_data` has written, with the present columns of a model.

        The views in `real` are known to hold measurements, which may be negative.
        """
        n_docs = len(data["labels"])
        matrices = {}
        for name, part in data["views"].items():
            arrays = part["values"], part["indices"], part["indptr"]
            matrices[name] = sp.csr_array(arrays, shape=(n_docs, widths[name]))
        named = {name: names for name, names in features.items() if names is not None}
        views = read_known(matrices, real, features=named, present=data["present"])
        return cls(views, data["labels"], data["wanted"])

    def with_batch(self, batch: FirstDocs, real: Collection[str] = ()) -> FirstDocs:
        """Return the documents with those of a batch, of the same columns, behind them.

        The batch says how many there shall be. `real` are the views of measurements.
        """
        n_new, new = batch.views.n_docs, batch.views.matrices
        masks = dict(zip(batch.views.names, batch.views.present.T, strict=True))
        matrices = {}
        for name, matrix in self.views.matrices.items():
            nothing = sp.csr_array((n_new, matrix.shape[1]), dtype=matrix.dtype)
            both = [matrix, new.get(name, nothing)]
            matrices[name] = sp.csr_array(sp.vstack(both, format="csr"))
        lacking = np.zeros(n_new, bool)
        present = np.column_stack([masks.get(name, lacking) for name in matrices])
        present = np.vstack([self.views.present, present])
        named = {name: names for name, names in self.views.features.items() if names is not None}
        views = read_known(matrices, real, features=named, present=present)
        return FirstDocs(views, np.concatenate([self.labels, batch.labels]), batch.wanted)

    @property
    def n_docs(self) -> int:
        """The number of documents that have a term; the others teach nothing."""
        filled = [np.diff(m.indptr) > 0 for m in self.views.matrices.values()]
        return int(np.count_nonzero(np.any(filled, axis=0)))

    @property
    def complete(self) -> bool:
        """Whether there are as many as there shall be."""
        return self.n_docs >= self.wanted

    def can_be_fitted(self) -> bool:
        """Return whether all views that are negative are dense enough to be measurements."""
        matrices = self.views.matrices.values()
        return all(is_dense_real(m) for m in matrices if has_negatives(m))


def same_numbers(before: np.ndarray, after: np.ndarray, held: Iterable[int]) -> np.ndarray:
    """Return which topic of a new fit gets number 0, 1, ...: the one whose documents it had.

    Parameters
    ----------
    before, after : ndarray of shape (documents, topics)
        Mixtures of the same documents, under the old and the new topics.
    held : iterable of int
        Topics that have their numbers from labels or seeds.

    Examples
    --------
    >>> before = np.array([[0.9, 0.1, 0.0], [0.0, 0.8, 0.2], [0.1, 0.0, 0.9]])
    >>> same_numbers(before, before[:, [2, 0, 1]], [])
    array([1, 2, 0])
    """
    from scipy.optimize import linear_sum_assignment

    meet = before.T.astype(np.float64) @ after.astype(np.float64)
    for z in held:
        meet[z, z] += len(before) + 1.0
    return linear_sum_assignment(meet, maximize=True)[1]


def renumber(model: Any, order: Sequence[int] | np.ndarray) -> None:
    """Give the topics of a fitted model other numbers: topic order[z] becomes z."""
    new_of, own = np.argsort(order), vars(model)
    for name in ("components_", "topic_links_", "term_docs_", "view_docs_"):
        if name in own:
            setattr(model, name, {view: topics[order] for view, topics in own[name].items()})
    done: dict[int, np.ndarray] = {}  # views may share their mixtures
    for mixtures in (model.doc_topic_, *model.view_doc_topic_.values()):
        if id(mixtures) not in done:
            done[id(mixtures)] = np.ascontiguousarray(mixtures[:, order])
    model.doc_topic_ = done[id(model.doc_topic_)]
    model.view_doc_topic_ = {view: done[id(m)] for view, m in model.view_doc_topic_.items()}
    model.labels_ = new_of[model.labels_]
    if "topic_centers_" in own:
        model.topic_centers_ = np.ascontiguousarray(model.topic_centers_[order][:, order])


def keep_last(model: Any, n_docs: int) -> None:
    """Cut the attributes of documents to the last ones, those of the batch."""
    first = len(model.doc_topic_) - n_docs
    done = {id(m): m[first:].copy() for m in (model.doc_topic_, *model.view_doc_topic_.values())}
    model.doc_topic_ = done[id(model.doc_topic_)]
    model.view_doc_topic_ = {view: done[id(m)] for view, m in model.view_doc_topic_.items()}
    model.labels_, model.present_ = model.labels_[first:].copy(), model.present_[first:].copy()
    model.empty_rows_ = model.empty_rows_[model.empty_rows_ >= first] - first
