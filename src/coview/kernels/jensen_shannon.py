"""Kernels of the Jensen-Shannon divergence between mixtures, in bits.

For mixtures p and q with the mean m = (p + q) / 2

    JS(p, q) = sum_k js(p_k, q_k),    js(a, b) = (a log2(2a/(a+b)) + b log2(2b/(a+b))) / 2

is 0 for equal mixtures and 1 for mixtures without a common topic. Every term is 0 or more, and
0 log 0 is 0. The similarity is 1 - JS, a sum over topics of (p_k + q_k) / 2 - js(p_k, q_k).
"""

import numpy as np
from numba import njit

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}


@njit(**_OPTIONS)
def jensen_shannon_term(a, b):
    """Return js(a, b) of one topic, for shares of 0 or more."""
    both = a + b
    term = 0.0
    if a > 0.0:
        term += a * np.log2(2.0 * a / both)
    if b > 0.0:
        term += b * np.log2(2.0 * b / both)
    return max(0.0, 0.5 * term)  # rounding can make it negative


@njit(**_OPTIONS)
def jensen_shannon(p, q):
    """Return JS(p, q) of two rows (topics,), which are normalized first."""
    mass_p = mass_q = 0.0
    for k in range(p.shape[0]):
        mass_p += p[k]
        mass_q += q[k]
    total = 0.0
    for k in range(p.shape[0]):
        total += jensen_shannon_term(p[k] / mass_p, q[k] / mass_q)
    return total


@njit(**_OPTIONS)
def jensen_shannon_matrix(rows, others, out):
    """Fill out (rows, others) with the divergence of each of `rows` from each of `others`."""
    for i in range(rows.shape[0]):
        for j in range(others.shape[0]):
            out[i, j] = jensen_shannon(rows[i], others[j])


@njit(**_OPTIONS)
def jensen_shannon_rows(rows, others, out):
    """Fill out (n,) with the divergence of row i of `rows` from row i of `others`."""
    for i in range(rows.shape[0]):
        out[i] = jensen_shannon(rows[i], others[i])
