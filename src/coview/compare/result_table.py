"""Results as a table in Markdown, LaTeX or plain text: mean ± standard deviation, the best in bold.

Models are compared within each column, or within each row if they are the columns: the one with the
best mean with every other, over the same seeds (`coview.compare.stats`). Those whose corrected
p-value is above the level are bold as well. Models for which something was chosen with the labels
are marked with a dagger and are not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coview.compare.aggregate import Axes, Group, column_groups
from coview.compare.metric_info import check_known_metrics, check_one_nmi, metric_info
from coview.compare.results import Results
from coview.compare.stats import TESTS, Ranking, bootstrap_interval, rank
from coview.escaping import for_latex, for_markdown, one_line
from coview.params import check_choice, check_int, check_real
from coview.wording import plural

FORMATS = ("markdown", "latex", "text")
SPREADS = ("sd", "interval")
MODEL_AXES = ("model", "label")
OTHER_AXES = ("dataset", "rate", "part", "label_sampling", "split", "similarity", "steps", "plan")
MAX_REASON = 60  # characters of an error message in a cell


@dataclass(frozen=True)
class TableStyle:
    """How numbers are shown and compared: see `table`."""

    digits: int = 2
    percent: bool = True
    spread: str = "sd"
    test: str | None = "wilcoxon"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_int("digits", self.digits, 0)
        check_choice("spread", self.spread, SPREADS)
        check_choice("test", self.test, (*TESTS, None))
        check_real("alpha", self.alpha, 0, 1)

    def scale(self, metric: str) -> float:
        """Return the factor of a metric's values: 100 for shares in percent."""
        return 100 if self.percent and metric_info(metric).share else 1

    def format_mean(self, group: Group, metric: str) -> str:
        """Return the mean of a group with its spread.

        >>> TableStyle(digits=1).format_mean(Group({0: 0.5, 1: 0.6}, 2, 0, "", False), "accuracy")
        '55.0 ± 7.1'
        """
        scale = self.scale(metric)
        mean = f"{scale * group.mean:.{self.digits}f}"
        if len(group.values) < 2:
            return mean
        if self.spread == "sd":
            return f"{mean} ± {scale * group.sd:.{self.digits}f}"
        low, high = bootstrap_interval([scale * value for value in group.values.values()])
        return f"{mean} [{low:.{self.digits}f}, {high:.{self.digits}f}]"


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
    """Return a table of one metric, or of several side by side.

    Parameters
    ----------
    results : Results
    metric : str or sequence of str, default=None
        By default the first metric of the plan, else accuracy. nmi_max and nmi_mean cannot be in
        one table.
    rows, columns : str, default="model", "dataset"
        What the rows and columns are: "model", "dataset", "rate", "part", or the name of a
        parameter or setting, such as "strength" or "label_sampling". Runs of one cell may differ
        only in their seeds; anything else is an error, except for parameters of a model, which are
        then added to its name.
    part : str or None, default=None
        Which part of a search, if "part" is not an axis; by default the mean over directions.
    format : {"markdown", "latex", "text"}, default="markdown"
        LaTeX needs the package booktabs. In plain text a star stands for bold.
    digits : int, default=2
        Digits after the decimal point.
    percent : bool, default=True
        Whether to show shares in percent.
    spread : {"sd", "interval"}, default="sd"
        What follows the mean: the standard deviation over the runs, or the 95 % confidence interval
        of the mean (`bootstrap_interval`).
    test : {"wilcoxon", "t", "rank_sum", None}, default="wilcoxon"
        Paired test, corrected by Holm's method. With None only the best is bold.
    alpha : float, default=0.05
        Level of the test.
    missing : dict, default=None
        Rows or columns that could not be measured at all, with the reason.
    notes : bool, default=True
        Whether to add explanations below the table.

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
    style = TableStyle(digits, percent, spread, test, alpha)
    names = _metrics(results, metric)
    check_known_metrics(names, results.measured())
    axes = Axes.of(results, rows, columns, part, missing or {})
    groups = {
        (row, column, name): group
        for column in axes.columns
        for name in names
        for row, group in column_groups(results, axes, column, name).items()
    }
    marked, rankings = _compared(groups, axes, style)
    places = [(column, name) for column in axes.columns for name in names]
    header: list[str | CellText] = [rows, *(_title(groups, place, names, axes) for place in places)]
    body = [
        [
            CellText(row, dagger=_has_oracle(groups, 0, row) and columns not in MODEL_AXES),
            *(_cell(groups, (row, *place), marked, axes, style) for place in places),
        ]
        for row in axes.rows
    ]
    bold = "*" if format == "text" else "Bold"
    lines = _notes(results, list(groups.values()), rankings, names, style, bold) if notes else []
    return write(format, header, body, lines)


Key = tuple[str, str, str]  # row, column and metric of a number
Groups = Mapping[Key, Group]


def _metrics(results: Results, metric: str | Sequence[str] | None) -> list[str]:
    if metric is None:
        metric = results.metrics[0] if results.metrics else "accuracy"
    names = [metric] if isinstance(metric, str) else list(metric)
    check_one_nmi(names)
    return names


def _title(groups: Groups, place: tuple[str, str], names: Sequence[str], axes: Axes) -> CellText:
    """Return the title of a column: its own, that of its metric, or both."""
    column, name = place
    dagger = axes.column_axis in MODEL_AXES and _has_oracle(groups, 1, column)
    if len(names) == 1:
        return CellText(column, dagger=dagger)
    title = metric_info(name).title
    return CellText(title if len(axes.columns) == 1 else f"{column} {title}", dagger=dagger)


def _has_oracle(groups: Groups, axis: int, value: str) -> bool:
    """Return whether a row (axis 0) or column (axis 1) has a group chosen with the labels."""
    return any(group.oracle for key, group in groups.items() if key[axis] == value)


def _compared(groups: Groups, axes: Axes, style: TableStyle) -> tuple[set[Key], list[Ranking]]:
    """Return the numbers in bold: models are compared, whether they are the rows or the columns."""
    if axes.column_axis in MODEL_AXES:
        own, common = 1, 0
    elif axes.row_axis in OTHER_AXES:
        return set(), []
    else:
        own, common = 0, 1
    rivals: dict[tuple[str, str], dict[str, Key]] = {}
    for key in groups:
        rivals.setdefault((key[common], key[2]), {})[key[own]] = key
    marked, rankings = set(), []
    for (_, metric), keys in rivals.items():
        found = rank({n: groups[k] for n, k in keys.items()}, metric, style.test, style.alpha)
        rankings.append(found)
        marked |= {keys[name] for name in found.best}
    return marked, rankings


# -- cells -----------------------------------------------------------------------------------------


def _cell(groups: Groups, key: Key, marked: set[Key], axes: Axes, style: TableStyle) -> CellText:
    row, column, metric = key
    group = groups.get(key)
    if group is None or not group.values:
        reason = axes.missing.get(column) or axes.missing.get(row)
        reason = reason or (group.reason if group else "") or "no such run"
        return CellText(f"not measured: {_cut(reason)}")
    failed = f" ({len(group.values)} of {group.n_runs} runs)" if group.n_failed else ""
    return CellText(style.format_mean(group, metric) + failed, bold=key in marked)


def _cut(reason: str) -> str:
    return reason if len(reason) <= MAX_REASON else f"{reason[: MAX_REASON - 3]}..."


# -- notes below a table ---------------------------------------------------------------------------


def _notes(
    results: Results,
    groups: Sequence[Group],
    rankings: Sequence[Ranking],
    names: Sequence[str],
    style: TableStyle,
    bold: str,
) -> list[str]:
    lines = [_what_is_shown(names, groups, style), *metric_notes(names)]
    if any(r.n_compared for r in rankings):
        lines += _what_is_bold(rankings, style, bold)
    if any(g.oracle for g in groups):
        lines.append("† chosen with the labels (an oracle): no method, and not compared.")
    if results.failures:
        lines.append(f"{plural(len(results.failures), 'run')} failed.")
    return lines


def metric_notes(names: Sequence[str]) -> list[str]:
    """Return the explanations that some metrics need, such as the kind of NMI."""
    return [f"{info.note}." for info in map(metric_info, names) if info.note]


def metric_titles(names: Sequence[str]) -> str:
    """Return the titles of some metrics, with commas between them."""
    return ", ".join(metric_info(name).title for name in names)


def _what_is_shown(names: Sequence[str], groups: Sequence[Group], style: TableStyle) -> str:
    counts = sorted({len(g.values) for g in groups if g.values})
    percent = style.percent and any(metric_info(n).share for n in names)
    what = metric_titles(names) + (" in %" if percent else "")
    if not counts:
        return f"{what}: nothing measured."
    runs = plural(counts[-1], "run") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs"
    spread = {"sd": "± standard deviation", "interval": "with its 95 % bootstrap interval"}
    if counts[-1] == 1:
        return f"{what}: one run."
    return f"{what}: mean {spread[style.spread]} over {runs} (seeds)."


def _what_is_bold(rankings: Sequence[Ranking], style: TableStyle, bold: str) -> list[str]:
    if style.test is None:
        return [f"{bold}: the best mean."]
    ranks = {"wilcoxon": "Wilcoxon signed-rank test", "rank_sum": "Wilcoxon rank-sum test"}
    test = ranks.get(style.test, "t-test")
    paired = "" if style.test == "rank_sum" else "paired "
    few = [r for r in rankings if r.needed]
    tested = any(r.n_tested for r in rankings)
    ties = (
        f", and those that do not differ from it by a {paired}{test} over the seeds with Holm's "
        f"correction at the level {style.alpha:g}"
    )
    lines = [f"{bold}: the best mean{ties if tested else ''}."]
    if few:
        worst = min(few, key=lambda r: r.n_pairs)
        lines.append(
            f"{plural(worst.n_pairs, 'run')} {'is' if worst.n_pairs == 1 else 'are'} too few for a "
            f"{test}, which would need {worst.needed}: there only the best mean is marked."
        )
    return lines


# -- formats ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CellText:
    """The text of a cell, and how it is marked."""

    text: str
    bold: bool = False
    dagger: bool = False


Row = Sequence[CellText]
Rows = Sequence[Row]


def write(
    format: str,
    header: Sequence[str | CellText],
    rows: Rows,
    notes: Sequence[str] = (),
    n_text_columns: int = 1,
) -> str:
    """Write a table in one of the `FORMATS`.

    Parameters
    ----------
    format : {"markdown", "latex", "text"}
    header : sequence of str or CellText
    rows : sequence of sequence of CellText
    notes : sequence of str, default=()
        Sentences below the table.
    n_text_columns : int, default=1
        The first columns, which are aligned to the left; the others are numbers.
    """
    titles = [cell if isinstance(cell, CellText) else CellText(cell) for cell in header]
    writer = {"markdown": _markdown, "latex": _latex, "text": _text}[format]
    return writer(titles, rows, notes, n_text_columns)


def _markdown(header: Row, rows: Rows, notes: Sequence[str], n_text: int) -> str:
    titles = [_markdown_cell(cell) for cell in header]
    lines = [
        "|" + "".join(f" {title} |" if title else " |" for title in titles),
        "|" + " --- |" * n_text + " ---: |" * (len(header) - n_text),
    ]
    lines += [_markdown_row(row) for row in rows]
    return "\n".join([*lines, *(["", " ".join(notes)] if notes else [])]) + "\n"


def _markdown_row(cells: Row) -> str:
    return "| " + " | ".join(_markdown_cell(cell) for cell in cells) + " |"


def _markdown_cell(cell: CellText) -> str:
    text = for_markdown(cell.text) + (" †" if cell.dagger else "")
    return f"**{text}**" if cell.bold else text


def _latex(header: Row, rows: Rows, notes: Sequence[str], n_text: int) -> str:
    lines = [
        r"\begin{tabular}{" + "l" * n_text + "r" * (len(header) - n_text) + "}",
        r"\toprule",
        _latex_row(header),
        r"\midrule",
        *(_latex_row(row) for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join([*lines, *(f"\n{for_latex(note)}" for note in notes)]) + "\n"


def _latex_row(cells: Row) -> str:
    return " & ".join(_latex_cell(cell) for cell in cells) + r" \\"


def _latex_cell(cell: CellText) -> str:
    text = for_latex(cell.text) + (r"$^\dagger$" if cell.dagger else "")
    return rf"\textbf{{{text}}}" if cell.bold else text


def _text(header: Row, rows: Rows, notes: Sequence[str], n_text: int) -> str:
    plain = [[_plain_cell(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*plain, strict=True)]
    lines = [
        "  ".join(
            c.ljust(w) if i < n_text else c.rjust(w) for i, (c, w) in enumerate(pairs)
        ).rstrip()
        for pairs in ([*zip(row, widths, strict=True)] for row in plain)
    ]
    return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


def _plain_cell(cell: CellText) -> str:
    text = one_line(cell.text) + (" †" if cell.dagger else "")
    return f"{text} *" if cell.bold else f"{text}  "
