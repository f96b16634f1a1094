"""What all plots share: colors, plain axes, names of topics, and a report to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coview.escaping import for_plot
from coview.extras import need
from coview.reporting.terms import first_words

if TYPE_CHECKING:
    from coview.reporting import Report
    from coview.reporting.value import TopicReport

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "+++")
INK, GRAY, FAINT = "#222222", "#777777", "#d9d9d9"
ONE_DRAW = {"n_resamples": 1}  # for plots that show no chance level: one is the least
WIDTH = 5.6  # inches: readable in a column of text
LONGEST_NAME = 28  # characters of a name on an axis


def new_axes(height: float = 3.6, width: float = WIDTH) -> Any:
    """Return new axes of a figure that keeps its parts apart."""
    pyplot = need("matplotlib.pyplot", "plot")
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def grid_of_axes(rows: int, columns: int, ax: Any, height: float, width: float = WIDTH) -> Any:
    """Return (rows, columns) axes: of a new figure, or in the place of the axes given."""
    pyplot = need("matplotlib.pyplot", "plot")
    if ax is None:
        size = (width, height)
        made = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
        return made[1]
    ax.set_axis_off()
    inner = ax.get_subplotspec().subgridspec(rows, columns)
    found = [[ax.figure.add_subplot(inner[r, c]) for c in range(columns)] for r in range(rows)]
    return np.array(found, dtype=object)


def plain(ax: Any, *, grid: str | None = None) -> None:
    """Remove the frame but for two sides; add faint lines across an axis, "x" or "y"."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(INK)
    ax.tick_params(colors=INK, labelsize=8)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color=FAINT, linewidth=0.7)


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """Return a text that fits beside an axis, as it may stand in a plot.

    >>> shortened("a rather long name of a topic", 12)
    'a rather lo…'
    """
    return for_plot(text if len(text) <= most else f"{text[: most - 1].rstrip()}…")


def topic_title(topic: TopicReport, n_terms: int = 3, most: int = LONGEST_NAME) -> str:
    """Return the name of a topic, or its number with its first words."""
    if topic.name is not None:
        return shortened(topic.name, most)
    words = " ".join(word for word, _ in first_words(topic.terms.values(), n_terms))
    return shortened(f"{topic.index}: {words}".rstrip(": "), most)


def name_rows(ax: Any, titles: Sequence[str]) -> None:
    """Name the rows of a horizontal plot, the first one at the top."""
    ax.set_yticks(range(len(titles)), titles)
    ax.set_ylim(len(titles) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


def explain_above(ax: Any) -> None:
    """Put the legend above the axes, where it covers nothing."""
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2}
    ax.legend(frameon=False, fontsize=7.5, labelcolor=GRAY, **place)


def largest_topics(report: Report, most: int) -> list[TopicReport]:
    """Return the largest topics, the largest first."""
    return sorted(report.topics, key=lambda topic: -topic.size)[:most]


def report_of(model: Any, views: Any, **options: Any) -> Report:
    """Return what is drawn: the report given instead of views, or a new one."""
    from coview.reporting import Report
    from coview.reporting import report as make_report

    if isinstance(views, Report):
        return views
    if views is None:
        raise ValueError(
            "This plot shows documents: give the views that the model was fitted to, or others."
        )
    return make_report(model, views, search_sample=0, **options)


def check_topics(topics: Sequence[int] | None, report: Report, most: int) -> list[TopicReport]:
    """Return the topics asked for, or the largest."""
    if topics is None:
        return largest_topics(report, most)
    wrong = [t for t in topics if not 0 <= t < len(report.topics)]
    if wrong:
        raise ValueError(f"topics must be from 0 to {len(report.topics) - 1}; found {wrong[0]}.")
    return [report.topics[t] for t in topics]


def check_view(name: str, report: Report, argument: str) -> str:
    """Return the name of a view of the report."""
    if name not in report.view_mixtures:
        known = ", ".join(repr(view) for view in report.view_mixtures)
        raise ValueError(f"{argument} must be a view ({known}); found {name!r}.")
    return name
