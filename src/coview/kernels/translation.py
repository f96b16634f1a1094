"""The translation table between two views: candidates, and the two passes of its EM.

A document d has the terms w of the first view with shares f(w|d), and counts n(d,w') of the terms
of the second. Each first term keeps a few candidates (terms, width), -1 where it has fewer. The
model is

    p(w'|d) = sum_w f(w|d) t(w'|w) + null p(w')

where f sums to 1 - null. One pass over documents finds r(d,w') = n(d,w') / p(w'|d); one pass over
first terms multiplies t(w'|w) by sum_d f(w|d) r(d,w') and makes it sum to one. Every sum belongs to
one document or to one term and has one order, so ranges of either may run on any thread.
"""

import numpy as np
from numba import njit

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}


@njit(**_OPTIONS)
def find_candidates(starts, docs, begin, end, rows, terms, docs_with, found, together):
    """Fill the candidates of the first terms in [begin, end), the closest ones first.

    `starts` and `docs` are the documents of each first term, `rows` and `terms` the second terms of
    each document. Two terms are the closer, the larger the cosine of the sets of documents that
    have them; `together` receives the number of documents that have both.
    """
    n_terms = docs_with.shape[0]
    count = np.zeros(n_terms, np.int32)
    met = np.empty(n_terms, np.int32)
    for w in range(begin, end):
        n_met = 0
        for i in range(starts[w], starts[w + 1]):
            for j in range(rows[docs[i]], rows[docs[i] + 1]):
                t = terms[j]
                if count[t] == 0:
                    met[n_met] = t
                    n_met += 1
                count[t] += 1
        met[:n_met].sort()  # equal scores stay in the order of the columns
        score = np.empty(n_met)
        for k in range(n_met):
            both = count[met[k]]
            score[k] = -(np.float64(both) * both) / docs_with[met[k]]
        order = np.argsort(score, kind="mergesort")
        for k in range(min(n_met, found.shape[1])):
            found[w, k] = met[order[k]]
            together[w, k] = count[met[order[k]]]
        for k in range(n_met):
            count[met[k]] = 0


@njit(**_OPTIONS)
def divide_counts(begin, end, rows, terms, shares, found, table, to, counts, null, ratio):
    """Fill r(d,w') of the documents in [begin, end), and return their log-likelihood.

    `rows`, `terms` and `shares` are f(w|d); `to` = (rows, terms) and `counts` are n(d,w'); `null`
    is null p(w').
    """
    to_rows, to_terms = to
    p = np.zeros(null.shape[0])
    total = 0.0
    for d in range(begin, end):
        for i in range(rows[d], rows[d + 1]):
            w = terms[i]
            for k in range(found.shape[1]):
                if found[w, k] < 0:
                    break
                p[found[w, k]] += shares[i] * table[w, k]
        for j in range(to_rows[d], to_rows[d + 1]):
            t = to_terms[j]
            p_t = p[t] + null[t]
            ratio[j] = counts[j] / p_t
            total += counts[j] * np.log(p_t)
        for i in range(rows[d], rows[d + 1]):
            w = terms[i]
            for k in range(found.shape[1]):
                if found[w, k] < 0:
                    break
                p[found[w, k]] = 0.0
    return total


@njit(**_OPTIONS)
def update_table(starts, docs, shares, begin, end, to, ratio, found, table, n_terms):
    """Take the M-step for the first terms in [begin, end), in place."""
    to_rows, to_terms = to
    place = np.full(n_terms, -1, np.int32)
    gain = np.empty(found.shape[1])
    for w in range(begin, end):
        width = 0
        while width < found.shape[1] and found[w, width] >= 0:
            place[found[w, width]] = width
            gain[width] = 0.0
            width += 1
        for i in range(starts[w], starts[w + 1]):
            for j in range(to_rows[docs[i]], to_rows[docs[i] + 1]):
                k = place[to_terms[j]]
                if k >= 0:
                    gain[k] += shares[i] * ratio[j]
        total = 0.0
        for k in range(width):
            gain[k] *= table[w, k]
            total += gain[k]
            place[found[w, k]] = -1
        for k in range(width):
            table[w, k] = gain[k] / total if total > 0.0 else 0.0


@njit(**_OPTIONS)
def add_called(terms, weights, shares, calls, by_term, score):
    """Add what query terms say about documents: sum_w q(w) log(1 + x(w,d) / p(w)).

    x(w,d) = sum_w' t(w|w') f(w'|d) over the second terms that call for w. `terms` are the columns
    w of the query, `weights` q(w), `shares` p(w). `calls` are the columns of t(w|w') and
    `by_term` those of f(w'|d), each as (starts, rows, values). `score` (documents,) is added to.
    """
    call_starts, second, chance = calls
    starts, docs, values = by_term
    total = np.empty(score.shape[0])
    seen = np.empty(score.shape[0], np.int64)
    last = np.full(score.shape[0], -1, np.int64)  # the last query term that met the document
    for i in range(terms.shape[0]):
        n_seen = 0
        for k in range(call_starts[terms[i]], call_starts[terms[i] + 1]):
            call = chance[k] / shares[i]
            for j in range(starts[second[k]], starts[second[k] + 1]):
                d = docs[j]
                if last[d] != i:  # a sum of 0 would not tell: shares and chances may be 0
                    last[d] = i
                    total[d] = 0.0
                    seen[n_seen] = d
                    n_seen += 1
                total[d] += call * values[j]
        for k in range(n_seen):
            score[seen[k]] += weights[i] * np.log1p(total[seen[k]])
