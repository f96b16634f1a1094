"""The plot of a `TopicSelection`: agreement and stability above, perplexity below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coview.compare.aggregate import Line
from coview.display import Display, whole_numbers
from coview.plot.lines import GRAY, PER_CENT, LinesDisplay, stacked_axes

if TYPE_CHECKING:
    from coview.selection.topics import TopicSelection

SHARES = {"features": "features", "documents": "documents", "stability": "restarts"}


class TopicCountDisplay(Display):
    """Curves along numbers of topics, with the suggestion marked.

    Parameters
    ----------
    selection : TopicSelection
    """

    def __init__(self, selection: TopicSelection):
        self.selection = selection

    def plot(self, ax: Any = None) -> TopicCountDisplay:
        """Draw, on new axes, or the upper part alone on those given."""
        shares = {title: self._line(name, 100) for name, title in SHARES.items()}
        parts = [(shares, f"agreement{PER_CENT}"), ({"": self._line("perplexity")}, "perplexity")]
        parts = [(_with_points(lines), title) for lines, title in parts]
        parts = [(lines, title) for lines, title in parts if lines]
        parts = parts if ax is None else parts[:1]
        self.axes_ = stacked_axes(len(parts)) if ax is None else np.atleast_1d(ax)
        self.figure_ = self.axes_[0].figure
        for axis, (lines, title) in zip(self.axes_, parts, strict=True):
            LinesDisplay(lines, "topics", title).plot(axis)
            whole_numbers(axis)
            axis.axvline(self.selection.suggestion, color=GRAY, linewidth=1, linestyle="--")
        for axis in self.axes_[:-1]:
            axis.set_xlabel("")
        self.figure_.align_ylabels(list(self.axes_))
        return self

    def _line(self, name: str, scale: float = 1) -> Line:
        curve = self.selection.curves[name]
        known = curve.measured
        return Line(
            self.selection.topics[known], scale * curve.mean[known], scale * curve.sd[known]
        )


def _with_points(lines: dict[str, Line]) -> dict[str, Line]:
    return {name: line for name, line in lines.items() if len(line.x)}
