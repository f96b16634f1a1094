"""Kernels that normalize rows of mixtures and columns of topics: the M-step of EM, with priors."""

import numpy as np
from numba import njit

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}

# Mixtures come with or without padding, hence with any stride: compiled once for all of them.
_ROWS = ["void(f4[:, :], f4[:, :], b1[:], f8)", "void(f8[:, :], f8[:, :], b1[:], f8)"]


@njit(_ROWS, **_OPTIONS)
def normalize_rows(counts, old, keep, tiny):
    """Normalize the rows of counts (rows, topics) in place; take `old` where keep or without mass.

    Shares below `tiny` become 0: products of two such numbers are subnormal, which costs a
    hundred times a multiplication on common processors.
    """
    for i in range(counts.shape[0]):
        mass = 0.0
        for k in range(counts.shape[1]):
            mass += counts[i, k]
        if keep[i] or not mass > 0.0:
            for k in range(counts.shape[1]):  # counts[i] = old[i] takes seconds to compile
                counts[i, k] = old[i, k]
            continue
        for k in range(counts.shape[1]):
            share = counts[i, k] / mass
            counts[i, k] = share if share >= tiny else 0.0


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
