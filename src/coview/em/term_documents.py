r"""How many documents of each topic have each term: one pass over the data at the end of a fit.

    n(w,z) = sum over documents d with n(d,w) > 0 of p(z|d,w),    p(z|d,w) ~ p(z|d) p(w|z)    (1)

A word that one document repeats a hundred times counts once, as it does for a reader. (1) is what
an EM step sums up, p(w|z) dL/dp(w|z), if every count is 1. So the pass is a step like any other,
in memory, on disk and on a cluster, whose M-step is thrown away. In a dense view nearly every
document has every feature, which says nothing; there values are summed instead of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from coview.em.loop import take_step
from coview.em.penalties.base import Penalty
from coview.em.prepared import Prepared
from coview.em.prior import Prior
from coview.em.problem import Problem
from coview.em.seeds import Seeds
from coview.views.density import DENSE

ROWS = 1 << 16  # mixtures that are summed at a time: they may be in a file


@dataclass(eq=False)
class _Expected:
    """Stands where a problem has pseudo-counts: the M-step shows it the expected counts."""

    counts: np.ndarray | None = None  # (terms, topics)

    def log_prior(self, p_w_z: np.ndarray) -> float:
        return 0.0

    def add_gradient(self, grad: np.ndarray, p_w_z: np.ndarray) -> None:
        self.counts = grad * p_w_z


def dense_views(data: Prepared, scaled: Iterable[str]) -> list[str]:
    """Return the views in which most documents have most features, or that are measurements."""
    known, dense = set(scaled), []
    for name, matrix, here in zip(data.names, data.matrices, data.present.T, strict=True):
        cells = np.count_nonzero(here) * matrix.shape[1]
        if name in known or matrix.nnz > DENSE * cells:
            dense.append(name)
    return dense


def term_documents(
    problem: Problem, runner: Any, names: Sequence[str], dense: Sequence[str]
) -> dict[str, np.ndarray]:
    """Return n(w,z) of (1) by view, (topics, terms); the parameters of the problem stay."""
    found = tuple(_Expected() for _ in problem.slots)
    once = tuple(name not in dense for name in names)
    counted = replace(
        problem,
        once=once,
        penalty=Penalty(),
        prior=Prior(),
        seeds=cast(Seeds, found),
        concatenated=False,
        spare=None,
    )
    take_step(runner, counted, "emissions")
    k, dtype = problem.n_topics, problem.emissions[0].by_term.dtype
    by_view = zip(names, found, strict=True)
    return {n: np.ascontiguousarray(e.counts[:, :k].T, dtype) for n, e in by_view}  # type: ignore[index]


def topic_documents(mixtures: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return how many documents of each topic have a view, in expectation: sums of p(z|d).

    >>> topic_documents(np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]), np.array([True, True, False]))
    array([1.5, 0.5])
    """
    total = np.zeros(mixtures.shape[1])
    for start in range(0, len(mixtures), ROWS):
        rows = slice(start, start + ROWS)
        total += mixtures[rows][present[rows]].sum(axis=0, dtype=np.float64)
    return total
