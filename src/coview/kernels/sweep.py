r"""Kernels of `em.step`: the E-step over a block of documents, and all sums that the M-step needs.

For p(w|d) = sum_z p(z|d) p(w|z) let r(d,w) = n(d,w) / p(w|d) on the non-zeros. The expected counts
of EM are products of a factor and a gradient, and the posterior p(z|d,w) is never formed:

    theta_counts[d, z]  = p(z|d) sum_w r(d,w) p(w|z)      `sweep_rows`, over the rows of a block
    emission_grad[w, z] = sum_d r(d,w) p(z|d)             `sweep_columns`, over its columns

Layout: topics are the last axis everywhere, padded with zeros (`em.simplex.padded`), and p(w|z) is
kept term by term (terms, topics), so that one non-zero reads one contiguous run.

What makes it fast: indices are unsigned (a signed index costs a wrap-around test at each access),
topics are taken many at a time and sums are held in registers (`lanes`, `add_rows`), four non-zeros
are in flight at a time and the rows of p(w|z) after them are asked for between their products (they
come from the outer caches), ratios are brought into the order of columns once, so that the second
pass reads them in sequence, and only reassociation and contraction are allowed to the compiler, so
NaN and infinity keep their meaning.
"""

import numpy as np
from numba import njit

from coview.kernels.add_rows import add_rows
from coview.kernels.lanes import (
    add_products,
    at_least,
    count_of,
    divided,
    first,
    firsts,
    load,
    load_flat,
    n_below,
    plus_rows,
    store,
    store_flat,
    total_of,
    total_of_quarters,
    totals,
)
from coview.kernels.logarithms import plus_logs
from coview.kernels.prefetch import prefetch

_OPTIONS = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract"},
}
_u = np.uint64

# Sums over documents or words have runs of so many terms: a column's in single precision, say.
_RUN = 256
_NOWHERE = np.empty(0, np.uint32)
_AHEAD = 8  # non-zeros between a row of p(w|z) that is asked for and the one that is read
_LARGE, _SMALL = 256, 32  # bytes of a row that are taken at a time


@njit(**_OPTIONS)
def sweep_rows(rows, indptr, indices, data, theta, by_term, weight, floor, ratio, counts):
    """Fill ratio (nnz,), add weight * theta_counts to counts; return how many p(w|d) were floored.

    Row i of theta and counts (documents, topics) belongs to row rows[i] of the CSR matrix, so that
    some documents can be swept alone. p(w|d) below `floor` is taken as `floor`.
    """
    width = _u(theta.shape[1])
    large, small = count_of(theta, _LARGE), count_of(theta, _SMALL)
    body = width - width % large  # topics that are taken `large` at a time
    acc = np.empty((1, width), theta.dtype)
    top, zero = _u(0), floor - floor
    long, short = first(zero, _LARGE), first(zero, _SMALL)
    n_floored, n_all = 0, _u(indices.shape[0])
    distance = _u(_AHEAD if body > top else 2 * _AHEAD)
    for i in range(_u(rows.shape[0])):
        for k in range(width):
            acc[top, k] = zero
        j, end = _u(indptr[rows[i]]), _u(indptr[rows[i] + _u(1)])
        while j + _u(4) <= end:  # four non-zeros at a time
            four = indices[j], indices[j + _u(1)], indices[j + _u(2)], indices[j + _u(3)]
            then = min(j + distance, n_all - _u(4))  # maybe of the next document
            soon = indices[then], indices[then + _u(1)]
            later = indices[then + _u(2)], indices[then + _u(3)]
            few = short, short, short, short
            if body > top:
                many = long, long, long, long
                for k in range(top, body, large):
                    prefetch(by_term, soon, k, _LARGE)
                    many = add_products(many, load(theta, i, k, _LARGE), by_term, four, k)
                few = firsts(many, _SMALL)
            for k in range(body, width, small):
                if k & small == top:  # a cache line is twice as long
                    prefetch(by_term, soon, k, _SMALL)
                few = add_products(few, load(theta, i, k, _SMALL), by_term, four, k)
            p = totals(few)  # p(w|d)
            n_floored += n_below(p, floor)
            r = divided(load_flat(data, j, 4), at_least(p, floor))  # r(d,w) = n(d,w) / p(w|d)
            store_flat(ratio, j, r)
            for k in range(top, body, large):
                prefetch(by_term, later, k, _LARGE)
                store(acc, top, k, plus_rows(load(acc, top, k, _LARGE), r, by_term, four, k))
            for k in range(body, width, small):
                if k & small == top:
                    prefetch(by_term, later, k, _SMALL)
                store(acc, top, k, plus_rows(load(acc, top, k, _SMALL), r, by_term, four, k))
            j += _u(4)
        while j < end:
            one, single = (indices[j],), (short,)
            if body > top:
                whole = (long,)
                for k in range(top, body, large):
                    whole = add_products(whole, load(theta, i, k, _LARGE), by_term, one, k)
                single = firsts(whole, _SMALL)
            for k in range(body, width, small):
                single = add_products(single, load(theta, i, k, _SMALL), by_term, one, k)
            q = totals(single)
            n_floored += n_below(q, floor)
            s = divided(load_flat(data, j, 1), at_least(q, floor))
            store_flat(ratio, j, s)
            for k in range(top, width, small):
                store(acc, top, k, plus_rows(load(acc, top, k, _SMALL), s, by_term, one, k))
            j += _u(1)
        for k in range(width):
            counts[i, k] += weight * (theta[i, k] * acc[top, k])
    return n_floored


@njit(**_OPTIONS)
def sweep_columns(first, last, terms, colptr, rows, ratio, theta, total):
    """Add theta.T @ ratio of columns first to last of the block to total[terms] (terms, topics).

    rows (nnz,) is the document within the block, ratio (nnz,) in the order of columns. No column
    is empty.
    """
    n_topics = _u(theta.shape[1])
    wide = np.empty((1, n_topics), np.float64)
    for col in range(_u(first), _u(last)):
        j = _u(colptr[col])
        stop = _u(colptr[col + _u(1)])
        if stop - j <= _u(_RUN):  # most are so short: they need no second sum
            add_rows(theta, rows, ratio, j, stop, total, terms[col])
            continue
        for k in range(n_topics):
            wide[_u(0), k] = 0
        while j < stop:
            end = min(j + _u(_RUN), stop)
            add_rows(theta, rows, ratio, j, end, wide, _u(0))
            j = end
        for k in range(n_topics):
            total[terms[col], k] += wide[_u(0), k]


def log_likelihood(data, ratio):
    """Return sum_i data[i] * log p[i] in double precision, with p = data / ratio (nnz,)."""
    return reorder(data, ratio, _NOWHERE, ratio[:0])


@njit(**_OPTIONS)
def reorder(data, ratio, place, out):
    """Put ratios (nnz,) to their places in out, in the order of columns; return `log_likelihood`.

    Stores that wait for the memory cost little while logarithms are computed. No places: nothing is
    stored.
    """
    total, stores = np.float64(0), place.shape[0] > 0
    j, size = _u(0), _u(data.shape[0])
    while j < size:
        end = min(j + _u(_RUN), size)
        if j + _u(32) <= end:
            many = first(total, _LARGE)
            while j + _u(32) <= end:
                many = plus_logs(many, load_flat(data, j, 32), load_flat(ratio, j, 32))
                if stores:
                    for i in range(j, j + _u(32)):
                        out[place[i]] = ratio[i]
                j += _u(32)
            total = total_of_quarters(many)
        begin = j
        if j + _u(4) <= end:
            few = first(total, _SMALL)
            while j + _u(4) <= end:
                few = plus_logs(few, load_flat(data, j, 4), load_flat(ratio, j, 4))
                j += _u(4)
            total = total_of(few)
        while j < end:
            one = plus_logs(first(total, 8), load_flat(data, j, 1), load_flat(ratio, j, 1))
            total = total_of(one)
            j += _u(1)
        if stores:
            for i in range(begin, end):
                out[place[i]] = ratio[i]
    return total
