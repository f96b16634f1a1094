"""Arrays of probabilities: padding, smallest values, normalization of rows, and their mean."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

CACHE_LINE = 64  # bytes
LANES = 8  # topics are padded to a multiple of this many columns, one vector register
ROWS_AT_ONCE = 8_192  # in double precision

Room = Callable[..., np.ndarray]  # makes an array from its shape and type, as `np.empty` does


@dataclass(frozen=True)
class Limits:
    """How small a probability may get in a given precision."""

    floor: float  # p(w|d) of an observed word is taken as at least this
    tiny: float  # p(z|d) and p(w|z) below this become 0: two of them would multiply to a subnormal


def limits(dtype: Any) -> Limits:
    """Return the limits of a precision.

    >>> limits(np.float32).floor
    1e-30
    """
    if np.dtype(dtype) == np.float32:
        return Limits(floor=1e-30, tiny=1e-18)
    return Limits(floor=1e-250, tiny=1e-150)


def padded(n_topics: int) -> int:
    """Return the number of columns that hold n_topics topics."""
    return -(-n_topics // LANES) * LANES


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return zeros that begin where a cache line does, so that rows lie in as few as can be.

    A sweep over rows of 128 topics takes a fifth longer where each begins within a line.

    >>> aligned_zeros((3, 8), np.float32).shape
    (3, 8)
    """
    return _aligned(shape, dtype, np.zeros)


def aligned_empty_like(array: np.ndarray) -> np.ndarray:
    """Return an array of the same shape and type, to be filled, that begins with a cache line."""
    return _aligned(array.shape, array.dtype, np.empty)


def _aligned(shape: tuple[int, ...], dtype: Any, make: Callable) -> np.ndarray:
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = make(size + CACHE_LINE, np.uint8)
    begin = -room.ctypes.data % CACHE_LINE
    return room[begin : begin + size].view(dtype).reshape(shape)


def pad_topics(rows: np.ndarray, dtype: Any) -> np.ndarray:
    """Return a copy of rows (n, topics) with columns of zeros up to the padded width."""
    out = aligned_zeros((rows.shape[0], padded(rows.shape[1])), dtype)
    out[:, : rows.shape[1]] = rows
    return out


def row_normalize(
    counts: np.ndarray, old: np.ndarray, keep: np.ndarray | None = None
) -> np.ndarray:
    """Normalize counts (rows, topics) in place; rows without mass, or in `keep`, become `old`.

    >>> counts = np.array([[1.0, 3.0], [0.0, 0.0]])
    >>> row_normalize(counts, old=np.full((2, 2), 0.5))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    from coview.kernels.simplex import normalize_rows

    keep = np.zeros(len(counts), bool) if keep is None else keep
    normalize_rows(counts, old, keep, limits(counts.dtype).tiny)
    return counts


def mean_mixture(
    mixtures: Sequence[np.ndarray],
    slots: Sequence[int],
    present: np.ndarray,
    weights: Sequence[float],
    room: Room = np.empty,
) -> np.ndarray:
    """Return the weighted mean of the mixtures of each document over the views that it has.

    In double precision, but some rows at a time. `room(shape, dtype)` makes the array.

    >>> of_views = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    >>> mean_mixture(of_views, (0, 1), np.ones((1, 2), bool), (3.0, 1.0))
    array([[0.75, 0.25]])
    """
    mean = room(mixtures[0].shape, mixtures[0].dtype)
    for start in range(0, len(mean), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        say = present[rows] * np.array(weights)
        say[say.sum(axis=1) == 0] = 1
        by_slot = zip(slots, say.T, strict=True)
        total = sum(weight[:, None] * mixtures[slot][rows] for slot, weight in by_slot)
        mean[rows] = total / total.sum(axis=1, keepdims=True)
    return np.asarray(mean)
