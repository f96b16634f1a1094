"""`coview data`: list the papers' data sets, and show what one is and how to get it."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from coview.escaping import for_json, for_terminal

if TYPE_CHECKING:
    from coview.datasets.registry import Dataset

data_app = typer.Typer(
    name="data",
    help="The papers' data sets: list them, or show what one is and how to get it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Name = Annotated[str, typer.Argument(help="Name of a data set, as `coview data list` shows it.")]


@data_app.command("list")
def list_datasets(as_json: Json = False) -> None:
    """List the data sets of the papers and whether they are on this machine.

    They are looked for in the folder named by the environment variable COVIEW_DATA, else in the
    user's data folder.

    Example: coview data list
    """
    from coview.datasets.folders import data_home, find_folder
    from coview.datasets.registry import DATASETS

    if as_json:
        _print_json([_facts(data) for data in DATASETS.values()])
        return
    rows = [
        (
            data.name,
            f"{data.n_docs:,}",
            str(len(data.classes)),
            str(len(data.views)),
            "yes" if find_folder(data) else "no",
            data.title,
        )
        for data in DATASETS.values()
    ]
    _print_table(("name", "documents", "classes", "views", "here", "what it is"), rows)
    typer.echo(f"Looked for in {for_terminal(data_home())}. More about one: coview data info NAME")


@data_app.command()
def info(name: Name, as_json: Json = False) -> None:
    """Show everything about a data set: its views, its publisher, how to get it.

    Example: coview data info mfeat
    """
    data = _dataset(name)
    facts = _facts(data)
    if as_json:
        _print_json(facts)
        return
    typer.echo(f"{data.name}: {data.title}\n")
    _print_table(("", ""), _lines(data, facts["folder"]), header=False)


def _dataset(name: str) -> "Dataset":
    from coview.datasets.registry import dataset

    try:
        return dataset(name)
    except ValueError as error:
        _fail(str(error), code=2)


def _facts(data: "Dataset") -> dict[str, Any]:
    from coview.datasets.folders import find_folder

    folder = find_folder(data)
    return {**data.as_dict(), "folder": None if folder is None else str(folder)}


def _lines(data: "Dataset", folder: str | None) -> list[tuple[str, ...]]:
    """Return the facts about a data set as pairs of a heading and a text."""
    from coview.datasets.folders import data_home

    where = folder or f"not here (looked for in {data_home() / data.folder})"
    lines = [
        ("folder", where),
        ("documents", f"{data.n_docs:,}" + (", split for testing" if data.has_split else "")),
        ("classes", f"{len(data.classes)}: {', '.join(data.classes)}"),
        ("views", ", ".join(f"{view} ({width:,})" for view, width in data.views.items())),
        ("read by default", ", ".join(data.default_views or data.views)),
        ("used by", "; ".join(data.papers) or "none of the papers"),
        ("publisher", data.publisher),
        ("fetch", data.archive),
        ("then run", f"{data.import_command} (in a clone of coview's repository)"),
        ("terms", data.terms),
        ("cite", data.citation),
        *(("note", note) for note in data.notes),
    ]
    return [(key, value) for key, value in lines if value]


def _print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], header: bool = True
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD if header else None, show_header=header, pad_edge=False)
    for number, column in enumerate(columns):
        # Only the last column may wrap: the others are names and numbers.
        table.add_column(column, no_wrap=number < len(columns) - 1, overflow="fold")
    for row in rows:
        table.add_row(*(Text(for_terminal(cell)) for cell in row))
    # A pipe has no width: use that of a wide screen.
    Console(width=None if sys.stdout.isatty() else 120, highlight=False).print(table)


def _print_json(value: Any) -> None:
    typer.echo(for_json(value, indent=1))


def _fail(message: str, code: int = 1) -> NoReturn:
    typer.echo(f"Error: {for_terminal(message)}", err=True)
    raise typer.Exit(code)
