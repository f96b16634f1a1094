"""Arrays, archives of arrays and lines of text from files that are not trusted.

The claims of a header are compared with what the file holds, and with the available memory, before
anything is allocated. What is compressed may not become many times as large (`check_expansion`).
Pickles are refused. Every error names the file.
"""

from __future__ import annotations

import gzip
import io
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from coview.memory import available_memory

MOST_DEFLATED = 1032  # largest ratio of decompressed to compressed bytes
# Texts and names are compressed to a fiftieth at most, arrays of zeros and bombs to a thousandth.
MOST_RATIO, TEXT_RATIO, RATIO_FROM = 250.0, 100.0, 64 << 20  # limits of `check_expansion`
MANY_ROWS, ROWS_OF_ENTRY = 10_000_000, 100  # limits of `check_rows`


def read_file(path: Path, reader: Callable[[Path], Any]) -> Any:
    """Call a reader with a file; its errors become errors that name the file."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    try:
        return reader(path)
    except MemoryError as error:
        raise MemoryError(f"Cannot read {path}: {error}") from error
    except Exception as error:  # damage raises many kinds: zip, zlib, header, encoding
        reason = str(error).rstrip(".") or type(error).__name__
        raise ValueError(f"Cannot read {path}: {reason}.") from error


def check_room(n_bytes: float) -> None:
    """Refuse data that would not fit into memory, before they are allocated."""
    left = available_memory()
    if left is not None and n_bytes > left:
        raise MemoryError(
            f"it claims {n_bytes / 1e9:,.1f} GB, but {left / 1e9:,.1f} GB are available"
        )


class ExpansionError(ValueError):
    """Compressed data that become far too large."""


def most_expanded(packed: int, ratio: float = MOST_RATIO) -> float:
    """Return how many bytes a compressed file may become."""
    return max(ratio * packed, RATIO_FROM)


def most_inflated(packed: int) -> int:
    """Return how many bytes may come out of the compression of gzip, zip and MATLAB files."""
    return int(min(MOST_DEFLATED * packed, most_expanded(packed)))


def check_expansion(expanded: float, packed: int, ratio: float = MOST_RATIO) -> None:
    """Refuse what becomes so many times as large by decompression as no data do.

    Parameters
    ----------
    expanded : float
        Bytes after decompression, as far as they are known; a few are never refused.
    packed : int
        Bytes of the file.
    ratio : float, default=250
        Of the first to the second, at most.

    Examples
    --------
    >>> check_expansion(400e6, packed=398_000)
    Traceback (most recent call last):
        ...
    coview.reading.plain_files.ExpansionError: it becomes more than 250 times as large ...
    """
    if expanded > most_expanded(packed, ratio):
        raise ExpansionError(
            f"it becomes more than {ratio:g} times as large by decompression. If it is what "
            "you expect, unpack it or save it without compression"
        )


class _Capped(io.RawIOBase):
    """A decompressed text that ends in an error when it becomes too large for what is packed."""

    def __init__(self, file: gzip.GzipFile, packed: int) -> None:
        self._file, self._packed, self._size = file, packed, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = self._file.readinto(buffer)
        self._size += read
        check_expansion(self._size, self._packed, TEXT_RATIO)
        return read

    def close(self) -> None:
        self._file.close()
        super().close()


def open_gzip(file: BinaryIO, packed: int) -> BinaryIO:
    """Return the decompressed text of a gzip file of `packed` bytes, as a stream with a limit."""
    stream = gzip.GzipFile(fileobj=file)
    return io.BufferedReader(_Capped(stream, packed), buffer_size=1 << 17)


def check_rows(matrix: Any) -> Any:
    """Return a sparse matrix, unless it claims far more rows than it has entries.

    A few bytes can claim any number of rows, and each row costs memory in a CSR.
    """
    rows, entries = matrix.shape[0], matrix.nnz
    if rows > MANY_ROWS and rows > ROWS_OF_ENTRY * entries:
        raise ValueError(f"it claims {rows:,} rows, but has {entries:,} entries")
    return matrix


# -- arrays ---------------------------------------------------------------------------------------


def map_array(path: Path) -> np.ndarray:
    """Map the array of an .npy file, which stays on disk.

    A header that claims more than the file holds is refused.
    """
    return np.load(path, mmap_mode="r", allow_pickle=False)


def load_array(path: Path) -> np.ndarray:
    """Load the array of an .npy file into memory."""
    return np.array(map_array(path))


def load_sparse(path: Path) -> Any:
    """Load the sparse matrix of an .npz file of scipy."""
    # numpy would leave a damaged file open if it opened the file itself
    with path.open("rb") as file:
        _check_sizes(path, sum(_checked_size(file, name) for name in archive_headers(file)))
        return check_rows(sp.load_npz(file))


def load_member(path: Path, name: str) -> np.ndarray:
    """Load one array of an .npz file of numpy."""
    with path.open("rb") as file:
        _check_sizes(path, _checked_size(file, name))
        with np.load(file, allow_pickle=False) as archive:
            return archive[name]


def _check_sizes(path: Path, n_bytes: int) -> None:
    """Refuse arrays of an archive that are too large, for the archive or for the memory."""
    check_expansion(n_bytes, path.stat().st_size)
    check_room(n_bytes)


def archive_headers(file: BinaryIO) -> dict[str, tuple[tuple[int, ...], np.dtype]]:
    """Return shape and type of each array that an archive claims to hold, from the headers."""
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        headers = {name.removesuffix(".npy"): _header(archive, name)[:2] for name in names}
    file.seek(0)
    return headers


def _checked_size(file: BinaryIO, name: str) -> int:
    """Return the bytes of an array in an archive, if its header and the archive agree."""
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        member = f"{name}.npy"
        shape, dtype, start = _header(archive, member)
        claimed, held = math.prod(shape) * dtype.itemsize, archive.getinfo(member).file_size - start
    file.seek(0)
    if claimed != held:
        raise ValueError(f"{member} claims {claimed:,} bytes of data, but holds {held:,}")
    return held


def _header(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], np.dtype, int]:
    """Return shape, type and the start of the data of an array."""
    with archive.open(name) as member:
        version = np.lib.format.read_magic(member)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{name} has a header of an unknown version, {version}")
        header = np.lib.format.read_array_header_1_0
        if version == (2, 0):
            header = np.lib.format.read_array_header_2_0
        shape, _, dtype = header(member)
        return shape, dtype, member.tell()


# -- lines ----------------------------------------------------------------------------------------


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 text, which is decompressed if its name ends in .gz."""
    data = _decompressed(path) if path.suffix == ".gz" else path.read_bytes()
    text = data.decode("utf-8")
    # not splitlines, which also splits at characters that a name may hold
    return text.removesuffix("\n").replace("\r\n", "\n").removesuffix("\r").split("\n")


def _decompressed(path: Path) -> bytes:
    """Decompress in pieces: a few kilobytes may become more than fits into memory."""
    pieces, size = [], 0
    with path.open("rb") as raw, open_gzip(raw, path.stat().st_size) as file:
        while piece := file.read(1 << 24):
            size += len(piece)
            check_room(4.0 * size if size > 1 << 26 else 0)  # bytes, text and lines together
            pieces.append(piece)
    return b"".join(pieces)
