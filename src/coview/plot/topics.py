"""Plots of topics: their terms in each view side by side, and their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coview.display import Display, whole_numbers
from coview.plot.look import (
    COLORS,
    GRAY,
    ONE_DRAW,
    check_topics,
    explain_above,
    grid_of_axes,
    largest_topics,
    name_rows,
    new_axes,
    plain,
    report_of,
    shortened,
    topic_title,
)
from coview.reporting import Report, TopicReport
from coview.reporting.terms import words_or_dash

ROW = 0.17  # inches of a bar
MOST_SIZES = 40  # topics of `SizesDisplay`


@dataclass
class TermsDisplay(Display):
    """The terms of topics, a row of panels for each topic, a column for each view.

    Bars are the documents of the topic that have the term; in a view of numbers, sums of values.

    Parameters
    ----------
    report : Report
    topics : sequence of int, or None
        The topics to show; None: the largest.
    n_terms : int
    n_topics : int
        How many topics, where none are named.
    """

    report: Report
    topics: Sequence[int] | None = None
    n_terms: int = 8
    n_topics: int = 6

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        views: Any,
        *,
        topics: Sequence[int] | None = None,
        n_terms: int = 8,
        n_topics: int = 6,
        ax: Any = None,
    ) -> TermsDisplay:
        """Draw the terms of topics.

        Parameters
        ----------
        model : fitted model
        views : Views, or Report
            The documents, or their report if there is one already.
        topics : sequence of int, default=None
            By default the largest `n_topics`.
        n_terms : int, default=8
        n_topics : int, default=6
        ax : matplotlib Axes, default=None
            Axes whose place the panels take; by default a new figure.

        Returns
        -------
        display : TermsDisplay
            With `axes_`, an array of shape (topics, views).

        Examples
        --------
        >>> from coview import LinkPLSA
        >>> from coview.datasets import make_views
        >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
        >>> model = LinkPLSA(3, random_state=0).fit(views)
        >>> TermsDisplay.from_estimator(model, views, n_terms=5).axes_.shape
        (3, 2)
        """
        report = report_of(model, views, n_terms=n_terms, **ONE_DRAW)
        return cls(report, topics, n_terms, n_topics).plot(ax)

    def plot(self, ax: Any = None) -> TermsDisplay:
        """Draw, in a new figure or in the place of the axes given."""
        shown = check_topics(self.topics, self.report, self.n_topics)
        names = list(self.report.view_mixtures)
        height = 0.4 + len(shown) * (ROW * self.n_terms + 0.35)
        width = max(5.6, 2.4 * len(names))
        self.axes_ = grid_of_axes(len(shown), len(names), ax, height, width)
        self.figure_ = self.axes_[0, 0].figure
        for row, topic in zip(self.axes_, shown, strict=True):
            for view, (panel, name) in enumerate(zip(row, names, strict=True)):
                self._draw(panel, topic, name, view)
            title = f"topic {topic.index}" if topic.name is None else shortened(topic.name)
            count = f"{topic.n_docs:,} documents, {100 * topic.size:.0f} %"
            row[0].set_title(f"{title}  ({count})", loc="left", fontsize=9)
        for panel, name in zip(self.axes_[-1], names, strict=True):
            kind = next(v.kind for v in self.report.views if v.name == name)
            what = "values" if kind == "numbers" else "documents"
            panel.set_xlabel(f"{what} in {shortened(name, 20)}", fontsize=8)
        return self

    def _draw(self, ax: Any, topic: TopicReport, name: str, view: int) -> None:
        """Draw the bars of one topic in one view; without words, why there are none."""
        plain(ax)
        terms = topic.terms[name][: self.n_terms]
        places = list(range(len(terms)))
        values = [documents for _, documents in terms]
        ax.barh(places, values, color=COLORS[view % len(COLORS)], height=0.72)
        ax.set_yticks(places, [shortened(word, 18) for word, _ in terms])
        ax.set_ylim(self.n_terms - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.xaxis.set_major_locator(_few_ticks())
        if not terms:
            why = words_or_dash([], *topic.view_documents[name])
            ax.text(0.5, 0.5, why, transform=ax.transAxes, ha="center", fontsize=8, color=GRAY)
            ax.set_xticks([])


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(3, prune="upper")


@dataclass
class SizesDisplay(Display):
    """How many documents each topic has, and its expected share of all.

    Parameters
    ----------
    report : Report
    n_topics : int
        Topics that are shown, the largest.
    """

    report: Report
    n_topics: int = MOST_SIZES

    @classmethod
    def from_estimator(
        cls, model: Any, views: Any, *, n_topics: int = MOST_SIZES, ax: Any = None
    ) -> SizesDisplay:
        """Draw the sizes of topics.

        Parameters
        ----------
        model : fitted model
        views : Views, or Report
        n_topics : int, default=40
            At most so many, the largest first.
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : SizesDisplay

        Examples
        --------
        >>> from coview import LinkPLSA
        >>> from coview.datasets import make_views
        >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
        >>> model = LinkPLSA(3, random_state=0).fit(views)
        >>> SizesDisplay.from_estimator(model, views).ax_.get_xlabel()
        'documents'
        """
        return cls(report_of(model, views, **ONE_DRAW), n_topics).plot(ax)

    def plot(self, ax: Any = None) -> SizesDisplay:
        """Draw, on new axes or those given."""
        shown = largest_topics(self.report, self.n_topics)
        self.ax_ = new_axes(0.8 + 0.2 * len(shown)) if ax is None else ax
        self.figure_ = self.ax_.figure
        plain(self.ax_, grid="x")
        places = list(range(len(shown)))
        counts = [t.n_docs for t in shown]
        self.ax_.barh(places, counts, color=COLORS[0], height=0.7, label="main topic")
        expected = [t.size * len(self.report.mixtures) for t in shown]
        look = {"color": COLORS[1], "markersize": 9, "markeredgewidth": 2}
        self.ax_.plot(expected, places, "|", label="expected, parts of documents included", **look)
        name_rows(self.ax_, [topic_title(t) for t in shown])
        whole_numbers(self.ax_)
        left = len(self.report.topics) - len(shown)
        self.ax_.set_xlabel(
            f"documents ({left:,} smaller topics left out)" if left else "documents"
        )
        explain_above(self.ax_)
        return self
