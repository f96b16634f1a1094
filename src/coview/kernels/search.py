"""The nearest mixtures to a query: a rough score for every row, an exact one for candidates.

Scores are inner products of prepared vectors,

    ROOT        sum_k sqrt(q_k) sqrt(g_k)                   "hellinger"
    CENTERED    sum_k a_k (g_k - c_k) / |g - c|             "cosine" (c = 0), "correlation"

or 1 - JS(q, g) (JENSEN_SHANNON). Every row gets a rough score in the precision of the mixtures, or
in float32 from a matrix product; its error is at most `rough_error`. Only rows that could be among
the best by it are scored in double precision, in one order of summation. So the answer is that of
double precision and does not depend on blocks, threads or the library behind the matrix product.

For JS the rough score is that of ROOT, which is never less than 1 - JS: with a + b = 2s and
x = a / (a + b), 1 - js(a, b) / s is the entropy of (x, 1 - x) in bits and sqrt(ab) / s is
2 sqrt(x (1 - x)), which is never less than that entropy.

The best rows of a query are a heap (top,) with the worst of them in front: a lower score is worse,
and of equal scores the later row. It starts full of -inf and NO_ROW.
"""

import numpy as np
from numba import njit

from coview.kernels.jensen_shannon import jensen_shannon

ROOT, CENTERED, JENSEN_SHANNON = 0, 1, 2
NO_ROW = np.iinfo(np.int64).max
CHUNK = 128  # rough scores that are tested together

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
_SUMS = {**_OPTIONS, "fastmath": {"reassoc", "contract"}}
_u = np.uint64


@njit(**_OPTIONS)
def exact_score(form, query, row, center):
    """Return the score of one row in double precision; the query (topics,) is prepared."""
    if form == JENSEN_SHANNON:
        return 1.0 - jensen_shannon(query, row)
    score = square = 0.0
    for k in range(row.shape[0]):
        if form == ROOT:
            score += query[k] * np.sqrt(np.float64(row[k]))
        else:
            share = np.float64(row[k]) - center[k]
            score += query[k] * share
            square += share * share
    if form == CENTERED:
        score = score / np.sqrt(square) if square > 0.0 else 0.0
    return score if score == score else -np.inf  # NaN has no place in an order


@njit(**_SUMS)
def _rough_root(query, row):
    score = row.dtype.type(0)
    for k in range(_u(row.shape[0])):
        score += query[k] * np.sqrt(row[k])
    return score


@njit(**_SUMS)
def _rough_centered(query, row, center):
    score = row.dtype.type(0)
    square = row.dtype.type(0)
    for k in range(_u(row.shape[0])):
        share = row[k] - center[k]
        score += query[k] * share
        square += share * share
    return score / np.sqrt(square) if square > 0 else row.dtype.type(0)


@njit(**_OPTIONS)
def _worse(score_a, row_a, score_b, row_b):
    return score_a < score_b or (score_a == score_b and row_a > row_b)


@njit(**_OPTIONS)
def _replace_worst(best_scores, best_rows, score, row):
    """Replace the worst row of the heap if this one is better, and restore the heap."""
    if not _worse(best_scores[0], best_rows[0], score, row):
        return
    i, n = 0, best_scores.shape[0]
    while True:
        child = 2 * i + 1
        if child + 1 < n and _worse(
            best_scores[child + 1], best_rows[child + 1], best_scores[child], best_rows[child]
        ):
            child += 1
        if child >= n or not _worse(best_scores[child], best_rows[child], score, row):
            break
        best_scores[i], best_rows[i] = best_scores[child], best_rows[child]
        i = child
    best_scores[i], best_rows[i] = score, row


@njit(**_OPTIONS)
def search_one(
    form, mixtures, rows, query, rough_query, center, rough_error, best_scores, best_rows
):
    """Put the best of the mixtures at `rows` for one query into its heap (top,).

    query (topics,) is in double precision; rough_query and center in that of the mixtures.
    """
    for i in range(rows.shape[0]):
        row = mixtures[rows[i]]
        if form == CENTERED:
            rough = _rough_centered(rough_query, row, center)
        else:
            rough = _rough_root(rough_query, row)
        if not rough < best_scores[0] - rough_error:  # NaN: the exact score decides
            _replace_worst(best_scores, best_rows, exact_score(form, query, row, center), rows[i])


@njit(**_SUMS)
def _length(row, center):
    square = row.dtype.type(0)
    for k in range(_u(row.shape[0])):
        square += (row[k] - center[k]) * (row[k] - center[k])
    return np.sqrt(square)


@njit(**_OPTIONS)
def prepare_rows(form, mixtures, rows, center, out):
    """Fill out (rows, topics), float32: vectors whose inner products with queries are scores."""
    for i in range(rows.shape[0]):
        row, vector = mixtures[rows[i]], out[i]
        if form != CENTERED:
            for k in range(_u(row.shape[0])):
                vector[k] = np.sqrt(row[k])
            continue
        length = _length(row, center)
        scale = 1 / length if length > 0 else length
        for k in range(_u(row.shape[0])):
            vector[k] = (row[k] - center[k]) * scale


@njit(**_OPTIONS)
def _any_above(rough, limit):
    """Return whether not all are below the limit; counted, which the compiler vectorizes."""
    count = 0
    for i in range(_u(rough.shape[0])):
        count += rough[i] < limit
    return count < rough.shape[0]


@njit(**_OPTIONS)
def keep_best(form, rough, mixtures, rows, queries, center, rough_error, best_scores, best_rows):
    """Put the best rows by rough scores (queries, rows) into the heaps (queries, top).

    Column i of `rough` belongs to the row rows[i] of the mixtures.
    """
    for q in range(rough.shape[0]):
        heap_scores, heap_rows = best_scores[q], best_rows[q]
        for begin in range(0, rows.shape[0], CHUNK):
            part = rough[q, begin : min(begin + CHUNK, rows.shape[0])]
            if not _any_above(part, heap_scores[0] - rough_error):
                continue
            for i in range(part.shape[0]):
                if not part[i] < heap_scores[0] - rough_error:
                    row = rows[begin + i]
                    score = exact_score(form, queries[q], mixtures[row], center)
                    _replace_worst(heap_scores, heap_rows, score, row)
