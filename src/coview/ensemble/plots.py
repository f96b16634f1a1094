"""Plot of the reliability of views. It needs matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coview.escaping import for_plot
from coview.extras import need

if TYPE_CHECKING:
    from coview.ensemble.reliability import ViewReliability

# One hue, from light to dark: it can be read by color-blind people and in print without color.
CELL_COLORS, BAR_COLOR, INK = "Blues", "#0072B2", "#222222"
DARK_CELL = 0.715  # numbers are white above, black below: a contrast of at least 4.5 to 1
CELL_SIZE, LABEL_SPACE, LEAST_WIDTH = 0.5, 2.3, 3.5  # in inches
LONGEST_NAME = 18  # characters of a view's name that are shown


def plot_reliability(found: ViewReliability, ax: Any = None) -> Any:
    """Draw the matrix with numbers in its cells, and the weights as bars; return the axes.

    Parameters
    ----------
    found : ViewReliability
    ax : matplotlib axes, optional
        Where to draw; new ones by default. The bars are on axes of their own inside of these:
        ``ax.child_axes[0]``.
    """
    ax = _new_axes(len(found.names)) if ax is None else ax
    names = [_short(name) for name in found.names]
    _draw_matrix(ax, found.matrix, names)
    _draw_weights(ax, [found.weights[name] for name in found.names])
    return ax


def _new_axes(n_views: int) -> Any:
    """Return axes of a figure that is a column wide, or wider for many views."""
    pyplot = need("matplotlib.pyplot", "plot")
    side = CELL_SIZE * n_views + LABEL_SPACE
    size = max(side + 0.9, LEAST_WIDTH), max(side - 0.7, 2.4)
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _short(name: str) -> str:
    return for_plot(name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…")


def _draw_matrix(ax: Any, matrix: np.ndarray, names: list[str]) -> None:
    ax.imshow(matrix, cmap=CELL_COLORS, vmin=0, vmax=1)
    for (row, column), value in np.ndenumerate(matrix):
        color = "white" if value > DARK_CELL else "black"
        text = f"{value:.2f}".replace("-0.00", "0.00")
        ax.text(column, row, text, ha="center", va="center", color=color, fontsize=8)
    places = range(len(names))
    turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(places, names, fontsize=8, **(turned if max(map(len, names)) > 4 else {}))
    ax.set_yticks(places, names, fontsize=8)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("neighbors in the other half of", fontsize=8)
    ax.set_ylabel("clusters by half of", fontsize=8)


def _draw_weights(ax: Any, weights: list[float]) -> None:
    """Draw the weight of each view beside its row."""
    bars = ax.inset_axes([1.06, 0, 0.3, 1])
    height = min(
        0.12 * len(weights), 0.55
    )  # long and thin also beside the large cells of two views
    bars.barh(range(len(weights)), weights, height=height, color=BAR_COLOR)
    for row, weight in enumerate(weights):
        bars.text(weight + 0.06, row, f"{weight:.2f}", va="center", color=INK, fontsize=8)
    bars.set_xlim(0, 1)
    bars.set_ylim(ax.get_ylim())
    bars.set_title("weight", fontsize=8, color=INK)
    bars.set_axis_off()
