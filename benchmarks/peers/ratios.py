"""From points of runs to times to equal perplexity, and their ratios with spread.

The target of a comparison is the best perplexity that one side has reached, plus one percent: the
last percent of a plateau takes long and says little. Between two points the logarithm of the
perplexity is taken as linear in time.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

NEAR = 1.01
CLOCKS = ("cpu", "wall")


@dataclass(frozen=True)
class Run:
    """One fit: how it ended, and its points after some passes, in order."""

    status: str
    version: str
    peak_mb: float
    fit_mb: float
    points: tuple[dict[str, float], ...]

    @property
    def best(self) -> float:
        """The lowest perplexity of all points."""
        return min(point["perplexity"] for point in self.points)

    @property
    def seconds_a_pass(self) -> float:
        """CPU seconds of a pass, from the first point on; those of the start are left out."""
        first, last = self.points[0], self.points[-1]
        if last["passes"] == first["passes"]:
            return last["cpu"] / last["passes"]
        return (last["cpu"] - first["cpu"]) / (last["passes"] - first["passes"])

    def seconds_to(self, target: float, clock: str = "cpu") -> float | None:
        """Return when the perplexity was at most target for the first time, None if never."""
        before = None
        for point in self.points:
            if point["perplexity"] <= target:
                return point[clock] if before is None else _between(before, point, target, clock)
            before = point
        return None


def _between(before: dict, after: dict, target: float, clock: str) -> float:
    high, low = math.log(before["perplexity"]), math.log(after["perplexity"])
    share = (high - math.log(target)) / (high - low)
    return before[clock] + share * (after[clock] - before[clock])


@dataclass(frozen=True)
class Ratio:
    """How many times as long a peer takes; `least` if it had not arrived when its run ended."""

    value: float
    least: bool = False


def to_peer(peer: Run, own: Run, clock: str = "cpu") -> Ratio | None:
    """Compare at the peer's best perplexity; None if coview does not reach it."""
    target = NEAR * peer.best
    theirs, ours = peer.seconds_to(target, clock), own.seconds_to(target, clock)
    return None if ours is None or theirs is None else Ratio(theirs / ours)


def to_own(peer: Run, own: Run, clock: str = "cpu") -> Ratio:
    """Compare at coview's best perplexity; a lower bound if the peer has not reached it."""
    target = NEAR * own.best
    theirs, ours = peer.seconds_to(target, clock), own.seconds_to(target, clock)
    assert ours is not None
    if theirs is None:
        return Ratio(peer.points[-1][clock] / ours, least=True)
    return Ratio(theirs / ours)


def runs_of(rows: Sequence[dict[str, str]]) -> dict[tuple[str, int, str], dict[int, Run]]:
    """Return the runs of each (corpus, topics, method) by repetition."""
    points: dict[tuple, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        key = row["corpus"], int(row["topics"]), row["method"], int(row["repetition"])
        points[key].append(row)
    found: dict[tuple[str, int, str], dict[int, Run]] = defaultdict(dict)
    for (*cell, repetition), group in points.items():
        found[tuple(cell)][repetition] = _run(group)
    return dict(found)


def _run(rows: Sequence[dict[str, str]]) -> Run:
    names = ("passes", "perplexity", *CLOCKS)
    points = tuple({n: float(row[n]) for n in names} for row in rows if row["perplexity"])
    first = rows[0]
    memory = (float(first[name] or "nan") for name in ("peak_mb", "fit_mb"))
    return Run(first["status"], first["version"], *memory, points)


def compared(
    peers: dict[int, Run], own: dict[int, Run], how=to_peer, clock: str = "cpu"
) -> list[Ratio | None]:
    """Compare runs of the same repetition, those that have points."""
    both = sorted(set(peers) & set(own))
    return [how(peers[r], own[r], clock) for r in both if peers[r].points and own[r].points]


def in_words(ratios: Sequence[Ratio | None]) -> str:
    """Return median and spread, with > for a lower bound, and how many were not reached."""
    known = [r for r in ratios if r is not None]
    if not ratios:
        return ""
    if not known:
        return "not reached"
    middle = median(r.value for r in known)
    mark = "> " if any(r.least for r in known) else ""
    words = f"{mark}{number(middle)}"
    if len(known) > 1:
        words += f" ({number(min(r.value for r in known))}-{number(max(r.value for r in known))})"
    missed = len(ratios) - len(known)
    return f"{words}, {missed} of {len(ratios)} not reached" if missed else words


def number(value: float) -> str:
    """Return a number with two or three digits that matter.

    >>> number(0.0123), number(4.56), number(78.9), number(1234.5)
    ('0.012', '4.6', '79', '1,234')
    """
    if abs(value) >= 20:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 1 else f"{value:.2g}"


def spread(values: Sequence[float]) -> str:
    """Return the median, with the smallest and the largest if there are several."""
    known = [v for v in values if not math.isnan(v)]
    if not known:
        return ""
    words = number(median(known))
    return words if len(known) == 1 else f"{words} ({number(min(known))}-{number(max(known))})"
