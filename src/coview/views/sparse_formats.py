"""Sparse matrices of every format of scipy, checked before compiled code reads them.

Anybody can assign to the parts of a sparse matrix, and scipy's conversions trust them: a list of
values that is longer than its list of columns ends the interpreter. So each format is checked by
code that cannot crash, and only then converted. The caller's matrix is never altered: scipy's own
checks set attributes, so they run on a new object around the same buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

_COMPRESSED = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}


def checked_sparse(X: Any) -> Any:
    """Return a new sparse object around the same buffers, with its format fully checked.

    LIL and DOK, which are made of Python objects, and DIA become new COO arrays.

    Raises
    ------
    ValueError
        If a part is damaged, before compiled code uses it.
    """
    checks = {"coo": _coo, "dia": _dia, "lil": _lil, "dok": _dok}
    try:
        return checks.get(X.format, _compressed)(X)
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(
            f"a damaged sparse matrix ({X.format}): {str(error).rstrip('.')}. Build it anew "
            "from its entries"
        ) from error


def _compressed(X: Any) -> Any:
    """Check the formats with pointers to rows or columns: CSR, CSC and BSR."""
    if X.format not in _COMPRESSED:
        raise TypeError(f"the format {X.format!r} is not known")
    _check_integers(X.indices, X.indptr)
    if X.format == "bsr":
        _check_blocks(X)
    # scipy takes a difference here, which can wrap around, and skips it where indptr ends in 0
    if np.any(X.indptr[1:] < X.indptr[:-1]):
        raise ValueError("indptr must be a non-decreasing sequence")
    shell = _COMPRESSED[X.format]((_numbers(X.data), X.indices, X.indptr), shape=X.shape)
    shell.check_format(full_check=True)
    return shell


def _check_blocks(X: Any) -> None:
    """Refuse blocks that do not divide the matrix, or of which there are too few."""
    data = _numbers(X.data)
    if data.ndim != 3 or not data.shape[1] or not data.shape[2]:
        raise ValueError(f"its blocks have the shape {data.shape}")
    if X.shape[0] % data.shape[1] or X.shape[1] % data.shape[2]:
        raise ValueError(f"blocks of {data.shape[1:]} do not fill a matrix of {X.shape}")
    if len(data) != len(X.indices):
        raise ValueError(f"it has {len(data)} blocks for {len(X.indices)} columns")


def _coo(X: Any) -> Any:
    _check_integers(X.row, X.col)
    return _entries(X.data, X.row, X.col, X.shape)


def _dia(X: Any) -> Any:
    """Take the diagonals one by one: those beyond the matrix hold nothing."""
    data, offsets = _numbers(X.data), X.offsets
    _check_integers(offsets)
    if data.ndim != 2 or len(data) != len(offsets):
        raise ValueError(f"it has {len(offsets)} offsets for diagonals of the shape {data.shape}")
    if len(np.unique(offsets)) != len(offsets):
        raise ValueError("two of its diagonals have the same offset")
    n_rows, n_columns = X.shape
    rows, columns, values = [], [], []
    for offset, diagonal in zip(offsets.tolist(), data, strict=True):
        # the entry of column c stands at place c, in row c - offset
        first, last = max(offset, 0), min(n_rows + offset, n_columns, len(diagonal))
        if first < last:
            here = np.arange(first, last)
            rows.append(here - offset)
            columns.append(here)
            values.append(diagonal[first:last])
    if not rows:
        return sp.coo_array(X.shape, dtype=data.dtype)
    places = np.concatenate(rows), np.concatenate(columns)
    return _entries(np.concatenate(values), *places, X.shape)


def _lil(X: Any) -> Any:
    """Take the entries of lists of columns and values, one pair of lists for each row."""
    n_rows = X.shape[0]
    if len(X.rows) != n_rows or len(X.data) != n_rows:
        raise ValueError(f"it has {len(X.rows)} rows of columns and {len(X.data)} of values")
    lengths = [len(columns) for columns in X.rows]
    for row, (length, values) in enumerate(zip(lengths, X.data, strict=True)):
        if len(values) != length:
            raise ValueError(f"row {row} has {length} columns for {len(values)} values")
    rows = np.repeat(np.arange(n_rows), lengths)
    columns = _places(list(chain.from_iterable(X.rows)))
    return _entries(_held(list(chain.from_iterable(X.data)), X.dtype), rows, columns, X.shape)


def _dok(X: Any) -> Any:
    """Take the entries of a dictionary by row and column."""
    places, values = list(X.keys()), list(X.values())
    if not all(isinstance(place, tuple) and len(place) == 2 for place in places):
        raise ValueError("a key is no pair of a row and a column")
    rows, columns = (_places([place[axis] for place in places]) for axis in (0, 1))
    return _entries(_held(values, X.dtype), rows, columns, X.shape)


# -- parts of a matrix -----------------------------------------------------------------------------


def _entries(
    values: Any, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]
) -> sp.coo_array:
    """Return entries as a matrix; scipy compares their places with its shape."""
    if not len(values) == len(rows) == len(columns):
        found = f"{len(rows)} rows, {len(columns)} columns and {len(values)} values"
        raise ValueError(f"it has {found}")
    return sp.coo_array((_numbers(values), (rows, columns)), shape=shape)


def _numbers(values: Any) -> np.ndarray:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf":
        raise TypeError("its values must be an array of numbers")
    return values


def _check_integers(*indices: Any) -> None:
    for array in indices:
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu" or array.ndim != 1:
            raise TypeError("its indices must be integers, in arrays of one dimension")


def _places(numbers: Sequence[Any]) -> np.ndarray:
    """Return rows or columns that are Python objects as an array."""
    if not all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in numbers):
        raise TypeError("its indices must be integers")
    return np.array(numbers, dtype=np.int64)


def _held(values: Sequence[Any], dtype: np.dtype) -> np.ndarray:
    """Return values that are Python objects as an array; refuse what its type cannot hold."""
    if not values:
        return np.empty(0, dtype)
    given = np.array(values)
    if given.ndim != 1 or given.dtype.kind not in "biuf":
        raise TypeError(f"its values must be numbers, found {given.dtype}")
    with np.errstate(all="ignore"):
        held = given.astype(dtype)
    # rounding is as it always was; whole numbers must stay what they are
    if dtype.kind in "iub" and not np.array_equal(held, given):
        raise ValueError(f"it holds values that are no {dtype}")
    return held
