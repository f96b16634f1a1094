"""Mixtures of all documents in files, a file for each shard, generation after generation.

Every step writes the new mixtures to new files, and the old ones stay until nothing refers to them
any longer, as arrays in memory would. So a step that fails, or a fit that is killed, leaves the
mixtures before it whole. A file holds the rows of its documents, (documents, slots * padded
topics): all mixtures of a document side by side.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from coview.outputs import explained
from coview.shards import storage
from coview.store import DamagedFile

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Layout:
    """The shape of mixtures: which documents each file has, slots, padded topics and precision."""

    shards: Ranges
    n_slots: int
    width: int
    dtype: np.dtype

    @property
    def n_docs(self) -> int:
        """The number of documents."""
        return self.shards[-1][1]

    def shape(self, shard: int) -> tuple[int, int]:
        """Return the shape of the array in the file of a shard."""
        start, stop = self.shards[shard]
        return stop - start, self.n_slots * self.width

    @property
    def n_bytes(self) -> int:
        """The bytes of all files together."""
        return self.n_docs * self.n_slots * self.width * self.dtype.itemsize


def mixture_file(folder: str, shard: int) -> str:
    """Return the file of a shard's mixtures in the folder of a generation."""
    return storage.join(folder, f"{shard:05d}.npy")


def read_mixtures(
    path: str, layout: Layout, shard: int, rows: tuple[int, int] | None = None
) -> tuple[np.ndarray, ...]:
    """Return the mixtures of a shard's documents, or of some rows of them, for each slot."""
    found = storage.read_array(path, layout.dtype, layout.shape(shard), rows=rows)
    return by_slot(found, layout)


def by_slot(rows: np.ndarray, layout: Layout) -> tuple[np.ndarray, ...]:
    """Return the mixtures of each slot, contiguous, from rows with all slots side by side."""
    apart = rows.reshape(len(rows), layout.n_slots, layout.width)
    return tuple(np.ascontiguousarray(apart[:, slot]) for slot in range(layout.n_slots))


def side_by_side(thetas: Sequence[np.ndarray]) -> np.ndarray:
    """Return rows with the mixtures of all slots side by side, as a file has them."""
    return np.hstack(thetas) if len(thetas) > 1 else thetas[0]


class Generation:
    """The mixtures of one moment of a fit; its files are removed together with it."""

    def __init__(self, folder: str, layout: Layout):
        self.folder, self.layout = folder, layout
        self._digests: list[str] | None = None
        self._remove = weakref.finalize(self, storage.remove_tree, folder)

    def path(self, shard: int) -> str:
        """Return the file of a shard."""
        return mixture_file(self.folder, shard)

    def thetas(self) -> tuple[Any, ...]:
        """Return the mixtures of each slot, as a problem has them."""
        return tuple(FiledMixtures(self, slot) for slot in range(self.layout.n_slots))

    def read(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        """Return the mixtures of the documents start to stop, for each slot."""
        parts = []
        for shard, (low, high) in enumerate(self.layout.shards):
            first, last = max(start, low), min(stop, high)
            if first < last:
                rows = first - low, last - low
                parts.append(read_mixtures(self.path(shard), self.layout, shard, rows))
        if len(parts) == 1:
            return parts[0]
        return tuple(np.concatenate(slot) for slot in zip(*parts, strict=True))

    @property
    def digests(self) -> list[str]:
        """The SHA-256 of each file."""
        if self._digests is None:
            files = map(self.path, range(len(self.layout.shards)))
            self._digests = [storage.digest_of(file) for file in files]
        return self._digests

    def link_to(self, folder: Path) -> None:
        """Put the same files into a new folder, where they stay whatever becomes of this one."""
        folder.mkdir(parents=True)
        for shard in range(len(self.layout.shards)):
            storage.flush(self.path(shard))  # a state will name it
            _link(self.path(shard), mixture_file(str(folder), shard))


def _link(source: str, target: str) -> None:
    """Put a file to another place: as a link where there are such, else as a copy."""
    with suppress(OSError):
        os.link(source, target)
        return
    storage.copy_file(source, target)


@dataclass(frozen=True)
class FiledMixtures:
    """The mixtures of one slot: rows are read from files when they are asked for.

    It stands where a problem has an array of shape (documents, padded topics).
    """

    generation: Generation
    slot: int

    @property
    def shape(self) -> tuple[int, int]:
        """(documents, padded topics)."""
        return self.generation.layout.n_docs, self.generation.layout.width

    @property
    def dtype(self) -> np.dtype:
        """The precision."""
        return self.generation.layout.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, docs: slice) -> np.ndarray:
        start, stop, _ = docs.indices(len(self))
        return self.generation.read(start, stop)[self.slot]


@dataclass(frozen=True)
class UniformMixtures:
    """Where mixtures begin that no start has: uniform, but one-hot for documents with a label.

    It stands where a problem has an array of shape (documents, padded topics).
    """

    n_docs: int
    n_topics: int
    width: int
    dtype: np.dtype
    labels: np.ndarray | None = None  # (documents,), -1 is none

    @property
    def shape(self) -> tuple[int, int]:
        """(documents, padded topics)."""
        return self.n_docs, self.width

    def __len__(self) -> int:
        return self.n_docs

    def __getitem__(self, docs: slice) -> np.ndarray:
        start, stop, _ = docs.indices(self.n_docs)
        rows = np.zeros((stop - start, self.width), self.dtype)
        rows[:, : self.n_topics] = 1 / self.n_topics
        if self.labels is not None:
            here = self.labels[start:stop]
            known = np.flatnonzero(here >= 0)
            rows[known] = 0
            rows[known, here[known]] = 1
        return rows

    def copy(self) -> UniformMixtures:
        """Return the same: nothing can be written to it."""
        return self


def rows_of(thetas: Sequence[Any], docs: slice) -> tuple[np.ndarray, ...]:
    """Return the mixtures of some documents, for each slot; files are read once for all slots."""
    first = thetas[0]
    if isinstance(first, FiledMixtures):
        return first.generation.read(docs.start, docs.stop)
    return tuple(theta[docs] for theta in thetas)


class GenerationWriter:
    """Write the mixtures of a new generation, consecutive documents after each other."""

    def __init__(self, folder: str, layout: Layout):
        self._generation, self._layout = Generation(folder, layout), layout
        self._shard, self._at = 0, 0  # the next document goes there
        self._file: storage.ArrayWriter | None = None
        with explained(Path(folder)):
            storage.make_folder(folder)

    def add(self, thetas: Sequence[np.ndarray]) -> None:
        """Write the mixtures of the next documents, for each slot."""
        rows, width = side_by_side(thetas), self._layout.n_slots * self._layout.width
        with explained(Path(self._generation.folder)):
            while len(rows):
                stop = self._layout.shards[self._shard][1]
                if self._file is None:
                    path = self._generation.path(self._shard)
                    self._file = storage.ArrayWriter(path, self._layout.dtype, width)
                here = rows[: stop - self._at]
                self._file.add(here)
                self._at, rows = self._at + len(here), rows[len(here) :]
                if self._at == stop:
                    self._file.close()
                    self._file, self._shard = None, self._shard + 1

    def close(self) -> None:
        """Close the file that is being written; it is removed unless the generation is complete."""
        if self._file is not None:
            self._file.abandon()

    def finish(self) -> tuple[Any, ...]:
        """Return the mixtures, all of which are written by now."""
        assert self._shard == len(self._layout.shards), "documents are missing"
        return self._generation.thetas()


class MixtureStore:
    """The folder in which a fit keeps its generations."""

    def __init__(self, folder: str | os.PathLike[str], shards: Ranges):
        self.folder, self.shards = os.fspath(folder), shards
        self._numbers = count()

    def layout(self, thetas: Sequence[Any]) -> Layout:
        """Return the layout of mixtures like these, one for each slot."""
        return Layout(self.shards, len(thetas), thetas[0].shape[1], np.dtype(thetas[0].dtype))

    def new_folder(self) -> str:
        """Return a place for another generation, or another file of the fit."""
        return storage.join(self.folder, f"g{next(self._numbers):06d}")

    def writer(self, thetas: Sequence[Any]) -> GenerationWriter:
        """Return a writer of mixtures like these."""
        return GenerationWriter(self.new_folder(), self.layout(thetas))

    def write(self, thetas: Sequence[np.ndarray]) -> tuple[Any, ...]:
        """Write mixtures that are in memory."""
        writer = self.writer(thetas)
        try:
            writer.add(thetas)
        finally:
            writer.close()
        return writer.finish()

    def adopt(self, folder: Path, thetas: Sequence[Any], digests: Sequence[str]) -> tuple[Any, ...]:
        """Return mixtures that `Generation.link_to` has put somewhere, if they are as they were."""
        layout, new = self.layout(thetas), self.new_folder()
        storage.make_folder(new)
        generation = Generation(new, layout)
        for shard, digest in enumerate(digests):
            source = mixture_file(str(folder), shard)
            if not storage.exists(source) or storage.digest_of(source) != digest:
                raise DamagedFile(f"{source} is missing, or not as it was written.")
            _link(source, generation.path(shard))
        if len(digests) != len(layout.shards):
            raise DamagedFile(f"{folder} has not a file for each of {len(layout.shards)} shards.")
        return generation.thetas()


def pieces(theta: Any) -> Iterator[np.ndarray]:
    """Yield the rows of mixtures, those in files shard by shard."""
    if isinstance(theta, FiledMixtures):
        for start, stop in theta.generation.layout.shards:
            yield theta[start:stop]
    else:
        yield theta
