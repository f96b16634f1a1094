"""The reader of MATLAB files of versions 5 to 7: full, sparse and cell arrays.

scipy's reader trusts the contents of a file, and some damaged files crash the interpreter in it.
This reader compares every size with the bytes that are there before it makes anything of it, and
decompresses no more than a limit.

A file is a header of 128 bytes and a list of elements. An element is a tag (type and size; small
elements have both and their data in eight bytes) with data padded to eight bytes. A variable is an
element that holds others: flags with its class, its shape, its name and its values; it is often
compressed as a whole. The format is described in MathWorks, "MAT-File Format", 2019.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy.sparse as sp

from coview.reading.plain_files import check_room, most_inflated
from coview.wording import quoted

HEADER = 128  # bytes
HDF5 = b"\x89HDF\r\n\x1a\n"
MOST_HEAD = 1 << 12  # bytes of the flags, shape and name of a variable
MOST_DEPTH = 3  # a cell array of cell arrays of matrices

# types of elements
MATRIX, COMPRESSED = 14, 15
NUMBERS = dict(enumerate(("i1", "u1", "i2", "u2", "i4", "u4", "f4"), start=1))
NUMBERS |= {9: "f8", 12: "i8", 13: "u8"}
# classes of variables; 2 to 4 are structures, objects and texts, others are not published
CELL, SPARSE = 1, 5
DENSE = dict(enumerate(("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"), start=6))
KNOWN = range(1, 16)
COMPLEX = 0x0800  # a flag

Element = tuple[int, bytes]


class ArrayHead(NamedTuple):
    """What stands before the values of an array."""

    name: str
    shape: tuple[int, ...]
    kind: int
    is_complex: bool
    most_entries: int  # that a sparse matrix claims

    @property
    def is_numeric(self) -> bool:
        """Whether it holds numbers, not cells, texts or structures."""
        return self.kind == SPARSE or self.kind in DENSE


class Variable(NamedTuple):
    """A variable whose values are not read yet."""

    head: ArrayHead
    at: int  # place of its element in the file, after the tag
    size: int  # of its element
    compressed: bool


class MatFile:
    """The variables of an open MATLAB file.

    Parameters
    ----------
    file : binary file
    size : int
        Bytes of the file.

    Attributes
    ----------
    variables : dict name -> Variable
        What the file holds, without the values.

    Examples
    --------
    >>> import io, scipy.io
    >>> file = io.BytesIO()
    >>> scipy.io.savemat(file, {"X": np.eye(2), "names": "a text"})
    >>> mat = MatFile(file, file.tell())
    >>> mat.variables["X"].head.shape, mat.read_matrix("X").tolist()
    ((2, 2), [[1.0, 0.0], [0.0, 1.0]])
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._order = _check_header(file)
        found = [self._variable(*element) for element in self._elements(size)]
        self.variables = {v.head.name: v for v in found if v is not None}

    def read_matrix(self, name: str) -> np.ndarray | sp.csc_array:
        """Read a variable that must be a matrix of real numbers.

        No more is decompressed than its shape needs, and no more than fits into memory.
        """
        variable = self.variables[name]
        head = variable.head
        if head.is_complex or not head.is_numeric or len(head.shape) != 2:
            raise ValueError(
                f"its variable {quoted(name)} is no matrix of real numbers: read it with "
                "scipy.io.loadmat and give what is in it to Views"
            )
        needed = 8 * math.prod(head.shape)
        if head.kind == SPARSE:
            needed = head.most_entries * 12 + head.shape[1] * 4
        held = most_inflated(variable.size) if variable.compressed else variable.size
        most = min(needed, held) + MOST_HEAD
        check_room(most)
        try:
            return self._value(self._content(variable, most, whole=False))
        except ValueError as error:
            raise ValueError(f"its variable {quoted(name)} is damaged: {error}") from error

    def read_all(self, most_bytes: int) -> dict[str, Any]:
        """Read all variables.

        Parameters
        ----------
        most_bytes : int
            The variables together may not be larger after decompression.

        Returns
        -------
        dict name -> value
            Numbers as an array, sparse matrices as a `csc_array`, cell arrays as lists in MATLAB's
            order (column by column), everything else (texts, structures) as None.
        """
        values = {}
        for name, variable in self.variables.items():
            content = self._content(variable, most_bytes)
            most_bytes -= len(content)
            values[name] = self._value(content)
        return values

    # -- where the variables are --

    def _elements(self, size: int) -> Iterator[tuple[int, int, int]]:
        """Yield type, place and size of each element of the file."""
        at = HEADER
        while at < size:
            self._file.seek(at)
            tag = self._file.read(8)
            kind, length = struct.unpack(f"{self._order}II", tag) if len(tag) == 8 else (0, size)
            if at + 8 + length > size:
                raise ValueError("it ends within a variable; fetch it again")
            yield kind, at + 8, length
            # compressed elements are the only ones that are not padded
            at += 8 + (length if kind == COMPRESSED else _padded(length))

    def _variable(self, kind: int, at: int, size: int) -> Variable | None:
        """Return the variable of an element; None if it is none, or of an unknown class."""
        if kind not in (MATRIX, COMPRESSED):
            return None
        compressed = kind == COMPRESSED
        start = self._start(at, size, compressed)
        head = _head(_elements_of(start, self._order), self._order, strict=False)
        # variables without a name belong to MATLAB's own bookkeeping
        return Variable(head, at, size, compressed) if head and head.name else None

    def _start(self, at: int, size: int, compressed: bool) -> bytes:
        """Read the first bytes of a variable, after its tag: all that precedes the values."""
        self._file.seek(at)
        if not compressed:
            return self._file.read(min(size, MOST_HEAD))
        return zlib.decompressobj().decompress(self._file.read(size), MOST_HEAD + 8)[8:]

    def _content(self, variable: Variable, most: int, whole: bool = True) -> bytes:
        """Read all bytes of a variable, after its tag; refuse more than `most`.

        With `whole`, compressed bytes must end with their checksum.
        """
        self._file.seek(variable.at)
        if variable.compressed:
            content = self._inflated(self._file.read(variable.size), most, whole)
        else:
            content = self._file.read(min(variable.size, most + 1))
        if len(content) > most:
            raise ValueError("it holds too many bytes after decompression")
        return content

    def _inflated(self, packed: bytes, most: int, whole: bool) -> bytes:
        """Decompress a variable, up to one byte more than `most`."""
        stream = zlib.decompressobj()
        content = stream.decompress(packed, 8 + most + 1)
        if whole and len(content) <= 8 + most and not stream.eof:
            raise ValueError("it is incomplete; fetch it again")
        if len(content) < 8 or struct.unpack_from(f"{self._order}II", content)[0] != MATRIX:
            raise ValueError("a compressed element holds no variable")
        return content[8:]

    def _value(self, content: bytes) -> Any:
        return _array(content, self._order, depth=1)


def _check_header(file: BinaryIO) -> str:
    """Return the byte order of a file, if it is of a version that is read here."""
    file.seek(0)
    head = file.read(HEADER)
    file.seek(512)  # version 7.3 is HDF5 behind a block of 512 bytes
    if b"MATLAB 7.3" in head or HDF5 in (head[:8], file.read(8)):
        raise ValueError(
            "it is of MATLAB's version 7.3 (HDF5). Save it in MATLAB with the option '-v7', or "
            "read it with h5py and give the matrices to Views"
        )
    order = {b"IM": "<", b"MI": ">"}.get(head[126:128])
    if order is None:
        raise ValueError(
            "it is no MATLAB file of the versions 5 to 7. Save it in MATLAB with the option '-v7'"
        )
    return order


# -- elements -------------------------------------------------------------------------------------


def _padded(size: int) -> int:
    return -(-size // 8) * 8


def _elements_of(data: bytes, order: str) -> Iterator[Element]:
    """Yield type and data of each element in a variable."""
    at = 0
    while at < len(data):
        if at + 8 > len(data):
            raise ValueError("it ends within an element")
        kind, size = struct.unpack_from(f"{order}II", data, at)
        small = kind >> 16  # so few bytes that they fit into the tag
        start, size = (at + 4, small) if small else (at + 8, size)
        if small > 4 or start + size > len(data):
            raise ValueError("an element claims more bytes than there are")
        yield kind & 0xFFFF, data[start : start + size]
        at = at + 8 if small else start + _padded(size)


def _numbers(element: Element, order: str) -> np.ndarray:
    kind, data = element
    if kind not in NUMBERS:
        raise ValueError(f"numbers have the unknown type {kind}")
    return np.frombuffer(data, np.dtype(order + NUMBERS[kind]))


# -- arrays ---------------------------------------------------------------------------------------


def _head(elements: Iterator[Element], order: str, strict: bool = True) -> ArrayHead | None:
    """Return what the first three elements of an array say; None for an unknown class.

    A wrong shape is an error, or None if not `strict`.
    """
    flags = _numbers(_next(elements), order)
    kind = int(flags[0]) & 0xFF if len(flags) == 2 else 0
    if kind not in KNOWN:
        return None
    shape = tuple(int(length) for length in _numbers(_next(elements), order))
    name = _next(elements)[1].decode("utf-8", errors="replace")
    if len(shape) < 2 or min(shape) < 0:
        if not strict:
            return None
        raise ValueError(f"array {quoted(name)} has the wrong shape {shape}")
    return ArrayHead(name, shape, kind, bool(int(flags[0]) & COMPLEX), int(flags[1]))


def _next(elements: Iterator[Element]) -> Element:
    element = next(elements, None)
    if element is None:
        raise ValueError("an array ends too early")
    return element


def _array(data: bytes, order: str, depth: int) -> Any:
    """Return the value of an array: numbers, a sparse matrix, a list of cells, or None."""
    elements = _elements_of(data, order)
    head = _head(elements, order)
    if head is None:
        return None
    if head.is_complex:
        raise ValueError(f"array {quoted(head.name)} has complex values")
    parts = list(elements)
    if head.kind == CELL:
        return _cells(head.shape, parts, order, depth)
    if head.kind == SPARSE:
        return _sparse(head.shape, parts, order)
    return _dense(head, parts, order) if head.kind in DENSE else None


def _cells(shape: tuple[int, ...], parts: Sequence[Element], order: str, depth: int) -> list[Any]:
    if depth >= MOST_DEPTH or math.prod(shape) != len(parts):
        raise ValueError(f"a cell array of shape {shape} has {len(parts):,} cells")
    return [_array(data, order, depth + 1) for _, data in parts]


def _dense(head: ArrayHead, parts: Sequence[Element], order: str) -> np.ndarray:
    values = _numbers(parts[0], order) if parts else np.empty(0)
    if math.prod(head.shape) != len(values):
        raise ValueError(f"an array of shape {head.shape} has {len(values):,} values")
    return values.astype(DENSE[head.kind]).reshape(head.shape, order="F")


def _sparse(shape: tuple[int, ...], parts: Sequence[Element], order: str) -> sp.csc_array:
    if len(parts) != 3 or len(shape) != 2:
        raise ValueError(f"a sparse matrix of shape {shape} has {len(parts):,} parts, not 3")
    rows, starts, values = (_numbers(part, order) for part in parts)
    starts = starts.astype(np.int64)
    # not the difference of neighbors, which could wrap around
    fits = len(starts) == shape[1] + 1 and starts[0] == 0 and (starts[1:] >= starts[:-1]).all()
    if not fits or starts[-1] > min(len(rows), len(values)):
        raise ValueError("the columns of a sparse matrix are not where they should be")
    n = int(starts[-1])  # MATLAB may have allocated more
    rows, values = rows[:n], values[:n]
    if n and not 0 <= rows.min() <= rows.max() < min(shape[0], 2**31):
        raise ValueError("a sparse matrix has a value outside its rows")
    arrays = values.astype(np.float64), rows.astype(np.int32), starts.astype(np.int32)
    return sp.csc_array(arrays, shape=shape)
