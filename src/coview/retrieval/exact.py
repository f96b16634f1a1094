"""The best rows of a gallery for each query, found by looking at all of them.

Nothing of the size of the gallery is made: a block of vectors at a time is prepared, multiplied
and forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits

from coview.kernels.search import NOWHERE, keep_best, prepare_rows, search_one
from coview.retrieval.similarity import Prepared
from coview.runners.threads import ThreadRunner

TASK = 1 << 16  # rows that a thread searches before it looks up
BLOCK = 1024  # rows in one matrix product: they and their scores stay in the cache
BATCH = 256  # queries in one matrix product
FEW = 3  # from so many queries on, a matrix product is faster than one after the other

Best = tuple[np.ndarray, np.ndarray]  # scores and rows, (queries, top)


def nearest(
    vectors: np.ndarray, rows: np.ndarray, queries: Prepared, top: int, n_jobs: int | None = None
) -> Best:
    """Scores and row numbers of the best `top` of the vectors at `rows`, for each query.

    Equal scores come in the order of the rows. The answer depends neither on the number of
    threads nor on how rows and queries are cut into blocks.

    Parameters
    ----------
    vectors : ndarray of shape (documents, topics)
    rows : ndarray of int64
        The documents to look at.
    queries : Prepared
    top : int
        At most as many as there are rows.
    n_jobs : int or None

    Returns
    -------
    scores, rows : ndarrays of shape (queries, top)
    """
    top = min(top, len(rows))
    parts = [
        _nearest(vectors, rows, queries[begin : begin + BATCH], top, n_jobs)
        for begin in range(0, len(queries), BATCH)
    ]
    scores, places = zip(no_answers(0, top), *parts, strict=True)
    return np.concatenate(scores), np.concatenate(places)


def _nearest(vectors, rows, queries, top, n_jobs) -> Best:
    search = _one_by_one if len(queries) < FEW else _by_products

    def task(part: np.ndarray) -> Best:
        heaps = no_answers(len(queries), top)
        search(vectors, part, queries, heaps)
        return heaps

    best = no_answers(len(queries), top)
    for found in run_tasks(task, pieces(rows, TASK), n_jobs):
        best = merged(best, found, top)
    return best


def run_tasks(
    task: Callable[[np.ndarray], Best], parts: Sequence[np.ndarray], n_jobs: int | None
) -> Iterator[Best]:
    """The answers from each part, on threads if there are several."""
    if len(parts) == 1:
        yield task(parts[0])
        return
    # each thread multiplies for itself: threads of the library within ours would get in the way
    with ThreadRunner(n_jobs) as run, threadpool_limits(1, "blas"):
        yield from run(task, parts)


def pieces(rows: np.ndarray, size: int) -> list[np.ndarray]:
    """Rows cut into parts of at most `size`."""
    bounds = [*range(0, len(rows), size), len(rows)]
    return [rows[a:b] for a, b in pairwise(bounds)]


def no_answers(n_queries: int, top: int) -> Best:
    """Heaps in which every row is better than what is there."""
    return np.full((n_queries, top), -np.inf), np.full((n_queries, top), NOWHERE)


def merged(a: Best, b: Best, top: int) -> Best:
    """The best of two answers, the first best first."""
    scores, rows = (np.hstack(pair) for pair in zip(a, b, strict=True))
    order = np.lexsort((rows, -scores))[:, :top]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)


def _one_by_one(vectors: np.ndarray, rows: np.ndarray, queries: Prepared, heaps: Best) -> None:
    """Put the best rows into the heaps of the queries, without matrix products."""
    quick = queries.quick.astype(vectors.dtype)
    form, center, slack = queries.form, queries.center, queries.slack
    for careful, fast, scores, places in zip(queries.careful, quick, *heaps, strict=True):
        search_one(form, vectors, rows, careful, fast, center, slack, scores, places)


def _by_products(vectors: np.ndarray, rows: np.ndarray, queries: Prepared, heaps: Best) -> None:
    """Put the best rows into the heaps of the queries, by products of matrices."""
    quick = queries.quick.astype(np.float32)
    form, center, slack = queries.form, queries.center, queries.slack
    space = np.empty((min(BLOCK, len(rows)), vectors.shape[1]), np.float32)
    for part in pieces(rows, BLOCK):
        block = space[: len(part)]
        prepare_rows(form, vectors, part, center, block)
        keep_best(form, quick @ block.T, vectors, part, queries.careful, center, slack, *heaps)
