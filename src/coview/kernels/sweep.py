r"""Kernels of `em.step`: the E-step over a block of documents, and all sums that the M-step needs.

For p(w|d) = sum_z p(z|d) p(w|z) let r(d,w) = n(d,w) / p(w|d) on the non-zeros. The expected counts
of EM are products of a factor and a gradient, and the posterior p(z|d,w) is never formed:

    theta_counts[d, z]  = p(z|d) sum_w r(d,w) p(w|z)      `sweep_rows`, over the rows of a block
    emission_grad[w, z] = sum_d r(d,w) p(z|d)             `sweep_columns`, over its columns

Layout: topics are the last axis everywhere, padded with zeros (`em.simplex.padded`), and p(w|z) is
kept term by term (terms, topics), so that one non-zero reads one contiguous run.

What makes it fast: indices are unsigned (a signed index costs a wrap-around test at each access),
several non-zeros are in flight at a time and the rows of p(w|z) after them are asked for (they come
from the outer caches), ratios are brought into the order of columns once, so that the second pass
reads them in sequence, and only reassociation and contraction are allowed to the compiler, so NaN
and infinity keep their meaning.
"""

import numpy as np
from numba import njit

from coview.kernels.prefetch import prefetch_row

_OPTIONS = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract"},
}
_u = np.uint64

# A column's sum goes over to double precision after this many terms of single precision.
_RUN = 256
_CHUNK = 256
_AHEAD = 8  # non-zeros between a row of p(w|z) that is asked for and the one that is read


@njit(**_OPTIONS)
def sweep_rows(rows, indptr, indices, data, theta, by_term, weight, floor, ratio, counts):
    """Fill ratio (nnz,), add weight * theta_counts to counts; return how many p(w|d) were floored.

    Row i of theta and counts (documents, topics) belongs to row rows[i] of the CSR matrix, so that
    some documents can be swept alone. p(w|d) below `floor` is taken as `floor`.
    """
    n_topics = _u(theta.shape[1])
    acc = np.empty(n_topics, theta.dtype)
    zero = floor - floor
    n_floored = 0
    n_all = _u(indices.shape[0])
    for i in range(_u(rows.shape[0])):
        mix = theta[i]
        for k in range(n_topics):
            acc[k] = zero
        j = _u(indptr[rows[i]])
        end = _u(indptr[rows[i] + _u(1)])
        while j + _u(4) <= end:  # four non-zeros at a time
            j1, j2, j3 = j + _u(1), j + _u(2), j + _u(3)
            if j + _u(_AHEAD + 4) <= n_all:  # also those of the next document
                for ahead in range(_u(_AHEAD), _u(_AHEAD + 4)):
                    prefetch_row(by_term, indices[j + ahead])
            a, b = by_term[indices[j]], by_term[indices[j1]]
            c, d = by_term[indices[j2]], by_term[indices[j3]]
            pa, pb, pc, pd = zero, zero, zero, zero  # p(w|d) of the four
            for k in range(n_topics):
                pa += mix[k] * a[k]
                pb += mix[k] * b[k]
                pc += mix[k] * c[k]
                pd += mix[k] * d[k]
            if min(min(pa, pb), min(pc, pd)) < floor:
                n_floored += (pa < floor) + (pb < floor) + (pc < floor) + (pd < floor)
            pa, pb, pc, pd = max(pa, floor), max(pb, floor), max(pc, floor), max(pd, floor)
            # r(d,w) = n(d,w) / p(w|d)
            ra, rb, rc, rd = data[j] / pa, data[j1] / pb, data[j2] / pc, data[j3] / pd
            ratio[j], ratio[j1], ratio[j2], ratio[j3] = ra, rb, rc, rd
            for k in range(n_topics):
                acc[k] += (ra * a[k] + rb * b[k]) + (rc * c[k] + rd * d[k])
            j += _u(4)
        while j < end:
            a = by_term[indices[j]]
            pa = zero
            for k in range(n_topics):
                pa += mix[k] * a[k]
            if pa < floor:
                n_floored += 1
            pa = max(pa, floor)
            ra = data[j] / pa
            ratio[j] = ra
            for k in range(n_topics):
                acc[k] += ra * a[k]
            j += _u(1)
        for k in range(n_topics):
            counts[i, k] += weight * (mix[k] * acc[k])
    return n_floored


@njit(**_OPTIONS)
def sweep_columns(first, last, terms, colptr, rows, ratio, theta, total):
    """Add theta.T @ ratio of columns first to last of the block to total[terms] (terms, topics).

    rows (nnz,) is the document within the block, ratio (nnz,) in the order of columns. No column
    is empty.
    """
    n_topics = _u(theta.shape[1])
    acc = np.empty(n_topics, theta.dtype)
    wide = np.empty(n_topics, np.float64)
    for col in range(_u(first), _u(last)):
        j = _u(colptr[col])
        stop = _u(colptr[col + _u(1)])
        is_short = stop - j <= _u(_RUN)  # most are: they need no second sum
        if not is_short:
            for k in range(n_topics):
                wide[k] = 0
        while j < stop:
            end = min(j + _u(_RUN), stop)
            for k in range(n_topics):
                acc[k] = 0
            while j + _u(8) <= end:
                j1, j2, j3, j4 = j + _u(1), j + _u(2), j + _u(3), j + _u(4)
                j5, j6, j7 = j + _u(5), j + _u(6), j + _u(7)
                a, b, c, d = theta[rows[j]], theta[rows[j1]], theta[rows[j2]], theta[rows[j3]]
                e, f, g, h = theta[rows[j4]], theta[rows[j5]], theta[rows[j6]], theta[rows[j7]]
                ra, rb = ratio[j], ratio[j1]
                rc, rd = ratio[j2], ratio[j3]
                re, rf = ratio[j4], ratio[j5]
                rg, rh = ratio[j6], ratio[j7]
                for k in range(n_topics):
                    acc[k] += ((ra * a[k] + rb * b[k]) + (rc * c[k] + rd * d[k])) + (
                        (re * e[k] + rf * f[k]) + (rg * g[k] + rh * h[k])
                    )
                j += _u(8)
            while j + _u(3) <= end:  # one after the other, in one loop
                a, b, c = theta[rows[j]], theta[rows[j + _u(1)]], theta[rows[j + _u(2)]]
                ra, rb, rc = ratio[j], ratio[j + _u(1)], ratio[j + _u(2)]
                for k in range(n_topics):
                    acc[k] = ((acc[k] + ra * a[k]) + rb * b[k]) + rc * c[k]
                j += _u(3)
            while j < end:
                a = theta[rows[j]]
                ra = ratio[j]
                for k in range(n_topics):
                    acc[k] += ra * a[k]
                j += _u(1)
            if not is_short:
                for k in range(n_topics):
                    wide[k] += acc[k]
        into = total[terms[col]]
        if is_short:
            for k in range(n_topics):
                into[k] += acc[k]
        else:
            for k in range(n_topics):
                into[k] += wide[k]


@njit(**_OPTIONS)
def reorder(values, place, out):
    """Put values (nnz,) to their places, those in the order of columns."""
    for j in range(_u(values.shape[0])):
        out[place[j]] = values[j]


def log_likelihood(data, ratio):
    """Return sum_i data[i] * log p[i] in double precision, with p = data / ratio (nnz,).

    A library call for each logarithm would cost a third of a sweep with 20 topics, and keeps
    the loop scalar. Here p = 2**e m with m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh(f) with
    f = (m-1)/(m+1) as a series in f; |f| < 0.172 makes the first term left out smaller than 1e-16.
    """
    mantissa = np.empty(_CHUNK, np.float64)  # not in the kernel, where a view is slow to compile
    exponent = np.empty(_CHUNK, np.int32)
    return _log_likelihood(data, ratio, mantissa, mantissa.view(np.int64), exponent)


@njit(**_OPTIONS)
def _log_likelihood(data, ratio, mantissa, bits, exponent):
    """Compute `log_likelihood` in pieces; bits are those of mantissa, (_CHUNK,) like exponent."""
    total = 0.0
    size = data.shape[0]
    for start in range(0, size, _CHUNK):
        n = _u(min(_CHUNK, size - start))
        here = data[start : start + n]
        for i in range(n):
            mantissa[i] = np.float64(here[i]) / np.float64(ratio[start + i])
        for i in range(n):
            e = (bits[i] - np.int64(0x3FE6A09E667F3BCD)) >> np.int64(52)  # the bits of sqrt(1/2)
            exponent[i] = e
            bits[i] -= e << np.int64(52)
        for i in range(n):
            f = (mantissa[i] - 1.0) / (mantissa[i] + 1.0)
            q = f * f
            s = 2 / 15 + q * (2 / 17 + q * (2 / 19))
            s = 2 / 9 + q * (2 / 11 + q * (2 / 13 + q * s))
            s = 2 / 3 + q * (2 / 5 + q * (2 / 7 + q * s))
            total += here[i] * (exponent[i] * 0.6931471805599453 + f * (2.0 + q * s))
    return total
