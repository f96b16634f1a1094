r"""How many dimensions the halves of the features share: a count of topics without any model.

Given its mixture, the two halves of a document's features are independent, and the expectation of
`linear` features is linear in the mixture. With x and y the two halves, the covariance

    C = cov(x, y) = A cov(theta) B^T

therefore has rank K - 1 for K topics in general position, whether documents have one topic or mix
them. Its singular vectors u_k, v_k are found without a fourth of the documents, and the covariance
of u_k x and v_k y is measured on that fourth: a dimension that was only noise has 0 there. Each
fourth has its turn, so that the standard error is that over all documents. On data made by a topic
model the values end at a cliff. On real data they usually fade away, and then say nothing about the
number of topics.

There may be more topics than a cliff tells: dimensions too weak to be seen are not counted. There
are hardly fewer.

Shares of one document compete for its tokens; how that is corrected is said in `ViewFeatures`.
A document counts for a pair of views only where it has both, which leaves the rank as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from coview.selection.features import Matrix, ViewFeatures, deal_halves

MIN_DOCS = 40  # with fewer, standard errors mean little
N_SPLITS = 3  # of the features
N_FOLDS = 4  # of the documents: dimensions found in too few of them mix with noise
OVERSAMPLING = 10  # of the randomized SVD
POWER_ITERATIONS = 4
BEYOND = 5  # dimensions after a cliff that must have nothing in common
CLIFF = 5.0  # mean of the last two dimensions before it, in standard errors
NOISE = 1.4  # mean of those beyond it, and half of what the first of them may be
LEAK = 0.1  # or this share of what is before it: strong dimensions leak into the next
UNRELATED = 0.05  # correlation of views below which they have nothing in common


@dataclass(frozen=True)
class SharedDimensions:
    """Covariances of the halves on documents not used to find them, in standard errors.

    Attributes
    ----------
    strength : ndarray of shape (dimensions,)
        The mean over splits, the strongest dimension in the search first.
    """

    strength: np.ndarray

    @cached_property
    def edge(self) -> int | None:
        """How many dimensions there are before a cliff; None without a cliff."""
        for n in range(1, len(self.strength) - 1):
            before, after = self.strength[max(n - 2, 0) : n].mean(), self.strength[n : n + BEYOND]
            noise = max(NOISE, LEAK * before)
            if after.mean() < noise and after[0] < 2 * noise:
                return n if before >= CLIFF else None
        return None

    @property
    def topics(self) -> int | None:
        """The number of topics that a cliff speaks for."""
        return None if self.edge is None else self.edge + 1


def shared_dimensions(
    features: Sequence[ViewFeatures], weights: Sequence[float], n_dims: int, seed: int
) -> SharedDimensions:
    """Measure which dimensions the two halves of the features share."""
    if len(features[0].present) < MIN_DOCS:
        return SharedDimensions(np.empty(0))
    rng = np.random.default_rng(seed)
    scaled = [w / max(_scale(f), 1e-300) * f.linear for f, w in zip(features, weights, strict=True)]
    present = np.stack([f.present for f in features], axis=1)
    excess = np.stack([f.excess for f in features], axis=1)
    found = []
    for _ in range(N_SPLITS):
        halves = deal_halves([f.width for f in features], rng)
        sides = [_columns(scaled, halves, h) for h in (0, 1)]
        values = [
            _test_values(sides, present, excess, train, test, n_dims, rng)
            for train, test in _document_folds(len(present), N_FOLDS, rng)
        ]
        found.append(_in_errors(np.vstack(values)))
    shortest = min(map(len, found))
    return SharedDimensions(np.mean([f[:shortest] for f in found], axis=0))


def related_views(features: Sequence[ViewFeatures], seed: int) -> np.ndarray:
    """Return a weight for each view, the largest 1: how much it has in common with the others.

    Each entry of a matrix is the covariance that a half of one view shares with the other half of
    another, relative to what both share with themselves: a correlation of views. The weights are
    its leading eigenvector. A view of noise, or one that speaks of something else, gets about 0;
    if no two views have anything in common, all count.
    """
    if len(features) == 1:
        return np.ones(1)
    shared, errors = _shared_by_pair(features, seed)
    own = np.diag(shared)
    useful = own > 2 * np.diag(errors)
    if not useful.any():
        return np.ones(len(features))
    scale = np.sqrt(np.where(useful, own, 1))
    correlation = np.where(np.outer(useful, useful), shared / np.outer(scale, scale), 0)
    correlation = np.clip(correlation, 0, 1)
    np.fill_diagonal(correlation, useful)
    if np.triu(correlation, 1).max() < UNRELATED:
        return useful.astype(float)
    leading = np.abs(np.linalg.eigh(correlation)[1][:, -1])
    return leading / leading.max()


def _shared_by_pair(
    features: Sequence[ViewFeatures], seed: int, n_dims: int = 20
) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance that each pair of views shares, and its standard error."""
    rng = np.random.default_rng(seed)
    n_views, n_docs = len(features), len(features[0].present)
    halves = deal_halves([f.width for f in features], rng)
    sides = [_columns([f.linear for f in features], halves, h) for h in (0, 1)]
    total, variance = np.zeros((n_views, n_views)), np.zeros((n_views, n_views))
    for train, test in _document_folds(n_docs, 2, rng):
        for u in range(n_views):
            for v in range(n_views):
                present = (features[u].present & features[v].present)[:, None]
                excess = (features[u].excess * (u == v))[:, None]
                pair = [[sides[0][u]], [sides[1][v]]]
                values = _test_values(pair, present, excess, train, test, n_dims, rng)
                sums = values.sum(axis=1)
                total[u, v] += sums.mean() / 2
                variance[u, v] += sums.var() / max(len(sums), 1) / 4
    return (total + total.T) / 2, np.sqrt((variance + variance.T) / 4)


def _columns(parts: Sequence[Matrix], halves: Sequence[np.ndarray], which: int) -> list[Matrix]:
    return [part[:, np.flatnonzero(h == which)] for part, h in zip(parts, halves, strict=True)]


def _document_folds(
    n_docs: int, n_folds: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return all documents but those of a fold, and those of the fold, for each fold in turn."""
    folds = np.array_split(rng.permutation(n_docs), n_folds)
    return [(np.setdiff1d(np.arange(n_docs), fold), np.sort(fold)) for fold in folds]


def _scale(view: ViewFeatures) -> float:
    """Return the root mean square length of the rows of a view."""
    squares = view.linear.multiply(view.linear).sum() if hasattr(view.linear, "multiply") else None
    total = float((view.linear**2).sum()) if squares is None else float(squares)
    return float(np.sqrt(total / max(view.present.sum(), 1)))


def _in_errors(values: np.ndarray) -> np.ndarray:
    """Return the mean over documents in standard errors; 0 where nothing varies."""
    error = values.std(axis=0) / np.sqrt(max(len(values), 1))
    return np.divide(values.mean(axis=0), error, out=np.zeros(values.shape[1]), where=error > 0)


# -- singular vectors of the covariance of two sides, never formed ---------------------------------


def _test_values(
    sides: Sequence[Sequence[Matrix]],
    present: np.ndarray,
    excess: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    n_dims: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return (test documents, dimensions): products of projections on vectors found in training."""
    left, right = _singular_vectors(
        [_Side([part[train] for part in side], present[train]) for side in sides],
        _pair_weights(present[train]),
        excess[train].T[:, :, None],
        n_dims,
        rng,
    )
    kept = [_Side([part[test] for part in side], present[test]) for side in sides]
    weights = _pair_weights(present[test])
    products = np.einsum("udk,uv,vdk->dk", kept[0].project(left), weights, kept[1].project(right))
    same = kept[0].raw_project(left) * kept[1].raw_project(right)
    return products + np.einsum("u,du,udk->dk", np.diag(weights), excess[test], same)


def _pair_weights(present: np.ndarray) -> np.ndarray:
    """Return documents over documents with both views, for each pair of views."""
    both = present.T.astype(float) @ present
    return np.divide(len(present), both, out=np.zeros_like(both), where=both > 0)


class _Side:
    """One half of the features of some documents, centered over those that have the view."""

    def __init__(self, parts: Sequence[Matrix], present: np.ndarray):
        self.parts, self.present = parts, present
        n_present = np.maximum(present.sum(axis=0), 1)
        sums = (np.asarray(part.sum(axis=0)).ravel() for part in parts)
        self.means = [total / n for total, n in zip(sums, n_present, strict=True)]
        self.ends = np.cumsum([part.shape[1] for part in parts])

    @property
    def width(self) -> int:
        return int(self.ends[-1])

    def project(self, vectors: np.ndarray) -> np.ndarray:
        """Return (views, documents, vectors): the centered rows times vectors (features, k)."""
        pieces = np.split(vectors, self.ends[:-1])
        shifts = [
            np.outer(has, m @ v)
            for has, m, v in zip(self.present.T, self.means, pieces, strict=True)
        ]
        return self.raw_project(vectors) - np.stack(shifts)

    def raw_project(self, vectors: np.ndarray) -> np.ndarray:
        """Return the same of rows that are not centered; they are zeros where a view is absent."""
        pieces = np.split(vectors, self.ends[:-1])
        return np.stack([part @ v for part, v in zip(self.parts, pieces, strict=True)])

    def combine(self, documents: np.ndarray) -> np.ndarray:
        """Return (features, k): the transpose of the centered rows times (views, documents, k)."""
        views = zip(self.means, self.present.T, documents, strict=True)
        shifts = [np.outer(mean, has @ x) for mean, has, x in views]
        return self.raw_combine(documents) - np.vstack(shifts)

    def raw_combine(self, documents: np.ndarray) -> np.ndarray:
        """Return the same of rows that are not centered."""
        return np.vstack([part.T @ x for part, x in zip(self.parts, documents, strict=True)])


def _singular_vectors(
    sides: Sequence[_Side],
    pair_weights: np.ndarray,
    excess: np.ndarray,
    n_dims: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading singular vectors of the covariance of two sides (randomized SVD)."""
    x, y = sides
    n_dims = min(n_dims, x.width, y.width)
    n_vectors = min(n_dims + OVERSAMPLING, x.width, y.width)
    within = np.diag(pair_weights)[:, None, None] * excess

    def times(vectors: np.ndarray) -> np.ndarray:
        between = x.combine(np.einsum("uv,vdk->udk", pair_weights, y.project(vectors)))
        return between + x.raw_combine(within * y.raw_project(vectors))

    def transposed_times(vectors: np.ndarray) -> np.ndarray:
        between = y.combine(np.einsum("uv,udk->vdk", pair_weights, x.project(vectors)))
        return between + y.raw_combine(within * x.raw_project(vectors))

    basis = np.linalg.qr(times(rng.standard_normal((y.width, n_vectors))))[0]
    for _ in range(POWER_ITERATIONS):
        basis = np.linalg.qr(transposed_times(basis))[0]
        basis = np.linalg.qr(times(basis))[0]
    small = transposed_times(basis)  # (features of y, vectors): C^T Q
    v, _, u = np.linalg.svd(small, full_matrices=False)
    return basis @ u.T[:, :n_dims], v[:, :n_dims]
