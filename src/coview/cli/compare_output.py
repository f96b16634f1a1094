"""What `coview compare` shows: tables of means, one for each metric, and a plot."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from coview.cli.options import UsageError
from coview.escaping import for_markdown, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coview.compare import Plan, Results

TOPICS = "n_components"
TableFormat = StrEnum("TableFormat", ["text", "md", "latex"])
_PLOT_SUFFIXES = (".png", ".svg", ".pdf")


def failures(results: Results) -> list[str]:
    """Return the first error of each model that failed; tables have no room for it."""
    first = {(run.dataset, run.label): run.error for run in reversed(results.failures)}
    return [f"{label} failed on {data}: {error}" for (data, label), error in first.items()]


# -- tables ----------------------------------------------------------------------------------------


def tables(results: Results, plan: Plan, wanted: Sequence[str], format: TableFormat) -> list[str]:
    """Return one table per metric; for clustering, one with a column per data set."""
    from coview.compare.metric_info import metric_info

    rows, columns = {
        "cluster": ("model", "dataset"),
        "classify": ("model", "rate"),
        "retrieve": ("part", "model"),
    }[plan.task]
    if plan.task == "cluster" and len(plan.datasets) == 1 and _varied_parameters(plan) == [TOPICS]:
        columns = TOPICS
    groups: list[tuple[str, ...]] = (
        [results.datasets] if plan.task == "cluster" else [(d,) for d in results.datasets]
    )
    form = "markdown" if format is TableFormat.md else format.value
    found = []
    for datasets in groups:
        chosen = results.where(dataset=list(datasets))
        for metric in table_metrics(results, plan, wanted):
            by = ", by the number of topics" if columns == TOPICS else ""
            title = f"{', '.join(datasets)}: {metric_info(metric).title}{by}"
            made = chosen.table(metric, rows=rows, columns=columns, format=form)
            found.append(heading(title, format) + made)
    return found


def table_metrics(results: Results, plan: Plan, wanted: Sequence[str]) -> list[str]:
    """Return the metrics to show: of the options, of the plan, or the usual ones of the task."""
    if wanted or plan.metrics:
        return list(wanted or plan.metrics)
    if plan.task == "retrieve":
        return ["map_standard"]
    if "accuracy" not in results.measured():  # the data have no labels
        return ["coherence", "seconds"]
    return ["accuracy", "nmi_max"] if plan.task == "cluster" else ["accuracy"]


def heading(title: str, format: TableFormat) -> str:
    """Return the title of a table in its format."""
    shown = one_line(title)
    headings = {TableFormat.md: f"### {for_markdown(title)}\n\n", TableFormat.latex: f"% {shown}\n"}
    return headings.get(format, f"{shown}\n\n")


# -- plot ------------------------------------------------------------------------------------------


def check_plot(path: Path, varies: bool) -> None:
    """Refuse a plot that could not be drawn, before the data are read."""
    from coview.extras import need

    need("matplotlib", "plot")
    if path.suffix.lower() not in _PLOT_SUFFIXES:
        raise UsageError(f"--plot writes {', '.join(_PLOT_SUFFIXES)} files; got {path.name}.")
    if not varies:
        raise UsageError(f"{_NEEDED}; here nothing varies.")


_NEEDED = (
    "--plot draws a metric along what varies: several numbers of topics (-k 5,10,20), fractions of "
    "labels (--task classify), or one parameter in the grid of a plan"
)


def plot_axis(plan: Plan) -> str:
    """Return what to plot along: the rate of labels, or the one parameter that the plan varies."""
    if len(plan.datasets) > 1:
        raise UsageError(f"--plot takes one data set; the plan has {len(plan.datasets)}.")
    axes = ["rate"] if plan.task == "classify" else _varied_parameters(plan)
    if len(axes) != 1:
        found = f"this plan varies {', '.join(axes)}" if axes else "here nothing varies"
        raise UsageError(f"{_NEEDED}; {found}.")
    return axes[0]


def _varied_parameters(plan: Plan) -> list[str]:
    """Return the parameters with several values in the grid of some model."""
    found = [name for entry in plan.models for name, v in entry.grid.items() if len(v) > 1]
    return list(dict.fromkeys(found))


def draw_plot(results: Results, axis: str, metric: str, path: Path) -> None:
    """Draw a metric along the axis, and save it."""
    import matplotlib

    matplotlib.use("Agg")  # a command has no window
    from coview.plot import LabelShareDisplay, SensitivityDisplay

    if axis == "rate":
        LabelShareDisplay.from_results(results, metric=metric).save(path)
    else:
        SensitivityDisplay.from_results(results, x=axis, metric=metric).save(path)
