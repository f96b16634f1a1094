"""The check of one matrix: it becomes a canonical CSR array of floats, or an error.

Negative values are for measurements: a matrix that is dense and real (`views.density`) may have
them, counts and sparse weights may not.

The errors about values (NaN, negative, infinite, too large, not a number) are worded in the last
section. The order of the checks matters: a CSR whose indices point outside the matrix makes
compiled code read or write foreign memory, so the format is checked before any arithmetic
(`views.sparse_formats`). The caller's matrix is never altered.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from coview.views.checks import DataWarning, frozen
from coview.views.density import why_not_real
from coview.views.sparse_formats import checked_sparse
from coview.wording import location, quoted

Names = np.ndarray | None
Negatives = Literal["if real", "never", "always"]

_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
    "or array.reshape(1, -1) if it contains a single sample."
)


def check_matrix(
    X: Any,
    view: str = "X",
    *,
    ids: Names = None,
    features: Names = None,
    negatives: Negatives = "if real",
) -> sp.csr_array:
    """Convert a matrix to a canonical, read-only CSR array of finite floats.

    Canonical means sorted indices, no duplicates (they are summed, in float64) and no explicit
    zeros. The element type is float32 if it holds every value exactly by its type (float32, bool)
    or as a whole number (integers below 2^24), and float64 otherwise.

    Parameters
    ----------
    X : array-like or scipy.sparse array or matrix of shape (n_docs, n_terms)
        Never altered. If it is a canonical float32 or float64 CSR already, its buffers are shared
        (indices of 64 bits only if they need to be that long; they are shortened otherwise).
    view : str, default="X"
        Name of the view, for the messages.
    ids, features : array of str or None
        Names of the documents and of the terms, for the messages.
    negatives : {"if real", "never", "always"}, default="if real"
        Whether values may be negative: if more than half of the cells (of documents that have any
        entry) are not zero and not all values are whole numbers; never, as for links; or always,
        as for new documents of a view that is known to have them.

    Returns
    -------
    csr_array of shape (n_docs, n_terms)

    Raises
    ------
    TypeError, ValueError
        If it is not a matrix of numbers, is damaged, is empty, or holds NaN, infinite values,
        negative ones where they may not be, or integers too large for a float to hold exactly.

    Examples
    --------
    >>> check_matrix([[0, 2], [1, 0]]).toarray()
    array([[0., 2.],
           [1., 0.]], dtype=float32)
    >>> check_matrix([[0.5, -2], [-1, 3]]).toarray()
    array([[ 0.5, -2. ],
           [-1. ,  3. ]])
    >>> check_matrix([[0, 2], [-1, 0]], "words")
    Traceback (most recent call last):
        ...
    ValueError: Negative values in data passed to view 'words': -1 at row 1, column 0, ...
    """
    if not sp.issparse(X):
        X = _dense(X, view)
    elif not hasattr(X, "dtype"):  # its values are no array any more
        _to_csr(X, view)
    kind = X.dtype
    _check_type(kind, view)
    _check_shape(X.shape, view)
    csr = short_indices(_to_csr(X, view))
    csr.data = _as_float(csr.data, float_type(kind, csr.data), view)
    lowest = _lowest(csr)
    if lowest == 0 or (lowest < 0 and not csr.data.all()):
        csr = csr.copy()  # explicit zeros go, but the caller's buffers must not change
        csr.eliminate_zeros()
    why_not = None if lowest >= 0 else _why_not_negative(csr, negatives)
    _check_values(csr, kind, why_not, (view, ids, features))
    return frozen_csr(csr)


def _as_float(values: np.ndarray, dtype: type, view: str) -> np.ndarray:
    """Return values as floats; refuse numbers of more than 64 bits that would become 0."""
    with np.errstate(over="ignore", under="ignore"):  # infinite ones are found by the next check
        found: np.ndarray = values.astype(dtype, copy=False)
    if values.dtype.itemsize > 8 and np.count_nonzero(found) < np.count_nonzero(values):
        lost = values[(found == 0) & (values != 0)][0]
        raise ValueError(
            f"View {quoted(view)} holds {lost} ({values.dtype}), which is 0 as a number of 64 "
            "bits. Multiply the view by a constant."
        )
    return found


def float_type(kind: np.dtype, values: np.ndarray) -> type:
    """Return float32 if it holds every value of type `kind` exactly, or these whole numbers.

    >>> for most in (2**24 - 1, 2**24):
    ...     counts = np.array([3, most])
    ...     float_type(counts.dtype, counts).__name__
    'float32'
    'float64'
    """
    if np.can_cast(kind, np.float32):
        return np.float32
    if kind.kind in "iu":
        limit = _exact_limit(kind, np.dtype(np.float32))
        within = -limit < values.min(initial=0) and values.max(initial=0) < limit
        return np.float32 if within else np.float64
    return np.float64


def frozen_csr(csr: sp.csr_array) -> sp.csr_array:
    """Return a CSR array over read-only views of the buffers of a canonical one."""
    shell = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
    shell.data, shell.indices, shell.indptr = map(frozen, (shell.data, shell.indices, shell.indptr))
    # otherwise scipy would look at every index to find this out, and sort in place
    shell.has_sorted_indices = shell.has_canonical_format = True
    return shell


# -- dense input ----------------------------------------------------------------------------------


def _dense(X: Any, view: str) -> np.ndarray:
    if isinstance(X, np.matrix):
        raise TypeError(
            f"View {quoted(view)} is a np.matrix, which is not supported (its `*` and its slices "
            "differ from those of arrays). Convert it with np.asarray(matrix)."
        )
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError(
            f"View {quoted(view)} is a masked array, and its mask would be lost. Fill it, for "
            "example with array.filled(0), and give absent documents in `present`."
        )
    try:
        array = np.asarray(X)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"View {quoted(view)} cannot be read as a matrix: {error}.") from error
    if array.dtype == object and array.ndim == 2:
        return _from_objects(array, view)
    if array.dtype == object and array.ndim == 0:
        raise TypeError(
            f"View {quoted(view)} must be a matrix (an array, a scipy.sparse array, a DataFrame "
            f"or a list of rows), found {type(X).__name__}."
            + (" Read views on disk with their to_views()." if hasattr(X, "to_views") else "")
        )
    if array.dtype == np.float16:
        return _from_half(array, view)
    return array


def _from_objects(array: np.ndarray, view: str) -> np.ndarray:
    """Convert objects that are numbers to float64; a text of digits is not a number."""
    for (row, column), value in np.ndenumerate(array):
        try:
            float(value)
        except OverflowError as error:
            size = ValueError(f"an integer of {int(value).bit_length():,} bits is beyond floats")
            raise _object_error(value, view, location(row, column), size) from error
        except (TypeError, ValueError) as error:
            raise _object_error(value, view, location(row, column), error) from error
        if isinstance(value, str | bytes):
            raise _object_error(value, view, location(row, column))
        if isinstance(value, int | np.integer) and value >= 2**53:
            raise ValueError(_size_error(int(value), array.dtype, view, location(row, column)))
    return array.astype(np.float64)


def _from_half(array: np.ndarray, view: str) -> np.ndarray:
    warnings.warn(
        f"View {quoted(view)} is float16, which cannot hold integers above 2,048 exactly nor "
        "anything above 65,504. Build it as float32.",
        DataWarning,
        stacklevel=2,
    )
    return array.astype(np.float32)


# -- type and shape -------------------------------------------------------------------------------


def _check_type(dtype: np.dtype, view: str) -> None:
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: view {quoted(view)} is {dtype}.")
    if dtype.kind in "US":
        raise ValueError(f"View {quoted(view)} holds text. {_TEXT_ADVICE}")
    if dtype.kind not in "biuf":
        raise ValueError(f"View {quoted(view)} must hold numbers, found the type {dtype}.")


def _check_shape(shape: tuple[int, ...], view: str) -> None:
    if len(shape) < 2:
        kind = "1D" if shape else "scalar"
        raise ValueError(
            f"View {quoted(view)}: Expected 2D array, got {kind} array instead. {_RESHAPE}"
        )
    if len(shape) > 2:
        raise ValueError(
            f"View {quoted(view)}: Found array with dim {len(shape)}, while dim 2 is required. "
            "Give several views as a dict {name: matrix} or as a list of matrices."
        )
    for size, what in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(
                f"View {quoted(view)}: Found array with 0 {what}(s) (shape={tuple(shape)}) while "
                "a minimum of 1 is required."
            )


# -- to CSR ---------------------------------------------------------------------------------------


def _to_csr(X: Any, view: str) -> sp.csr_array:
    """Return a canonical CSR, over the caller's buffers if they are canonical already."""
    if not sp.issparse(X):
        # scipy does not accept foreign byte orders
        return sp.csr_array(X.astype(X.dtype.newbyteorder("="), copy=False))
    try:
        shell = checked_sparse(X)
    except ValueError as error:
        raise ValueError(f"View {quoted(view)} is {error}.") from error
    if shell.format in ("coo", "bsr"):
        shell = _summable(shell)
    csr = sp.csr_array(shell.tocsr())
    return csr if csr.has_canonical_format else _without_duplicates(csr)


def short_indices(csr: sp.csr_array) -> sp.csr_array:
    """Convert indices to 32 bits if they suffice: an EM step then reads half the memory."""
    longest = max(*csr.shape, csr.nnz)
    dtype = np.int32 if longest <= np.iinfo(np.int32).max else np.int64
    csr.indices = csr.indices.astype(dtype, copy=False)
    csr.indptr = csr.indptr.astype(dtype, copy=False)
    return csr


def _summable(matrix: Any) -> Any:
    """Return a copy whose duplicates can be summed: in uint8, 200 + 100 is 44."""
    # scipy sums bools by a logical or
    return matrix.astype(bool if matrix.dtype.kind == "b" else np.float64)


def _without_duplicates(csr: sp.csr_array) -> sp.csr_array:
    merged = _summable(csr)
    merged.sum_duplicates()  # sorts, too
    return merged


# -- values ---------------------------------------------------------------------------------------


def _lowest(csr: sp.csr_array) -> float:
    """Return the lowest stored value, 1 if there is none; NaN if any is NaN."""
    return float(csr.data.min()) if csr.nnz else 1.0


def _why_not_negative(csr: sp.csr_array, negatives: Negatives) -> str | None:
    """Return why values must not be negative, None if they may be."""
    if negatives == "always":
        return None
    return "they are weights of links" if negatives == "never" else why_not_real(csr)


def _check_values(
    csr: sp.csr_array, kind: np.dtype, why_not: str | None, names: tuple[str, Names, Names]
) -> None:
    """Refuse values that are not finite, too large, or negative although `why_not` says why not.

    This takes two reductions and no temporary array; a wrong value is located only if there is one.
    """
    if csr.nnz == 0:
        return
    limit = _exact_limit(kind, csr.dtype)
    lowest, highest = csr.data.min(), csr.data.max()
    if (why_not is None or lowest >= 0) and -limit < lowest and highest < limit:  # NaN: false
        return
    fine = (csr.data > -limit) & (csr.data < limit)
    position = int(np.argmin(fine if why_not is None else fine & (csr.data >= 0)))
    row = int(np.searchsorted(csr.indptr, position, side="right")) - 1
    view, ids, features = names
    where = location(row, int(csr.indices[position]), ids, features)
    raise ValueError(_value_error(csr.data[position], kind, view, where, why_not))


def _exact_limit(kind: np.dtype, dtype: np.dtype) -> float:
    """Return the smallest value that a float cannot tell from its neighbors, for integers."""
    if kind.kind == "f":
        return np.inf
    return 2.0**24 if dtype == np.float32 else 2.0**53


# -- words of the errors about values -------------------------------------------------------------

_TEXT_ADVICE = (
    "A view is a matrix of counts or weights; Views.from_texts and Views.from_dataframe turn texts "
    "into one, or sklearn.feature_extraction.text.CountVectorizer does."
)
_NAN_ADVICE = (
    "Replace it by a number. If the document lacks this view, give it a row of zeros: "
    "that counts as absent."
)


def _value_error(
    value: np.floating, kind: np.dtype, view: str, where: str, why_not: str | None
) -> str:
    """Word the error for a number that is NaN, infinite, negative or too large."""
    if np.isnan(value):
        return f"Input contains NaN in view {quoted(view)} at {where}. {_NAN_ADVICE}"
    if np.isinf(value):
        return f"Input contains {value:g} in view {quoted(view)} at {where}. Counts must be finite."
    if value < 0 and why_not is not None:
        return (
            f"Negative values in data passed to view {quoted(view)}: {value:g} at {where}. Counts "
            "and weights must be >= 0: shift or scale this view (for example with "
            "sklearn.preprocessing.MinMaxScaler), or leave it out. Only dense measurements may be "
            "negative (more than half of the cells not zero, not all whole numbers); here "
            f"{why_not}."
        )
    return _size_error(int(value), kind, view, where)


def _size_error(value: int, kind: np.dtype, view: str, where: str) -> str:
    return (
        f"View {quoted(view)} holds the integer {value:,} ({kind}) at {where}, too large to "
        "be kept exactly. Divide the counts, or convert them with .astype(float) if rounding "
        "is acceptable."
    )


def _object_error(value: Any, view: str, where: str, error: Exception | None = None) -> Exception:
    """Return the error for a Python object that is no number: text, a missing value, anything."""
    where = f"in view {quoted(view)} at {where}"
    if isinstance(value, str | bytes):
        return ValueError(f"Found the text {quoted(value)} {where}. {_TEXT_ADVICE}")
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ValueError(f"Input contains NaN (a missing value) {where}. {_NAN_ADVICE}")
    kind = ValueError if isinstance(error, ValueError) else TypeError
    return kind(f"{error}, found {where}. A view is a matrix of numbers.")
