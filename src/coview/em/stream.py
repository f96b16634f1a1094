r"""Streams: topics that learn from one batch of documents after the other.

What the documents seen so far say of the topics of a view are expected counts, the sufficient
statistics of EM: n(z) tokens of topic z, of which p(w|z) are of term w. With S(w,z) = p(w|z) n(z),
a new batch of documents maximizes

    objective of the batch  +  rho sum_v alpha_v sum_{w,z} S_v(w,z) log p(w|z,v)             (1)

by EM. The second term is that of `em.seeds`, with a pseudo-count for every term and topic instead
of a few: earlier documents are remembered as one document for each topic, whose mixture is pinned.
So the M-step of the batch adds its expected counts to those remembered, rho S + s: stepwise EM
(Liang & Klein, 2009; Cappé & Moulines, 2009), and by the chain rule the same for feature topics.
Steps within a batch are repeated, which is incremental EM (Neal & Hinton, 1998), and (1) rises.

How much is remembered. A memory of m documents that meets a batch of n becomes one of m' <= m + n:

    rho = (m' - n) / m,     step size n / m'                                                 (2)

With the forgetting f, N documents so far, and b in the largest batch, m' = (N + f b) / (f + 1) at
most: of batches of one size the t-th has the step size (f + 1) / (t + f), which fulfills the
conditions of Robbins and Monro, and batch i weighs about as i^f in the end. With f = 0 nothing is
forgotten: the step size 1 / t is too small for EM, whose early batches were explained by worse
topics, whereas t^-kappa with kappa < 1 remembers a vanishing share of the documents. With f > 0
this share is constant. With a half-life of h documents, rho = 2^(-n / h) whatever N is.

Topics that have never seen a term must be able to learn it, while EM keeps every 0. So a batch
starts from p(w|z) + 10 / C, where C tokens are remembered: as if each term had occurred ten times
more, spread over the topics as all tokens are. A new term then follows the mixtures of its
documents, one that was seen a few times can still change its topics, and one that was seen a
thousand times keeps them. This is where the steps begin, and no part of (1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from coview.em.emissions import Emission, FactoredTopics, Topics
from coview.em.seeds import ViewSeeds
from coview.em.simplex import limits, pad_topics

EXTRA_TOKENS = 10.0  # of each term before a batch: see docs/design.md, Streams
TOKEN_STEPS, TOKEN_TOL = 500, 1e-7


@dataclass(frozen=True)
class StreamState:
    """How far a stream has come, and how many documents of it are remembered."""

    docs: int  # that were seen
    batches: int
    largest: int  # documents of the largest batch
    remembered: float

    @classmethod
    def of_fit(cls, n_docs: int) -> StreamState:
        """Return the state after a fit, which is one batch."""
        return cls(n_docs, 1, n_docs, float(n_docs))

    def after(
        self, n_docs: int, forgetting: float, half_life: float | None = None
    ) -> tuple[StreamState, float]:
        """Return the state after a batch, and rho, what is left of the memory before it: (2).

        >>> first = StreamState.of_fit(100)
        >>> later, rho = first.after(100, forgetting=1.0)
        >>> later.remembered, rho
        (150.0, 0.5)
        >>> first.after(300, forgetting=0.0, half_life=300)[1]
        0.5
        """
        docs, largest = self.docs + n_docs, max(self.largest, n_docs)
        if half_life is None:
            most = (docs + forgetting * largest) / (forgetting + 1)
            remembered = min(self.remembered + n_docs, most)
            rho = (remembered - n_docs) / self.remembered
        else:
            rho = float(2 ** (-n_docs / half_life))
            remembered = rho * self.remembered + n_docs
        return StreamState(docs, self.batches + 1, largest, remembered), rho


@dataclass(eq=False)
class ViewMemory:
    """What earlier documents said of one view, as pseudo-counts of a problem (`Problem.seeds`).

    The M-step shows it the expected counts, whose sums it keeps in `tokens`.
    """

    counts: np.ndarray  # (terms, topics): rho S
    seeds: ViewSeeds
    pseudo: np.ndarray | None  # (terms,) pseudo-counts of a Dirichlet prior, see `em.prior`
    tokens: np.ndarray | None = None  # (topics,) n(z) of the last M-step, with the prior's

    @classmethod
    def of(
        cls,
        p_w_z: np.ndarray,
        tokens: np.ndarray,
        rho: float,
        seeds: ViewSeeds,
        pseudo: np.ndarray | None,
    ) -> ViewMemory:
        """Make the memory of topics (topics, terms) that have seen so many tokens."""
        counts = p_w_z.T.astype(np.float64) * tokens
        if pseudo is not None:  # the M-step adds them again
            counts = np.where(counts > 0, np.maximum(counts - pseudo[:, None], 0), 0)
        return cls(rho * counts, seeds, pseudo)

    def log_prior(self, p_w_z: np.ndarray) -> float:
        """Return the second term of (1), and that of the seeds, from p(w|z) as (terms, topics)."""
        k = self.counts.shape[1]
        logs = np.log(np.maximum(p_w_z[:, :k], limits(p_w_z.dtype).floor), dtype=np.float64)
        return float(np.vdot(self.counts, logs)) + self.seeds.log_prior(p_w_z)

    def add_gradient(self, grad: np.ndarray, p_w_z: np.ndarray) -> None:
        """Add rho S(w,z) / p(w|z), and that of the seeds, to dL/dp(w|z)."""
        k = self.counts.shape[1]
        self.seeds.add_gradient(grad, p_w_z)
        found = np.maximum(p_w_z[:, :k], limits(p_w_z.dtype).floor)
        grad[:, :k] += self.counts / found
        expected = grad[:, :k] * p_w_z[:, :k]
        if self.pseudo is not None:
            expected = np.maximum(expected + self.pseudo[:, None], 0)
        self.tokens = expected.sum(axis=0)


def opened(emission: Emission, n_tokens: float) -> Emission:
    """Return topics in which every term is possible, as if each had occurred some times more."""
    extra = EXTRA_TOKENS / max(n_tokens, 1.0)
    if isinstance(emission, FactoredTopics):
        return replace(
            emission,
            p_y_z=_raised(emission.p_y_z, extra, axis=1),
            p_w_y_by_term=_raised(emission.p_w_y_by_term, extra, axis=0),
        )
    assert isinstance(emission, Topics)
    raised = _raised(emission.over_terms, extra, axis=0)
    return Topics(pad_topics(raised, raised.dtype), emission.n_topics)


def _raised(shares: np.ndarray, extra: float, axis: int) -> np.ndarray:
    return ((shares + extra) / (1 + extra * shares.shape[axis])).astype(shares.dtype)


def tokens_of_topics(p_w_z: np.ndarray, counts: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """Return n(z), how many of the counts (terms,) are of each topic (topics, terms).

    EM leaves sum_z p(w|z) n(z) = counts(w). So n(z) maximizes sum_w counts(w) log of the left side,
    which is concave, and EM finds it, from a guess (topics,) that is close already.

    >>> p_w_z = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]])
    >>> tokens_of_topics(p_w_z, np.array([4.0, 6.0, 6.0]), np.ones(2)).round(3)
    array([8., 8.])
    """
    topics, total = p_w_z.astype(np.float64), counts.sum()
    tokens = np.maximum(guess, 1e-6 * guess.sum()).astype(np.float64)
    tokens *= total / max(tokens.sum(), np.finfo(float).tiny)
    for _ in range(TOKEN_STEPS):
        expected = tokens @ topics
        ratio = np.divide(counts, expected, out=np.zeros_like(expected), where=expected > 0)
        new = tokens * (topics @ ratio)
        change, tokens = np.abs(new - tokens).sum(), new
        if change <= TOKEN_TOL * total:
            break
    return tokens


def topic_shift(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return how far each topic of each view has moved, (topics, views), from 0 to 1.

    The share of its probability that is at other terms now; terms may have been added.

    >>> topic_shift({"en": np.array([[0.5, 0.5]])}, {"en": np.array([[0.5, 0.25, 0.25]])})
    array([[0.25]])
    """
    moved = []
    for name, old in before.items():
        new = after[name].astype(np.float64)
        known = np.abs(new[:, : old.shape[1]] - old).sum(axis=1)
        moved.append((known + new[:, old.shape[1] :].sum(axis=1)) / 2)
    return np.stack(moved, axis=1)
