"""The EM loop of every model, and folding in."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coview.em.penalties.base import Penalty
from coview.em.prepared import Block
from coview.em.problem import Problem
from coview.em.step import Update, Values, em_step, sweep_view
from coview.em.trace import Trace


@dataclass(frozen=True)
class Fit:
    """Where a run of EM ended."""

    problem: Problem
    objective: float
    n_iter: int
    converged: bool
    trace: Trace
    history: tuple[Values, ...] = ()  # what the trace tells, as the loop knows it


class Interrupted(KeyboardInterrupt):
    """A run ended by Ctrl-C, with its last complete state.

    The objective is that of the state before it: to know its own would take one more sweep.
    """

    def __init__(self, fit: Fit):
        super().__init__(f"Stopped after {fit.n_iter + 1} iterations; the last state is kept.")
        self.fit = fit


def run_em(
    problem: Problem,
    map_in_order: Callable,
    schedule: Sequence[Update] = ("both",),
    max_iter: int = 200,
    tol: float = 1e-5,
    on_step: Callable[[Problem, list[Values]], bool | None] | None = None,
    history: Sequence[Values] = (),
) -> Fit:
    """Iterate until the objective changes by less than tol of itself, or max_iter times.

    An iteration is one pass through `schedule`: ("both",) for joint EM, ("emissions", "thetas") for
    the alternating scheme. A sweep yields the objective *before* its step; so the state that
    is returned is the last one whose objective is known, which takes one more sweep at max_iter.

    `on_step(problem, values)` is called after each iteration with the new state and the objectives
    of all states before it; a true answer ends the run. A run that was left at such a moment goes
    on from there when it is given these values as `history`: it never knows the difference.
    """
    values = list(history)
    complete = problem, len(values)  # what belongs together, whenever Ctrl-C comes
    stop = False
    try:
        while True:
            last = stop or len(values) == max_iter
            step = em_step(problem, map_in_order, "nothing" if last else schedule[0])
            values.append(step.values)
            _warn_of_a_fall(values, problem)
            if last or _at_rest(values, tol):
                return finished(problem, values, tol)
            problem = step.problem  # two generations of arrays at a time, never three
            for update in schedule[1:]:
                problem = em_step(problem, map_in_order, update).problem
            complete = problem, len(values)
            if on_step is not None:
                stop = bool(on_step(problem, values))
    except KeyboardInterrupt as interrupt:
        problem, n_iter = complete
        if not n_iter:
            raise
        raise Interrupted(finished(problem, values[:n_iter], tol)) from interrupt


def _warn_of_a_fall(values: list[Values], problem: Problem) -> None:
    """A fall of what must rise is a fault of ours, not of the data: say so."""
    if len(values) < 2 or not problem.penalty.monotone:
        return
    before, now = values[-2].objective, values[-1].carried_objective
    rounding = 1e-5 if problem.thetas[0].dtype == np.float32 else 1e-9
    if now < before - rounding * max(abs(before), 1.0):
        warnings.warn(
            f"The objective fell from {before:.9g} to {now:.9g} in iteration {len(values) - 1}, "
            "which it must not: please report it, with the data if you can.",
            RuntimeWarning,
            stacklevel=2,
        )


def _at_rest(values: Sequence[Values], tol: float) -> bool:
    if len(values) < 2 or tol == 0:
        return False
    before, now = values[-2].objective, values[-1].carried_objective
    return abs(now - before) <= tol * abs(now)


def finished(problem: Problem, values: Sequence[Values], tol: float) -> Fit:
    """The fit of a run that ended in this state, with these values of its objective."""
    converged = _at_rest(values, tol)
    objective, n_iter = values[-1].objective, len(values) - 1
    return Fit(problem, objective, n_iter, converged, Trace.of(values), tuple(values))


def fold_in(problem: Problem, map_in_order: Callable, max_iter: int, tol: float) -> Problem:
    """New mixtures for the documents of a problem whose emissions stay as they are.

    Each document stops on its own, when no share of its mixture moves by more than tol, so
    its result does not depend on its neighbors. A penalty across documents plays no part.
    """
    penalty = problem.penalty if problem.penalty.row_local else Penalty()
    alone = replace(problem, penalty=penalty)

    def work(block):
        return _fold_in_block(alone, block, max_iter, tol)

    thetas = [np.empty_like(t) for t in problem.thetas]
    for block, done in zip(problem.blocks, map_in_order(work, problem.blocks), strict=True):
        for theta, part in zip(thetas, done, strict=True):
            theta[block.docs] = part
    return replace(problem, thetas=tuple(thetas))


def _fold_in_block(problem: Problem, block: Block, max_iter: int, tol: float):
    k = problem.n_topics
    thetas = [t[block.docs].copy() for t in problem.thetas]
    present = problem.present[block.docs]
    moving = np.arange(block.stop - block.start, dtype=np.uint64)
    for _ in range(max_iter):
        if not len(moving):
            break
        old = tuple(t[moving] for t in thetas)
        counts = tuple(np.zeros_like(t) for t in old)
        for v, slot in enumerate(problem.slots):
            part = block.rows[v]
            scratch = np.empty_like(part.data)
            sweep_view(problem, part, v, moving, old[slot], scratch, counts[slot])
        penalty = problem.penalty.at(block.start + moving)
        short_counts, short_old = (tuple(a[:, :k] for a in arrays) for arrays in (counts, old))
        new = penalty.m_step(short_counts, short_old, present[moving], None)
        change = np.zeros(len(moving))
        for theta, before, after in zip(thetas, old, new, strict=True):
            change = np.maximum(change, np.abs(after - before[:, :k]).max(axis=1))
            theta[moving, :k] = after
        moving = moving[change > tol]
    return thetas
