"""Kernel of `em.prepared`: the entries of a block of rows in the order of columns.

A counting sort, which needs one pass to count and one to place. A fit from disk does it for every
block in every step, since the order takes as many bytes as the entries themselves.
"""

import numpy as np
from numba import njit

_u = np.uint64


@njit(nogil=True, cache=True, error_model="numpy")
def order_by_column(indptr, indices, ends, place, docs):
    """Fill place (nnz,), of each entry in the order of columns, and docs (nnz,), its row there.

    ends (terms + 1,) must be zeros; column i ends at ends[i] then, and begins where i - 1 ends.
    """
    n_terms = _u(ends.shape[0] - 1)
    for j in range(_u(indices.shape[0])):
        ends[indices[j] + _u(1)] += np.uint32(1)
    for i in range(n_terms):
        ends[i + _u(1)] += ends[i]
    # ends[i] is where column i begins now; it moves to where it ends
    for row in range(_u(indptr.shape[0] - 1)):
        for j in range(_u(indptr[row]), _u(indptr[row + _u(1)])):
            at = ends[indices[j]]
            ends[indices[j]] = at + np.uint32(1)
            place[j] = at
            docs[at] = row
