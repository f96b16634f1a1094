"""Trace: the objective of a fit, iteration by iteration, and the outcome of its starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from coview.wording import plural

if TYPE_CHECKING:
    from coview.em.step import Values


@dataclass(repr=False)
class Trace:
    """The objective and its parts after each iteration.

    Attributes
    ----------
    objective : ndarray of shape (n_iter,)
        Log-likelihood minus penalty, plus `log_prior` and `seed_term` where there are any.
    log_likelihood : ndarray of shape (n_iter, n_views)
        Weighted log-likelihood of each view.
    penalty : ndarray of shape (n_iter,)
    carried_penalty : ndarray of shape (n_iter,)
        The penalty under its own parameters (graph weights) before they were refitted: the
        value to compare with the iteration before. Equal to `penalty` where there are none.
    n_floored : ndarray of shape (n_iter,)
        How many observed words had p(w|d) raised to the floor of the precision: 0 in a healthy fit.
    start_objective : float
        The objective of the start.
    restarts : ndarray of shape (n_init,)
        The final objective of each restart.
    candidates : list of (str, float)
        The starts that were tried in the restart that was kept, each with its objective after a few
        iterations, and starts left out, with NaN.
    roughness : ndarray of shape (n_iter,), or None in models without a graph
        How much mixtures differ between neighbors by the symmetric Kullback-Leibler divergence
        (Eq. 3 of Wang et al., 2017), under the current weights of the graphs. Infinite where one of
        two neighbors has a share of 0; only the quadratic one is in the objective, as `penalty`.
    log_prior : ndarray of shape (n_iter,), or None
        The log prior of mixtures and topics, without constants; None where both
        `doc_topic_prior` and `topic_word_prior` are 1.
    seed_term : ndarray of shape (n_iter,), or None without seeds
        Weighted log prior of the topics: sum of s(w,z) log p(w|z) over the seed words.
    ensemble_term : ndarray of shape (n_iter,), or None
        Weighted log-likelihood of the ensemble's clusters, where they are one more view; it is part
        of the objective, but not of `log_likelihood`.
    ensemble : dict or None
        What the start, the learned weights and the ensemble's view rest on, where there is an
        ensemble of clusterings: for each member its `families`, `n_clusters` and `weights`; the
        `replicability` of each family between halves of the features; `reliability` (views,
        views) and `view_weights` of the views, and which of them are `copies` of each other;
        `share`, the weight of the ensemble's view, given or learned.
    """

    objective: np.ndarray
    log_likelihood: np.ndarray
    penalty: np.ndarray
    carried_penalty: np.ndarray
    n_floored: np.ndarray
    start_objective: float
    restarts: np.ndarray = field(default_factory=lambda: np.empty(0))
    candidates: list[tuple[str, float]] = field(default_factory=list)
    roughness: np.ndarray | None = None
    log_prior: np.ndarray | None = None
    seed_term: np.ndarray | None = None
    ensemble_term: np.ndarray | None = None
    ensemble: dict[str, Any] | None = None

    @classmethod
    def from_values(
        cls,
        values: Sequence[Values],
        candidates: Sequence[tuple[str, float]] = (),
        restarts: Sequence[float] = (),
    ) -> Trace:
        """Make a trace of the values of a run; the first of them belong to its start."""
        first, later = values[0], values[1:]
        by_view = [v.log_likelihoods for v in later]
        return cls(
            objective=np.array([v.objective for v in later]),
            log_likelihood=np.array(by_view).reshape(len(later), len(first.log_likelihoods)),
            penalty=np.array([v.penalty for v in later]),
            carried_penalty=np.array(
                [v.penalty if v.carried_penalty is None else v.carried_penalty for v in later]
            ),
            n_floored=np.array([v.n_floored for v in later], dtype=np.int64),
            start_objective=first.objective,
            restarts=np.array(restarts, dtype=np.float64),
            candidates=list(candidates),
            roughness=_or_none([v.roughness for v in later]),
            log_prior=_or_none([v.log_prior or None for v in later]),
            seed_term=_or_none([v.seed_term or None for v in later]),
        )

    def __repr__(self) -> str:
        """Return how far the objective has come, instead of all its values."""
        parts = [f"{plural(len(self), 'iteration')}"]
        if len(self):
            parts.append(f"objective {self.start_objective:,.6g} to {self.objective[-1]:,.6g}")
        if len(self.restarts) > 1:
            parts.append(f"best of {len(self.restarts)} restarts")
        if self.candidates:
            tried = ", ".join(name for name, _ in self.candidates)
            parts.append(f"starts tried: {tried}")
        if self.n_floored.any():
            parts.append(f"{int(self.n_floored[-1]):,} words at the floor of the precision")
        return f"<Trace: {'; '.join(parts)}>"

    def __len__(self) -> int:
        return len(self.objective)


def _or_none(numbers: Sequence[float | None]) -> np.ndarray | None:
    return None if None in numbers else np.array(numbers, dtype=np.float64)
