"""Files in svmlight's format to shards in a stream.

A file is parsed a piece at a time, and its entries go to raw files, as long as it is not known how
many columns there are and whether these count from 0 or 1. Then the rows are read back in order.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reading.matrix_files import own_labels, read_labels, read_names
from coview.reading.number_file import NumberFile
from coview.reading.plain_files import read_file
from coview.shards.format import LabelInfo
from coview.shards.sharded import ShardedViews, open_shards
from coview.shards.writing import (
    ViewHead,
    ends_in_file,
    finish_folder,
    new_folder,
    write_labels,
    write_texts,
)
from coview.views.blocks import cut_rows
from coview.views.checks import check_aligned, check_ids, check_size, check_view_names
from coview.views.density import DENSE
from coview.views.labels import check_labels
from coview.views.matrix_checks import check_matrix
from coview.wording import quoted

SUFFIXES = (".svmlight", ".svm", ".libsvm")
PIECE = 1 << 24  # bytes of a file that are parsed at a time
MOST_COLUMNS = 2**31 - 1  # as long as it is not known how many there are


def is_svmlight(path: str | os.PathLike[str]) -> bool:
    """Return whether the name of a file says that it is in svmlight's format."""
    return os.fspath(path).lower().endswith(SUFFIXES)


def convert_svmlight(
    files: Mapping[str, str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    *,
    ids: Any = None,
    labels: Any = None,
    memory: Any = "1GB",
    overwrite: bool = False,
) -> ShardedViews:
    """Write a sharded folder from files in svmlight's format, which may be larger than memory.

    The result is what ``write_shards(Views.from_files(files, ...), folder)`` would write, to the
    bit. Only the labels, and ids if there are some, are in memory.

    Parameters
    ----------
    files : dict view -> path
        Files as of `Views.from_files`.
    folder : path
    ids, labels
        As of `Views.from_files`.
    memory : str or number, default="1GB"
        With which the folder is opened; the conversion takes less.
    overwrite : bool, default=False
        Replace an existing sharded folder.

    Returns
    -------
    ShardedViews
    """
    names = check_view_names(files)
    paths = {name: Path(files[name]) for name in names}
    with new_folder(folder, overwrite) as new:
        spill = new.parent / "spill"
        views = [
            _SvmlightView(path, name, spill / f"view-{v}")
            for v, (name, path) in enumerate(paths.items())
        ]
        n_docs = check_aligned({view.name: len(view.lengths) for view in views})
        if ids is not None:
            row_names = check_ids(read_names(ids))
            check_size(row_names, n_docs, "ids")
            write_texts(new / "ids.npy", new / "ids.ends.npy", row_names)
        info = _write_labels(new, views, files, labels, n_docs)
        blocks = cut_rows(ends_in_file(spill / "ends", [view.lengths for view in views]))
        taken = [view.rows() for view in views]

        def rows(start: int, stop: int) -> tuple[list[sp.csr_array], np.ndarray]:
            matrices = [view.send(stop - start) for view in taken]
            filled = [np.diff(matrix.indptr) > 0 for matrix in matrices]
            return matrices, np.column_stack(filled)

        for view in taken:
            next(view)
        finish_folder(new, [view.head for view in views], blocks, rows, ids is not None, info)
        for view in taken:
            view.close()
    return open_shards(folder, memory=memory)


def _write_labels(
    folder: Path, views: Sequence[_SvmlightView], files: Mapping[str, Any], labels: Any, n_docs: int
) -> LabelInfo | None:
    """Write the labels that were given, or those in the files themselves."""
    if labels is None:
        found = own_labels({view.name: view.labels for view in views}, files)
    else:
        found = {"labels": read_labels(labels)}
    if not found:
        return None
    names = found.get("label_names")
    checked = check_labels(found["labels"], n_docs, None if names is None else len(names))
    return write_labels(folder, checked, names)


class _SvmlightView:
    """One file, parsed."""

    def __init__(self, path: Path, name: str, spill: Path) -> None:
        self.name, self._path, self._spill = name, path, spill
        spill.mkdir(parents=True)
        self.lengths = NumberFile(spill / "lengths")
        self._columns, self._values = spill / "columns", spill / "values"
        self._first, self._last = 2**62, -1
        self._nonzeros = self._filled = 0
        self._lowest, self._whole = 0.0, True
        labels = []
        with self._columns.open("wb") as columns, self._values.open("wb") as values:
            for matrix, found in _pieces(path):
                self._add(matrix, columns, values)
                labels.append(found)
        if self._last < 0:
            raise ValueError(
                f"Cannot read {path}: it has no entries, so that nothing tells how many columns "
                "there are."
            )
        self.labels = np.concatenate(labels)
        self._shift = 1 if self._first > 0 else 0  # columns count from 1, unless there is a 0
        self.head = ViewHead(name, self._last + 1 - self._shift, np.float64, features=False)
        self._check_negatives()

    def _add(self, matrix: sp.csr_matrix, columns: Any, values: Any) -> None:
        start = len(self.lengths)
        if matrix.nnz:
            self._first = min(self._first, int(matrix.indices.min()))
            self._last = max(self._last, int(matrix.indices.max()))
        try:
            checked = check_matrix(matrix, self.name, negatives="always")
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self._path}, in the rows from {start:,} on: {error}") from error
        lengths = np.diff(checked.indptr)
        self.lengths.extend(lengths)
        checked.indices.astype(np.int64).tofile(columns)
        checked.data.tofile(values)
        self._nonzeros += checked.nnz
        self._filled += int(np.count_nonzero(lengths))
        self._lowest = min(self._lowest, float(checked.data.min(initial=0.0)))
        self._whole = self._whole and not (checked.data != np.rint(checked.data)).any()

    def _check_negatives(self) -> None:
        dense = self._nonzeros > DENSE * self._filled * self.head.n_terms
        if self._lowest < 0 and (self._whole or not dense):
            raise ValueError(
                f"{self._path}: Negative values in data passed to view {quoted(self.name)}: "
                f"{self._lowest:g}. Only dense measurements may be negative (more than half of the "
                "cells not zero, not all whole numbers)."
            )

    def rows(self) -> Any:
        """Return a generator that is sent a number of rows and yields the next rows."""
        return self._rows()

    def _rows(self) -> Any:
        index = np.int32 if self.head.n_terms <= np.iinfo(np.int32).max else np.int64
        matrix = None
        with (
            (self._spill / "lengths").open("rb") as lengths,
            self._columns.open("rb") as columns,
            self._values.open("rb") as values,
        ):
            while True:
                n_rows = yield matrix
                sizes = np.fromfile(lengths, np.int64, n_rows)
                total = int(sizes.sum())
                indices = (np.fromfile(columns, np.int64, total) - self._shift).astype(index)
                indptr = np.append(0, np.cumsum(sizes)).astype(index)
                data = np.fromfile(values, np.float64, total)
                matrix = sp.csr_array((data, indices, indptr), (n_rows, self.head.n_terms))


def _pieces(path: Path) -> Iterator[tuple[sp.csr_matrix, np.ndarray]]:
    """Yield rows and labels of a file, some bytes at a time; columns are as in the file."""
    size = read_file(path, _size)
    for offset in range(0, size, PIECE):
        matrix, labels = read_file(path, partial(_piece, offset=offset))
        if matrix.shape[0]:
            yield matrix, labels


def _size(path: Path) -> int:
    size = path.stat().st_size
    if not size:
        raise ValueError("it is empty")
    return size


def _piece(path: Path, offset: int) -> tuple[sp.csr_matrix, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(
        str(path), offset=offset, length=PIECE, zero_based=True, n_features=MOST_COLUMNS
    )
