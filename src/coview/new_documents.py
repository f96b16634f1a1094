"""New documents: align them with a fitted model, fold them in, and give them topics.

A view that X leaves out is left out of the problem; a document that lacks a view has no counts in
it, so the view adds nothing to its mixture. `BaseViewsModel._consensus` takes the mean over the
views that are present.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import TransformerMixin
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted

from coview.documents import read_documents, read_raw_views, unknown_words
from coview.em.emissions import Topics
from coview.em.ensemble_view import without_ensemble_view
from coview.em.loop import fold_in
from coview.em.precision import check_weighted
from coview.em.prepared import Guess, Prepared, check_guess, prepare
from coview.em.problem import Problem
from coview.em.scaling import count_clipped, warn_of_clipped
from coview.em.simplex import Room, mean_mixture, pad_topics
from coview.em.starts import Start, deterministic_kmeans
from coview.em.term_documents import term_documents, topic_documents
from coview.em.unseen_terms import warn_of_unseen
from coview.params import check_dtype, check_factor, check_fold_in, check_positive
from coview.reading.left_out import name_left_out
from coview.runners.threads import ThreadRunner, in_this_thread
from coview.shards.sharded import ShardedViews
from coview.views.container import Views
from coview.views.labels import mark_unknown
from coview.views.vocabulary import known_views, match_views

SMALL_WORK = 1 << 24  # non-zeros times topics times iterations: no pool for some milliseconds
FEW_MIXTURES = 1000  # mostly have as many distinct ones as there are topics
FEW_TERMS = 0.25  # of a view; documents that have fewer get topics of these terms alone


@dataclass(frozen=True)
class FoldedIn:
    """New documents under the topics of a fitted model.

    Attributes
    ----------
    doc_topic : ndarray of shape (documents, n_components)
        One mixture p(z|d) for each document, as `transform` returns it.
    view_doc_topic : dict of ndarray of shape (documents, n_components)
        The mixture that explains each view given.
    labels : ndarray of int of shape (documents,)
        The topic of each document; it means nothing where the document is `empty`.
    empty : ndarray of bool of shape (documents,)
        Documents without a single count that the model knows; their mixture is uniform.
    clipped : dict of int
        For the views that may have negative values, how many values were beyond the range of
        training and were cut off; not counted in views on disk.
    """

    doc_topic: np.ndarray
    view_doc_topic: dict[str, np.ndarray]
    labels: np.ndarray
    empty: np.ndarray
    clipped: dict[str, int] = field(default_factory=dict)


class NewDocumentsMixin(TransformerMixin):
    """Methods of a fitted model for new documents: `read`, `transform`, `predict` and the like."""

    components_: dict[str, np.ndarray]
    feature_names_: dict[str, np.ndarray | None]
    unseen_terms_: dict[str, np.ndarray]
    view_names_: tuple[str, ...]
    view_weights_: dict[str, float]
    recipes_: Any
    scaling_: Any
    doc_topic_prior: float
    fold_in_max_iter: int
    fold_in_tol: float
    dtype: Any
    n_jobs: int | None
    _n_features_out: int
    topic_centers_: np.ndarray
    assign: str
    doc_topic_: np.ndarray
    labels_: np.ndarray

    def read(self, raw: Mapping[str, Any], *, new_terms: bool = False) -> Views:
        """Read raw documents (texts, lists of tokens, pictures) as views of this model.

        Parameters
        ----------
        raw : dict of list
            For some of the views made from raw data, the new documents: ``{"en": [text, None]}``.
            None is an absent view.
        new_terms : bool, default=False
            Whether words that the model does not know are counted as well, in columns after
            those that it knows, as `partial_fit` takes them.

        Returns
        -------
        Views
        """
        check_is_fitted(self)
        return Views(**read_raw_views(self, raw, new_terms))

    def transform(self, X: Any) -> np.ndarray:
        """Fold documents in: return their mixtures under the fitted topics.

        Each document on its own; in `LTM` and `MGGM` smoothed over its neighbors among the training
        documents.

        Parameters
        ----------
        X : Views, dict of matrices or of raw documents, or a matrix when the model has one view
            Any subset of the views the model was fitted on. ``{"en": ["a text", "another"]}`` is
            read by the recipe of the view, if it was made from raw data; so is one text, ``{"en":
            "a text"}``, a DataFrame with such columns, and texts without a name if the model reads
            one column. `ShardedViews` are read block by block.

        Returns
        -------
        doc_topic : ndarray of shape (documents, n_components)
        """
        return self._mixtures(X)[0]

    def predict(self, X: Any, *, unknown: Literal["mark", "guess"] = "mark") -> np.ndarray:
        """Return the topic of each document, after folding it in.

        Parameters
        ----------
        X : as in `transform`
        unknown : {"mark", "guess"}, default="mark"
            What to say of documents without a single count that the model knows: "mark" gives -1,
            with a warning that tells how many; "guess" gives the topic that a uniform mixture has.

        Returns
        -------
        labels : ndarray of int of shape (documents,)
        """
        found = self.fold_in(X)
        why = self.why_empty(X, found.empty)
        return mark_unknown(found.labels, found.empty, unknown, why=why)

    def why_empty(self, X: Any, empty: np.ndarray) -> str:
        """Return why the words of the first empty document are not known, in words.

        Parameters
        ----------
        X : as in `transform`
        empty : ndarray of bool of shape (documents,)
            See `FoldedIn`.

        Returns
        -------
        str
            Empty if no document is, or X is not raw.
        """
        if not empty.any():
            return ""
        return name_left_out(unknown_words(self, X, row=int(np.argmax(empty))))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return p(z|d) of each document, after folding it in: the same numbers as `transform`.

        Parameters
        ----------
        X : as in `transform`

        Returns
        -------
        doc_topic : ndarray of shape (documents, n_components)
        """
        return self._mixtures(X)[0]

    def fold_in(self, X: Any, *, guess: Any = None, guess_strength: float = 1.0) -> FoldedIn:
        """Fold documents in: return mixtures, topics, and which documents are empty, in one call.

        Unlike `transform` this returns arrays whatever the setting of `set_output`.

        Parameters
        ----------
        X : as in `transform`
        guess : array-like of shape (documents, n_components), optional
            A guess of each mixture: see `fit`.
        guess_strength : float, default=1.0
            How many votes the guess has in a mixture; the document's counts have one.

        Returns
        -------
        FoldedIn
        """
        views = X if isinstance(X, ShardedViews) else self.as_views(X)
        checked = check_guess(guess, guess_strength, views.n_docs, self._n_features_out)
        doc_topic, by_view, empty = self._mixtures(views, checked)
        clipped = {} if isinstance(views, ShardedViews) else count_clipped(views, self.scaling_)
        return FoldedIn(doc_topic, by_view, self._assign(doc_topic), empty, clipped)

    def _mixtures(
        self, X: Any, guess: Guess | None = None
    ) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
        """Return the mixture of each document, those of its views, and which are empty."""
        if isinstance(X, ShardedViews):
            return self._mixtures_from_disk(X, guess)
        data = self._new_data(X).with_guess(guess)
        problem, data = self._fold_in_data(*_own_terms(data, self.components_))
        mixtures = [np.ascontiguousarray(m) for m in problem.mixtures]
        doc_topic = self._consensus(mixtures, problem.slots, data)
        by_view = {n: mixtures[slot] for n, slot in zip(data.names, problem.slots, strict=True)}
        return doc_topic, by_view, data.empty

    def _mixtures_from_disk(
        self, sharded: ShardedViews, guess: Guess | None
    ) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
        """Return the same block by block: documents do not depend on each other."""
        parts = []
        for start, stop in sharded.blocks:
            here = guess and (guess[0][start:stop], guess[1])
            parts.append(self._mixtures(sharded.take(np.arange(start, stop)), here))
        mixtures, by_view, empty = zip(*parts, strict=True)
        every = {name: np.concatenate([part[name] for part in by_view]) for name in by_view[0]}
        return np.concatenate(mixtures), every, np.concatenate(empty)

    def _state(self, problem: Problem, data: Prepared, room: Room = np.empty) -> dict[str, Any]:
        """Return the fitted attributes that `transform` needs; `room` makes large arrays."""
        k = problem.n_topics
        mixtures = [np.ascontiguousarray(m) for m in problem.mixtures]
        components = [np.ascontiguousarray(e.by_term[:, :k].T) for e in problem.emissions]
        by_view = {n: mixtures[slot] for n, slot in zip(data.names, problem.slots, strict=True)}
        given = data.without_ensemble_view()
        attributes = {
            "components_": dict(zip(data.names, components, strict=True)),
            "view_doc_topic_": by_view,
            "doc_topic_": self._consensus(mixtures, problem.slots[: len(given.names)], given, room),
            "_n_features_out": k,
            **self._own_attributes(problem, data),
        }
        return without_ensemble_view(attributes)

    def _evidence(
        self,
        problem: Problem,
        data: Prepared,
        runner: Any,
        dense: list[str],
        mixtures: Mapping[str, np.ndarray],
    ) -> dict[str, Any]:
        """Return how many documents stand behind the topics, and each of their terms."""
        has = dict(zip(data.names, data.present.T, strict=True))
        return without_ensemble_view(
            {
                "term_docs_": term_documents(problem, runner, data.names, dense),
                "view_docs_": {n: topic_documents(m, has[n]) for n, m in mixtures.items()},
                "dense_views_": dense,
            }
        )

    def _own_attributes(self, problem: Problem, data: Prepared) -> dict[str, Any]:
        """Return the fitted attributes beyond the common ones."""
        return {}

    def _consensus(
        self,
        mixtures: Sequence[np.ndarray],
        slots: Sequence[int],
        data: Prepared,
        room: Room = np.empty,
    ) -> np.ndarray:
        """Return one mixture for each document: the weighted mean over the views it has.

        `room(shape, dtype)` makes the array, if there is more than one mixture.
        """
        if len(mixtures) == 1:
            return mixtures[0]
        return mean_mixture(mixtures, slots, data.present, data.weights, room)

    def _assign(self, doc_topic: np.ndarray) -> np.ndarray:
        """Return the topic of each document from its mixture."""
        if self.assign == "kmeans":
            return nearest_center(doc_topic, self.topic_centers_)
        return doc_topic.argmax(axis=1)

    def _label(self, data: Prepared, seed: int) -> None:
        """Set `labels_`, and `topic_centers_` where labels follow from k-means."""
        self.__dict__.pop("topic_centers_", None)  # of an earlier fit
        if self.assign == "kmeans":
            self.topic_centers_ = topic_centers(self.doc_topic_, seed)
        self.labels_ = with_pins(self._assign(self.doc_topic_), data)

    def _run_labels(self, problem: Problem, data: Prepared, seed: int) -> np.ndarray:
        """Return the labels of the training documents in a finished run that may not be kept."""
        given = data.without_ensemble_view()
        slots = problem.slots[: len(given.names)]
        doc_topic = self._consensus(problem.mixtures, slots, given)
        if self.assign == "kmeans":
            labels = nearest_center(doc_topic, topic_centers(doc_topic, seed))
        else:
            labels = doc_topic.argmax(axis=1)
        return with_pins(labels, data)

    def as_views(self, X: Any) -> Views:
        """Return documents as views of this model: in its order, with its columns.

        Parameters
        ----------
        X : as in `transform`

        Returns
        -------
        Views
            X itself if nothing has to change.
        """
        check_is_fitted(self)
        owner = type(self).__name__
        widths = {name: topics.shape[1] for name, topics in self.components_.items()}
        views = known_views(read_documents(self, X), self.view_names_, owner)
        return match_views(views, self.feature_names_, widths, owner)

    def as_counts(self, X: Any) -> dict[str, sp.csr_array]:
        """Return documents as the numbers that this model works on: see `scaling`.

        Parameters
        ----------
        X : as in `transform`

        Returns
        -------
        dict of csr_array of shape (documents, terms)
        """
        data = prepare(self.as_views(X), self.scaling_, check_dtype(self.dtype))
        return dict(zip(data.names, data.matrices, strict=True))

    def _new_data(self, X: Any) -> Prepared:
        """Return new documents as the engine takes them, with the weights of the fit."""
        views = self.as_views(X)
        warn_of_clipped(views, count_clipped(views, self.scaling_))
        data = prepare(views, self.scaling_, check_dtype(self.dtype))
        warn_of_unseen(data, self.unseen_terms_)
        weights = {name: self.view_weights_[name] for name in data.names}
        check_weighted(weights, data.matrices)
        data = replace(data, weights=tuple(weights.values()))
        prior = check_factor(
            "doc_topic_prior", check_positive("doc_topic_prior", self.doc_topic_prior)
        )
        return data.with_prior(prior, topic_word=1.0)  # topics stay as they are

    def _fold_in_data(
        self, data: Prepared, components: Mapping[str, np.ndarray]
    ) -> tuple[Problem, Prepared]:
        """Run EM on the mixtures alone, from uniform ones; the topics p(w|z) stay as they are."""
        # they may be set after the fit
        max_iter, tol = check_fold_in(self.fold_in_max_iter, self.fold_in_tol)
        data = data if data.blocks else data.cut(columns=False)
        uniform = np.full((data.n_docs, self._n_features_out), 1 / self._n_features_out)
        start = Start("uniform", pad_topics(uniform, data.dtype), ())
        problem = self._fold_in_problem(data, self._fold_in_topics(components, data), start)
        work = sum(m.nnz for m in data.matrices) * self._n_features_out * max_iter
        if work <= SMALL_WORK:
            return fold_in(problem, in_this_thread, max_iter, tol), data
        with ThreadRunner(self.n_jobs) as run:
            return fold_in(problem, run, max_iter, tol), data

    def _fold_in_topics(self, components: Mapping[str, np.ndarray], data: Prepared) -> list[Topics]:
        return [Topics.from_rows(components[n], data.dtype) for n in data.names]

    def _fold_in_problem(self, data: Prepared, emissions: Any, start: Start) -> Problem:
        """Return the problem of folding in: one mixture for all views unless a model overrides."""
        return Problem.of(data, emissions, (start.theta,), (0,) * len(data.names))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True  # but for dense measurements
        tags.transformer_tags.preserves_dtype = [str(self.dtype)]
        # scikit-learn looks for these tags in every estimator with predict_proba
        tags.classifier_tags = ClassifierTags()
        return tags


def _own_terms(
    data: Prepared, components: Mapping[str, np.ndarray]
) -> tuple[Prepared, dict[str, np.ndarray]]:
    """Return the data in blocks, and the topics p(w|z) of the terms that these documents have.

    The kernels want topics term by term. To bring all of them into that order takes longer than to
    fold a document in; to keep them so with the model would take as much memory again. So blocks of
    few documents number their own terms; the matrices stay as they are.
    """
    matrices, topics = [], {}
    for name, matrix in zip(data.names, data.matrices, strict=True):
        topics[name] = components[name]
        if matrix.nnz < matrix.shape[1]:
            terms, places = np.unique(matrix.indices, return_inverse=True)
            if len(terms) <= FEW_TERMS * matrix.shape[1]:
                parts = matrix.data, places.astype(matrix.indices.dtype), matrix.indptr
                matrix = sp.csr_array(parts, shape=(matrix.shape[0], len(terms)))
                topics[name] = components[name][:, terms]
        matrices.append(matrix)
    blocks = replace(data, matrices=tuple(matrices)).cut(columns=False).blocks
    return replace(data, blocks=blocks), topics


# -- labels from mixtures --------------------------------------------------------------------------


def with_pins(labels: np.ndarray, data: Prepared) -> np.ndarray:
    """Return the labels with those that were given."""
    return labels if data.labels is None else np.where(data.labels >= 0, data.labels, labels)


def topic_centers(theta: np.ndarray, seed: int) -> np.ndarray:
    """Return k-means centers of mixtures (documents, topics); center k belongs to topic k.

    Where there are fewer distinct mixtures than topics, the remaining centers are the corners.
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.cluster import KMeans

    n_topics = theta.shape[1]
    # to sort all mixtures takes long: where there are many, a few of them are enough
    distinct = (len(np.unique(some, axis=0)) for some in (theta[:FEW_MIXTURES], theta))
    n_clusters = n_topics if next(distinct) >= n_topics else min(n_topics, next(distinct))
    with deterministic_kmeans():
        found = KMeans(n_clusters, n_init=10, random_state=seed).fit(theta).cluster_centers_
    clusters, topics = linear_sum_assignment(found, maximize=True)
    centers = np.eye(n_topics, dtype=theta.dtype)
    centers[topics] = found[clusters]
    return centers


def nearest_center(theta: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the number of the nearest center for each mixture, the lowest of equals."""
    distance = (centers**2).sum(axis=1) - 2 * (theta @ centers.T)
    return distance.argmin(axis=1)
