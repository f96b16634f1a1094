"""Options that several commands have, each said once."""

from pathlib import Path
from typing import Annotated

import typer

_DATA = "The data"
_TEXT = "Texts"

Data = Annotated[
    Path | None,
    typer.Argument(
        help="A table (.csv .tsv .jsonl .parquet, also .gz), a views folder, a folder of pictures "
        "with captions (x.jpg, x.txt), or an .h5mu file. Not needed with --view.",
        show_default=False,
    ),
]
Model = Annotated[Path, typer.Argument(help="A model that `coview fit` wrote.")]
Matrices = Annotated[
    list[str] | None,
    typer.Option(
        "--view",
        metavar="NAME=FILE",
        help="A view as a matrix: NAME=FILE (.mtx .npz .npy .mat .svmlight). May be repeated.",
        rich_help_panel=_DATA,
    ),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="COLUMN",
        help="Column of texts, as COLUMN or VIEW=COLUMN. May be repeated.",
        rich_help_panel=_DATA,
    ),
]
Tokens = Annotated[
    list[str] | None,
    typer.Option(
        "--tokens",
        metavar="COLUMN",
        help="Column of tokens (a list, or parted by spaces), as COLUMN or VIEW=COLUMN.",
        rich_help_panel=_DATA,
    ),
]
Image = Annotated[
    list[str] | None,
    typer.Option(
        "--image", metavar="COLUMN", help="Column of paths of pictures.", rich_help_panel=_DATA
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="Column of the documents' names.", rich_help_panel=_DATA
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Column of classes (obs column of an .h5mu).",
        rich_help_panel=_DATA,
    ),
]
Ids = Annotated[
    Path | None,
    typer.Option(
        "--ids",
        metavar="FILE",
        help="With --view: file of the documents' names, one a line.",
        rich_help_panel=_DATA,
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="With --view: file of classes, .npy or one a line.",
        rich_help_panel=_DATA,
    ),
]
Links = Annotated[
    Path | None,
    typer.Option(
        "--links",
        metavar="FILE",
        help="Edge list (source, target): becomes a view 'links'.",
        rich_help_panel=_DATA,
    ),
]
Use = Annotated[
    list[str] | None,
    typer.Option(
        "--use", metavar="VIEW", help="Use only this view. May be repeated.", rich_help_panel=_DATA
    ),
]
Encoding = Annotated[str, typer.Option(help="Encoding of a text table.", rich_help_panel=_DATA)]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What parts the cells of a table, if not comma or tab.", rich_help_panel=_DATA
    ),
]
Languages = Annotated[
    list[str] | None,
    typer.Option(
        "--language",
        metavar="VIEW=LANGUAGE",
        help="Language of a view, VIEW=LANGUAGE (en, de, ...), for its stop "
        "words. Told by the view's name otherwise.",
        rich_help_panel=_TEXT,
    ),
]
StopWords = Annotated[
    bool,
    typer.Option(
        "--stop-words/--keep-stop-words",
        help="Leave out words such as 'the'.",
        rich_help_panel=_TEXT,
    ),
]
MinDf = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Leave out words in fewer documents. By default 2 (1 for less than 50 documents).",
        rich_help_panel=_TEXT,
    ),
]
MaxDf = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Leave out words in a larger share of the documents. By default 0.5.",
        rich_help_panel=_TEXT,
    ),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option(min=1, help="Keep this many of the most frequent words.", rich_help_panel=_TEXT),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no notes.")]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output, for programs.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write to a .csv, .tsv, .json, .jsonl or .parquet file.",
        show_default=False,
    ),
]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Leave texts that begin with = + - @ as they are in CSV. A "
        "spreadsheet may run them as formulas.",
    ),
]
