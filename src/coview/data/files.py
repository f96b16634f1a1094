"""Matrices in files of common formats: Matrix Market, svmlight, numpy, scipy and MATLAB.

    .mtx, .mtx.gz                 Matrix Market
    .svmlight, .svm, .libsvm      index:value pairs, a label before them
    .npz                          scipy's sparse matrix, or an archive of numpy arrays
    .npy                          one dense array, left on disk until it is read
    .mat                          MATLAB up to version 7

Tables with names (CSV, TSV, Parquet) are read by `Views.from_table`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.data.matlab import MatFile
from coview.data.matrices import check_matrix
from coview.data.matrix_market import read_matrix_market
from coview.data.readers import (
    archive_headers,
    check_rows,
    load_array,
    load_member,
    load_sparse,
    map_array,
    read_file,
    read_lines,
)
from coview.data.show import quoted, show
from coview.data.validate import check_known, check_view_names
from coview.params import check_int

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
        kinds = {name: (v.shape, "f" if v.is_numbers else "O") for name, v in found.items()}
        return mat.read(found[_choose(kinds, variable)]), None


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

    Lines that are all whole numbers are integers, -1 for unlabelled; otherwise they are texts.
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
