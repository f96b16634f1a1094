r"""Agreement of similarities across views: the penalty of PairwiseCoPLSA (Jiang et al., 2012; 000).

Two documents that are alike in the topics of one view are to be alike in those of another. With p^v(.|d)
the mixture of document d in view v,

    S^v_ij = exp(-sum_k (p^v(z_k|d_i) - p^v(z_k|d_j))^2 / sigma)                              (7)
    penalty = lam sum_{v<w} |S^v - S^w|_F^2                                           (4, 6, 15)

over the sampled pairs i < j. Each stands for (i,j) and (j,i) in the norm, which gives (14) its 8, and counts
for the views v, w only if both documents have both. The two views of a pair are not ordered: (15) would
count them twice, against (4). Topics of different views need not correspond: only distances within a view count.

    dR/dp^v(z_k|d_i) = -(8/sigma) sum_w sum_j S^v_ij (S^v_ij - S^w_ij) (p^v(z_k|d_i) - p^v(z_k|d_j))   (14)

M-step, one view after the other, the others at their latest values, n(d,z) being the weighted expected counts:

    step="paper"    p^v(z|d) ∝ n(d,z) - lam dR/dp p^v(z|d), negative entries cut off           (13, 17)
    step="safe"     towards  p^v(z|d) (g + c) normalised,  g = n(d,z) / p^v(z|d) - lam dR/dp

c >= 0 is the least constant of a document for which no entry is negative; without it this is (13). The
direction ascends, since g'(target - p) = Var_p(g) / (E_p(g) + c) >= 0, and the largest of the steps 1, 1/2,
1/4, ... is taken, one for all documents of a view, which does not lower

    sum_{d,z} n(d,z) log p^v(z|d) - lam sum_w |S^v - S^w|_F^2                                  (10)

so the objective never falls. The step of "paper" promises nothing. The E-step of a view sees that view alone, so one
sweep of all views before the cycle gives what the paper's E-step inside it gives.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from coview.em.penalty import Penalty
from coview.em.simplex import limits

MAX_HALVINGS = 30


def n_all_pairs(n_docs: int) -> int:
    """How many unordered pairs n_docs documents make."""
    return n_docs * (n_docs - 1) // 2


def sample_pairs(n_docs: int, n_pairs: int, rng: np.random.Generator) -> np.ndarray:
    """Different pairs i < j of documents, (pairs, 2), sorted; all of them if n_pairs asks for as many.

    Time and memory are linear in the pairs asked for (the sorting aside), not in all pairs.

    >>> sample_pairs(3, 100, np.random.default_rng(0)).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    total = n_all_pairs(n_docs)
    if 2 * n_pairs <= total:
        numbers = _distinct(total, n_pairs, rng)
    else:  # drawing what is left out keeps repetitions rare, and all pairs are few
        numbers = np.arange(total)
        if n_pairs < total:
            numbers = np.delete(numbers, _distinct(total, total - n_pairs, rng))
    # Pair number c joins two documents of a circle that are c // n_docs + 1 apart. Each pair has
    # one number: on an even circle the last distance joins opposites and has half as many.
    distance, i = np.divmod(numbers, max(n_docs, 1))
    return _sorted_pairs(np.stack([i, (i + distance + 1) % max(n_docs, 1)], axis=1))


def all_pairs_fraction(n_docs: int, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """A fraction of all pairs (the paper's 5 %), at least one: quadratic in the documents.

    >>> len(all_pairs_fraction(100, 0.05, np.random.default_rng(0)))
    248
    """
    return sample_pairs(n_docs, max(1, round(fraction * n_all_pairs(n_docs))), rng)


def _distinct(total: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """`size` different numbers below total, which is at least twice as many, in no order."""
    numbers = np.empty(0, np.int64)
    while len(numbers) < size:
        drawn = rng.integers(total, size=size - len(numbers))
        numbers = np.concatenate([numbers, drawn])
        _, first = np.unique(numbers, return_index=True)
        # in the order of drawing, without repetitions: so every set is equally likely
        numbers = numbers[np.sort(first)]
    return numbers


def _sorted_pairs(pairs: np.ndarray) -> np.ndarray:
    """Pairs as (pairs, 2) with i < j, by i and then j."""
    pairs = np.sort(np.asarray(pairs, np.int64).reshape(-1, 2), axis=1)
    if len(pairs) and (pairs.min() < 0 or (pairs[:, 0] == pairs[:, 1]).any()):
        raise ValueError("Pairs must join two different documents, numbered from 0.")
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


@dataclass(frozen=True, eq=False)
class SimilarityAgreement(Penalty):
    """lam sum_{v<w} |S^v - S^w|^2 over sampled pairs of documents; one mixture for each view.

    Parameters
    ----------
    pairs : ndarray of int, shape (pairs, 2)
        Unordered pairs of documents, drawn once per fit (`sample_pairs`). Kept sorted, i < j.
    strength : float
        The factor lam of the sum over `pairs`, which nothing here rescales: to stand for all pairs
        it is the paper's lam times n_all_pairs(n_docs) / len(pairs).
    bandwidth : float
        The paper's sigma. Squared distances of mixtures are at most 2.
    step : {"safe", "paper"}
        A step that never lowers the objective, or Eq. 13 as printed.
    """

    pairs: np.ndarray = field(repr=False)
    strength: float
    bandwidth: float = 1.0
    step: Literal["safe", "paper"] = "safe"
    monotone: bool = field(init=False)
    row_local = False

    def __post_init__(self):
        if self.step not in ("safe", "paper"):
            raise ValueError(f"step must be 'safe' or 'paper', not {self.step!r}.")
        object.__setattr__(self, "pairs", _sorted_pairs(self.pairs))
        object.__setattr__(self, "monotone", self.step == "safe")

    def value(self, thetas: tuple[np.ndarray, ...], present: np.ndarray) -> float:
        """The penalty at these mixtures, one for each view."""
        from coview.kernels.pairs import disagreement

        if not self._couples(thetas):
            return 0.0
        return self.strength * disagreement(self._similarities(thetas, present))

    def gradient(
        self, thetas: tuple[np.ndarray, ...], present: np.ndarray, view: int
    ) -> np.ndarray:
        """The derivative of `value` by the mixtures of one view, as (documents, topics)."""
        theta = np.ascontiguousarray(thetas[view], np.float64)
        if not self._couples(thetas):
            return np.zeros_like(theta)
        return self._slope(self._similarities(thetas, present), view, theta)

    def m_step(
        self,
        counts: tuple[np.ndarray, ...],
        thetas: tuple[np.ndarray, ...],
        present: np.ndarray,
        pinned: np.ndarray | None,
    ) -> tuple[np.ndarray, ...]:
        """New mixtures, written over the counts; a document's absent views keep theirs."""
        if not self._couples(thetas):
            return super().m_step(counts, thetas, present, pinned)
        sims = self._similarities(thetas, present)
        for v, into in enumerate(counts):
            theta = np.ascontiguousarray(thetas[v], np.float64)
            self._move(v, sims, into, theta, present[:, v], pinned)
        return counts

    def _couples(self, thetas) -> bool:
        """Whether anything is coupled; the step is then not that of plain EM."""
        if len(self.pairs) and self._incidence[0].size > len(thetas[0]) + 1:
            n_docs = self._incidence[0].size - 1
            raise ValueError(f"Pairs of {n_docs} documents or more, mixtures of {len(thetas[0])}.")
        return self.strength != 0.0 and len(thetas) > 1 and len(self.pairs) > 0

    def _move(self, v, sims, counts, theta, has_view, pinned) -> None:
        """The step of view v: its new mixtures over its counts, its similarities at them into sims."""
        from coview.kernels.pairs import blend, literal_target, safe_target, similarities

        target = self._slope(sims, v, theta)
        keep = ~has_view if pinned is None else pinned | ~has_view
        if self.step == "paper":
            literal_target(counts, theta, keep, target)
            share = 1.0
            similarities(self.pairs, target, has_view, self.bandwidth, sims[v])
        else:
            safe_target(counts, theta, keep, target)
            share = self._search(v, sims, counts, theta, target)
        blend(theta, target, share, limits(counts.dtype).tiny, counts)

    def _search(self, v, sims, counts, theta, target) -> float:
        """The largest share of the way to the target that does not lower (10); 0 if there is none."""
        from coview.kernels.pairs import directions, disagreement_growth, expected_log_growth

        along, square, moved = np.empty((3, len(self.pairs)))
        directions(self.pairs, theta, target, along, square)
        for halving in range(MAX_HALVINGS + 1):
            share = 0.5**halving
            growth = expected_log_growth(counts, theta, target, share)
            if growth == -np.inf:
                continue
            way = (along, square, share, self.bandwidth, moved)
            growth -= self.strength * disagreement_growth(sims, v, *way)
            if growth >= 0.0:
                sims[v] = moved
                return share
        return 0.0

    def _similarities(self, thetas, present) -> np.ndarray:
        """S of each view on the pairs, (views, pairs)."""
        from coview.kernels.pairs import similarities

        out = np.empty((len(thetas), len(self.pairs)))
        for v, theta in enumerate(thetas):
            theta = np.ascontiguousarray(theta, np.float64)
            similarities(self.pairs, theta, present[:, v], self.bandwidth, out[v])
        return out

    def _slope(self, sims, v, theta) -> np.ndarray:
        """lam dR/dp of view v, (documents, topics)."""
        from coview.kernels.pairs import gather, pulls

        pull, out = np.empty(len(self.pairs)), np.empty_like(theta)
        pulls(sims, v, -8.0 / self.bandwidth * self.strength, pull)  # Eq. 14
        gather(self.pairs, *self._incidence, pull, theta, out)
        return out

    @cached_property
    def _incidence(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pairs of each document, as `kernels.pairs.gather` wants them."""
        docs = np.arange(self.pairs.max(initial=-1) + 2)
        by_second = np.argsort(self.pairs[:, 1], kind="stable")
        first = np.searchsorted(self.pairs[:, 0], docs)
        second = np.searchsorted(self.pairs[by_second, 1], docs)
        return first, second, by_second
