"""Files of arrays: written in a stream or at once, read whole or in part, never trusted.

Everything that touches a file of shards goes through here, by paths as texts. An array is an
``.npy`` file without pickle, with a header of a fixed size, so that arrays can be written before
their length is known and read in part.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from coview import store
from coview.outputs import explained, temporary_path
from coview.shards import remote

HEADER = 128  # bytes before the data of an array
_MAGIC = b"\x93NUMPY\x01\x00"
_PIECE = 1 << 22  # bytes that are hashed at a time


# -- places ----------------------------------------------------------------------------------------


def join(base: str | os.PathLike[str], *names: str) -> str:
    """Return the path of something within a folder."""
    if remote.is_url(base):
        return remote.join(str(base), *names)
    return os.path.join(os.fspath(base), *names)


def absolute(path: str | os.PathLike[str]) -> str:
    """Return a path that means the same in any folder."""
    if remote.is_url(path):
        return str(path).rstrip("/")
    return os.path.abspath(os.fspath(path))


def exists(path: str) -> bool:
    """Return whether there is a file or folder."""
    if remote.is_url(path):
        return remote.exists(path)
    return os.path.exists(path)


def size_of(path: str) -> int:
    """Return the bytes of a file."""
    if remote.is_url(path):
        return remote.size_of(path)
    return os.path.getsize(path)


def signature(path: str) -> tuple[Any, ...]:
    """Return what changes when a file does, as far as the system can tell."""
    if remote.is_url(path):
        return remote.signature(path)
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ino


def remove_tree(path: str) -> None:
    """Remove a folder and all that is in it, if it is there."""
    if remote.is_url(path):
        remote.remove_tree(path)
        return
    shutil.rmtree(path, ignore_errors=True)


def remove_file(path: str) -> None:
    """Remove a file, if it is there."""
    if remote.is_url(path):
        remote.remove_file(path)
        return
    with suppress(FileNotFoundError):
        os.unlink(path)


def make_folder(path: str) -> None:
    """Make a folder, whose parent exists; storage with URLs may have none."""
    if remote.is_url(path):
        remote.make_folder(path)
    else:
        os.mkdir(path)


@contextmanager
def local_copy(path: str) -> Iterator[str]:
    """Yield the path of a file for those who cannot read a URL; a copy goes away again."""
    if not remote.is_url(path):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, path.rpartition("/")[2])
        Path(copy).write_bytes(read_bytes(path))
        yield copy


@contextmanager
def local_folder(path: str, names: Iterable[str]) -> Iterator[Path]:
    """Yield a folder with some files of a folder: itself, or copies of files that have a URL."""
    if not remote.is_url(path):
        yield Path(path)
        return
    with remote.local_folder(path, names) as folder:
        yield Path(folder)


@contextmanager
def written_locally(path: str) -> Iterator[str]:
    """Yield where to write a file that is to be at `path`, a path or a URL, at the end."""
    if not remote.is_url(path):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, path.rpartition("/")[2])
        yield copy
        write_atomic(path, Path(copy).read_bytes())


@contextmanager
def open_binary(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, from any place in it."""
    with remote.open_binary(path) if remote.is_url(path) else open(path, "rb") as file:
        yield file


def read_bytes(path: str, most: int | None = None) -> bytes:
    """Return the bytes of a file; ValueError if it has more than `most`."""
    if most is not None and size_of(path) > most:
        raise ValueError(f"it has {size_of(path):,} bytes; expected at most {most:,}")
    with open_binary(path) as file:
        return file.read()


def write_atomic(path: str, *pieces: bytes | memoryview) -> None:
    """Write a file beside its place and move it there once it is complete.

    It is not flushed to the disk: a power cut may take it. What outlives a fit has checksums.
    """
    if remote.is_url(path):
        remote.write_atomic(path, b"".join(pieces))
        return
    target = Path(path)
    beside = temporary_path(target)
    with explained(target):
        try:
            with beside.open("xb") as file:
                file.writelines(pieces)
            os.replace(beside, target)
        except BaseException:
            with suppress(OSError):
                beside.unlink()
            raise


def write_array_atomic(path: str, array: np.ndarray) -> None:
    """Write an array to a file that appears only when it is complete."""
    array = np.ascontiguousarray(array)
    data = array.reshape(-1).view(np.uint8).data
    write_atomic(path, array_header(array.dtype, array.shape), data)


def flush(path: str) -> None:
    """Bring the bytes of a file to the disk; storage with URLs has them there already."""
    if not remote.is_url(path):
        store.flush(Path(path))


def copy_file(source: str, target: str) -> None:
    """Copy a file, from or to any storage."""
    if remote.is_url(source) or remote.is_url(target):
        write_atomic(target, read_bytes(source))
    else:
        shutil.copyfile(source, target)


def digest_of(path: str) -> str:
    """Return the SHA-256 of a file, in hex digits."""
    digest = hashlib.sha256()
    with open_binary(path) as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


# -- arrays ----------------------------------------------------------------------------------------


def array_header(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    """Return the header of an ``.npy`` file, always of the same size."""
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    room = HEADER - len(_MAGIC) - 2
    assert len(text) < room
    return _MAGIC + room.to_bytes(2, "little") + text.ljust(room - 1).encode() + b"\n"


class ArrayWriter:
    """An ``.npy`` file that grows: pieces are added, and the header is written at the end.

    Parameters
    ----------
    path : path
    dtype : dtype
    width : int, default=None
        Number of columns; None: an array of one dimension.
    """

    def __init__(self, path: str | os.PathLike[str], dtype: Any, width: int | None = None) -> None:
        self.path, self.dtype = os.fspath(path), np.dtype(dtype)
        self._tail = () if width is None else (width,)
        self.n_bytes = 0
        # an object on storage with URLs cannot grow: it is written when it is complete
        self._file: Any = io.BytesIO() if remote.is_url(path) else open(path, "wb")  # noqa: SIM115
        self._file.write(bytes(HEADER))

    def add(self, piece: np.ndarray) -> None:
        """Write more values."""
        data = np.ascontiguousarray(piece, dtype=self.dtype)
        self._file.write(data.reshape(-1).view(np.uint8).data)
        self.n_bytes += data.nbytes

    def close(self) -> None:
        """Write the header, and close the file."""
        rows = self.n_bytes // (self.dtype.itemsize * int(np.prod(self._tail, dtype=int)))
        try:
            self._file.seek(0)
            self._file.write(array_header(self.dtype, (rows, *self._tail)))
            if remote.is_url(self.path):
                write_atomic(self.path, self._file.getvalue())
        finally:
            self._file.close()

    def abandon(self) -> None:
        """Close the file as it is; nothing happens if it is closed already."""
        with suppress(OSError):  # a full disk: the first error is the one to tell
            self._file.close()


def write_array(path: str | os.PathLike[str], array: np.ndarray) -> None:
    """Write an array as `ArrayWriter` does."""
    with open(path, "wb") as file:
        file.write(array_header(array.dtype, array.shape))
        file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def read_array(
    path: str,
    dtype: Any,
    shape: tuple[int, ...],
    *,
    rows: tuple[int, int] | None = None,
    into: np.ndarray | None = None,
) -> np.ndarray:
    """Read an array that must have this type and shape, or some of its rows.

    Parameters
    ----------
    path : str
    dtype : dtype
    shape : tuple of int
        Of the whole array; nothing is allocated before the file is seen to have it.
    rows : (int, int), default=None
        Which rows to read: start and stop. None: all.
    into : array of uint8, default=None
        A buffer that is used again, if it is large enough.

    Returns
    -------
    array
        Over `into`, where it was given and is large enough.
    """
    dtype, tail = np.dtype(dtype), shape[1:]
    start, stop = (0, shape[0]) if rows is None else rows
    row_bytes = dtype.itemsize * int(np.prod(tail, dtype=int))
    with open_binary(path) as file:
        header = file.read(HEADER)
        if header != array_header(dtype, shape):
            raise ValueError(f"it does not begin as an array of {dtype} and the shape {shape}")
        held = file.seek(0, os.SEEK_END) - HEADER
        if held != shape[0] * row_bytes:
            raise ValueError(f"it holds {held:,} bytes of data; expected {shape[0] * row_bytes:,}")
        n_bytes = (stop - start) * row_bytes
        usable = into is not None and into.nbytes >= n_bytes
        buffer = into[:n_bytes] if usable and into is not None else np.empty(n_bytes, np.uint8)
        file.seek(HEADER + start * row_bytes)
        _fill(file, buffer)
    return buffer.view(dtype).reshape(stop - start, *tail)


def _fill(file: BinaryIO, buffer: np.ndarray) -> None:
    """Fill a buffer from a file; a read may return less than it was asked for."""
    left = memoryview(buffer)  # type: ignore[arg-type]
    while len(left):
        read = file.readinto(left)  # type: ignore[attr-defined]
        if not read:
            raise ValueError("it ends before its data do")
        left = left[read:]


def map_file(path: str | os.PathLike[str], dtype: Any) -> np.ndarray:
    """Map a raw file of numbers without a header, which stays on disk; empty ones too."""
    if not Path(path).stat().st_size:
        return np.empty(0, dtype)
    return np.memmap(path, dtype=dtype, mode="r")
