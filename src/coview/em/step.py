r"""One EM step of any model: `em_step`.

With p(w|d) = sum_z p(z|d) p(w|z) and the ratio r(d,w) = n(d,w) / p(w|d), the expected counts of
the E-step are products of a parameter and a gradient of the log-likelihood L,

    n(d,z) = p(z|d) dL/dp(z|d),    dL/dp(z|d) = sum_w r(d,w) p(w|z)
    n(w,z) = p(w|z) dL/dp(w|z),    dL/dp(w|z) = sum_d r(d,w) p(z|d)

so that the posterior p(z|d,w) is never formed. A step has two rounds. Round one goes over blocks
of documents: ratios, log-likelihood, n(d,z), and the new mixtures unless the penalty couples
documents. Round two goes over ranges of terms: dL/dp(w|z), from which the emissions take their
M-step. No number is added to by two workers, and each sum has a fixed order: blocks within a shard,
then shards (`views.blocks`). So the bits depend neither on the number of threads nor on whether all
documents are at hand: `sweep` takes any part of them, `conclude` what the parts have found.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np

from coview.em.emissions import Emission, step_together
from coview.em.penalties.base import Penalty
from coview.em.prepared import Block, Rows
from coview.em.problem import Problem
from coview.em.seeds import log_prior
from coview.em.simplex import aligned_zeros, limits

Update = Literal["both", "emissions", "thetas", "nothing"]

TERM_RANGES = 12  # of each view: enough to keep several threads busy to the end
Thetas = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Values:
    """The objective and its parts."""

    log_likelihoods: np.ndarray  # of each view, weighted
    penalty: float
    n_floored: int  # observed words whose p(w|d) was raised to the floor
    carried_penalty: float | None = None  # under the penalty's parameters before their refresh
    roughness: float | None = None  # over the edges of a graph, where there is one
    log_prior: float = 0.0  # of mixtures and topics, see `em.prior`
    seed_term: float = 0.0  # weighted log prior of the topics, where they have seeds

    @property
    def objective(self) -> float:
        """Log-likelihood minus penalty, plus the log priors of mixtures, topics and seeds."""
        return self._objective(self.penalty)

    @property
    def carried_objective(self) -> float:
        """The objective under the penalty's previous parameters, to compare with the last step."""
        carried = self.penalty if self.carried_penalty is None else self.carried_penalty
        return self._objective(carried)

    def _objective(self, penalty: float) -> float:
        return float(self.log_likelihoods.sum() - penalty + self.log_prior + self.seed_term)

    def __add__(self, other: "Values") -> "Values":
        return Values(
            self.log_likelihoods + other.log_likelihoods,
            self.penalty + other.penalty,
            self.n_floored + other.n_floored,
            log_prior=self.log_prior + other.log_prior,
        )


@dataclass(frozen=True)
class Step:
    """The objective before a step, and the problem after it."""

    values: Values
    problem: Problem


def em_step(problem: Problem, map_in_order: Callable, update: Update = "both") -> Step:
    """Sweep all blocks, and update the emissions, the thetas, both or nothing.

    `map_in_order(function, items)` is the runner: it may work on items in any order, but yields
    their results in the order of the items. Both updates start from the same old parameters.
    """
    new_thetas = None
    if moves_thetas(update):
        new_thetas = tuple(aligned_zeros(t.shape, t.dtype) for t in problem.thetas)
    several = not all(block.ends_shard for block in problem.blocks)
    grads = Gradients.begun(problem, several) if moves_emissions(update) else None
    values = sweep(problem, map_in_order, new_thetas, grads)
    step = conclude(problem, values, grads, new_thetas)
    if grads is not None and problem.spare is not None:
        problem.spare[:] = [grads]
    return step


def moves_thetas(update: Update) -> bool:
    """Return whether a step changes the mixtures."""
    return update in ("both", "thetas")


def moves_emissions(update: Update) -> bool:
    """Return whether a step changes the topics."""
    return update in ("both", "emissions")


@dataclass(frozen=True)
class Gradients:
    """dL/dp(w|z) of each view (terms, padded topics), in double precision.

    Attributes
    ----------
    total : tuple of ndarray
        The sum over all shards so far.
    shard : tuple of ndarray or None
        The sum over the blocks so far of a shard that is not complete. None where every shard is
        one block, which then goes to the total.
    is_stale : bool
        Whether the total is that of an earlier step, and zero is meant.
    """

    total: tuple[np.ndarray, ...]
    shard: tuple[np.ndarray, ...] | None = None
    is_stale: bool = False

    @classmethod
    def begun(cls, problem: Problem, several_blocks: bool) -> "Gradients":
        """Return gradients for one sweep over all blocks, in the memory of the last if it is kept.

        The sweep sets them to zero itself, each range of terms shortly before it is summed.
        """
        if not problem.spare:
            return cls.zeros(problem, several_blocks)
        return replace(problem.spare.pop(), is_stale=True)

    @classmethod
    def zeros(cls, problem: Problem, several_blocks: bool = False) -> "Gradients":
        """Return gradients to begin with; `several_blocks`: some shard has more than one."""
        shapes = [e.by_term.shape for e in problem.emissions]
        zeros = partial(aligned_zeros, dtype=np.float64)
        shard = tuple(map(zeros, shapes)) if several_blocks else None
        return cls(tuple(map(zeros, shapes)), shard)


def sweep(
    problem: Problem,
    map_in_order: Callable,
    new_thetas: Thetas | None,
    grads: Gradients | None,
) -> list[Values]:
    """Do both rounds on the blocks of a problem, all of the data or consecutive blocks of it.

    The new mixtures of its documents go into new_thetas (their counts, if the penalty couples
    documents), the gradient is added to grads; None leaves either out. Returns the values of each
    block.
    """
    ratios = None if grads is None else _room_for_ratios(problem)
    values = list(map_in_order(partial(sweep_block, problem, new_thetas, ratios), problem.blocks))
    if grads is not None and ratios is not None:
        tasks = [(v, *ends) for v, g in enumerate(grads.total) for ends in _term_ranges(len(g))]
        for _ in map_in_order(partial(_add_gradient, problem, ratios, grads), tasks):
            pass
    return values


def conclude(
    problem: Problem,
    block_values: Iterable[Values],
    grads: Gradients | None,
    new_thetas: Thetas | None,
) -> Step:
    """Take what the sweeps of all blocks have found: values, M-step of the emissions, new mixtures.

    `block_values` are in the order of the blocks. Where the penalty couples documents, its M-step
    turns the counts in new_thetas into mixtures.
    """
    values = sum(block_values, Values(np.zeros(len(problem.slots)), 0.0, 0))
    values = replace(
        values,
        carried_penalty=problem.carried_penalty,
        log_prior=values.log_prior + problem.prior.of_topics(problem.emissions, problem.weights),
    )
    if not problem.penalty.row_local:  # otherwise the blocks have summed it
        values = _with_penalty(values, problem)
    if problem.seeds is not None:
        values = replace(values, seed_term=_seed_term(problem))
    after = problem
    if grads is not None:
        after = replace(after, emissions=_move_emissions(problem, grads.total))
    if new_thetas is not None:
        after = replace(after, thetas=new_thetas)
        if not problem.penalty.row_local:
            _move_thetas(problem.penalty, new_thetas, problem, slice(None))
            after = refreshed(after)
    return Step(values, after)


def _with_penalty(values: Values, problem: Problem) -> Values:
    """Add the value of a penalty across documents, and its roughness."""
    penalty = problem.penalty.value(problem.mixtures, problem.present)
    roughness = problem.penalty.kl_roughness(problem.mixtures)
    return replace(values, penalty=penalty, roughness=roughness)


def _seed_term(problem: Problem) -> float:
    assert problem.seeds is not None
    return log_prior(problem.seeds, problem.weights, [e.by_term for e in problem.emissions])


def refreshed(problem: Problem) -> Problem:
    """Fit the penalty's own parameters to the new mixtures; keep its value before that."""
    penalty = problem.penalty.refresh(problem.mixtures)
    if penalty is problem.penalty:
        return problem
    carried = problem.penalty.value(problem.mixtures, problem.present)
    return replace(problem, penalty=penalty, carried_penalty=carried)


def _room_for_ratios(problem: Problem) -> tuple[np.ndarray, ...]:
    """Allocate an array for the ratios of each view, from round one to round two.

    Within a block they stand in the order of columns, in which round two reads them.
    """
    last = problem.blocks[-1].rows
    return tuple(np.empty(part.place.stop, part.data.dtype) for part in last)


def sweep_block(
    problem: Problem, new_thetas: Thetas | None, ratios: Thetas | None, block: Block
) -> Values:
    """Do round one on one block; its mixtures go into new_thetas, its ratios into ratios.

    Where the penalty couples documents, new_thetas receives their counts instead.
    """
    from coview.kernels.sweep import log_likelihood, reorder

    if problem.once is not None and ratios is not None:
        return _once_each(problem, problem.once, ratios, block)
    thetas = tuple(t[block.docs] for t in problem.thetas)
    into = problem.thetas if new_thetas is None else new_thetas
    counts = tuple(
        t[block.docs] if into is new_thetas else np.zeros_like(t[block.docs]) for t in into
    )
    log_likelihoods, n_floored = np.zeros(len(block.rows)), 0
    every = np.arange(block.stop - block.start, dtype=np.uint64)
    for v, slot in enumerate(problem.slots):
        part = block.rows[v]
        ratio = np.empty_like(part.data)
        n_floored += sweep_view(problem, part, v, every, thetas[slot], ratio, counts[slot])
        if ratios is not None and block.columns is not None:
            found = reorder(part.data, ratio, block.columns[v].place, ratios[v][part.place])
        else:
            found = log_likelihood(part.data, ratio)
        log_likelihoods[v] = problem.weights[v] * found
    old = tuple(t[block.docs] for t in problem.mixtures)
    pinned = None if problem.pinned is None else problem.pinned[block.docs]
    short = tuple(c[:, : problem.n_topics] for c in counts)
    value, log_prior = 0.0, problem.prior.at(block.docs).of_mixtures(old, short, pinned)
    if problem.penalty.row_local:
        penalty = problem.penalty.at(block.docs)
        value = penalty.value(old, problem.present[block.docs])
        if new_thetas is not None:
            _move_thetas(penalty, counts, problem, block.docs)
    return Values(log_likelihoods, value, n_floored, log_prior=log_prior)


def _once_each(problem: Problem, once: Sequence[bool], ratios: Thetas, block: Block) -> Values:
    """Put what is counted of each entry in the place of its ratio: see `em.term_documents`."""
    assert block.columns is not None, "these blocks were cut for folding in"
    for v, (part, columns) in enumerate(zip(block.rows, block.columns, strict=True)):
        ratios[v][part.place][columns.place] = part.data > 0 if once[v] else part.data
    return Values(np.zeros(len(problem.slots)), 0.0, 0)


def sweep_view(
    problem: Problem,
    part: Rows,
    v: int,
    rows: np.ndarray,
    theta: np.ndarray,
    ratio: np.ndarray,
    counts: np.ndarray,
) -> int:
    """Pass over the rows of one view of a block: fill ratio, add weighted n(d,z) to counts."""
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


def _move_thetas(penalty: Penalty, counts: Thetas, problem: Problem, docs: slice) -> None:
    """Take the penalty's M-step on some documents; write it over their counts."""
    k = problem.n_topics
    counts = tuple(c[:, :k] for c in counts)
    pinned = None if problem.pinned is None else problem.pinned[docs]
    old = tuple(t[docs] for t in problem.mixtures)
    problem.prior.at(docs).add_to_mixtures(counts)
    new = penalty.m_step(counts, old, problem.present[docs], pinned)
    for into, theta in zip(counts, new, strict=True):
        if theta is not into:
            into[:] = theta


def _move_emissions(problem: Problem, grads: Sequence[np.ndarray]) -> tuple[Emission, ...]:
    """Take the emissions' M-step; the gradients may be overwritten."""
    if problem.seeds is not None:
        for seeds, grad, emission in zip(problem.seeds, grads, problem.emissions, strict=True):
            seeds.add_gradient(grad, emission.by_term)
    if problem.concatenated:
        weighted = [w * g for w, g in zip(problem.weights, grads, strict=True)]
        return step_together(problem.emissions, weighted, _pseudo_counts_of_all(problem))
    views = enumerate(zip(problem.emissions, grads, strict=True))
    return tuple(e.m_step(g, problem.prior.pseudo_counts(v)) for v, (e, g) in views)


def _pseudo_counts_of_all(problem: Problem) -> np.ndarray | None:
    """Return the pseudo-counts of the terms of all views, weighted as their counts are."""
    parts = [problem.prior.pseudo_counts(v) for v in range(len(problem.weights))]
    weighted = [w * p for w, p in zip(problem.weights, parts, strict=True) if p is not None]
    return np.concatenate(weighted) if weighted else None


def _term_ranges(n_terms: int) -> Iterable[tuple[int, int]]:
    ends = np.linspace(0, n_terms, min(TERM_RANGES, n_terms) + 1).astype(int)
    return pairwise(ends)


def _add_gradient(
    problem: Problem, ratios: Thetas, grads: Gradients, task: tuple[int, int, int]
) -> None:
    """Sum dL/dp(w|z) for a range of terms of one view over all blocks, in their order."""
    from coview.kernels.sweep import sweep_columns

    v, low, high = task
    theta = problem.thetas[problem.slots[v]]
    into = grads.total[v] if grads.shard is None else grads.shard[v]
    if grads.is_stale:
        grads.total[v][low:high] = 0
    for block in problem.blocks:
        assert block.columns is not None, "these blocks were cut for folding in"
        c = block.columns[v]
        first, last = c.between(low, high)
        ratio, mixtures = ratios[v][block.rows[v].place], theta[block.docs]
        if problem.once is not None:
            mixtures = mixtures * mixtures
        sweep_columns(first, last, c.terms, c.colptr, c.rows, ratio, mixtures, into)
        if grads.shard is not None and block.ends_shard:
            grads.total[v][low:high] += into[low:high]
            into[low:high] = 0
