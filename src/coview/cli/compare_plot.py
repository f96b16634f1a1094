"""What `coview compare --plot` draws: one measure along the one thing that varies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coview.cli.state import UsageError

if TYPE_CHECKING:
    from coview.compare import Plan, Results

SUFFIXES = (".png", ".svg", ".pdf")


def plot_axis(plan: Plan, path: Path) -> str:
    """The share of labels, or the parameter that the models of the plan vary; before the run."""
    from coview.extras import need

    need("matplotlib", "plot")
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--plot writes {', '.join(SUFFIXES)} files; got {path.name}.")
    if len(plan.datasets) > 1:
        raise UsageError("--plot draws one data set, and the plan has several.")
    axes = ["rate"] if plan.task == "classify" else varied(plan)
    if len(axes) != 1:
        found = f"it varies {', '.join(axes)}" if axes else "here nothing varies"
        raise UsageError(
            "--plot draws a measure along the shares of labels (--task classify) or along the one "
            f"parameter that a plan varies; {found}."
        )
    return axes[0]


def varied(plan: Plan) -> list[str]:
    """Parameters with several values in the grid of some model."""
    found = [name for entry in plan.models for name, v in entry.grid.items() if len(v) > 1]
    return list(dict.fromkeys(found))


def draw(results: Results, axis: str, metric: str, path: Path) -> None:
    """Draw and save."""
    import matplotlib

    matplotlib.use("Agg")  # a command has no window
    from coview.plot import LabelShareDisplay, SensitivityDisplay

    if axis == "rate":
        LabelShareDisplay.from_results(results, metric=metric).save(path)
    else:
        SensitivityDisplay.from_results(results, x=axis, metric=metric).save(path)
