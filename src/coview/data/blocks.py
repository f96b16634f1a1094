"""Blocks: row ranges common to all views, the unit of work of every runner.

Where the cuts fall is a function of the data alone, never of the number of threads or workers:
sums over documents are formed block by block and added in block order, so the same data give the
same bits however many blocks are worked on at a time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from coview.data.matrices import frozen

# Small enough that a hundred thousand non-zeros already make several blocks, large enough that
# adding up the gradients of the blocks costs a few per cent of a sweep.
MIN_NONZEROS, MAX_NONZEROS, USUAL_BLOCKS = 1 << 14, 1 << 20, 8
MAX_DOCS = 1 << 16  # documents within a block are numbered by 16-bit integers


@dataclass(frozen=True)
class Rows:
    """One view's rows of one block in CSR order: slices of the view's own arrays."""

    place: slice  # where they stand in the arrays of the whole view
    indptr: np.ndarray  # (docs + 1,) uint64, from 0
    indices: np.ndarray  # (nnz,) unsigned
    data: np.ndarray  # (nnz,)


@dataclass(frozen=True)
class Columns:
    """The non-empty columns of the same rows, as places in their CSR order."""

    terms: np.ndarray  # (columns,) uint32: which terms these are
    colptr: np.ndarray  # (columns + 1,) uint64
    rows: np.ndarray  # (nnz,) uint16: document within the block
    position: np.ndarray  # (nnz,) uint32: place of the entry in `Rows.data`


@dataclass(frozen=True)
class Block:
    """All views of the documents `start` to `stop`."""

    start: int
    stop: int
    rows: tuple[Rows, ...]
    columns: tuple[Columns, ...] | None  # None when the emissions stay as they are (folding in)

    @property
    def docs(self) -> slice:
        return slice(self.start, self.stop)


def cut(matrices: Sequence[sp.csr_array], nonzeros: int | None = None) -> list[tuple[int, int]]:
    """The row ranges, each with about `nonzeros` entries over all views.

    >>> import numpy as np, scipy.sparse as sp
    >>> cut([sp.csr_array(np.ones((6, 10)))], nonzeros=25)
    [(0, 3), (3, 6)]
    """
    ends = sum(m.indptr[1:].astype(np.int64) for m in matrices)
    if nonzeros is None:
        nonzeros = int(np.clip(ends[-1] // USUAL_BLOCKS, MIN_NONZEROS, MAX_NONZEROS))
    ranges, start, before = [], 0, 0
    while start < len(ends):
        stop = int(np.searchsorted(ends, before + nonzeros)) + 1
        stop = min(stop, start + MAX_DOCS, len(ends))
        ranges.append((start, stop))
        start, before = stop, int(ends[stop - 1])
    return ranges


def make_blocks(
    matrices: Sequence[sp.csr_array],
    ranges: Iterable[tuple[int, int]] | None = None,
    columns: bool = True,
) -> list[Block]:
    """Cut the views into blocks; with `columns` also by column, for the emissions' gradient."""
    ranges = cut(matrices) if ranges is None else ranges
    return [_block(matrices, start, stop, columns) for start, stop in ranges]


def _block(matrices, start, stop, columns):
    rows = tuple(_rows(m, start, stop) for m in matrices)
    if not columns:
        return Block(start, stop, rows, None)
    widths = [m.shape[1] for m in matrices]
    return Block(start, stop, rows, tuple(map(_columns, rows, widths)))


def _rows(matrix, start, stop):
    indptr = matrix.indptr[start : stop + 1].astype(np.uint64)
    here = slice(int(indptr[0]), int(indptr[-1]))
    unsigned = np.uint32 if matrix.indices.dtype.itemsize == 4 else np.uint64
    arrays = indptr - indptr[0], matrix.indices[here].view(unsigned), matrix.data[here]
    # read-only always: one compiled kernel, not one for each kind of array
    return Rows(here, *map(frozen, arrays))


def _columns(rows, n_terms):
    nnz, signed = len(rows.data), f"i{rows.indices.itemsize}"
    place = np.arange(nnz, dtype=np.uint32)
    csr = (place, rows.indices.view(signed), rows.indptr.astype(signed))
    by_column = sp.csr_array(csr, shape=(len(rows.indptr) - 1, n_terms)).tocsc()
    terms = np.flatnonzero(np.diff(by_column.indptr)).astype(np.uint32)
    colptr = np.append(by_column.indptr[terms], nnz).astype(np.uint64)
    return Columns(terms, colptr, by_column.indices.astype(np.uint16), by_column.data)
