r"""Prior: Dirichlet priors of mixtures and topics, and guesses of mixtures.

With a symmetric Dirichlet prior of parameter a for every mixture p(z|d), and one of parameter b for
every topic p(w|z) (every feature topic p(w|y) in models that have them), EM maximizes

    log-likelihood - penalty + (a - 1) sum_{d,z} log p(z|d)
                             + (b - 1) sum_v alpha_v sum_{z,w} log p(w|z,v)

and the expected counts of an M-step become

    n(d,z)  ->  max(0, n(d,z) + a - 1)          n(w,z)  ->  max(0, n(w,z) + b - 1)

Above 1 this is smoothing by pseudo-counts: the steps are exact, and the objective never falls. At 1
nothing happens, bit by bit. Below 1 the density is infinite where a share is 0. There the step is
the usual clipping: a share with fewer than 1 - a expected counts becomes 0, for good; if all
have fewer, the largest takes all. Logarithms are floored at that of `limits(dtype).tiny`. The
clipped step maximizes the floored bound, but the likelihood of a word that lost its last topic has
another floor, so that ascent is not promised.

alpha_v is the weight of a view: a pseudo-count is a token of that view, whatever its weight. The
mixture of a document without counts has no prior; neither has a pinned one, nor a term that never
occurs, whose probability stays 0.

A guess q(z|d) of each mixture, such as that of a classifier, is a prior of that document alone:
with strength s and n(d) the document's weighted tokens, in models with a mixture for each view
those of the view,

    + s sum_d n(d) sum_z q(z|d) log p(z|d)            n(d,z)  ->  n(d,z) + s n(d) q(z|d)

so p(z|d) becomes (n(d,z) / n(d) + s q(z|d)) / (1 + s): the guess has s votes, the counts have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from coview.em.simplex import limits


class _OverTerms(Protocol):
    @property
    def over_terms(self) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class Prior:
    """Symmetric Dirichlet priors of all mixtures and of all topics, and guesses of mixtures.

    Attributes
    ----------
    doc_topic : float
        The parameter a of p(z|d); 1 is no prior.
    topic_word : float
        The parameter b of p(w|z), or of p(w|y) where there are feature topics; 1 is no prior.
    seen : tuple of ndarray of bool of shape (terms,)
        Which terms of each view occur; needed unless `topic_word` is 1.
    guess : ndarray of shape (documents, topics), or None
        The guess q(z|d) of each mixture.
    strength : float
        The strength s of the guess.

    Examples
    --------
    >>> counts = np.array([[3.0, 0.4, 0.6], [0.3, 0.2, 0.0], [0.0, 0.0, 0.0]])
    >>> Prior(doc_topic=0.5).add_to_mixtures((counts,))
    >>> counts.round(1)
    array([[2.5, 0. , 0.1],
           [0.3, 0. , 0. ],
           [0. , 0. , 0. ]])
    """

    doc_topic: float = 1.0
    topic_word: float = 1.0
    seen: tuple[np.ndarray, ...] = field(default=(), repr=False)
    guess: np.ndarray | None = field(default=None, repr=False)
    strength: float = 0.0

    @property
    def monotone(self) -> bool:
        """Whether a step promises not to lower the objective."""
        return self.doc_topic >= 1 and self.topic_word >= 1

    def with_view(self, n_terms: int) -> Prior:
        """Return the prior for one more view, an internal one, whose topics have none."""
        return replace(self, seen=(*self.seen, np.zeros(n_terms, bool))) if self.seen else self

    def without_last_view(self) -> Prior:
        """Return the prior for all views but the last."""
        return replace(self, seen=self.seen[:-1])

    def at(self, docs: slice | np.ndarray) -> Prior:
        """Return the prior of some documents only."""
        return self if self.guess is None else replace(self, guess=self.guess[docs])

    def add_to_mixtures(self, counts: Sequence[np.ndarray]) -> None:
        """Add the guess and a - 1 to expected counts n(d,z) in place; not to rows without any.

        The sums are clipped at 0.
        """
        from coview.kernels.simplex import add_to_rows

        if self.guess is not None:
            for slot in counts:
                slot += self.strength * slot.sum(axis=1, keepdims=True) * self.guess
        if self.doc_topic != 1:
            for slot in counts:
                add_to_rows(slot, self.doc_topic - 1)

    def of_mixtures(
        self,
        thetas: Sequence[np.ndarray],
        counts: Sequence[np.ndarray],
        pinned: np.ndarray | None,
    ) -> float:
        """Return the log prior of mixtures, without documents that are pinned or lack counts."""
        if self.doc_topic == 1 and self.guess is None:
            return 0.0
        total = 0.0
        for theta, slot in zip(thetas, counts, strict=True):
            free = (slot > 0).any(axis=1)
            free = free if pinned is None else free & ~pinned
            total += (self.doc_topic - 1) * _sum_of_logs(theta[free])
            if self.guess is not None:
                tokens = slot[free].sum(axis=1, keepdims=True, dtype=np.float64)
                logs = _logs(theta[free]) * self.guess[free] * tokens
                total += self.strength * float(logs.sum(dtype=np.float64))
        return total

    def pseudo_counts(self, v: int) -> np.ndarray | None:
        """Return what is added to the expected counts of each term of a view; None for nothing."""
        return None if self.topic_word == 1 else np.where(self.seen[v], self.topic_word - 1, 0.0)

    def of_topics(self, emissions: Sequence[_OverTerms], weights: Sequence[float]) -> float:
        """Return the log prior of topics, each view with its weight, without terms not seen."""
        if self.topic_word == 1:
            return 0.0
        views = zip(emissions, weights, self.seen, strict=True)
        total = sum(w * _sum_of_logs(e.over_terms[seen]) for e, w, seen in views)
        return (self.topic_word - 1) * total


def _logs(shares: np.ndarray) -> np.ndarray:
    """Return the logarithms of shares, floored."""
    return np.log(np.maximum(shares, limits(shares.dtype).tiny))


def _sum_of_logs(shares: np.ndarray) -> float:
    """Return the sum of the logarithms of shares, floored, in double precision."""
    return float(_logs(shares).sum(dtype=np.float64))
