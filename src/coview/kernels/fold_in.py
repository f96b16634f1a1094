"""Kernel of `em.lone_documents`: mixtures of new documents under topics that stay as they are."""

import numpy as np
from numba import njit

from coview.kernels.simplex import add_to_rows, normalize_rows
from coview.kernels.sweep import sweep_rows

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}


@njit(**_OPTIONS)
def fold_in_documents(
    starts,
    indices,
    data,
    by_term,
    weights,
    floor,
    excess,
    tiny,
    max_iter,
    tol,
    n_topics,
    theta,
):
    """Iterate theta (documents, padded topics) in place, each document until no share moves by tol.

    starts (views, documents + 1): the terms of document d in view v are indices[starts[v, d] :
    starts[v, d + 1]], rows of by_term, their counts those of data. excess is added to all counts.
    """
    first, keep = np.zeros(1, np.uint64), np.zeros(1, np.bool_)
    ratio, counts = np.empty_like(data), np.empty_like(theta[:1])
    for d in range(theta.shape[0]):
        mixture, shares = theta[d : d + 1], counts[:, :n_topics]
        for _ in range(max_iter):
            counts[:] = 0
            for v in range(starts.shape[0]):
                ends = starts[v, d : d + 2]
                sweep_rows(
                    first, ends, indices, data, mixture, by_term, weights[v], floor, ratio, counts
                )
            if excess != 0.0:
                add_to_rows(shares, excess)
            normalize_rows(shares, mixture[:, :n_topics], keep, tiny)
            moved = 0.0
            for k in range(n_topics):
                moved = max(moved, abs(shares[0, k] - mixture[0, k]))
                mixture[0, k] = shares[0, k]
            if not moved > tol:
                break
