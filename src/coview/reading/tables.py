"""Files of rows with named columns, read row by row: CSV, TSV, JSON Lines and Parquet."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from coview.extras import need
from coview.wording import listing, place, plural, quoted, show

Progress = Callable[[int, int], None]
Row = tuple[int, tuple[Any, ...]]

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
STEP = 1000  # rows between two reports of progress
SAMPLE = 100  # rows that are looked at to find out what is in a table


class RowSource(Protocol):
    """Rows with named columns.

    Attributes
    ----------
    name : str
        What is read, for the messages.
    """

    name: str

    def place(self, number: int) -> str:
        """Where the row with this number is, for the messages."""

    def columns(self, sample: int | None = SAMPLE) -> list[str]:
        """Names of the columns; where rows differ, those of the first few, or of all."""

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """Number and cells of one row after the other; None is a missing cell."""


def line_of(number: int) -> str:
    """Where a row of a text file is: lines are counted from 1, as editors do."""
    return f"line {number:,}"


def open_table(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    quotechar: str | None = '"',
    on_bytes: Progress | None = None,
) -> RowSource:
    """A table by the suffix of its file; with `.gz` after it, it is unpacked while it is read.

    Parameters
    ----------
    path : path
        `.csv`, `.tsv`, `.tab`, `.jsonl`, `.ndjson`, `.json` (one object a line), `.parquet`,
        `.pq`; with `delimiter`, any other suffix is a table of that kind, too.
    encoding : str, default="utf-8"
        Of text files; a byte order mark is skipped.
    delimiter : str, default=None
        What parts cells; None: comma or tab, by the suffix.
    quotechar : str or None, default='"'
        What cells with delimiters or line ends are quoted by; None: quotes are plain characters.
    on_bytes : callable, default=None
        Is told bytes read and bytes in all from time to time.
    """
    path = Path(path)
    if not path.is_file():
        found = "it is a folder" if path.is_dir() else "there is none"
        raise FileNotFoundError(f"Expected a file of rows at {path}; {found}.")
    suffix = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    if suffix in PARQUET and path.suffix != ".gz":
        return ParquetFile(path, on_bytes)
    file = TextFile(path, encoding, on_bytes)
    if suffix in JSON_LINES and delimiter is None:
        return JsonLines(file)
    if delimiter is None and suffix not in DELIMITERS:
        known = [*DELIMITERS, *JSON_LINES, *PARQUET]
        raise ValueError(
            f"A table's kind is told by its suffix; {path.name} has none of {listing(known, 9)}. "
            "Rename it, or give delimiter= if it is a text file of rows."
        )
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"delimiter must be one character; got {delimiter!r}.")
    return DelimitedRows(file, delimiter or DELIMITERS[suffix], quotechar)


def check_columns(wanted: Sequence[str], source: RowSource) -> None:
    """Refuse columns that are not there."""
    columns = source.columns()
    if not set(wanted) <= set(columns):
        columns = source.columns(sample=None)
    for name in wanted:
        if name not in columns:
            raise ValueError(unknown_column(name, columns, source.name))


def unknown_column(name: str, columns: Sequence[str], source: str) -> str:
    """What to say about a column that is not there."""
    close = get_close_matches(str(name), columns, n=1)
    advice = f" Did you mean {quoted(close[0])}?" if close else ""
    if len(columns) == 1:
        marks = [mark for mark in (";", "\t", "|", ",") if mark in columns[0]]
        advice = f" Perhaps delimiter={marks[0]!r} is needed." if marks else advice
    return f"{source} has no column {quoted(name)}; it has {listing(columns, 20)}.{advice}"


def text_columns(source: RowSource) -> list[str]:
    """Columns that look like text: most of the first cells that are filled have three words."""
    columns = source.columns()
    rows = [cells for _, cells in islice(source.rows(columns), SAMPLE)]
    return [name for c, name in enumerate(columns) if _is_prose([row[c] for row in rows])]


def _is_prose(cells: Sequence[Any]) -> bool:
    filled = [cell for cell in cells if cell not in (None, "")]
    long = sum(isinstance(cell, str) and len(cell.split()) >= 3 for cell in filled)
    return 2 * long > len(filled)


# -- text files -----------------------------------------------------------------------------------


class TextFile:
    """A file of text lines, perhaps packed, whose errors say the line."""

    def __init__(self, path: Path, encoding: str, on_bytes: Progress | None = None) -> None:
        self.path, self._on_bytes = path, on_bytes
        try:
            codecs.lookup(encoding)
        except LookupError as error:
            raise ValueError(f"There is no encoding {quoted(encoding)}.") from error
        # both forms of utf-8 are read alike, and a mark at the start is no part of the first name
        self.encoding = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
        self._size = path.stat().st_size

    @contextmanager
    def lines(self, newline: str) -> Iterator[Iterator[str]]:
        """Its lines, for as long as the file is open."""
        try:
            with self.path.open("rb") as raw, self._unpacked(raw) as binary:
                text = io.TextIOWrapper(binary, encoding=self.encoding, newline=newline)
                yield text if self._on_bytes is None else self._reported(text, raw)
        except UnicodeError as error:
            raise ValueError(self._undecodable(error)) from error
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise ValueError(f"{self.path} cannot be unpacked: {error}.") from error

    def _unpacked(self, raw: Any) -> Any:
        return gzip.GzipFile(fileobj=raw) if self.path.suffix == ".gz" else raw

    def _reported(self, text: io.TextIOWrapper, raw: Any) -> Iterator[str]:
        """The lines; reports how far the file is read."""
        assert self._on_bytes is not None
        for number, line in enumerate(text):
            if number % STEP == 0:
                self._on_bytes(raw.tell(), self._size)
            yield line
        self._on_bytes(self._size, self._size)

    def _undecodable(self, error: UnicodeError) -> str:
        """Which line cannot be decoded; the file is read once more to find out."""
        found = next(self._bad_lines(), None)
        where = f"line {found[0]:,}" if found else "some line"
        what = found[1] if found else error
        advice = 'encoding="utf-16"' if self._starts_wide() else 'encoding="cp1252" or "latin-1"'
        return (
            f"{self.path}, {where}: not text in the encoding {self.encoding} ({what}). Give the "
            f"right one, for example {advice}."
        )

    def _bad_lines(self) -> Iterator[tuple[int, UnicodeError]]:
        if self.encoding.lower().startswith(("utf-16", "utf16", "utf-32", "utf32")):
            return  # a byte of a character may look like the end of a line
        with self.path.open("rb") as raw, self._unpacked(raw) as binary:
            for number, line in enumerate(binary, 1):
                try:
                    line.decode(self.encoding)
                except UnicodeError as error:
                    yield number, error

    def _starts_wide(self) -> bool:
        with self.path.open("rb") as raw, self._unpacked(raw) as binary:
            return binary.read(2) in (b"\xff\xfe", b"\xfe\xff")


# -- CSV and its kin ------------------------------------------------------------------------------


class DelimitedRows:
    """A table whose first row names the columns."""

    place = staticmethod(line_of)

    def __init__(self, file: TextFile, delimiter: str, quotechar: str | None) -> None:
        self.name, self._file = str(file.path), file
        quoting = csv.QUOTE_MINIMAL if quotechar else csv.QUOTE_NONE
        # strict: a quote that is never closed would make one cell of the rest of the file
        self._format: dict[str, Any] = {"delimiter": delimiter, "quoting": quoting, "strict": True}
        if quotechar:
            self._format["quotechar"] = quotechar
        csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))

    def columns(self, sample: int | None = SAMPLE) -> list[str]:
        """Names of the columns."""
        with self._file.lines(newline="") as lines:
            return self._header(self._records(lines))

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """Line and cells of one row after the other."""
        with self._file.lines(newline="") as lines:
            records = self._records(lines)
            header = self._header(records)
            chosen = [header.index(name) for name in columns]
            for line, cells in records:
                if len(cells) != len(header):
                    raise ValueError(self._ragged(line, cells, header))
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
        """Rows with the line they begin at; blank lines are no rows."""
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
                "quotes in it, or give quotechar=None if quotes are plain characters here."
            ) from error

    def _ragged(self, line: int, cells: list[str], header: list[str]) -> str:
        return (
            f"{self.name}, line {line:,}: {plural(len(cells), 'cell')}, but the first row names "
            f"{plural(len(header), 'column')} ({listing(header)}). Quote cells that hold "
            f"{self._format['delimiter']!r}, or give the right delimiter=."
        )


# -- JSON Lines -----------------------------------------------------------------------------------


class JsonLines:
    """One object a line; a key that an object lacks is a missing cell."""

    place = staticmethod(line_of)

    def __init__(self, file: TextFile) -> None:
        self.name, self._file = str(file.path), file

    def columns(self, sample: int | None = SAMPLE) -> list[str]:
        """The keys of the objects, in the order in which they first come."""
        keys: dict[str, None] = {}
        with self._file.lines(newline="\n") as lines:
            for _, record in islice(self._records(lines), sample):
                keys.update(dict.fromkeys(record))
        return list(keys)

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """Line and cells of one object after the other."""
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
                raise ValueError(f"{self.name}, line {number:,}: {_one_line}({error}).") from error
            if not isinstance(record, dict):
                raise ValueError(
                    f"{self.name}, line {number:,}: {_one_line}(found {type(record).__name__} "
                    f"{show(line.strip(), 20)})."
                )
            yield number, record


_one_line = "expected one whole JSON object, as in every line of a JSON Lines file "


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON; use null for a missing cell")


# -- Parquet --------------------------------------------------------------------------------------


class ParquetFile:
    """A Parquet file, read a batch of rows at a time."""

    place = staticmethod(place)

    def __init__(self, path: Path, on_bytes: Progress | None = None) -> None:
        self.name, self._path, self._on_bytes = str(path), path, on_bytes
        self._parquet = need("pyarrow.parquet", extra="parquet")

    def columns(self, sample: int | None = SAMPLE) -> list[str]:
        """Names of the columns."""
        with self._open() as file:
            return list(file.schema_arrow.names)

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """Number and cells of one row after the other."""
        done = 0
        with self._open() as file:
            total = file.metadata.num_rows
            for batch in file.iter_batches(batch_size=STEP, columns=list(dict.fromkeys(columns))):
                cells = zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
                yield from enumerate(cells, done)
                done += batch.num_rows
                self._report(done, total)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        try:
            file = self._parquet.ParquetFile(self._path)
        except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors
            raise ValueError(f"{self.name} cannot be read as Parquet: {error}") from error
        with file:
            yield file

    def _report(self, done: int, total: int) -> None:
        if self._on_bytes is not None:
            size = self._path.stat().st_size
            self._on_bytes(size * done // total, size)
