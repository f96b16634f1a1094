"""Integers that are appended one by one, as to a list, but kept in a file."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

WAITING = 1 << 16  # numbers that wait in memory
PIECE = 1 << 20  # numbers that are read at a time


class NumberFile:
    """Integers of 64 bits, or of 32 with the code "i", in a new file without a header.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     numbers = NumberFile(Path(folder) / "numbers")
    ...     numbers.append(7)
    ...     numbers.extend(np.array([8, 9]))
    ...     len(numbers), numbers.at(1), [piece.tolist() for piece in numbers.pieces(2)]
    (3, 8, [[7, 8], [9]])
    """

    def __init__(self, path: Path, code: str = "q") -> None:
        path.touch(exist_ok=False)
        self._path, self._code, self._size = path, code, 0
        self._waiting = array(code)

    def __len__(self) -> int:
        return self._size

    def append(self, number: int) -> None:
        """Add a number."""
        self._waiting.append(number)
        self._size += 1
        if len(self._waiting) >= WAITING:
            self.flush()

    def extend(self, numbers: np.ndarray) -> None:
        """Add many numbers."""
        self.flush()
        with self._path.open("ab") as file:
            numbers.astype(self._code, copy=False).tofile(file)
        self._size += len(numbers)

    def flush(self) -> None:
        """Write the numbers that wait."""
        with self._path.open("ab") as file:
            self._waiting.tofile(file)
        self._waiting = array(self._code)

    def pieces(self, size: int = PIECE) -> Iterator[np.ndarray]:
        """Yield all numbers, many at a time."""
        self.flush()
        with self._path.open("rb") as file:
            while len(piece := np.fromfile(file, self._code, size)):
                yield piece

    def at(self, row: int) -> int:
        """Return one number."""
        self.flush()
        offset = row * np.dtype(self._code).itemsize
        return int(np.fromfile(self._path, self._code, 1, offset=offset)[0])
