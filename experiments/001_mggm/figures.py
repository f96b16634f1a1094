"""Figures of paper 001, from results.csv."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coview.compare import Results
from coview.plot import SensitivityDisplay, TimeDisplay

METRICS = ("accuracy", "nmi_max")


def sensitivity(
    plan: str, x: str, names: Sequence[str], metrics: Sequence[str] = METRICS
) -> Callable[[Results, Path], None]:
    """Return a function that draws metrics (rows) against a parameter on data sets (columns)."""

    def draw(results: Results, path: Path) -> None:
        from matplotlib import pyplot

        shape = {"figsize": (4.6 * len(names), 2.6 * len(metrics)), "squeeze": False}
        # names at the ends of lines need room, whatever their length
        figure, axes = pyplot.subplots(
            len(metrics), len(names), sharex="col", layout="constrained", **shape
        )
        for column, name in enumerate(names):
            own = results.where(plan=f"{plan}, {name}")
            for row, metric in enumerate(metrics):
                display = SensitivityDisplay.from_results(
                    own, x=x, metric=metric, ax=axes[row, column]
                )
            axes[0, column].set_title(name, fontsize=10)
        _finish(display, figure, path)

    return draw


def time(results: Results, path: Path) -> None:
    """Draw seconds against documents."""
    display = TimeDisplay.from_results(results.where(plan="time"))
    _finish(display, display.figure_, path)


def _finish(display: Any, figure: Any, path: Path) -> None:
    """Remove titles of axes inside the grid of panels, and save the figure."""
    from matplotlib import pyplot

    for ax in figure.axes:
        place = ax.get_subplotspec()
        if not place.is_first_col():
            ax.set_ylabel("")
        if not place.is_last_row():
            ax.set_xlabel("")
    display.save(path, dpi=75)
    pyplot.close(figure)
