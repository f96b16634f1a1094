"""The table of docs/reproduction.md: the main numbers of all papers, published and ours.

It is made from the same files as the papers' own pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from coview.compare import Results
from experiments.csv_files import Published, read_published, read_results
from experiments.paper import HERE, Column, folder_of, load_paper
from experiments.paper_tables import FilledTable, difference, fill

PAGE = HERE.parent / "docs" / "reproduction.md"
BEGIN, END = "<!-- made by `python -m experiments summary` -->", "<!-- to here -->"


@dataclass(frozen=True)
class Claim:
    """One line: a model of a table, in one of the ways it was measured, beside a simple rival.

    Parameters
    ----------
    paper, table, row, variant : str
        Number of the paper, title of the table in its spec, row, and line of the row.
    rival : str, default=""
        Row of a simple method in the same table.
    columns : sequence of str, default=()
        Titles of the columns; by default all with a published number.
    """

    paper: str
    table: str
    row: str
    variant: str
    rival: str = ""
    columns: Sequence[str] = ()


def _pairwise(row: str, rival: str) -> list[Claim]:
    tables, starts = ("Table 1, accuracy", "Table 1, NMI (max)"), ("random start", "our start")
    return [Claim("000", t, row, s, rival, ["Reuters"]) for t in tables for s in starts]


def _graphs(row: str) -> list[Claim]:
    tables = ("Table 2, accuracy", "Table 2, NMI (max)")
    lines = ("as in the papers", "our defaults")
    columns = ["Handwritten (mfeat)", "Reuters (reuters1200)"]
    return [Claim("001", t, row, v, "Spectral", columns) for t in tables for v in lines]


_SEARCH = "Table 1, Wikipedia: each view of a test document folded in by itself"

CLAIMS = [
    *_pairwise("CoPLSA(2)", "LinkPLSA(2)"),
    *_pairwise("CoPLSA(3)", "LinkPLSA(3)"),
    *_graphs("MGGM"),
    *_graphs("LTM"),
    *_graphs("ConcatLTM"),
    *(Claim("003", _SEARCH, row, "measured", "SCM") for row in ("Link PLSA", "sKL coPLSA")),
    *(
        Claim("004", f"Table 3, {name}", "MVPLSA", sampling, "LinkPLSA")
        for name in ("Cornell", "Washington", "NewsGv2", "NewsGv4")
        for sampling in ("uniform", "stratified")
    ),
]

HEADER = "| paper | table | model | how | columns | published | ours | | simple rival |"


def write_summary() -> None:
    """Write the table into the page."""
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def updated(text: str) -> str:
    """Return the text of the page with the present table between its marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{summary()}\n\n{END}{after}"


def summary() -> str:
    """Return the table in Markdown."""
    return "\n".join([HEADER, "| --- " * 9 + "|", *(_line(claim) for claim in CLAIMS)])


def _line(claim: Claim) -> str:
    filled = _filled(claim.paper, claim.table)
    columns = [c for c in filled.table.columns if _wanted(claim, filled, c)]
    # the mark at the end of "-0.12 (0.3) ✗"
    marks = [difference(filled, claim.row, claim.variant, c)[-1:] for c in columns]
    cells = [
        f"[{claim.paper}](../experiments/{folder_of(claim.paper).name}/README.md)",
        claim.table.split(":")[0],
        claim.row,
        claim.variant,
        " / ".join(c.shown_title for c in columns),
        " / ".join(
            _number(filled, filled.published[claim.row, c.name].value or 0.0) for c in columns
        ),
        _ours(filled, claim.row, claim.variant, columns),
        "".join(marks),
        f"{claim.rival}: {_ours(filled, claim.rival, claim.variant, columns)}",
    ]
    return "| " + " | ".join(cells) + " |"


@cache
def _filled(number: str, title: str) -> FilledTable:
    folder = folder_of(number)
    table = next(t for t in load_paper(folder).tables if t.title == title)
    results, published = _records(folder)
    return fill(table, results, published)


@cache
def _records(folder: Path) -> tuple[Results, Published]:
    return read_results(folder / "results.csv"), read_published(folder / "published.csv")


def _wanted(claim: Claim, filled: FilledTable, column: Column) -> bool:
    wanted = not claim.columns or column.shown_title in claim.columns
    return wanted and filled.has_published(claim.row, column)


def _ours(filled: FilledTable, row: str, variant: str, columns: Sequence[Column]) -> str:
    found = [
        filled.style.scale(c.metric) * filled.measured[row, variant, c.name].mean for c in columns
    ]
    return " / ".join(_number(filled, value) for value in found)


def _number(filled: FilledTable, value: float) -> str:
    return f"{value:.{1 if filled.table.percent else 3}f}"
