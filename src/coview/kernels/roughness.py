"""How much mixtures vary over the edges of a graph, by squares and by divergences.

A graph comes as the arrays of a symmetric CSR matrix; each edge counts once.
"""

import numpy as np
from numba import njit

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_SUMS = {**_OPTIONS, "fastmath": {"reassoc", "contract"}}
_u = np.uint64

_EDGES = "u8[::1], u4[::1], f8[::1]"
# Mixtures come with or without padding, hence with any stride: compiled once for all of them.
_SQUARES = [f"f8({_EDGES}, {t}[:, :])" for t in ("f4", "f8")]


@njit(_SQUARES, **_OPTIONS)
def roughness(indptr, indices, weights, theta):
    """Sum over edges of weight * |theta_i - theta_s|^2, theta being (documents, topics)."""
    total = 0.0
    for i in range(_u(theta.shape[0])):
        for j in range(indptr[i], indptr[i + _u(1)]):
            s = _u(indices[j])
            if s > i:
                distance = 0.0
                for k in range(theta.shape[1]):
                    difference = np.float64(theta[i, k]) - np.float64(theta[s, k])
                    distance += difference * difference
                total += weights[j] * distance
    return total


@njit(f"f8({_EDGES}, f8[:, ::1], f8[:, ::1])", **_SUMS)
def kl_roughness(indptr, indices, weights, theta, logs):
    """The same with KL(theta_i | theta_s) + KL(theta_s | theta_i) = sum (p - q) (log p - log q).

    logs (documents, topics) is the logarithm of theta: taken edge by edge it would be most of the
    work. Two zeros do not differ; a share and a zero differ without end.
    """
    total = 0.0
    for i in range(_u(theta.shape[0])):
        for j in range(indptr[i], indptr[i + _u(1)]):
            s = _u(indices[j])
            if s > i:
                here = 0.0
                for k in range(_u(theta.shape[1])):
                    gap = theta[i, k] - theta[s, k]
                    here += gap * (logs[i, k] - logs[s, k]) if gap != 0.0 else 0.0
                total += weights[j] * here
    return total
