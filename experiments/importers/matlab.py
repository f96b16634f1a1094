"""Variables of a MATLAB file (version 5 to 7): numeric, sparse and cell arrays.

Not scipy's reader, which crashes the interpreter on some damaged files. Here every size is compared
with the bytes that are there before anything is made of it, and compressed data are unpacked up to
a limit.

A file is a header of 128 bytes and a list of elements. An element is a tag (type and size; small
ones have both in four bytes) and its data, padded to eight bytes. An array is an element that holds
others: flags with its class, its shape, its name and its values.
"""

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.wording import quoted
from experiments.importers.archives import ArchiveError

HEADER = 128
MOST_BYTES = 1 << 30
MOST_DEPTH = 3  # a cell array of cell arrays of matrices
HDF5 = b"\x89HDF\r\n\x1a\n"
# types of elements
MATRIX, COMPRESSED = 14, 15
NUMBERS = dict(enumerate(("i1", "u1", "i2", "u2", "i4", "u4", "f4"), start=1))
NUMBERS |= {9: "f8", 12: "i8", 13: "u8"}
# classes of arrays
CELL, SPARSE = 1, 5
CLASSES = dict(enumerate(("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"), start=6))
COMPLEX = 0x0800


def read_mat(data: bytes, label: str, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """The variables of a MATLAB file.

    Parameters
    ----------
    data : bytes
    label : str
        Name of the file, for the messages.
    most_bytes : int
        The file may not be larger after decompression.

    Returns
    -------
    variables : dict
        Numbers as `ndarray`, sparse matrices as `csc_array`, cell arrays as lists in MATLAB's
        order (column after column), everything else (text, structures) as None.
    """
    # version 7.3 is HDF5 behind a block of 512 bytes
    if HDF5 in (data[:8], data[512:520]):
        raise ArchiveError(f"{label} is of MATLAB's version 7.3; save it again with -v7.")
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:
        raise ArchiveError(f"{label} is no MATLAB file of version 5 to 7.")
    try:
        return dict(_Reader(order, most_bytes).variables(data[HEADER:]))
    except (ValueError, zlib.error) as error:
        raise ArchiveError(f"{label} cannot be read as a MATLAB file: {error}.") from error


@dataclass
class _Reader:
    order: str
    bytes_left: int

    def variables(self, data: bytes) -> Iterator[tuple[str, Any]]:
        for kind, content in self.elements(data):
            if kind == COMPRESSED:
                content = self.inflated(content)
                ((kind, content),) = list(self.elements(content))
            self.bytes_left -= len(content)
            if self.bytes_left < 0:
                raise ValueError("it holds too many bytes after decompression")
            if kind == MATRIX:
                yield self.array(content, depth=1)

    def elements(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Type and content of one element after another."""
        at = 0
        while at < len(data):
            if at + 8 > len(data):
                raise ValueError("it ends within an element")
            kind, size = struct.unpack_from(f"{self.order}II", data, at)
            small = kind >> 16
            start, size = (at + 4, small) if small else (at + 8, size)
            if small > 4 or start + size > len(data):
                raise ValueError("an element claims more bytes than there are")
            yield kind & 0xFFFF, data[start : start + size]
            # compressed elements are the only ones that are not padded
            at = at + 8 if small else start + (size if kind == COMPRESSED else -size % 8 + size)

    def inflated(self, data: bytes) -> bytes:
        stream = zlib.decompressobj()
        content = stream.decompress(data, self.bytes_left + 1)
        if len(content) > self.bytes_left:
            raise ValueError("it holds too many bytes after decompression")
        if not stream.eof:
            raise ValueError("it is incomplete; fetch it again")
        return content

    def array(self, data: bytes, depth: int) -> tuple[str, Any]:
        """Name and value of an array."""
        parts = list(self.elements(data))
        if len(parts) < 3:
            raise ValueError("an array has no values")
        flags = int(self.numbers(*parts[0])[0]) if parts[0][1] else 0
        shape = tuple(int(length) for length in self.numbers(*parts[1]))
        name = parts[2][1].decode("latin-1")
        if len(shape) < 2 or min(shape) < 0 or flags & COMPLEX:
            raise ValueError(f"array {quoted(name)} has a wrong shape or complex values")
        return name, self.value(flags & 0xFF, shape, parts[3:], depth)

    def value(self, kind: int, shape: tuple[int, ...], parts: list, depth: int) -> Any:
        if kind == CELL:
            return self.cells(shape, parts, depth)
        if kind == SPARSE and len(parts) == 3 and len(shape) == 2:
            return self.sparse(shape, *(self.numbers(*part) for part in parts))
        if kind not in CLASSES:
            return None
        values = self.numbers(*parts[0]) if parts else np.empty(0)
        if math.prod(shape) != len(values):
            raise ValueError(f"an array of shape {shape} has {len(values):,} values")
        return values.astype(CLASSES[kind]).reshape(shape, order="F")

    def cells(self, shape: tuple[int, ...], parts: list, depth: int) -> list[Any]:
        if depth >= MOST_DEPTH or math.prod(shape) != len(parts):
            raise ValueError(f"a cell array of shape {shape} has {len(parts):,} cells")
        return [self.array(content, depth + 1)[1] for _, content in parts]

    def numbers(self, kind: int, data: bytes) -> np.ndarray:
        if kind not in NUMBERS:
            raise ValueError(f"numbers have the unknown type {kind}")
        return np.frombuffer(data, np.dtype(self.order + NUMBERS[kind]))

    def sparse(
        self, shape: tuple[int, ...], rows: np.ndarray, starts: np.ndarray, values: np.ndarray
    ) -> sp.csc_array:
        starts = starts.astype(np.int64)
        n_rows, n_columns = shape
        fits = len(starts) == n_columns + 1 and starts[0] == 0 and (np.diff(starts) >= 0).all()
        if not fits or starts[-1] > min(len(rows), len(values)):
            raise ValueError("the columns of a sparse matrix are not where they should be")
        rows, values = rows[: starts[-1]].astype(np.int64), values[: starts[-1]].astype(np.float64)
        if len(rows) and not 0 <= rows.min() <= rows.max() < n_rows:
            raise ValueError("a sparse matrix has a value outside of its rows")
        return sp.csc_array((values, rows, starts), shape=shape)
