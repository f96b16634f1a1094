"""The table in docs/reproduction.md: the papers' main numbers, published and ours.

It is made of the same files as the papers' pages, so it cannot say anything else than they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from experiments.paper import HERE, Column, folder_of, load_paper
from experiments.records import read_published, read_results
from experiments.tables import Filled, difference, fill, scale

PAGE = HERE.parent / "docs" / "reproduction.md"
BEGIN, END = "<!-- made by `python -m experiments summary` -->", "<!-- to here -->"


@dataclass(frozen=True)
class Claim:
    """A line: a model of a table, in one of the ways it was measured, beside a simple rival.

    Parameters
    ----------
    paper, table, row, variant : str
        Number of the paper, title of the table in its spec, row, and line of the row.
    rival : str, default=""
        The row of a simple method in the same table.
    columns : sequence of str, default=()
        Titles of the columns; by default all that have a published number.
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
    """Put the table into the page anew."""
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def renewed(text: str) -> str:
    """The text of the page with the table as it is now."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{summary()}\n\n{END}{after}"


def summary() -> str:
    """The table."""
    return "\n".join([HEADER, "| --- " * 9 + "|", *(_line(claim) for claim in CLAIMS)])


def _line(claim: Claim) -> str:
    filled = _filled(claim.paper, claim.table)
    columns = [c for c in filled.table.columns if _wanted(claim, filled, c)]
    # of "-0.12 (0.3) ✗" the mark
    marks = [difference(filled, claim.row, claim.variant, c)[-1:] for c in columns]
    cells = [
        f"[{claim.paper}](../experiments/{folder_of(claim.paper).name}/README.md)",
        claim.table.split(":")[0],
        claim.row,
        claim.variant,
        " / ".join(c.title or c.name for c in columns),
        " / ".join(_number(filled, filled.published[claim.row, c.name].value) for c in columns),
        _ours(filled, claim.row, claim.variant, columns),
        "".join(marks),
        f"{claim.rival}: {_ours(filled, claim.rival, claim.variant, columns)}",
    ]
    return "| " + " | ".join(cells) + " |"


@cache
def _filled(number: str, title: str) -> Filled:
    folder = folder_of(number)
    table = next(t for t in load_paper(folder).tables if t.title == title)
    results, published = _records(folder)
    return fill(table, results, published)


@cache
def _records(folder: Path):
    return read_results(folder / "results.csv"), read_published(folder / "published.csv")


def _wanted(claim: Claim, filled: Filled, column: Column) -> bool:
    number = filled.published.get((claim.row, column.name))
    known = number is not None and number.value is not None
    return known and (not claim.columns or (column.title or column.name) in claim.columns)


def _ours(filled: Filled, row: str, variant: str, columns: Sequence[Column]) -> str:
    found = [
        scale(c, filled.table) * np.mean(list(filled.measured[row, variant, c.name].values()))
        for c in columns
    ]
    return " / ".join(_number(filled, value) for value in found)


def _number(filled: Filled, value: float) -> str:
    return f"{value:.{1 if filled.table.percent else 3}f}"
