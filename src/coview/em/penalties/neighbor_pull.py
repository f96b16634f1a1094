r"""NeighborPull: new documents are drawn to the mixtures of their neighbors, which do not move.

The row of Eq. 15 of Wang et al. (2017) that belongs to a new document d, with its neighbors s among
the training documents, their mixtures h_s and the weights E_ds of the edges held fixed, is

    (n(d) + lambda sum_s E_ds) h_d = n(d, .) + a_d,    a_d = lambda sum_s E_ds h_s            (15)

so the neighbors add their pull a_d to the expected counts. Together with the E-step this is EM for
the likelihood of the document plus

    sum_k a_dk log h_dk,

a Dirichlet prior with the pseudo-counts a_d: a concave function, which no step lowers. The fixed
point is therefore the same from any start.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from coview.em.penalties.base import Penalty
from coview.em.simplex import row_normalize


@dataclass(frozen=True, eq=False)
class NeighborPull(Penalty):
    """The pull of fixed neighbors on each document, of a single slot of mixtures.

    Attributes
    ----------
    pull : ndarray of shape (documents, topics)
        a_d: zeros for a document without neighbors, which is plain EM.

    Examples
    --------
    >>> penalty = NeighborPull(np.array([[0.0, 2.0]]))
    >>> counts, old, present = np.array([[1.0, 1.0]]), np.array([[0.5, 0.5]]), np.ones((1, 1), bool)
    >>> penalty.m_step((counts,), (old,), present, None)[0]
    array([[0.25, 0.75]])
    """

    pull: np.ndarray = field(repr=False)

    def at(self, docs: slice | np.ndarray) -> "NeighborPull":
        """Return the penalty of some documents, a slice or an array of positions."""
        return replace(self, pull=self.pull[docs])

    def value(self, thetas: tuple[np.ndarray, ...], present: np.ndarray) -> float:
        """Return - sum a log h."""
        from scipy.special import xlogy

        return -float(xlogy(self.pull, thetas[0], dtype=np.float64).sum())

    def m_step(
        self,
        counts: tuple[np.ndarray, ...],
        thetas: tuple[np.ndarray, ...],
        present: np.ndarray,
        pinned: np.ndarray | None,
    ) -> tuple[np.ndarray, ...]:
        """Return the mixtures of (15)."""
        (expected,), (old,) = counts, thetas
        np.add(expected, self.pull, out=expected, casting="same_kind")
        return (row_normalize(expected, old, pinned),)  # (15)
