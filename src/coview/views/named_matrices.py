"""Matrices with names from what a user gives: dicts, lists, arrays, sparse matrices, DataFrames.

Texts are counted as `Views.from_texts` counts them by default: columns of texts or of lists of
tokens in a dict, one list of texts, and a DataFrame that has columns of prose only.

A DataFrame of pandas or polars brings names of columns and perhaps ids. Neither library is
imported: narwhals, if it is installed, reads them all in the same way; without it, the members
`columns` and `to_numpy`, which both libraries have, are enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coview.views.checks import check_names, check_view_names
from coview.wording import listing, plural, quoted


class NamedMatrix(NamedTuple):
    """A matrix with the names of its rows and columns, as far as it brings some.

    Texts that were counted also tell which documents have one, and how to count others.
    """

    matrix: Any
    features: np.ndarray | None = None
    ids: list[str] | None = None
    present: np.ndarray | None = None
    recipe: Any = None


def read_named_matrices(data: Any, names: Sequence[str] | None = None) -> dict[str, NamedMatrix]:
    """Return matrices by view, from a dict, from several matrices, or from one."""
    if isinstance(data, Mapping) and not sp.issparse(data):  # a dok_matrix of scipy is a dict
        if names is not None:
            raise TypeError("`names` is for matrices without names; a dict has its own.")
        check_view_names(data)
        return {name: read_named_matrix(matrix, name) for name, matrix in data.items()}
    if names is None and (texts := _prose_columns(data)):
        ids = index_ids(data)
        return {n: read_named_matrix(text, n)._replace(ids=ids) for n, text in texts.items()}
    several = _is_several(data)
    matrices = list(data) if several else [data]
    if names is None:
        names = [f"view_{v}" for v in range(len(matrices))] if several else ["X"]
    names = check_view_names([names] if isinstance(names, str) else names)
    if len(names) != len(matrices):
        raise ValueError(
            f"Expected {plural(len(matrices), 'name')}, one for each view, found {len(names)}: "
            f"{listing(names)}."
        )
    return {name: read_named_matrix(X, name) for name, X in zip(names, matrices, strict=True)}


def _is_several(data: Any) -> bool:
    """Return whether this is a list of matrices, not a list of rows."""
    return isinstance(data, list | tuple) and any(len(getattr(X, "shape", ())) == 2 for X in data)


def is_texts(X: Any) -> bool:
    """Return whether these are texts, or lists of tokens, one for each document.

    >>> is_texts(["a text", None]), is_texts([["a", "b"], []]), is_texts([["1", "2"], ["3", "4"]])
    (True, True, False)
    """
    from coview.reading.recipes import is_raw_column

    if not is_raw_column(X):
        return isinstance(X, list) and bool(X) and all(item is None for item in X)
    kinds = {type(item) for item in X if item is not None}
    if any(issubclass(kind, PurePath) for kind in kinds):
        return False
    return not kinds <= {list, tuple} or not all(_is_number(t) for item in X for t in item or ())


def _is_number(token: Any) -> bool:
    try:
        float(token)
    except (TypeError, ValueError):
        return False
    return True


def _prose_columns(data: Any) -> dict[str, Any]:
    """Return the texts of a list of texts, or of a frame in which every column is prose."""
    from coview.reading.recipes import is_frame

    if is_frame(data) and hasattr(data, "to_numpy"):
        from coview.reading.tables import FrameRows, text_columns

        kinds = [str(getattr(data[name], "dtype", "")).lower() for name in data.columns]
        if not kinds or not all(kind.startswith(("object", "str", "utf8")) for kind in kinds):
            return {}
        frame = FrameRows(data)
        columns = frame.columns()
        if text_columns(frame) != columns:
            return {}
        cells = zip(*(row for _, row in frame.rows(columns)), strict=True)
        return {name: list(column) for name, column in zip(columns, cells, strict=True)}
    texts = is_texts(data) and any(isinstance(item, str) for item in data)
    return {"text": data} if texts else {}


def read_named_matrix(X: Any, view: str) -> NamedMatrix:
    """Return a matrix of any kind with its names, which only DataFrames and texts bring."""
    if is_texts(X):
        from coview.reading.columns import read_column
        from coview.reading.text_options import TextOptions

        counted = read_column(view, X, TextOptions())
        return NamedMatrix(counted.matrix, counted.features, None, counted.present, counted.recipe)
    # in this order: reading the columns of a polars LazyFrame gives a warning
    if not (hasattr(X, "to_numpy") and hasattr(X, "columns")):
        return NamedMatrix(X)
    features = _features(list(X.columns), view)
    if features is None and hasattr(X, "set_axis"):
        # numbers that are not names may repeat, which narwhals refuses, and it takes them as rows
        X = X.set_axis([str(column) for column in range(X.shape[1])], axis=1)
    sparse = getattr(X, "sparse", None)  # pandas has it if all columns are sparse
    matrix = sparse.to_coo() if sparse is not None else matrix_of(_reader(X), view)
    return NamedMatrix(matrix, features, index_ids(X))


def matrix_of(reader: Any, view: str) -> np.ndarray:
    """Return the values of a frame that narwhals reads, or of a frame itself."""
    _refuse_times(reader, view)
    values = reader.to_numpy()
    if values.dtype.kind == "f":
        _check_exact(reader, view)
    return values


def _reader(frame: Any) -> Any:
    try:
        import narwhals.stable.v1 as nw
    except ImportError:
        return frame
    return nw.from_native(frame, eager_only=True)


def _refuse_times(reader: Any, view: str) -> None:
    """Refuse dates and times, which polars makes numbers of where they stand beside numbers."""
    for name in reader.columns:
        kind = str(reader[name].dtype)
        if kind.lower().startswith(("date", "time", "duration", "period")):
            raise ValueError(
                f"Column {quoted(name)} of view {quoted(view)} must hold numbers, found dates or "
                f"times ({kind}). Leave it out, or make counts of it."
            )


def _check_exact(reader: Any, view: str) -> None:
    """Refuse integers that another column turned into floats, if they are too large for that."""
    for name in reader.columns:
        column = reader[name]
        if str(column.dtype).lower().startswith(("int64", "uint64")) and (column >= 2**53).any():
            raise ValueError(
                f"Column {quoted(name)} of view {quoted(view)} holds integers of 2**53 or more, "
                "which a float cannot keep exactly. Divide the counts, or convert the column to "
                "float if rounding is acceptable."
            )


def _features(columns: list[Any], view: str) -> np.ndarray | None:
    """Return texts as names, None for numbers (the default of pandas); refuse a mixture."""
    texts = [name for name in columns if isinstance(name, str)]
    if not texts:
        return None
    if len(texts) < len(columns):
        others = [name for name in columns if not isinstance(name, str)]
        raise TypeError(
            f"The columns of view {quoted(view)} must all be texts or all be numbers, found "
            f"both: {listing(texts, 2)} and {listing(others, 2)}. Rename them, for example with "
            "frame.columns = frame.columns.astype(str)."
        )
    return check_names(texts, f"the columns of view {quoted(view)}")


def index_ids(frame: Any) -> list[str] | None:
    """Return the index of a pandas frame as text, or None if it only numbers the rows."""
    index = getattr(frame, "index", None)
    if index is None or callable(index):
        return None
    values = np.asarray(index)
    if values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values))):
        return None
    return [str(value) for value in index]
