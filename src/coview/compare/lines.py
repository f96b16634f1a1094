"""Results as lines: a measure against a parameter, a share of labels or a number of documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coview.compare.grouping import Axes, grouped
from coview.compare.measures import measure
from coview.compare.results import Results
from coview.data.show import plural


@dataclass(frozen=True)
class Line:
    """Mean and standard deviation of a measure along an axis.

    Attributes
    ----------
    x, mean, sd : ndarray of shape (points,)
        `x` is empty for a model that the axis does not concern: it is drawn across the plot.
    oracle : bool
    """

    x: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    oracle: bool = False


def lines_of(results: Results, x: str, metric: str, part: str | None = None) -> dict[str, Line]:
    """A line for each model, in order; it is an error to average over anything but seeds."""
    axes = Axes.of(results, "model", x, part, {})
    columns = {place: grouped(results, axes, place, metric) for place in axes.columns}
    scale = 100 if measure(metric).share else 1
    found = {}
    for row in axes.rows:
        groups = {place: c[row] for place, c in columns.items() if row in c and c[row].values}
        if groups:
            found[row] = _line(row, groups, x, scale)
    if not any(len(line.x) for line in found.values()):
        raise ValueError(
            f"No run has both {metric!r} and a number for {x!r}. Measured: "
            f"{', '.join(results.measured()) or 'nothing'}.{_failures(results)}"
        )
    return found


def _failures(results):
    failed = results.failures
    if not failed:
        return ""
    return f" {plural(len(failed), 'run')} failed; the first said: {failed[0].error}"


def _line(name, groups, x, scale):
    if "none" in groups and len(groups) > 1:
        raise ValueError(
            f"Some runs of {name!r} have {x!r} and some have not: give these another label, or "
            "choose with results.where(...)."
        )
    values = [list(group.values.values()) for group in groups.values()]
    return Line(
        x=np.array([] if "none" in groups else [float(place) for place in groups]),
        mean=scale * np.array([np.mean(v) for v in values]),
        sd=scale * np.array([np.std(v, ddof=1) if len(v) > 1 else 0.0 for v in values]),
        oracle=any(group.oracle for group in groups.values()),
    )
