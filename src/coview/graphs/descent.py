"""An approximate search of nearest neighbors whose time grows with the points, not their square.

Every point has a list of near points. It begins with points that share its rarest features, if
points are sparse, and with those in the same leaf of some random trees, if they are dense or of
different length. Then neighbors of neighbors are compared, in rounds, until hardly any list
changes (NN-descent; Dong, Moses & Li, 2011). All amounts of work of a point are bounded.

A round reads the lists of the round before. So the seed fixes the result, for any number of
threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from coview.runners.threads import ThreadRunner

SPARE = 2  # a list is this many times as long as is needed, and a little longer
BUDGET = 2000  # entries of its features that a sparse point looks at, to begin with
TREES, LEAF = 4, 40
COMPARED = 10  # points that a point is compared with in a round, for each in its list
ROUNDS, REST = 8, 0.002  # of all lists, the share of places that changes when it is done
PARTS = 64  # of the points, for threads

Lists = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class _Points:
    """Points in an order in which near ones are close in memory, as the kernels take them."""

    order: np.ndarray  # their numbers
    sparse: tuple[np.ndarray, np.ndarray, np.ndarray] = field(repr=False)
    dense: np.ndarray = field(repr=False)
    lengths: np.ndarray = field(repr=False)
    n_features: int

    @property
    def rows(self) -> tuple:
        """What every kernel begins with."""
        return self.sparse, self.dense, self.lengths


def near_points(
    points: sp.csr_array,
    lengths: np.ndarray,
    n_neighbors: int,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return near points of each of some distinct points, and about their squared distances.

    Parameters
    ----------
    points : csr_array of shape (points, features)
        Their values are of order one.
    lengths : ndarray of shape (points,)
        Their squared lengths.
    n_neighbors : int
        Somewhat more are returned, fewer where there are not as many points.
    seed : int, default=0
    n_jobs : int or None, default=None

    Returns
    -------
    others, distances : ndarrays of shape (points, some)
        Nearest first, in single precision; -1 and infinity where nothing was found.

    Examples
    --------
    >>> points = sp.csr_array(np.array([[1.0, 0.0], [0.9, 0.0], [0.0, 1.0], [0.1, 1.0]]))
    >>> near_points(points, points.power(2).sum(axis=1), 1)[0][:, 0].tolist()
    [1, 0, 3, 2]
    """
    size = min(SPARE * n_neighbors + 2, points.shape[0] - 1)
    with ThreadRunner(n_jobs) as run:
        dense = points.nnz > 0.5 * points.shape[0] * points.shape[1]
        here = _in_order(points, lengths, dense, seed, run)
        shape = points.shape[0], size
        lists = (np.full(shape, -1, np.int32), np.full(shape, np.inf, np.float32))
        found = _improved(here, _begun(here, (*lists, np.zeros(shape, bool)), seed, run), seed, run)
    others, distances = np.empty_like(found[0]), np.empty_like(found[1])
    others[here.order] = np.where(found[0] < 0, -1, here.order[found[0]])
    distances[here.order] = found[1]
    return others, distances


def _in_order(
    points: sp.csr_array, lengths: np.ndarray, dense: bool, seed: int, run: ThreadRunner
) -> _Points:
    """Order dense points as the leaves of a tree, sparse ones by the feature that is largest."""
    if not dense:
        return _as_arrays(points, lengths, np.argsort(_largest_features(points), kind="stable"))
    here = _as_arrays(points, lengths, np.arange(points.shape[0]), dense=True)
    (order,) = (tree[0] for tree in _grown(here, [seed], run))
    parts = here.dense[order], here.lengths[order]
    return _Points(order.astype(np.intp), here.sparse, *parts, here.n_features)


def _as_arrays(
    points: sp.csr_array, lengths: np.ndarray, order: np.ndarray, dense: bool = False
) -> _Points:
    single = lengths[order].astype(np.float32)
    if dense:
        none = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)
        return _Points(order, none, points.toarray().astype(np.float32), single, points.shape[1])
    rows = points[order]
    sparse = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    values = rows.data.astype(np.float32)
    empty = np.zeros((0, 0), np.float32)
    return _Points(order, (*sparse, values), empty, single, points.shape[1])


def _largest_features(points: sp.csr_array) -> np.ndarray:
    """Return the feature with the largest value of each row; -1 for an empty row."""
    largest = np.full(points.shape[0], -1, np.int64)
    filled = np.flatnonzero(np.diff(points.indptr))
    if len(filled):
        values = np.abs(points.data)
        tops = np.maximum.reduceat(values, points.indptr[filled])
        rows = np.repeat(filled, np.diff(points.indptr)[filled])
        here = values == np.repeat(tops, np.diff(points.indptr)[filled])
        largest[rows[here]] = points.indices[here]
    return largest


# -- beginnings -----------------------------------------------------------------------------------


def _begun(here: _Points, lists: Lists, seed: int, run: ThreadRunner) -> Lists:
    """Fill lists with points to begin with."""
    from coview.kernels.descent import fill_up, join_by_features

    sparse = not here.dense.size
    if sparse:
        by_feature = _by_feature(here)
        _in_parts(
            lambda start, stop: join_by_features(
                *here.rows, by_feature, BUDGET, seed, start, stop, lists
            ),
            len(here.order),
            run,
        )
    if not sparse or here.lengths.max() > 1.01 * here.lengths.min():
        _join_leaves(here, lists, seed, run)
    n_shortest = min(lists[0].shape[1] + 1, len(here.order))
    # of the same length those of the smallest numbers, as all pairs would have it
    shortest = np.lexsort((here.order, here.lengths))[:n_shortest].astype(np.int32)
    _in_parts(
        lambda start, stop: fill_up(*here.rows, here.n_features, shortest, start, stop, lists),
        len(here.order),
        run,
    )
    return lists


def _by_feature(here: _Points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    indptr, indices, data = here.sparse
    columns = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, here.n_features))
    columns = columns.tocsc()
    return columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data


def _join_leaves(here: _Points, lists: Lists, seed: int, run: ThreadRunner) -> None:
    from coview.kernels.descent import join_leaves

    for order, ends in _grown(here, [seed + 1 + t for t in range(TREES)], run):

        def join(first: int, last: int, order: np.ndarray = order, ends: np.ndarray = ends) -> None:
            join_leaves(*here.rows, here.n_features, order, ends, first, last, lists)

        _in_parts(join, len(ends), run)


def _grown(
    here: _Points, seeds: list[int], run: ThreadRunner
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the points in the order of a tree's leaves, and where each leaf ends."""
    from coview.kernels.descent import grow_tree

    def grow(seed: int) -> tuple[np.ndarray, np.ndarray]:
        order = np.empty(len(here.lengths), np.int32)
        ends = np.empty(len(here.lengths), np.int64)
        return order, ends[: grow_tree(*here.rows, here.n_features, LEAF, seed, order, ends)]

    return run(grow, seeds)


# -- rounds ---------------------------------------------------------------------------------------


def _improved(here: _Points, lists: Lists, seed: int, run: ThreadRunner) -> Lists:
    """Compare neighbors of neighbors until the lists come to rest."""
    from coview.kernels.descent import improve, turn_round

    n_points, size = lists[0].shape
    back = np.empty((n_points, size // 2), np.int32)
    back_new = np.empty(back.shape, bool)
    for number in range(ROUNDS):
        turn_round(lists[0], lists[2], seed + number, back, back_new)
        before = lists[0].copy(), lists[2].copy(), back, back_new

        def work(start: int, stop: int, before: tuple = before) -> int:
            most = COMPARED * size
            return improve(*here.rows, here.n_features, before, most, start, stop, lists)

        if sum(_in_parts(work, n_points, run)) <= REST * n_points * size:
            break
    return lists


def _in_parts(work: Callable[[int, int], int | None], size: int, run: ThreadRunner) -> list:
    """Call work(start, stop) for parts of a range; each has arrays of its own, so there are few."""
    cuts = [size * i // min(PARTS, size) for i in range(min(PARTS, size) + 1)]
    return list(run(lambda i: work(cuts[i], cuts[i + 1]), range(len(cuts) - 1)))
