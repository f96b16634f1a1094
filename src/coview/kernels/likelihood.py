"""The log-likelihood of each document under its mixture; `sweep` has that of all together."""

import numpy as np
from numba import njit

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
_SUMS = {**_OPTIONS, "fastmath": {"reassoc", "contract"}}
_u = np.uint64


@njit(**_SUMS)
def _probability(mixture, topics):
    total = mixture.dtype.type(0)
    for k in range(_u(mixture.shape[0])):
        total += mixture[k] * topics[k]
    return total


@njit(**_OPTIONS)
def document_log_likelihoods(indptr, indices, data, theta, by_term, usual, smoothing, out):
    """Fill out (documents, 3): sum_w n(d,w) log p'(w|d), sum_w n(d,w) log p(w), sum_w n(d,w).

    p'(w|d) = (1 - smoothing) sum_z theta[d, z] by_term[w, z] + smoothing p(w), and p(w) = usual[w]
    (terms,). Terms of p(w) = 0 are left out.
    """
    for d in range(out.shape[0]):
        own = corpus = mass = 0.0
        for j in range(indptr[d], indptr[d + 1]):
            p = usual[indices[j]]
            if p > 0.0:
                mixed = (1.0 - smoothing) * _probability(theta[d], by_term[indices[j]])
                own += data[j] * np.log(mixed + smoothing * p)
                corpus += data[j] * np.log(p)
                mass += data[j]
        out[d, 0], out[d, 1], out[d, 2] = own, corpus, mass
