"""The files of a sharded folder, each checked against the manifest before it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from coview.shards import storage
from coview.store import DamagedFile, unpack_texts

Buffers = dict[str, np.ndarray]  # by the name of a file without its shard

_ADVICE = "Take the folder from a backup, or write it again with coview."
# Files that this process has found to be as they were written: {path: (checksum, signature)}.
_VERIFIED: dict[str, tuple[str, tuple[Any, ...]]] = {}


class SealedFiles:
    """The files that a manifest lists.

    Parameters
    ----------
    path : str
        The folder.
    entries : dict file -> {"bytes": size, "sha256": digest}
    """

    def __init__(self, path: str, entries: Mapping[str, Mapping[str, Any]]) -> None:
        self.path, self.entries = path, entries

    def array(
        self,
        name: str,
        dtype: Any,
        shape: tuple[int, ...],
        rows: tuple[int, int] | None = None,
        into: Buffers | None = None,
    ) -> np.ndarray:
        """Return an array, or some rows of it, if the file is as it was written."""
        self.verify(name)
        rows = (0, shape[0]) if rows is None else rows
        buffer = None if into is None else _buffer(into, name, dtype, shape, rows)
        with self.understood(name):
            return storage.read_array(self._place(name), dtype, shape, rows=rows, into=buffer)

    def texts(
        self, name: str, ends_file: str, n_texts: int, rows: tuple[int, int] | None = None
    ) -> list[str]:
        """Return texts, or those of some rows, if the files are as they were written."""
        start, stop = (0, n_texts) if rows is None else rows
        before = min(start, 1)  # where the text before these ends, they begin
        ends = self.array(ends_file, np.int64, (n_texts,), (start - before, stop))
        held = self.entries[name]["bytes"] - storage.HEADER
        first = int(ends[0]) if before else 0
        with self.understood(ends_file):
            if not 0 <= first <= int(ends[-1]) <= held:
                raise ValueError("its places are not those of texts")
        blob = self.array(name, np.uint8, (held,), (first, int(ends[-1])))
        with self.understood(ends_file):
            return unpack_texts(blob, ends[before:] - first)

    def check_sizes(self) -> None:
        """Refuse files that are missing or of another size; quick, since none is read."""
        for name in self.entries:
            self._check_size(name)

    def _check_size(self, name: str) -> None:
        path, expected = self._place(name), self.entries[name]["bytes"]
        if not storage.exists(path):
            raise DamagedFile(f"{path} is missing. {_ADVICE}")
        size = storage.size_of(path)
        if size != expected:
            raise DamagedFile(
                f"{path} is damaged: it has {size:,} bytes; its manifest says {expected:,}. "
                f"{_ADVICE}"
            )

    def verify(self, name: str) -> None:
        """Refuse a file that is not as it was written; once in a process, while it is the same."""
        if self.is_verified(name):
            return
        self._check_size(name)
        path, entry = self._place(name), self.entries[name]
        before = storage.signature(path)
        if storage.digest_of(path) != entry["sha256"]:
            raise DamagedFile(f"{path} is damaged: its checksum is wrong. {_ADVICE}")
        _VERIFIED[path] = entry["sha256"], before

    def is_verified(self, name: str) -> bool:
        """Return whether this process has found the file to be as it was written."""
        path = self._place(name)
        known = _VERIFIED.get(path)
        if known is None or not storage.exists(path):
            return False
        return known == (self.entries[name]["sha256"], storage.signature(path))

    @contextmanager
    def understood(self, name: str) -> Iterator[None]:
        """Turn what contents without sense raise into an error that names the file."""
        try:
            yield
        except DamagedFile:
            raise
        except (ValueError, TypeError, LookupError) as error:
            why = str(error).rstrip(".")
            raise DamagedFile(f"{self._place(name)} is damaged: {why}. {_ADVICE}") from error

    def _place(self, name: str) -> str:
        return storage.join(self.path, *name.split("/"))


def _buffer(
    into: Buffers, name: str, dtype: Any, shape: Sequence[int], rows: tuple[int, int]
) -> np.ndarray:
    """Return a buffer for the file of this name in any shard; it is kept in `into`."""
    key = name.rpartition("/")[2]
    width = int(np.prod(shape[1:], dtype=int))
    wanted = (rows[1] - rows[0]) * width * np.dtype(dtype).itemsize
    if key not in into or into[key].nbytes < wanted:
        into.pop(key, None)  # freed before the larger one is made
        into[key] = np.empty(wanted + wanted // 8, np.uint8)
    return into[key]
