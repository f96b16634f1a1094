r"""Emissions: the topics p(w|z) of one view, and their M-step.

An emission is a frozen value with `by_term`, p(w|z) as (terms, topics) padded with zeros (which
the kernels read), and `m_step(grad)`, where grad[w, z] = dL/dp(w|z). The expected counts of EM are
factor * gradient, for p(w|z) itself and by the chain rule for the factors of p(w|z):

    Topics           p(w|z)  <-  rownorm( p(w|z) * grad )
    FactoredTopics   p(w|z)   =  sum_y p(y|z) p(w|y)
                     p(w|y)  <-  rownorm( p(w|y) * sum_z p(y|z) grad(w,z) )
                     p(y|z)  <-  rownorm( p(y|z) * sum_w p(w|y) grad(w,z) )

so the three factors of DualPLSA, MVPLSA and MGGM cost the sweep of two, and small dense products.
The last two lines are (15) and (16) of Zhuang et al. (2012), which are (14) of Wang et al. (2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from coview.em.simplex import aligned_empty_like, limits, pad_topics


class Emission(Protocol):
    """What EM needs of an emission."""

    @property
    def n_topics(self) -> int:
        """The number of topics, without padding."""

    @property
    def by_term(self) -> np.ndarray:
        """p(w|z), (terms, padded topics)."""

    @property
    def over_terms(self) -> np.ndarray:
        """The factor that is a distribution over terms: p(w|z) or p(w|y), (terms, n), unpadded."""

    def m_step(self, grad: np.ndarray, pseudo: np.ndarray | None = None) -> "Emission":
        """Return the emission after an M-step; grad (terms, padded topics) may be overwritten.

        pseudo (terms,) is added to the expected counts of `over_terms`: see `em.prior`.
        """


@dataclass(frozen=True)
class Topics:
    """Free topics: every p(w|z) is a parameter."""

    by_term: np.ndarray
    n_topics: int

    @classmethod
    def from_rows(cls, p_w_z: np.ndarray, dtype: Any = np.float32) -> "Topics":
        """Make topics from p(w|z) as (topics, terms)."""
        return cls(pad_topics(p_w_z.T, dtype), p_w_z.shape[0])

    @property
    def over_terms(self) -> np.ndarray:
        """p(w|z), (terms, topics)."""
        return self.by_term[:, : self.n_topics]

    def m_step(self, grad: np.ndarray, pseudo: np.ndarray | None = None) -> "Topics":
        """Return p(w|z) * grad, normalized over the terms."""
        # (3) of PLSA and LinkPLSA, (12) of Jiang et al. (2012), (4) of Wang et al. (2016)
        return Topics(_normalized(grad, self.by_term, pseudo, self.n_topics), self.n_topics)


@dataclass(frozen=True)
class FactoredTopics:
    """Topics that share feature topics y: p(w|z) = sum_y p(y|z) p(w|y)."""

    p_y_z: np.ndarray  # (topics, feature topics)
    p_w_y_by_term: np.ndarray  # (terms, feature topics)
    n_topics: int

    @classmethod
    def from_rows(
        cls, p_y_z: np.ndarray, p_w_y: np.ndarray, dtype: Any = np.float32
    ) -> "FactoredTopics":
        """Make them from p(y|z) (topics, feature topics) and p(w|y) (feature topics, terms)."""
        by_term = np.ascontiguousarray(p_w_y.T, dtype=dtype)
        return cls(np.ascontiguousarray(p_y_z, dtype=dtype), by_term, p_y_z.shape[0])

    @cached_property
    def by_term(self) -> np.ndarray:
        """p(w|z), (terms, padded topics)."""
        return pad_topics(self.p_w_y_by_term @ self.p_y_z.T, self.p_y_z.dtype)

    @property
    def over_terms(self) -> np.ndarray:
        """p(w|y), (terms, feature topics)."""
        return self.p_w_y_by_term

    def m_step(self, grad: np.ndarray, pseudo: np.ndarray | None = None) -> "FactoredTopics":
        """Return both factors times their gradients, normalized; both from the old factors."""
        grad = grad[:, : self.n_topics].astype(self.p_y_z.dtype)
        by_y = (grad @ self.p_y_z).astype(np.float64)  # dL/dp(w|y)
        by_zy = (grad.T @ self.p_w_y_by_term).astype(np.float64)  # dL/dp(y|z)
        p_w_y = _normalized(by_y, self.p_w_y_by_term, pseudo)  # (15) of Zhuang et al.
        # (16), on transposed arrays, since the columns are normalized
        p_y_z = _normalized(np.ascontiguousarray(by_zy.T), np.ascontiguousarray(self.p_y_z.T)).T
        return FactoredTopics(np.ascontiguousarray(p_y_z), p_w_y, self.n_topics)


def _normalized(
    grad: np.ndarray,
    by_term: np.ndarray,
    pseudo: np.ndarray | None = None,
    n_topics: int | None = None,
) -> np.ndarray:
    """Return by_term * grad with columns that sum to one: the M-step of one factor.

    Pseudo-counts (terms,) are for the first n_topics columns, all by default.
    """
    from coview.kernels.simplex import normalize_topics, normalize_topics_with_prior

    out, tiny = aligned_empty_like(by_term), limits(by_term.dtype).tiny
    if pseudo is None:
        normalize_topics(grad, by_term, tiny, out)
    else:
        n_topics = by_term.shape[1] if n_topics is None else n_topics
        normalize_topics_with_prior(grad, by_term, pseudo, n_topics, tiny, out)
    return out


def factored_emissions(
    p_w_z: Sequence[np.ndarray],
    n_feature_topics: Sequence[int],
    rng: np.random.Generator,
    dtype: Any,
    how: str = "topics",
) -> list[FactoredTopics]:
    """Return FactoredTopics of each view, from its p(w|z) and its number of feature topics."""
    make = {"topics": split_into_feature_topics, "random": random_feature_topics}[how]
    factors = (make(*v, rng) for v in zip(p_w_z, n_feature_topics, strict=True))
    return [FactoredTopics.from_rows(p_y_z, p_w_y, dtype) for p_y_z, p_w_y in factors]


def step_together(
    emissions: Sequence[Emission],
    grads: Sequence[np.ndarray],
    pseudo: np.ndarray | None = None,
) -> tuple[Topics, ...]:
    """Take the M-step of topics that sum to one over all views together, as if concatenated."""
    by_term = np.concatenate([e.by_term for e in emissions])
    whole = Topics(by_term, emissions[0].n_topics).m_step(np.concatenate(grads), pseudo)
    ends = np.cumsum([len(e.by_term) for e in emissions])[:-1]
    return tuple(Topics(part, whole.n_topics) for part in np.split(whole.by_term, ends))


def random_feature_topics(
    p_w_z: np.ndarray, n_feature_topics: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return factors at random, as Zhuang et al. (2012) and Wang et al. (2017) begin.

    Of the topics p(w|z) (topics, terms) only the zeros matter: terms that never occur.

    Returns
    -------
    p_y_z : ndarray of shape (topics, feature topics)
    p_w_y : ndarray of shape (feature topics, terms)
    """
    p_y_z = 1 - rng.random((len(p_w_z), n_feature_topics))  # in (0, 1]: EM keeps a zero
    p_w_y = (1 - rng.random((n_feature_topics, p_w_z.shape[1]))) * (p_w_z > 0).any(axis=0)
    mass = p_w_y.sum(axis=1, keepdims=True)  # 0 in a view without counts
    p_w_y = np.divide(p_w_y, mass, out=p_w_y, where=mass > 0)
    return p_y_z / p_y_z.sum(axis=1, keepdims=True), p_w_y


def split_into_feature_topics(
    p_w_z: np.ndarray, n_feature_topics: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return a start for FactoredTopics whose product is close to p(w|z) (topics, terms).

    Feature topic y begins as a perturbed copy of the topics z with z = y modulo the smaller of the
    two numbers, and 90 % of p(y|z) goes to the feature topics that belong to z. Nothing
    starts at zero, since EM would keep it there.

    Returns
    -------
    p_y_z : ndarray of shape (topics, feature topics)
    p_w_y : ndarray of shape (feature topics, terms)
    """
    n_topics = p_w_z.shape[0]
    n_groups = min(n_topics, n_feature_topics)
    group_of_z, group_of_y = np.arange(n_topics) % n_groups, np.arange(n_feature_topics) % n_groups
    belongs = (group_of_z[:, None] == group_of_y).astype(float)
    p_w_y = (belongs / belongs.sum(axis=0)).T @ p_w_z
    p_w_y = p_w_y * rng.uniform(0.5, 1.5, p_w_y.shape)
    p_y_z = belongs * rng.uniform(0.5, 1.5, belongs.shape)
    p_y_z = 0.9 * p_y_z / p_y_z.sum(axis=1, keepdims=True) + 0.1 / n_feature_topics
    mass = p_w_y.sum(axis=1, keepdims=True)  # 0 in a view without counts
    return p_y_z, np.divide(p_w_y, mass, out=p_w_y, where=mass > 0)
