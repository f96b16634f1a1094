"""What happened during a fit."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Trace:
    """The objective and its parts, one value an iteration (the state after it).

    Attributes
    ----------
    objective : ndarray of shape (n_iter,)
        Log-likelihood minus penalty.
    log_likelihood : ndarray of shape (n_iter, n_views)
        Weighted log-likelihood of each view.
    penalty : ndarray of shape (n_iter,)
    carried_penalty : ndarray of shape (n_iter,)
        The penalty under its own parameters (graph weights) before they were fitted anew: the one
        to compare with the iteration before. The same as `penalty` where it has none.
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

    @classmethod
    def of(cls, values) -> "Trace":
        """From the values of a run, the first of which are those of the start."""
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
            roughness=_or_none([v.roughness for v in later]),
        )

    def __len__(self) -> int:
        return len(self.objective)


def _or_none(numbers) -> np.ndarray | None:
    return None if None in numbers else np.array(numbers, dtype=np.float64)
