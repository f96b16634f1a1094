"""Fits along numbers of topics: the perplexity of documents left out, and stable topics.

The documents are dealt into three folds. `LinkPLSA` is fitted to each two of them from a k-means
start of its own, and scored on the third: half of a document's tokens give its mixture, the other
half is predicted (`BaseViewsModel.perplexity`). So each number of topics has three fits, to other
documents and from other starts. Their topics are matched one to one (Hungarian method), and
the mean similarity of those matched, the Bhattacharyya coefficient of p(w|z), is the stability.

The weights of the views are learned once, on the documents of all folds: fits with weights of
their own could not be compared, and would take twice as long.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from coview.em.starts import kmeans_labels
from coview.ensemble.reliability import ViewReliability, view_reliability
from coview.views.container import Views

N_FOLDS = 3
MAX_DOCS = 1200  # documents of all folds together
MIN_DOCS = 20  # with fewer, two thirds of them are too few to say anything
MAX_ITER = 40
TOL = 1e-4


@dataclass(frozen=True)
class FoldFits:
    """Three fits with one number of topics.

    Attributes
    ----------
    perplexity : ndarray of shape (folds,)
        Of the tokens left out.
    stability : ndarray of shape (pairs of folds,)
        Mean similarity of matched topics.
    """

    perplexity: np.ndarray
    stability: np.ndarray


@dataclass(frozen=True)
class Folds:
    """The documents to fit to, dealt into folds, with the points that k-means starts from."""

    views: Views
    points: np.ndarray
    fold: np.ndarray
    view_weights: ViewReliability | str
    seed: int

    @classmethod
    def deal(cls, views: Views, points: np.ndarray, n_topics: int, seed: int) -> Folds:
        """Deal a sample of the documents; there are about `n_topics` topics."""
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.permutation(views.n_docs)[:MAX_DOCS])
        fold = rng.permutation(np.arange(len(rows)) % N_FOLDS)
        sample = views[rows]
        several = sample.n_views > 1
        weights = view_reliability(sample, n_topics, random_state=seed) if several else "balanced"
        return cls(sample, points[rows], fold, weights, seed)

    def possible(self, n_topics: int) -> bool:
        """Return whether there are documents enough for fits with so many topics."""
        n_docs = len(self.fold)
        return n_docs >= MIN_DOCS and n_topics <= (N_FOLDS - 1) * (n_docs // N_FOLDS)

    def fit(self, n_topics: int, n_jobs: int | None) -> FoldFits:
        """Fit a model to each two folds."""
        found = [self._fit_one(n_topics, left_out, n_jobs) for left_out in range(N_FOLDS)]
        topics = [_square_roots(model) for model, _ in found]
        return FoldFits(
            perplexity=np.array([perplexity for _, perplexity in found]),
            stability=np.array([matched_similarity(a, b) for a, b in combinations(topics, 2)]),
        )

    def _fit_one(self, n_topics: int, left_out: int, n_jobs: int | None) -> tuple[Any, float]:
        from coview.models.link_plsa import LinkPLSA

        train, test = np.flatnonzero(self.fold != left_out), np.flatnonzero(self.fold == left_out)
        rng = np.random.default_rng([self.seed, n_topics, left_out])
        start = kmeans_labels(self.points[train], n_topics, rng)
        model = LinkPLSA(
            n_topics,
            init=start,
            view_weights=self.view_weights,
            max_iter=MAX_ITER,
            tol=TOL,
            random_state=0,
            n_jobs=n_jobs,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # short fits to part of the data are meant here
            model.fit(self.views[train])
            return model, _perplexity(model, self.views[test])


def _perplexity(model: Any, views: Views) -> float:
    """Return the perplexity, NaN where no document has a known word left to predict."""
    try:
        return float(model.perplexity(views))
    except ValueError:
        return np.nan


def _square_roots(model: Any) -> np.ndarray:
    """Return the square roots of p(w|z), the views side by side, as rows of length one."""
    parts = [model.components_[name] for name in model.view_names_]
    together = np.hstack(parts).astype(np.float64)
    return np.sqrt(together / np.maximum(together.sum(axis=1, keepdims=True), 1e-300))


def matched_similarity(first: np.ndarray, second: np.ndarray) -> float:
    """Return the mean inner product of rows matched one to one, as similar as possible.

    >>> matched_similarity(np.eye(2), np.eye(2)[::-1])
    1.0
    """
    from scipy.optimize import linear_sum_assignment

    similarity = first @ second.T
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    return float(similarity[rows, columns].mean())
