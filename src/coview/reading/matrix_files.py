"""Matrices in files of common formats: Matrix Market, svmlight, numpy, scipy and MATLAB.

    .mtx, .mtx.gz                 Matrix Market
    .svmlight, .svm, .libsvm      index:value pairs, a label before them
    .npz                          scipy's sparse matrix, or an archive of numpy arrays
    .npy                          one dense array, left on disk until it is read
    .mat                          MATLAB up to version 7

Tables with names (CSV, TSV, Parquet) are read by `Views.from_table`.

Matrix Market files: matrices of real numbers, by coordinates or as arrays.

scipy's reader is faster, but some damaged files crash the interpreter in it. Here numpy splits the
lines, and everything else is checked.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import scipy.sparse as sp

from coview.params import check_int
from coview.reading.matlab import MatFile
from coview.reading.plain_files import (
    MOST_DEFLATED,
    archive_headers,
    check_room,
    check_rows,
    load_array,
    load_member,
    load_sparse,
    map_array,
    read_file,
    read_lines,
)
from coview.views.checks import check_known, check_view_names
from coview.views.matrix_checks import check_matrix
from coview.wording import quoted, show

Contents = tuple[Any, np.ndarray | None]
AnyPath = str | PathLike[str]


def read_matrix(
    path: AnyPath, *, variable: str | None = None, n_features: int | None = None
) -> Contents:
    """The matrix in a file, and the labels if it has some (svmlight).

    Parameters
    ----------
    path : path
        Its suffix says the format; see the head of this module.
    variable : str, default=None
        Which array of an .npz or .mat file; not needed if it holds one matrix only.
    n_features : int, default=None
        How many columns there must be. A file in svmlight format does not say: without this its
        last columns are lost if they are empty. Its columns count from 1, unless a 0 occurs among
        them; so a file that counts from 0 but has nothing in its first column is read shifted.

    Returns
    -------
    matrix : array or scipy.sparse matrix of shape (n_docs, n_terms)
        As it is in the file; `Views` checks its values.
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


def _reader(path: Path) -> Callable[..., Contents]:
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


# -- Matrix Market and svmlight -------------------------------------------------------------------


def _read_mtx(path: Path, variable: str | None, n_features: int | None) -> Contents:
    return read_matrix_market(path), None


def _read_svmlight(path: Path, variable: str | None, n_features: int | None) -> Contents:
    from sklearn.datasets import load_svmlight_file

    if not path.stat().st_size:
        raise ValueError("it is empty")
    matrix, labels = load_svmlight_file(str(path), n_features=n_features)
    return matrix, labels


# -- archives of arrays ---------------------------------------------------------------------------


def _read_npy(path: Path, variable: str | None, n_features: int | None) -> Contents:
    return map_array(path), None


def _read_npz(path: Path, variable: str | None, n_features: int | None) -> Contents:
    with path.open("rb") as file:
        headers = archive_headers(file)
    if {"format", "shape", "data"} <= headers.keys() and variable is None:
        return load_sparse(path), None
    kinds = {name: (shape, dtype.kind) for name, (shape, dtype) in headers.items()}
    return load_member(path, _choose(kinds, variable)), None


def _choose(kinds: Mapping[str, tuple[tuple[int, ...], str]], variable: str | None) -> str:
    """The variable asked for, or the only one that is a matrix of numbers."""
    matrices = {n: shape for n, (shape, kind) in kinds.items() if _is_matrix(shape, kind)}
    if variable is None and len(matrices) == 1:
        return next(iter(matrices))
    if variable is not None and variable in kinds:
        return variable
    found = [f"{show(n)} {' x '.join(map(str, shape))}" for n, (shape, _) in kinds.items()]
    wanted = "no matrix of numbers" if variable is None else f"no variable {quoted(variable)}"
    if variable is None and matrices:
        wanted = "several matrices, choose one with variable="
    raise ValueError(f"it has {wanted}; it holds {', '.join(found[:20]) or 'nothing'}")


def _is_matrix(shape: tuple[int, ...], kind: str) -> bool:
    """Rows and columns of numbers; MATLAB keeps vectors as matrices of one row or column."""
    return len(shape) == 2 and min(shape) > 1 and kind in "biuf"


def _read_mat(path: Path, variable: str | None, n_features: int | None) -> Contents:
    with path.open("rb") as file:
        mat = MatFile(file, path.stat().st_size)
        found = mat.variables
        kinds = {name: (v.shape, "f" if v.is_numeric else "O") for name, v in found.items()}
        return mat.read_matrix(_choose(kinds, variable)), None


_READERS: dict[str, Callable[..., Contents]] = {
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


def file_parts(
    files: Mapping[str, AnyPath], ids: Any, labels: Any, features: Any, variable: Any
) -> dict[str, Any]:
    """Keyword arguments of `Views` from a file for each view; see `Views.from_files`."""
    if not isinstance(files, Mapping):
        raise TypeError(f"files must be a dict {{view: path}}; got {show(repr(files))}.")
    check_view_names(files)
    names = _lists(features, files)
    read = {
        view: _read_view(Path(path), view, _of(variable, view, files), names.get(view))
        for view, path in files.items()
    }
    known = {view: found for view, (_, found) in read.items() if found is not None}
    own = {"labels": read_labels(labels)} if labels is not None else _own_labels(known, files)
    return {
        "data": {view: matrix for view, (matrix, _) in read.items()},
        "ids": _lines(ids),
        "features": names,
        **own,
    }


def _read_view(path: Path, view: str, variable: str | None, names: Any) -> Contents:
    is_svmlight = _reader(path) is _read_svmlight
    width = len(names) if is_svmlight and names is not None else None
    matrix, labels = read_matrix(path, variable=variable, n_features=width)
    try:
        return check_matrix(matrix, view), labels
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error


def _of(variable: Any, view: str, files: Mapping[str, AnyPath]) -> str | None:
    if isinstance(variable, Mapping):
        check_known(variable, files, "`variable`")
        return variable.get(view)
    return variable


def _lists(features: Any, files: Mapping[str, AnyPath]) -> dict[str, list[Any]]:
    if features is None:
        return {}
    if not isinstance(features, Mapping):
        raise TypeError("features must be a dict {view: path or list of names}.")
    check_known(features, files, "`features`")
    return {view: _lines(names) for view, names in features.items() if names is not None}


def _lines(names: Any) -> Any:
    """A list, or the lines of the text file it stands in."""
    if names is None:
        return None
    return read_file(Path(names), read_lines) if isinstance(names, str | PathLike) else list(names)


def read_labels(labels: Any) -> Any:
    """Labels as given, or from an .npy file or a text with one a line (an empty one: none).

    Lines that are all whole numbers are integers, -1 for unlabeled; otherwise they are texts.
    """
    if not isinstance(labels, str | PathLike):
        return labels
    path = Path(labels)
    if path.suffix == ".npy":
        return read_file(path, load_array)
    lines = [line.strip() for line in _lines(path)]
    try:
        return np.array([int(line) if line else -1 for line in lines])
    except ValueError:
        return np.array([line or None for line in lines], dtype=object)


def _own_labels(known: Mapping[str, np.ndarray], files: Mapping[str, AnyPath]) -> dict[str, Any]:
    """Labels that stand in the files themselves; every different number is a class."""
    if not known:
        return {}
    (first, labels), *others = known.items()
    for view, other in others:
        if not np.array_equal(labels, other):
            raise ValueError(
                f"{files[first]} and {files[view]} give different labels, so their rows may be "
                "of different documents. Bring them into one order, or give labels=."
            )
    classes, codes = np.unique(labels, return_inverse=True)
    # one value for all is a placeholder, and fractions are no classes
    if len(classes) == 1 or (classes != np.floor(classes)).any():
        return {}
    return {"labels": codes, "label_names": [f"{value:.0f}" for value in classes]}


# -- matrix market ---------------------------------------------------------------------------------


MOST_LINE = 1 << 14  # characters; a line is a few numbers, or a comment
VALUES = {"real": "f8", "double": "f8", "integer": "i8", "unsigned-integer": "u8", "pattern": ""}


class Claims(NamedTuple):
    """What the head of a file says about the rest."""

    by_coordinates: bool
    value: str  # type of the numbers, "" for a pattern of ones
    symmetric: bool
    shape: tuple[int, int]
    entries: int


def read_matrix_market(path: Path) -> Any:
    """The matrix: sparse if its entries have coordinates, an array otherwise.

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
    # any bytes are letters in this encoding; only comments may hold others than ASCII
    with (gzip.open if packed else open)(path, "rt", encoding="latin-1") as file:
        lines = _market_lines(file)
        claims = _claims(lines)
        _check_size(claims, path.stat().st_size * (MOST_DEFLATED if packed else 1))
        table = _table(lines, claims)
    return _sparse(table, claims) if claims.by_coordinates else _dense(table, claims)


def _market_lines(file: TextIO) -> Iterator[str]:
    """Lines with something in them, none of them longer than it can be."""
    while line := file.readline(MOST_LINE):
        if len(line) == MOST_LINE:
            raise ValueError(f"it has a line of more than {MOST_LINE:,} characters")
        if not line.isspace():
            yield line


# -- the head -------------------------------------------------------------------------------------


def _claims(lines: Iterator[str]) -> Claims:
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
    return Claims(by_coordinates, VALUES[field], symmetry != "general", (rows, columns), entries)


def _check_size(claims: Claims, held: int) -> None:
    """Refuse a head that claims more than can be there, or than there is room for."""
    shortest = 4 if claims.by_coordinates else 2  # "1 1\n" and "0\n"
    if claims.entries * shortest > held:
        raise ValueError(f"its header claims {claims.entries:,} entries, more than it can hold")
    check_room(60.0 * claims.entries + 8.0 * sum(claims.shape))


# -- the numbers ----------------------------------------------------------------------------------


def _table(lines: Iterator[str], claims: Claims) -> np.ndarray:
    """A record for each entry: row, column and value, where there are these."""
    fields = [("row", "i8"), ("column", "i8")] if claims.by_coordinates else []
    if claims.value:
        fields.append(("value", claims.value))
    # one line more than there should be, which is then found
    wanted = islice((line for line in lines if not line.startswith("%")), claims.entries + 1)
    first = next(wanted, None)
    if first is None:
        table = np.empty(0, dtype=fields)
    else:
        table = np.loadtxt(_chain(first, wanted), dtype=fields, comments=None, ndmin=1)
    if len(table) != claims.entries:
        found = "more" if len(table) > claims.entries else f"{len(table):,}"
        raise ValueError(f"its header claims {claims.entries:,} entries, but it has {found}")
    return table


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _sparse(table: np.ndarray, claims: Claims) -> sp.coo_array:
    rows, columns = table["row"] - 1, table["column"] - 1
    values = table["value"] if claims.value else np.ones(len(table))
    for index, size, what in zip((rows, columns), claims.shape, ("row", "column"), strict=True):
        outside = (index < 0) | (index >= size)
        if outside.any():
            entry = int(np.argmax(outside))
            raise ValueError(f"entry {entry + 1:,} is in {what} {index[entry] + 1:,} of {size:,}")
    if claims.symmetric:
        below = rows != columns  # each entry but those of the diagonal stands for two
        ends = np.append(rows, columns[below]), np.append(columns, rows[below])
        rows, columns, values = *ends, np.append(values, values[below])
    return sp.coo_array((values, (rows, columns)), shape=claims.shape)


def _dense(table: np.ndarray, claims: Claims) -> np.ndarray:
    return table["value"].reshape(claims.shape, order="F")
