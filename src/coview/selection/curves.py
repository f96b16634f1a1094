"""Curves along numbers of topics, each with its spread, and what they say together.

The suggestion follows from two things. One is the agreement of halves, the geometric mean of that
by features and that by documents: clusters have to replicate both ways. Of several peaks within a
standard error of the largest agreement it is the one whose clusters tell most, as a share of what
so many could tell: one small cluster and the rest may agree as well as all clusters, but tell
little. The other is a cliff at which the dimensions that halves of the features share end
(`selection.dimensions`), which decides, but for a tenth: a few dimensions may be too weak to be
seen, and there are more topics if the halves agree better on more. Perplexity and stability take
part in how sure it is.

A curve *decides* for a number if all others further away than one topic (or a tenth) are more than
a standard error of the difference worse, over the same splits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

HARDLY = 0.1  # agreement of halves below which there are no clusters to speak of
MISSED = 0.1  # share of the topics that a cliff may miss


@dataclass(frozen=True)
class Curve:
    """Values along the numbers of topics, repeated.

    Attributes
    ----------
    values : ndarray of shape (repetitions, numbers of topics)
        NaN where nothing was measured.
    """

    values: np.ndarray

    @property
    def measured(self) -> np.ndarray:
        """Where there are values, (numbers of topics,) bool."""
        return np.isfinite(self.values).all(axis=0) & bool(len(self.values))

    @property
    def mean(self) -> np.ndarray:
        """Mean over the repetitions; NaN where nothing was measured."""
        return self._over_measured(lambda values: values.mean(axis=0))

    @property
    def sd(self) -> np.ndarray:
        """Standard deviation over the repetitions."""
        return self._over_measured(_sd)

    def behind(self, best: int) -> tuple[np.ndarray, np.ndarray]:
        """Return how far each mean is below that at `best`, and the standard error of that."""
        differences = self.values[:, [best]] - self.values
        made = Curve(differences)
        return made.mean, made.sd / np.sqrt(max(len(differences), 1))

    def _over_measured(self, what: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        found = np.full(self.values.shape[1], np.nan)
        found[self.measured] = what(self.values[:, self.measured])
        return found


def _sd(values: np.ndarray) -> np.ndarray:
    return values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])


@dataclass(frozen=True)
class SuggestedNumber:
    """A number of topics, how sure it is, and why.

    Attributes
    ----------
    topics : int
    confidence : {"high", "medium", "low"}
    plausible : tuple of int
        It, and numbers whose agreement of halves is within a standard error of the best.
    votes : dict of int
        The number that each criterion alone would choose.
    reason : str
        In words.
    """

    topics: int
    confidence: str
    plausible: tuple[int, ...]
    votes: dict[str, int]
    reason: str


def suggest(
    topics: np.ndarray, curves: Mapping[str, Curve], cliff: int | None, likelihood: bool = True
) -> SuggestedNumber:
    """Suggest a number of topics.

    Parameters
    ----------
    topics : ndarray of int
        The numbers measured, ascending.
    curves : dict of Curve
        "features", "documents", "bits", "perplexity" and "stability".
    cliff : int or None
        The number of topics that the shared dimensions speak for.
    likelihood : bool
        Whether perplexity means something: not for measurements.
    """
    halves = [curves[name] for name in ("features", "documents")]
    best, plausible = _best_agreement(topics, halves, curves["bits"])
    votes = _votes(topics, curves, likelihood)
    chosen = best
    if cliff is not None and topics[0] <= cliff <= topics[-1]:
        votes = {"dimensions": cliff, **votes}
        chosen = int(topics[np.abs(topics - cliff).argmin()])
    # a few of many dimensions may be too weak to be seen
    few_more = 0 < best - chosen <= MISSED * best and chosen not in plausible
    if "dimensions" not in votes or few_more:
        chosen, cliff = best, None
    level = _mean_agreement(halves)[np.searchsorted(topics, best)]
    confidence = _confidence(chosen, best, plausible, votes, cliff)
    if not level >= HARDLY or (cliff is None and _at_the_end(topics, chosen)):
        confidence = "low"
    reason = _reason(topics, chosen, best, plausible, votes, cliff, confidence, float(level))
    return SuggestedNumber(chosen, confidence, tuple(sorted({chosen, *plausible})), votes, reason)


# -- what the curves say ---------------------------------------------------------------------------


def _mean_agreement(halves: Sequence[Curve]) -> np.ndarray:
    """Return the geometric mean of the curves that were measured, -inf where none was."""
    means = np.array([curve.mean for curve in halves])
    known = np.isfinite(means)
    product = np.where(known, np.maximum(means, 0), 1).prod(axis=0)
    return np.where(known.any(axis=0), product ** (1 / np.maximum(known.sum(axis=0), 1)), -np.inf)


def _best_agreement(
    topics: np.ndarray, halves: Sequence[Curve], bits: Curve
) -> tuple[int, list[int]]:
    """Return the best number, and those within a standard error of the largest agreement.

    Where these are several peaks, the best has most bits as a share of what so many clusters could
    tell.
    """
    agreement = _mean_agreement(halves)
    best = int(agreement.argmax())
    errors = [_error_share(curve, best, agreement, len(halves)) for curve in halves]
    error = np.sqrt(np.sum(np.square(errors), axis=0))
    near = np.isfinite(agreement) & (agreement >= agreement[best] - error)
    near[best] = True
    told = np.where(bits.measured, bits.mean / np.log2(topics), 0)
    best = max(_peaks(near, agreement), key=lambda place: (told[place], agreement[place]))
    return int(topics[best]), topics[near].tolist()


def _peaks(near: np.ndarray, agreement: np.ndarray) -> list[int]:
    """Return the place of the largest agreement in each run of places that are `near`."""
    places = np.flatnonzero(near)
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    return [int(run[agreement[run].argmax()]) for run in runs]


def _error_share(curve: Curve, best: int, agreement: np.ndarray, n_curves: int) -> np.ndarray:
    """Return what the errors of one curve are in the geometric mean, 0 where it is not known."""
    mean, error = curve.mean, curve.behind(best)[1]
    known = np.isfinite(error) & (mean > 0)
    ratio = np.divide(agreement, mean, out=np.zeros_like(mean), where=known)
    return np.where(known, error, 0) * ratio / n_curves


def _votes(topics: np.ndarray, curves: Mapping[str, Curve], likelihood: bool) -> dict[str, int]:
    """Return the number that each criterion alone would choose."""
    votes = {}
    for name in ("features", "documents", "stability"):
        if curves[name].measured.any():
            votes[name] = int(topics[np.nanargmax(curves[name].mean)])
    if likelihood and curves["perplexity"].measured.any():
        votes["perplexity"] = smallest_within_error(topics, curves["perplexity"])
    return votes


def smallest_within_error(topics: np.ndarray, curve: Curve) -> int:
    """Return the smallest number within a standard error of the best; lower values are better."""
    best = int(np.nanargmin(curve.mean))
    behind, error = curve.behind(best)
    return int(topics[np.flatnonzero(-behind <= error)[0]])


def is_near(number: int, other: int) -> bool:
    """Return whether two numbers of topics are one apart at most, or a tenth.

    >>> is_near(5, 6), is_near(5, 7), is_near(30, 33)
    (True, False, True)
    """
    return abs(number - other) <= max(1, 0.1 * other)


def _confidence(
    chosen: int, best: int, plausible: Sequence[int], votes: Mapping[str, int], cliff: int | None
) -> str:
    agree = sum(is_near(vote, chosen) for vote in votes.values()) / max(len(votes), 1)
    decided = all(is_near(number, chosen) for number in plausible)
    if cliff is not None:
        return "high" if is_near(best, chosen) or agree > 0.5 else "medium"
    if decided:
        return "high" if agree >= 0.75 and len(votes) > 2 else "medium"
    return "low"


def _at_the_end(topics: np.ndarray, chosen: int) -> bool:
    """Return whether the agreement may go on rising beyond the largest number."""
    return bool(len(topics) > 2 and chosen == topics[-1])


# -- in words --------------------------------------------------------------------------------------


def _reason(
    topics: np.ndarray,
    chosen: int,
    best: int,
    plausible: Sequence[int],
    votes: Mapping[str, int],
    cliff: int | None,
    confidence: str,
    level: float,
) -> str:
    agree = sum(is_near(vote, chosen) for vote in votes.values())
    count = f"{agree} of {len(votes)} criteria are within one of it (or a tenth)"
    if cliff is not None:
        shared = f"halves of the features share {cliff - 1} dimensions and no more"
        if confidence == "high":
            return f"{shared}, which speaks for {cliff} topics; {count}."
        return f"{shared}, which speaks for {cliff} topics, but they agree most on {best} clusters."
    if not level >= HARDLY:
        most = f"at most {max(level, 0):.2f}" if np.isfinite(level) else "nothing to compare"
        return f"no number stands out: halves of the data hardly agree on any clusters ({most})."
    if _at_the_end(topics, chosen):
        return f"halves of the data agree most at the end of the range: try more than {chosen}."
    if confidence == "low":
        low, high = min(plausible), max(plausible)
        return (
            f"the curves do not decide between {low} and {high}: halves of the data agree on "
            f"clusters nearly as well; {count}. Choose by what the topics are for."
        )
    return f"halves of the data agree most on {chosen} clusters ({level:.2f}); {count}."
