"""MATLAB files of versions 5 to 7: matrices of numbers, full and sparse.

scipy's reader trusts what stands in a file, and some damaged files crash the interpreter. This
one reads no more than matrices need, and checks every size against what is there.

A file is a header of 128 bytes and a row of elements, each a tag (type, size) with data. A variable
is an element with elements in it (flags, dimensions, name, numbers), often compressed as a whole.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy.sparse as sp

from coview.reading.plain_files import MOST_DEFLATED, check_room
from coview.wording import quoted

HEADER = 128
MATRIX, COMPRESSED, COMPLEX = 14, 15, 8
MOST_HEADER = 1 << 12  # bytes of flags, dimensions and name
# types of elements 1 to 13, and of variables: cells, structures, objects, texts, then matrices
NUMBERS = dict(
    enumerate(["i1", "u1", "i2", "u2", "i4", "u4", "f4", "", "f8", "", "", "i8", "u8"], start=1)
)
MATRICES = ["f8", "f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
CLASSES = dict(enumerate([*"OOOO", *MATRICES], start=1))
SPARSE = 5


class Variable(NamedTuple):
    """What is known of a variable before its numbers are read."""

    name: str
    shape: tuple[int, ...]
    kind: int
    is_complex: bool
    most: int  # entries of a sparse matrix
    start: int  # of its numbers
    at: int  # where its element stands in the file, without the tag
    size: int
    compressed: bool

    @property
    def is_numbers(self) -> bool:
        return CLASSES[self.kind] != "O"


class MatFile:
    """The variables of a file that is open for reading.

    Parameters
    ----------
    file : binary file
    size : int
        Of the file, in bytes.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self.order = _check_head(file.read(HEADER))
        found = [self._variable(*element) for element in self._elements(size)]
        self.variables = {v.name: v for v in found if v is not None}

    def _elements(self, size: int) -> Iterator[tuple[int, int, int]]:
        """Type, place and size of each element."""
        at = HEADER
        while at < size:
            self._file.seek(at)
            kind, length = struct.unpack(f"{self.order}II", self._file.read(8))
            if at + 8 + length > size:
                raise ValueError("it ends in the middle of a variable")
            yield kind, at + 8, length
            at += 8 + length

    def _variable(self, kind: int, at: int, size: int) -> Variable | None:
        """The variable of an element; None if it is none, or of a class that is not published."""
        if kind not in (MATRIX, COMPRESSED):
            return None
        buffer, start = self._body(at, size, kind == COMPRESSED, MOST_HEADER), 0
        flags, start = _numbers(buffer, start, self.order)
        code = int(flags[0]) & 0xFF if len(flags) == 2 else 0
        if code not in CLASSES:
            return None
        shape, start = _numbers(buffer, start, self.order)
        name, start = _numbers(buffer, start, self.order)
        text = name.tobytes().decode("utf-8", errors="replace")
        if not text or len(shape) < 2 or (shape < 0).any():
            return None
        is_complex = bool(int(flags[0]) >> 8 & COMPLEX)
        sizes = tuple(int(n) for n in shape)
        compressed = kind == COMPRESSED
        return Variable(text, sizes, code, is_complex, int(flags[1]), start, at, size, compressed)

    def _body(self, at: int, size: int, compressed: bool, most: int) -> bytes:
        """At most so many bytes of a variable, from after its tag."""
        self._file.seek(at)
        if not compressed:
            return self._file.read(min(size, most))
        return zlib.decompressobj().decompress(self._file.read(size), most + 8)[8:]

    def read(self, variable: Variable) -> Any:
        """The matrix: an array, or a sparse one as it stands in the file, not checked yet."""
        if variable.is_complex or not variable.is_numbers or len(variable.shape) != 2:
            raise ValueError(
                f"its variable {quoted(variable.name)} is no matrix of real numbers: read it with "
                "scipy.io.loadmat and give what is in it to Views"
            )
        sparse = variable.kind == SPARSE
        numbers = variable.most * 12 + variable.shape[1] * 4 if sparse else 8 * _area(variable)
        held = variable.size * (MOST_DEFLATED if variable.compressed else 1)
        most = min(numbers, held) + MOST_HEADER
        check_room(most)
        buffer = self._body(variable.at, variable.size, variable.compressed, most)
        return (self._sparse if sparse else self._full)(variable, buffer)

    def _full(self, variable: Variable, buffer: bytes) -> np.ndarray:
        values, _ = _numbers(buffer, variable.start, self.order)
        if len(values) != _area(variable):
            raise ValueError(f"its variable {quoted(variable.name)} is damaged")
        return values.astype(CLASSES[variable.kind]).reshape(variable.shape, order="F")

    def _sparse(self, variable: Variable, buffer: bytes) -> sp.csc_array:
        rows, start = _numbers(buffer, variable.start, self.order)
        ends, start = _numbers(buffer, start, self.order)
        values, _ = _numbers(buffer, start, self.order)
        n = int(ends[-1]) if len(ends) else -1
        if len(ends) != variable.shape[1] + 1 or not 0 <= n <= min(len(rows), len(values)):
            raise ValueError(f"its variable {quoted(variable.name)} is damaged")
        parts = values[:n].astype("f8"), rows[:n].astype("i4"), ends.astype("i4")
        return sp.csc_array(parts, shape=variable.shape)


def _area(variable: Variable) -> int:
    return math.prod(variable.shape)


def _check_head(head: bytes) -> str:
    """The byte order of a file of a version that is read here."""
    if b"MATLAB 7.3" in head or head.startswith(b"\x89HDF"):
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


def _numbers(buffer: bytes, at: int, order: str) -> tuple[np.ndarray, int]:
    """The numbers of the element at a place, and where the next one begins."""
    if at + 8 > len(buffer):
        raise ValueError("a variable ends too early")
    kind, size = struct.unpack_from(f"{order}II", buffer, at)
    start, after = at + 8, at + 8 + -(-size // 8) * 8
    if kind >> 16:  # so few bytes that they stand in the tag
        kind, size, start, after = kind & 0xFFFF, kind >> 16, at + 4, at + 8
    if not NUMBERS.get(kind) or start + size > min(len(buffer), after):
        raise ValueError("a variable ends too early, or holds no numbers")
    dtype = np.dtype(f"{order}{NUMBERS[kind]}")
    return np.frombuffer(buffer, dtype, size // dtype.itemsize, start), after
