"""Kernels of SQUAREM: how far EM went in two steps, and the point that lies ahead of them.

With points x0, x1, x2 of EM, r = x1 - x0 and v = (x2 - x1) - r. All of it is in double precision.
"""

import numpy as np
from numba import njit

_OPTIONS = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract"},  # as in `kernels.sweep`
}


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
    first, middle, last = np.float64(first), np.float64(middle), np.float64(last)
    r = middle - first
    v = (last - middle) - r
    ahead = max(first - 2.0 * alpha * r + alpha * alpha * v, floor * last)
    return ahead if last > 0.0 else 0.0


@njit(**_OPTIONS)
def extrapolate_rows(x0, x1, x2, alpha, floor, tiny):
    """Write the point ahead over x1 (rows, topics), rows normalized.

    Rows that EM has not moved, pinned ones among them, become those of x2 to the bit.
    """
    n_columns = x0.shape[1]
    row = np.empty(n_columns)
    for i in range(x0.shape[0]):
        mass, n_moved = 0.0, 0
        for k in range(n_columns):
            row[k] = _ahead(x0[i, k], x1[i, k], x2[i, k], alpha, floor)
            n_moved += (x1[i, k] != x0[i, k]) | (x2[i, k] != x1[i, k])
            mass += row[k]
        if not (n_moved and mass > 0.0):
            for k in range(n_columns):
                x1[i, k] = x2[i, k]
            continue
        scale = 1.0 / mass
        for k in range(n_columns):
            share = max(row[k] * scale, tiny)
            x1[i, k] = share if x2[i, k] > 0.0 else 0.0


@njit(**_OPTIONS)
def mass_ahead(x0, x1, x2, alpha, floor, mass):
    """Add to mass (topics,) what the point ahead sums up to over the rows (terms, topics)."""
    for i in range(x0.shape[0]):
        for k in range(x0.shape[1]):
            mass[k] += _ahead(x0[i, k], x1[i, k], x2[i, k], alpha, floor)


@njit(**_OPTIONS)
def extrapolate_columns(x0, x1, x2, alpha, floor, mass, tiny):
    """Write the point ahead over x1 (terms, topics), columns divided by mass (topics,)."""
    n_columns = x0.shape[1]
    scale = np.zeros(n_columns)  # a topic of zeros has no mass, and stays
    for k in range(n_columns):
        if mass[k] > 0.0:
            scale[k] = 1.0 / mass[k]
    for i in range(x0.shape[0]):
        for k in range(n_columns):
            share = max(_ahead(x0[i, k], x1[i, k], x2[i, k], alpha, floor) * scale[k], tiny)
            x1[i, k] = share if x2[i, k] > 0.0 else 0.0
