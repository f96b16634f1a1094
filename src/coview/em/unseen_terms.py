"""Terms of new documents that never occurred in training: left out, and told of."""

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from coview.em.prepared import Prepared
from coview.views.checks import DataWarning

# of the counts: that new documents have terms which the model never met is no news, and a part of a
# cross-validation is told by its score; that they have hardly any others is
UNSEEN_SHARE = 0.5


def warn_of_unseen(data: Prepared, unseen: Mapping[str, np.ndarray]) -> None:
    """Warn of views where most counts are of terms that never occurred in training.

    The words do not depend on the documents, so Python shows them once for each view.
    """
    for name, matrix in zip(data.names, data.matrices, strict=True):
        lost = matrix.data[_is_unseen(matrix, unseen[name])].sum(dtype=np.float64)
        total = matrix.sum(dtype=np.float64)
        if lost > UNSEEN_SHARE * total:
            warnings.warn(
                f"View {name!r}: more than half of the counts are of terms that never occurred in "
                "training; they are left out. Is this the view that the model was fitted to?",
                DataWarning,
                stacklevel=5,
            )


def without_unseen(data: Prepared, unseen: Mapping[str, np.ndarray]) -> Prepared:
    """Return the data without terms that never occurred in training."""
    kept = []
    for name, matrix in zip(data.names, data.matrices, strict=True):
        if len(unseen[name]):
            values = np.where(_is_unseen(matrix, unseen[name]), 0, matrix.data)
            matrix = with_values(matrix, values)
        kept.append(matrix)
    return replace(data, matrices=tuple(kept))


def _is_unseen(matrix: sp.csr_array, unseen: np.ndarray) -> np.ndarray:
    mask = np.zeros(matrix.shape[1], bool)
    mask[unseen] = True
    return mask[matrix.indices]


def with_values(matrix: sp.csr_array, values: np.ndarray) -> sp.csr_array:
    """Return a matrix with other values at its non-zeros; values of 0 are removed."""
    new = sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
    new.eliminate_zeros()
    return new
