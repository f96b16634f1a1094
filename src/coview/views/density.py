"""What a matrix holds, by its values alone: counts, sparse weights, or dense measurements.

A matrix and its sparse copy are therefore treated alike.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

DENSE = 0.5  # a view with more non-zeros than this share of its cells is dense


def is_dense(matrix: sp.csr_array) -> bool:
    """Return whether more than half of the cells are not zero."""
    return matrix.nnz > DENSE * matrix.shape[0] * matrix.shape[1]


def is_dense_real(matrix: sp.csr_array) -> bool:
    """Return whether a view holds measurements, not counts: mostly non-zero, not all integers.

    >>> is_dense_real(sp.csr_array([[0.5, 1.2], [3.1, 0.7]]))
    True
    >>> is_dense_real(sp.csr_array([[5, 1], [2, 1]]))
    False
    """
    return is_dense(matrix) and not _all_whole(matrix)


def is_sparse_counts(matrix: sp.csr_array) -> bool:
    """Return whether a view holds counts of which most are zero, as of words or links.

    >>> is_sparse_counts(sp.csr_array([[0, 1, 0], [2, 0, 0]]))
    True
    """
    return not is_dense(matrix) and _all_whole(matrix)


def has_negatives(matrix: sp.csr_array) -> bool:
    """Return whether any value is below zero."""
    return bool(matrix.nnz) and bool(matrix.data.min() < 0)


def why_not_real(matrix: sp.csr_array) -> str | None:
    """Return why a matrix cannot have negative values, None if it can: if it is dense and real.

    Rows without an entry do not count: they stand for documents that lack the view.

    >>> why_not_real(sp.csr_array([[-0.5, 1.2], [0.0, 0.0]])) is None
    True
    >>> why_not_real(sp.csr_array([[-5, 1], [2, 1]]))
    'all values are whole numbers'
    >>> why_not_real(sp.csr_array([[-0.5, 0, 0], [0, 0, 1.5]]))
    '33 % of the cells are not zero'
    """
    cells = np.count_nonzero(np.diff(matrix.indptr)) * matrix.shape[1]
    if matrix.nnz <= DENSE * cells:
        return f"{matrix.nnz / max(cells, 1):.0%} of the cells are not zero".replace("%", " %", 1)
    return "all values are whole numbers" if _all_whole(matrix) else None


def _all_whole(matrix: sp.csr_array) -> bool:
    return not (matrix.data != np.rint(matrix.data)).any()
