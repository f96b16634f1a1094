"""What is known of a matrix that stays on disk: sizes and sums, found in one pass.

`MatrixFacts` stands where data in memory have a matrix, for all that asks no more of it: weights,
masses, priors, random starts. Sums are added in the order in which they are in memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

EXACT = 2.0**24  # single precision counts no further


@dataclass(frozen=True)
class MatrixFacts:
    """Sizes and sums of a matrix (documents, terms).

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
    row_nonzeros : ndarray of int of shape (documents,)
    row_sums : ndarray of shape (documents,)
    column_sums : ndarray of shape (terms,)
        In double precision.
    data : ndarray
        A few values that stand for all: the lowest, the highest, and one that is not whole, if
        there is one.
    words : ndarray of shape (topics, terms) or None
        The words of the documents pinned to each topic, where there are any.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    row_nonzeros: np.ndarray = field(repr=False)
    row_sums: np.ndarray = field(repr=False)
    column_sums: np.ndarray = field(repr=False)
    data: np.ndarray = field(repr=False)
    words: np.ndarray | None = field(default=None, repr=False)

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return int(self.row_nonzeros.sum(dtype=np.int64))

    @property
    def indptr(self) -> np.ndarray:
        """Where the rows of the matrix would begin and end."""
        return np.append(0, np.cumsum(self.row_nonzeros, dtype=np.int64))

    def sum(self, axis: int | None = None, dtype: Any = None) -> Any:
        """Return the sum of all entries, of each column (axis=0) or of each row (axis=1)."""
        if axis is None:
            return self.column_sums.sum(dtype=dtype)
        return (self.column_sums if axis == 0 else self.row_sums).astype(dtype or self.dtype)


def column_sums(matrix: sp.csr_array | MatrixFacts) -> np.ndarray:
    """Return the sum of each column in double precision; scipy adds up in that of the matrix."""
    sums = np.asarray(matrix.sum(axis=0, dtype=np.float64)).ravel()
    if isinstance(matrix, MatrixFacts) or sums.max(initial=0) < EXACT:
        return sums
    exact = np.zeros(len(sums))
    for start in range(0, matrix.nnz, 1 << 20):
        piece = slice(start, start + (1 << 20))
        exact += np.bincount(matrix.indices[piece], matrix.data[piece], len(sums))
    return exact


class FactFinder:
    """Find the facts of one view, rows after rows.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    labels : ndarray of int of shape (documents,) or None
        Topics of pinned documents, -1 elsewhere, whose words are to be added up.
    n_topics : int
    """

    def __init__(
        self, shape: tuple[int, int], dtype: np.dtype, labels: np.ndarray | None, n_topics: int
    ):
        self._shape, self._dtype, self._labels = shape, np.dtype(dtype), labels
        self._nonzeros, self._sums = np.zeros(shape[0], np.uint32), np.zeros(shape[0], dtype)
        self._columns, self._exact = np.zeros(shape[1], dtype), np.zeros(shape[1])
        self._words = None if labels is None else np.zeros((n_topics, shape[1]), dtype)
        self._values: set[float] = set()
        self._at = 0

    def add(self, rows: sp.csr_array) -> None:
        """Take note of the next rows, in the precision of the model."""
        docs = slice(self._at, self._at + rows.shape[0])
        self._at = docs.stop
        self._nonzeros[docs] = lengths = np.diff(rows.indptr)
        self._sums[docs] = rows.sum(axis=1)
        if not rows.nnz:
            return
        # one by one in the order of rows, as scipy sums a whole matrix: the same bits
        np.add.at(self._columns, rows.indices, rows.data)
        self._exact += np.bincount(rows.indices, rows.data, len(self._exact))
        if self._words is not None and self._labels is not None:
            topics = np.repeat(self._labels[docs], lengths)
            pinned = topics >= 0
            np.add.at(self._words, (topics[pinned], rows.indices[pinned]), rows.data[pinned])
        self._values |= {float(rows.data.min()), float(rows.data.max())}
        self._values = {min(self._values), max(self._values), *filter(_is_broken, self._values)}
        if not any(map(_is_broken, self._values)):
            broken = rows.data[rows.data != np.rint(rows.data)]
            self._values |= set(broken[:1].astype(float))

    def found(self) -> MatrixFacts:
        """Return what was found."""
        inexact = self._columns.max(initial=0) >= EXACT
        columns = self._exact if inexact else self._columns.astype(np.float64)
        values = np.array(sorted(self._values), self._dtype)
        parts = self._nonzeros, self._sums, columns, values, self._words
        return MatrixFacts(self._shape, self._dtype, *parts)


def _is_broken(value: float) -> bool:
    return value != round(value)


def facts_of(
    rows: Iterable[list[sp.csr_array]],
    n_docs: int,
    widths: Iterable[int],
    dtype: np.dtype,
    labels: np.ndarray | None,
    n_topics: int,
) -> tuple[MatrixFacts, ...]:
    """Return the facts of all views from one pass over their rows."""
    finders = [FactFinder((n_docs, width), dtype, labels, n_topics) for width in widths]
    for matrices in rows:
        for finder, matrix in zip(finders, matrices, strict=True):
            finder.add(matrix)
    return tuple(finder.found() for finder in finders)


def at_rows(matrix: sp.csr_array, rows: np.ndarray, n_docs: int) -> sp.csr_array:
    """Return a matrix of n_docs documents, with these rows where they belong, the others empty."""
    lengths = np.zeros(n_docs, matrix.indptr.dtype)
    lengths[rows] = np.diff(matrix.indptr)
    indptr = np.append(0, np.cumsum(lengths)).astype(matrix.indptr.dtype)
    return sp.csr_array((matrix.data, matrix.indices, indptr), shape=(n_docs, matrix.shape[1]))
