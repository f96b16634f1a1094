"""How many topics: `select_topics` answers with a range.

A number of topics is a resolution, so there are two honest answers. The documents are dealt into
two halves, topics are found in each, and both name a topic for every document (`halves`). Those
answers tell a number of bits, and the halves confirm some of them to each other. **Fine** is the
number of topics with the largest product of the bits confirmed and the share of the bits told that
they are: more topics have to tell more, and what they tell has to hold. **Coarse** is the largest
number, up to fine, at which nearly every topic comes back in the other half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from coview.held_out import has_counts, sample_rows
from coview.params import check_choice, check_int, seed_of
from coview.progress import progress_bar
from coview.selection.halves import Confirmed, Documents, confirmed
from coview.tree import levels_from
from coview.views.checks import check_not_all_empty
from coview.views.container import Views
from coview.wording import plural

MAX_DOCS = 2_000  # documents that are looked at
DOCS_PER_TOPIC = 10  # the largest number tried leaves each topic at least these
MOST_TOPICS = 96  # that are tried, unless more are asked for
LADDER_STEP = 1.25
SPLITS = 3  # of the documents into halves
FALLING = 0.85  # of the most that a number is worth: two in a row below it end the search
NEARLY_EVERY = 0.9  # topics come back at the coarse number
WIDE_FROM = 12  # gaps of one number in this many topics stay open
CLOSE, FAR_APART = 1.5, 4.0  # ratios of the ends
ENOUGH_DOCUMENTS = 100  # for high confidence: fewer may agree by luck
FEWEST_BACK = 1  # topic comes back at some number, or there is no structure


@dataclass(frozen=True)
class TopicSelection:
    """Numbers of topics that the data support, from coarse to fine.

    Attributes
    ----------
    coarse, fine : int or None
        The ends of the range; None where no number is supported.
    suggestion : int or None
        `fine`, or `coarse` if `detail="coarse"` was asked for.
    confidence : {"high", "medium", "low", "none"}
        How far `fine` can be relied on.
    reason : str
        Why, in words.
    topics : ndarray of int of shape (numbers,)
        The numbers that were tried, ascending.
    bits : ndarray of shape (splits, numbers)
        What two halves of the documents confirm about each other, beyond chance.
    back : ndarray of shape (splits, numbers)
        How many topics come back in the other half.
    view_weights : dict of float
        How far each view was trusted.
    """

    coarse: int | None
    fine: int | None
    suggestion: int | None
    confidence: str
    reason: str
    topics: np.ndarray
    bits: np.ndarray
    back: np.ndarray
    view_weights: dict[str, float]

    @property
    def levels(self) -> tuple[int, ...]:
        """Coarser numbers of topics through which the suggested ones can be read."""
        if self.suggestion is None or self.coarse is None:
            return ()
        return tuple(levels_from(self.coarse, self.suggestion))

    @property
    def sentence(self) -> str:
        """The answer in words."""
        if self.suggestion is None:
            return f"No number of topics is supported: {self.reason}"
        return f"{self.in_short()}. Confidence: {self.confidence}; {self.reason}"

    def in_short(self, option: str = "n_components=") -> str:
        """Return the answer in one line; `option` is how the other end is asked for."""
        if self.suggestion is None:
            return "no number of topics is supported by the data"
        number = plural(self.suggestion, "topic")
        if self.coarse == self.fine:
            return f"{number}, the number that the data support"
        ends = {self.coarse: "coarse", self.fine: "fine"}
        other = self.fine if self.suggestion == self.coarse else self.coarse
        return (
            f"{number} ({self.coarse} to {self.fine} are supported by the data; "
            f"{option}{other} for the {ends[other]} ones)"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each number: bits, topics that come back, and their spread."""
        columns = {
            "bits": np.mean(self.bits, axis=0),
            "bits_spread": np.ptp(self.bits, axis=0),
            "back": np.mean(self.back, axis=0),
            "back_spread": np.ptp(self.back, axis=0),
        }
        return [
            {"topics": int(k)} | {name: float(values[i]) for name, values in columns.items()}
            for i, k in enumerate(self.topics)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as numbers, texts, lists and dicts."""
        return {
            "coarse": self.coarse,
            "fine": self.fine,
            "suggestion": self.suggestion,
            "confidence": self.confidence,
            "reason": self.reason,
            "view_weights": dict(self.view_weights),
            "table": self.rows(),
        }

    def __str__(self) -> str:
        marks = {self.fine: "fine", self.coarse: "coarse"}
        lines = ["topics   bits  spread  come back"]
        for row in self.rows():
            k = row["topics"]
            both = "coarse, fine" if k == self.coarse == self.fine else marks.get(k, "")
            back = f"{row['back']:.1f} of {k}"
            spread = row["bits_spread"]
            lines.append(f"{k:>6}  {row['bits']:5.2f}  {spread:6.2f}  {back:<10}  {both}".rstrip())
        return "\n".join([*lines, "", self.sentence])

    def plot(self, ax: Any = None) -> Any:
        """Draw bits and topics that come back, with both ends; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            For the bits alone. By default a new figure, with the topics that come back below.

        Returns
        -------
        TopicCountDisplay
            With `axes_` and `figure_`; its `save(path)` writes a file.
        """
        from coview.selection.display import TopicCountDisplay

        return TopicCountDisplay(self).plot(ax)


def select_topics(
    views: Any,
    topics: Any = None,
    *,
    detail: str = "fine",
    random_state: Any = 0,
    verbose: int = 0,
) -> TopicSelection:
    """Find the numbers of topics that the data support, without labels.

    Parameters
    ----------
    views : Views, dict of matrices, or one matrix
        The documents; at most 2,000 of them, drawn at random, are looked at.
    topics : str, iterable of int, or None, default=None
        Candidates: "5:40" (both ends included), "5:40:5" (in steps of 5), or numbers. By default
        from 2 to a tenth of the documents, at most 96.
    detail : {"fine", "coarse"}, default="fine"
        Which end of the range to suggest.
    random_state : int, Generator, RandomState or None, default=0
        Seed of samples, splits and starts.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Returns
    -------
    TopicSelection

    Examples
    --------
    >>> import coview
    >>> views = coview.datasets.make_views(n_docs=200, n_topics=4, n_terms=[60, 40], random_state=0)
    >>> found = coview.select_topics(views)
    >>> found.coarse, found.fine, found.confidence
    (4, 4, 'high')
    """
    from coview.runners.native import one_native_thread

    check_choice("detail", detail, ["fine", "coarse"])
    views = views if isinstance(views, Views) else Views(views)
    check_not_all_empty(views.matrices)
    candidates = None if topics is None else parse_topics(topics)
    seed = seed_of(random_state)
    rows = np.flatnonzero(has_counts(views))
    n_filled = len(rows)
    rows = rows[sample_rows(n_filled, MAX_DOCS, np.random.default_rng(seed))]
    if candidates is None:
        candidates = list(range(2, min(MOST_TOPICS, len(rows) // DOCS_PER_TOPIC) + 1))
    check_candidates(candidates, len(rows), views.n_docs)
    with one_native_thread("blas"):
        return _Search(views[rows], candidates, seed).selection(detail, bool(verbose))


# -- the search ------------------------------------------------------------------------------------


class _Search:
    """What is known about the numbers of topics that were tried so far."""

    def __init__(self, views: Views, candidates: Sequence[int], seed: int):
        self._documents = Documents.of(views, np.random.default_rng(seed))
        self._candidates, self._seed = candidates, seed
        self._splits = [
            self._documents.deal(candidates[-1], np.random.default_rng([seed, split]))
            for split in range(SPLITS)
        ]
        self._found: dict[int, list[Confirmed]] = {}

    def selection(self, detail: str, verbose: bool) -> TopicSelection:
        """Climb the ladder until topics are worth less, look closer at both ends, and answer."""
        ladder = ladder_of(self._candidates)
        with progress_bar("Comparing numbers of topics", len(ladder), verbose) as advance:
            for step, k in enumerate(ladder):
                self._try(k)
                advance(step + 1, plural(k, "topic"))
                worth = self._mean("worth")
                if len(worth) > 3 and (worth[-2:] < FALLING * worth.max()).all():
                    break
            for end in (self._fine, self._coarse):
                self._look_closer(end)
        return self._answer(detail)

    def _try(self, k: int) -> None:
        rngs = (np.random.default_rng([self._seed, split, k]) for split in range(SPLITS))
        self._found[k] = [
            confirmed(halves, k, rng) for halves, rng in zip(self._splits, rngs, strict=True)
        ]

    def _look_closer(self, end: Callable[[], int]) -> None:
        """Try numbers next to an end until the gaps on both sides of it are narrow."""
        while gaps := self._gaps(end()):
            for inside in gaps:
                self._try(inside[len(inside) // 2])

    def _gaps(self, k: int) -> list[list[int]]:
        """Return the candidates between a number and its neighbors, where they are many."""
        known = self._known()
        around = [*known[known < k][-1:], k, *known[known > k][:1]]
        gaps = [[c for c in self._candidates if a < c < b] for a, b in pairwise(around)]
        return [inside for inside in gaps if len(inside) > k // WIDE_FROM]

    # -- what is known ---------------------------------------------------------------------

    def _known(self) -> np.ndarray:
        return np.array(sorted(self._found))

    def _curve(self, what: str) -> np.ndarray:
        """Return what was measured (splits, numbers)."""
        return np.array([[getattr(c, what) for c in self._found[k]] for k in self._known()]).T

    def _mean(self, what: str) -> np.ndarray:
        return np.asarray(self._curve(what).mean(axis=0))

    def _fine(self) -> int:
        return int(self._known()[self._mean("worth").argmax()])

    def _coarse(self) -> int:
        """Return the largest number up to fine at which nearly every topic comes back.

        "Every" is as large a share of the topics as comes back at any number.
        """
        known, share = self._known(), self._mean("back") / self._known()
        share = np.where(known <= self._fine(), share, -1.0)
        return int(known[share >= NEARLY_EVERY * share.max()][-1])

    # -- the answer ------------------------------------------------------------------------

    def _answer(self, detail: str) -> TopicSelection:
        known, back = self._known(), self._mean("back")
        coarse, fine, confidence = None, None, "none"
        reason = (
            "whatever their number, topics found in one half of the documents do not come back in "
            "the other half."
        )
        if back.max() >= FEWEST_BACK:
            coarse, fine, confidence = self._coarse(), self._fine(), self._confidence()
            bits, share = (self._mean(what)[known == fine][0] for what in ("bits", "back"))
            reason = (
                f"at {fine} topics, two halves of the documents confirm {bits:.1f} bits about each "
                f"other's topics, and {100 * share / fine:.0f} % of the topics come back."
            )
            if self._is_last(fine):
                reason += f" More than {fine}, the largest number tried, may be better."
        return TopicSelection(
            coarse=coarse,
            fine=fine,
            suggestion=coarse if detail == "coarse" else fine,
            confidence=confidence,
            reason=reason,
            topics=known,
            bits=self._curve("bits"),
            back=self._curve("back"),
            view_weights=dict(self._documents.reliability.weights),
        )

    def _is_last(self, k: int) -> bool:
        return k == self._candidates[-1] and len(self._found) > 2

    def _confidence(self) -> str:
        """Return how far the fine number can be relied on.

        Where the ends are close, topics come back, and numbers that are neither end are worth
        clearly less, there is one resolution, and the number is that of the groups there are. Where
        the ends are far apart, it is one of several.
        """
        known, coarse, fine = self._known(), self._coarse(), self._fine()
        if self._is_last(fine) or fine > FAR_APART * coarse:
            return "low"
        worth, back = self._mean("worth"), self._mean("back")
        others = worth[(known * CLOSE < fine) | (known > CLOSE * fine)]
        sharp = (
            fine <= CLOSE * coarse
            and back[known == fine][0] >= NEARLY_EVERY * fine
            and others.max(initial=0) < FALLING * worth.max()
            and len(self._documents.has) >= ENOUGH_DOCUMENTS
        )
        return "high" if sharp else "medium"


# -- candidates ------------------------------------------------------------------------------------


def ladder_of(candidates: Sequence[int]) -> list[int]:
    """Return the candidates to try first: each is about a quarter larger than the one before.

    >>> ladder_of(range(2, 40))
    [2, 3, 4, 5, 7, 9, 12, 15, 19, 24, 30, 38, 39]
    """
    ladder = [candidates[0]]
    for k in candidates:
        if k >= max(LADDER_STEP * ladder[-1], ladder[-1] + 1) or k == candidates[-1]:
            ladder.append(k)
    return sorted(set(ladder))


def parse_topics(topics: Any) -> list[int]:
    """Return candidates in ascending order from "5:40", "5:40:5", or numbers.

    >>> parse_topics("5:20:5"), parse_topics([8, 4])
    ([5, 10, 15, 20], [4, 8])
    """
    if isinstance(topics, str):
        numbers = _parse_range(topics)
    elif isinstance(topics, Iterable):
        numbers = list(topics)
    else:
        raise ValueError(
            f"topics must be a range such as '5:40', or several numbers of topics; got {topics!r}."
        )
    if not numbers:
        raise ValueError("There is no number of topics to try; give a range such as '5:40'.")
    return sorted({check_int("topics", k, 2, " to be compared with others") for k in numbers})


def _parse_range(text: str) -> list[int]:
    try:
        low, high, *step = (int(part) for part in text.split(":"))
    except ValueError as error:
        raise ValueError(
            f"A range of topics looks like 5:40, or 5:40:5 in steps of 5; got {text!r}."
        ) from error
    if len(step) > 1 or (step and step[0] < 1):
        raise ValueError(f"A range of topics is LOW:HIGH or LOW:HIGH:STEP; got {text!r}.")
    if low > high:
        raise ValueError(
            f"The range of topics {text!r} is reversed: the smaller number comes first, "
            f"{high}:{low}."
        )
    return list(range(low, high + 1, *step))


def check_candidates(candidates: Sequence[int], n_docs: int, n_all: int) -> None:
    """Refuse more topics than half of the documents that are looked at: both halves need them."""
    most = n_docs // 2
    if candidates and candidates[-1] <= most:
        return
    looked_at = "" if n_docs == n_all else f", and {n_docs:,} of them are looked at"
    raise ValueError(
        f"Two halves of the documents are compared, so there can be at most half as many topics as "
        f"documents: got {candidates[-1] if candidates else 2:,} topics, and the data have "
        f"{plural(n_all, 'document')}{looked_at}. "
        + (f"Try at most {most:,}." if most >= 2 else "Give the number of topics instead.")
    )
