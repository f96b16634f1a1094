r"""SimilarityAgreement: similarities of documents agree across views (Jiang et al., 2012).

The penalty of PairwiseCoPLSA. Documents with similar mixtures in one view should have similar
mixtures in another. With p^v(.|d) the mixture of document d in view v,

    S^v_ij = exp(-sum_k (p^v(z_k|d_i) - p^v(z_k|d_j))^2 / sigma)                            (7)
    penalty = lam sum_{v<w} R_vw,     R_vw = |S^v - S^w|_F^2                         (4, 6, 15)

over sampled pairs i < j. A pair stands for (i, j) and (j, i) in the norm, which gives (14) its 8,
and counts for the views v, w only if both documents have both. Views are paired once: (15) would
count them twice, against (4). Only distances within a view matter, so the topics of different
views need not correspond. Where pairs of views have strengths of their own (4.2), `factors` are
in front of R_vw.

    dR/dp^v(z_k|d_i) = -(8/sigma) sum_{w,j} S^v_ij (S^v_ij - S^w_ij)
                                                   (p^v(z_k|d_i) - p^v(z_k|d_j))           (14)

M-step, one view after the other, the others at their latest values; n(d,z) are the expected counts
times the weight of the view:

    step="paper"   p^v(z|d) ∝ n(d,z) - lam dR/dp p^v(z|d), negative entries cut off    (13, 17)
    step="safe"    toward p^v(z|d) (g + c) normalized,  g = n(d,z) / p^v(z|d) - lam dR/dp

c >= 0 is the smallest constant of a document for which no entry is negative; where it is 0, this is
(13). It is an ascent direction, since g'(target - p) = Var_p(g) / (E_p(g) + c) >= 0. Of the step
sizes 1, 1/2, 1/4, ..., for all documents of the view, the first is taken that does not lower

    sum_{d,z} n(d,z) log p^v(z|d) - lam sum_w R_vw                                         (10)

so that the objective never falls. With "paper" it may, and an entry once cut off stays 0.

The E-step (9) of a view does not depend on the other views, so one sweep over all views before this
cycle gives the same as the paper's E-steps within it. Equation numbers are those of the paper.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from coview.em.penalties.base import Penalty
from coview.em.simplex import limits
from coview.params import check_choice

MAX_HALVINGS = 30


def n_all_pairs(n_docs: int) -> int:
    """Return the number of unordered pairs of n_docs documents."""
    return n_docs * (n_docs - 1) // 2


def sample_pairs(n_docs: int, n_pairs: int, rng: np.random.Generator) -> np.ndarray:
    """Draw distinct pairs i < j of documents, (pairs, 2), sorted; or all, if there are no more.

    Memory is linear in n_pairs, whatever the number of documents.

    >>> sample_pairs(3, 100, np.random.default_rng(0)).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    total = n_all_pairs(n_docs)
    if 2 * n_pairs <= total:
        numbers = _distinct(total, n_pairs, rng)
    else:  # draw the pairs to leave out instead, which keeps repetitions rare
        numbers = np.arange(total)
        numbers = np.delete(numbers, _distinct(total, max(total - n_pairs, 0), rng))
    # Pair number c joins two documents on a circle, c // n_docs + 1 places apart. Each pair has one
    # number: if n_docs is even, the largest distance joins opposites and has half as many.
    apart, i = np.divmod(numbers, max(n_docs, 1))
    return _sorted_pairs(np.stack([i, (i + apart + 1) % max(n_docs, 1)], axis=1))


def all_pairs_fraction(n_docs: int, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Draw a fraction of all pairs (the paper's 5 %), at least one: quadratic in the documents.

    >>> len(all_pairs_fraction(100, 0.05, np.random.default_rng(0)))
    248
    """
    return sample_pairs(n_docs, max(1, round(fraction * n_all_pairs(n_docs))), rng)


def _distinct(total: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw `size` distinct numbers below total, which should be at least twice as large."""
    numbers = np.empty(0, np.int64)
    while len(numbers) < size:
        # never more than are missing, so that all are kept and every set is equally likely
        drawn = rng.integers(total, size=size - len(numbers))
        numbers = np.sort(np.concatenate([numbers, drawn]))
        numbers = numbers[np.diff(numbers, prepend=-1) > 0]  # np.unique may hash, far slower
    return numbers


def _sorted_pairs(pairs: np.ndarray) -> np.ndarray:
    """Return pairs as (pairs, 2) with i < j, sorted by i and then by j."""
    pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
    i, j = pairs.min(axis=1), pairs.max(axis=1)
    if (i < 0).any() or (i == j).any():
        raise ValueError("A pair must join two different documents, numbered from 0.")
    n_docs = j.max(initial=0) + 1
    keys = i * n_docs + j
    if (pairs[:, 0] < pairs[:, 1]).all() and (keys[1:] >= keys[:-1]).all():
        return pairs
    return np.stack(np.divmod(np.sort(keys), n_docs), axis=1)


def _unsigned(index: np.ndarray) -> np.ndarray:
    return index.astype(np.uint32 if index.max(initial=0) < 2**32 else np.uint64)


@dataclass(frozen=True, eq=False)
class SimilarityAgreement(Penalty):
    """lam sum_{v<w} |S^v - S^w|^2 over sampled pairs of documents; a mixture for each view.

    Parameters
    ----------
    pairs : ndarray of int, shape (pairs, 2)
        Unordered pairs of documents, drawn once per fit (`sample_pairs`); kept sorted, i < j.
    strength : float
        The factor lam of the sum over `pairs`. To stand for all pairs it is the paper's lam times
        n_all_pairs(n_docs) / len(pairs); nothing here rescales it.
    bandwidth : float
        The paper's sigma. A squared distance of two mixtures is at most 2.
    step : {"paper", "safe"}
        Eq. 13 as printed, or a step that never lowers the objective.
    reach : float
        How far a document goes toward its target in the safe step if the target needed c > 0. At 1
        a share becomes 0: for good in a document without counts for it, while one with counts makes
        the whole view halve its step. Any value in (0, 1] ascends.
    factors : ndarray of shape (views, views), optional
        Symmetric factors of lam for each pair of views; all 1 by default.
    """

    pairs: np.ndarray = field(repr=False)
    strength: float
    bandwidth: float = 1.0
    step: Literal["paper", "safe"] = "safe"
    reach: float = 1.0
    factors: np.ndarray | None = field(default=None, repr=False)
    monotone: bool = field(init=False)
    row_local = False

    def __post_init__(self) -> None:
        check_choice("step", self.step, ["paper", "safe"])
        # narrow: there are tens of pairs for each document
        object.__setattr__(self, "pairs", _unsigned(_sorted_pairs(self.pairs)))
        object.__setattr__(self, "monotone", self.step == "safe")

    def value(self, thetas: tuple[np.ndarray, ...], present: np.ndarray) -> float:
        """Return the penalty (6, 15) at these mixtures, one for each view."""
        from coview.kernels.pairs import disagreement

        if not self._couples(thetas, present):
            return 0.0
        sims = self._similarities(thetas, present)
        return self.strength * disagreement(sims, self._factors(len(thetas)))

    def gradient(
        self, thetas: tuple[np.ndarray, ...], present: np.ndarray, view: int
    ) -> np.ndarray:
        """Return the derivative (14) of `value` by one view's mixtures, (documents, topics)."""
        theta = np.ascontiguousarray(thetas[view], np.float64)
        if not self._couples(thetas, present):
            return np.zeros_like(theta)
        return self._slope(self._similarities(thetas, present), view, theta)

    def m_step(
        self,
        counts: tuple[np.ndarray, ...],
        thetas: tuple[np.ndarray, ...],
        present: np.ndarray,
        pinned: np.ndarray | None,
    ) -> tuple[np.ndarray, ...]:
        """Return new mixtures, written over the counts; those of absent views stay as they are."""
        if not self._couples(thetas, present):
            return super().m_step(counts, thetas, present, pinned)
        sims = self._similarities(thetas, present)
        for v, into in enumerate(counts):
            theta = np.ascontiguousarray(thetas[v], np.float64)
            self._move(v, sims, into, theta, present[:, v], pinned)
        return counts

    def _couples(self, thetas: tuple[np.ndarray, ...], present: np.ndarray) -> bool:
        """Return whether there is anything to couple; if not, the step is that of plain EM."""
        n_docs, n_views = present.shape
        if len(thetas) != n_views:
            raise ValueError(f"{n_views} views need a mixture each, found {len(thetas)}.")
        if len(self.pairs) and self.pairs.max() >= n_docs:  # a kernel would read past the end
            raise ValueError(f"A pair has document {self.pairs.max()}, but there are {n_docs}.")
        return self.strength != 0.0 and n_views > 1 and len(self.pairs) > 0

    def _move(
        self,
        v: int,
        sims: np.ndarray,
        counts: np.ndarray,
        theta: np.ndarray,
        has_view: np.ndarray,
        pinned: np.ndarray | None,
    ) -> None:
        """Take the step of view v: write mixtures over its counts, similarities into sims."""
        from coview.kernels.pairs import blend, paper_target, safe_target, similarities

        target, share = self._slope(sims, v, theta), 1.0  # the gradient becomes the target in place
        keep = ~has_view if pinned is None else pinned | ~has_view
        if self.step == "paper":
            paper_target(counts, theta, keep, target)  # (13, 17)
            similarities(self.pairs, target, has_view, self.bandwidth, sims[v])
        else:
            safe_target(counts, theta, keep, self.reach, target)
            share = self._search(v, sims, counts, theta, target)
        blend(theta, target, share, limits(counts.dtype).tiny, counts)

    def _search(
        self,
        v: int,
        sims: np.ndarray,
        counts: np.ndarray,
        theta: np.ndarray,
        target: np.ndarray,
    ) -> float:
        """Return the first step size that does not lower (10); 0 if there is none."""
        from coview.kernels.pairs import directions, disagreement_growth, expected_log_growth

        factors = self._factors(len(sims))
        way, moved = np.empty((3, len(self.pairs))), np.empty(len(self.pairs))
        directions(self.pairs, theta, target, *way)
        for halving in range(MAX_HALVINGS + 1):
            share = 0.5**halving
            growth = expected_log_growth(counts, theta, target, share)
            if growth > -np.inf:  # otherwise a share with counts would become 0
                rise = disagreement_growth(sims, v, factors, way, share, self.bandwidth, moved)
                growth -= self.strength * rise
            if growth >= 0.0:
                sims[v] = moved
                return share
        return 0.0

    def _similarities(self, thetas: tuple[np.ndarray, ...], present: np.ndarray) -> np.ndarray:
        """Return S (7) of each view on the pairs, (views, pairs)."""
        from coview.kernels.pairs import similarities

        out = np.empty((len(thetas), len(self.pairs)))
        for v, theta in enumerate(thetas):
            theta = np.ascontiguousarray(theta, np.float64)
            similarities(self.pairs, theta, present[:, v], self.bandwidth, out[v])
        return out

    def _slope(self, sims: np.ndarray, v: int, theta: np.ndarray) -> np.ndarray:
        """Return lam dR/dp (14) of view v, (documents, topics)."""
        from coview.kernels.pairs import gather, pulls

        pull, out = np.empty(len(self.pairs)), np.empty_like(theta)
        factor = -8.0 / self.bandwidth * self.strength
        pulls(sims, v, self._factors(len(sims)), factor, pull)  # (14)
        gather(*self._incidence, pull, theta, out)
        return out

    def _factors(self, n_views: int) -> np.ndarray:
        """Return the factor of lam for each pair of views."""
        return np.ones((n_views, n_views)) if self.factors is None else self.factors

    @cached_property
    def _incidence(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pairs of each document (indptr, other documents, numbers of pairs) for `gather`."""
        docs, others = self.pairs.T.ravel(), self.pairs[:, ::-1].T.ravel()
        order = np.argsort(docs, kind="stable")
        indptr = np.append(0, np.cumsum(np.bincount(docs)))
        # signed indices would cost a wrap-around test at each access
        return _unsigned(indptr), _unsigned(others[order]), _unsigned(order % len(self.pairs))
