r"""SQUAREM: EM in fewer passes, by extrapolation (Varadhan & Roland, 2008).

EM is slow where it creeps along a ridge. Two of its steps say where the ridge leads: with
x0 -> x1 -> x2, r = x1 - x0 and v = (x2 - x1) - r, over all mixtures and topics,

    x' = x0 - 2 alpha r + alpha^2 v,    alpha = -|r| / |v|, at most -1                    (S3)

(alpha = -1 is x2). x' is put back on the simplex: no share below half of that of x2, zeros
of x2 stay, rows are normalized. The sweep of the next EM step yields its objective. If that
is not below the last one known, of x1, the step counts, and the next cycle begins where it
leads; otherwise the next cycle begins at x2, and one pass is lost. So a cycle has three passes,
and the objective never falls.

Cycles need no memory of earlier ones: what a run can be resumed from is the point where a cycle
begins, as an iteration of plain EM is. Of mixtures and topics four generations are alive at a time,
where plain EM has two: x0 (for Ctrl-C), x2, x' (in the place of x1) and the point it leads to.
Each sum has a fixed order, so that bits do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from coview.em.emissions import Emission, FactoredTopics, Topics
from coview.em.prepared import Block
from coview.em.problem import Problem
from coview.em.simplex import limits
from coview.em.step import Values, refreshed

# No share is extrapolated below this part of that of x2: EM recovers slowly from shares near 0. To
# the objective of 200 passes of plain EM (LinkPLSA on Cora and Reuters, 10 and 20 topics) it takes
# 51 to 63 passes with 0.5, 65 to 85 with 0.1, and 84 to 125 with 0.01. 0.7 saves a few more, but
# is refused more often.
FLOOR = 0.5
GENERATIONS = 4  # of mixtures and topics at a time, see above
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # the same array at x0, x1 and x2


class PlainEM:
    """No acceleration: each state is the beginning of the next iteration."""

    extrapolated = False  # whether the state to sweep next is a guess that may be refused
    begins = True  # whether the run can be resumed from the state to sweep next

    def next_state(self, problem: Problem, more: bool = True) -> Problem:
        """Return the state to sweep next, given where EM has led from the one before."""
        return problem

    def refuses(self, values: Values, history: Sequence[Values]) -> bool:
        """Return whether the state that was swept is a guess worse than what is known."""
        return False

    def fall_back(self) -> Problem:
        """Return the state to sweep instead of a refused guess."""
        raise NotImplementedError


class Squarem(PlainEM):
    """One cycle of SQUAREM after the other."""

    def __init__(self, problem: Problem, map_in_order: Callable = map):
        check_ascent(problem.penalty.monotone and problem.prior.monotone, "the objective")
        self._points = [problem]  # x0 and x1, as far as they are known
        self._last: Problem | None = None  # x2, while x' is swept
        self._map_in_order = map_in_order

    @property
    def extrapolated(self) -> bool:  # type: ignore[override]
        """Whether the state to sweep next is x'."""
        return self._last is not None

    @property
    def begins(self) -> bool:  # type: ignore[override]
        """Whether a cycle begins at the state to sweep next."""
        return self._last is None and len(self._points) == 1

    def next_state(self, problem: Problem, more: bool = True) -> Problem:
        """Return x1 after x0, x' after x1 and the beginning of a new cycle after x'.

        Unless there are `more` sweeps than the next, nothing is extrapolated: it might be refused.
        """
        if len(self._points) == 1 and self._last is None:
            self._points.append(problem)
            return problem
        if self._last is None and more:
            ahead = extrapolated(self._points[0], self._points.pop(), problem, self._map_in_order)
            if ahead is not None:
                self._last = problem
                return ahead
        return self._begin(problem)

    def refuses(self, values: Values, history: Sequence[Values]) -> bool:
        """Return whether the state that was swept is x', with an objective below that of x1."""
        # written so that NaN is refused
        return self.extrapolated and not values.carried_objective >= history[-1].objective

    def fall_back(self) -> Problem:
        """Return x2, where a new cycle begins."""
        assert self._last is not None
        return self._begin(self._last)

    def _begin(self, problem: Problem) -> Problem:
        self._points, self._last = [problem], None
        return problem


def accelerated(acceleration: str | None, problem: Problem, runner: Callable) -> PlainEM:
    """Return what makes the states of a run, by the name that a model's parameter has."""
    return PlainEM() if acceleration is None else Squarem(problem, runner)


def check_mixtures_in_memory(acceleration: str | None) -> None:
    """Refuse to accelerate a fit whose mixtures are in files."""
    if acceleration is not None:
        raise ValueError(
            f"acceleration={acceleration!r} needs the mixtures of all documents in memory, which a "
            "fit of sharded views does without. Use acceleration=None."
        )


def check_ascent(monotone: bool, what: str) -> None:
    """Refuse to accelerate steps that may lower the objective, which judges extrapolations."""
    if not monotone:
        raise ValueError(
            f"acceleration='squarem' needs steps that never lower the objective, and with {what} "
            "they may. Use acceleration=None."
        )


def unmoved(values: Values) -> Values:
    """Return the values of a pass that led nowhere: those before it."""
    return replace(values, carried_penalty=None)


# -- extrapolation ---------------------------------------------------------------------------------


def extrapolated(
    x0: Problem, x1: Problem, x2: Problem, map_in_order: Callable = map
) -> Problem | None:
    """Return x', which takes the place of x1 in memory; None if there is nothing beyond x2."""
    alpha = step_length(x0, x1, x2, map_in_order)
    if alpha is None:
        return None
    _for_all(partial(_move_mixtures, x0, x1, x2, alpha), x0.blocks, map_in_order)
    _move_topics(x0, x1, x2, alpha)
    emissions = tuple(replace(e) for e in x1.emissions)  # type: ignore[type-var] # nothing cached
    # a penalty with parameters of its own is compared with x1 under those of x1
    return refreshed(replace(x1, emissions=emissions))


def step_length(x0: Problem, x1: Problem, x2: Problem, map_in_order: Callable) -> float | None:
    """Return alpha; None where x' would be x2, or nothing can be said."""
    from coview.kernels.extrapolation import squared_lengths

    def of_block(block: Block) -> np.ndarray:
        parts = (squared_lengths(*(t[block.docs] for t in moved)) for moved in mixtures)
        return sum(map(np.array, parts), np.zeros(2))

    mixtures = _moved(x.thetas for x in (x0, x1, x2))
    lengths = sum(map_in_order(of_block, x0.blocks), np.zeros(2))
    for emissions in zip(x0.emissions, x1.emissions, x2.emissions, strict=True):
        for factor in _moved(map(_factors, emissions)):
            lengths = lengths + np.array(squared_lengths(*factor))
    r, v = np.sqrt(lengths)
    return -float(r / v) if 0 < v < r < np.inf else None


def _move_mixtures(x0: Problem, x1: Problem, x2: Problem, alpha: float, block: Block) -> None:
    from coview.kernels.extrapolation import extrapolate_rows

    for moved in _moved(x.thetas for x in (x0, x1, x2)):
        tiny = limits(moved[0].dtype).tiny
        extrapolate_rows(*(theta[block.docs] for theta in moved), alpha, FLOOR, tiny)


def _move_topics(x0: Problem, x1: Problem, x2: Problem, alpha: float) -> None:
    """Extrapolate topics: p(w|z) and p(w|y) over terms, of all views together if concatenated."""
    from coview.kernels.extrapolation import extrapolate_rows

    views = list(zip(x0.emissions, x1.emissions, x2.emissions, strict=True))
    over_terms = [_moved((_over_terms(e),) for e in emissions) for emissions in views]
    for together in [list(chain(*over_terms))] if x0.concatenated else over_terms:
        _move_columns(together, alpha)
    for emissions in views:
        for links in _moved(map(_links, emissions)):
            extrapolate_rows(*links, alpha, FLOOR, limits(links[0].dtype).tiny)


def _move_columns(arrays: Sequence[Arrays], alpha: float) -> None:
    from coview.kernels.extrapolation import extrapolate_columns, mass_ahead

    if not arrays:
        return
    mass = np.zeros(arrays[0][0].shape[1])
    for points in arrays:
        mass_ahead(*points, alpha, FLOOR, mass)
    for points in arrays:
        extrapolate_columns(*points, alpha, FLOOR, mass, limits(points[0].dtype).tiny)


def _factors(emission: Emission) -> tuple[np.ndarray, ...]:
    return _over_terms(emission), *_links(emission)


def _over_terms(emission: Emission) -> np.ndarray:
    """Return the factor that is a distribution over terms, with its padding."""
    if isinstance(emission, FactoredTopics):
        return emission.p_w_y_by_term
    assert isinstance(emission, Topics)
    return emission.by_term


def _links(emission: Emission) -> tuple[np.ndarray, ...]:
    return (emission.p_y_z,) if isinstance(emission, FactoredTopics) else ()


def _moved(points: Iterable[tuple[np.ndarray, ...]]) -> list[Arrays]:
    """Return each array at the three points, without those that no step has touched."""
    return [each for each in zip(*points, strict=True) if each[1] is not each[0]]


def _for_all(work: Callable[[Any], None], items: Iterable[Any], map_in_order: Callable) -> None:
    for _ in map_in_order(work, items):
        pass
