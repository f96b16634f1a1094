"""Tables of a paper in Markdown: published and measured lines of each row below each other.

Means, ties and the layout are those of `coview.compare`. Added here are the lines of a row
(published, and one for each way in which it was measured) and the comparisons below a table: the
paper's own model against its published numbers, and the rows that are better than it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coview.compare import Results
from coview.compare.aggregate import Group
from coview.compare.metric_info import metric_info
from coview.compare.result_table import (
    CellText,
    TableStyle,
    metric_notes,
    metric_titles,
    write,
)
from coview.compare.stats import compare_with, rank
from experiments.csv_files import Number, Published
from experiments.paper import Column, Table

ALPHA = 0.05


@dataclass(frozen=True)
class FilledTable:
    """A table with its numbers.

    Attributes
    ----------
    table : Table
    rows : list of str
    measured : dict of Group
        By row, variant and name of the column; without values where nothing was measured.
    published : dict of Number
        By row and name of the column.
    """

    table: Table
    rows: list[str]
    measured: dict[tuple[str, str, str], Group]
    published: dict[tuple[str, str], Number]

    @property
    def style(self) -> TableStyle:
        """How numbers are shown."""
        return TableStyle(digits=self.table.digits, percent=self.table.percent)

    @property
    def oracles(self) -> set[str]:
        """Rows for which something was chosen with the labels."""
        return {row for (row, _, _), group in self.measured.items() if group.oracle}

    @property
    def places(self) -> list[tuple[str, Column]]:
        """All pairs of a variant and a column."""
        return [(variant, c) for variant in self.table.variants for c in self.table.columns]

    def groups(self, variant: str, column: Column) -> dict[str, Group]:
        """Return what was measured of one variant and column, by row."""
        found = {row: self.measured[row, variant, column.name] for row in self.rows}
        return {row: group for row, group in found.items() if group.values}

    def has_published(self, row: str, column: Column) -> bool:
        """Return whether there is a published number."""
        number = self.published.get((row, column.name))
        return number is not None and number.value is not None


def render(table: Table, results: Results, published: Published) -> str:
    """Return the table, its notes, and how the paper's own model fares."""
    filled = fill(table, results, published)
    parts = [
        _table(filled),
        _notes(filled),
        table.note,
        _against_published(filled),
        _better(filled),
    ]
    return "\n\n".join(part for part in parts if part)


def fill(table: Table, results: Results, published: Published) -> FilledTable:
    """Look up all numbers of a table."""
    known = {
        (row, column.name): published[table.name, row, column.name, column.metric]
        for row in _published_rows(table, published)
        for column in table.columns
        if (table.name, row, column.name, column.metric) in published
    }
    rows = list(dict.fromkeys([row for row, _ in known] + list(table.also)))
    oracles = {run.label for run in results.runs if run.oracle}
    measured = {
        (row, variant, column.name): replace(
            _group(results, row, column, chosen), oracle=row in oracles
        )
        for row in rows
        for variant, chosen in table.variants.items()
        for column in table.columns
    }
    return FilledTable(table, rows, measured, known)


def _published_rows(table: Table, published: Published) -> list[str]:
    rows = dict.fromkeys(row for name, row, _, _ in published if name == table.name)
    return [row for row in rows if not table.only or row in table.only]


def _group(results: Results, row: str, column: Column, chosen: Mapping[str, Any]) -> Group:
    runs = results.where(label=row, **{**column.where, **chosen}).runs
    return Group.of(runs, column.metric, column.part)


# -- the table itself ------------------------------------------------------------------------------


def _table(filled: FilledTable) -> str:
    header = ["", "", *(column.shown_title for column in filled.table.columns)]
    best = {
        (row, variant, column.name)
        for variant, column in filled.places
        for row in _best(filled, variant, column)
    }
    body = []
    for row in filled.rows:
        name = CellText(row, dagger=row in filled.oracles)
        for source, cells in _lines(filled, row, best):
            body.append([name, CellText(source), *cells])
            name = CellText("")  # only the first line of a row has its name
    return write("markdown", header, body, n_text_columns=2).rstrip("\n")


def _best(filled: FilledTable, variant: str, column: Column) -> set[str]:
    """Return the best row, and those that a paired test cannot tell from it."""
    found = rank(filled.groups(variant, column), column.metric, filled.style.test, ALPHA)
    return found.best if found.n_compared else set()


def _lines(
    filled: FilledTable, row: str, best: set[tuple[str, str, str]]
) -> Iterator[tuple[str, list[CellText]]]:
    """Yield the lines of a row: where its numbers come from, and the numbers."""
    columns = filled.table.columns
    if any((row, c.name) in filled.published for c in columns):
        yield "published", [CellText(_published(filled, row, c)) for c in columns]
    if any(filled.measured[row, variant, c.name].values for variant, c in filled.places):
        for variant in filled.table.variants:
            yield variant, [_measured(filled, (row, variant, c.name), c, best) for c in columns]
    elif any(_reason(filled.table, row, c) for c in columns):
        yield "not measured", [CellText(_reason(filled.table, row, c)) for c in columns]


def _published(filled: FilledTable, row: str, column: Column) -> str:
    number = filled.published.get((row, column.name))
    if number is None:
        return ""
    if number.value is None:
        return number.note
    spread = "" if number.sd is None else f" ± {number.sd:.{filled.table.digits}f}"
    return f"{number.value:.{filled.table.digits}f}{spread}"


def _measured(
    filled: FilledTable, key: tuple[str, str, str], column: Column, best: set[tuple[str, str, str]]
) -> CellText:
    group = filled.measured[key]
    if not group.values:
        return CellText(_reason(filled.table, key[0], column))
    return CellText(filled.style.format_mean(group, column.metric), bold=key in best)


def _reason(table: Table, row: str, column: Column) -> str:
    return table.missing.get(row) or table.missing.get(column.name) or ""


# -- below the table -------------------------------------------------------------------------------


def _notes(filled: FilledTable) -> str:
    counts = sorted({len(group.values) for group in filled.measured.values() if group.values})
    if not counts:
        return ""
    runs = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    metrics = list(dict.fromkeys(column.metric for column in filled.table.columns))
    percent = " in %" if filled.table.percent else ""
    titles = f"{metric_titles(metrics)}{percent}"
    lines = [f"{titles}: mean ± standard deviation, ours over {runs} runs (seeds)."]
    lines += metric_notes(metrics)
    if len(filled.rows) > 1:
        lines.append(
            "Bold: the best of ours and, where there are runs enough for that, what a paired "
            "Wilcoxon test over the seeds with Holm's correction cannot tell from it."
        )
    if filled.oracles:
        lines.append("† chosen with the labels.")
    return " ".join(lines)


def _against_published(filled: FilledTable) -> str:
    """Return the differences of the paper's own model to its published numbers, as a table."""
    table, row = filled.table, filled.table.model
    columns = [c for c in table.columns if filled.has_published(row, c)]
    body = []
    for variant in table.variants:
        cells = [difference(filled, row, variant, c) for c in columns]
        if any(cells):
            body.append([CellText(cell) for cell in (variant, *cells)])
    if not body:
        return ""
    header = [f"{row}, ours − published", *(column.shown_title for column in columns)]
    rule = "In brackets the standard error of the difference; ✓ no farther from the published "
    rule += "number than that, ↑ above it, ✗ below."
    return f"{write('markdown', header, body)}\n{rule}"


def difference(filled: FilledTable, row: str, variant: str, column: Column) -> str:
    """Return ours minus published, its standard error, and ✓, ↑ or ✗; "" if not measured."""
    group = filled.measured[row, variant, column.name]
    if not group.values:
        return ""
    table, number = filled.table, filled.published[row, column.name]
    scale = filled.style.scale(column.metric)
    gap = scale * group.mean - (number.value or 0.0)
    own = (scale * group.sd) ** 2 / len(group.values)
    error = float(np.sqrt(own + (number.sd or 0.0) ** 2 / table.n_published))
    same = abs(round(gap, table.digits)) <= error
    mark = "✓" if same else "↑" if gap > 0 else "✗"
    return f"{gap:+.{table.digits}f} ({error:.{table.digits}f}) {mark}"


def _better(filled: FilledTable) -> str:
    """Return a list of the rows with a better mean than the paper's own model."""
    model = filled.table.model
    if not any(model in filled.groups(*place) for place in filled.places):
        return ""
    found: dict[str, list[str]] = {}
    for variant, column in filled.places:
        for row, significant in _ahead(filled, model, variant, column):
            several = f" ({variant})" if len(filled.table.variants) > 1 else ""
            place = f"{column.shown_title}{several}{'*' if significant else ''}"
            found.setdefault(row, []).append(place)
    if not found:
        return f"No other row has a better mean than {model}."
    lines = [f"* {row}: {', '.join(places)}" for row, places in found.items()]
    head = f"Better means than {model} (* where a paired Wilcoxon test, corrected, says so too):"
    return "\n".join([head, "", *lines])


def _ahead(filled: FilledTable, model: str, variant: str, column: Column) -> list[tuple[str, bool]]:
    """Return the rows with a better mean than the model, and whether the test confirms it."""
    here, sign = filled.groups(variant, column), metric_info(column.metric).direction
    if model not in here:
        return []
    others = {row: group for row, group in here.items() if row != model and not group.oracle}
    p_values = compare_with(here[model], list(others.values()), alpha=ALPHA)
    pairs = zip(others.items(), p_values, strict=True)
    own = here[model].mean
    return [(row, p <= ALPHA) for (row, group), p in pairs if sign * (group.mean - own) > 0]
