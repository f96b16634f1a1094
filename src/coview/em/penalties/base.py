"""Penalties: what a model adds to the likelihood, as a value and a step for the mixtures.

The objective of every model is log-likelihood - penalty. A penalty sees mixtures as a tuple of
arrays (documents, topics), one for each slot of the problem, and answers for their M-step.
"""

import numpy as np

from coview.em.simplex import row_normalize


class Penalty:
    """No penalty; also the base class of all penalties.

    Attributes
    ----------
    row_local : bool
        True when the penalty couples views of one document only. The step is then taken block by
        block (and document by document when new documents are folded in). False when it
        couples different documents: the step sees all of them.
    monotone : bool
        Whether `m_step` promises not to lower the objective. The contract tests read it.
    """

    row_local: bool = True
    monotone: bool = True

    def value(self, thetas: tuple[np.ndarray, ...], present: np.ndarray) -> float:
        """The penalty at these mixtures; a sum over documents when row_local."""
        return 0.0

    def m_step(
        self,
        counts: tuple[np.ndarray, ...],
        thetas: tuple[np.ndarray, ...],
        present: np.ndarray,
        pinned: np.ndarray | None,
    ) -> tuple[np.ndarray, ...]:
        """New mixtures from expected counts n(d,z), which may be overwritten.

        Pinned documents keep their mixture as a boundary condition of the step, and a document
        without counts keeps its own.
        """
        return tuple(row_normalize(c, old, pinned) for c, old in zip(counts, thetas, strict=True))

    def at(self, docs) -> "Penalty":
        """The penalty of some documents only, for one that is row_local and knows its documents."""
        return self

    @property
    def parameters(self) -> tuple[float, ...]:
        """The parameters that `refresh` fits."""
        return ()

    def with_parameters(self, parameters: tuple[float, ...]) -> "Penalty":
        """The penalty with parameters that it had before, as a checkpoint kept them."""
        return self

    def refresh(self, thetas: tuple[np.ndarray, ...]) -> "Penalty":
        """The penalty with its own parameters (graph weights, say) fitted to these mixtures."""
        return self
