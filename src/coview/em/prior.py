r"""Prior: Dirichlet priors of mixtures and topics, which smooth them or make them sparse.

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
"""

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
    """Symmetric Dirichlet priors of all mixtures and of all topics.

    Attributes
    ----------
    doc_topic : float
        The parameter a of p(z|d); 1 is no prior.
    topic_word : float
        The parameter b of p(w|z), or of p(w|y) where there are feature topics; 1 is no prior.
    seen : tuple of ndarray of bool of shape (terms,)
        Which terms of each view occur; needed unless `topic_word` is 1.

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

    @property
    def monotone(self) -> bool:
        """Whether a step promises not to lower the objective."""
        return self.doc_topic >= 1 and self.topic_word >= 1

    def with_view(self, n_terms: int) -> "Prior":
        """Return the prior for one more view, an internal one, whose topics have none."""
        return replace(self, seen=(*self.seen, np.zeros(n_terms, bool))) if self.seen else self

    def without_last_view(self) -> "Prior":
        """Return the prior for all views but the last."""
        return replace(self, seen=self.seen[:-1])

    def add_to_mixtures(self, counts: Sequence[np.ndarray]) -> None:
        """Add a - 1 to expected counts n(d,z) in place, clipped at 0; not to rows without any."""
        from coview.kernels.simplex import add_to_rows

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
        if self.doc_topic == 1:
            return 0.0
        total = 0.0
        for theta, slot in zip(thetas, counts, strict=True):
            free = (slot > 0).any(axis=1)
            total += _sum_of_logs(theta[free if pinned is None else free & ~pinned])
        return (self.doc_topic - 1) * total

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


def _sum_of_logs(shares: np.ndarray) -> float:
    """Return the sum of the logarithms of shares, floored, in double precision."""
    return float(np.log(np.maximum(shares, limits(shares.dtype).tiny)).sum(dtype=np.float64))
