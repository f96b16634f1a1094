"""Tables read row by row: CSV, TSV, JSON Lines and Parquet files, and DataFrames.

Each kind of table is a `RowSource`; `open_table` chooses the kind of a file by its suffix.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from coview.reading.plain_files import ExpansionError, open_gzip
from coview.views.named_matrices import index_ids, matrix_of, read_named_matrix
from coview.wording import argument, listing, location, option_words, plural, printable, quoted

Progress = Callable[[int, int], None]
Row = tuple[int, tuple[Any, ...]]

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
STEP = 1000  # rows in a batch, and between two reports of progress
SAMPLE = 100  # rows that are inspected to find out what is in a table
LONGEST_LINE = 100_000_000  # characters: a longer line is no row, and would fill the memory


class RowSource(Protocol):
    """Rows with named columns.

    Attributes
    ----------
    name : str
        What is read, for the messages.
    """

    name: str

    def location(self, number: int) -> str:
        """Return where the row with this number is, for the messages."""

    def columns(self, sample: int | None = SAMPLE) -> list[str]:
        """Return the names of the columns; if rows differ, those of the first `sample` rows."""

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """Yield number and cells of each row; None is a missing cell."""


def line_of(number: int) -> str:
    """Return where a row of a text file is; lines are counted from 1, as in editors."""
    return f"line {number:,}"


def open_table(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    quotechar: str | None = '"',
    on_bytes: Progress | None = None,
) -> RowSource:
    """Open a table of the kind that its suffix says; ``.gz`` files are decompressed on the fly.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.tab``, ``.jsonl``, ``.ndjson``, ``.json`` (one object per line),
        ``.parquet``, ``.pq``. With `delimiter`, any other suffix is accepted for a text file.
    encoding : str, default="utf-8"
        Encoding of text files; a byte order mark is skipped.
    delimiter : str, default=None
        Character between cells; None: comma or tab, by the suffix.
    quotechar : str or None, default='"'
        Quotes around cells with delimiters or line breaks; None: quotes are plain characters.
    on_bytes : callable, default=None
        Called from time to time as ``on_bytes(bytes_read, bytes_in_all)``.

    Returns
    -------
    RowSource
    """
    path = Path(path)
    if not path.is_file():
        found = "it is a folder" if path.is_dir() else "there is none"
        raise FileNotFoundError(f"Expected a file of rows at {path}; {found}.")
    suffix = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    if suffix in PARQUET and path.suffix != ".gz":
        from coview.reading.parquet import ParquetRows

        return ParquetRows(path, on_bytes)
    file = TextFile(path, encoding, on_bytes)
    if suffix in JSON_LINES and delimiter is None:
        return JsonRows(file)
    if delimiter is None and suffix not in DELIMITERS:
        known = [*DELIMITERS, *JSON_LINES, *PARQUET]
        raise ValueError(
            f"A table's kind is told by its suffix; {path.name} has none of {listing(known, 9)}. "
            f"Rename it, or give {argument('delimiter')} if it is a text file of rows."
        )
    if delimiter is not None and len(delimiter) != 1:
        what = argument("delimiter").rstrip("=")
        raise ValueError(f"{what} must be one character; got {delimiter!r}.")
    return DelimitedRows(file, delimiter or DELIMITERS[suffix], quotechar)


def check_columns(wanted: Sequence[str], source: RowSource) -> None:
    """Refuse columns that the table does not have."""
    columns = source.columns()
    if not set(wanted) <= set(columns):
        columns = source.columns(sample=None)
    for name in wanted:
        if name not in columns:
            raise ValueError(unknown_column(name, columns, source.name))


def unknown_column(name: str, columns: Sequence[str], source: str) -> str:
    """Word the error for a column that does not exist."""
    close = get_close_matches(str(name), columns, n=1)
    advice = f" Did you mean {quoted(close[0])}?" if close else ""
    if len(columns) == 1:
        marks = [mark for mark in (";", "\t", "|", ",") if mark in columns[0]]
        advice = f" Perhaps {argument('delimiter', marks[0])} is needed." if marks else advice
    cut = [column for column in columns if column.partition("=")[2] == name]
    if cut and option_words() is not None:
        advice = f" NAME={cut[0]} is the column {quoted(cut[0])}."
    return f"{source} has no column {quoted(name)}; it has {listing(columns, 20)}.{advice}"


def text_columns(source: RowSource) -> list[str]:
    """Return columns that look like text: most of their first cells have three words or more."""
    columns = source.columns()
    rows = [cells for _, cells in islice(source.rows(columns), SAMPLE)]
    return [name for c, name in enumerate(columns) if _is_prose([row[c] for row in rows])]


def _is_prose(cells: Sequence[Any]) -> bool:
    filled = [cell for cell in cells if cell not in (None, "")]
    long = sum(isinstance(cell, str) and len(cell.split()) >= 3 for cell in filled)
    return 2 * long > len(filled)


# -- text files -----------------------------------------------------------------------------------


_NOT_UNPACKED = (gzip.BadGzipFile, zlib.error, EOFError, ExpansionError)


class TextFile:
    """A text file, perhaps compressed, whose errors name the line."""

    def __init__(self, path: Path, encoding: str, on_bytes: Progress | None = None) -> None:
        self.path, self._on_bytes = path, on_bytes
        try:
            " ".encode(encoding)  # of texts: "hex" is a codec of bytes
        except (LookupError, UnicodeError) as error:
            example = argument("encoding", "cp1252")
            raise ValueError(
                f"There is no encoding {quoted(encoding)}. Give a known one, for example {example}."
            ) from error
        # a byte order mark at the start is no part of the first column's name
        self.encoding = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
        self._size = path.stat().st_size

    @contextmanager
    def lines(self, newline: str) -> Iterator[Iterator[str]]:
        """Open the file and yield an iterator over its lines."""
        try:
            with self.path.open("rb") as raw, self._decompressed(raw) as binary:
                text = io.TextIOWrapper(binary, encoding=self.encoding, newline=newline)
                yield self._bounded(text, raw)
        except UnicodeError as error:
            raise ValueError(self._undecodable(error)) from error
        except _NOT_UNPACKED as error:
            raise ValueError(f"{self.path} cannot be unpacked: {error}.") from error

    def _decompressed(self, raw: Any) -> Any:
        return open_gzip(raw, self._size) if self.path.suffix == ".gz" else raw

    def _bounded(self, text: io.TextIOWrapper, raw: Any) -> Iterator[str]:
        """Yield lines of a bounded length, and report how far the file is read."""
        report = self._on_bytes or (lambda *_: None)
        for number, line in enumerate(iter(lambda: text.readline(LONGEST_LINE + 1), "")):
            if len(line) > LONGEST_LINE:
                raise ValueError(
                    f"{self.path}, line {number + 1:,} has more than {LONGEST_LINE:,} characters. "
                    "Expected one row a line; check that it is a table, and cut such texts."
                )
            if number % STEP == 0:
                report(raw.tell(), self._size)
            yield line
        report(self._size, self._size)

    def _undecodable(self, error: UnicodeError) -> str:
        """Word the error for a line that cannot be decoded; the file is read again to find it."""
        found, marked = None, False
        with suppress(*_NOT_UNPACKED):  # this reading may meet damage that the first one did not
            marked = self._starts_with_utf16_mark()
            found = next(self._bad_lines(), None)
        where = f"line {found[0]:,}" if found else "some line"
        what = found[1] if found else error
        likely = ["utf-16"] if marked else ["cp1252", "latin-1"]
        return (
            f"{self.path}, {where}: not text in the encoding {self.encoding} ({what}). Give the "
            f"right one, for example {argument('encoding', *likely)}."
        )

    def _bad_lines(self) -> Iterator[tuple[int, UnicodeError]]:
        if self.encoding.lower().startswith(("utf-16", "utf16", "utf-32", "utf32")):
            return  # part of a character may look like a line break
        with self.path.open("rb") as raw, self._decompressed(raw) as binary:
            for number, line in enumerate(binary, 1):
                try:
                    line.decode(self.encoding)
                except UnicodeError as error:
                    yield number, error

    def _starts_with_utf16_mark(self) -> bool:
        with self.path.open("rb") as raw, self._decompressed(raw) as binary:
            return binary.read(2) in (b"\xff\xfe", b"\xfe\xff")


# -- CSV and TSV ----------------------------------------------------------------------------------


class DelimitedRows:
    """The rows of a CSV or TSV file, whose first row names the columns."""

    location = staticmethod(line_of)

    def __init__(self, file: TextFile, delimiter: str, quotechar: str | None) -> None:
        self.name, self._file = str(file.path), file
        quoting = csv.QUOTE_MINIMAL if quotechar else csv.QUOTE_NONE
        # strict: else a quote that is never closed would turn the rest of the file into one cell
        self._format: dict[str, Any] = {"delimiter": delimiter, "quoting": quoting, "strict": True}
        if quotechar:
            self._format["quotechar"] = quotechar
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))

    def columns(self, sample: int | None = SAMPLE) -> list[str]:
        """Return the names of the columns."""
        with self._file.lines(newline="") as lines:
            return self._header(self._records(lines))

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """Yield line and cells of each row."""
        with self._file.lines(newline="") as lines:
            records = self._records(lines)
            header = self._header(records)
            chosen = [header.index(name) for name in columns]
            for line, cells in records:
                if len(cells) != len(header):
                    raise ValueError(self._width_error(line, cells, header))
                yield line, tuple([cells[column] for column in chosen])

    def _header(self, records: Iterator[tuple[int, list[str]]]) -> list[str]:
        _, header = next(records, (0, None))
        if header is None:
            raise ValueError(f"{self.name} is empty: expected a first row with names of columns.")
        twice = sorted({name for name in header if header.count(name) > 1})
        if twice:
            raise ValueError(
                f"{self.name}: each column needs a name of its own; found more than once: "
                f"{listing(twice)}. The first row must name the columns."
            )
        return header

    def _records(self, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield rows with the line they begin at; blank lines are skipped."""
        reader = csv.reader(lines, **self._format)
        start = 1
        try:
            for cells in reader:
                if cells:
                    yield start, cells
                start = reader.line_num + 1
        except csv.Error as error:
            raise ValueError(
                f"{self.name}, row that begins at line {start:,}: {error}. Close or double the "
                f"quotes in it, or give {argument('quotechar', None)} if quotes are plain "
                "characters here."
            ) from error

    def _width_error(self, line: int, cells: list[str], header: list[str]) -> str:
        return (
            f"{self.name}, line {line:,}: {plural(len(cells), 'cell')}, but the first row names "
            f"{plural(len(header), 'column')} ({listing(header)}). Quote cells that hold "
            f"{self._format['delimiter']!r}, or give the right {argument('delimiter')}."
        )


# -- JSON Lines -----------------------------------------------------------------------------------


_ONE_OBJECT = "expected one whole JSON object, as in every line of a JSON Lines file "


class JsonRows:
    """The objects of a JSON Lines file; a key that an object lacks is a missing cell."""

    location = staticmethod(line_of)

    def __init__(self, file: TextFile) -> None:
        self.name, self._file = str(file.path), file

    def columns(self, sample: int | None = SAMPLE) -> list[str]:
        """Return the keys of the objects, in order of first appearance."""
        keys: dict[str, None] = {}
        with self._file.lines(newline="\n") as lines:
            for _, record in islice(self._records(lines), sample):
                keys.update(dict.fromkeys(record))
        return list(keys)

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """Yield line and cells of each object."""
        with self._file.lines(newline="\n") as lines:
            for line, record in self._records(lines):
                yield line, tuple([record.get(name) for name in columns])

    def _records(self, lines: Iterator[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, line in enumerate(lines, 1):
            if line.isspace():
                continue
            try:
                record = json.loads(line, parse_constant=_refuse_constant)
            except (ValueError, RecursionError) as error:
                raise ValueError(
                    f"{self.name}, line {number:,}: {_ONE_OBJECT}({error})."
                ) from error
            if not isinstance(record, dict):
                raise ValueError(
                    f"{self.name}, line {number:,}: {_ONE_OBJECT}(found {type(record).__name__} "
                    f"{printable(line.strip(), 20)})."
                )
            yield number, record


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON; use null for a missing cell")


# -- DataFrames -----------------------------------------------------------------------------------


class FrameRows:
    """The rows of a DataFrame of pandas, polars or pyarrow.

    Attributes
    ----------
    ids : list of str or None
        The index of a pandas frame, unless it only numbers the rows.
    """

    location = staticmethod(location)
    name = "The frame"

    def __init__(self, frame: Any) -> None:
        self._frame = _loaded(frame)
        self.ids = index_ids(self._frame.to_native())

    def columns(self, sample: int | None = SAMPLE) -> list[str]:
        """Return the names of the columns."""
        return list(self._frame.columns)

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """Yield number (from 0) and cells of each row."""
        chosen = [self._frame[name] for name in columns]
        for start in range(0, len(self._frame), STEP):
            cells = (column[start : start + STEP].to_list() for column in chosen)
            yield from enumerate(zip(*cells, strict=True), start)

    def matrix(self, columns: Sequence[str], view: str) -> Any:
        """Return some columns as one matrix; `view` is for the messages."""
        frame = self._frame.select(list(columns))
        native = frame.to_native()
        # tables of pyarrow have no names that a matrix needs
        named = hasattr(native, "to_numpy") and hasattr(native, "columns")
        return read_named_matrix(native, view).matrix if named else matrix_of(frame, view)


def _loaded(frame: Any) -> Any:
    import narwhals.stable.v1 as nw

    if hasattr(frame, "set_axis") and any(not isinstance(name, str) for name in frame.columns):
        # pandas names columns by numbers, which narwhals takes as those of rows
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    try:
        read = nw.from_native(frame)
    except TypeError as error:
        raise TypeError(
            "Expected a DataFrame of pandas or polars or a table of pyarrow, found "
            f"{type(frame).__name__}."
        ) from error
    return read.collect() if isinstance(read, nw.LazyFrame) else read
