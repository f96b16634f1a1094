"""Plots of two views of the same documents: which topics meet, and how far the views agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coview.display import Display
from coview.plot.look import (
    COLORS,
    FAINT,
    ONE_DRAW,
    check_view,
    explain_above,
    largest_topics,
    name_rows,
    new_axes,
    plain,
    report_of,
    shortened,
    topic_title,
)
from coview.reporting import Report
from coview.reporting.value import TopicReport, as_share

MOST_CELLS = 20  # topics of a matrix that have names
MOST_TOPICS = 30  # topics of `AgreementDisplay`


@dataclass
class MatrixDisplay(Display):
    """Where documents are by one view, and where by another: topics of both, crossed.

    Parameters
    ----------
    report : Report
    rows, columns : str
        The two views.
    shares : ndarray of shape (topics, topics)
        Expected share of documents with a topic by one view and a topic by the other.
    """

    report: Report
    rows: str
    columns: str
    shares: np.ndarray
    n_topics: int = MOST_CELLS

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        views: Any,
        *,
        pair: tuple[str, str] | None = None,
        n_topics: int = MOST_CELLS,
        ax: Any = None,
    ) -> MatrixDisplay:
        """Draw the topics of two views against each other.

        Parameters
        ----------
        model : fitted model
        views : Views, or Report
        pair : pair of str, default=None
            The views of rows and columns; by default the first two.
        n_topics : int, default=20
            The largest topics; what is outside of the diagonal are documents whose views disagree.
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : MatrixDisplay

        Examples
        --------
        >>> from coview import LinkPLSA
        >>> from coview.datasets import make_views
        >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
        >>> model = LinkPLSA(3, random_state=0).fit(views)
        >>> display = MatrixDisplay.from_estimator(model, views)
        >>> display.shares.shape, round(float(display.shares.sum()), 6)
        ((3, 3), 1.0)
        """
        report = report_of(model, views, **ONE_DRAW)
        names = list(report.view_mixtures)
        if pair is None:
            if len(names) < 2:
                raise ValueError(f"Two views are needed; the documents have {names[0]!r} only.")
            pair = (names[0], names[1])
        a, b = (check_view(name, report, "pair") for name in pair)
        return cls(report, a, b, crossed(report, a, b), n_topics).plot(ax)

    def plot(self, ax: Any = None) -> MatrixDisplay:
        """Draw, on new axes or those given."""
        shown = sorted(largest_topics(self.report, self.n_topics), key=lambda topic: topic.index)
        size = 1.9 + 0.19 * len(shown)
        self.ax_ = new_axes(max(size, 3.0), max(size + 1.2, 4.2)) if ax is None else ax
        self.figure_ = self.ax_.figure
        numbers = [topic.index for topic in shown]
        part = 100 * self.shares[np.ix_(numbers, numbers)]
        image = self.ax_.imshow(np.sqrt(part), cmap="Blues", vmin=0)
        self.figure_.colorbar(
            image,
            ax=self.ax_,
            shrink=0.7,
            label="documents in %",
            format=lambda v, _: f"{v**2:.2g}",
        )
        places = range(len(shown))
        self.ax_.set_yticks(places, [topic_title(t, 2, 22) for t in shown], fontsize=7)
        self.ax_.set_xticks(places, [str(t.index) for t in shown], fontsize=7)
        self.ax_.set_ylabel(f"topic by {shortened(self.rows, 20)}", fontsize=8)
        self.ax_.set_xlabel(f"topic by {shortened(self.columns, 20)}", fontsize=8)
        self.ax_.spines[:].set_color(FAINT)
        together = 100 * np.trace(self.shares)
        self.ax_.set_title(
            f"{together:.0f} % on the diagonal: the same topic by both", fontsize=8, loc="left"
        )
        return self


def crossed(report: Report, a: str, b: str) -> np.ndarray:
    """Return the expected share of documents for each pair of topics, of those that have both."""
    first, second = report.view_mixtures[a], report.view_mixtures[b]
    both = ~np.isnan(first[:, 0]) & ~np.isnan(second[:, 0])
    if not both.any():
        raise ValueError(f"No document has both {a!r} and {b!r}.")
    return first[both].T @ second[both] / both.sum()


@dataclass
class AgreementDisplay(Display):
    """How far views disagree in each topic, with the band that chance explains.

    Parameters
    ----------
    report : Report
    n_topics : int
        Topics that are shown, those with the largest disagreement beyond chance.
    """

    report: Report
    n_topics: int = MOST_TOPICS

    @classmethod
    def from_estimator(
        cls, model: Any, views: Any, *, n_topics: int = MOST_TOPICS, ax: Any = None
    ) -> AgreementDisplay:
        """Draw the disagreement of views by topic.

        Parameters
        ----------
        model : fitted model
        views : Views, or Report
        n_topics : int, default=30
            At most so many topics, those with the largest disagreement beyond chance.
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : AgreementDisplay

        Examples
        --------
        >>> from coview import LinkPLSA
        >>> from coview.datasets import make_views
        >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
        >>> model = LinkPLSA(3, random_state=0).fit(views)
        >>> len(AgreementDisplay.from_estimator(model, views).values_)
        3
        """
        report = report_of(model, views)
        if len(report.view_mixtures) < 2:
            raise ValueError("Views cannot disagree: the documents have only one.")
        return cls(report, n_topics).plot(ax)

    def plot(self, ax: Any = None) -> AgreementDisplay:
        """Draw, on new axes or those given."""
        value, chance, spread = self._by_topic()
        known = [t for t in self.report.topics if np.isfinite(value[t.index])]
        shown: list[TopicReport] = sorted(
            known, key=lambda topic: chance[topic.index] - value[topic.index]
        )[: self.n_topics]
        self.ax_ = new_axes(1.0 + 0.2 * len(shown)) if ax is None else ax
        self.figure_ = self.ax_.figure
        plain(self.ax_, grid="x")
        for place, topic in enumerate(shown):
            low = max(chance[topic.index] - spread[topic.index], 0)
            width = chance[topic.index] + spread[topic.index] - low
            label = "by chance (mean ± s.d. of documents)" if place == 0 else None
            self.ax_.barh(place, width, left=low, color=FAINT, height=0.7, label=label)
        places = list(range(len(shown)))
        self.values_ = np.array([value[t.index] for t in shown])
        self.ax_.plot(self.values_, places, "o", color=COLORS[0], markersize=4.5, label="measured")
        name_rows(self.ax_, [topic_title(t) for t in shown])
        self.ax_.set_xlim(left=0)
        self.ax_.set_xlabel("lost with the topics of another view, share", fontsize=8)
        explain_above(self.ax_)
        return self

    def _by_topic(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return measured and chance level of each topic, and the spread of the latter."""
        found = self.report.disagreement
        known = np.isfinite(found.beyond)
        weights = self.report.mixtures[known]
        total = weights.sum(axis=0)
        lost, by_chance = (as_share(level[known]) for level in (found.value, found.chance))
        with np.errstate(invalid="ignore", divide="ignore"):
            value, chance, squares = (
                weights.T @ level / total for level in (lost, by_chance, by_chance**2)
            )
        return value, chance, np.sqrt(np.maximum(squares - chance**2, 0))
