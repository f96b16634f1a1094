"""Exact search: the best rows for each query, found by scoring all of them.

A block of vectors at a time is prepared, multiplied and dropped, so nothing of the size of the
collection is allocated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from coview.kernels.search import NO_ROW, keep_best, prepare_rows, search_one
from coview.retrieval.similarity import PreparedQueries
from coview.runners.native import one_native_thread
from coview.runners.threads import ThreadRunner

TASK = 1 << 16  # rows that a thread searches at a time
BLOCK = 1024  # rows in one matrix product: they and their scores stay in the cache
BATCH = 256  # queries in one matrix product
FEW = 3  # from so many queries on, a matrix product is faster than one query after the other

ScoresAndRows = tuple[np.ndarray, np.ndarray]  # each of shape (queries, top)


def nearest(
    vectors: np.ndarray,
    rows: np.ndarray,
    queries: PreparedQueries,
    top: int,
    n_jobs: int | None = None,
) -> ScoresAndRows:
    """Return scores and row numbers of the best `top` of the vectors at `rows`, for each query.

    Equal scores come in the order of the rows. The answer depends neither on the number of
    threads nor on how rows and queries are cut into blocks.

    Parameters
    ----------
    vectors : ndarray of shape (documents, dimensions)
    rows : ndarray of int64
        The documents to score.
    queries : PreparedQueries
    top : int
        Number of answers; all rows if there are fewer.
    n_jobs : int or None, default=None
        Threads; None uses every core.

    Returns
    -------
    scores, rows : ndarrays of shape (queries, top)
    """
    top = min(top, len(rows))
    parts = [
        _nearest_to_batch(vectors, rows, queries[begin : begin + BATCH], top, n_jobs)
        for begin in range(0, len(queries), BATCH)
    ]
    scores, found = zip(empty_heaps(0, top), *parts, strict=True)
    return np.concatenate(scores), np.concatenate(found)


def _nearest_to_batch(
    vectors: np.ndarray, rows: np.ndarray, queries: PreparedQueries, top: int, n_jobs: int | None
) -> ScoresAndRows:
    search = _one_by_one if len(queries) < FEW else _by_products

    def task(part: np.ndarray) -> ScoresAndRows:
        heaps = empty_heaps(len(queries), top)
        search(vectors, part, queries, heaps)
        return heaps

    return best_of_tasks(task, split_rows(rows, TASK), len(queries), top, n_jobs)


def best_of_tasks(
    task: Callable[[np.ndarray], ScoresAndRows],
    parts: Sequence[np.ndarray],
    n_queries: int,
    top: int,
    n_jobs: int | None,
) -> ScoresAndRows:
    """Search each part by `task`, on threads if there are several, and merge the answers."""
    best = empty_heaps(n_queries, top)
    for found in _run(task, parts, n_jobs):
        best = merge(best, found, top)
    return best


def _run(
    task: Callable[[np.ndarray], ScoresAndRows], parts: Sequence[np.ndarray], n_jobs: int | None
) -> Iterator[ScoresAndRows]:
    if len(parts) == 1:  # starting a thread would take longer than the search
        yield task(parts[0])
        return
    # one BLAS thread per task: nested thread pools would compete for the cores
    with ThreadRunner(n_jobs) as run, one_native_thread("blas"):
        yield from run(task, parts)


def split_rows(rows: np.ndarray, size: int) -> list[np.ndarray]:
    """Split rows into parts of at most `size`."""
    bounds = [*range(0, len(rows), size), len(rows)]
    return [rows[a:b] for a, b in pairwise(bounds)]


def empty_heaps(n_queries: int, top: int) -> ScoresAndRows:
    """Return heaps without answers: every row is better than what is there."""
    return np.full((n_queries, top), -np.inf), np.full((n_queries, top), NO_ROW)


def merge(a: ScoresAndRows, b: ScoresAndRows, top: int) -> ScoresAndRows:
    """Return the best of two sets of answers, best first; of equal scores the earlier row."""
    scores, rows = (np.hstack(pair) for pair in zip(a, b, strict=True))
    return take_order(scores, rows, np.lexsort((rows, -scores))[:, :top])


def take_order(scores: np.ndarray, rows: np.ndarray, order: np.ndarray) -> ScoresAndRows:
    """Return both arrays with the columns of each query in the given order."""
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)


def _one_by_one(
    vectors: np.ndarray, rows: np.ndarray, queries: PreparedQueries, heaps: ScoresAndRows
) -> None:
    """Fill the heaps of the queries without matrix products."""
    rough = queries.rough.astype(vectors.dtype)
    form, center, error = queries.form, queries.center, queries.rough_error
    for own, own_rough, scores, found in zip(queries.exact, rough, *heaps, strict=True):
        search_one(form, vectors, rows, own, own_rough, center, error, scores, found)


def _by_products(
    vectors: np.ndarray, rows: np.ndarray, queries: PreparedQueries, heaps: ScoresAndRows
) -> None:
    """Fill the heaps of the queries by products of matrices."""
    rough = queries.rough.astype(np.float32)
    form, center, error = queries.form, queries.center, queries.rough_error
    buffer = np.empty((min(BLOCK, len(rows)), vectors.shape[1]), np.float32)
    for part in split_rows(rows, BLOCK):
        block = buffer[: len(part)]
        prepare_rows(form, vectors, part, center, block)
        keep_best(form, rough @ block.T, vectors, part, queries.exact, center, error, *heaps)
