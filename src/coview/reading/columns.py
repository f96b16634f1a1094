"""Rows with named columns become the parts of `Views`: one reader for each column that is used.

The rows of a DataFrame, of pandas, polars or pyarrow, as those of a file.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from coview.reading.recipes import is_missing
from coview.reading.tables import (
    SAMPLE,
    STEP,
    Row,
    RowSource,
    check_columns,
    text_columns,
    unknown_column,
)
from coview.reading.text import CountedView, TextOptions, TextView, TokensView
from coview.views.checks import check_aligned, check_ids, check_view_names
from coview.views.named_matrices import _ids, read_table
from coview.wording import listing, place, quoted, show

_WHOLE = re.compile("0|-?[1-9][0-9]*")


@dataclass(frozen=True)
class Roles:
    """Which columns are read as what; views by their names."""

    text: Mapping[str, str]
    tokens: Mapping[str, str]
    image: Mapping[str, str]
    id: str | None = None
    label: str | None = None

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        views = chain(self.text.values(), self.tokens.values(), self.image.values())
        return [*views, *(name for name in (self.id, self.label) if name is not None)]


def named_columns(columns: Any, what: str) -> dict[str, str]:
    """Columns by the name of the view: from one name, several, or a dict view -> column.

    >>> named_columns("en", "text"), named_columns({"english": "body"}, "text")
    ({'en': 'en'}, {'english': 'body'})
    """
    if columns is None:
        return {}
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, Mapping):
        columns = {name: name for name in columns}
    for name in columns.values():
        if not isinstance(name, str):
            raise TypeError(
                f"{what} must be a column's name, a list of names, or a dict view -> column; "
                f"found {show(repr(name))}."
            )
    return dict(columns)


class CountedColumns(NamedTuple):
    """A view that is counts already; `present` None: a document has it if its row is not empty."""

    matrix: Any
    features: list[str]
    present: np.ndarray | None = None


# -- columns that are no views --------------------------------------------------------------------


class Column(Protocol):
    """What reads the cells of a column, one after the other."""

    def add(self, cell: Any) -> None: ...


class Ids:
    """Names of the documents."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def add(self, cell: Any) -> None:
        """One more document."""
        if is_missing(cell):
            raise ValueError("the id is empty. Each document needs one; or leave id= out.")
        if isinstance(cell, float) and cell.is_integer():
            cell = int(cell)
        if isinstance(cell, bool) or not isinstance(cell, str | int | np.integer):
            raise TypeError(f"an id must be a text or an integer, found {show(repr(cell))}.")
        self.ids.append(str(cell))


class Labels:
    """Classes of the documents: integers as they are, texts as numbers of their sorted names.

    >>> labels = Labels()
    >>> for cell in ("b", "a", None, "b"):
    ...     labels.add(cell)
    >>> labels.finish()
    (array([ 1,  0, -1,  1]), ['a', 'b'])
    """

    def __init__(self) -> None:
        self._numbers: dict[str | int | None, int] = {None: 0}
        self._cells = array("q")

    def add(self, cell: Any) -> None:
        """One more document."""
        value = None if is_missing(cell) else _label(cell)
        self._cells.append(self._numbers.setdefault(value, len(self._numbers)))

    def finish(self) -> tuple[np.ndarray, list[str] | None]:
        """Labels of all documents, and the names of texts; -1 is unlabeled."""
        values = [value for value in self._numbers if value is not None]
        whole = all(isinstance(value, int) or _WHOLE.fullmatch(value) for value in values)
        names = None if whole else sorted({str(value) for value in values})
        number = {} if names is None else {name: code for code, name in enumerate(names)}
        codes = [-1] + [int(value) if whole else number[str(value)] for value in values]
        return np.array(codes, dtype=np.int64)[np.array(self._cells, dtype=np.int64)], names


def _label(cell: Any) -> str | int:
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, bool | np.bool_):
        return str(cell)
    if isinstance(cell, int | float | np.number) and float(cell).is_integer():
        return int(cell)
    raise TypeError(f"a label must be a text or an integer, found {show(repr(cell))}.")


class Paths:
    """Paths of files, which are relative to the folder of the table."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.paths: list[str | None] = []

    def add(self, cell: Any) -> None:
        """One more document."""
        if is_missing(cell):
            self.paths.append(None)
        elif isinstance(cell, str):
            self.paths.append(cell if self._folder is None else str(self._folder / cell))
        else:
            raise TypeError(f"the path of a picture must be a text, found {show(repr(cell))}.")


# -- all rows -------------------------------------------------------------------------------------


def read_rows(
    source: RowSource,
    roles: Roles,
    options: TextOptions,
    *,
    separator: str | None = None,
    folder: Path | None = None,
    image_options: Mapping[str, Any] | None = None,
    counted: Mapping[str, CountedColumns] | None = None,
) -> dict[str, Any]:
    """The keyword arguments of `Views` from one pass over the rows."""
    _check_roles(source, roles, counted or {})
    options.check(roles.text, roles.tokens)
    views = _views(roles, options, separator)
    pictures = {view: Paths(folder) for view in roles.image}
    ids, labels = Ids(), Labels()
    columns: list[Column] = [*views.values(), *pictures.values()]
    columns += [ids] * (roles.id is not None) + [labels] * (roles.label is not None)
    numbers = _read(source, roles.columns, columns)
    parts = merged({view: making.finish() for view, making in views.items()})
    for view, column in pictures.items():
        _add_images(parts, column.paths, view, image_options or {})
    _add_counted(parts, counted or {})
    if roles.id is not None:
        parts["ids"] = _unique(ids.ids, numbers, source, roles.id)
    if roles.label is not None:
        parts["labels"], parts["label_names"] = labels.finish()
    return parts


def _views(
    roles: Roles, options: TextOptions, separator: str | None
) -> dict[str, TextView | TokensView]:
    views: dict[str, TextView | TokensView] = {
        view: TextView(view, column, options) for view, column in roles.text.items()
    }
    for view, column in roles.tokens.items():
        views[view] = TokensView(view, column, options, separator)
    return views


def _check_roles(source: RowSource, roles: Roles, counted: Iterable[str]) -> None:
    views = [*roles.text, *roles.tokens, *roles.image, *counted]
    if not views:
        prose = text_columns(source)
        looks = f"{listing(prose, 20)} look like text" if prose else "none looks like text"
        raise ValueError(
            f"Say which columns are views, for example text=[...]. {source.name} has the columns "
            f"{listing(source.columns(), 20)}; {looks}."
        )
    check_view_names(views)
    check_columns(roles.columns, source)


def _read(source: RowSource, names: Sequence[str], columns: Sequence[Column]) -> array:
    """Feed every row to the columns; returns the numbers of the rows."""
    numbers = array("q")
    if not columns:
        return numbers
    adds = [column.add for column in columns]
    for number, cells in source.rows(names):
        numbers.append(number)
        done = 0
        try:
            for add, cell in zip(adds, cells, strict=True):
                add(cell)
                done += 1
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            where = f"{source.name}, {source.place(number)}, column {quoted(names[done])}"
            raise kind(f"{where}: {error}") from error
    if not numbers:
        raise ValueError(f"{source.name} has no rows.")
    return numbers


def _unique(ids: list[str], numbers: array, source: RowSource, column: str) -> np.ndarray:
    try:
        return check_ids(ids)
    except ValueError as error:
        seen: dict[str, int] = {}
        for number, name in zip(numbers, ids, strict=True):
            first = seen.setdefault(name, number)
            if first != number:
                raise ValueError(
                    f"{source.name}, column {quoted(column)}: the id {quoted(name)} is in "
                    f"{source.place(first)} and {source.place(number)}. {error}"
                ) from error
        raise


def merged(views: Mapping[str, CountedView]) -> dict[str, Any]:
    """Views by their names as keyword arguments of `Views`."""
    return {
        "data": {view: made.matrix for view, made in views.items()},
        "features": {view: made.features for view, made in views.items()},
        "present": {view: made.present for view, made in views.items()},
        "recipes": {view: made.recipe for view, made in views.items()},
    }


def _add_images(
    parts: dict[str, Any], paths: list[str | None], view: str, options: Mapping[str, Any]
) -> None:
    from coview.reading.images import image_views

    made = image_views(paths, view, **options)
    for part in ("data", "features", "present", "recipes"):
        twice = set(parts[part]) & set(made[part])
        if twice:
            raise ValueError(f"Two views would be called {listing(sorted(twice))}; rename one.")
        parts[part].update(made[part])


def _add_counted(parts: dict[str, Any], counted: Mapping[str, CountedColumns]) -> None:
    for view, columns in counted.items():
        parts["data"][view] = columns.matrix
        parts["features"][view] = columns.features
        if columns.present is not None:
            parts["present"][view] = columns.present


# -- columns given one by one ---------------------------------------------------------------------


def read_texts(texts: Any, options: TextOptions) -> dict[str, Any]:
    """The keyword arguments of `Views` from texts, or lists of tokens, by view."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise TypeError(f"Expected texts by view, {{view: texts}}, found {show(repr(texts))}.")
    if not isinstance(texts, Mapping):
        texts = {"text": texts}
    check_view_names(texts)
    options.check(texts)
    views = {view: _read_column(view, items, options) for view, items in texts.items()}
    check_aligned({view: len(made.present) for view, made in views.items()})
    return merged(views)


def _read_column(view: str, items: Any, options: TextOptions) -> CountedView:
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise TypeError(
            f"View {quoted(view)} must be a sequence of texts, one for each document; found "
            f"{show(repr(items))}."
        )
    head, rest = _up_to_first(items)
    if not head:
        raise ValueError(f"View {quoted(view)} has no documents.")
    listed = isinstance(head[-1], list | tuple)
    making = TokensView(view, view, options) if listed else TextView(view, view, options)
    for row, cell in enumerate(chain(head, rest)):
        try:
            making.add(cell)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"View {quoted(view)}, {place(row)}: {error}") from error
    return making.finish()


def _up_to_first(items: Iterable[Any]) -> tuple[list[Any], Iterable[Any]]:
    """The first item that is not missing with all before it, and those after it."""
    rest = iter(items)
    head = []
    for item in rest:
        head.append(item)
        if not is_missing(item):
            break
    return head, rest


# -- frame rows ------------------------------------------------------------------------------------


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
