"""The nearest mixtures to a query: a quick look at every row, a careful one at the few that count.

Scores are inner products of prepared vectors,

    root        sum_k sqrt(q_k) sqrt(g_k)                   "hellinger"
    centered     sum_k a_k (g_k - c_k) / |g - c|             "cosine" (c = 0), "correlation"

or 1 - JS(q, g). Every row gets a quick score in the precision of the mixtures, or in float32 from
a matrix product; it is off by at most `slack`. Only rows that could be among the best by it are
scored in double precision, in one order of summation. So the answer is that of double precision
and does not depend on blocks, threads or the library behind the matrix product.

For JS the quick score is that of "root", which is never less than 1 - JS: with a + b = 2s and
x = a / (a + b), 1 - js(a, b) / s is the entropy of (x, 1 - x) in bits and sqrt(ab) / s is
2 sqrt(x (1 - x)), which is never less than that entropy.

The best rows of a query are a heap (top,) with the worst of them in front: a lower score is worse,
and of equal scores the later row. It starts full of -inf and NOWHERE.
"""

import numpy as np
from numba import njit

from coview.kernels.divergence import jensen_shannon

ROOT, CENTERED, JENSEN_SHANNON = 0, 1, 2
NOWHERE = np.iinfo(np.int64).max
GLANCE = 128  # scores that are looked at together

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
_SUMS = {**_OPTIONS, "fastmath": {"reassoc", "contract"}}
_u = np.uint64


@njit(**_OPTIONS)
def careful(form, query, row, center):
    """The score of one row in double precision; query (topics,) is prepared, for JS as it is."""
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
        return score / np.sqrt(square) if square > 0.0 else 0.0
    return score


@njit(**_SUMS)
def _quick_root(query, row):
    score = row.dtype.type(0)
    for k in range(_u(row.shape[0])):
        score += query[k] * np.sqrt(row[k])
    return score


@njit(**_SUMS)
def _quick_centered(query, row, center):
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
def _replace_worst(scores, places, score, place):
    """Put a row in the place of the worst one if it is better, and the worst of all in front."""
    if not _worse(scores[0], places[0], score, place):
        return
    i, n = 0, scores.shape[0]
    while True:
        child = 2 * i + 1
        if child + 1 < n and _worse(
            scores[child + 1], places[child + 1], scores[child], places[child]
        ):
            child += 1
        if child >= n or not _worse(scores[child], places[child], score, place):
            break
        scores[i], places[i] = scores[child], places[child]
        i = child
    scores[i], places[i] = score, place


@njit(**_OPTIONS)
def search_one(form, mixtures, rows, query, quick_query, center, slack, scores, places):
    """The best of the mixtures at `rows` for one query, into the heap scores, places (top,).

    query (topics,) is in double precision; quick_query and center in that of the mixtures.
    """
    for i in range(rows.shape[0]):
        row = mixtures[rows[i]]
        if form == CENTERED:
            quick = _quick_centered(quick_query, row, center)
        else:
            quick = _quick_root(quick_query, row)
        if quick >= scores[0] - slack:
            _replace_worst(scores, places, careful(form, query, row, center), rows[i])


@njit(**_OPTIONS)
def search_lists(
    form, mixtures, bounds, firsts, asking, queries, quick_queries, center, slack, scores, places
):
    """The best of some lists of rows for the queries that ask each, into heaps (queries, top).

    List i is the rows bounds[i, 0] to bounds[i, 1]; asking[firsts[i]:firsts[i + 1]] are the numbers
    of the queries that ask it, one after the other while the list is in the cache.
    """
    for i in range(bounds.shape[0]):
        rows = np.arange(bounds[i, 0], bounds[i, 1])
        for q in asking[firsts[i] : firsts[i + 1]]:
            search_one(
                form,
                mixtures,
                rows,
                queries[q],
                quick_queries[q],
                center,
                slack,
                scores[q],
                places[q],
            )


@njit(**_SUMS)
def _length(row, center):
    square = row.dtype.type(0)
    for k in range(_u(row.shape[0])):
        square += (row[k] - center[k]) * (row[k] - center[k])
    return np.sqrt(square)


@njit(**_OPTIONS)
def prepare_rows(form, mixtures, rows, center, out):
    """out (rows, topics), float32: the vectors whose inner products with queries are scores."""
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
def _any_above(quick, limit):
    """Whether any of the scores reaches the limit: counted, since that needs no branches."""
    count = 0
    for i in range(_u(quick.shape[0])):
        count += quick[i] >= limit
    return count > 0


@njit(**_OPTIONS)
def keep_best(form, quick, mixtures, rows, queries, center, slack, scores, places):
    """From quick scores (queries, rows) the best rows into the heaps scores, places (queries, top).

    A column of `quick` is the row of mixtures whose number is in `rows`.
    """
    for q in range(quick.shape[0]):
        best, where = scores[q], places[q]
        for begin in range(0, rows.shape[0], GLANCE):
            part = quick[q, begin : min(begin + GLANCE, rows.shape[0])]
            if not _any_above(part, best[0] - slack):
                continue
            for i in range(part.shape[0]):
                if part[i] >= best[0] - slack:
                    row = rows[begin + i]
                    score = careful(form, queries[q], mixtures[row], center)
                    _replace_worst(best, where, score, row)
