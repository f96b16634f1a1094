"""Rows with named columns become the parts of `Views`: one reader for each column that is used."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from coview.data.recipes import is_missing
from coview.data.show import listing, place, quoted, show
from coview.data.tables import RowSource, check_columns, text_columns
from coview.data.text import Made, TextView, TokensView
from coview.data.text_options import TextOptions
from coview.data.validate import check_aligned, check_ids, check_view_names

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
        """Labels of all documents, and the names of texts; -1 is unlabelled."""
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


def merged(views: Mapping[str, Made]) -> dict[str, Any]:
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
    from coview.data.images import image_views

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


def _read_column(view: str, items: Any, options: TextOptions) -> Made:
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
