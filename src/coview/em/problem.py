"""Problem: data, parameters and penalty of a model as one value, which EM maximizes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coview.em.emissions import Emission
from coview.em.penalties.base import Penalty
from coview.em.prepared import Block, Prepared
from coview.em.prior import Prior
from coview.em.seeds import Seeds


@dataclass(frozen=True)
class Problem:
    """Data and parameters of one model at one moment; a step makes a new one.

    View v is modeled by p(w|d) = sum_z thetas[slots[v]][d, z] emissions[v](w|z). All views in one
    slot share a mixture; with a slot for each view only the penalty couples the mixtures.

    Attributes
    ----------
    blocks : tuple of Block
        The documents, all views, cut into row ranges.
    emissions : tuple of Emission
        One for each view.
    thetas : tuple of ndarray of shape (documents, padded topics)
        One for each slot; the columns beyond n_topics are zero.
    slots : tuple of int
        Which of the mixtures each view uses.
    weights : tuple of float
        Weight of each view's likelihood; counts reach the penalty already weighted.
    present : ndarray of bool, shape (documents, views)
        Which views each document has.
    penalty : Penalty
    prior : Prior
        Dirichlet priors of mixtures and topics.
    pinned : ndarray of bool, shape (documents,), or None
        Documents whose mixtures do not move.
    concatenated : bool
        Whether p(w|z) sums to one over all views together, as if they were one.
    carried_penalty : float or None
        After a step that refreshed the penalty's own parameters: the penalty of the new mixtures
        under the old ones, with which the objective before the step can be compared.
    seeds : tuple of ViewSeeds or None
        Pseudo-counts of the topics' words, one for each view.
    once : tuple of bool or None
        Documents are counted instead of a step taken: in which views each count is one of a
        document, however large it is. See `em.term_documents`.
    spare : list or None
        Gradients of the last step, whose memory the next one takes: fresh memory costs a tenth of a
        step with hundreds of topics. None: they are not kept.
    """

    blocks: tuple[Block, ...] = field(repr=False)
    emissions: tuple[Emission, ...] = field(repr=False)
    thetas: tuple[np.ndarray, ...] = field(repr=False)
    slots: tuple[int, ...]
    weights: tuple[float, ...]
    present: np.ndarray = field(repr=False)
    penalty: Penalty = field(default_factory=Penalty)
    prior: Prior = field(default_factory=Prior)
    pinned: np.ndarray | None = field(default=None, repr=False)
    concatenated: bool = False
    carried_penalty: float | None = None
    seeds: Seeds | None = field(default=None, repr=False)
    once: tuple[bool, ...] | None = None
    spare: list[Any] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        data: Prepared,
        emissions: Iterable[Emission],
        thetas: Iterable[np.ndarray],
        slots: Iterable[int],
        penalty: Penalty | None = None,
        concatenated: bool = False,
    ) -> "Problem":
        """Make the problem of these parameters on prepared data; by default with its penalty."""
        return cls(
            blocks=data.blocks,
            emissions=tuple(emissions),
            thetas=tuple(thetas),
            slots=tuple(slots),
            weights=data.weights,
            present=data.present,
            penalty=data.penalty if penalty is None else penalty,
            prior=data.prior,
            pinned=data.pinned,
            concatenated=concatenated,
            seeds=data.seeds,
        )

    @property
    def n_topics(self) -> int:
        """The number of topics, without padding."""
        return self.emissions[0].n_topics

    @property
    def mixtures(self) -> tuple[np.ndarray, ...]:
        """The thetas without their padding; they share its memory."""
        return tuple(theta[:, : self.n_topics] for theta in self.thetas)
