"""Approximate search: documents in lists of near neighbors, of which a query searches a few.

The lists are the cells of k-means on the prepared vectors (an inverted file). A query searches the
lists whose centers are nearest to it, so it may miss an answer that lies in another list; the
scores of the answers it finds are exact. A seed fixes the lists, whatever the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coview.kernels.search import prepare_rows, search_lists
from coview.retrieval.exact import BLOCK, ScoresAndRows, best_of_tasks, empty_heaps, split_rows
from coview.retrieval.similarity import PreparedQueries
from coview.runners.native import one_native_thread
from coview.runners.threads import ThreadRunner

LISTS = 2.0  # number of lists, in multiples of the square root of the number of documents
SAMPLE = 64  # documents for each list from which the centers are learned
ITERATIONS = 10  # of k-means
TASK = 1 << 17  # rows times queries that are worth a thread
MAX_TASKS = 32  # each has heaps for all queries, which are merged


@dataclass(frozen=True)
class InvertedLists:
    """Lists of documents, as bounds in an array of vectors that is ordered list by list.

    A query reads whole lists; scattered over the array that would take three times as long.

    Attributes
    ----------
    centers : ndarray of shape (lists, dimensions)
        Of length 1.
    ends : ndarray of int64 of shape (lists,)
        The row after the last one of each list.
    """

    centers: np.ndarray
    ends: np.ndarray

    @property
    def begins(self) -> np.ndarray:
        """The first row of each list."""
        return np.concatenate([[0], self.ends[:-1]])

    def nearest_lists(self, query: np.ndarray, top: int, share: float) -> np.ndarray:
        """Return the share of the lists nearest to a query; more if they hold fewer than `top`."""
        scores, sizes = self.centers @ query, self.ends - self.begins
        wanted = max(1, int(np.ceil(share * len(scores))))
        near = np.argpartition(-scores, wanted - 1)[:wanted]
        if sizes[near].sum() >= top:
            return near
        near = np.argsort(-scores, kind="stable")
        return near[: np.searchsorted(np.cumsum(sizes[near]), top) + 1]

    def group_by_list(
        self, lists: np.ndarray, queries: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Group pairs of a list and a query by list, as `kernels.search.search_lists` takes them.

        Returns
        -------
        bounds : ndarray of shape (used lists, 2)
        starts : ndarray of shape (used lists + 1,)
            Where the queries of each list begin.
        queries : ndarray
            The numbers of the queries, list by list.
        """
        order = np.argsort(lists, kind="stable")
        used, starts = np.unique(lists[order], return_index=True)
        bounds = np.column_stack([self.begins[used], self.ends[used]])
        return bounds, np.append(starts, len(lists)), queries[order]


# -- building --------------------------------------------------------------------------------------


def build_lists(
    vectors: np.ndarray,
    rows: np.ndarray,
    form: int,
    center: np.ndarray,
    seed: int,
    n_jobs: int | None = None,
) -> tuple[InvertedLists, np.ndarray]:
    """Build lists of the vectors at `rows`.

    Parameters
    ----------
    vectors : ndarray of shape (documents, dimensions)
    rows : ndarray of int64
    form : int
        The formula of the score, see `coview.kernels.search`.
    center : ndarray of shape (dimensions,)
        What is subtracted from the vectors.
    seed : int
    n_jobs : int or None, default=None

    Returns
    -------
    lists : InvertedLists
    order : ndarray of int64
        The rows list by list: the order in which `lists` expects the vectors.
    """

    def prepared(part: np.ndarray) -> np.ndarray:
        out = np.empty((len(part), vectors.shape[1]), np.float32)
        prepare_rows(form, vectors, part, center, out)
        return out

    rng = np.random.default_rng(seed)
    n_lists = max(1, int(LISTS * np.sqrt(len(rows))))
    # the same bits for any number of threads: blocks of fixed size, one BLAS thread each
    with ThreadRunner(n_jobs) as run, one_native_thread("blas"):
        sample = rng.choice(len(rows), min(len(rows), SAMPLE * n_lists), replace=False)
        centers = _learn_centers(prepared(rows[np.sort(sample)]), n_lists, rng, run)
        found = run(lambda part: _cells(prepared(part), centers), split_rows(rows, BLOCK))
        cells = np.concatenate(list(found))
    order = rows[np.argsort(cells, kind="stable")]
    ends = np.cumsum(np.bincount(cells, minlength=n_lists))
    return InvertedLists(centers, ends), order


def _learn_centers(
    vectors: np.ndarray, n_lists: int, rng: np.random.Generator, run: ThreadRunner
) -> np.ndarray:
    """Return centers of length 1 by spherical k-means on vectors of length 1."""
    centers = vectors[rng.choice(len(vectors), n_lists, replace=False)]
    for _ in range(ITERATIONS):
        parts = run(lambda part, at=centers: _cells(part, at), split_rows(vectors, BLOCK))
        centers = _mean_directions(vectors, np.concatenate(list(parts)), centers)
    return centers


def _cells(vectors: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the number of the nearest center of each vector."""
    return np.argmax(vectors @ centers.T, axis=1)


def _mean_directions(vectors: np.ndarray, cells: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Return the mean direction of each cell; an empty cell keeps its old one."""
    sizes = np.bincount(cells, minlength=len(old))
    begins = np.cumsum(sizes) - sizes
    filled = sizes > 0
    new = old.copy()
    in_order = vectors[np.argsort(cells, kind="stable")]
    new[filled] = np.add.reduceat(in_order, begins[filled], axis=0)
    length = np.linalg.norm(new, axis=1, keepdims=True)
    return np.divide(new, length, out=new, where=length > 0)


# -- searching -------------------------------------------------------------------------------------


def nearest_in_lists(
    lists: InvertedLists,
    vectors: np.ndarray,
    queries: PreparedQueries,
    top: int,
    share: float,
    n_jobs: int | None = None,
) -> ScoresAndRows:
    """Return scores and row numbers as `exact.nearest`, from a share of the lists.

    Parameters
    ----------
    lists : InvertedLists
    vectors : ndarray of shape (documents, dimensions)
        In the order of the lists.
    queries : PreparedQueries
    top : int
        Number of answers; all if there are fewer.
    share : float
        Share of the lists that each query searches.
    n_jobs : int or None, default=None

    Returns
    -------
    scores, rows : ndarrays of shape (queries, top)
    """
    top = min(top, len(vectors))
    if not len(queries):
        return empty_heaps(0, top)
    rough = queries.rough.astype(vectors.dtype)
    near = [lists.nearest_lists(query, top, share) for query in rough]
    numbers = np.repeat(np.arange(len(near)), [len(n) for n in near])
    bounds, starts, list_queries = lists.group_by_list(np.concatenate(near), numbers)

    def task(part: np.ndarray) -> ScoresAndRows:
        heaps = empty_heaps(len(queries), top)
        own = bounds[part], starts[part[0] : part[-1] + 2], list_queries
        arguments = queries.exact, rough, queries.center, queries.rough_error, *heaps
        search_lists(queries.form, vectors, *own, *arguments)
        return heaps

    work = np.diff(starts) * (bounds[:, 1] - bounds[:, 0])  # rows times queries
    return best_of_tasks(task, _equal_parts(work), len(queries), top, n_jobs)


def _equal_parts(work: np.ndarray) -> list[np.ndarray]:
    """Split the numbers of the lists into parts of about the same work; one if there is little."""
    done = np.cumsum(work)
    n_parts = min(MAX_TASKS, 1 + done[-1] // TASK)
    cuts = np.searchsorted(done, done[-1] * np.arange(1, n_parts) / n_parts)
    return [part for part in np.split(np.arange(len(work)), cuts) if len(part)]
