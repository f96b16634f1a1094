"""Kernels of SQUAREM: how far EM went in two steps, and the point that lies ahead of them.

With points x0, x1, x2 of EM, r = x1 - x0 and v = (x2 - x1) - r. All of it is in double precision.
"""

import numpy as np
from numba import njit

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}


@njit(**_OPTIONS)
def squared_lengths(x0, x1, x2):
    """Return the sums of r^2 and of v^2 over arrays (rows, columns), each in one order."""
    n_columns = x0.shape[1]
    rr, vv = np.zeros(n_columns), np.zeros(n_columns)
    for i in range(x0.shape[0]):
        for k in range(n_columns):
            first, middle = np.float64(x0[i, k]), np.float64(x1[i, k])
            r = middle - first
            v = (np.float64(x2[i, k]) - middle) - r
            rr[k] += r * r
            vv[k] += v * v
    total_r, total_v = 0.0, 0.0
    for k in range(n_columns):
        total_r += rr[k]
        total_v += vv[k]
    return total_r, total_v


@njit(**_OPTIONS)
def _ahead(first, middle, last, alpha, floor):
    """Return x0 - 2 alpha r + alpha^2 v of one share, at least floor * x2; 0 where x2 is."""
    if not last > 0.0:
        return 0.0
    r = np.float64(middle) - np.float64(first)
    v = (np.float64(last) - np.float64(middle)) - r
    return max(np.float64(first) - 2.0 * alpha * r + alpha * alpha * v, floor * np.float64(last))


@njit(**_OPTIONS)
def extrapolate_rows(x0, x1, x2, alpha, floor, tiny):
    """Write the point ahead over x1 (rows, topics), rows normalized.

    Rows that EM has not moved, pinned ones among them, become those of x2 to the bit.
    """
    for i in range(x0.shape[0]):
        mass, moved = 0.0, False
        for k in range(x0.shape[1]):
            moved = moved or x1[i, k] != x0[i, k] or x2[i, k] != x1[i, k]
            mass += _ahead(x0[i, k], x1[i, k], x2[i, k], alpha, floor)
        for k in range(x0.shape[1]):
            if moved and mass > 0.0 and x2[i, k] > 0.0:
                share = _ahead(x0[i, k], x1[i, k], x2[i, k], alpha, floor) / mass
                x1[i, k] = max(share, tiny)
            else:
                x1[i, k] = x2[i, k]


@njit(**_OPTIONS)
def mass_ahead(x0, x1, x2, alpha, floor, mass):
    """Add to mass (topics,) what the point ahead sums up to over the rows (terms, topics)."""
    for i in range(x0.shape[0]):
        for k in range(x0.shape[1]):
            mass[k] += _ahead(x0[i, k], x1[i, k], x2[i, k], alpha, floor)


@njit(**_OPTIONS)
def extrapolate_columns(x0, x1, x2, alpha, floor, mass, tiny):
    """Write the point ahead over x1 (terms, topics), columns divided by mass (topics,)."""
    for i in range(x0.shape[0]):
        for k in range(x0.shape[1]):
            if x2[i, k] > 0.0 and mass[k] > 0.0:
                share = _ahead(x0[i, k], x1[i, k], x2[i, k], alpha, floor) / mass[k]
                x1[i, k] = max(share, tiny)
            else:
                x1[i, k] = x2[i, k]
