"""The rows of a DataFrame, of pandas, polars or pyarrow, as those of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from coview.data.frames import _ids, read_table
from coview.data.raw_rows import CountedColumns
from coview.data.recipes import is_missing
from coview.data.show import listing, place, quoted
from coview.data.tables import SAMPLE, STEP, Row, unknown_column


class FrameRows:
    """A DataFrame as a source of rows.

    Attributes
    ----------
    ids : list of str or None
        The index of a pandas frame, if it does more than count the rows.
    """

    place = staticmethod(place)
    name = "The frame"

    def __init__(self, frame: Any) -> None:
        self._frame = _eager(frame)
        self.ids = _ids(self._frame.to_native())

    def columns(self, sample: int | None = SAMPLE) -> list[str]:
        """Names of the columns."""
        return list(self._frame.columns)

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """Number (from 0) and cells of one row after the other."""
        chosen = [self._frame[name] for name in columns]
        for start in range(0, len(self._frame), STEP):
            cells = (column[start : start + STEP].to_list() for column in chosen)
            yield from enumerate(zip(*cells, strict=True), start)

    def counted(self, counts: Any) -> dict[str, CountedColumns]:
        """Views of columns that are counts already, by name."""
        chosen = count_columns(counts, self.columns())
        return {view: self._counted(view, columns) for view, columns in chosen.items()}

    def _counted(self, view: str, columns: list[str]) -> CountedColumns:
        frame = self._frame.select(columns)
        native = frame.to_native()
        named = hasattr(native, "to_numpy") and hasattr(native, "columns")
        matrix = read_table(native, view).matrix if named else frame.to_numpy()
        if not isinstance(matrix, np.ndarray) or matrix.dtype.kind not in ("f", "O"):
            return CountedColumns(matrix, columns)
        absent = np.asarray(_is_empty(matrix).all(axis=1))
        return CountedColumns(np.where(absent[:, np.newaxis], 0, matrix), columns, ~absent)


def _is_empty(matrix: np.ndarray) -> np.ndarray:
    if matrix.dtype.kind == "f":
        return np.isnan(matrix)
    return np.array([[is_missing(cell) for cell in row] for row in matrix])


def _eager(frame: Any) -> Any:
    import narwhals.stable.v1 as nw

    try:
        read = nw.from_native(frame)
    except TypeError as error:
        raise TypeError(
            "Expected a DataFrame of pandas or polars or a table of pyarrow, found "
            f"{type(frame).__name__}."
        ) from error
    return read.collect() if isinstance(read, nw.LazyFrame) else read


def count_columns(counts: Any, columns: Sequence[str]) -> dict[str, list[str]]:
    """Columns of numbers by view: from a list, or from a dict of lists or patterns.

    >>> count_columns({"rna": "g_*", "size": ["n"]}, ["g_a", "n", "g_b"])
    {'rna': ['g_a', 'g_b'], 'size': ['n']}
    """
    if counts is None:
        return {}
    if not isinstance(counts, Mapping):
        counts = {"counts": counts}
    return {view: _matching(view, names, columns) for view, names in counts.items()}


def _matching(view: str, names: Any, columns: Sequence[str]) -> list[str]:
    chosen: list[str] = []
    for name in [names] if isinstance(names, str) else list(names):
        found = [column for column in columns if column == name or fnmatchcase(column, name)]
        if not found:
            raise ValueError(unknown_column(name, columns, "The frame"))
        chosen.extend(found)
    if not chosen:
        raise ValueError(f"View {quoted(view)} has no columns; there are {listing(columns, 20)}.")
    return list(dict.fromkeys(chosen))
