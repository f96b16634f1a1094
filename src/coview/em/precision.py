"""The range of numbers that a precision can be worked with, checked wherever values are narrowed.

Views are in double precision where their type needs it, the arrays of a model usually in single
precision. A cast would turn large values into infinity and small ones into 0 without a word. So
every narrowing goes through `narrowed`, and weights of views through `check_weighted`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from coview.wording import location, quoted

ROOM = 1e-4  # of the largest number: what sums over views, guesses and priors are left


def largest_value(dtype: np.dtype) -> float:
    """Return the largest value of a matrix: sums of such, and ratios to shares, are finite."""
    return float(np.finfo(dtype).max * np.finfo(dtype).eps)


def smallest_value(dtype: np.dtype) -> float:
    """Return the smallest value of a matrix: shares of it are still kept with all their digits."""
    return float(np.finfo(dtype).tiny / np.finfo(dtype).eps)


def narrowed(
    view: str, matrix: sp.csr_array, dtype: np.dtype, unit: float | None = None
) -> sp.csr_array:
    """Return a matrix of values >= 0 in another precision, if that changes nothing but digits.

    Values that are too small become 0 where that is harmless: where another value of the document
    is so much larger that they are less than its rounding. Anything else is refused.

    Parameters
    ----------
    view : str
        For the message.
    matrix : csr_array of shape (documents, terms)
        Without negative values.
    dtype : dtype
    unit : float, optional
        The size of the view's values, where they were scaled to it: then anything much smaller is
        rounding.

    Examples
    --------
    >>> narrowed("en", sp.csr_array([[1.0, 1e-50]]), np.dtype("f4")).toarray()
    array([[1., 0.]], dtype=float32)
    >>> narrowed("en", sp.csr_array([[1e-50]]), np.dtype("f4"))
    Traceback (most recent call last):
        ...
    ValueError: View 'en' has the value 1e-50 at row 0, column 0, counting from 0; in float32 ...
    """
    largest, most = float(matrix.data.max(initial=0)), largest_value(dtype)
    if largest > most:
        raise ValueError(
            f"View {view!r} has values up to {largest:.3g}; in {dtype} at most {most:.0e} can be "
            "worked with. Divide the view by a constant, which does not change its "
            f"shares{_or(dtype)}"
        )
    least = smallest_value(dtype)
    if not float(matrix.data.min(initial=np.inf)) < least:
        return _cast(matrix, dtype)
    kept = _without_negligible(view, matrix, dtype, least, unit)
    return _cast(kept, dtype)


def _cast(matrix: sp.csr_array, dtype: np.dtype) -> sp.csr_array:
    """Return a matrix with other values and the same indices, which `astype` would copy, too."""
    if matrix.dtype == dtype:
        return matrix
    values = matrix.data.astype(dtype)
    found = sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    found.has_canonical_format = matrix.has_canonical_format
    return found


def _without_negligible(
    view: str, matrix: sp.csr_array, dtype: np.dtype, least: float, unit: float | None
) -> sp.csr_array:
    """Return a matrix whose values below `least` are 0; refuse one that a document is made of."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    data, size = matrix.data.astype(np.float64), np.zeros(matrix.shape[0])
    np.maximum.at(size, rows, data)
    size = size if unit is None else np.maximum(size, unit)
    small = data < least
    matters = np.flatnonzero(small & (data > np.finfo(dtype).eps * size[rows]))
    if len(matters):
        value, row = data[matters[0]], int(rows[matters[0]])
        raise ValueError(
            f"View {view!r} has the value {value:.3g} at "
            f"{location(row, int(matrix.indices[matters[0]]))}; in {dtype} at least {least:.0e} "
            "can be worked with. Multiply the view by a constant, which does not change its "
            f"shares{_or(dtype)}"
        )
    values = np.where(small, 0, matrix.data)
    kept = sp.csr_array((values, matrix.indices.copy(), matrix.indptr.copy()), shape=matrix.shape)
    kept.eliminate_zeros()
    return kept


def _or(dtype: np.dtype) -> str:
    return "." if dtype == np.float64 else ", or fit with dtype='float64'."


def check_weighted(weights: Mapping[str, float], matrices: Sequence[sp.csr_array]) -> None:
    """Refuse weights of views with which the counts of a document are beyond the precision.

    Parameters
    ----------
    weights : dict view -> float
    matrices : sequence of csr_array of shape (documents, terms)
        One for each view, in the precision of the model.
    """
    for (view, weight), matrix in zip(weights.items(), matrices, strict=True):
        tokens = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
        tokens = tokens[tokens > 0]
        if not weight or not len(tokens):
            continue
        low, high = weight * tokens.min(), weight * tokens.max()
        least, most = np.finfo(matrix.dtype).tiny, np.finfo(matrix.dtype).max * ROOM
        if not (least <= low and high <= most):
            found = high if low >= least else low
            raise ValueError(
                f"The weight of view {quoted(view)} is {weight:.3g}, with which a document has "
                f"{found:.3g} weighted counts; in {matrix.dtype} these must be between {least:.0e} "
                f"and {most:.0e}. Only the ratios of view_weights matter to a model without a "
                "penalty: divide all by the largest, and give 0 for a view to be left out."
            )
