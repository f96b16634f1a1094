"""Options that several commands share, and what is wrong with the options given."""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

_DATA = "Data"
_TEXT = "Text"
RUN_PANEL = "Run"

# -- arguments and options -------------------------------------------------------------------------

Data = Annotated[
    Path | None,
    typer.Argument(
        help="A table (.csv, .tsv, .jsonl, .parquet; also .gz), a views or sharded folder, a "
        "folder of images with captions (x.jpg, x.txt), or an .h5mu file. Omit it with --view.",
        show_default=False,
    ),
]
Model = Annotated[Path, typer.Argument(help="A model file written by `coview fit`.")]
Matrices = Annotated[
    list[str] | None,
    typer.Option(
        "--view",
        metavar="NAME=FILE",
        help="A view given as a matrix file (.mtx, .npz, .npy, .mat, .svmlight). Repeatable.",
        rich_help_panel=_DATA,
    ),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="COLUMN",
        help="Column of texts: COLUMN or VIEW=COLUMN. Repeatable.",
        rich_help_panel=_DATA,
    ),
]
Tokens = Annotated[
    list[str] | None,
    typer.Option(
        "--tokens",
        metavar="COLUMN",
        help="Column of tokens (a list, or separated by spaces): COLUMN or VIEW=COLUMN. "
        "Repeatable.",
        rich_help_panel=_DATA,
    ),
]
Image = Annotated[
    list[str] | None,
    typer.Option(
        "--image",
        metavar="COLUMN",
        help="Column of paths of image files: COLUMN or VIEW=COLUMN. Repeatable.",
        rich_help_panel=_DATA,
    ),
]
Embedding = Annotated[
    list[str] | None,
    typer.Option(
        "--embedding",
        metavar="COLUMN",
        help="Column of vectors of an encoder (lists, or numbers with commas or blanks): COLUMN or "
        "VIEW=COLUMN; or VIEW=FILE.npy with a row for each document. Repeatable.",
        rich_help_panel=_DATA,
    ),
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column of document ids.", rich_help_panel=_DATA),
]
Title = Annotated[
    str | None,
    typer.Option(
        "--title",
        metavar="COLUMN",
        help="Column of titles, what documents are called. Default: their ids.",
        rich_help_panel=_DATA,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Column of class labels (for an .h5mu file, a column of obs).",
        rich_help_panel=_DATA,
    ),
]
Ids = Annotated[
    Path | None,
    typer.Option(
        "--ids",
        metavar="FILE",
        help="With --view: file of document ids, one per line.",
        rich_help_panel=_DATA,
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="With --view: file of class labels, .npy or one per line.",
        rich_help_panel=_DATA,
    ),
]
Layers = Annotated[
    list[str] | None,
    typer.Option(
        "--layer",
        metavar="VIEW=LAYER",
        help="Layer of a modality of an .h5mu file that holds its counts, or X. Default: X, or a "
        "layer of counts if X is not whole numbers. Repeatable.",
        rich_help_panel=_DATA,
    ),
]
Links = Annotated[
    Path | None,
    typer.Option(
        "--links",
        metavar="FILE",
        help="Edge list (source, target), added as a view named 'links'.",
        rich_help_panel=_DATA,
    ),
]
Use = Annotated[
    list[str] | None,
    typer.Option(
        "--use", metavar="VIEW", help="Use only this view. Repeatable.", rich_help_panel=_DATA
    ),
]
Encoding = Annotated[str, typer.Option(help="Text encoding of the table.", rich_help_panel=_DATA)]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Delimiter of the table's cells. Default: comma, or tab in a .tsv file.",
        rich_help_panel=_DATA,
    ),
]
Languages = Annotated[
    list[str] | None,
    typer.Option(
        "--language",
        metavar="VIEW=LANGUAGE",
        help="Language of a view (en, de, ...; or none), which selects its stop words. Default: "
        "found from its words and its name. Repeatable.",
        rich_help_panel=_TEXT,
    ),
]
StopWords = Annotated[
    bool,
    typer.Option(
        "--stop-words/--keep-stop-words",
        help="Remove stop words such as 'the'.",
        rich_help_panel=_TEXT,
    ),
]
MinDf = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Ignore words that occur in fewer documents. Default: 2, or 1 for fewer than 50 "
        "documents.",
        rich_help_panel=_TEXT,
    ),
]
MaxDf = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Ignore words that occur in a larger fraction of the documents. Default: 0.5.",
        rich_help_panel=_TEXT,
    ),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option(min=1, help="Keep only this many most frequent words.", rich_help_panel=_TEXT),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Continue an interrupted run from what it saved.",
        rich_help_panel=RUN_PANEL,
    ),
]
Fresh = Annotated[
    bool,
    typer.Option(
        "--fresh",
        help="Discard what an earlier run saved, and start again.",
        rich_help_panel=RUN_PANEL,
    ),
]
Memory = Annotated[
    str,
    typer.Option(
        "--memory",
        metavar="AMOUNT",
        help="How much memory may be taken, about, for data in or for a sharded folder: 1GB, "
        "512MB, ...",
        rich_help_panel=RUN_PANEL,
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Address of the scheduler of a Dask cluster, tcp://HOST:PORT, whose workers see the "
        "sharded folder and do the work.",
        rich_help_panel=RUN_PANEL,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Hide progress bars and notes.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write to this file: .csv, .tsv, .json, .jsonl or .parquet.",
        show_default=False,
    ),
]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="In CSV, do not escape texts that begin with = + - @, which a spreadsheet may run as "
        "formulas, nor control codes.",
    ),
]

# -- words -----------------------------------------------------------------------------------------

# what messages call the arguments of Python; others are no options
ARGUMENTS = {
    **{name: f"--{name}" for name in ("text", "tokens", "image", "embedding")},
    **{name: f"--{name}" for name in ("id", "label", "ids", "labels")},
    **{name: f"--{name}" for name in ("encoding", "delimiter", "overwrite", "space", "metric")},
    "memory": "--memory",
    "languages": "--language",
    "layers": "--layer",
    "stop_words": "--keep-stop-words",
    "min_df": "--min-df",
    "max_df": "--max-df",
    "max_features": "--max-features",
    "new_terms": "--grow",
}

# -- checks ----------------------------------------------------------------------------------------


class UsageError(ValueError):
    """The command line is wrong: exit code 2."""


def given_options(context: typer.Context, names: Iterable[str]) -> list[str]:
    """Return those of the options that stand on the command line."""
    sources = {name: context.get_parameter_source(name) for name in names}
    return [n for n, source in sources.items() if source and source.name == "COMMANDLINE"]


def refuse_options(context: typer.Context, names: Iterable[str], why: str) -> None:
    """Refuse options that would have no effect, instead of ignoring them silently."""
    given = given_options(context, names)
    if given:
        listed = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"{why}: leave out {listed}.")


def command_line(context: typer.Context, but: Iterable[str] = ()) -> list[str]:
    """Return the command with the options that were given, as words; `but` are left out."""
    by_name = {str(p.name): p for p in context.command.params if p.name not in but}
    given = [_as_words(by_name[n], context.params[n]) for n in given_options(context, by_name)]
    return [*context.command_path.split(), *chain.from_iterable(given)]


def _as_words(parameter: Any, value: Any) -> list[str]:
    """Return an option with its value, or an argument, as words of a command line."""
    if parameter.param_type_name == "argument":
        return [str(value)]
    if isinstance(value, bool):
        return [(parameter.opts if value else parameter.secondary_opts)[0]]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for given in values for word in (parameter.opts[0], str(given))]


def parse_pairs(pairs: Sequence[str] | None, option: str) -> dict[str, str]:
    """Parse values of the form NAME=VALUE; VALUE alone is its own name.

    >>> parse_pairs(["en=english text", "de"], "--text")
    {'en': 'english text', 'de': 'de'}
    """
    found: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not name or (equals and not value):
            raise UsageError(f"{option} must be NAME=VALUE; got {pair!r}.")
        if name in found:
            raise UsageError(f"{option} names {name!r} twice.")
        found[name] = value or name
    return found
