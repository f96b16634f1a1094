r"""Guidance by people: which documents to label next, `suggest_labels`.

Each view of a document is folded in alone. With the mixtures p_v(z|d) of the views it has, their
mean p(z|d), and the entropy H,

    disagreement   H( mean_v p_v ) - mean_v H( p_v )          Jensen-Shannon divergence of the views
    uncertainty    H( p(z|d) )                                of the mixture of all views together

each as a share of the largest value it can have: log of the smaller of the numbers of views and
topics, and log of the number of topics. The score is their mean. Uncertainty alone is 0 where all
views are sure, also of different topics; disagreement alone is 0 where all are equally lost.

The suggestions take turns among the topics the documents are now assigned to, so that n of them are
not n copies of one question.

They show where model and views are in doubt. That is not the same as the fastest way to accuracy:
on the five data sets where it was measured, labels of random documents did as well on average
(experiments/defaults/label_suggestions.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coview.models import fitted_model
from coview.params import check_int
from coview.reporting import topic_names
from coview.views.container import Views
from coview.views.labels import is_unlabeled, label_array
from coview.wording import plural


@dataclass(frozen=True)
class Suggestion:
    """A document to label.

    Attributes
    ----------
    row : int
        Its row in the views.
    id : str or None
        Its id, where the views have ids.
    score : float
        Mean of `disagreement` and `uncertainty`.
    disagreement, uncertainty : float
        Between 0 and 1.
    topic : int
        The topic it is assigned to now.
    reason : str
        In words: what the views say, or between which topics the mixture is.
    """

    row: int
    id: str | None
    score: float
    disagreement: float
    uncertainty: float
    topic: int
    reason: str


def suggest_labels(model: Any, views: Any, n: int = 10, *, labels: Any = None) -> list[Suggestion]:
    """Return the documents of which the views, or the model, are least sure, as ones to label.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    views : Views, or what the model's `transform` takes
        The documents to choose from.
    n : int, default=10
        How many to suggest; fewer if there are fewer.
    labels : array-like of shape (documents,), optional
        Labels known so far; -1, None, NaN and empty texts mean unlabeled. Documents with a label
        are left out.

    Returns
    -------
    list of Suggestion
        Documents without a single count are never among them: their label teaches nothing.

    Examples
    --------
    >>> import coview
    >>> views = coview.Views({
    ...     "words": [[4, 2, 0, 0], [3, 3, 0, 1], [0, 0, 5, 2], [0, 1, 2, 4], [3, 2, 0, 0]],
    ...     "links": [[2, 0], [3, 0], [0, 3], [0, 4], [0, 3]],
    ... })
    >>> y = ["sport", None, "politics", None, None]
    >>> classifier = coview.TopicClassifier(coview.LinkPLSA(random_state=0)).fit(views, y)
    >>> coview.suggest_labels(classifier, views, 1, labels=y)[0].row
    4
    """
    n = check_int("n", n, 1)
    inner = fitted_model(model)
    known = inner.as_views(views)
    judged = _judge(inner, known)
    open_ = _unlabeled(labels, known.n_docs) & ~judged.empty
    rows = _in_turns(judged.score, judged.topic, np.flatnonzero(open_))[:n]
    names = [f"topic {z}" if name is None else name for z, name in enumerate(topic_names(model))]
    return [
        Suggestion(
            row=int(row),
            id=None if known.ids is None else str(known.ids[row]),
            score=float(judged.score[row]),
            disagreement=float(judged.disagreement[row]),
            uncertainty=float(judged.uncertainty[row]),
            topic=int(judged.topic[row]),
            reason=_reason(judged, row, known, names),
        )
        for row in rows
    ]


@dataclass(frozen=True)
class _Judged:
    """What a model says of documents, by all views together and by each alone."""

    mixture: np.ndarray  # (documents, topics)
    by_view: np.ndarray  # (views, documents, topics)
    says: np.ndarray  # (views, documents) whether the view has a count that the model knows
    topic: np.ndarray
    empty: np.ndarray

    @property
    def uncertainty(self) -> np.ndarray:
        return _entropy(self.mixture) / np.log(max(self.mixture.shape[1], 2))

    @property
    def disagreement(self) -> np.ndarray:
        share = self.says / np.maximum(self.says.sum(axis=0), 1)
        mean = np.einsum("vd,vdz->dz", share, self.by_view)
        divergence = _entropy(mean) - np.einsum("vd,vd->d", share, _entropy(self.by_view))
        most = np.log(max(min(len(self.says), self.mixture.shape[1]), 2))
        return np.maximum(divergence, 0) / most

    @property
    def score(self) -> np.ndarray:
        return (self.disagreement + self.uncertainty) / 2


def _judge(model: Any, views: Views) -> _Judged:
    """Fold documents in by all views together, and by each view alone."""
    together = model.fold_in(views)
    alone = [model.fold_in(views.select(name)) for name in views.names]
    return _Judged(
        mixture=together.doc_topic.astype(np.float64),
        by_view=np.stack([each.doc_topic for each in alone]).astype(np.float64),
        says=np.stack([~each.empty for each in alone]),
        topic=together.labels,
        empty=together.empty,
    )


def _entropy(p: np.ndarray) -> np.ndarray:
    """Return the entropy of distributions along the last axis."""
    return -(p * np.log(np.maximum(p, 1e-300))).sum(axis=-1)


def _unlabeled(labels: Any, n_docs: int) -> np.ndarray:
    if labels is None:
        return np.ones(n_docs, bool)
    labels = label_array(labels)
    if labels.shape != (n_docs,):
        raise ValueError(
            f"labels must have one entry for each of {plural(n_docs, 'document')}, None or -1 for "
            f"those without a label; found the shape {labels.shape}."
        )
    return is_unlabeled(labels)


def _in_turns(score: np.ndarray, topic: np.ndarray, rows: np.ndarray) -> list[int]:
    """Return rows in rounds: in each the best of every topic, by score."""
    best_first = rows[np.argsort(-score[rows], kind="stable")]
    turns: dict[int, int] = {}
    rounds = np.empty(len(rows), int)
    for i, row in enumerate(best_first):
        rounds[i] = turns.get(topic[row], 0)
        turns[topic[row]] = rounds[i] + 1
    return best_first[np.argsort(rounds, kind="stable")].tolist()


def _reason(judged: _Judged, row: int, views: Views, names: Sequence[str]) -> str:
    """Return in words why a document is suggested."""
    opinions = {
        name: judged.by_view[v, row] for v, name in enumerate(views.names) if judged.says[v, row]
    }
    favorites = {int(p.argmax()) for p in opinions.values()}
    if judged.disagreement[row] >= judged.uncertainty[row] and len(favorites) > 1:
        said = (f"{view} says {_share(p, p.argmax(), names)}" for view, p in opinions.items())
        return f"the views disagree: {', '.join(said)}"
    mixture = judged.mixture[row]
    first, *others = np.argsort(-mixture, kind="stable")[:2]
    between = [_share(mixture, z, names) for z in (first, *others)]
    return f"the mixture is between {' and '.join(between)}"


def _share(mixture: np.ndarray, z: Any, names: Sequence[str]) -> str:
    return f"{names[int(z)]} ({mixture[int(z)]:.0%})"
