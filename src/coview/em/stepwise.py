r"""A warm start: one epoch of stepwise EM over mini-batches of documents (Liang & Klein, 2009).

Topics move sixteen times in one epoch, where EM moves them once in a pass: the first passes of EM,
which only tell topics apart, are saved. For batch t of B random documents, with the topics so far,

    theta, n(w,z)   a few steps for the mixtures of the batch, then one EM step on it
    s(w,z)      <-  (1 - eta_t) s(w,z) + eta_t B n(w,z),     eta_t = (t + 2)^-0.7
    p(w|z)      <-  s(w,z) normalized over the terms

It is a start for every model: one mixture for all views, no penalty and no prior.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from coview.em.emissions import Topics
from coview.em.prepared import Prepared, make_blocks
from coview.em.problem import Problem
from coview.em.starts import Start
from coview.em.step import em_step

BATCHES = 16
MIXTURE_STEPS = 2  # before the topics move: the mixtures of a batch begin where the start has them
FORGETTING = 0.7  # the exponent of eta
SPREAD = 0.01  # share of a mixture that is spread over all topics: EM keeps a zero


def stepwise_epoch(
    start: Start, data: Prepared, rng: np.random.Generator
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return mixtures and topics p(w|z) of each view after one epoch from a start.

    Each document is in one batch.
    """
    n_topics, whole = len(start.p_w_z[0]), data.mass.sum()
    theta = np.array(start.theta)
    expected = [p_w_z.T * (whole / n_topics) for p_w_z in start.p_w_z]
    batches = np.array_split(rng.permutation(data.n_docs), min(BATCHES, data.n_docs))
    for t, batch in enumerate(map(np.sort, batches)):
        after = _step_on(_problem(batch, theta, expected, data, n_topics))
        theta[batch] = after.thetas[0]
        eta = (t + 2.0) ** -FORGETTING
        n_z = data.mass[batch] @ after.mixtures[0].astype(np.float64) * len(batches)
        for s, emission in zip(expected, after.emissions, strict=True):
            s *= 1 - eta
            s += eta * n_z * emission.over_terms
    mixtures = (1 - SPREAD) * theta[:, :n_topics] + SPREAD / n_topics
    p_w_z = tuple(np.ascontiguousarray(_normalized(s).T) for s in expected)
    return mixtures, p_w_z


def _problem(
    batch: np.ndarray,
    theta: np.ndarray,
    expected: list[np.ndarray],
    data: Prepared,
    n_topics: int,
) -> Problem:
    """Make the problem of a batch: plain EM with one mixture for all views."""
    matrices = [sp.csr_array(m[batch]) for m in data.matrices]
    return Problem(
        blocks=tuple(make_blocks(matrices)),
        emissions=tuple(Topics.from_rows(_normalized(s).T, data.dtype) for s in expected),
        thetas=(theta[batch],),
        slots=(0,) * len(matrices),
        weights=data.weights,
        present=data.present[batch],
        pinned=None if data.pinned is None else data.pinned[batch],
    )


def _step_on(problem: Problem) -> Problem:
    """Move the mixtures some steps, then topics and mixtures from the same E-step."""
    for _ in range(MIXTURE_STEPS):
        problem = replace(problem, thetas=em_step(problem, map, "thetas").problem.thetas)
    return em_step(problem, map).problem


def _normalized(expected: np.ndarray) -> np.ndarray:
    """Return p(w|z) (terms, topics) from expected counts; zeros in a view without any."""
    mass = expected.sum(axis=0)
    return np.divide(expected, mass, out=np.zeros_like(expected), where=mass > 0)
