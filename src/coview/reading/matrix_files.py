"""Matrices from files of common formats: Matrix Market, svmlight, numpy, scipy and MATLAB.

    .mtx, .mtx.gz                 Matrix Market: real numbers, by coordinates or as arrays
    .svmlight, .svm, .libsvm      a label and index:value pairs on each line
    .npz                          scipy's sparse matrix, or an archive of numpy arrays
    .npy                          one dense array, left on disk until it is read
    .mat                          MATLAB up to version 7; see `coview.reading.matlab`

Tables with names (CSV, TSV, Parquet) are read by `Views.from_table`. scipy's reader of Matrix
Market files is faster, but some damaged files crash the interpreter in it. Here numpy splits the
lines, and everything else is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from io import TextIOWrapper
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import scipy.sparse as sp

from coview.params import check_int
from coview.reading.matlab import MatFile
from coview.reading.plain_files import (
    archive_headers,
    check_room,
    check_rows,
    load_array,
    load_member,
    load_sparse,
    map_array,
    most_inflated,
    open_gzip,
    read_file,
    read_lines,
)
from coview.views.checks import check_known, check_view_names
from coview.views.matrix_checks import check_matrix
from coview.wording import argument, printable, quoted

MatrixAndLabels = tuple[Any, np.ndarray | None]
AnyPath = str | PathLike[str]


def read_matrix(
    path: AnyPath, *, variable: str | None = None, n_features: int | None = None
) -> MatrixAndLabels:
    """Read the matrix in a file, and its labels if it has some (svmlight).

    Parameters
    ----------
    path : path
        Its suffix says the format; see the docstring of this module.
    variable : str, default=None
        Which array of an .npz or .mat file; not needed if it holds one matrix only.
    n_features : int, default=None
        The number of columns. The svmlight format does not store it: without it, empty columns at
        the end are lost. Columns of that format count from 1, unless a 0 occurs among them; so a
        file that counts from 0 but has an empty first column is read shifted by one.

    Returns
    -------
    matrix : array or scipy.sparse matrix of shape (n_docs, n_terms)
        As in the file; `Views` checks its values.
    labels : ndarray of float of shape (n_docs,) or None

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "counts.svm")
    ...     _ = path.write_text("1 1:2 3:1\\n0 2:5\\n")
    ...     matrix, labels = read_matrix(path, n_features=4)
    >>> matrix.toarray().tolist(), labels.tolist()
    ([[2.0, 0.0, 1.0, 0.0], [0.0, 5.0, 0.0, 0.0]], [1.0, 0.0])
    """
    path = Path(path)
    reader = _reader(path)
    if n_features is not None:
        check_int("n_features", n_features, 1)
    matrix, labels = read_file(path, lambda p: reader(p, variable, n_features))
    if sp.issparse(matrix):
        read_file(path, lambda p: check_rows(matrix))
    if n_features is not None and matrix.shape[1] != n_features:
        raise ValueError(f"{path} has {matrix.shape[1]:,} columns; expected {n_features:,}.")
    return matrix, labels


def _reader(path: Path) -> Callable[..., MatrixAndLabels]:
    name = path.name.lower()
    for suffix, reader in _READERS.items():
        if name.endswith(suffix):
            return reader
    if name.removesuffix(".gz").endswith((".csv", ".tsv", ".jsonl", ".parquet")):
        raise ValueError(
            f"{path} is a table: read it with Views.from_table(...), or with pandas or polars and "
            "Views.from_dataframe(...)."
        )
    raise ValueError(
        f"{path} has a suffix that says no format we read: {', '.join(_READERS)}. Rename it, or "
        "read it yourself and give the matrix to Views."
    )


# -- text formats ---------------------------------------------------------------------------------


def _read_mtx(path: Path, variable: str | None, n_features: int | None) -> MatrixAndLabels:
    return read_matrix_market(path), None


def _read_svmlight(path: Path, variable: str | None, n_features: int | None) -> MatrixAndLabels:
    from sklearn.datasets import load_svmlight_file

    if not path.stat().st_size:
        raise ValueError("it is empty")
    matrix, labels = load_svmlight_file(str(path), n_features=n_features)
    if n_features is None and not len(matrix.indices):
        raise ValueError("it has no entries, so that nothing tells how many columns there are")
    return matrix, labels


# -- numpy, scipy and MATLAB ----------------------------------------------------------------------


def _read_npy(path: Path, variable: str | None, n_features: int | None) -> MatrixAndLabels:
    return map_array(path), None


def _read_npz(path: Path, variable: str | None, n_features: int | None) -> MatrixAndLabels:
    with path.open("rb") as file:
        headers = archive_headers(file)
    if {"format", "shape", "data"} <= headers.keys() and variable is None:
        return load_sparse(path), None
    kinds = {name: (shape, dtype.kind) for name, (shape, dtype) in headers.items()}
    return load_member(path, _choose_matrix(kinds, variable)), None


def _choose_matrix(kinds: Mapping[str, tuple[tuple[int, ...], str]], variable: str | None) -> str:
    """Return the name of the variable to read: the given one, or the only matrix of numbers."""
    matrices = {n: shape for n, (shape, kind) in kinds.items() if _is_matrix(shape, kind)}
    if variable is None and len(matrices) == 1:
        return next(iter(matrices))
    if variable is not None and variable in kinds:
        return variable
    found = [f"{printable(n)} {' x '.join(map(str, shape))}" for n, (shape, _) in kinds.items()]
    wanted = "no matrix of numbers" if variable is None else f"no variable {quoted(variable)}"
    if variable is None and matrices:
        wanted = "several matrices, choose one with variable="
    raise ValueError(f"it has {wanted}; it holds {', '.join(found[:20]) or 'nothing'}")


def _is_matrix(shape: tuple[int, ...], kind: str) -> bool:
    """Return whether it is a matrix of numbers, and not a vector stored as a matrix."""
    return len(shape) == 2 and min(shape) > 1 and kind in "biuf"


def _read_mat(path: Path, variable: str | None, n_features: int | None) -> MatrixAndLabels:
    with path.open("rb") as file:
        mat = MatFile(file, path.stat().st_size)
        heads = {name: variable.head for name, variable in mat.variables.items()}
        kinds = {n: (head.shape, "f" if head.is_numeric else "O") for n, head in heads.items()}
        return mat.read_matrix(_choose_matrix(kinds, variable)), None


_READERS: dict[str, Callable[..., MatrixAndLabels]] = {
    ".mtx": _read_mtx,
    ".mtx.gz": _read_mtx,
    ".svmlight": _read_svmlight,
    ".svm": _read_svmlight,
    ".libsvm": _read_svmlight,
    ".npz": _read_npz,
    ".npy": _read_npy,
    ".mat": _read_mat,
}


# -- views ----------------------------------------------------------------------------------------


def read_matrix_files(
    files: Mapping[str, AnyPath], ids: Any, labels: Any, features: Any, variable: Any
) -> dict[str, Any]:
    """Read a file for each view as keyword arguments of `Views`; see `Views.from_files`."""
    if not isinstance(files, Mapping):
        raise TypeError(f"files must be a dict {{view: path}}; got {printable(repr(files))}.")
    check_view_names(files)
    names = _feature_names(features, files)
    read = {
        view: _read_view(Path(path), view, _variable_of(variable, view, files), names.get(view))
        for view, path in files.items()
    }
    known = {view: found for view, (_, found) in read.items() if found is not None}
    own = {"labels": read_labels(labels)} if labels is not None else own_labels(known, files)
    return {
        "data": {view: matrix for view, (matrix, _) in read.items()},
        "ids": read_names(ids),
        "features": names,
        **own,
    }


def _read_view(path: Path, view: str, variable: str | None, names: Any) -> MatrixAndLabels:
    is_svmlight = _reader(path) is _read_svmlight
    width = len(names) if is_svmlight and names is not None else None
    matrix, labels = read_matrix(path, variable=variable, n_features=width)
    try:
        return check_matrix(matrix, view), labels
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error


def _variable_of(variable: Any, view: str, files: Mapping[str, AnyPath]) -> str | None:
    if isinstance(variable, Mapping):
        check_known(variable, files, "`variable`")
        return variable.get(view)
    return variable


def _feature_names(features: Any, files: Mapping[str, AnyPath]) -> dict[str, list[Any]]:
    if features is None:
        return {}
    if not isinstance(features, Mapping):
        raise TypeError("features must be a dict {view: path or list of names}.")
    check_known(features, files, "`features`")
    return {view: read_names(names) for view, names in features.items() if names is not None}


def read_names(names: Any) -> Any:
    """Return a list of names, or the lines of the text file that holds them."""
    if names is None:
        return None
    return read_file(Path(names), read_lines) if isinstance(names, str | PathLike) else list(names)


def read_labels(labels: Any) -> Any:
    """Return labels as given, or from an .npy file or a text file with one label per line.

    If all lines are integers, so are the labels, with -1 for unlabeled; otherwise they are texts.
    An empty line is unlabeled.
    """
    if not isinstance(labels, str | PathLike):
        return labels
    path = Path(labels)
    if path.suffix == ".npy":
        return read_file(path, load_array)
    lines = [line.strip() for line in read_names(path)]
    try:
        return np.array([int(line) if line else -1 for line in lines])
    except ValueError:
        return np.array([line or None for line in lines], dtype=object)


def own_labels(known: Mapping[str, np.ndarray], files: Mapping[str, AnyPath]) -> dict[str, Any]:
    """Return the labels in the files themselves; every different number is a class."""
    if not known:
        return {}
    (first, labels), *others = known.items()
    for view, other in others:
        if not np.array_equal(labels, other):
            raise ValueError(
                f"{files[first]} and {files[view]} give different labels, so their rows may be "
                "of different documents. Bring them into one order, or give "
                f"{argument('labels')}."
            )
    classes, codes = np.unique(labels, return_inverse=True)
    # a single value is a placeholder, and fractions are not classes
    if len(classes) == 1 or (classes != np.floor(classes)).any():
        return {}
    return {"labels": codes, "label_names": [f"{value:.0f}" for value in classes]}


# -- Matrix Market --------------------------------------------------------------------------------

MOST_LINE = 1 << 14  # characters; a line holds a few numbers or a comment
VALUES = {"real": "f8", "double": "f8", "integer": "i8", "unsigned-integer": "u8", "pattern": ""}


class MarketHeader(NamedTuple):
    """What the header of a Matrix Market file claims about the rest."""

    by_coordinates: bool
    value: str  # type of the numbers, "" for a pattern of ones
    symmetric: bool
    shape: tuple[int, int]
    entries: int


def read_matrix_market(path: Path) -> Any:
    """Read a Matrix Market file: a sparse matrix if entries have coordinates, else an array.

    Parameters
    ----------
    path : path
        Compressed if it ends in .gz.

    Raises
    ------
    ValueError
        If the file is damaged, or its matrix is complex, Hermitian or skew-symmetric.
    """
    packed = path.suffix == ".gz"
    # latin-1 decodes any byte; only comments may hold other characters than ASCII
    size = path.stat().st_size
    with (
        path.open("rb") as raw,
        TextIOWrapper(open_gzip(raw, size) if packed else raw, encoding="latin-1") as file,
    ):
        lines = _market_lines(file)
        header = _read_header(lines)
        _check_size(header, most_inflated(size) if packed else size)
        table = _read_entries(lines, header)
    return _sparse(table, header) if header.by_coordinates else _dense(table, header)


def _market_lines(file: TextIO) -> Iterator[str]:
    """Yield the lines that are not blank; refuse a line that is too long."""
    while line := file.readline(MOST_LINE):
        if len(line) == MOST_LINE:
            raise ValueError(f"it has a line of more than {MOST_LINE:,} characters")
        if not line.isspace():
            yield line


def _read_header(lines: Iterator[str]) -> MarketHeader:
    banner = next(lines, "").lower().split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("it does not begin like a Matrix Market file")
    layout, field, symmetry = banner[2:]
    if layout not in ("coordinate", "array") or field not in VALUES:
        raise ValueError(f"matrices of the kind {quoted(f'{layout} {field}')} are not read")
    if symmetry != "general" and (symmetry, layout) != ("symmetric", "coordinate"):
        raise ValueError(f"matrices of the kind {quoted(f'{layout} {symmetry}')} are not read")
    sizes = next((line.split() for line in lines if not line.startswith("%")), [])
    by_coordinates = layout == "coordinate"
    if len(sizes) != 2 + by_coordinates or not all(size.isdecimal() for size in sizes):
        raise ValueError(f"its size is given as {quoted(' '.join(sizes))}")
    rows, columns, *rest = (int(size) for size in sizes)
    entries = rest[0] if rest else rows * columns
    return MarketHeader(
        by_coordinates, VALUES[field], symmetry != "general", (rows, columns), entries
    )


def _check_size(header: MarketHeader, held: int) -> None:
    """Refuse a header that claims more than can be there, or than there is room for."""
    shortest = 4 if header.by_coordinates else 2  # "1 1\n" and "0\n"
    if header.entries * shortest > held:
        raise ValueError(f"its header claims {header.entries:,} entries, more than it can hold")
    check_room(60.0 * header.entries + 8.0 * sum(header.shape))


def _read_entries(lines: Iterator[str], header: MarketHeader) -> np.ndarray:
    """Return a record for each entry, with its row, column and value as far as it has them."""
    fields = [("row", "i8"), ("column", "i8")] if header.by_coordinates else []
    if header.value:
        fields.append(("value", header.value))
    # one line more than expected, so that extra lines are noticed
    wanted = islice((line for line in lines if not line.startswith("%")), header.entries + 1)
    first = next(wanted, None)
    if first is None:
        table = np.empty(0, dtype=fields)
    else:
        table = np.loadtxt(chain([first], wanted), dtype=fields, comments=None, ndmin=1)
    if len(table) != header.entries:
        found = "more" if len(table) > header.entries else f"{len(table):,}"
        raise ValueError(f"its header claims {header.entries:,} entries, but it has {found}")
    return table


def _sparse(table: np.ndarray, header: MarketHeader) -> sp.coo_array:
    rows, columns = table["row"] - 1, table["column"] - 1
    values = table["value"] if header.value else np.ones(len(table))
    for index, size, what in zip((rows, columns), header.shape, ("row", "column"), strict=True):
        outside = (index < 0) | (index >= size)
        if outside.any():
            entry = int(np.argmax(outside))
            raise ValueError(f"entry {entry + 1:,} is in {what} {index[entry] + 1:,} of {size:,}")
    if header.symmetric:
        below = rows != columns  # each entry off the diagonal stands for two
        ends = np.append(rows, columns[below]), np.append(columns, rows[below])
        rows, columns, values = *ends, np.append(values, values[below])
    return sp.coo_array((values, (rows, columns)), shape=header.shape)


def _dense(table: np.ndarray, header: MarketHeader) -> np.ndarray:
    return table["value"].reshape(header.shape, order="F")
