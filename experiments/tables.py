"""A table of a paper in Markdown: its published line and our lines below each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coview.compare import Results, holm, paired_test
from coview.compare.metric_info import metric_info
from coview.compare.stats import enough_pairs
from experiments.paper import Column, Table
from experiments.records import Number, Published

ALPHA = 0.05
Values = dict[int, float]  # by seed


@dataclass(frozen=True)
class Filled:
    """A table with its numbers: by row, variant and column; published ones by row and column."""

    table: Table
    rows: list[str]
    measured: dict[tuple[str, str, str], Values]
    published: dict[tuple[str, str], Number]
    oracles: set[str]

    def of(self, variant: str, column: str) -> dict[str, Values]:
        """All measured rows of one place."""
        places = {r: self.measured.get((r, variant, column)) for r in self.rows}
        return {row: values for row, values in places.items() if values}


def render(table: Table, results: Results, published: Published) -> str:
    """The table, what must be said of it, and how the paper's own model fares."""
    filled = fill(table, results, published)
    parts = [
        _lines(filled),
        _notes(filled),
        table.note,
        _against_published(filled),
        _better(filled),
    ]
    return "\n\n".join(part for part in parts if part)


def fill(table: Table, results: Results, published: Published) -> Filled:
    """Look up all numbers of a table."""
    known = {
        (row, column.name): published[table.name, row, column.name, column.metric]
        for row in _published_rows(table, published)
        for column in table.columns
        if (table.name, row, column.name, column.metric) in published
    }
    rows = list(dict.fromkeys([row for row, _ in known] + list(table.also)))
    measured = {
        (row, variant, column.name): _values(results, row, column, chosen)
        for row in rows
        for variant, chosen in table.variants.items()
        for column in table.columns
    }
    oracles = {run.label for run in results.runs if run.oracle}
    return Filled(table, rows, measured, known, oracles)


def _published_rows(table: Table, published: Published) -> list[str]:
    rows = dict.fromkeys(row for name, row, _, _ in published if name == table.name)
    return [row for row in rows if not table.only or row in table.only]


def _values(results: Results, row: str, column: Column, chosen) -> Values:
    found: Values = {}
    for run in results.where(label=row, **{**column.where, **chosen}).runs:
        value = run.value(column.metric, column.part)
        if value is None:
            continue
        if run.seed in found:
            raise ValueError(f"{row}, {column.name}: two runs of seed {run.seed} in one place.")
        found[run.seed] = value
    return found


# -- the table itself ------------------------------------------------------------------------------


def _lines(filled: Filled) -> str:
    titles = [column.title or column.name for column in filled.table.columns]
    lines = ["| | | " + " | ".join(titles) + " |", "| --- | --- |" + " ---: |" * len(titles)]
    best = {
        (v, c.name): _best(filled, v, c) for v in filled.table.variants for c in _columns(filled)
    }
    for row in filled.rows:
        name = f"{row} †" if row in filled.oracles else row
        for source, cells in _row(filled, row, best):
            lines.append(f"| {name} | {source} | " + " | ".join(cells) + " |")
            name = ""
    return "\n".join(lines)


def _columns(filled: Filled) -> list[Column]:
    return list(filled.table.columns)


def _row(filled: Filled, row: str, best) -> Iterator[tuple[str, list[str]]]:
    columns = _columns(filled)
    if any((row, c.name) in filled.published for c in columns):
        yield "published", [_published(filled, row, c) for c in columns]
    lines = {
        variant: [_measured(filled, row, variant, c, best) for c in columns]
        for variant in filled.table.variants
    }
    if not any(filled.measured[row, v, c.name] for v in lines for c in columns):
        reasons = [_reason(filled.table, row, c) for c in columns]
        if any(reasons):
            yield "not measured", reasons
        return
    yield from lines.items()


def _published(filled: Filled, row: str, column: Column) -> str:
    number = filled.published.get((row, column.name))
    if number is None:
        return ""
    if number.value is None:
        return number.note
    spread = "" if number.sd is None else f" ± {number.sd:.{filled.table.digits}f}"
    return f"{number.value:.{filled.table.digits}f}{spread}"


def _measured(filled: Filled, row: str, variant: str, column: Column, best) -> str:
    values = list(filled.measured[row, variant, column.name].values())
    if not values:
        return _reason(filled.table, row, column)
    text = _show(np.mean(values), column, filled.table)
    if len(values) > 1:
        text += f" ± {_show(np.std(values, ddof=1), column, filled.table)}"
    return f"**{text}**" if row in best[variant, column.name] else text


def _reason(table: Table, row: str, column: Column) -> str:
    return table.missing.get(row) or table.missing.get(column.name) or ""


def scale(column: Column, table: Table) -> float:
    """By what a measured number is multiplied: 100 for shares in per cent."""
    return 100 if table.percent and metric_info(column.metric).share else 1


def _show(number: Any, column: Column, table: Table) -> str:
    return f"{scale(column, table) * number:.{table.digits}f}"


# -- which are best --------------------------------------------------------------------------------


def _best(filled: Filled, variant: str, column: Column) -> set[str]:
    """The row with the best mean, and those that a paired test cannot tell from it."""
    found = {r: v for r, v in filled.of(variant, column.name).items() if r not in filled.oracles}
    sign = metric_info(column.metric).direction
    if len(found) < 2 or not sign:
        return set()
    best = max(found, key=lambda row: sign * np.mean(list(found[row].values())))
    others = [row for row in found if row != best]
    p_values = _tests(found[best], [found[row] for row in others])
    return {best, *(r for r, p in zip(others, p_values, strict=True) if p > ALPHA)}


def _tests(first: Values, others: Sequence[Values]) -> np.ndarray:
    """Corrected p-values over the seeds that both have; NaN where they are too few to tell."""
    needed = enough_pairs(len(others), ALPHA) if others else 0

    def one(second: Values) -> float:
        seeds = sorted(first.keys() & second.keys())
        if len(seeds) < needed:
            return float("nan")
        return paired_test([first[s] for s in seeds], [second[s] for s in seeds])

    return holm([one(second) for second in others])


# -- what is said below ----------------------------------------------------------------------------


def _notes(filled: Filled) -> str:
    counts = sorted({len(values) for values in filled.measured.values() if values})
    if not counts:
        return ""
    runs = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    metrics = list(dict.fromkeys(column.metric for column in filled.table.columns))
    names = ", ".join(metric_info(m).title for m in metrics)
    percent = " in %" if filled.table.percent else ""
    lines = [f"{names}{percent}: mean ± standard deviation, ours over {runs} runs (seeds)."]
    lines += [f"{metric_info(m).note}." for m in metrics if metric_info(m).note]
    if len(filled.rows) > 1:
        lines.append(
            "Bold: the best of ours and, where there are runs enough for that, what a paired "
            "Wilcoxon test over the seeds with Holm's correction cannot tell from it."
        )
    if filled.oracles & set(filled.rows):
        lines.append("† chosen with the labels.")
    return " ".join(lines)


def _against_published(filled: Filled) -> str:
    """The paper's own model: ours minus published, with the standard error of the difference."""
    table, row = filled.table, filled.table.model
    columns = [c for c in _columns(filled) if _has_value(filled, row, c)]
    lines = []
    for variant in table.variants:
        cells = [difference(filled, row, variant, c) for c in columns]
        if any(cells):
            lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    if not lines:
        return ""
    titles = " | ".join(column.title or column.name for column in columns)
    header = [f"| {row}, ours − published | {titles} |", "| --- |" + " ---: |" * len(columns)]
    rule = "In brackets the standard error of the difference; ✓ at or above the published number, "
    rule += "≈ below it by no more than that error, ✗ below by more."
    return "\n".join([*header, *lines, "", rule])


def _has_value(filled: Filled, row: str, column: Column) -> bool:
    number = filled.published.get((row, column.name))
    return number is not None and number.value is not None


def difference(filled: Filled, row: str, variant: str, column: Column) -> str:
    """Ours minus published, its standard error, and ✓, ≈ or ✗; empty if it was not measured."""
    values = list(filled.measured[row, variant, column.name].values())
    if not values:
        return ""
    table, number = filled.table, filled.published[row, column.name]
    ours = scale(column, table) * np.asarray(values)
    gap = ours.mean() - number.value
    error = _standard_error(ours, number.sd, table.n_published)
    mark = "✓" if round(gap, table.digits) >= 0 else "≈" if -gap <= error else "✗"
    return f"{gap:+.{table.digits}f} ({error:.{table.digits}f}) {mark}"


def _standard_error(ours: np.ndarray, sd: float | None, n_published: int) -> float:
    own = ours.var(ddof=1) / len(ours) if len(ours) > 1 else 0.0
    return float(np.sqrt(own + (sd or 0.0) ** 2 / n_published))


def _better(filled: Filled) -> str:
    """Rows with a better mean than the paper's own model."""
    model = filled.table.model
    if not model or not any(filled.measured.get((model, v, c.name)) for v, c in _places(filled)):
        return ""
    found: dict[str, list[str]] = {}
    for variant, column in _places(filled):
        for row, surely in _ahead(filled, model, variant, column):
            several = f" ({variant})" if len(filled.table.variants) > 1 else ""
            place = f"{column.title or column.name}{several}{'*' if surely else ''}"
            found.setdefault(row, []).append(place)
    if not found:
        return f"No other row has a better mean than {model}."
    lines = [f"* {row}: {', '.join(places)}" for row, places in found.items()]
    head = f"Better means than {model} (* where a paired Wilcoxon test, corrected, says so too):"
    return "\n".join([head, "", *lines])


def _places(filled: Filled) -> list[tuple[str, Column]]:
    return [(v, c) for v in filled.table.variants for c in _columns(filled)]


def _ahead(filled: Filled, model: str, variant: str, column: Column):
    """Rows ahead of the model in one place, and whether the test says so."""
    here, sign = filled.of(variant, column.name), metric_info(column.metric).direction
    if model not in here:
        return []
    gaps = {
        row: sign * (np.mean(list(values.values())) - np.mean(list(here[model].values())))
        for row, values in here.items()
        if row != model and row not in filled.oracles
    }
    p_values = _tests(here[model], [here[row] for row in gaps])
    pairs = zip(gaps.items(), p_values, strict=True)
    return [(row, p <= ALPHA) for (row, gap), p in pairs if gap > 0]
