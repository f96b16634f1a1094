"""`ShardedViews`: views in a sharded folder, read shard by shard.

Every file is checked when a process reads it for the first time: that it is as it was written
(SHA-256), and that kernels, which check no bounds, can work on it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.loaded import check_array
from coview.memory import check_memory, memory_bytes
from coview.params import check_int
from coview.reading.recipes import Recipe, read_recipe
from coview.shards import storage
from coview.shards.checks import check_mask, check_rows_of_view, checksum
from coview.shards.format import MANIFEST, ROW_PARTS, Manifest, ShardInfo, ViewInfo, read_manifest
from coview.shards.repr import describe
from coview.shards.sealed import Buffers, SealedFiles
from coview.views.blocks import cut_rows
from coview.views.checks import check_ids, check_names, frozen
from coview.views.container import Views
from coview.views.contents import assemble
from coview.views.named_matrices import read_named_matrices
from coview.wording import quoted


@dataclass(frozen=True)
class ShardData:
    """The documents of one shard, or of some of its blocks.

    Attributes
    ----------
    start, stop : int
        Which documents of all.
    matrices : tuple of csr_array
        The rows of each view.
    present : bool array of shape (documents, views)
    """

    start: int
    stop: int
    matrices: tuple[sp.csr_array, ...]
    present: np.ndarray

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return self.stop - self.start


def open_shards(path: str | os.PathLike[str], *, memory: Any = "1GB") -> ShardedViews:
    """Open a sharded folder, to fit models to data that are larger than memory.

    Parameters
    ----------
    path : path
        What `write_shards` or ``coview convert --shards`` wrote.
    memory : str or number, default="1GB"
        How much memory a fit may take: "512MB", "2GiB" or a number of bytes.

    Returns
    -------
    ShardedViews

    Raises
    ------
    DamagedFile
        If the manifest is not as it was written. Other files are checked when they are read.

    Examples
    --------
    >>> import tempfile, coview
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = coview.write_shards(coview.Views({"en": [[1, 0, 2]]}), f"{folder}/small.shards")
    ...     coview.open_shards(f"{folder}/small.shards", memory="512MB")
    ShardedViews: 1 document, 1 view, in 1 shard
      en  3 terms  2 non-zeros (66.7 %)  all documents
      labels: no; ids: no; feature names: no
    """
    return ShardedViews(path, memory=memory)


class ShardedViews:
    """Views in files: what a model is fitted to when its data do not fit into memory.

    It is made by `open_shards`. Names of views, sizes and places are known from the manifest; names
    of terms, ids and labels are read when they are asked for, rows by `read`.

    Parameters
    ----------
    path : path
    memory : str or number, default="1GB"
        How much memory a fit may take.

    Attributes
    ----------
    path : str
    memory : int
        In bytes.
    manifest : Manifest
    files : SealedFiles
        Its files, checked against the manifest.
    """

    def __init__(self, path: str | os.PathLike[str], *, memory: Any = "1GB") -> None:
        self.memory = memory_bytes("memory", memory)
        # absolute: workers may be in another folder
        self.path = storage.absolute(path)
        self.manifest: Manifest = read_manifest(self.path)
        self.files = SealedFiles(self.path, self.manifest.files)
        # checksums of rows that kernels can work on, by file and place
        self._sound: dict[tuple[str, tuple[int, int]], int] = {}

    @property
    def manifest_file(self) -> str:
        """The file that says what is in the folder."""
        return storage.join(self.path, MANIFEST)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self.memory)

    # -- what is in it --

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views."""
        return self.manifest.names

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return self.manifest.n_docs

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.manifest.views)

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of terms of each view."""
        return tuple(view.n_terms for view in self.manifest.views)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_docs, number of terms of all views together)."""
        return self.n_docs, sum(self.widths)

    @property
    def nonzeros(self) -> int:
        """Number of entries of all views."""
        return sum(view.nonzeros for view in self.manifest.views)

    @property
    def views(self) -> dict[str, ViewInfo]:
        """What the manifest says of each view."""
        return {view.name: view for view in self.manifest.views}

    @property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """The documents of each block, from start to stop."""
        return self.manifest.blocks

    @property
    def shards(self) -> tuple[ShardInfo, ...]:
        """What the manifest says of each shard."""
        return self.manifest.shards

    def __len__(self) -> int:
        return self.n_docs

    def __repr__(self) -> str:
        return describe(self)

    # -- names, ids, labels, recipes --

    @cached_property
    def features(self) -> dict[str, np.ndarray | None]:
        """Names of the terms of each view, or None where there are none."""
        return {view.name: self._names_of_terms(v) for v, view in enumerate(self.manifest.views)}

    def _names_of_terms(self, number: int) -> np.ndarray | None:
        view = self.manifest.views[number]
        if not view.features:
            return None
        what = f"features of view {quoted(view.name)}"
        files = f"v{number}.features.npy", f"v{number}.ends.npy"
        with self.files.understood(files[0]):
            return check_names(self.files.texts(*files, view.n_terms), what)

    @cached_property
    def ids(self) -> np.ndarray | None:
        """Names of the documents, or None."""
        if not self.manifest.ids:
            return None
        with self.files.understood("ids.npy"):
            return check_ids(self._ids_of(None))

    def _ids_of(self, rows: tuple[int, int] | None) -> list[str]:
        return self.files.texts("ids.npy", "ids.ends.npy", self.n_docs, rows)

    @property
    def label_names(self) -> list[str] | None:
        """Names of the classes that integer labels stand for, or None."""
        labels = self.manifest.labels
        return None if labels is None or labels.texts or labels.names is None else [*labels.names]

    @cached_property
    def labels(self) -> np.ndarray | None:
        """Class labels, or None. -1 (for texts: None) is unlabeled."""
        return None if self.manifest.labels is None else frozen(self._labels_of(None))

    def _labels_of(self, rows: tuple[int, int] | None) -> np.ndarray:
        info = self.manifest.labels
        assert info is not None
        codes = self.files.array("labels.npy", np.int64, (self.n_docs,), rows)
        with self.files.understood("labels.npy"):
            below = None if info.names is None else len(info.names)
            check_array(codes, "labels", kinds="i", low=-1, below=below)
        if not info.texts:
            return codes
        return np.array([*(info.names or ()), None], dtype=object)[codes]

    @cached_property
    def recipes(self) -> dict[str, Recipe | None]:
        """How raw documents become the counts of each view; None for views made from matrices."""
        own = [name for name in self.manifest.files if name.startswith("recipe_")]
        for name in own:
            self.files.verify(name)
        with storage.local_folder(self.path, own) as folder:
            return {
                name: read_recipe(folder, name, self.features[name], stem=f"v{v}")
                if f"recipe_v{v}.json" in own
                else None
                for v, name in enumerate(self.names)
            }

    def term_counts(self) -> dict[str, np.ndarray]:
        """Return how much each term occurs, in double precision, by view."""
        counts = {}
        for v, view in enumerate(self.manifest.views):
            with self.files.understood(f"v{v}.counts.npy"):
                array = self.files.array(f"v{v}.counts.npy", np.float64, (view.n_terms,))
                counts[view.name] = check_array(
                    array, "counts", low=min(view.lowest, 0) * len(self)
                )
        return counts

    # -- rows --

    def read(
        self,
        shard: int | ShardInfo,
        *,
        blocks: tuple[int, int] | None = None,
        into: Buffers | None = None,
    ) -> ShardData:
        """Return the rows of one shard, or of some of its blocks.

        Parameters
        ----------
        shard : int or ShardInfo
        blocks : (int, int), default=None
            Which blocks of the shard: start and stop, from 0. None: all.
        into : dict, default=None
            Buffers that are used again: give the same dict, empty at first, to every call; what
            the last call returned is then overwritten.

        Returns
        -------
        ShardData
        """
        info = shard if isinstance(shard, ShardInfo) else self.shards[shard]
        chosen = info.blocks if blocks is None else info.blocks[slice(*blocks)]
        start, stop = chosen[0][0], chosen[-1][1]
        rows = start - info.start, stop - info.start
        name, shape = f"{info.name}/present.npy", (info.n_docs, self.n_views)
        mask = self.files.array(name, bool, shape, rows, into)
        with self.files.understood(name):
            check_mask(mask)
        matrices = [self._rows(info, v, rows, mask[:, v], into) for v in range(self.n_views)]
        return ShardData(start, stop, tuple(matrices), mask)

    def _rows(
        self,
        shard: ShardInfo,
        number: int,
        rows: tuple[int, int],
        present: np.ndarray,
        into: Buffers | None,
    ) -> sp.csr_array:
        """Return rows of one view of a shard."""
        view, nonzeros = self.manifest.views[number], shard.nonzeros[number]
        names = [f"{shard.name}/v{number}.{part}.npy" for part in ROW_PARTS]
        place = names[0], rows
        seen = place in self._sound and all(map(self.files.is_verified, names))
        wide = (rows[0], rows[1] + 1)
        indptr = self.files.array(names[0], np.int64, (shard.n_docs + 1,), wide, into)
        with self.files.understood(names[0]):
            check_array(indptr, "places of rows", kinds="i", low=0, below=nonzeros + 1)
        part = int(indptr[0]), max(int(indptr[0]), int(indptr[-1]))
        indices = self.files.array(names[1], view.index_dtype, (nonzeros,), part, into)
        data = self.files.array(names[2], np.dtype(view.dtype), (nonzeros,), part, into)
        found = checksum(indptr, indices, data, present)
        with self.files.understood(names[1]):
            if not seen:
                whole = rows == (0, shard.n_docs)
                check_rows_of_view(view, indptr, indices, data, present, nonzeros, whole)
                self._sound[place] = found
            elif self._sound[place] != found:  # the disk, or the memory of its cache, has failed
                raise ValueError("its rows are not those that were read before")
        # scipy wants columns and places of one type
        short = view.index_dtype if len(data) <= np.iinfo(np.int32).max else np.int64
        places: np.ndarray = (indptr - part[0]).astype(short)
        columns: np.ndarray = indices.astype(short, copy=False)
        matrix = sp.csr_array((rows[1] - rows[0], view.n_terms), dtype=data.dtype)
        # set, not given: scipy would copy what is a small part of a buffer
        matrix.data, matrix.indices, matrix.indptr = data, columns, places
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix

    def parts(
        self, into: Buffers | None = None, chosen: np.ndarray | None = None
    ) -> Iterator[ShardData]:
        """Yield the rows of every block, in order; only of blocks that have `chosen` documents."""
        for shard in self.shards:
            for number, block in enumerate(shard.blocks):
                if chosen is None or np.diff(np.searchsorted(chosen, block))[0]:
                    yield self.read(shard, blocks=(number, number + 1), into=into)

    # -- in memory --

    def sample(self, n_docs: int, rng: np.random.Generator) -> Views:
        """Return some documents in memory, drawn at random from all, in order.

        Parameters
        ----------
        n_docs : int
            All documents are returned if there are no more.
        rng : Generator

        Returns
        -------
        Views
        """
        if check_int("n_docs", n_docs, 1) >= self.n_docs:
            return self.to_views()
        chosen = rng.choice(self.n_docs, size=n_docs, replace=False, shuffle=False)
        return self._views(np.sort(chosen))

    def take(self, rows: np.ndarray) -> Views:
        """Return some documents in memory, by their numbers, which must rise."""
        return self._views(rows)

    def to_views(self) -> Views:
        """Return all documents in memory."""
        needed = sum(v.nonzeros * (np.dtype(v.dtype).itemsize + 4) for v in self.manifest.views)
        check_memory(2 * needed, f"Reading {self.n_docs:,} documents of {self.path} at once")
        return self._views(None)

    def _views(self, chosen: np.ndarray | None) -> Views:
        """Return the chosen documents, sorted; None: all."""
        pieces: list[tuple[sp.csr_array, ...]] = []
        masks, ids, labels = [], [], []
        for part in self.parts(chosen=chosen):
            here: Any = slice(None)
            if chosen is not None:
                here = chosen[slice(*np.searchsorted(chosen, (part.start, part.stop)))] - part.start
            pieces.append(tuple(matrix[here] for matrix in part.matrices))
            masks.append(part.present[here])
            rows = part.start, part.stop
            ids += [np.array(self._ids_of(rows), dtype=object)[here]] if self.manifest.ids else []
            labels += [self._labels_of(rows)[here]] if self.manifest.labels else []
        data = {
            name: sp.csr_array(sp.vstack([piece[v] for piece in pieces], format="csr"))
            for v, name in enumerate(self.names)
        }
        real = [view.name for view in self.manifest.views if view.lowest < 0]
        row_names: Any = np.concatenate(ids) if ids else {}
        contents = assemble(read_named_matrices(data), row_names, self.features, real)
        contents = contents.with_present(np.concatenate(masks)).with_recipes(self.recipes)
        if labels:
            contents = contents.with_labels(np.concatenate(labels), self.label_names)
        return Views._from_contents(contents)

    def check(self) -> None:
        """Read everything once, and refuse whatever is not as it was written."""
        for name in self.manifest.files:
            self.files.verify(name)
        into: Buffers = {}
        ends = [np.zeros(0, np.int64)]
        for part in self.parts(into):
            lengths = sum(np.diff(matrix.indptr).astype(np.int64) for matrix in part.matrices)
            ends.append(lengths)
        with self.files.understood(MANIFEST):
            if tuple(cut_rows(np.cumsum(np.concatenate(ends)))) != self.blocks:
                raise ValueError("its blocks are not where the data say")
        _ = self.features, self.ids, self.labels, self.recipes
        self.term_counts()


def _reopen(path: str, memory: int) -> ShardedViews:
    return ShardedViews(path, memory=memory)
