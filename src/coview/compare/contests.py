"""Which of several models is best, and which a paired test cannot tell from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coview.compare.grouping import Group
from coview.compare.measures import measure
from coview.compare.stats import enough_pairs, holm, least_p, paired_test


@dataclass
class Contest:
    """The models of one column (or row) of a table.

    Attributes
    ----------
    best : set of str
        The one with the best mean, and those tied with it.
    n_compared : int
        How many the best one was compared with.
    too_few : bool
        Whether the runs are too few for the test.
    n_pairs, needed : int
        Runs that two models have in common, and how many would do; where they are too few.
    """

    best: set[str] = field(default_factory=set)
    n_compared: int = 0
    too_few: bool = False
    n_pairs: int = 0
    needed: int = 0


def contest(groups: Mapping[str, Group], metric: str, test: str | None, alpha: float) -> Contest:
    """Compare groups of runs by a metric; what was chosen with the labels takes no part.

    >>> groups = {n: Group({s: v + s for s in range(7)}, 7, 0, "", False)
    ...           for n, v in (("a", 0.5), ("b", 0.4))}
    >>> contest(groups, "accuracy", "wilcoxon", 0.05).best
    {'a'}
    """
    direction = measure(metric).direction
    honest = {name: g for name, g in groups.items() if g.values and not g.oracle}
    found = Contest()
    if not honest or not direction:
        return found
    best = max(honest, key=lambda name: direction * honest[name].mean)
    others = [name for name in honest if name != best]
    found.best = {best, *(name for name in others if honest[name].mean == honest[best].mean)}
    found.n_compared = len(others)
    if test is not None and others:
        _add_ties(found, honest, best, others, test, alpha)
    return found


def _add_ties(found, honest, best, others, test, alpha):
    pairs = [honest[best].paired(honest[name]) for name in others]
    n_pairs = min(len(first) for first, _ in pairs)
    if len(others) * least_p(n_pairs, test=test) > alpha:
        # nothing could differ: a tie would say nothing
        found.needed = enough_pairs(len(others), alpha, test=test)
        found.too_few, found.n_pairs = True, n_pairs
        return
    corrected = holm([paired_test(*pair, test=test) for pair in pairs])
    found.best |= {name for name, p in zip(others, corrected, strict=True) if p > alpha}
