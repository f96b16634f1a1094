"""Kernels that normalize rows of mixtures and columns of topics: the M-step of plain EM."""

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
            counts[i] = old[i]
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
