"""Checks of what was read from a file, before anything uses it.

A checksum tells that a file is as it was written, not that it was written well, and whoever can
rewrite a file can rewrite its checksum. Kernels do not check bounds, and an array of NaN gives
answers that look like any other. So models, indexes and checkpoints pass the checks of this module
after their seal is verified: shapes, types, finite values, rows that are probabilities.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from coview.params import LARGEST
from coview.store import DamagedFile

# the types that kernels are made for, and in which no sum of places wraps around
SIZES = {"f": (4, 8), "i": (4, 8)}
ROUNDING = 1e-3  # how far the sum of many rounded probabilities may be from 1


@contextmanager
def understood(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turn what contents without sense raise into `DamagedFile`, which names the file.

    Parameters
    ----------
    path : path
    what : str
        What the file should hold, such as "model".
    """
    try:
        yield
    except DamagedFile:
        raise
    except KeyError as error:
        raise _damaged(path, what, f"it lacks {error.args[0]!r}" if error.args else "") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise _damaged(path, what, str(error)) from error
    except RecursionError as error:
        raise _damaged(path, what, "its values are nested too deeply") from error


def _damaged(path: str | os.PathLike[str], what: str, why: str) -> DamagedFile:
    return DamagedFile(
        f"{os.fspath(path)} is damaged, no {what} that coview understands: {why.rstrip('.')}. "
        "Take it from a backup, or write it again with coview."
    )


# -- arrays ----------------------------------------------------------------------------------------


def check_array(
    array: Any,
    what: str,
    shape: Sequence[int | None] | None = None,
    kinds: str = "f",
    *,
    dtype: Any = None,
    low: float | None = None,
    below: float | None = None,
    may_be: Callable[[np.ndarray], np.ndarray] = np.isfinite,
) -> np.ndarray:
    """Return an array, if it has the shape, the type and values that it must have.

    Parameters
    ----------
    array : object
    what : str
        What it is, for the message: "mixtures".
    shape : sequence of int or None, optional
        The shape; None in it stands for any length.
    kinds : str, default="f"
        Kinds of NumPy types that are accepted; floats and signed integers are of 32 or 64 bits.
    dtype : dtype, optional
        The only type that is accepted.
    low, below : float, optional
        The smallest value, and what all values are below.
    may_be : callable, default=np.isfinite
        Which of the values may be there, for floats.

    Examples
    --------
    >>> check_array(np.array([0.5, np.nan]), "weights")
    Traceback (most recent call last):
        ...
    ValueError: its weights hold nan
    """
    if not isinstance(array, np.ndarray):
        raise ValueError(f"its {what} are no array")
    if shape is not None and not _has_shape(array, shape):
        wanted = tuple("any" if n is None else n for n in shape)
        raise ValueError(f"its {what} have the shape {array.shape}; expected {wanted}")
    kind, size = array.dtype.kind, array.dtype.itemsize
    known = kind in kinds and size in SIZES.get(kind, (size,))
    if not known or (dtype is not None and array.dtype != dtype):
        raise ValueError(f"its {what} have the type {array.dtype}")
    fine = may_be(array) if kind == "f" else np.ones(array.shape, bool)
    if low is not None:
        fine &= ~(array < low)
    if below is not None:
        fine &= ~(array >= below)
    if not fine.all():
        raise ValueError(f"its {what} hold {array[~fine][0]}")
    return array


def _has_shape(array: np.ndarray, shape: Sequence[int | None]) -> bool:
    pairs = zip(array.shape, shape, strict=False)
    return array.ndim == len(shape) and all(n is None or n == length for length, n in pairs)


def check_shares(
    rows: Any,
    what: str,
    shape: Sequence[int | None] = (None, None),
    *,
    dtype: Any = None,
    or_zero: bool = False,
) -> np.ndarray:
    """Return an array whose last axis holds probabilities that sum to one.

    Parameters
    ----------
    rows : object
    what, shape, dtype
        As in `check_array`.
    or_zero : bool, default=False
        Whether a row may be zero throughout: a topic without any counts has no words.

    Examples
    --------
    >>> check_shares(np.array([[0.5, 0.6]]), "mixtures")
    Traceback (most recent call last):
        ...
    ValueError: its mixtures are not probabilities: one row sums to 1.1
    """
    rows = check_array(rows, what, shape, dtype=dtype, may_be=_may_be_any)
    if not np.isfinite(rows).all() or (rows < 0).any():
        raise ValueError(f"its {what} are not probabilities: some are NaN, infinite or negative")
    sums = rows.sum(axis=-1, dtype=np.float64)
    fine = np.abs(sums - 1) < ROUNDING
    fine |= or_zero & (sums == 0)
    if not fine.all():
        wrong = f"one row sums to {sums[~fine][0]:.6g}"
        raise ValueError(f"its {what} are not probabilities: {wrong}")
    return rows


def _may_be_any(values: np.ndarray) -> np.ndarray:
    return np.ones(values.shape, bool)


def finite_or_nan(values: np.ndarray) -> np.ndarray:
    """Return which values are not infinite."""
    return ~np.isinf(values)


def not_nan(values: np.ndarray) -> np.ndarray:
    """Return which values are numbers, infinite ones among them."""
    return ~np.isnan(values)


# -- plain values ----------------------------------------------------------------------------------


def check_value(
    value: Any, what: str, *kinds: type, low: float | None = None, high: float | None = None
) -> Any:
    """Return a plain value of one of some types, a finite number within bounds if it is one.

    A bool is no number here.

    Examples
    --------
    >>> check_value("7", "seed", int)
    Traceback (most recent call last):
        ...
    ValueError: its seed is '7'
    """
    fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if fits and isinstance(value, int | float) and not isinstance(value, bool):
        fits = bool(np.isfinite(value)) if isinstance(value, float) else abs(value) < LARGEST
        fits = fits and (low is None or value >= low) and (high is None or value <= high)
    if not fits:
        raise ValueError(f"its {what} is {str(value)[:60]!r}")
    return value


def check_keys(values: Any, what: str, names: Sequence[str]) -> Mapping[str, Any]:
    """Return a mapping, if it has exactly these keys, in any order."""
    if not isinstance(values, Mapping) or set(values) != set(names):
        found = list(values)[:5] if isinstance(values, Mapping) else type(values).__name__
        raise ValueError(f"its {what} should be of {', '.join(names)}; found {found}")
    return values


# -- sparse matrices -------------------------------------------------------------------------------


def sparse_rows(data: Any, indices: Any, indptr: Any, width: Any) -> Any:
    """Return a csr_array of parts that were read, if they fit together: kernels do not check."""
    import scipy.sparse as sp

    check_value(width, "number of columns", int, low=0)
    what = "sparse rows"
    check_array(indices, what, (None,), "i", low=0, below=width)
    check_array(indptr, what, (None,), "i", low=0)
    check_array(data, what, (len(indices),))
    if not len(indptr) or indptr[0] != 0 or indptr[-1] != len(indices):
        raise ValueError("its sparse rows do not fit together")
    if (indptr[1:] < indptr[:-1]).any():
        raise ValueError("its sparse rows end before they begin")
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    if ((rows[1:] == rows[:-1]) & (indices[1:] <= indices[:-1])).any():
        raise ValueError("its sparse rows have a column twice, or out of order")
    return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, width))


def check_sparse(matrix: Any, what: str, shape: Sequence[int | None], high: float = np.inf) -> None:
    """Refuse what is no sparse matrix of this shape with values from 0 to `high`."""
    if type(matrix).__name__ != "csr_array":
        raise ValueError(f"its {what} are no sparse rows")
    if not all(n is None or n == length for n, length in zip(shape, matrix.shape, strict=True)):
        raise ValueError(f"its {what} have the shape {matrix.shape}; expected {tuple(shape)}")
    if matrix.nnz and not (matrix.data.min() >= 0 and matrix.data.max() <= high):
        raise ValueError(f"its {what} hold numbers below 0 or above {high:g}")
