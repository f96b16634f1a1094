"""One EM step: the same function of a block for every runner, and what becomes of the sums."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from coview.data.blocks import Block
from coview.em.penalty import Penalty
from coview.em.problem import Problem
from coview.em.simplex import limits

Update = Literal["both", "emissions", "thetas", "nothing"]


@dataclass(frozen=True)
class Values:
    """The objective and its parts."""

    log_likelihoods: np.ndarray  # of each view, weighted
    penalty: float
    n_floored: int  # observed words whose p(w|d) had to be floored

    @property
    def objective(self) -> float:
        return float(self.log_likelihoods.sum() - self.penalty)


@dataclass(frozen=True)
class Step:
    """The objective before a step, and the problem after it."""

    values: Values
    problem: Problem


@dataclass(frozen=True)
class Sums:
    """Sums over documents; grads are the emissions' gradients, empty if they are not wanted."""

    values: Values
    grads: tuple[np.ndarray, ...] = ()


def em_step(problem: Problem, map_in_order: Callable, update: Update = "both") -> Step:
    """Sweep all blocks and update the emissions, the thetas, both or nothing.

    `map_in_order(function, blocks)` is the runner: it may work on blocks in any order, but yields
    their results in block order, so that the sums have the same bits for any number of workers.
    """
    moves_thetas = update in ("both", "thetas")
    new_thetas = tuple(np.zeros_like(t) for t in problem.thetas) if moves_thetas else None
    sweep = partial(sweep_block, problem, update, new_thetas)
    sums = _add_up(problem, map_in_order(sweep, problem.blocks), update)
    values = sums.values
    emissions, thetas, penalty = problem.emissions, problem.thetas, problem.penalty
    if sums.grads:
        emissions = tuple(e.m_step(g) for e, g in zip(emissions, sums.grads, strict=True))
    if not penalty.row_local:
        values = replace(values, penalty=penalty.value(problem.mixtures, problem.present))
    if new_thetas is not None:
        thetas = new_thetas
        if not penalty.row_local:
            _move_thetas(penalty, new_thetas, problem, slice(None))
        penalty = penalty.refresh(tuple(t[:, : problem.n_topics] for t in thetas))
    return Step(values, problem.with_parameters(emissions, thetas, penalty))


def sweep_block(problem: Problem, update: Update, new_thetas, block: Block) -> Sums:
    """E-step on one block and its sums; its mixtures go into new_thetas.

    Where the penalty couples documents, new_thetas receives the counts instead.
    """
    from coview.kernels.sweep import log_likelihood, sweep_columns

    thetas = tuple(t[block.docs] for t in problem.thetas)
    counts = tuple(t[block.docs] for t in new_thetas) if new_thetas is not None else None
    counts = tuple(np.zeros_like(t) for t in thetas) if counts is None else counts
    grads, values, n_floored = [], np.zeros(len(block.rows)), 0
    every = np.arange(block.stop - block.start, dtype=np.uint64)
    for v, slot in enumerate(problem.slots):
        prob, ratio, floored = sweep_view(problem, block, v, every, thetas[slot], counts[slot])
        values[v] = problem.weights[v] * log_likelihood(block.rows[v].data, prob)
        n_floored += floored
        if block.columns is not None and update in ("both", "emissions"):
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
    return Sums(Values(values, value, n_floored), tuple(grads))


def sweep_view(problem, block, v, rows, theta, counts):
    """The row pass over one view of a block; adds the weighted theta counts to counts."""
    from coview.kernels.sweep import sweep_rows

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


def _add_up(problem: Problem, parts: Iterable[Sums], update: Update) -> Sums:
    """Sums over blocks, in double precision, in the order in which they come."""
    from coview.kernels.sweep import add_rows

    moves_emissions = update in ("both", "emissions")
    grads = tuple(np.zeros(e.by_term.shape) for e in problem.emissions) if moves_emissions else ()
    log_likelihoods, penalty, n_floored = np.zeros(len(problem.slots)), 0.0, 0
    for block, part in zip(problem.blocks, parts, strict=True):
        log_likelihoods += part.values.log_likelihoods
        penalty += part.values.penalty
        n_floored += part.values.n_floored
        for total, columns, grad in zip(grads, block.columns or (), part.grads, strict=False):
            add_rows(total, columns.terms, grad)
    return Sums(Values(log_likelihoods, penalty, n_floored), grads)
