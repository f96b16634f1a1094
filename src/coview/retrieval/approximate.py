"""An approximate index: the gallery in lists of neighbors, of which a query looks at a few.

Lists are the cells of k-means on the prepared vectors. A query goes through the lists whose
centers are nearest to it, so that it may miss an answer that lies in another one; the scores of
the answers it finds are exact. A seed fixes the lists, whatever the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from coview.kernels.search import prepare_rows, search_lists
from coview.retrieval.exact import BLOCK, Best, merged, no_answers, pieces, run_tasks
from coview.retrieval.similarity import Prepared
from coview.runners.threads import ThreadRunner

LISTS = 2.0  # times the square root of the number of documents
SAMPLE = 64  # documents for each list from which the centers are learned
ITERATIONS = 10
TASK = 1 << 17  # rows times queries that are worth a thread
MOST_TASKS = 32  # each has answers for all queries, to be merged


@dataclass(frozen=True)
class Lists:
    """Where lists are in a gallery whose vectors are ordered by list.

    A query reads lists from end to end; scattered over the gallery that would take three times
    as long.

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
        return np.concatenate([[0], self.ends[:-1]])

    def near(self, query: np.ndarray, top: int, share: float) -> np.ndarray:
        """A share of the lists, the nearest to a prepared query; with `top` documents at least."""
        scores, sizes = self.centers @ query, self.ends - self.begins
        wanted = max(1, int(np.ceil(share * len(scores))))
        near = np.argpartition(-scores, wanted - 1)[:wanted]
        if sizes[near].sum() >= top:
            return near
        near = np.argsort(-scores, kind="stable")
        return near[: np.searchsorted(np.cumsum(sizes[near]), top) + 1]

    def by_list(
        self, lists: np.ndarray, queries: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """From pairs of list and query the bounds of each list, and the queries that ask it."""
        order = np.argsort(lists, kind="stable")
        used, firsts = np.unique(lists[order], return_index=True)
        bounds = np.column_stack([self.begins[used], self.ends[used]])
        return bounds, np.append(firsts, len(lists)), queries[order]


# -- making them ----------------------------------------------------------------------------------


def build_lists(
    vectors: np.ndarray,
    rows: np.ndarray,
    form: int,
    center: np.ndarray,
    seed: int,
    n_jobs: int | None = None,
) -> tuple[Lists, np.ndarray]:
    """Lists for the vectors at `rows`, to be prepared in a form of `kernels.search`.

    Returns
    -------
    lists : Lists
    order : ndarray of int64
        The rows list by list: the order in which `lists` expects the vectors.
    """

    def prepared(part: np.ndarray) -> np.ndarray:
        out = np.empty((len(part), vectors.shape[1]), np.float32)
        prepare_rows(form, vectors, part, center, out)
        return out

    rng = np.random.default_rng(seed)
    n_lists = max(1, int(LISTS * np.sqrt(len(rows))))
    # blocks of the same size for any number of threads, and one thread for each product
    with ThreadRunner(n_jobs) as run, threadpool_limits(1, "blas"):
        sample = rng.choice(len(rows), min(len(rows), SAMPLE * n_lists), replace=False)
        centers = _centers(prepared(rows[np.sort(sample)]), n_lists, rng, run)
        found = run(lambda part: _cells(prepared(part), centers), pieces(rows, BLOCK))
        cells = np.concatenate(list(found))
    order = rows[np.argsort(cells, kind="stable")]
    ends = np.cumsum(np.bincount(cells, minlength=n_lists))
    return Lists(centers, ends), order


def _centers(vectors, n_lists, rng, run):
    """Centers of length 1 by k-means on vectors of length 1."""
    centers = vectors[rng.choice(len(vectors), n_lists, replace=False)]
    for _ in range(ITERATIONS):
        parts = run(lambda part, at=centers: _cells(part, at), pieces(vectors, BLOCK))
        centers = _means(vectors, np.concatenate(list(parts)), centers)
    return centers


def _cells(vectors, centers):
    return np.argmax(vectors @ centers.T, axis=1)


def _means(vectors, cells, old):
    """The mean direction of each cell; that of an empty one is as it was."""
    sizes = np.bincount(cells, minlength=len(old))
    begins = np.cumsum(sizes) - sizes
    filled = sizes > 0
    new = old.copy()
    in_order = vectors[np.argsort(cells, kind="stable")]
    new[filled] = np.add.reduceat(in_order, begins[filled], axis=0)
    length = np.linalg.norm(new, axis=1, keepdims=True)
    return np.divide(new, length, out=new, where=length > 0)


# -- searching them -------------------------------------------------------------------------------


def nearest_in_lists(
    lists: Lists,
    vectors: np.ndarray,
    queries: Prepared,
    top: int,
    share: float,
    n_jobs: int | None = None,
) -> Best:
    """As `exact.nearest`, from a share of the lists of vectors."""
    top = min(top, len(vectors))
    if not len(queries):
        return no_answers(0, top)
    quick = queries.quick.astype(vectors.dtype)
    near = [lists.near(query, top, share) for query in quick]
    which = np.repeat(np.arange(len(near)), [len(n) for n in near])
    bounds, firsts, asking = lists.by_list(np.concatenate(near), which)

    def task(part: np.ndarray) -> Best:
        heaps = no_answers(len(queries), top)
        first = firsts[part[0] : part[-1] + 2]
        arguments = queries.careful, quick, queries.center, queries.slack, *heaps
        search_lists(queries.form, vectors, bounds[part], first, asking, *arguments)
        return heaps

    best = no_answers(len(queries), top)
    work = np.diff(firsts) * (bounds[:, 1] - bounds[:, 0])  # rows times queries
    for found in run_tasks(task, _equal_parts(work), n_jobs):
        best = merged(best, found, top)
    return best


def _equal_parts(work):
    """The numbers of the lists in parts of about the same work, one if there is little."""
    done = np.cumsum(work)
    n_parts = min(MOST_TASKS, 1 + done[-1] // TASK)
    return [p for p in np.split(np.arange(len(work)), _cuts(done, n_parts)) if len(p)]


def _cuts(done, n_parts):
    return np.searchsorted(done, done[-1] * np.arange(1, n_parts) / n_parts)
