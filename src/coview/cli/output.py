"""What commands write: tables for people, and JSON, CSV and Parquet for programs.

What all commands share: whether to show tracebacks, and errors of usage.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


# what a spreadsheet would run as a formula
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def console() -> Console:
    """Where tables for people go."""
    from rich.console import Console

    # a file or a pipe has no width: what a person would see on a wide screen
    return Console(width=None if sys.stdout.isatty() else 120, highlight=False)


def note(text: str) -> None:
    """Something for people that is no result: on standard error."""
    print(text, file=sys.stderr)


def table(title: str, columns: Sequence[str], right: Iterable[str] = ()) -> Table:
    """An empty table in the style of the program; `right` names the columns of numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    for name in columns:
        made.add_column(
            cell(name), justify="right" if name in set(right) else "left", overflow="fold"
        )
    return made


def cell(value: Any, width: int = 200) -> str:
    """A value from the data for a table: nothing in it can color or move the terminal."""
    from rich.markup import escape

    from coview.wording import printable

    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    return escape(printable(value, width))


def guarded(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula gets an apostrophe in front.

    >>> [guarded(v) for v in ("=1+1", "plain", -3.5)]
    ["'=1+1", 'plain', -3.5]
    """
    if isinstance(value, str) and value.startswith(_FORMULA):
        return "'" + value
    return value


def write_rows(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], path: Path, *, raw: bool = False
) -> None:
    """Rows to a file whose suffix tells the format: .csv, .tsv, .json, .jsonl or .parquet."""
    from coview.store import replacing

    writers = {
        ".csv": _write_csv,
        ".tsv": _write_csv,
        ".json": _write_json,
        ".jsonl": _write_json_lines,
        ".parquet": _write_parquet,
    }
    suffix = path.suffix.lower()
    if suffix not in writers:
        known = ", ".join(writers)
        raise UsageError(f"{path.name} must end in one of {known}, which tells the format.")
    names = columns if raw or suffix not in (".csv", ".tsv") else [guarded(c) for c in columns]
    with replacing(path) as beside:
        writers[suffix](names, rows, beside, raw, suffix)


def _write_csv(columns, rows, path: Path, raw: bool, suffix: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t" if suffix == ".tsv" else ",")
        writer.writerow(columns)
        for row in rows:
            writer.writerow(row if raw else [guarded(value) for value in row])


def _records(columns, rows):
    return (dict(zip(columns, row, strict=True)) for row in rows)


def _write_json(columns, rows, path: Path, raw: bool, suffix: str) -> None:
    path.write_text(json.dumps(list(_records(columns, rows)), ensure_ascii=False), "utf-8")


def _write_json_lines(columns, rows, path: Path, raw: bool, suffix: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        for record in _records(columns, rows):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _write_parquet(columns, rows, path: Path, raw: bool, suffix: str) -> None:
    from coview.extras import need

    arrow, parquet = need("pyarrow", "parquet"), need("pyarrow.parquet", "parquet")
    parquet.write_table(arrow.Table.from_pylist(list(_records(columns, rows))), path)


def print_json(value: Any) -> None:
    """For programs, on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def deliver(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    as_json: bool,
    output: Path | None,
    raw: bool = False,
    most: int | None = None,
) -> None:
    """Rows to a file, as JSON, or as a table of which people see the first `most`."""
    if output is not None:
        write_rows(columns, rows, output, raw=raw)
        note(f"{len(rows):,} rows written to {output}.")
    if as_json:
        print_json(list(_records(columns, rows)))
    elif output is None:
        numbers = (
            [c for c, v in zip(columns, rows[0], strict=True) if isinstance(v, float | int)]
            if rows
            else []
        )
        shown = table(title, columns, right=numbers)
        for row in rows[:most]:
            shown.add_row(*(cell(value, 90) for value in row))
        console().print(shown)
        if most is not None and len(rows) > most:
            note(f"{most} of {len(rows):,} rows shown; all of them: -o FILE.csv, or --json.")


# -- state -----------------------------------------------------------------------------------------


@dataclass
class State:
    """Settings of this run of the program."""

    debug: bool = False


STATE = State()


class UsageError(ValueError):
    """The command was not written as it should be: exit code 2."""


def refuse_options(context: Any, names: Iterable[str], why: str) -> None:
    """Refuse options that would have no effect: whoever gives one believes that it has."""
    sources = {name: context.get_parameter_source(name) for name in names}
    given = [n for n, source in sources.items() if source and source.name == "COMMANDLINE"]
    if given:
        listed = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"{why}: leave out {listed}.")
