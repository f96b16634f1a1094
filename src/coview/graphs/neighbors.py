"""The graph of nearest neighbors of a view.

It is Eq. 5 of Wang et al. (2017): U_is = 1 if document i is among the p nearest neighbors of
document s, or s among those of i, and 0 otherwise.

The exact search compares all pairs, a block of rows at a time; no array is documents x documents.
Products of matrices give candidates, with a bound on their rounding errors, and sums of squared
differences in double precision rank them. Therefore equal distances tie exactly, and neither the
number of threads nor the size of a block changes the result. Equal documents are searched once.

Where all pairs are too many, candidates come from `descent` instead, and are ranked alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coview.graphs.descent import near_points
from coview.params import check_choice, check_int, check_n_jobs
from coview.views.matrix_checks import frozen_csr

# Costs in units of one multiplication in a dense product (about 0.03 ns on one core): of one
# multiplication in a sparse product, and of selecting among the distances of one pair.
SPARSE_COST, CHOICE_COST = 100, 50
# Limit of "auto": some 5 CPU seconds, of 28,000 texts or 30,000 documents of 100 dense features.
# The approximate search is as fast at 10,000 texts or 4,000 such documents; but up to the limit a
# fit takes longer than all pairs, which miss nothing.
MAX_WORK = 1.5e11
BUFFER = 1 << 25  # bytes of a block of distances
CHUNK = 1 << 20  # entries of the rows whose differences are squared at a time
TOLD_APART = 50.0  # times the rounding errors of single precision: distances it suffices for
PROBE = 64  # documents whose distances decide about the precision


class NeighborPairs(NamedTuple):
    """Points, neighbors of them, and their squared distances."""

    points: np.ndarray
    others: np.ndarray
    distances: np.ndarray

    def where(self, index: np.ndarray) -> NeighborPairs:
        """Return the pairs that an index or a mask selects."""
        return NeighborPairs(*(part[index] for part in self))

    def nearest(self, most: int) -> NeighborPairs:
        """Return the `most` nearest of each point, sorted by distance, ties by index."""
        pairs = self.where(np.lexsort((self.others, self.distances, self.points)))
        _, counts = np.unique(pairs.points, return_counts=True)
        return pairs.where(_ranges(np.zeros_like(counts), counts) < most)


def knn_graph(
    matrix: Any,
    n_neighbors: int = 5,
    *,
    present: np.ndarray | None = None,
    metric: str = "euclidean",
    method: str = "auto",
    seed: int = 0,
    n_jobs: int | None = None,
) -> sp.csr_array:
    """Return the graph of nearest neighbors: an edge if either document is near the other.

    Parameters
    ----------
    matrix : csr_array or ndarray of shape (n_docs, n_terms)
        One view, scaled as the distances require.
    n_neighbors : int, default=5
        Number of neighbors of each document. A document is not its own neighbor, but its
        duplicates are. Of documents at the same distance the first ones are taken; if there are
        fewer others, all are.
    present : ndarray of bool of shape (n_docs,), optional
        Documents that lack the view have no edge. A document that has the view but no count is
        a point like any other: the origin, which is near all short documents.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" is the Euclidean distance between documents scaled to length one.
    method : {"auto", "exact", "approximate"}, default="auto"
        "exact" compares all pairs: time grows with the square of the documents, memory does not.
        "approximate" compares neighbors of neighbors: time grows little faster than the documents,
        and up to 11 in 100 neighbors are replaced by others nearly as near. "auto" is exact as
        long as that takes a few seconds (28,000 texts or so), and approximate beyond.
    seed : int, default=0
        Seed of the approximate search; the same seed gives the same graph.
    n_jobs : int or None, default=None
        Threads of the approximate search, None for every core. The graph does not depend on it.

    Returns
    -------
    csr_array of shape (n_docs, n_docs)
        Symmetric, ones, no diagonal.

    Examples
    --------
    >>> knn_graph(np.array([[0.0], [1.0], [10.0]]), n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    check_choice("metric", metric, ["euclidean", "cosine"])
    check_choice("method", method, ["auto", "exact", "approximate"])
    n_docs = matrix.shape[0]
    docs = np.arange(n_docs) if present is None else np.flatnonzero(present)
    points = scaled_points(sp.csr_array(matrix)[docs])
    if metric == "cosine":
        points.data /= np.repeat(np.sqrt(squared_lengths(points)), np.diff(points.indptr))
    pairs = nearest_pairs(points, n_neighbors, method=method, seed=seed, n_jobs=n_jobs)
    return graph_of_pairs(pairs, docs, n_docs)


def nearest_pairs(
    points: sp.csr_array,
    n_neighbors: int,
    *,
    method: str = "auto",
    seed: int = 0,
    n_jobs: int | None = None,
) -> NeighborPairs:
    """Return the nearest neighbors of each of some points, as `knn_graph` finds them."""
    check_int("n_neighbors", n_neighbors, 1)
    check_int("seed", seed, 0)
    check_n_jobs(n_jobs)
    first, group = _distinct(points)
    distinct = points if len(first) == len(group) else points[first]
    found = _search(distinct, min(n_neighbors, len(first) - 1), method, seed, n_jobs)
    if distinct is points:
        return found
    return _with_duplicates(found, group, n_neighbors)


def graph_of_pairs(pairs: NeighborPairs, docs: np.ndarray, n_docs: int) -> sp.csr_array:
    """Return Eq. 5 from the neighbors of points; `docs` are the numbers of these documents."""
    ends = docs[np.stack([pairs.points, pairs.others])].astype(np.int32)
    both = np.append(ends[0], ends[1]), np.append(ends[1], ends[0])
    graph = sp.csr_array((np.ones(2 * ends.shape[1]), both), shape=(n_docs, n_docs))
    graph.sum_duplicates()
    graph.data[:] = 1  # Eq. 5: an edge in either direction is an edge
    return frozen_csr(graph)


def scaled_points(rows: sp.csr_array, largest: float | None = None) -> sp.csr_array:
    """Return canonical rows in double precision, scaled so that no square overflows.

    `largest` is the largest value of all points that are compared, by default of these.
    """
    points = rows.astype(np.float64)
    points.sum_duplicates()
    points.eliminate_zeros()
    largest = largest_value(points) if largest is None else largest
    points.data *= 0.5 ** np.frexp(largest)[1]  # scaling by a power of two is exact
    return points


def largest_value(points: sp.csr_array) -> float:
    """Return the largest absolute value."""
    return float(np.abs(points.data).max(initial=0.0))


def squared_lengths(points: sp.csr_array) -> np.ndarray:
    """Return the squared length of each row."""
    sums = np.zeros(points.shape[0])
    filled = np.flatnonzero(np.diff(points.indptr))
    sums[filled] = np.add.reduceat(points.data**2, points.indptr[filled])
    return sums


def _ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return starts[0], starts[0] + 1, ... (counts[0] numbers), starts[1], and so on."""
    before = np.cumsum(counts) - counts
    return np.arange(counts.sum()) + np.repeat(starts - before, counts)


def _distinct(points: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return where each distinct row occurs first (ascending), and which of them each row is."""
    if _surely_distinct(points):
        return np.arange(points.shape[0]), np.arange(points.shape[0])
    known: dict[tuple[bytes, bytes], int] = {}
    group = np.empty(points.shape[0], dtype=np.intp)
    for i, (start, stop) in enumerate(zip(points.indptr, points.indptr[1:], strict=False)):
        key = points.indices[start:stop].tobytes(), points.data[start:stop].tobytes()
        group[i] = known.setdefault(key, len(known))
    return np.unique(group, return_index=True)[1], group


def _surely_distinct(points: sp.csr_array) -> bool:
    """Return whether sums of the features, each with a factor of its own, differ in all rows."""
    factors = np.random.default_rng(0).random(points.shape[1])
    return len(np.unique(points @ factors)) == points.shape[0]


def _with_duplicates(found: NeighborPairs, group: np.ndarray, most: int) -> NeighborPairs:
    """Extend the neighbors of distinct points to all points."""
    sizes = np.bincount(group)
    members = np.argsort(group, kind="stable")
    own = np.arange(len(sizes))
    of, near = np.append(own, found.points), np.append(own, found.others)
    # the first members of each near group, and one more because a point is not its own neighbor
    count = np.minimum(sizes[near], most + 1)
    others = members[_ranges((np.cumsum(sizes) - sizes)[near], count)]
    distances = np.repeat(np.append(np.zeros(len(own)), found.distances), count)
    of = np.repeat(of, count)
    # the same neighbors for each member of a group
    order, each = np.argsort(of, kind="stable"), np.bincount(of, minlength=len(own))
    index = order[_ranges((np.cumsum(each) - each)[group], each[group])]
    points = np.repeat(np.arange(len(group)), each[group])
    pairs = NeighborPairs(points, others[index], distances[index])
    return pairs.where(pairs.points != pairs.others).nearest(most)


# -- exact search ---------------------------------------------------------------------------------


def _search(
    points: sp.csr_array, k: int, method: str, seed: int, n_jobs: int | None
) -> NeighborPairs:
    """Return the k nearest neighbors of each of some distinct points."""
    if k < 1:
        return NeighborPairs(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))
    if method == "approximate" or (method == "auto" and _too_many(points)):
        return _approximate(points, k, seed, n_jobs)
    return _exact(points, k)


def _exact(points: sp.csr_array, k: int) -> NeighborPairs:
    search = _in_enough_precision(points, k)
    step = max(1, BUFFER // (8 * search.n_padded))
    blocks = range(0, points.shape[0], step)
    parts = [search.nearest(i, min(i + step, points.shape[0])) for i in blocks]
    return NeighborPairs(*map(np.concatenate, zip(*parts, strict=True)))


def _in_enough_precision(points: sp.csr_array, k: int) -> _Blocks:
    """Return the search in single precision, if that leaves few candidates: it is twice as fast.

    The neighbors are the same: candidates are all pairs that can be neighbors, up to rounding.
    """
    search = _Blocks(points, k)
    if search.slack is None or points.shape[0] <= PROBE:
        return search
    single = _slack(points, search.lengths[: points.shape[0]], np.float32)
    assert single is not None
    probe = search.nearest(0, PROBE).distances.reshape(PROBE, k)[:, -1]
    enough = np.median(probe) > TOLD_APART * np.median(single)
    return _Blocks(points, k, np.float32) if enough else search


class _Blocks:
    """Distances from a block of points to all points, as |b|^2 - 2ab, and the nearest of them.

    Terms of many documents are multiplied as a dense matrix, the others as a sparse one: for texts
    this is several times faster than either alone.
    """

    def __init__(self, points: sp.csr_array, k: int, dtype: type = np.float64) -> None:
        n = points.shape[0]
        self.points, self.k = points, k
        # the k smallest minima over groups of columns bound the k smallest columns from above
        self.width = int(np.clip(n // (8 * k), 1, 64))
        self.n_padded = -(-n // self.width) * self.width
        padding = (0, self.n_padded - n)
        common = sparse_costs(points) > float(n) ** 2
        lengths = squared_lengths(points)
        self.lengths = np.pad(lengths, padding)
        # the squared lengths as one more feature: the product of matrices adds them on its way
        dense = np.pad(points[:, common].toarray(), (padding, (0, 0)))
        self.dense: np.ndarray = np.column_stack([dense, self.lengths]).astype(dtype)
        self.rare = points[:, ~common].astype(dtype)
        self.rare_by_term = self.rare.tocsc()
        self.slack = _slack(points, lengths, dtype)

    def nearest(self, start: int, stop: int) -> NeighborPairs:
        """Return the k nearest neighbors of the points start to stop."""
        pairs, limit = self._candidates(start, stop)
        if self.slack is None:
            pairs = _without_late_ties(pairs, limit, self.k).nearest(self.k)
            return pairs._replace(distances=pairs.distances + self.lengths[pairs.points])
        farthest = pairs.nearest(self.k).distances.reshape(-1, self.k)[:, -1]
        limit = (farthest + self.slack[start:stop])[pairs.points - start]
        return measured(pairs.where(pairs.distances <= limit), self.points).nearest(self.k)

    def _candidates(self, start: int, stop: int) -> tuple[NeighborPairs, np.ndarray]:
        """Return all pairs that can be among the k nearest, and the limit that each had to meet."""
        distances = self._distances(start, stop).reshape(stop - start, -1, self.width)
        minima = distances.min(axis=2)
        limit = np.partition(minima, self.k - 1, axis=1)[:, self.k - 1]
        if self.slack is not None:
            limit += self.slack[start:stop]
        rows, groups = np.nonzero(minima <= limit[:, None])
        near = distances[rows, groups]
        pair, lane = np.nonzero(near <= limit[rows, None])
        others = groups[pair] * self.width + lane
        return NeighborPairs(start + rows[pair], others, near[pair, lane]), limit[rows[pair]]

    def _distances(self, start: int, stop: int) -> np.ndarray:
        """Return |b|^2 - 2ab for all b, infinite for a itself: |a|^2 does not change the order."""
        from coview.kernels.nearest import sparse_products

        own = -2 * self.dense[start:stop]
        own[:, -1] = 1.0
        into = own @ self.dense.T
        if self.rare.nnz:
            rows, columns = self.rare[start:stop], self.rare_by_term
            parts = rows.indptr, rows.indices, -2 * rows.data  # keeps the precision
            sparse_products(*parts, columns.indptr, columns.indices, columns.data, into)
        into[np.arange(stop - start), np.arange(start, stop)] = np.inf
        into[:, self.points.shape[0] :] = np.inf  # not in the product, where they may become NaN
        return into


def sparse_costs(points: sp.csr_array) -> np.ndarray:
    """Return the cost of each term: a product for each pair of documents that have it."""
    return SPARSE_COST * np.bincount(points.indices, minlength=points.shape[1]).astype(float) ** 2


def _slack(
    points: sp.csr_array, lengths: np.ndarray, dtype: type = np.float64
) -> np.ndarray | None:
    """Return twice the largest error of |b|^2 - 2ab for each a; None if it is exact (counts)."""
    longest = lengths.max()
    # sums of up to 4 * longest of products of multiples of this unit fit into 53 bits
    whole = points.data / 2.0 ** np.ceil(np.log2(4 * longest) / 2 - 26)
    if dtype == np.float64 and (whole == np.rint(whole)).all():
        return None
    return rounding_slack(np.diff(points.indptr).max(), lengths, longest, dtype)


def rounding_slack(
    n_products: int, lengths: np.ndarray, longest: float, dtype: type = np.float64
) -> np.ndarray:
    """Return twice the largest error of |b|^2 - 2ab for each a, of the squared `lengths`."""
    # the error of a sum of n products is at most n eps sum |ab|, and 2 |ab| <= a^2 + b^2
    return 4 * float(np.finfo(dtype).eps) * (n_products + 4) * (lengths + longest)


def _without_late_ties(pairs: NeighborPairs, limit: np.ndarray, k: int) -> NeighborPairs:
    """Drop all but the first k pairs at a point's limit: counts may have thousands of ties."""
    tie = pairs.distances == limit
    before = np.cumsum(tie) - tie
    rank = before - before[np.searchsorted(pairs.points, pairs.points)]
    return pairs.where(~tie | (rank < k))


def measured(
    pairs: NeighborPairs, points: sp.csr_array, others: sp.csr_array | None = None
) -> NeighborPairs:
    """Return pairs with distances that are sums of squared differences, so that ties are exact.

    The neighbors are among the `others`, which are the points themselves by default.
    """
    others = points if others is None else others
    widest = max(int(np.diff(rows.indptr).max(initial=1)) for rows in (points, others))
    step = max(1, CHUNK // (2 * widest))
    distances = np.empty(len(pairs.points))
    for start in range(0, len(distances), step):
        here = slice(start, start + step)
        difference = points[pairs.points[here]] - others[pairs.others[here]]
        difference.sort_indices()
        distances[here] = squared_lengths(difference)
    return pairs._replace(distances=distances)


# -- approximate search ---------------------------------------------------------------------------


def _too_many(points: sp.csr_array) -> bool:
    """Return whether comparing all pairs takes longer than is worth it."""
    pairs = float(points.shape[0]) ** 2
    return np.minimum(sparse_costs(points), pairs).sum() + CHOICE_COST * pairs > MAX_WORK


def _approximate(points: sp.csr_array, k: int, seed: int, n_jobs: int | None) -> NeighborPairs:
    """Find candidates by way of neighbors; measure and rank them as in the exact search."""
    lengths = squared_lengths(points)
    others, rough = near_points(points, lengths, k, seed=seed, n_jobs=n_jobs)
    # what may be among the k nearest of these, up to rounding
    slack = rounding_slack(8, lengths, lengths.max(), np.float32)
    near = rough <= (rough[:, k - 1] + slack)[:, None]
    own, place = np.nonzero(near & (others >= 0))
    pairs = NeighborPairs(own, others[own, place].astype(np.intp), np.empty(0))
    return measured(pairs, points).nearest(k)
