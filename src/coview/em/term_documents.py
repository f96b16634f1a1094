r"""How many documents of each topic have each term: one pass over the data at the end of a fit.

    n(w,z) = sum over documents d with n(d,w) > 0 of p(z|d)^2                                  (1)

A document that repeats a word a hundred times counts once, and one that is wholly of the topic
counts 1. The square is what keeps fifty documents with a trace of the topic each from adding up to
a witness: with p(z|d) itself, and more so with p(z|d,w), words are counted that hardly any document
of the topic has (experiments/words.md).

The pass is the second round of an EM step, with p(z|d)^2 for p(z|d) and 1 for the ratios. So it
is one in memory, on disk and on a cluster, with sums in the same order. In a dense view nearly
every document has every feature, which says nothing; there values are summed.
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
class _Sums:
    """Stands where a problem has pseudo-counts: the M-step shows it what was summed."""

    counts: np.ndarray | None = None  # (terms, padded topics)

    def log_prior(self, p_w_z: np.ndarray) -> float:
        return 0.0

    def add_gradient(self, grad: np.ndarray, p_w_z: np.ndarray) -> None:
        self.counts = grad.copy()


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
    found = tuple(_Sums() for _ in problem.slots)
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
    return {
        name: np.ascontiguousarray(sums.counts[:, :k].T, dtype)
        for name, sums in by_view
        if sums.counts is not None
    }


def topic_documents(mixtures: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return how many documents of each topic have a view, each counted by p(z|d)^2.

    >>> topic_documents(np.array([[0.5, 0.5], [1, 0], [0, 1]]), np.array([True, True, False]))
    array([1.25, 0.25])
    """
    total = np.zeros(mixtures.shape[1])
    for start in range(0, len(mixtures), ROWS):
        rows = slice(start, start + ROWS)
        total += np.square(mixtures[rows][present[rows]], dtype=np.float64).sum(axis=0)
    return total
