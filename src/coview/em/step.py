"""One EM step: the same function of a block for every runner, and what becomes of the sums."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from ..data.blocks import Block
from .penalty import Penalty
from .problem import Problem
from .simplex import limits

Update = Literal["both", "emissions", "thetas", "nothing"]


@dataclass(frozen=True)
class Step:
    """The objective before a step, its parts, and the problem after it."""

    problem: Problem
    log_likelihoods: np.ndarray  # of each view, weighted
    penalty: float
    n_floored: int  # observed words whose p(w|d) had to be floored

    @property
    def objective(self) -> float:
        return float(self.log_likelihoods.sum() - self.penalty)


@dataclass(frozen=True)
class BlockSums:
    """What one block contributes to the sums over documents."""

    log_likelihoods: np.ndarray
    penalty: float
    n_floored: int
    grads: tuple[np.ndarray, ...] | None  # of the block's own terms, view by view


def em_step(problem: Problem, map_in_order: Callable, update: Update = "both") -> Step:
    """Sweep all blocks and update the emissions, the thetas, both or nothing.

    `map_in_order(function, blocks)` is the runner: it may work on blocks in any order, but yields
    their results in block order, so that the sums have the same bits for any number of workers.
    """
    moves_thetas = update in ("both", "thetas")
    new_thetas = tuple(np.zeros_like(t) for t in problem.thetas) if moves_thetas else None
    sweep = partial(sweep_block, problem, update, new_thetas)
    sums = _add_up(problem, map_in_order(sweep, problem.blocks), update)
    emissions, thetas, penalty = problem.emissions, problem.thetas, problem.penalty
    if sums.grads is not None:
        emissions = tuple(e.m_step(g) for e, g in zip(emissions, sums.grads, strict=True))
    value = sums.penalty
    if not penalty.row_local:
        value = penalty.value(problem.mixtures, problem.present)
    if new_thetas is not None:
        thetas = new_thetas
        if not penalty.row_local:
            _move_thetas(penalty, new_thetas, problem, slice(None))
        penalty = penalty.refresh(tuple(t[:, : problem.n_topics] for t in thetas))
    after = problem.with_parameters(emissions, thetas, penalty)
    return Step(after, sums.log_likelihoods, value, sums.n_floored)


def sweep_block(problem: Problem, update: Update, new_thetas, block: Block) -> BlockSums:
    """E-step on one block, its sums, and (into new_thetas) its mixtures if nothing couples documents."""
    from ..kernels.sweep import log_likelihood, sweep_columns

    thetas = tuple(t[block.docs] for t in problem.thetas)
    counts = tuple(t[block.docs] for t in new_thetas) if new_thetas is not None else None
    counts = tuple(np.zeros_like(t) for t in thetas) if counts is None else counts
    grads, values, n_floored = [], np.zeros(len(block.rows)), 0
    every = np.arange(block.stop - block.start, dtype=np.uint64)
    for v, slot in enumerate(problem.slots):
        prob, ratio, floored = sweep_view(problem, block, v, every, thetas[slot], counts[slot])
        values[v] = problem.weights[v] * log_likelihood(block.rows[v].data, prob)
        n_floored += floored
        if update in ("both", "emissions"):
            cols = block.columns[v]
            grad = np.empty((len(cols.terms), thetas[slot].shape[1]), ratio.dtype)
            sweep_columns(cols.colptr, cols.rows, cols.position, ratio, thetas[slot], grad)
            grads.append(grad)
    value = 0.0
    if problem.penalty.row_local:
        penalty = problem.penalty.at(block.docs)
        old = tuple(t[block.docs] for t in problem.mixtures)
        value = penalty.value(old, problem.present[block.docs])
        if new_thetas is not None:
            _move_thetas(penalty, counts, problem, block.docs)
    return BlockSums(values, value, n_floored, tuple(grads) if grads else None)


def sweep_view(problem, block, v, rows, theta, counts):
    """The row pass over one view of a block; adds the weighted theta counts to counts."""
    from ..kernels.sweep import sweep_rows

    part, dtype = block.rows[v], theta.dtype
    prob, ratio = np.empty_like(part.data), np.empty_like(part.data)
    n_floored = sweep_rows(
        rows,
        part.indptr,
        part.indices,
        part.data,
        theta,
        problem.emissions[v].by_term,
        dtype.type(problem.weights[v]),
        dtype.type(limits(dtype).floor),
        prob,
        ratio,
        counts,
    )
    return prob, ratio, n_floored


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


def _add_up(problem: Problem, parts: Iterable[BlockSums], update: Update) -> BlockSums:
    """Sums over blocks, in double precision, in the order in which they come."""
    from ..kernels.sweep import add_rows

    moves_emissions = update in ("both", "emissions")
    grads = tuple(np.zeros(e.by_term.shape) for e in problem.emissions) if moves_emissions else None
    values, penalty, n_floored = np.zeros(len(problem.slots)), 0.0, 0
    for block, part in zip(problem.blocks, parts, strict=True):
        values += part.log_likelihoods
        penalty += part.penalty
        n_floored += part.n_floored
        if grads is not None:
            for total, columns, grad in zip(grads, block.columns, part.grads, strict=True):
                add_rows(total, columns.terms, grad)
    return BlockSums(values, penalty, n_floored, grads)
