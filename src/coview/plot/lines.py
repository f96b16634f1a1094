"""Plots of comparisons and fits: lines with bands of one standard deviation over the seeds.

Lines are named at their ends.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coview.compare.aggregate import Line, lines_of
from coview.compare.metric_info import check_clustering_metric, metric_info
from coview.compare.results import Results
from coview.display import Display, whole_numbers
from coview.escaping import for_plot
from coview.extras import need
from coview.plot.look import COLORS, FAINT, GRAY, INK

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLES = ("-", "--", ":")
LOG_RATIO = 30  # ratio of the largest to the smallest value from which an axis is logarithmic
NAME_HEIGHT = 0.062  # least distance between the names of two lines, as a share of the axes
MARGIN = 0.045  # space beside the first and last point, as a share of the data's range
TICK_DISTANCE = 0.085  # least distance between two ticks, as a share of the axes
PER_CENT = " in %"


@dataclass
class LinesDisplay(Display):
    """A line for each model.

    Parameters
    ----------
    lines : dict of Line
        Lines by the names of the models.
    x_title, y_title : str
    log_x, log_y : bool
        Whether the axes are logarithmic.
    guide : bool
        Whether to add a line of linear growth.
    """

    lines: Mapping[str, Line]
    x_title: str
    y_title: str
    log_x: bool = False
    log_y: bool = False
    guide: bool = False

    def plot(self, ax: Any = None) -> LinesDisplay:
        """Draw, on new axes or those given."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        for number, line in enumerate(self.lines.values()):
            _draw(self.ax_, line, number, self.log_y)
        _scale(self.ax_, self.lines.values(), self.log_x, self.log_y)
        if self.y_title.endswith(PER_CENT):
            _stop_at_100(self.ax_)
        end = _draw_guide(self.ax_, self.lines.values()) if self.guide else None
        _name_lines(self.ax_, self.lines, end)
        self.ax_.set_xlabel(for_plot(self.x_title))
        self.ax_.set_ylabel(self.y_title)
        return self


class SensitivityDisplay(LinesDisplay):
    """A metric against a parameter, such as the strength or the number of topics."""

    @classmethod
    def from_results(
        cls,
        results: Results,
        *,
        x: str = "strength",
        metric: str = "accuracy",
        part: str | None = None,
        log_x: bool | None = None,
        ax: Any = None,
    ) -> LinesDisplay:
        """Draw a metric against a parameter.

        Parameters
        ----------
        results : Results
            Results of one data set. Models without this parameter are drawn as horizontal lines.
        x : str, default="strength"
            Name of the parameter.
        metric, part : str
            Metric, and part of a search; shares are in percent.
        log_x : bool or None, default=None
            Whether the axis is logarithmic; by default if the values span a wide range.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default new ones.

        Returns
        -------
        display : SensitivityDisplay

        Examples
        --------
        >>> from coview.compare import Run
        >>> runs = [Run("a", "mggm", "MGGM", {"strength": 10.0 ** s}, seed,
        ...             values={"": {"accuracy": 0.5 + 0.1 * s + 0.01 * seed}})
        ...         for s in range(3) for seed in range(2)]
        >>> display = SensitivityDisplay.from_results(Results(runs), x="strength")
        >>> display.ax_.get_xscale(), display.lines["MGGM"].mean.round(3).tolist()
        ('log', [50.5, 60.5, 70.5])
        """
        lines = lines_of(results, x, metric, part)
        if log_x is None:
            log_x = _needs_log([line.x for line in lines.values()])
        return cls(lines, _x_title(x), _y_title(metric), log_x=log_x).plot(ax)


class LabelShareDisplay(LinesDisplay):
    """A metric against the share of labeled documents."""

    @classmethod
    def from_results(
        cls, results: Results, *, metric: str = "accuracy", ax: Any = None
    ) -> LinesDisplay:
        """Draw a metric against the share of labeled documents, for results of one data set.

        Examples
        --------
        >>> from coview.compare import Run
        >>> runs = [Run("a", "nb", "NB", {}, seed, rate=rate, values={"": {"accuracy": 0.5 + rate}})
        ...         for rate in (0.01, 0.05) for seed in range(2)]
        >>> display = LabelShareDisplay.from_results(Results(runs))
        >>> display.lines["NB"].x.tolist(), display.lines["NB"].mean.round(3).tolist()
        ([1.0, 5.0], [51.0, 55.0])
        """
        lines = lines_of(results, "rate", metric)
        percent = {n: replace(line, x=100 * line.x) for n, line in lines.items()}
        return cls(percent, "labeled documents in %", _y_title(metric)).plot(ax)


class TimeDisplay(LinesDisplay):
    """Time against the number of documents."""

    @classmethod
    def from_results(
        cls, results: Results, *, metric: str = "seconds", ax: Any = None
    ) -> LinesDisplay:
        """Draw time against documents, both logarithmic, with a line of linear growth.

        Examples
        --------
        >>> from coview.compare import Run
        >>> runs = [Run(f"{n}", "link", "LinkPLSA", {}, 0, documents=n, seconds=n / 500)
        ...         for n in (1000, 10_000)]
        >>> TimeDisplay.from_results(Results(runs)).lines["LinkPLSA"].mean.tolist()
        [2.0, 20.0]
        """
        runs = [replace(r, dataset="", settings={}) for r in results.runs if r.documents]
        lines = lines_of(Results(runs), "documents", metric)
        title = _y_title(metric)
        return cls(lines, "documents", title, log_x=True, log_y=True, guide=True).plot(ax)


@dataclass
class ConvergenceDisplay(Display):
    """The objective of a fit after every iteration, and a metric of its clusters below it.

    Parameters
    ----------
    objective : ndarray of shape (n_iter,)
    values : ndarray of shape (n_iter,) or None
        Values of the metric, if there is one.
    title : str
        Title of the metric.
    """

    objective: np.ndarray
    values: np.ndarray | None = None
    title: str = ""

    @classmethod
    def from_estimator(
        cls, model: Any, views: Any = None, *, metric: str = "accuracy", axes: Any = None
    ) -> ConvergenceDisplay:
        """Draw the trace of a fit.

        Parameters
        ----------
        model : estimator of this package
            Without `views` a fitted one, whose objective is drawn. With `views` a clone of it is
            fitted, and its clusters are compared with the labels after every iteration.
        views : Views with labels, default=None
        metric : str, default="accuracy"
            Metric of clusters against classes: "accuracy", "nmi_max", "nmi_mean", "purity",
            "pairwise_f" or "adjusted_rand".
        axes : pair of matplotlib Axes (one without `views`), default=None

        Returns
        -------
        display : ConvergenceDisplay

        Examples
        --------
        >>> from coview import LinkPLSA
        >>> from coview.datasets import make_views
        >>> views = make_views(60, 3, [30, 20], random_state=0)
        >>> model = LinkPLSA(3, init="random", max_iter=5, tol=0, random_state=0)
        >>> display = ConvergenceDisplay.from_estimator(model, views, metric="nmi_max")
        >>> [ax.get_ylabel() for ax in display.axes_], display.values.shape
        (['objective', 'NMI (max) in %'], (5,))
        """
        if views is None:
            return cls(np.asarray(model.trace_.objective)).plot(axes)
        from coview.compare.evaluation import clustering_metrics
        from coview.compare.tasks import follow

        if views.labels is None:
            raise ValueError("The views have no labels to compare clusters with.")
        check_clustering_metric(metric)
        scale = 100 if metric_info(metric).share else 1
        fitted, values = follow(
            model, views, lambda found: scale * clustering_metrics(views.labels, found)[metric]
        )
        return cls(np.asarray(fitted.trace_.objective), values, _y_title(metric)).plot(axes)

    def plot(self, axes: Any = None) -> ConvergenceDisplay:
        """Draw, on new axes or those given."""
        curves = [(self.objective, "objective")]
        curves += [] if self.values is None else [(self.values, self.title)]
        self.axes_ = stacked_axes(len(curves)) if axes is None else np.atleast_1d(axes)
        self.figure_ = self.axes_[0].figure
        for i, (ax, (values, title)) in enumerate(zip(self.axes_, curves, strict=True)):
            _clean(ax)
            ax.plot(np.arange(1, len(values) + 1), values, color=COLORS[i], linewidth=1.8)
            ax.set_ylabel(title)
            ax.ticklabel_format(axis="y", useMathText=True)
            if title.endswith(PER_CENT):
                _stop_at_100(ax)
        self.axes_[-1].set_xlabel("iteration")
        whole_numbers(self.axes_[-1])
        self.figure_.align_ylabels(list(self.axes_))
        return self


# -- titles ----------------------------------------------------------------------------------------


def _y_title(metric: str) -> str:
    known = metric_info(metric)
    return f"{known.title}{PER_CENT}" if known.share else known.title


def _x_title(x: str) -> str:
    return {"n_components": "topics", "n_feature_topics": "feature topics"}.get(
        x, x.replace("_", " ")
    )


def _needs_log(parts: Sequence[np.ndarray]) -> bool:
    """Return whether the values span so wide a range that a linear axis would crowd the small."""
    x = np.concatenate(list(parts))
    positive = x[x > 0]
    return bool(len(positive)) and float(positive.max() / positive.min()) >= LOG_RATIO


# -- axes ------------------------------------------------------------------------------------------


def _axes(ax: Any) -> Any:
    """Return the given axes, or new ones, with a plain look."""
    if ax is None:
        pyplot = need("matplotlib.pyplot", "plot")
        ax = pyplot.subplots(figsize=(5.6, 3.6))[1]
    _clean(ax)
    return ax


def stacked_axes(count: int) -> Any:
    """Return new axes below each other, with one horizontal scale."""
    pyplot = need("matplotlib.pyplot", "plot")
    height = 1.0 + 1.8 * count
    return pyplot.subplots(count, 1, sharex=True, figsize=(5.6, height), squeeze=False)[1][:, 0]


def _clean(ax: Any) -> None:
    """Remove the frame but for two sides, and add faint horizontal lines."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(INK)
    ax.tick_params(colors=INK, labelsize=9)
    ax.grid(axis="y", color=FAINT, linewidth=0.7)
    ax.set_axisbelow(True)


def _look(number: int) -> tuple[str, str, str]:
    """Return color, marker and line style of the line of that number."""
    color = COLORS[number % len(COLORS)]
    style = STYLES[number // len(COLORS) % len(STYLES)]
    return color, MARKERS[number % len(MARKERS)], style


def _draw(ax: Any, line: Line, number: int, log_y: bool) -> None:
    color, marker, style = _look(number)
    if not len(line.x):
        ax.axhline(line.mean[0], color=color, linewidth=1.4, linestyle=(0, (5, 3)))
        return
    ax.plot(
        line.x,
        line.mean,
        color=color,
        linestyle=style,
        linewidth=1.8,
        marker=marker,
        markersize=4.5,
        markerfacecolor="white" if line.oracle else color,
    )
    low, high = line.mean - line.sd, line.mean + line.sd
    # On a logarithmic axis a band must not reach 0.
    low = np.maximum(low, line.mean / 10) if log_y else low
    ax.fill_between(line.x, low, high, color=color, alpha=0.15, linewidth=0)


def _scale(ax: Any, lines: Collection[Line], log_x: bool, log_y: bool) -> None:
    """Set scales, limits and ticks of the axes."""
    x = np.concatenate([line.x for line in lines])
    if log_x and (x <= 0).any():
        ax.set_xscale("symlog", linthresh=float(x[x > 0].min()))
    elif log_x:
        ax.set_xscale("log")
    if log_y:
        ax.set_yscale("log")
        _plain_numbers(ax)
    _add_margins(ax, x)
    _set_ticks(ax, np.unique(x))


def _plain_numbers(ax: Any) -> None:
    """Label a logarithmic axis with 0.1, 1, 10, and with 2 and 5 between them if these are few."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = ax.get_ylim()
    few = high / low < 1000
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.yaxis.set_minor_formatter(NullFormatter())


def _add_margins(ax: Any, x: np.ndarray) -> None:
    """Add a margin beside the first and last point, equal on the screen whatever the scale."""
    if x.min() == x.max():
        return
    scale = ax.xaxis.get_transform()
    low, high = scale.transform(np.array([x.min(), x.max()], float))
    margin = MARGIN * (high - low)
    ax.set_xlim(*scale.inverted().transform(np.array([low - margin, high + margin])))


def _stop_at_100(ax: Any) -> None:
    """Limit an axis of shares to 100 %, with a margin for the lines."""
    low, high = ax.get_ylim()
    if high > 100 and low < 100:
        ax.set_ylim(low, min(high, 100 + MARGIN * (100 - low)))


def _set_ticks(ax: Any, places: np.ndarray) -> None:
    """Put ticks at the measured values, unless their numbers would overlap."""
    shown = ax.transData.transform([(place, 1.0) for place in places])[:, 0]
    distance = ax.get_window_extent().width * TICK_DISTANCE
    if len(places) < 2 or np.diff(shown).min() >= distance:
        ax.set_xticks(places, [f"{place:,g}" for place in places])
        ax.set_xticks([], minor=True)
    elif ax.get_xscale() == "linear" and (places == np.round(places)).all():
        whole_numbers(ax)


# -- guide and names -------------------------------------------------------------------------------


def _draw_guide(ax: Any, lines: Collection[Line]) -> float:
    """Draw growth proportional to x, below the flattest line; return its last value."""
    flattest = min((line for line in lines if len(line.x)), key=lambda line: line.mean[-1])
    x = np.array([flattest.x.min(), flattest.x.max()])
    y = 0.5 * flattest.mean[0] * x / x[0]
    ax.plot(x, y, color=GRAY, linewidth=1.0, linestyle=":")
    return y[-1]


def _name_lines(ax: Any, lines: Mapping[str, Line], guide: float | None = None) -> None:
    """Write the names beside the ends of the lines, moved apart where they would overlap."""
    ax.figure.canvas.draw()  # fixes the limits, which the transform below depends on
    names = [for_plot(name) + " †" * line.oracle for name, line in lines.items()]
    ends = [line.mean[-1] for line in lines.values()]
    colors = [_look(number)[0] for number in range(len(names))]
    if guide is not None:
        names, ends, colors = [*names, "linear"], [*ends, guide], [*colors, GRAY]
    to_axes = ax.transData + ax.transAxes.inverted()
    right = ax.get_xlim()[1]
    heights = [to_axes.transform((right, end))[1] for end in ends]
    for name, y, color in zip(names, _apart(heights), colors, strict=True):
        place = {"xycoords": "axes fraction", "va": "center"}
        ax.annotate(name, (1.015, y), color=color, fontsize=9, **place)


def _apart(places: Sequence[float], gap: float = NAME_HEIGHT) -> np.ndarray:
    """Move places at least `gap` apart, in the same order, by as little as possible.

    >>> _apart([0.5, 0.5, 0.9], gap=0.1).round(2).tolist()
    [0.45, 0.55, 0.9]
    """
    from sklearn.isotonic import isotonic_regression

    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(order))
    # Without the gaps the places need only be non-decreasing: isotonic regression.
    moved = isotonic_regression(np.asarray(places, float)[order] - steps) + steps
    found = np.empty(len(order))
    found[order] = moved
    return found
