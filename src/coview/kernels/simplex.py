"""Kernels that normalize rows of mixtures and columns of topics: the M-step of EM, with priors."""

import numpy as np
from numba import njit

from coview.kernels.lanes import count_of, load, shares_of, store

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}

_SIZE = 32  # bytes of a row that are divided at a time
_u = np.uint64

# Mixtures come with or without padding, hence with any stride: compiled once for all of them.
_ROWS = ["void(f4[:, :], f4[:, :], b1[:], f8)", "void(f8[:, :], f8[:, :], b1[:], f8)"]


@njit(**_OPTIONS)
def _sum_four(counts, first, mass):
    """Fill mass (4,) with the sums of rows from `first` on: four at a time, or else one."""
    width = _u(counts.shape[1])
    if first + _u(4) <= _u(counts.shape[0]):
        a = b = c = d = 0.0
        for k in range(width):
            a += counts[first, k]
            b += counts[first + _u(1), k]
            c += counts[first + _u(2), k]
            d += counts[first + _u(3), k]
        mass[0], mass[1], mass[2], mass[3] = a, b, c, d
        return
    for i in range(first, _u(counts.shape[0])):
        total = 0.0
        for k in range(width):
            total += counts[i, k]
        mass[i - first] = total


@njit(_ROWS, **_OPTIONS)
def normalize_rows(counts, old, keep, tiny):
    """Normalize the rows of counts (rows, topics) in place; take `old` where keep or without mass.

    Shares below `tiny` become 0: products of two such numbers are subnormal, which costs a
    hundred times a multiplication on common processors.
    """
    n_rows, width, step = _u(counts.shape[0]), _u(counts.shape[1]), count_of(counts, _SIZE)
    side_by_side = counts.strides[1] == counts.itemsize
    mass = np.empty(4)
    for i in range(n_rows):
        if i % _u(4) == 0:
            _sum_four(counts, i, mass)
        total = mass[i % _u(4)]
        if keep[i] or not total > 0.0:
            for k in range(width):  # counts[i] = old[i] takes seconds to compile
                counts[i, k] = old[i, k]
            continue
        k = _u(0)
        while side_by_side and k + step <= width:
            store(counts, i, k, shares_of(load(counts, i, k, _SIZE), total, tiny))
            k += step
        while k < width:
            share = counts[i, k] / total
            counts[i, k] = share if share >= tiny else 0.0
            k += _u(1)


@njit(**_OPTIONS)
def normalize_topics(grad, by_term, tiny, out):
    """Fill out (terms, topics) with by_term * grad, columns normalized; keep those without mass."""
    n_terms, n_topics = by_term.shape
    mass = np.zeros(n_topics)
    for w in range(n_terms):
        for k in range(n_topics):
            grad[w, k] *= by_term[w, k]
            mass[k] += grad[w, k]
    for w in range(n_terms):
        for k in range(n_topics):
            share = grad[w, k] / mass[k] if mass[k] > 0.0 else by_term[w, k]
            out[w, k] = share if share >= tiny else 0.0


@njit(**_OPTIONS)
def add_to_rows(counts, excess):
    """Add excess to counts (rows, topics) in place, clipped at 0; rows without mass stay.

    Where nothing is left, the largest count stays as it was: the first of equals.
    """
    for i in range(counts.shape[0]):
        largest = 0
        for k in range(counts.shape[1]):
            if counts[i, k] > counts[i, largest]:
                largest = k
        kept = counts[i, largest]
        if not kept > 0.0:
            continue
        for k in range(counts.shape[1]):
            counts[i, k] = max(counts[i, k] + excess, 0.0)
        if not counts[i, largest] > 0.0:
            counts[i, largest] = kept


@njit(**_OPTIONS)
def normalize_topics_with_prior(grad, by_term, pseudo, n_topics, tiny, out):
    """Fill out as `normalize_topics` does, with pseudo (terms,) added to the counts by_term * grad.

    Counts below 0 become 0; where none is left in a topic, its largest one takes all. Columns from
    n_topics on are padding, and stay 0.
    """
    n_terms = by_term.shape[0]
    mass, largest = np.zeros(n_topics), np.zeros(n_topics, np.int64)
    for w in range(n_terms):
        for k in range(n_topics):
            grad[w, k] *= by_term[w, k]
            if grad[w, k] > grad[largest[k], k]:
                largest[k] = w
            mass[k] += max(grad[w, k] + pseudo[w], 0.0)
    out[:] = 0
    for k in range(n_topics):
        if not mass[k] > 0.0 and grad[largest[k], k] > 0.0:
            mass[k] = -1.0
            out[largest[k], k] = 1.0
    for w in range(n_terms):
        for k in range(n_topics):
            if mass[k] > 0.0:
                share = max(grad[w, k] + pseudo[w], 0.0) / mass[k]
                out[w, k] = share if share >= tiny else 0.0
            elif mass[k] == 0.0:
                out[w, k] = by_term[w, k]
