"""Columns of tables become views: each column that is used has a reader, fed row by row.

`read_rows` makes one pass over the rows of a `RowSource` (a file or a DataFrame, see
`coview.reading.tables`); `read_texts` takes columns one by one. Both return the keyword arguments
of `Views`.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from coview.reading.embeddings import VectorColumn, embedding_views
from coview.reading.recipes import is_missing
from coview.reading.tables import (
    FrameRows,
    RowSource,
    check_columns,
    text_columns,
    unknown_column,
)
from coview.reading.text import CountedView, TextColumn, TokensColumn
from coview.reading.text_options import TextOptions
from coview.views.checks import check_aligned, check_ids, check_view_names
from coview.views.labels import LARGEST, is_unlabeled_item
from coview.wording import argument, listing, location, printable, quoted

_INTEGER = re.compile("0|-?[1-9][0-9]*")


@dataclass(frozen=True)
class ColumnRoles:
    """Which columns are read as what; views by their names."""

    text: Mapping[str, str]
    tokens: Mapping[str, str]
    image: Mapping[str, str]
    embedding: Mapping[str, str]
    id: str | None = None
    label: str | None = None

    @classmethod
    def from_options(
        cls, text: Any, tokens: Any, image: Any, embedding: Any, id: str | None, label: str | None
    ) -> ColumnRoles:
        """Return the roles from the options of `Views.from_table`."""
        given = {"text": text, "tokens": tokens, "image": image, "embedding": embedding}
        return cls(**{n: named_columns(c, n) for n, c in given.items()}, id=id, label=label)

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        views = chain.from_iterable(
            role.values() for role in (self.text, self.tokens, self.image, self.embedding)
        )
        return [*views, *(name for name in (self.id, self.label) if name is not None)]


def named_columns(columns: Any, what: str) -> dict[str, str]:
    """Return columns by the name of the view: from one name, several, or a dict view -> column.

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
                f"found {printable(repr(name))}."
            )
    return dict(columns)


class CountColumns(NamedTuple):
    """A view that is counts already; `present` None: a document has it if its row is not empty."""

    matrix: Any
    features: list[str]
    present: np.ndarray | None = None


# -- tables ---------------------------------------------------------------------------------------


def read_rows(
    source: RowSource,
    roles: ColumnRoles,
    options: TextOptions,
    *,
    separator: str | None = None,
    folder: Path | None = None,
    image_options: Mapping[str, Any] | None = None,
    embedding_options: Mapping[str, Any] | None = None,
    counted: Mapping[str, CountColumns] | None = None,
) -> dict[str, Any]:
    """Read a table in one pass over its rows.

    Parameters
    ----------
    source : RowSource
    roles : ColumnRoles
    options : TextOptions
        How texts and tokens are counted.
    separator : str, default=None
        What separates the tokens of a cell; None: white space.
    folder : Path, default=None
        Paths of pictures are relative to it.
    image_options, embedding_options : dict, default=None
        Options of `image_views` and of `embedding_views`.
    counted : dict view -> CountColumns, default=None
        Views that need no counting.

    Returns
    -------
    dict
        Keyword arguments of `Views`.
    """
    counted = counted or {}
    check_roles(source, roles, counted)
    options.check(roles.text, roles.tokens)
    texts: dict[str, TextColumn | TokensColumn] = {
        view: TextColumn(view, column, options) for view, column in roles.text.items()
    }
    for view, column in roles.tokens.items():
        texts[view] = TokensColumn(view, column, options, separator)
    pictures = {view: PathColumn(folder) for view in roles.image}
    vectors = {view: VectorColumn() for view in roles.embedding}
    ids, labels = IdColumn(), LabelColumn()
    # in the order of roles.columns
    readers: list[ColumnReader] = [*texts.values(), *pictures.values(), *vectors.values()]
    readers += [ids] * (roles.id is not None) + [labels] * (roles.label is not None)
    numbers = array("q")
    feed(source, roles.columns, readers, numbers)
    arguments = _as_arguments({view: column.finish() for view, column in texts.items()})
    for view, reader in pictures.items():
        from coview.reading.images import image_views  # it imports this module

        images = image_views(reader.paths, view, **image_options or {})
        arguments = join_arguments(arguments, images)
    for view, made in vectors.items():
        codes = embedding_views(made.items, view, **embedding_options or {})
        arguments = join_arguments(arguments, codes)
    _add_counted(arguments, counted)
    if roles.id is not None:
        arguments["ids"] = _check_unique(ids.ids, numbers, source, roles.id)
    if roles.label is not None:
        arguments["labels"], arguments["label_names"] = labels.finish()
    return arguments


def check_roles(source: RowSource, roles: ColumnRoles, counted: Iterable[str]) -> None:
    """Refuse roles without a view, and columns that the table does not have."""
    views = [*roles.text, *roles.tokens, *roles.image, *roles.embedding, *counted]
    if not views:
        prose = text_columns(source)
        looks = f"{listing(prose, 20)} look like text" if prose else "none looks like text"
        raise ValueError(
            f"Say which columns are views, for example by {argument('text', *prose[:1])}. "
            f"{source.name} has the columns {listing(source.columns(), 20)}; {looks}."
        )
    check_view_names(views)
    check_columns(roles.columns, source)


def feed(
    source: RowSource, names: Sequence[str], readers: Sequence[ColumnReader], numbers: Any
) -> None:
    """Feed the cells of every row to the readers of their columns; row numbers go to `numbers`."""
    if not readers:
        return
    adds = [reader.add for reader in readers]
    empty = True
    for number, cells in source.rows(names):
        numbers.append(number)
        empty = False
        done = 0
        try:
            for add, cell in zip(adds, cells, strict=True):
                add(cell)
                done += 1
        except (TypeError, ValueError) as error:
            where = f"{source.name}, {source.location(number)}, column {quoted(names[done])}"
            raise _with_location(error, where) from error
    if empty:
        raise ValueError(f"{source.name} has no rows.")


def _with_location(error: Exception, where: str) -> Exception:
    """Return an error that says where in the data it occurred."""
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"{where}: {error}")


def _check_unique(ids: list[str], numbers: array, source: RowSource, column: str) -> np.ndarray:
    try:
        return check_ids(ids)
    except ValueError as error:
        seen: dict[str, int] = {}
        for number, name in zip(numbers, ids, strict=True):
            first = seen.setdefault(name, number)
            if first != number:
                raise ValueError(
                    f"{source.name}, column {quoted(column)}: the id {quoted(name)} is in "
                    f"{source.location(first)} and {source.location(number)}. {error}"
                ) from error
        raise


def _as_arguments(views: Mapping[str, CountedView]) -> dict[str, Any]:
    """Return counted views as keyword arguments of `Views`."""
    return {
        "data": {view: made.matrix for view, made in views.items()},
        "features": {view: made.features for view, made in views.items()},
        "present": {view: made.present for view, made in views.items()},
        "recipes": {view: made.recipe for view, made in views.items()},
    }


def join_arguments(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of `Views` for the views of both."""
    twice = first["data"].keys() & second["data"].keys()
    if twice:
        raise ValueError(f"Two views would be called {listing(sorted(twice))}; rename one.")
    keys = ("data", "features", "present", "recipes")
    return {key: {**first[key], **second[key]} for key in keys}


def _add_counted(arguments: dict[str, Any], counted: Mapping[str, CountColumns]) -> None:
    for view, columns in counted.items():
        arguments["data"][view] = columns.matrix
        arguments["features"][view] = columns.features
        if columns.present is not None:
            arguments["present"][view] = columns.present


# -- readers of columns that are not counted ------------------------------------------------------


class ColumnReader(Protocol):
    """What reads the cells of a column, one after the other."""

    def add(self, cell: Any) -> None:
        """Read the cell of one more document."""


class IdColumn:
    """The names of the documents."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def add(self, cell: Any) -> None:
        """Read the cell of one more document."""
        self.ids.append(id_text(cell))


def id_text(cell: Any) -> str:
    """Return the id in a cell."""
    if is_missing(cell):
        raise ValueError(
            f"the id is empty. Each document needs one; or leave {argument('id')} out."
        )
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    if isinstance(cell, bool) or not isinstance(cell, str | int | np.integer):
        raise TypeError(f"an id must be a text or an integer, found {printable(repr(cell))}.")
    return str(cell)


class LabelColumn:
    """The classes of the documents: integers, or texts that become numbers of their sorted names.

    >>> labels = LabelColumn()
    >>> for cell in ("b", "a", None, "b"):
    ...     labels.add(cell)
    >>> labels.finish()
    (array([ 1,  0, -1,  1]), ['a', 'b'])
    """

    def __init__(self) -> None:
        self._numbers: dict[str | int | None, int] = {None: 0}
        self._cells: Any = array("q")

    def add(self, cell: Any) -> None:
        """Read the cell of one more document."""
        value = None if is_unlabeled_item(cell) else _label_value(cell)
        self._cells.append(self._numbers.setdefault(value, len(self._numbers)))

    def finish(self) -> tuple[np.ndarray, list[str] | None]:
        """Return the labels of all documents, -1 for unlabeled, and the names if they are texts."""
        codes, names = self.classes()
        return codes[np.array(self._cells, dtype=np.int64)], names

    def classes(self) -> tuple[np.ndarray, list[str] | None]:
        """Return the label of each different cell, -1 first, and the names if they are texts."""
        values = [value for value in self._numbers if value is not None]
        whole = all(_is_number(value) for value in values)
        names = None if whole else sorted({str(value) for value in values})
        number = {} if names is None else {name: code for code, name in enumerate(names)}
        codes = [-1] + [int(value) if whole else number[str(value)] for value in values]
        return np.array(codes, dtype=np.int64), names


def _label_value(cell: Any) -> str | int:
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, bool | np.bool_):
        return str(cell)
    if isinstance(cell, int | np.integer):
        return int(cell)
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return int(cell)
    raise TypeError(f"a label must be a text or an integer, found {printable(repr(cell))}.")


def _is_number(value: str | int) -> bool:
    """Return whether a label is an integer of a usual size; the text of a longer one is a name."""
    text = str(value)
    return _INTEGER.fullmatch(text) is not None and len(text) < 20 and abs(int(text)) < LARGEST


class PathColumn:
    """The paths of pictures, relative to the folder of the table."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.paths: list[str | None] = []

    def add(self, cell: Any) -> None:
        """Read the cell of one more document."""
        if is_missing(cell):
            self.paths.append(None)
        elif isinstance(cell, str):
            self.paths.append(cell if self._folder is None else str(self._folder / cell))
        else:
            raise TypeError(f"the path of a picture must be a text, found {printable(repr(cell))}.")


# -- texts given one view at a time ---------------------------------------------------------------


def read_texts(texts: Any, options: TextOptions) -> dict[str, Any]:
    """Count texts, or lists of tokens, by view; see `Views.from_texts`.

    Returns
    -------
    dict
        Keyword arguments of `Views`.
    """
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise TypeError(f"Expected texts by view, {{view: texts}}, found {printable(repr(texts))}.")
    if not isinstance(texts, Mapping):
        texts = {"text": texts}
    check_view_names(texts)
    options.check(texts)
    views = {view: read_column(view, items, options) for view, items in texts.items()}
    check_aligned({view: len(made.present) for view, made in views.items()})
    return _as_arguments(views)


def read_column(view: str, items: Any, options: TextOptions) -> CountedView:
    """Count the texts of one view, or its lists of tokens."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise TypeError(
            f"View {quoted(view)} must be a sequence of texts, one for each document; found "
            f"{printable(repr(items))}."
        )
    head, rest = _up_to_first(items)
    if not head:
        raise ValueError(f"View {quoted(view)} has no documents.")
    listed = isinstance(head[-1], list | tuple)
    column = TokensColumn(view, view, options) if listed else TextColumn(view, view, options)
    for row, cell in enumerate(chain(head, rest)):
        try:
            column.add(cell)
        except (TypeError, ValueError) as error:
            raise _with_location(error, f"View {quoted(view)}, {location(row)}") from error
    return column.finish()


def _up_to_first(items: Iterable[Any]) -> tuple[list[Any], Iterable[Any]]:
    """Return the items up to the first that is not missing, and those after it."""
    rest = iter(items)
    head = []
    for item in rest:
        head.append(item)
        if not is_missing(item):
            break
    return head, rest


# -- columns of counts ----------------------------------------------------------------------------


def read_count_columns(frame: FrameRows, counts: Any) -> dict[str, CountColumns]:
    """Return the views of a DataFrame whose columns are counts already; see `count_columns`."""
    chosen = count_columns(counts, frame.columns())
    return {view: _read_counts(frame, view, columns) for view, columns in chosen.items()}


def _read_counts(frame: FrameRows, view: str, columns: list[str]) -> CountColumns:
    matrix = frame.matrix(columns, view)
    if not isinstance(matrix, np.ndarray) or matrix.dtype.kind not in ("f", "O"):
        return CountColumns(matrix, columns)
    absent = np.asarray(_missing_cells(matrix).all(axis=1))
    return CountColumns(np.where(absent[:, np.newaxis], 0, matrix), columns, ~absent)


def _missing_cells(matrix: np.ndarray) -> np.ndarray:
    if matrix.dtype.kind == "f":
        return np.isnan(matrix)
    return np.array([[is_missing(cell) for cell in row] for row in matrix])


def count_columns(counts: Any, columns: Sequence[str]) -> dict[str, list[str]]:
    """Return columns of numbers by view: from a list, or from a dict of lists or patterns.

    >>> count_columns({"rna": "g_*", "size": ["n"]}, ["g_a", "n", "g_b"])
    {'rna': ['g_a', 'g_b'], 'size': ['n']}
    """
    if counts is None:
        return {}
    if not isinstance(counts, Mapping):
        counts = {"counts": counts}
    return {view: _matching_columns(view, names, columns) for view, names in counts.items()}


def _matching_columns(view: str, names: Any, columns: Sequence[str]) -> list[str]:
    chosen: list[str] = []
    for name in [names] if isinstance(names, str) else list(names):
        found = [column for column in columns if column == name or fnmatchcase(column, name)]
        if not found:
            raise ValueError(unknown_column(name, columns, "The frame"))
        chosen.extend(found)
    if not chosen:
        raise ValueError(f"View {quoted(view)} has no columns; there are {listing(columns, 20)}.")
    return list(dict.fromkeys(chosen))
