"""Scaling of views: counts and sparse weights stay as they are, dense measurements go to [0, 1]."""

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

DENSE = 0.5  # a view with more non-zeros than this share of its cells is dense


def is_dense(matrix: sp.csr_array) -> bool:
    """Whether more than half of the cells are not zero."""
    return matrix.nnz > DENSE * matrix.shape[0] * matrix.shape[1]


def is_dense_real(matrix: sp.csr_array) -> bool:
    """Whether a view holds measurements rather than counts: mostly non-zero, not all integers.

    The answer depends on the values alone, so a matrix and its sparse copy are treated alike.

    >>> is_dense_real(sp.csr_array([[0.5, 1.2], [3.1, 0.7]]))
    True
    >>> is_dense_real(sp.csr_array([[5, 1], [2, 1]]))
    False
    """
    return is_dense(matrix) and bool((matrix.data != np.rint(matrix.data)).any())


def learn_scaling(
    matrices: Mapping[str, sp.csr_array], present: np.ndarray, scaling: str | None
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Smallest value and range of each feature, for the views that are to be scaled.

    With scaling="auto" these are the dense real views with at least two documents; None scales
    nothing. Documents that lack the view have no say.
    """
    if scaling is None:
        return {}
    learned = {}
    for v, (name, matrix) in enumerate(matrices.items()):
        rows = matrix[np.flatnonzero(present[:, v])] if not present[:, v].all() else matrix
        if rows.shape[0] > 1 and is_dense_real(rows):
            low = rows.min(axis=0).toarray().ravel()
            learned[name] = low, rows.max(axis=0).toarray().ravel() - low
    return learned


def apply_scaling(matrix: sp.csr_array, low: np.ndarray, span: np.ndarray) -> sp.csr_array:
    """(x - low) / span, feature by feature, not below 0; features that never varied become 0.

    Rows without any entry stay empty: they stand for documents that lack the view.
    """
    kept = np.flatnonzero(np.diff(matrix.indptr))
    dense = matrix[kept].toarray()
    dense -= low.astype(dense.dtype)
    np.divide(dense, span, out=dense, where=span > 0, casting="same_kind")
    dense[:, span <= 0] = 0
    np.maximum(dense, 0, out=dense)
    back = sp.csr_array(
        (np.ones(len(kept), dense.dtype), (kept, np.arange(len(kept)))),
        shape=(matrix.shape[0], len(kept)),
    )
    scaled = sp.csr_array(back @ sp.csr_array(dense))
    scaled.sort_indices()
    return scaled
