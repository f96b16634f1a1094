"""Tiny problems with known structure, as dense arrays: what the reference loops take."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from coview.em.emissions import FactoredTopics, Topics
from coview.em.prepared import cut, make_blocks
from coview.em.problem import Problem
from coview.em.simplex import pad_topics


def stochastic(rng, n_rows, n_columns):
    """Strictly positive rows that sum to one."""
    return rng.dirichlet(np.ones(n_columns), n_rows)


def counts(rng, n_docs, n_terms, density=0.5):
    """Counts with an empty document (the second) and an empty column (the last)."""
    X = rng.poisson(2.0, (n_docs, n_terms)) * (rng.random((n_docs, n_terms)) < density)
    X[0, 0] += 1
    X[1] = 0
    X[:, -1] = 0
    return X.astype(float)


@dataclass
class Case:
    """Views as dense arrays, a start, and options: the same for the engine and the reference."""

    Xs: list
    theta: np.ndarray
    p_w_zs: list
    weights: tuple
    present: np.ndarray
    pinned: np.ndarray | None = None
    p_y_zs: list = field(default_factory=list)
    p_w_ys: list = field(default_factory=list)

    @property
    def matrices(self):
        return [sp.csr_array(X) for X in self.Xs]

    def blocks(self, nonzeros=None, matrices=None):
        matrices = self.matrices if matrices is None else matrices
        return tuple(make_blocks(matrices, cut(matrices, nonzeros)))

    def problem(self, nonzeros=None, dtype=np.float64, **options):
        """The engine's problem with a shared mixture; options replace any of its parts."""
        matrices = [m.astype(dtype) for m in self.matrices]
        parts = {
            "blocks": self.blocks(nonzeros, matrices),
            "emissions": tuple(Topics.from_rows(p, dtype) for p in self.p_w_zs),
            "thetas": (pad_topics(self.theta, dtype),),
            "slots": (0,) * len(self.Xs),
            "weights": self.weights,
            "present": self.present,
            "pinned": self.pinned,
        }
        return Problem(**{**parts, **options})

    def factored(self, **options):
        emissions = tuple(
            FactoredTopics.from_rows(a, b, np.float64)
            for a, b in zip(self.p_y_zs, self.p_w_ys, strict=True)
        )
        return self.problem(emissions=emissions, **options)


def make_case(
    rng, widths=(9, 7), n_docs=14, n_topics=3, n_feature_topics=4, pins=False, absent=False
):
    """A random case; with `absent` some documents lack a view, with `pins` some are pinned."""
    Xs = [counts(rng, n_docs, w) for w in widths]
    present = np.ones((n_docs, len(widths)), bool)
    if absent:
        for v in range(len(widths)):
            rows = np.arange(n_docs) % (len(widths) + 1) == v + 1
            present[rows, v] = False
            Xs[v][rows] = 0
    theta = stochastic(rng, n_docs, n_topics)
    pinned = None
    if pins:
        pinned = np.arange(n_docs) % 4 == 0
        # soft rows: one-hot ones are fixed points of EM, so a lost pin would not show
    return Case(
        Xs,
        theta,
        [stochastic(rng, n_topics, w) for w in widths],
        tuple(1.0 + 0.5 * v for v in range(len(widths))),
        present,
        pinned,
        [stochastic(rng, n_topics, n_feature_topics) for _ in widths],
        [stochastic(rng, n_feature_topics, w) for w in widths],
    )


def serial(function, items):
    """The simplest runner: one block after the other."""
    return map(function, items)
