"""The plot of a `TopicSelection`: bits above, topics that come back below, both ends marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coview.compare.aggregate import Line
from coview.display import Display, whole_numbers
from coview.plot.lines import GRAY, PER_CENT, LinesDisplay, stacked_axes

if TYPE_CHECKING:
    from coview.selection.topics import TopicSelection


class TopicCountDisplay(Display):
    """What halves of the documents confirm along numbers of topics, with both ends marked.

    Parameters
    ----------
    selection : TopicSelection
    """

    def __init__(self, selection: TopicSelection):
        self.selection = selection

    def plot(self, ax: Any = None) -> TopicCountDisplay:
        """Draw, on new axes, or the bits alone on those given."""
        found = self.selection
        parts = [
            (self._line(found.bits), "bits confirmed"),
            (self._line(100 * found.back / found.topics), f"topics that come back{PER_CENT}"),
        ]
        parts = parts if ax is None else parts[:1]
        self.axes_ = stacked_axes(len(parts)) if ax is None else np.atleast_1d(ax)
        self.figure_ = self.axes_[0].figure
        for axis, (line, title) in zip(self.axes_, parts, strict=True):
            LinesDisplay({"": line}, "topics", title).plot(axis)
            whole_numbers(axis)
            self._mark_ends(axis)
        for axis in self.axes_[:-1]:
            axis.set_xlabel("")
        self.figure_.align_ylabels(list(self.axes_))
        return self

    def _line(self, values: np.ndarray) -> Line:
        return Line(self.selection.topics, values.mean(axis=0), values.std(axis=0))

    def _mark_ends(self, axis: Any) -> None:
        coarse, fine = self.selection.coarse, self.selection.fine
        if coarse is None or fine is None:
            return
        axis.axvspan(coarse, fine, color=GRAY, alpha=0.15, linewidth=0)
        names = {coarse: "coarse", fine: "fine"} if coarse != fine else {fine: "coarse = fine"}
        for number, name in names.items():
            axis.axvline(number, color=GRAY, linewidth=1, linestyle="--")
            axis.annotate(
                f"{name} {number}",
                (number, 1),
                xycoords=("data", "axes fraction"),
                xytext=(2, 2),
                textcoords="offset points",
                fontsize="small",
                color=GRAY,
            )
