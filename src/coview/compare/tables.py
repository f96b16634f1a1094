"""Results as a table: mean ± standard deviation, the best and those tied with it in bold.

Models are compared with each other, in each column, or in each row where they are the columns: the
one with the best mean with every other, over the same seeds (`coview.compare.stats`). Those
whose corrected p-value is above the level are bold as well. What was chosen with the labels is
marked with a dagger and takes no part in that.

Tables as Markdown, LaTeX and plain text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coview.compare.groups import Axes, Group, grouped
from coview.compare.measures import check_comparable, check_measured, measure
from coview.compare.results import Results
from coview.compare.stats import Contest, bootstrap_interval, contest
from coview.params import check_choice, check_int, check_real
from coview.wording import plural

FORMATS = ("markdown", "latex", "text")
SPREADS = ("sd", "interval")
TESTS = ("wilcoxon", "t", None)
MODELS = ("model", "label")
NOT_MODELS = ("dataset", "rate", "part", "label_sampling", "split", "similarity", "steps", "plan")
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

    Examples
    --------
    >>> from coview.compare import Run
    >>> runs = [Run("mfeat", name, name, {}, seed, values={"": {"accuracy": value + seed / 100}})
    ...         for name, value in (("link", 0.9), ("kmeans", 0.8)) for seed in range(6)]
    >>> print(table(Results(runs), "accuracy", notes=False), end="")
    | model | mfeat |
    | --- | ---: |
    | link | **92.50 ± 1.87** |
    | kmeans | 82.50 ± 1.87 |
    """
    check_choice("format", format, FORMATS)
    check_choice("spread", spread, SPREADS)
    check_choice("test", test, TESTS)
    check_int("digits", digits, 0)
    check_real("alpha", alpha, 0, 1)
    style = Style(digits, percent, spread, test, alpha, format == "text")
    names = _metrics(results, metric)
    check_measured(names, results.measured())
    axes = Axes.of(results, rows, columns, part, missing or {})
    groups = {
        (row, column, name): group
        for column in axes.columns
        for name in names
        for row, group in grouped(results, axes, column, name).items()
    }
    marked, contests = _compared(groups, axes, style)
    places = [(column, name) for column in axes.columns for name in names]
    header = [rows, *(_title(groups, place, names, axes) for place in places)]
    body = [
        [
            Text(row, dagger=_chosen(groups, 0, row) and columns not in MODELS),
            *(_cell(groups, (row, *place), marked, axes, style) for place in places),
        ]
        for row in axes.rows
    ]
    lines = _notes(results, groups.values(), contests, names, style) if notes else []
    return write(format, header, body, lines)


def _metrics(results, metric):
    if metric is None:
        metric = results.metrics[0] if results.metrics else "accuracy"
    names = [metric] if isinstance(metric, str) else list(metric)
    check_comparable(names)
    return names


def _title(groups, place, names, axes):
    column, name = place
    dagger = axes.column_axis in MODELS and _chosen(groups, 1, column)
    if len(names) == 1:
        return Text(column, dagger=dagger)
    title = measure(name).title
    return Text(title if len(axes.columns) == 1 else f"{column} {title}", dagger=dagger)


def _chosen(groups, axis, value):
    """Whether something of this row (axis 0) or column (axis 1) was chosen with the labels."""
    return any(group.oracle for key, group in groups.items() if key[axis] == value)


def _compared(groups, axes, style) -> tuple[set[tuple[str, str, str]], list[Contest]]:
    """The cells in bold: models are compared with each other, whether rows or columns."""
    if axes.column_axis in MODELS:
        own, common = 1, 0
    elif axes.row_axis in NOT_MODELS:
        return set(), []
    else:
        own, common = 0, 1
    parties: dict[tuple[str, str], dict[str, tuple[str, str, str]]] = {}
    for key in groups:
        parties.setdefault((key[common], key[2]), {})[key[own]] = key
    marked, contests = set(), []
    for (_, metric), party in parties.items():
        found = contest({n: groups[k] for n, k in party.items()}, metric, style.test, style.alpha)
        contests.append(found)
        marked |= {party[name] for name in found.best}
    return marked, contests


# -- cells -----------------------------------------------------------------------------------------


def _cell(groups, key, marked, axes, style) -> Text:
    row, column, metric = key
    group = groups.get(key)
    if group is None or not group.values:
        reason = axes.missing.get(column) or axes.missing.get(row)
        reason = reason or (group.reason if group else "") or "no such run"
        return Text(f"not measured: {_cut(reason)}")
    failed = f" ({len(group.values)} of {group.n_runs} runs)" if group.n_failed else ""
    return Text(_number(group, metric, style) + failed, bold=key in marked)


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


def _notes(results, groups, contests, names, style) -> list[str]:
    lines = [_what_is_shown(names, groups, style)]
    lines += [f"{m.note}." for m in map(measure, names) if m.note]
    if any(c.n_compared for c in contests):
        lines += _what_is_bold(contests, style)
    if any(g.oracle for g in groups):
        lines.append("† chosen with the labels (an oracle): no method, and not compared.")
    if results.failures:
        lines.append(f"{plural(len(results.failures), 'run')} failed.")
    return lines


def _what_is_shown(names, groups, style):
    counts = sorted({len(g.values) for g in groups if g.values})
    percent = style.percent and any(measure(n).share for n in names)
    what = ", ".join(measure(n).title for n in names) + (" in %" if percent else "")
    if not counts:
        return f"{what}: nothing measured."
    runs = plural(counts[-1], "run") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs"
    spread = {"sd": "± standard deviation", "interval": "with its 95 % bootstrap interval"}
    if counts[-1] == 1:
        return f"{what}: one run."
    return f"{what}: mean {spread[style.spread]} over {runs} (seeds)."


def _what_is_bold(contests, style):
    mark = "*" if style.plain else "Bold"
    if style.test is None:
        return [f"{mark}: the best mean."]
    test = {"wilcoxon": "Wilcoxon signed-rank test", "t": "t-test"}[style.test]
    few = [c for c in contests if c.too_few]
    tied = [c for c in contests if c.n_compared and not c.too_few]
    ties = (
        f", and those that do not differ from it by a paired {test} over the seeds with Holm's "
        f"correction at the level {style.alpha:g}"
    )
    lines = [f"{mark}: the best mean{ties if tied else ''}."]
    if few:
        worst = min(few, key=lambda c: c.n_pairs)
        lines.append(
            f"{plural(worst.n_pairs, 'run')} {'is' if worst.n_pairs == 1 else 'are'} too few for a "
            f"{test}, which would need {worst.needed}: there only the best mean is marked."
        )
    return lines


# -- formats ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """What stands in a cell, and how."""

    text: str
    bold: bool = False
    dagger: bool = False


Rows = Sequence[Sequence[Text]]

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "†": r"$^\dagger$",
    "->": r"$\to$",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def write(format: str, header: Sequence[str | Text], rows: Rows, notes: Sequence[str]) -> str:
    """A table whose first column is text and whose others are numbers."""
    titles = [cell if isinstance(cell, Text) else Text(cell) for cell in header]
    return {"markdown": _markdown, "latex": _latex, "text": _text}[format](titles, rows, notes)


def _markdown(header, rows, notes):
    lines = [_markdown_row(header), "| --- |" + " ---: |" * (len(header) - 1)]
    lines += [_markdown_row(row) for row in rows]
    return "\n".join([*lines, *(["", " ".join(notes)] if notes else [])]) + "\n"


def _markdown_row(cells):
    return "| " + " | ".join(_markdown_cell(cell) for cell in cells) + " |"


def _markdown_cell(cell):
    text = " ".join(cell.text.replace("|", r"\|").split()) + (" †" if cell.dagger else "")
    return f"**{text}**" if cell.bold else text


def _latex(header, rows, notes):
    lines = [
        r"\begin{tabular}{l" + "r" * (len(header) - 1) + "}",
        r"\toprule",
        _latex_row(header),
        r"\midrule",
        *(_latex_row(row) for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join([*lines, *(f"\n{latex_text(note)}" for note in notes)]) + "\n"


def _latex_row(cells):
    return " & ".join(_latex_cell(cell) for cell in cells) + r" \\"


def _latex_cell(cell):
    text = latex_text(cell.text) + (r"$^\dagger$" if cell.dagger else "")
    return rf"\textbf{{{text}}}" if cell.bold else text


def latex_text(text: str) -> str:
    r"""Text for LaTeX, with what it would take for commands escaped.

    >>> print(latex_text("image->text, 5 %"))
    image$\to$text, 5 \%
    """
    marked = text.replace("->", "\0")
    return "".join(_LATEX["->"] if c == "\0" else _LATEX.get(c, c) for c in marked)


def _text(header, rows, notes):
    plain = [[_plain_cell(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*plain, strict=True)]
    lines = [
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(pairs)).rstrip()
        for pairs in ([*zip(row, widths, strict=True)] for row in plain)
    ]
    return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


def _plain_cell(cell):
    text = " ".join(cell.text.split()) + (" †" if cell.dagger else "")
    return f"{text} *" if cell.bold else f"{text}  "
