"""The figures of paper 001, from results.csv."""

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
    """A function that draws measures against a parameter: a row a measure, a column a data set."""

    def draw(results: Results, path: Path) -> None:
        from matplotlib import pyplot

        shape = {"figsize": (5.2 * len(names), 2.6 * len(metrics)), "squeeze": False}
        figure, axes = pyplot.subplots(len(metrics), len(names), sharex="col", **shape)
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
    """Seconds against documents."""
    display = TimeDisplay.from_results(results.where(plan="time"))
    _finish(display, display.figure_, path)


def _finish(display: Any, figure: Any, path: Path) -> None:
    """Inner panels keep the title of their axis only where it says something new."""
    from matplotlib import pyplot

    for ax in figure.axes:
        ax.label_outer(remove_inner_ticks=False)
    figure.subplots_adjust(wspace=0.45, hspace=0.15)
    display.save(path, dpi=80)
    pyplot.close(figure)
