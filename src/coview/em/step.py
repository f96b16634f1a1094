"""One EM step: what is done to a block of documents, to a range of terms, and with the sums.

A step has two rounds. Round one goes over blocks of documents: ratios, log-likelihood, and (unless
the penalty couples documents) the new mixtures. Round two goes over ranges of terms: the emissions'
gradient, in each range block after block. Nothing is added by two workers, and everything in
one fixed order, so the bits do not depend on how many work at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np

from coview.em.emissions import step_together
from coview.em.penalties.base import Penalty
from coview.em.prepared import Block, Rows
from coview.em.problem import Problem
from coview.em.simplex import limits

Update = Literal["both", "emissions", "thetas", "nothing"]

TERM_RANGES = 12  # of each view: enough to keep several workers busy to the end


@dataclass(frozen=True)
class Values:
    """The objective and its parts."""

    log_likelihoods: np.ndarray  # of each view, weighted
    penalty: float
    n_floored: int  # observed words whose p(w|d) had to be floored
    carried_penalty: float | None = None  # under the penalty's parameters before their refresh
    roughness: float | None = None  # over the edges of a graph, where there is one

    @property
    def objective(self) -> float:
        return float(self.log_likelihoods.sum() - self.penalty)

    @property
    def carried_objective(self) -> float:
        """What may be compared with the objective of the step before."""
        carried = self.penalty if self.carried_penalty is None else self.carried_penalty
        return float(self.log_likelihoods.sum() - carried)

    def __add__(self, other: "Values") -> "Values":
        return Values(
            self.log_likelihoods + other.log_likelihoods,
            self.penalty + other.penalty,
            self.n_floored + other.n_floored,
        )


@dataclass(frozen=True)
class Step:
    """The objective before a step, and the problem after it."""

    values: Values
    problem: Problem


def em_step(problem: Problem, map_in_order: Callable, update: Update = "both") -> Step:
    """Sweep all blocks and update the emissions, the thetas, both or nothing.

    `map_in_order(function, items)` is the runner: it may work on items in any order, but yields
    their results in the order of the items.
    """
    moves_thetas, moves_emissions = update in ("both", "thetas"), update in ("both", "emissions")
    new_thetas = tuple(np.zeros_like(t) for t in problem.thetas) if moves_thetas else None
    ratios = _room_for_ratios(problem) if moves_emissions else None
    work = partial(sweep_block, problem, new_thetas, ratios)
    values = sum(map_in_order(work, problem.blocks), Values(np.zeros(len(problem.slots)), 0.0, 0))
    values = replace(values, carried_penalty=problem.carried_penalty)
    if not problem.penalty.row_local:
        values = _with_penalty(values, problem)
    after = problem
    if ratios is not None:
        after = replace(after, emissions=_move_emissions(problem, ratios, map_in_order))
    if new_thetas is not None:
        if not problem.penalty.row_local:
            _move_thetas(problem.penalty, new_thetas, problem, slice(None))
        after = _refreshed(replace(after, thetas=new_thetas))
    return Step(values, after)


def _with_penalty(values: Values, problem: Problem) -> Values:
    """With the value of a penalty across documents, and what it has to report."""
    penalty = problem.penalty.value(problem.mixtures, problem.present)
    report = getattr(problem.penalty, "kl_roughness", None)
    roughness = None if report is None else report(problem.mixtures[0])
    return replace(values, penalty=penalty, roughness=roughness)


def _refreshed(problem: Problem) -> Problem:
    """With the penalty's own parameters fitted to the new mixtures, and its value before that."""
    penalty = problem.penalty.refresh(problem.mixtures)
    if penalty is problem.penalty:
        return problem
    carried = problem.penalty.value(problem.mixtures, problem.present)
    return replace(problem, penalty=penalty, carried_penalty=carried)


def _room_for_ratios(problem: Problem) -> tuple[np.ndarray, ...]:
    """An array for the ratios of each view, from round one to round two."""
    last = problem.blocks[-1].rows
    return tuple(np.empty(part.place.stop, part.data.dtype) for part in last)


def sweep_block(problem: Problem, new_thetas, ratios, block: Block) -> Values:
    """Round one on one block; its mixtures go into new_thetas, its ratios into ratios.

    Where the penalty couples documents, new_thetas receives their counts instead.
    """
    from coview.kernels.sweep import log_likelihood

    thetas = tuple(t[block.docs] for t in problem.thetas)
    into = problem.thetas if new_thetas is None else new_thetas
    counts = tuple(
        t[block.docs] if into is new_thetas else np.zeros_like(t[block.docs]) for t in into
    )
    log_likelihoods, n_floored = np.zeros(len(block.rows)), 0
    every = np.arange(block.stop - block.start, dtype=np.uint64)
    for v, slot in enumerate(problem.slots):
        part = block.rows[v]
        ratio = np.empty_like(part.data) if ratios is None else ratios[v][part.place]
        n_floored += sweep_view(problem, part, v, every, thetas[slot], ratio, counts[slot])
        log_likelihoods[v] = problem.weights[v] * log_likelihood(part.data, ratio)
    value = 0.0
    if problem.penalty.row_local:
        penalty = problem.penalty.at(block.docs)
        old = tuple(t[block.docs] for t in problem.mixtures)
        value = penalty.value(old, problem.present[block.docs])
        if new_thetas is not None:
            _move_thetas(penalty, counts, problem, block.docs)
    return Values(log_likelihoods, value, n_floored)


def sweep_view(problem: Problem, part: Rows, v: int, rows, theta, ratio, counts) -> int:
    """The row pass over one view of a block: fills ratio, adds the weighted counts to counts."""
    from coview.kernels.sweep import sweep_rows

    dtype = theta.dtype
    return sweep_rows(
        rows,
        part.indptr,
        part.indices,
        part.data,
        theta,
        problem.emissions[v].by_term,
        dtype.type(problem.weights[v]),
        dtype.type(limits(dtype).floor),
        ratio,
        counts,
    )


def _move_thetas(penalty: Penalty, counts, problem: Problem, docs: slice) -> None:
    """The penalty's step on some documents, written over their counts."""
    k = problem.n_topics
    counts = tuple(c[:, :k] for c in counts)
    pinned = None if problem.pinned is None else problem.pinned[docs]
    old = tuple(t[docs] for t in problem.mixtures)
    new = penalty.m_step(counts, old, problem.present[docs], pinned)
    for into, theta in zip(counts, new, strict=True):
        if theta is not into:
            into[:] = theta


def _move_emissions(problem: Problem, ratios, map_in_order: Callable):
    """Round two, and the emissions' own step."""
    grads = tuple(np.zeros(e.by_term.shape) for e in problem.emissions)
    tasks = [(v, *ends) for v, grad in enumerate(grads) for ends in _term_ranges(len(grad))]
    for _ in map_in_order(partial(_add_gradient, problem, ratios, grads), tasks):
        pass
    if problem.concatenated:
        weighted = [w * g for w, g in zip(problem.weights, grads, strict=True)]
        return step_together(problem.emissions, weighted)
    return tuple(e.m_step(g) for e, g in zip(problem.emissions, grads, strict=True))


def _term_ranges(n_terms: int):
    ends = np.linspace(0, n_terms, min(TERM_RANGES, n_terms) + 1).astype(int)
    return pairwise(ends)


def _add_gradient(problem: Problem, ratios, grads, task) -> None:
    """dL/dp(w|z) for a range of terms of one view: the sum over all blocks, in their order."""
    from coview.kernels.sweep import sweep_columns

    v, low, high = task
    theta = problem.thetas[problem.slots[v]]
    for block in problem.blocks:
        assert block.columns is not None, "these blocks were cut for folding in"
        c = block.columns[v]
        first, last = np.searchsorted(c.terms, (low, high))
        sweep_columns(
            first,
            last,
            c.terms,
            c.colptr,
            c.rows,
            c.position,
            ratios[v][block.rows[v].place],
            theta[block.docs],
            grads[v],
        )
