"""What commands print and write: tables and notes for people; JSON, CSV, Parquet for programs."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coview.cli.inputs import check_not_input
from coview.cli.options import UsageError
from coview.escaping import for_json, for_spreadsheet, for_terminal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Row = Sequence[Any]

# -- the terminal ----------------------------------------------------------------------------------


def note(text: str) -> None:
    """Print a message that is not a result to standard error; whatever it quotes is escaped."""
    print(for_terminal(text), file=sys.stderr)


def print_json(value: Any) -> None:
    """Print a value as JSON to standard output."""
    print(for_json(value, indent=2))


def console() -> Console:
    """Return the console for tables on standard output."""
    from rich.console import Console

    # a file or a pipe has no width: use that of a wide terminal
    return Console(width=None if sys.stdout.isatty() else 120, highlight=False)


def table(title: str, columns: Sequence[str], right: Iterable[str] = ()) -> Table:
    """Return an empty table in the program's style; columns in `right` are right-aligned."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    numeric = set(right)
    for name in columns:
        made.add_column(cell(name), justify="right" if name in numeric else "left", overflow="fold")
    return made


def cell(value: Any, width: int = 200) -> str:
    """Format a value from the data for a table, without control codes or rich markup."""
    from rich.markup import escape

    from coview.wording import printable

    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    return escape(printable(value, width))


# -- files -----------------------------------------------------------------------------------------


def check_output(output: Path | None, *inputs: Path | None) -> None:
    """Refuse an output that is an input or cannot be written, before the data are read."""
    from coview.outputs import check_output as check_place

    if output is None:
        return
    check_not_input(output, *inputs)
    try:
        check_place(output)
    except (IsADirectoryError, FileNotFoundError) as error:
        if error.errno is None:  # the name is wrong; with a number, the place is
            raise UsageError(str(error)) from error
        raise


def check_table_output(output: Path | None, *inputs: Path | None) -> None:
    """Refuse, besides, a format that `write_rows` does not write."""
    from coview.extras import need

    if output is None:
        return
    _check_suffix(output)
    check_output(output, *inputs)
    if output.suffix.lower() == ".parquet":
        need("pyarrow", "parquet")


def _check_suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in _WRITERS:
        known = ", ".join(_WRITERS)
        raise UsageError(f"The suffix of {path.name} must be one of {known}.")
    return suffix


def write_rows(
    columns: Sequence[str], rows: Iterable[Row], path: Path, *, raw: bool = False
) -> None:
    """Write rows in the format of the file's suffix: .csv, .tsv, .json, .jsonl or .parquet.

    In CSV and TSV files control codes and texts that look like formulas are escaped unless `raw`.
    """
    from coview.store import replacing

    suffix = _check_suffix(path)
    if suffix in (".csv", ".tsv") and not raw:
        columns = [for_spreadsheet(name) for name in columns]
        rows = ([for_spreadsheet(value) for value in row] for row in rows)
    with replacing(path) as beside:
        _WRITERS[suffix](columns, rows, beside)


def _write_csv(
    columns: Sequence[str], rows: Iterable[Row], path: Path, delimiter: str = ","
) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(rows)


def _write_tsv(columns: Sequence[str], rows: Iterable[Row], path: Path) -> None:
    _write_csv(columns, rows, path, delimiter="\t")


def _write_json(columns: Sequence[str], rows: Iterable[Row], path: Path) -> None:
    path.write_text(json.dumps(list(_records(columns, rows)), ensure_ascii=False), "utf-8")


def _write_json_lines(columns: Sequence[str], rows: Iterable[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for record in _records(columns, rows):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _write_parquet(columns: Sequence[str], rows: Iterable[Row], path: Path) -> None:
    from coview.extras import need

    arrow, parquet = need("pyarrow", "parquet"), need("pyarrow.parquet", "parquet")
    parquet.write_table(arrow.Table.from_pylist(list(_records(columns, rows))), path)


def _records(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    return (dict(zip(columns, row, strict=True)) for row in rows)


_WRITERS = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".json": _write_json,
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
}

# -- the result of a command -----------------------------------------------------------------------


def with_titles(
    columns: Sequence[str], rows: Sequence[Row], titles: Sequence[str] | None, docs: Sequence[int]
) -> tuple[list[str], list[list[Any]]]:
    """Put the titles of documents, where there are any, behind their names, the first column."""
    if titles is None:
        return list(columns), [list(row) for row in rows]
    titled = [[row[0], titles[d], *row[1:]] for row, d in zip(rows, docs, strict=True)]
    return [columns[0], "title", *columns[1:]], titled


def show_or_write(
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    as_json: bool,
    output: Path | None,
    raw: bool = False,
    max_shown: int | None = None,
) -> None:
    """Write rows to `output`, print them as JSON, or show the first `max_shown` as a table."""
    from coview.wording import plural

    if output is not None:
        write_rows(columns, rows, output, raw=raw)
        note(f"Wrote {plural(len(rows), 'row')} to {output}.")
    if as_json:
        print_json(list(_records(columns, rows)))
    elif output is None:
        _show_rows(columns, rows[:max_shown])
        if max_shown is not None and len(rows) > max_shown:
            note(f"Showing {max_shown} of {len(rows):,} rows; get all with -o FILE.csv or --json.")


def _show_rows(columns: Sequence[str], rows: Sequence[Row]) -> None:
    first = rows[0] if rows else [None] * len(columns)
    numeric = [c for c, v in zip(columns, first, strict=True) if isinstance(v, float | int)]
    shown = table("", columns, right=numeric)
    for row in rows:
        shown.add_row(*(cell(value, 90) for value in row))
    console().print(shown)
