"""Writing a sharded folder: block after block of rows, from memory or from a stream.

A folder is written beside its place and moved there when it is complete. If anything fails, such as
a full disk, nothing is left and what was there stays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.outputs import temporary_folder
from coview.reading.number_file import NumberFile
from coview.reading.recipes import Recipe, write_recipe
from coview.shards.format import (
    MANIFEST,
    ROW_PARTS,
    LabelInfo,
    Manifest,
    ShardInfo,
    ViewInfo,
    file_entry,
    index_type,
    is_sharded_folder,
    manifest_bytes,
    shard_name,
)
from coview.shards.sharded import ShardedViews, open_shards
from coview.shards.storage import ArrayWriter, map_file, write_array
from coview.store import pack_texts, replace_folder, restore_folder
from coview.views.blocks import Ranges, cut_rows, group_blocks, row_ends
from coview.views.checks import check_ids
from coview.views.container import Views
from coview.views.labels import is_unlabeled
from coview.wording import argument

# the rows of some documents in every view, and which of the views they have
RowsOf = Callable[[int, int], tuple[Sequence[sp.csr_array], np.ndarray]]


def write_shards(
    views: Views, path: str | os.PathLike[str], *, overwrite: bool = False
) -> ShardedViews:
    """Write views as a sharded folder, from which models are fitted in little memory.

    Parameters
    ----------
    views : Views
        Views in memory. Tables that are larger than memory are converted in a stream:
        `coview.convert_table`.
    path : path
        The folder to write, usually with the suffix ``.shards``.
    overwrite : bool, default=False
        Replace an existing sharded folder. Any other folder is never replaced.

    Returns
    -------
    ShardedViews
        The folder, opened.

    Examples
    --------
    >>> import tempfile, coview
    >>> views = coview.Views({"en": [[1, 0, 2], [0, 3, 0]]}, ids=["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sharded = coview.write_shards(views, f"{folder}/small.shards")
    ...     sharded.to_views().equals(views)
    True
    """
    if not isinstance(views, Views):
        raise TypeError(
            f"write_shards takes Views, found {type(views).__name__}. Make views of the data "
            "first, or convert a table in a stream: coview.convert_table."
        )
    with new_folder(path, overwrite) as folder:
        _write_views(folder, views)
    return open_shards(path)


def _write_views(folder: Path, views: Views) -> None:
    matrices = list(views.matrices.values())
    blocks = cut_rows(row_ends(matrices))

    def rows(start: int, stop: int) -> tuple[list[sp.csr_array], np.ndarray]:
        return [matrix[start:stop] for matrix in matrices], views.present[start:stop]

    heads = [
        ViewHead(name, m.shape[1], m.dtype, views.features[name] is not None)
        for name, m in views.matrices.items()
    ]
    for v, names in enumerate(views.features.values()):
        if names is not None:
            write_texts(folder / f"v{v}.features.npy", folder / f"v{v}.ends.npy", names)
    if views.ids is not None:
        # rows drawn with replacement repeat their ids; such a folder could not be read again
        write_texts(folder / "ids.npy", folder / "ids.ends.npy", check_ids(views.ids))
    write_recipes(folder, views.names, views.recipes.values())
    labels = write_labels(folder, views.labels, views.label_names)
    finish_folder(folder, heads, blocks, rows, views.ids is not None, labels)


# -- the place -------------------------------------------------------------------------------------


@contextmanager
def new_folder(path: str | os.PathLike[str], overwrite: bool) -> Iterator[Path]:
    """Yield a folder to write to, which is moved to its place at the end, or removed."""
    target = Path(os.path.realpath(path))  # a link to a folder stays a link
    restore_folder(target)
    check_target(target, overwrite)
    with temporary_folder(target) as beside:
        new = beside / "new"
        new.mkdir()
        yield new
        replace_folder(new, target)


def check_target(target: Path, overwrite: bool) -> None:
    """Refuse a place where something is that must not be replaced."""
    if target.exists() and not target.is_dir():
        raise FileExistsError(f"{target} is a file; shards need a folder.")
    if not target.exists() or not any(target.iterdir()):
        return
    if not is_sharded_folder(target):  # never delete files that are not ours
        raise FileExistsError(
            f"{target} is not empty and no sharded folder. Choose another folder."
        )
    if not overwrite:
        raise FileExistsError(
            f"{target} is a sharded folder already. Choose another folder, or give "
            f"{argument('overwrite', True)}."
        )


# -- texts, labels, recipes ------------------------------------------------------------------------


def write_texts(texts_file: Path, ends_file: Path, texts: Iterable[str]) -> None:
    """Write texts as an array of UTF-8 bytes and one of the places where they end."""
    blob, ends = pack_texts(texts)
    write_array(texts_file, blob)
    write_array(ends_file, ends)


def write_labels(
    folder: Path, labels: np.ndarray | None, names: Sequence[str] | None
) -> LabelInfo | None:
    """Write labels as integers; texts become positions in their sorted names."""
    if labels is None:
        return None
    if labels.dtype.kind in "iu":
        write_array(folder / "labels.npy", labels.astype(np.int64))
        return LabelInfo(None if names is None else tuple(names), texts=False)
    missing = is_unlabeled(labels)
    known = sorted(set(labels[~missing].tolist()))
    number = {name: code for code, name in enumerate(known)}
    codes = [-1 if gone else number[label] for label, gone in zip(labels, missing, strict=True)]
    write_array(folder / "labels.npy", np.array(codes, dtype=np.int64))
    return LabelInfo(tuple(known), texts=True)


def write_recipes(folder: Path, names: Sequence[str], recipes: Iterable[Recipe | None]) -> None:
    """Write the recipes of those views that have one."""
    for v, (name, recipe) in enumerate(zip(names, recipes, strict=True)):
        if recipe is not None:
            write_recipe(folder, name, recipe, stem=f"v{v}")


# -- rows ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ViewHead:
    """What must be known of a view before its rows are written."""

    name: str
    n_terms: int
    dtype: Any
    features: bool


def finish_folder(
    folder: Path,
    heads: Sequence[ViewHead],
    blocks: Ranges,
    rows: RowsOf,
    ids: bool,
    labels: LabelInfo | None,
) -> None:
    """Write all rows, and the manifest of what is in the folder then.

    Parameters
    ----------
    folder : Path
        Holds the names, ids, labels and recipes already.
    heads : sequence of ViewHead
    blocks : list of (int, int)
        The documents of each block, as `cut_rows` finds them.
    rows : callable
        Called as ``rows(start, stop)`` for each block, in order.
    ids : bool
        Whether the documents have ids.
    labels : LabelInfo or None
    """
    facts = [_ViewFacts(np.zeros(head.n_terms)) for head in heads]
    shards = []
    for number, (first, last) in enumerate(group_blocks(len(blocks))):
        name = shard_name(number)
        (folder / name).mkdir()
        nonzeros = _write_shard(folder / name, heads, facts, blocks[first:last], rows)
        start, stop = blocks[first][0], blocks[last - 1][1]
        shards.append(ShardInfo(name, start, stop, tuple(blocks[first:last]), tuple(nonzeros)))
    for v, fact in enumerate(facts):
        write_array(folder / f"v{v}.counts.npy", fact.counts)
    manifest = Manifest(
        blocks[-1][1],
        tuple(fact.info(head) for fact, head in zip(facts, heads, strict=True)),
        tuple(shards),
        _entries(folder),
        ids,
        labels,
    )
    (folder / MANIFEST).write_bytes(manifest_bytes(manifest))


def ends_in_file(place: Path, lengths: Sequence[NumberFile]) -> np.ndarray:
    """Return how many entries all views have up to each document, as `cut_rows` takes them.

    `lengths` are those of the rows of each view; the result is mapped from the file `place`.
    """
    before = 0
    with place.open("wb") as file:
        for pieces in zip(*(view.pieces() for view in lengths), strict=True):
            ends = np.cumsum(sum(pieces)) + before
            ends.tofile(file)
            before = int(ends[-1])
    return map_file(place, np.int64)


def _write_shard(
    folder: Path,
    heads: Sequence[ViewHead],
    facts: Sequence[_ViewFacts],
    blocks: Ranges,
    rows: RowsOf,
) -> list[int]:
    """Write the files of one shard; return the non-zeros of each view."""
    writers = [_CsrWriter(folder, v, head) for v, head in enumerate(heads)]
    mask = ArrayWriter(folder / "present.npy", bool, len(heads))
    parts: list[_CsrWriter | ArrayWriter] = [*writers, mask]
    try:
        for start, stop in blocks:
            matrices, present = rows(start, stop)
            for v, (writer, matrix) in enumerate(zip(writers, matrices, strict=True)):
                writer.add(matrix)
                facts[v].add(matrix, present[:, v])
            mask.add(present)
        for part in parts:
            part.close()
    finally:
        for part in parts:
            part.abandon()
    return [writer.nonzeros for writer in writers]


class _CsrWriter:
    """The three arrays of a view's rows in one shard."""

    def __init__(self, folder: Path, number: int, head: ViewHead) -> None:
        index = index_type(head.n_terms)
        types = (np.int64, index, head.dtype)
        self._files = [
            ArrayWriter(folder / f"v{number}.{part}.npy", dtype)
            for part, dtype in zip(ROW_PARTS, types, strict=True)
        ]
        self.nonzeros = 0
        self._files[0].add(np.zeros(1, np.int64))

    def add(self, matrix: sp.csr_array) -> None:
        """Write some rows, canonical."""
        indptr, indices, data = self._files
        indptr.add(matrix.indptr[1:].astype(np.int64) + self.nonzeros)
        indices.add(matrix.indices)
        data.add(matrix.data)
        self.nonzeros += int(matrix.indptr[-1])

    def close(self) -> None:
        for file in self._files:
            file.close()

    def abandon(self) -> None:
        for file in self._files:
            file.abandon()


@dataclass
class _ViewFacts:
    """What is found out about a view while its rows are written."""

    counts: np.ndarray
    nonzeros: int = 0
    present: int = 0
    filled: int = 0
    whole: bool = True
    bounds: tuple[float, float] | None = field(default=None)

    def add(self, matrix: sp.csr_array, present: np.ndarray) -> None:
        """Take note of more rows."""
        self.nonzeros += matrix.nnz
        self.present += int(np.count_nonzero(present))
        self.filled += int(np.count_nonzero(np.diff(matrix.indptr)))
        if not matrix.nnz:
            return
        # one by one in the order of rows, as np.bincount sums a whole matrix: the same bits
        np.add.at(self.counts, matrix.indices, matrix.data.astype(np.float64))
        self.whole = self.whole and not (matrix.data != np.rint(matrix.data)).any()
        low, high = float(matrix.data.min()), float(matrix.data.max())
        before = self.bounds or (low, high)
        self.bounds = min(before[0], low), max(before[1], high)

    def info(self, head: ViewHead) -> ViewInfo:
        """Return what the manifest says of the view."""
        return ViewInfo(
            name=head.name,
            n_terms=head.n_terms,
            dtype=np.dtype(head.dtype).name,
            nonzeros=self.nonzeros,
            present=self.present,
            filled=self.filled,
            whole=self.whole,
            lowest=(self.bounds or (0.0, 0.0))[0],
            highest=(self.bounds or (0.0, 0.0))[1],
            features=head.features,
        )


def _entries(folder: Path) -> dict[str, dict[str, Any]]:
    """Return size and checksum of every file."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): file_entry(str(path)) for path in files}
