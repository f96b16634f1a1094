"""How many topics: `select_topics` answers with a range.

A number of topics is a resolution, so there are two honest answers. The documents are dealt into
two halves, topics are found in either, and both name a topic for every document (`halves`).
**Fine** is the number of topics at which the halves confirm the most information about each other,
in bits beyond chance. Twice as many topics could tell one bit more, and have to confirm at least a
fifth of it to be worth reading. **Coarse** is the largest number, up to fine, at which nearly every
topic comes back in the other half. What is between them is supported by the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coview.held_out import has_counts, sample_rows
from coview.params import check_choice, check_int, seed_of
from coview.progress import progress_bar
from coview.selection.halves import Confirmed, Documents, OneHalf, confirmed
from coview.views.checks import check_not_all_empty
from coview.views.container import Views
from coview.wording import plural

MAX_DOCS = 2_000  # documents that are looked at
DOCS_PER_TOPIC = 10  # the largest number tried leaves each topic at least these
MOST_TOPICS = 96  # that are tried, unless more are asked for
LADDER_STEP = 1.2
SPLITS = 3  # of the documents into halves
WORTH = 0.2  # bits that twice as many topics have to confirm, of the one bit that they could
FALLING = 0.93  # of the most bits: two numbers in a row below it end the search
NEARLY_EVERY = 0.9  # topics come back at the coarse number
WIDE_FROM = 12  # gaps of one number in this many topics stay open
CLOSE, FAR_APART = 1.5, 4.0  # ratios of the ends
NO_MORE = 1.03  # times the bits at fine is no more than noise
WIDE = 6  # ratio of the ends from which a level between them helps
IN_QUESTION = 0.9, 0.6  # shares of the most bits, and of topics that come back, after one split
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
        What two halves of the documents confirm about each other, beyond chance. NaN where one
        split was enough to rule a number out.
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
        if self.suggestion is None or self.coarse is None or self.suggestion <= self.coarse:
            return ()
        middle = round((self.coarse * self.suggestion) ** 0.5)
        return (self.coarse, middle) if self.suggestion > WIDE * self.coarse else (self.coarse,)

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
            "bits": np.nanmean(self.bits, axis=0),
            "bits_spread": np.nanmax(self.bits, axis=0) - np.nanmin(self.bits, axis=0),
            "back": np.nanmean(self.back, axis=0),
            "back_spread": np.nanmax(self.back, axis=0) - np.nanmin(self.back, axis=0),
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
    """What is known about numbers of topics so far, of the candidates that were tried."""

    def __init__(self, views: Views, candidates: Sequence[int], seed: int):
        rng = np.random.default_rng(seed)
        self._documents = Documents.of(views, rng)
        self._candidates, self._seed = candidates, seed
        self._splits = [self._deal(0, candidates[-1])]
        self._found: dict[int, list[Confirmed]] = {}

    def _deal(self, split: int, most: int) -> tuple[OneHalf, OneHalf]:
        return self._documents.deal(most, np.random.default_rng([self._seed, split]))

    def selection(self, detail: str, verbose: bool) -> TopicSelection:
        """Climb the ladder, look closer at what is in question, and answer."""
        ladder = ladder_of(self._candidates)
        with progress_bar("Comparing numbers of topics", len(ladder), verbose) as advance:
            for step, k in enumerate(ladder):
                self._try(k, 1)
                advance(step + 1, plural(k, "topic"))
                if self._is_over():
                    break
            wanted = self._in_question()
            most = next((k for k in ladder if k > wanted[-1]), wanted[-1])
            self._splits += [self._deal(split, most) for split in range(1, SPLITS)]
            for k in wanted:
                self._try(k, SPLITS)
            self._look_closer()
        return self._answer(detail)

    def _try(self, k: int, n_splits: int) -> None:
        found = self._found.setdefault(k, [])
        for split in range(len(found), n_splits):
            rng = np.random.default_rng([self._seed, split, k])
            found.append(confirmed(self._splits[split], k, rng))

    def _is_over(self) -> bool:
        """Return whether the last two numbers confirm clearly less than the best."""
        bits = self._bits()
        return len(bits) > 3 and bool((bits[-2:] < FALLING * bits.max()).all())

    def _look_closer(self) -> None:
        """Try numbers next to both ends until their neighbors were tried."""
        for end in (self._fine, self._coarse):
            tried: set[int] = set()
            while (k := end()) not in tried:
                tried.add(k)
                for near in self._between(k):
                    self._try(near, SPLITS)

    def _between(self, k: int) -> list[int]:
        """Return the middle of each gap next to a number, where candidates are left there."""
        known, middles = self._known(), []
        for other in (known[known < k][-1:], known[known > k][:1]):
            if not len(other):
                continue
            inside = [c for c in self._candidates if min(k, other[0]) < c < max(k, other[0])]
            if len(inside) > k // WIDE_FROM:
                middles.append(inside[len(inside) // 2])
        return middles

    # -- what is known ---------------------------------------------------------------------

    def _known(self) -> np.ndarray:
        return np.array(sorted(self._found))

    def _bits(self) -> np.ndarray:
        return np.array([np.mean([c.bits for c in self._found[k]]) for k in self._known()])

    def _back(self) -> np.ndarray:
        """Return the share of topics that come back."""
        return np.array([np.mean([c.back for c in self._found[k]]) / k for k in self._known()])

    def _in_question(self) -> list[int]:
        """Return the numbers that may be an end of the range."""
        bits, back = self._bits(), self._back()
        most, some = IN_QUESTION
        return self._known()[(bits >= most * bits.max()) | (back >= some)].tolist()

    def _fine(self) -> int:
        """Return the number that confirms the most bits beyond what it has to."""
        known = self._known()
        return int(known[(self._bits() - WORTH * np.log2(known)).argmax()])

    def _coarse(self) -> int:
        """Return the largest number up to fine at which nearly every topic comes back.

        Where there is none, as many topics as come back of the fine ones, but at least two.
        """
        known, back = self._known(), self._back()
        stable = known[(known <= self._fine()) & (back >= NEARLY_EVERY)]
        if len(stable):
            return int(stable[-1])
        of_fine = self._fine() * float(back[known == self._fine()][0])
        return max(round(of_fine), min(2, self._fine()))

    def _is_anything_there(self) -> bool:
        """Return whether at some number a topic comes back, on average over the splits."""
        every = [found for found in self._found.values() if len(found) == SPLITS]
        return any(np.mean([c.back for c in found]) >= FEWEST_BACK for found in every)

    def _curve(self, what: str) -> np.ndarray:
        """Return what was measured (splits, numbers), NaN where it was not."""
        values = np.full((SPLITS, len(self._found)), np.nan)
        for place, k in enumerate(self._known().tolist()):
            for split, found in enumerate(self._found[k]):
                values[split, place] = getattr(found, what)
        return values

    def _answer(self, detail: str) -> TopicSelection:
        coarse, fine = self._coarse(), self._fine()
        known, most = self._known(), float(self._bits().max())
        share = float(self._back()[known == fine][0])
        at_the_end = fine == self._candidates[-1] and len(known) > 2
        ends: tuple[int | None, int | None] = coarse, fine
        if not self._is_anything_there():
            ends, confidence = (None, None), "none"
            reason = (
                "whatever their number, topics found in one half of the documents do not come back "
                "in the other half."
            )
        else:
            here = float(self._bits()[known == fine][0])
            confidence = _confidence(coarse, fine, share, most / here, at_the_end)
            if confidence == "high" and len(self._documents.has) < ENOUGH_DOCUMENTS:
                confidence = "medium"
            reason = (
                f"two halves of the documents confirm {most:.1f} bits about each other's topics, "
                f"and {100 * share:.0f} % of {fine} topics come back."
            )
        if ends[1] is not None and at_the_end:
            reason += f" More than {fine}, the largest number tried, may be better."
        return TopicSelection(
            coarse=ends[0],
            fine=ends[1],
            suggestion=ends[0] if detail == "coarse" else ends[1],
            confidence=confidence,
            reason=reason,
            topics=known,
            bits=self._curve("bits"),
            back=self._curve("back"),
            view_weights=dict(self._documents.reliability.weights),
        )


def _confidence(coarse: int, fine: int, share: float, more: float, at_the_end: bool) -> str:
    """Return how far the fine number can be relied on.

    Where both ends are close, topics come back (`share`), and no larger number confirms more bits
    (`more`, the most as a multiple of those at fine), there is one resolution, and the number is
    that of the groups there are. Where the ends are far apart, it is one of several.
    """
    if at_the_end or fine > FAR_APART * coarse:
        return "low"
    sharp = fine <= CLOSE * coarse and share >= NEARLY_EVERY and more <= NO_MORE
    return "high" if sharp else "medium"


# -- candidates ------------------------------------------------------------------------------------


def ladder_of(candidates: Sequence[int]) -> list[int]:
    """Return the candidates to try first: each is about a fifth larger than the one before.

    >>> ladder_of(range(2, 40))
    [2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 39]
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
