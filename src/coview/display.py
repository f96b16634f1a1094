"""`Display`, the base class of plots: drawn once, saved as the same bytes every time."""

from __future__ import annotations

import os
from typing import Any

from coview.extras import need
from coview.store import replacing


class Display:
    """Base class of the displays."""

    figure_: Any

    def plot(self) -> Display:
        """Draw, on new axes."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str], *, dpi: int = 150) -> None:
        """Save the figure as PNG, SVG or PDF, drawn if it is not yet.

        The same plot gives the same bytes.
        """
        mpl = need("matplotlib", "plot")
        if not hasattr(self, "figure_"):
            self.plot()
        suffix = os.path.splitext(path)[1].lower()
        if not suffix:
            path, suffix = f"{os.fspath(path)}.png", ".png"
        dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        rules = mpl.rc_context({"svg.hashsalt": "coview", "svg.fonttype": "none"})
        with rules, replacing(path) as beside:
            self.figure_.savefig(
                beside,
                format=suffix[1:],
                dpi=dpi,
                bbox_inches="tight",
                facecolor="white",
                metadata=dates.get(suffix, {"Software": None}),
                **({"pil_kwargs": {"optimize": True}} if suffix == ".png" else {}),
            )


def whole_numbers(ax: Any, most: int = 10) -> None:
    """Put at most `most` ticks of a horizontal axis at whole numbers: there is no iteration 2.5."""
    locator = need("matplotlib.ticker", "plot").MaxNLocator
    ax.xaxis.set_major_locator(locator(most, integer=True, min_n_ticks=1))
