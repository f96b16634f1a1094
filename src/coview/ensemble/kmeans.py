"""k-means of dense or sparse rows, for many small problems and for a few large ones.

Centers are chosen by greedy k-means++ and improved by rounds of Lloyd on a sample of the rows; with
more rows than that, some rounds on all of them follow, so that the cost is linear in the rows. An
empty cluster gets the row farthest from its center.

BLAS should be held to one thread by the caller: rows are too few here for more, and the bits
then do not depend on their number.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

SAMPLE = 3_000  # rows that determine the centers, if there are more than twice as many
ROW_VISITS = 400_000  # rounds on all rows, if they are more than the sample, visit so many of them
FEWEST_ROUNDS = 3  # but there are at least so many rounds
LANES = 8  # sparse rows: centers are padded to a multiple of this
BLOCK = 1 << 17  # scores of dense rows that are held at a time
LITTLE = 1 << 16  # numbers in dense rows that are so few that compiling for them takes longer


@dataclass(frozen=True)
class KMeansResult:
    """A clustering of rows.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_rows,)
        The nearest center of each row.
    centers : ndarray of shape (at most n_clusters, n_features)
        Fewer than n_clusters if there are fewer distinct rows.
    inertia : float
        The sum of the squared distances of rows to their centers.
    """

    labels: np.ndarray
    centers: np.ndarray
    inertia: float


def kmeans(features: Any, n_clusters: int, rng: np.random.Generator, **options: Any) -> np.ndarray:
    """Return the cluster of each row; `options` are those of `fit_kmeans`.

    >>> rows = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> labels = kmeans(rows, 2, np.random.default_rng(0))
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    return fit_kmeans(features, n_clusters, rng, **options).labels


def fit_kmeans(
    features: Any,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int = 1,
    max_iter: int = 30,
    sample: int | None = None,
    centers: np.ndarray | None = None,
) -> KMeansResult:
    """Return the best of n_init clusterings of the rows.

    Parameters
    ----------
    features : ndarray or csr_array, shape (n_rows, n_features)
        Rows of float32 or float64, the precision of all products. Others become float64.
    n_clusters : int
        The number of clusters. Fewer distinct rows leave some of them empty.
    rng : numpy.random.Generator
        Draws the sample and the centers. Equal states give equal results.
    n_init : int
        How often centers are chosen on the sample; the smallest inertia there wins.
    max_iter : int
        The largest number of rounds on the sample, and of those on all rows.
    sample : int, optional
        How many rows determine the centers; by default 3,000 if there are more than 6,000.
    centers : ndarray of shape (n_clusters, n_features), optional
        Centers to start from, instead of chosen ones. Clusters keep their numbers.
    """
    rows = _rows_of(features)
    drawn = _sampled(rows, sample, rng)
    if centers is not None:
        run = _lloyd(drawn, rows.centers_from(np.asarray(centers)), max_iter)
    else:
        starts = (drawn.centers_at(_chosen_rows(drawn, n_clusters, rng)) for _ in range(n_init))
        run = min((_lloyd(drawn, start, max_iter) for start in starts), key=lambda r: r.inertia)
    if drawn is not rows:
        n_rounds = max(FEWEST_ROUNDS, ROW_VISITS // rows.n_rows)
        run = _lloyd(rows, run.centers, min(n_rounds, max_iter))
    return KMeansResult(run.labels, rows.plain(run.centers), run.inertia)


@dataclass(frozen=True)
class _Centers:
    """Centers in the layout of the kernels, and how many they are without padding."""

    values: np.ndarray
    number: int


@dataclass(frozen=True)
class _Run:
    labels: np.ndarray
    centers: _Centers
    inertia: float


def _lloyd(rows: "_Rows", start: _Centers, max_iter: int) -> _Run:
    """Repeat assignments and means until no label changes; the last is an assignment."""
    from coview.kernels.kmeans import refill

    centers = _Centers(start.values.copy(), start.number)
    labels, distances = np.full(rows.n_rows, -1, np.int32), np.empty(rows.n_rows)
    for n_left in range(max_iter, -1, -1):
        n_changed = rows.assign(centers, labels, distances)
        if not n_changed or not n_left:
            break
        counts = np.bincount(labels, minlength=centers.number)
        if not counts.all():
            refill(counts, labels, distances)
        rows.move(centers, labels, counts)
    return _Run(labels, centers, float(distances.sum()))


def _chosen_rows(rows: "_Rows", n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Choose rows as centers by greedy k-means++ (Arthur and Vassilvitskii, 2007).

    Trials of the next center are drawn in proportion to the squared distances to the nearest center
    so far; the one that leaves the smallest sum of them is taken. Ends early if that sum is zero.
    """
    from coview.kernels.kmeans import MAX_TRIALS, best_trial, draw_rows

    n_trials = min(2 + int(np.log(n_clusters)), MAX_TRIALS)
    shares = np.sort(rng.random((n_clusters, n_trials)), axis=1)
    chosen = np.empty(n_clusters, np.int64)
    closest, found = np.full(rows.n_rows, np.inf), np.empty((n_trials, rows.n_rows))
    trials, total = np.array([int(shares[0, 0] * rows.n_rows)]), np.inf  # the first has no rivals
    for k in range(n_clusters):
        if k:
            trials = draw_rows(closest, total, shares[k])
        rows.closer(trials, closest, found[: len(trials)])
        best, total = best_trial(found[: len(trials)])
        chosen[k], closest[:] = trials[best], found[best]
        if total <= 0:
            return chosen[: k + 1]
    return chosen


def _sampled(rows: "_Rows", size: int | None, rng: np.random.Generator) -> "_Rows":
    """Return some of the rows, or all where a sample would save nothing."""
    if size is None:
        size = SAMPLE if rows.n_rows > 2 * SAMPLE else rows.n_rows
    if rows.n_rows <= size:
        return rows
    return rows.take(np.sort(rng.choice(rows.n_rows, size, replace=False)))


class _DenseRows:
    """Dense rows less their mean: products of long vectors would hide small distances."""

    def __init__(self, values: np.ndarray, mean: np.ndarray):
        from coview.kernels.kmeans import squared_lengths

        self.values, self.mean, self.n_rows = values, mean, len(values)
        self.lengths = squared_lengths(values)
        self.slack = _slack(values)
        # where there is little to compute, kernels that compute in double precision anyway are
        # given doubles: one version of them less to compile, and the same bits
        self.given = np.float64 if values.size <= LITTLE else values.dtype

    @cached_property
    def by_feature(self) -> np.ndarray:
        return np.ascontiguousarray(self.values.T)

    def take(self, rows: np.ndarray) -> "_DenseRows":
        return _DenseRows(self.values[rows], self.mean)

    def centers_at(self, rows: np.ndarray) -> _Centers:
        return _Centers(self.values[rows], len(rows))

    def centers_from(self, plain: np.ndarray) -> _Centers:
        return _Centers(np.subtract(plain, self.mean).astype(self.values.dtype), len(plain))

    def plain(self, centers: _Centers) -> np.ndarray:
        return centers.values + self.mean

    def closer(self, trials: np.ndarray, closest: np.ndarray, out: np.ndarray) -> None:
        """Fill out (trials, rows) with the smaller of closest and the distance to each trial."""
        from coview.kernels.kmeans import closer_dense

        closer_dense(self.by_feature, trials, closest, out)

    def assign(self, centers: _Centers, labels: np.ndarray, distances: np.ndarray) -> int:
        """Fill labels and distances with the nearest centers; return how many labels changed."""
        from coview.kernels.kmeans import nearest_by_scores, squared_lengths

        bias = squared_lengths(centers.values).astype(self.values.dtype)[:, np.newaxis]
        minus_twice = centers.values * self.values.dtype.type(-2)
        size, n_changed = max(1, BLOCK // centers.number), 0
        for start in range(0, self.n_rows, size):
            here = slice(start, start + size)
            scores = minus_twice @ self.values[here].T
            scores += bias
            n_changed += nearest_by_scores(
                scores.astype(self.given, copy=False),
                self.lengths[here],
                self.slack,
                labels[here],
                distances[here],
            )
        return n_changed

    def move(self, centers: _Centers, labels: np.ndarray, counts: np.ndarray) -> None:
        """Move the centers to the means of their rows."""
        from coview.kernels.kmeans import means_dense

        moved = centers.values.astype(self.given)
        means_dense(self.values.astype(self.given, copy=False), labels, counts, moved)
        centers.values[:] = moved


class _SparseRows:
    """Sparse rows; their centers are dense, term by term."""

    def __init__(self, matrix: sp.csr_array):
        from coview.kernels.kmeans import MAX_TRIALS

        self.matrix, self.n_rows = matrix, matrix.shape[0]
        self.parts = matrix.indptr, matrix.indices, matrix.data
        squares = sp.csr_array((matrix.data**2, matrix.indices, matrix.indptr), shape=matrix.shape)
        self.lengths = np.asarray(squares.sum(axis=1, dtype=np.float64)).ravel()
        self.slack = _slack(matrix)
        self.trial_terms = np.zeros((matrix.shape[1], MAX_TRIALS), matrix.dtype)

    def take(self, rows: np.ndarray) -> "_SparseRows":
        return _SparseRows(self.matrix[rows])

    def centers_at(self, rows: np.ndarray) -> _Centers:
        return self.centers_from(self.matrix[rows].toarray())

    def centers_from(self, plain: np.ndarray) -> _Centers:
        values = np.zeros((plain.shape[1], -(-len(plain) // LANES) * LANES), self.matrix.dtype)
        values[:, : len(plain)] = plain.T
        return _Centers(values, len(plain))

    def plain(self, centers: _Centers) -> np.ndarray:
        return np.ascontiguousarray(centers.values[:, : centers.number].T)

    def closer(self, trials: np.ndarray, closest: np.ndarray, out: np.ndarray) -> None:
        """Fill out (trials, rows) with the smaller of closest and the distance to each trial."""
        from coview.kernels.kmeans import closer_sparse

        closer_sparse(*self.parts, self.lengths, self.slack, trials, closest, self.trial_terms, out)

    def assign(self, centers: _Centers, labels: np.ndarray, distances: np.ndarray) -> int:
        """Fill labels and distances with the nearest centers; return how many labels changed."""
        from coview.kernels.kmeans import nearest_sparse, squared_columns

        bias = squared_columns(centers.values, centers.number)
        return nearest_sparse(
            *self.parts, self.lengths, self.slack, centers.values, bias, labels, distances
        )

    def move(self, centers: _Centers, labels: np.ndarray, counts: np.ndarray) -> None:
        """Move the centers to the means of their rows."""
        from coview.kernels.kmeans import means_sparse

        means_sparse(*self.parts, labels, counts, np.empty(centers.values.shape), centers.values)


_Rows = _DenseRows | _SparseRows


def _rows_of(features: Any) -> _Rows:
    """Return the rows as the kernels take them, in float32 or float64."""
    dtype = np.float32 if features.dtype == np.float32 else np.float64
    if sp.issparse(features):
        return _SparseRows(sp.csr_array(features, dtype=dtype))
    features = np.asarray(features, dtype)
    mean = features.mean(axis=0)
    return _DenseRows(np.ascontiguousarray(features - mean), mean)


def _slack(rows: Any) -> float:
    """Return the share of |x|^2 below which a squared distance may be rounding alone."""
    return float(np.finfo(rows.dtype).eps * (8 + np.sqrt(rows.shape[1])))
