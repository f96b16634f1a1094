"""Results as a table: mean ± standard deviation, the best and those tied with it in bold.

In each column the model with the best mean is compared with every other over the same seeds
(`coview.compare.stats`); those whose corrected p-value is above the level are bold as well. What
was chosen with the labels is marked with a dagger and takes no part in that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from coview.compare.formats import Text, write
from coview.compare.grouping import Axes, Group, grouped
from coview.compare.measures import check_comparable, measure
from coview.compare.results import Results
from coview.compare.stats import bootstrap_interval, enough_pairs, holm, least_p, paired_test
from coview.data.show import plural
from coview.params import check_choice, check_int, check_real

FORMATS = ("markdown", "latex", "text")
SPREADS = ("sd", "interval")
TESTS = ("wilcoxon", "t", None)
REASON = 60  # characters of an error that a cell of a table shows


@dataclass(frozen=True)
class Style:
    """How numbers are shown and compared."""

    digits: int
    percent: bool
    spread: str
    test: str | None
    alpha: float
    plain: bool


@dataclass
class Column:
    """One column: groups of runs by row, and which of them are best or tied with it."""

    metric: str
    groups: dict[str, Group]
    best: set[str] = field(default_factory=set)
    n_compared: int = 0
    too_few: int = 0  # runs, where they are too few for the test
    needed: int = 0  # runs that would be enough


def table(
    results: Results,
    metric: str | Sequence[str] | None = None,
    *,
    rows: str = "model",
    columns: str = "dataset",
    part: str | None = None,
    format: str = "markdown",
    digits: int = 2,
    percent: bool = True,
    spread: str = "sd",
    test: str | None = "wilcoxon",
    alpha: float = 0.05,
    missing: Mapping[str, str] | None = None,
    notes: bool = True,
) -> str:
    """A table of one metric, or of several side by side.

    Parameters
    ----------
    results : Results
    metric : str or sequence of str, default=None
        By default the first of the plan, else accuracy. nmi_max and nmi_mean do not go into one
        table.
    rows, columns : str, default="model", "dataset"
        What the rows and columns are: "model", "dataset", "rate", "part", or the name of a
        parameter or setting, such as "strength" or "label_sampling". Runs that differ in anything
        else but their seed are not averaged: that is an error, unless it is a parameter, which then
        is named beside the model.
    part : str or None, default=None
        Which part of a search, where "part" is not an axis; by default the mean over directions.
    format : {"markdown", "latex", "text"}, default="markdown"
        LaTeX needs the package booktabs. In plain text a star stands for bold.
    digits : int, default=2
    percent : bool, default=True
        Whether shares are shown in per cent.
    spread : {"sd", "interval"}, default="sd"
        What follows the mean: the standard deviation over the runs, or the bounds between which the
        mean lies with 95 % (`bootstrap_interval`).
    test : {"wilcoxon", "t", None}, default="wilcoxon"
        The paired test, corrected by Holm's method. None: only the best is bold.
    alpha : float, default=0.05
        Level of the test.
    missing : dict, default=None
        Rows or columns that could not be measured at all, with the reason.
    notes : bool, default=True
        Whether the table is followed by what one must know to read it.

    Returns
    -------
    str
    """
    check_choice("format", format, FORMATS)
    check_choice("spread", spread, SPREADS)
    check_choice("test", test, TESTS)
    check_int("digits", digits, 0)
    check_real("alpha", alpha, 0, 1)
    style = Style(digits, percent, spread, test, alpha, format == "text")
    names = _metrics(results, metric)
    axes = Axes.of(results, rows, columns, part, missing or {})
    found = {
        (column, name): _compared(Column(name, grouped(results, axes, column, name)), style)
        for column in axes.columns
        for name in names
    }
    header = [rows, *(_title(column, name, names, axes) for column, name in found)]
    body = [
        [_row_title(row, found), *(_cell(c, row, column, axes, style) for column, c in _by(found))]
        for row in axes.rows
    ]
    lines = _notes(found, names, style) if notes else []
    return write(format, header, body, lines)


def _by(found):
    return [(column, c) for (column, _), c in found.items()]


def _metrics(results, metric):
    if metric is None:
        metric = results.metrics[0] if results.metrics else "accuracy"
    names = [metric] if isinstance(metric, str) else list(metric)
    check_comparable(names)
    return names


def _title(column, name, names, axes):
    if len(names) == 1:
        return Text(column)
    return Text(
        measure(name).title if len(axes.columns) == 1 else f"{column} {measure(name).title}"
    )


def _row_title(row, found):
    oracle = any(c.groups[row].oracle for c in found.values() if row in c.groups)
    return Text(row, dagger=oracle)


# -- which are best --------------------------------------------------------------------------------


def _compared(column: Column, style: Style) -> Column:
    """Mark the best and those that the test cannot tell from it."""
    direction = measure(column.metric).direction
    honest = {r: g for r, g in column.groups.items() if g.values and not g.oracle}
    if not honest or not direction:
        return column
    best = max(honest, key=lambda r: direction * honest[r].mean)
    others = [r for r in honest if r != best]
    column.best = {best, *(r for r in others if honest[r].mean == honest[best].mean)}
    column.n_compared = len(others)
    if style.test is not None and others:
        _add_ties(column, honest, best, others, style)
    return column


def _add_ties(column, honest, best, others, style):
    pairs = [honest[best].paired(honest[r]) for r in others]
    n_pairs = min(len(first) for first, _ in pairs)
    if len(others) * least_p(n_pairs, test=style.test) > style.alpha:
        column.too_few = n_pairs  # nothing could differ: a tie would say nothing
        column.needed = enough_pairs(len(others), style.alpha)
        return
    corrected = holm([paired_test(*pair, test=style.test) for pair in pairs])
    column.best |= {r for r, p in zip(others, corrected, strict=True) if p > style.alpha}


# -- cells -----------------------------------------------------------------------------------------


def _cell(column: Column, row: str, name: str, axes: Axes, style: Style) -> Text:
    group = column.groups.get(row)
    if group is None or not group.values:
        reason = axes.missing.get(name) or axes.missing.get(row)
        reason = reason or (group.reason if group else "") or "no such run"
        return Text(f"not measured: {_cut(reason)}")
    failed = f" ({len(group.values)} of {group.n_runs} runs)" if group.n_failed else ""
    return Text(_number(group, column.metric, style) + failed, bold=row in column.best)


def _cut(reason):
    return reason if len(reason) <= REASON else f"{reason[: REASON - 3]}..."


def _number(group: Group, metric: str, style: Style) -> str:
    scale = 100 if style.percent and measure(metric).share else 1
    mean = f"{scale * group.mean:.{style.digits}f}"
    if len(group.values) < 2:
        return mean
    values = scale * np.array(list(group.values.values()))
    if style.spread == "sd":
        return f"{mean} ± {values.std(ddof=1):.{style.digits}f}"
    low, high = bootstrap_interval(values.tolist())
    return f"{mean} [{low:.{style.digits}f}, {high:.{style.digits}f}]"


# -- notes -----------------------------------------------------------------------------------------


def _notes(found, names, style) -> list[str]:
    groups = [g for c in found.values() for g in c.groups.values()]
    lines = [_what_is_shown(names, groups, style)]
    lines += [f"{m.note}." for m in map(measure, names) if m.note]
    if any(len(c.best) and c.n_compared for c in found.values()):
        lines += _what_is_bold(found.values(), style)
    if any(g.oracle for g in groups):
        lines.append("† chosen with the labels (an oracle): no method, and not compared.")
    failed = sum(c.groups[row].n_failed for c in _first(found) for row in c.groups)
    if failed:
        lines.append(f"{plural(failed, 'run')} failed.")
    return lines


def _first(found):
    """One column for each place: several metrics have the same runs."""
    return dict(_by(found)).values()


def _what_is_shown(names, groups, style):
    counts = sorted({len(g.values) for g in groups if g.values})
    percent = style.percent and any(measure(n).share for n in names)
    what = ", ".join(measure(n).title for n in names) + (" in %" if percent else "")
    if not counts:
        return f"{what}: nothing measured."
    runs = plural(counts[-1], "run") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs"
    spread = {"sd": "± standard deviation", "interval": "with its 95 % bootstrap interval"}
    mean = f"mean {spread[style.spread]} over" if counts[-1] > 1 else "from"
    return f"{what}: {mean} {runs} (seeds)."


def _what_is_bold(columns, style):
    mark = "*" if style.plain else "Bold"
    if style.test is None:
        return [f"{mark}: the best mean."]
    test = {"wilcoxon": "Wilcoxon signed-rank test", "t": "t-test"}[style.test]
    few = [c for c in columns if c.too_few]
    tied = [c for c in columns if c.n_compared and not c.too_few]
    ties = (
        f", and those that do not differ from it by a paired {test} over the seeds with Holm's "
        f"correction at the level {style.alpha:g}"
    )
    lines = [f"{mark}: the best mean{ties if tied else ''}."]
    if few:
        worst = min(few, key=lambda c: c.too_few)
        lines.append(
            f"{plural(worst.too_few, 'run')} are too few for a {test}, which would need "
            f"{worst.needed}: there only the best mean is marked."
        )
    return lines
