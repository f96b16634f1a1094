"""New documents: how they are read, matched with a model's views, folded in and labeled."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coview.em.emissions import Topics
from coview.em.loop import fold_in
from coview.em.prepared import Prepared, prepare
from coview.em.problem import Problem
from coview.em.simplex import pad_topics
from coview.em.starts import Start, deterministic_kmeans
from coview.params import check_dtype
from coview.reading.recipes import is_raw, read_raw
from coview.runners.threads import ThreadRunner
from coview.scores import warn_of_unseen
from coview.views.container import Views
from coview.views.vocabulary import match_features

FOLD_IN_ITERATIONS = 200
FOLD_IN_TOLERANCE = 1e-4  # largest movement of a share p(z|d) at which a document is at rest


class NewDocumentsMixin(TransformerMixin):
    """`read`, `transform`, `predict` and `predict_proba` of a fitted model."""

    components_: dict[str, np.ndarray]
    feature_names_: dict[str, np.ndarray | None]
    unseen_terms_: dict[str, np.ndarray]
    view_names_: tuple[str, ...]
    view_weights_: dict[str, float]
    recipes_: Any
    scaling_: Any
    dtype: Any
    n_jobs: int | None
    _n_features_out: int
    topic_centers_: np.ndarray
    assign: str
    _consensus: Callable[..., np.ndarray]

    def read(self, raw: Mapping[str, Any]) -> Views:
        """Raw documents (texts, lists of tokens, pictures) as views of this model.

        Parameters
        ----------
        raw : dict of list
            For some of the views made from raw data, the new documents: ``{"en": [text, None]}``.
            None is an absent view.

        Returns
        -------
        Views
        """
        check_is_fitted(self)
        parts = read_raw(self.recipes_, raw)
        features = {name: self.feature_names_[name] for name in parts["data"]}
        return Views(**parts, features=features)

    def transform(self, X) -> np.ndarray:
        """Fold documents in: their mixtures under the fitted topics.

        Parameters
        ----------
        X : Views, dict of matrices or of raw documents, or a matrix when the model has one view
            Any subset of the views the model was fitted on. ``{"en": ["a text", "another"]}`` is
            read by the recipe of the view, if it was made from raw data.

        Returns
        -------
        doc_topic : ndarray of shape (documents, n_components)
        """
        return self._mixtures(X)

    def predict(self, X) -> np.ndarray:
        """The topic of each document, after folding it in."""
        return self._assign(self._mixtures(X))

    def predict_proba(self, X) -> np.ndarray:
        """p(z|d) of each document, after folding it in: the same numbers as `transform`."""
        return self._mixtures(X)

    def _assign(self, doc_topic: np.ndarray) -> np.ndarray:
        """Return the topic of each document from its mixture."""
        if self.assign == "kmeans":
            return nearest_center(doc_topic, self.topic_centers_)
        return doc_topic.argmax(axis=1)

    def _mixtures(self, X) -> np.ndarray:
        """What `transform` gives, always as an array (set_output wraps `transform` itself)."""
        problem, data = self._fold_in(self._new_data(X), self.components_)
        mixtures = [np.ascontiguousarray(m) for m in problem.mixtures]
        return self._consensus(mixtures, problem.slots, data)

    def _new_data(self, X) -> Prepared:
        check_is_fitted(self)
        views = self._known_views(X)
        matrices = {}
        for name, matrix in views.matrices.items():
            matrices[name] = match_features(
                matrix,
                views.features[name],
                self.feature_names_[name],
                name,
                width=self.components_[name].shape[1],
                owner=type(self).__name__,
            )
        views = Views(matrices, present=views.present)
        data = prepare(views, self.scaling_, check_dtype(self.dtype))
        warn_of_unseen(data, self.unseen_terms_)
        return replace(data, weights=tuple(self.view_weights_[n] for n in data.names))

    def _known_views(self, X) -> Views:
        """X as views of this model, in the model's order."""
        bare = not isinstance(X, Views | Mapping | list | tuple) or _is_rows(X)
        if bare and len(self.view_names_) == 1:
            return Views({self.view_names_[0]: X})
        if is_raw(X):
            X = self.read(X)
        views = X if isinstance(X, Views) else Views(X)
        unknown = [n for n in views.names if n not in self.view_names_]
        if unknown:
            raise ValueError(
                f"{type(self).__name__} was fitted on the views {', '.join(self.view_names_)}; "
                f"got {', '.join(unknown)} as well. Leave out what the model does not know "
                "(views.select(...)), or name the matrices as in fit."
            )
        return views.select(*(n for n in self.view_names_ if n in views.names))

    def _fold_in(self, data: Prepared, components) -> tuple[Problem, Prepared]:
        data = data if data.blocks else data.cut(columns=False)
        uniform = np.full((data.n_docs, self._n_features_out), 1 / self._n_features_out)
        start = Start("uniform", pad_topics(uniform, data.dtype), ())
        problem = self._fold_in_problem(data, self._fold_in_topics(components, data), start)
        with ThreadRunner(self.n_jobs) as run:
            return fold_in(problem, run, FOLD_IN_ITERATIONS, FOLD_IN_TOLERANCE), data

    def _fold_in_topics(self, components, data: Prepared) -> list[Topics]:
        return [Topics.from_rows(components[n], data.dtype) for n in data.names]

    def _fold_in_problem(self, data: Prepared, emissions, start: Start) -> Problem:
        """How new documents hang together; one mixture for all views unless the model says more."""
        return Problem.of(data, emissions, (start.theta,), (0,) * len(data.names))


def _is_rows(X):
    """Whether a list is one matrix as nested lists of numbers, not a list of views."""
    return isinstance(X, list | tuple) and bool(len(X)) and np.ndim(X[0]) == 1


# -- labels from mixtures --------------------------------------------------------------------------


def topic_centers(theta: np.ndarray, seed: int) -> np.ndarray:
    """Return k-means centers of mixtures (documents, topics); center k belongs to topic k.

    Where there are fewer distinct mixtures than topics, the remaining centers are the corners.
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.cluster import KMeans

    n_topics = theta.shape[1]
    n_clusters = min(n_topics, len(np.unique(theta, axis=0)))
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
