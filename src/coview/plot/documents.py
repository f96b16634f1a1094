"""Plots of documents: a map, their mixtures in each view, and which views they have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coview.display import Display, whole_numbers
from coview.explorer.layout import place_documents, place_topics
from coview.models import topic_model
from coview.plot.look import (
    COLORS,
    FAINT,
    GRAY,
    HATCHES,
    INK,
    ONE_DRAW,
    grid_of_axes,
    largest_topics,
    name_rows,
    new_axes,
    plain,
    report_of,
    shortened,
    topic_title,
)
from coview.reporting import Report

MOST_POINTS = 20_000  # documents of a map; more would only cover each other
JITTER = 0.02  # of the width of the map, about
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
NAMED = 7  # topics with a color of their own
MOST_SETS = 12  # combinations of views that are shown


@dataclass
class MapDisplay(Display):
    """A map: topics by how much they share, each document among its topics.

    Parameters
    ----------
    report : Report
    topic_places : ndarray of shape (topics, 2)
    random_state : int
        Which documents are drawn where there are too many.
    """

    report: Report
    topic_places: np.ndarray
    random_state: int = 0
    names: list[str] = field(default_factory=list)

    @classmethod
    def from_estimator(
        cls, model: Any, views: Any, *, ax: Any = None, random_state: int = 0
    ) -> MapDisplay:
        """Draw the map of documents.

        Parameters
        ----------
        model : fitted model
        views : Views, or Report
        ax : matplotlib Axes, default=None
        random_state : int, default=0
            Which documents are drawn, where there are more than 20,000.

        Returns
        -------
        display : MapDisplay

        Examples
        --------
        >>> from coview import LinkPLSA
        >>> from coview.datasets import make_views
        >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
        >>> model = LinkPLSA(3, random_state=0).fit(views)
        >>> MapDisplay.from_estimator(model, views).topic_places.shape
        (3, 2)
        """
        places = place_topics(topic_model(model).components_)
        return cls(report_of(model, views, **ONE_DRAW), places, random_state).plot(ax)

    def plot(self, ax: Any = None) -> MapDisplay:
        """Draw, on new axes or those given."""
        self.ax_ = new_axes(5.0) if ax is None else ax
        self.figure_ = self.ax_.figure
        self.ax_.set_axis_off()
        self.ax_.set_aspect("equal")
        rows = self._rows()
        points = place_documents(self.report.mixtures[rows], self.topic_places)
        # documents of a single topic would cover each other
        rng = np.random.default_rng(self.random_state)
        points = points + rng.normal(0, JITTER, points.shape)
        main = self.report.mixtures[rows].argmax(axis=1)
        size = float(np.clip(20_000 / max(len(rows), 1), 2.5, 24))
        named = [t.index for t in largest_topics(self.report, NAMED)]
        rest = ~np.isin(main, named)
        self.ax_.scatter(*points[rest].T, s=size, color=FAINT, linewidths=0)
        for number, topic in enumerate(named):
            mine = points[main == topic]
            look = {"color": COLORS[number], "marker": MARKERS[number], "linewidths": 0}
            self.ax_.scatter(*mine.T, s=size, alpha=0.75, **look)
        self._name_topics(points)
        return self

    def _rows(self) -> np.ndarray:
        n_docs = len(self.report.mixtures)
        if n_docs <= MOST_POINTS:
            return np.arange(n_docs)
        rng = np.random.default_rng(self.random_state)
        return np.sort(rng.choice(n_docs, MOST_POINTS, replace=False))

    def _name_topics(self, points: np.ndarray) -> None:
        """Write the names of the largest topics that do not cover each other."""
        low, high = np.minimum(points.min(0), self.topic_places.min(0)), points.max(0)
        span = np.maximum(np.maximum(high, self.topic_places.max(0)) - low, 1e-9)
        taken: list[np.ndarray] = []
        for topic in largest_topics(self.report, len(self.report.topics)):
            place = self.topic_places[topic.index]
            relative = (place - low) / span
            # a name is about a third of the width and a twentieth of the height
            if any(abs(relative[0] - t[0]) < 0.3 and abs(relative[1] - t[1]) < 0.05 for t in taken):
                continue
            taken.append(relative)
            title = topic_title(topic, 2, 22)
            box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "alpha": 0.8, "linewidth": 0}
            self.ax_.text(
                *place, title, fontsize=7.5, color=INK, ha="center", va="center", bbox=box
            )
            self.names.append(title)


@dataclass
class MixturesDisplay(Display):
    """The mixtures of some documents, by all views and by each view alone.

    Parameters
    ----------
    report : Report
    rows : sequence of int
        The documents.
    """

    report: Report
    rows: Sequence[int]

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        views: Any,
        *,
        rows: Sequence[int] | None = None,
        titles: Sequence[str] | None = None,
        ax: Any = None,
    ) -> MixturesDisplay:
        """Draw the mixtures of documents in each view.

        Parameters
        ----------
        model : fitted model
        views : Views, or Report
        rows : sequence of int, default=None
            The documents; by default the four whose views disagree most.
        titles : sequence of str, default=None
            A title of each document; by default its id. A report has its own.
        ax : matplotlib Axes, default=None
            Axes whose place the panels take; by default a new figure.

        Returns
        -------
        display : MixturesDisplay
            With `axes_`, one for each document.

        Examples
        --------
        >>> from coview import LinkPLSA
        >>> from coview.datasets import make_views
        >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
        >>> model = LinkPLSA(3, random_state=0).fit(views)
        >>> len(MixturesDisplay.from_estimator(model, views, rows=[0, 5]).axes_)
        2
        """
        report = report_of(model, views, titles=titles)
        rows = (report.disagreeing(4) or [0]) if rows is None else rows
        wrong = [r for r in rows if not 0 <= r < len(report.mixtures)]
        if wrong:
            most = len(report.mixtures) - 1
            raise ValueError(f"rows must be documents from 0 to {most}; found {wrong[0]}.")
        return cls(report, rows).plot(ax)

    def plot(self, ax: Any = None) -> MixturesDisplay:
        """Draw, in a new figure or in the place of the axes given."""
        names = [*self.report.view_mixtures]
        height = 0.7 + len(self.rows) * (0.24 * (len(names) + 1) + 0.3)
        self.axes_ = grid_of_axes(len(self.rows), 1, ax, height)[:, 0]
        self.figure_ = self.axes_[0].figure
        topics = self._topics()
        for panel, row in zip(self.axes_, self.rows, strict=True):
            self._draw(panel, row, names, topics)
        self.axes_[-1].set_xlabel("share of the document")
        self._explain(topics)
        return self

    def _topics(self) -> list[int]:
        """Return the topics with a color of their own: the largest in these documents."""
        total = self.report.mixtures[list(self.rows)].sum(axis=0)
        for alone in self.report.view_mixtures.values():
            total = total + np.nan_to_num(alone[list(self.rows)]).sum(axis=0)
        return np.argsort(-total, kind="stable")[:NAMED].tolist()

    def _draw(self, ax: Any, row: int, names: list[str], topics: list[int]) -> None:
        plain(ax)
        mixtures = [self.report.mixtures[row]]
        mixtures += [self.report.view_mixtures[name][row] for name in names]
        for place, mixture in enumerate(mixtures):
            if np.isnan(mixture).any():
                ax.barh(place, 1, color="white", edgecolor=GRAY, hatch="////", height=0.75, lw=0.5)
                continue
            left = 0.0
            for number, topic in enumerate(topics):
                look = {"color": COLORS[number], "hatch": HATCHES[number], "edgecolor": "white"}
                ax.barh(place, mixture[topic], left=left, height=0.75, linewidth=0.4, **look)
                left += mixture[topic]
            ax.barh(place, max(1 - left, 0), left=left, height=0.75, color=FAINT)
        name_rows(ax, ["all views", *(shortened(n, 20) for n in names)])
        ax.set_xlim(0, 1)
        ax.set_title(self._title(row), loc="left", fontsize=9)
        if ax is not self.axes_[-1]:
            ax.set_xticklabels([])

    def _title(self, row: int) -> str:
        name = shortened(self.report.title(row), 40)
        beyond = self.report.disagreement.beyond[row]
        return name if np.isnan(beyond) else f"{name}  (disagreement beyond chance {beyond:.2f})"

    def _explain(self, topics: list[int]) -> None:
        from matplotlib.patches import Patch

        marks = [
            Patch(facecolor=COLORS[i], hatch=HATCHES[i], edgecolor="white", label=title)
            for i, title in enumerate(topic_title(self.report.topics[t], 2, 24) for t in topics)
        ]
        if len(self.report.topics) > len(topics):
            marks.append(Patch(facecolor=FAINT, label="other topics"))
        marks.append(
            Patch(facecolor="white", edgecolor=GRAY, hatch="////", label="lacks this view")
        )
        where = {"loc": "outside lower center"} if _is_own(self.axes_) else {"loc": "lower center"}
        self.figure_.legend(handles=marks, ncols=3, fontsize=7, frameon=False, **where)


def _is_own(axes: Any) -> bool:
    """Return whether a figure has nothing but these axes, and lays them out by itself."""
    return axes[0].figure.get_layout_engine() is not None


@dataclass
class CoverageDisplay(Display):
    """How many documents have which of the views.

    Parameters
    ----------
    names : list of str
        The views.
    counts : dict of tuple of bool to int
        Documents by which of the views they have.
    """

    names: list[str]
    counts: dict[tuple[bool, ...], int]

    @classmethod
    def from_views(cls, views: Any, *, ax: Any = None) -> CoverageDisplay:
        """Draw which views documents have.

        Parameters
        ----------
        views : Views
        ax : matplotlib Axes, default=None
            Axes whose place the two panels take; by default a new figure.

        Returns
        -------
        display : CoverageDisplay
            With `axes_`: the table of views, and the bars.

        Examples
        --------
        >>> from coview import Views
        >>> views = Views.from_texts({"en": ["rain", "sun", None], "de": ["Regen", None, "Mond"]})
        >>> CoverageDisplay.from_views(views).counts
        {(True, True): 1, (True, False): 1, (False, True): 1}
        """
        counts = Counter(map(tuple, views.present.tolist()))
        ordered = sorted(counts.items(), key=lambda item: (-item[1], [not has for has in item[0]]))
        return cls(list(views.names), dict(ordered)).plot(ax)

    @classmethod
    def from_estimator(cls, model: Any, views: Any, *, ax: Any = None) -> CoverageDisplay:
        """Draw which views of a model documents have; as `from_views` otherwise."""
        return cls.from_views(topic_model(model).as_views(views), ax=ax)

    def plot(self, ax: Any = None) -> CoverageDisplay:
        """Draw, in a new figure or in the place of the axes given."""
        shown = list(self.counts.items())[:MOST_SETS]
        height = 0.8 + 0.26 * len(shown)
        self.axes_ = grid_of_axes(1, 2, ax, max(height, 1.6))[0]
        self.figure_ = self.axes_[0].figure
        table, bars = self.axes_
        places = list(range(len(shown)))
        for place, (has, _) in enumerate(shown):
            for view, there in enumerate(has):
                look = {"facecolors": COLORS[0] if there else "none", "edgecolors": GRAY}
                table.scatter(view, place, s=50, linewidths=0.8, **look)
        table.set_xticks(
            range(len(self.names)), [shortened(n, 14) for n in self.names], rotation=35
        )
        table.set_yticks([])
        table.set_xlim(-0.6, len(self.names) - 0.4)
        table.spines[:].set_visible(False)
        plain(bars, grid="x")
        drawn = bars.barh(places, [count for _, count in shown], color=COLORS[0], height=0.6)
        bars.bar_label(drawn, fmt="{:,.0f}", padding=3, fontsize=8)
        bars.set_yticks([])
        whole_numbers(bars, 4)
        bars.set_xlabel("documents")
        bars.margins(x=0.15)
        for panel in self.axes_:
            panel.set_ylim(len(shown) - 0.4, -0.6)
        left = len(self.counts) - len(shown)
        table.set_title(
            "has the view" + (f"; {left} rarer sets left out" if left else ""),
            fontsize=8,
            loc="left",
        )
        return self
