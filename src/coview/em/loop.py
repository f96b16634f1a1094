"""The EM loop that every model runs, and the folding in of new documents."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coview.em.acceleration import accelerated, unmoved
from coview.em.lone_documents import LoneDocuments
from coview.em.penalties.base import Penalty
from coview.em.prepared import Block
from coview.em.problem import Problem
from coview.em.step import Step, Update, Values, em_step, sweep_view
from coview.em.trace import Trace

OnIteration = Callable[[Problem, Sequence[Values]], bool | None]


@dataclass(frozen=True)
class EMRun:
    """A run of EM, finished or left in the middle.

    Attributes
    ----------
    problem : Problem
        The parameters that the run has reached.
    history : tuple of Values
        The objective of the start and after each iteration. In a finished run the last one belongs
        to `problem`; in a run left in the middle it belongs to the state before.
    candidates : tuple of (str, float)
        The starts that were tried before the run, each with its objective after a few iterations.
    restarts : tuple of float
        The final objectives of all runs of the fit, in the run that was kept.
    other_labels : tuple of ndarray of shape (documents,)
        The labels of the other runs of the fit, in the run that was kept.
    finished : bool
        Whether it was not left in the middle.
    """

    problem: Problem
    history: tuple[Values, ...]
    candidates: tuple[tuple[str, float], ...] = ()
    restarts: tuple[float, ...] = ()
    other_labels: tuple[np.ndarray, ...] = ()
    finished: bool = True

    @property
    def objective(self) -> float:
        """The last known value of the objective."""
        return self.history[-1].objective

    @property
    def n_iter(self) -> int:
        """How many iterations led to `problem`."""
        return len(self.history) - int(self.finished)

    @property
    def trace(self) -> Trace:
        """The history as arrays."""
        return Trace.from_values(self.history, self.candidates, self.restarts)

    def converged(self, tol: float) -> bool:
        """Return whether the last iteration changed the objective by at most tol of itself."""
        return has_converged(self.history, tol)


class Interrupted(KeyboardInterrupt):
    """A run ended by Ctrl-C, with its last complete state.

    The objective is that of the state before it: to know its own would take one more sweep.
    """

    def __init__(self, run: EMRun):
        super().__init__(f"Stopped after {run.n_iter} iterations; the last state is kept.")
        self.run = run


def run_em(
    problem: Problem,
    runner: Callable,
    schedule: Sequence[Update] = ("both",),
    max_iter: int = 200,
    tol: float = 1e-5,
    on_iteration: OnIteration | None = None,
    history: Sequence[Values] = (),
    acceleration: str | None = None,
) -> EMRun:
    """Iterate until the objective changes by less than tol of itself, or max_iter times.

    An iteration is one pass through `schedule`: ("both",) for joint EM, ("emissions", "thetas") for
    the alternating scheme. A sweep yields the objective *before* its step; so the state that
    is returned is the last one whose objective is known, which takes one more sweep at max_iter.

    `runner` takes the steps: by its own `step(problem, update)`, or else it is the `map_in_order`
    of `em_step`.

    `on_iteration(problem, values)` is called after each iteration with the new state and the
    objectives of all states before it; a true answer ends the run. Given these two as `problem`
    and `history`, a later call continues the run to the same bits.

    With `acceleration` some of the passes start from an extrapolated state (`em.acceleration`).
    They are iterations like any other, but convergence is found in steps of EM alone, a pass
    from a state that is refused repeats the values before it, and `on_iteration` is called where
    a cycle of up to three iterations ends.
    """
    values, problem = list(history), replace(problem, spare=[])
    states = accelerated(acceleration, problem, runner)
    complete = problem, len(values)  # always assigned together, so that Ctrl-C finds a whole state
    stop = False
    try:
        while True:
            last = stop or len(values) == max_iter
            step = take_step(runner, problem, "nothing" if last else schedule[0])
            if states.refuses(step.values, values):
                values.append(unmoved(values[-1]))
                problem = states.fall_back()
            else:
                values.append(step.values)
                _warn_of_a_fall(values, problem)
                if last or (not states.extrapolated and has_converged(values, tol)):
                    return EMRun(replace(problem, spare=None), tuple(values))
                problem = step.problem  # two generations of arrays at a time, never three
                for update in schedule[1:]:
                    problem = take_step(runner, problem, update).problem
                problem = states.next_state(problem, more=len(values) < max_iter)
            del step
            if not states.begins:
                continue
            complete = problem, len(values)
            if on_iteration is not None:
                stop = bool(on_iteration(problem, values))
    except KeyboardInterrupt as interrupt:
        problem, n_iter = complete
        if not n_iter:
            raise
        run = EMRun(replace(problem, spare=None), tuple(values[:n_iter]), finished=False)
        raise Interrupted(run) from interrupt


def take_step(runner: Callable, problem: Problem, update: Update) -> Step:
    """Take one step of EM: by the runner's own `step`, or with it as the `map_in_order`."""
    own = getattr(runner, "step", None)
    return em_step(problem, runner, update) if own is None else own(problem, update)


def _tokens(problem: Problem) -> float:
    """Return the weighted counts of all documents; 0 where they are not in memory."""
    rows = (pair for b in problem.blocks for pair in zip(problem.weights, b.rows, strict=True))
    return float(sum(weight * part.data.sum(dtype=np.float64) for weight, part in rows))


def _warn_of_a_fall(values: list[Values], problem: Problem) -> None:
    """Warn if an objective that cannot fall has fallen: a fault of the code, not of the data."""
    if len(values) < 2 or not (problem.penalty.monotone and problem.prior.monotone):
        return
    before, now = values[-2].objective, values[-1].carried_objective
    dtype = problem.thetas[0].dtype
    rounding = 1e-5 if dtype == np.float32 else 1e-9
    if now >= before - rounding * max(abs(before), 1.0):
        return
    # each logarithm is rounded, also where all are near 0: of a document of one word
    if now < before - 4 * np.finfo(dtype).eps * _tokens(problem):
        warnings.warn(
            f"The objective fell from {before:.9g} to {now:.9g} in iteration {len(values) - 1}, "
            "which it must not: please report it, with the data if you can.",
            RuntimeWarning,
            stacklevel=2,
        )


def has_converged(values: Sequence[Values], tol: float) -> bool:
    """Return whether the last step changed the objective by at most tol of itself."""
    if len(values) < 2 or tol == 0:
        return False
    before, now = values[-2].objective, values[-1].carried_objective
    return abs(now - before) <= tol * abs(now)


def fold_in(problem: Problem, map_in_order: Callable, max_iter: int, tol: float) -> Problem:
    """Fit the mixtures of new documents, with the emissions held fixed.

    Each document stops on its own, when no share of its mixture moves by more than tol, so
    its result does not depend on the others. A penalty across documents is left out.
    """
    penalty = problem.penalty if problem.penalty.row_local else Penalty()
    alone = replace(problem, penalty=penalty)

    lone = LoneDocuments.of(alone)

    def work(block: Block) -> list[np.ndarray]:
        if lone is not None:
            return lone.fold_in(block, max_iter, tol)
        return _fold_in_block(alone, block, max_iter, tol)

    thetas = [np.empty_like(t) for t in problem.thetas]
    for block, done in zip(problem.blocks, map_in_order(work, problem.blocks), strict=True):
        for theta, part in zip(thetas, done, strict=True):
            theta[block.docs] = part
    return replace(problem, thetas=tuple(thetas))


def _fold_in_block(problem: Problem, block: Block, max_iter: int, tol: float) -> list[np.ndarray]:
    """Iterate the documents of a block, in each sweep only those that still move."""
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
        problem.prior.at(block.start + moving).add_to_mixtures(short_counts)
        new = penalty.m_step(short_counts, short_old, present[moving], None)
        change = np.zeros(len(moving))
        for theta, before, after in zip(thetas, old, new, strict=True):
            change = np.maximum(change, np.abs(after - before[:, :k]).max(axis=1))
            theta[moving, :k] = after
        moving = moving[change > tol]
    return thetas
