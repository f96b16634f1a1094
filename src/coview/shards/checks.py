"""What rows of a shard must be before kernels, which check no bounds, see them."""

from __future__ import annotations

import zlib

import numpy as np

from coview.shards.format import ViewInfo


def check_rows_of_view(
    view: ViewInfo,
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    present: np.ndarray,
    nonzeros: int,
    whole: bool,
) -> None:
    """Refuse rows that are no canonical CSR, or hold values that the manifest excludes.

    Parameters
    ----------
    view : ViewInfo
    indptr, indices, data : arrays
        Places are those in the whole file: the first need not be 0.
    present : bool array of shape (documents,)
        Which documents have the view; the others must be empty.
    nonzeros : int
        Entries of the file.
    whole : bool
        Whether these are all rows of the file.

    Raises
    ------
    ValueError
    """
    lengths = np.diff(indptr)
    if (lengths < 0).any() or (whole and (indptr[0] != 0 or indptr[-1] != nonzeros)):
        raise ValueError("its places of rows do not increase from 0 to the number of entries")
    if int(indptr[-1] - indptr[0]) != len(indices) or len(indices) != len(data):
        raise ValueError("it has not as many entries as its rows say")
    if (lengths[~present] > 0).any():
        raise ValueError("it has entries of documents that lack the view")
    if not len(indices):
        return
    if indices.min() < 0 or indices.max() >= view.n_terms:
        raise ValueError(f"it has columns outside of the {view.n_terms:,} terms")
    _check_order(indptr, indices)
    _check_values(view, data)


def _check_order(indptr: np.ndarray, indices: np.ndarray) -> None:
    """Refuse columns that are not sorted within a row, or that are there twice."""
    falls = np.flatnonzero(indices[1:] <= indices[:-1]) + 1
    # only where a row begins may a column be lower than the one before it
    starts = indptr[1:-1] - indptr[0]
    if not np.isin(falls, starts, assume_unique=False).all():
        raise ValueError("its columns are not sorted within rows, or are there twice")


def _check_values(view: ViewInfo, data: np.ndarray) -> None:
    low, high = data.min(), data.max()
    if not view.lowest <= low <= high <= view.highest:  # NaN: refused
        raise ValueError(
            f"it holds values from {low:g} to {high:g}; its manifest says {view.lowest:g} to "
            f"{view.highest:g}"
        )
    if low <= 0 and not data.all():
        raise ValueError("it holds zeros, which are not entries")
    if view.whole and (data != np.rint(data)).any():
        raise ValueError("it holds values that are no whole numbers; its manifest says all are")


def checksum(*arrays: np.ndarray) -> int:
    """Return a checksum of arrays, quick enough for every pass over the data.

    >>> checksum(np.arange(3)) == checksum(np.arange(3)) != checksum(np.arange(4))
    True
    """
    found = 0
    for array in arrays:
        found = zlib.crc32(np.ascontiguousarray(array).data, found)
    return found


def check_mask(mask: np.ndarray) -> None:
    """Refuse a mask whose bytes are neither 0 nor 1."""
    if mask.view(np.uint8).max(initial=0) > 1:
        raise ValueError("it holds bytes that are neither true nor false")
