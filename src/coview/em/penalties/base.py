"""Penalty: what a model subtracts from the likelihood, and the M-step of the mixtures under it.

The objective of every model is log-likelihood - penalty. A penalty sees mixtures as a tuple of
arrays (documents, topics), one for each slot of the problem, and takes their M-step.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from coview.em.simplex import row_normalize

Packed = tuple[dict[str, Any], dict[str, np.ndarray], dict[str, np.ndarray]]


class Penalty:
    """No penalty, which is plain EM; also the base class of all penalties.

    A penalty writes `value` and `m_step`. The other hooks have defaults: `at` for penalties with an
    entry for each document, `pack` and `unpack` for those that clusters work with, the others for
    penalties with parameters of their own (weights of graphs, say), which `refresh` fits, or with
    something to report.

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
        """Return the penalty at these mixtures; a sum over documents when row_local."""
        return 0.0

    def m_step(
        self,
        counts: tuple[np.ndarray, ...],
        thetas: tuple[np.ndarray, ...],
        present: np.ndarray,
        pinned: np.ndarray | None,
    ) -> tuple[np.ndarray, ...]:
        """Return new mixtures from expected counts n(d,z), which may be overwritten.

        Here p(z|d) = n(d,z) / n(d), as in plain EM. Pinned documents keep their mixtures, and so
        do documents without counts.
        """
        # (4) of PLSA and LinkPLSA, (17) of Zhuang et al. (2012), (6) of Wang et al. (2016)
        return tuple(row_normalize(c, old, pinned) for c, old in zip(counts, thetas, strict=True))

    def at(self, docs: slice | np.ndarray) -> "Penalty":
        """Return the penalty of some documents only; called on row_local penalties alone."""
        return self

    def pack(self) -> Packed:
        """Return the penalty for other processes: `unpack` makes it again from some documents.

        Returns
        -------
        settings : dict
            Data for JSON; floats come back with all their bits.
        shared : dict of ndarray
            What all documents share.
        by_document : dict of ndarray of shape (documents, ...)
        """
        if type(self).pack is Penalty.pack and type(self) is not Penalty:
            raise TypeError(
                f"{type(self).__name__} cannot be taken to a cluster: it does not say how "
                "(`pack` and `unpack`). Fit without a runner."
            )
        return {}, {}, {}

    @classmethod
    def unpack(cls, settings: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "Penalty":
        """Return the penalty of the documents whose arrays are given beside the shared ones."""
        return cls(**settings, **arrays)

    @property
    def parameters(self) -> tuple[float, ...]:
        """The parameters that `refresh` fits."""
        return ()

    def with_parameters(self, parameters: tuple[float, ...]) -> "Penalty":
        """Return the penalty with these `parameters`, as a checkpoint has kept them."""
        return self

    def refresh(self, thetas: tuple[np.ndarray, ...]) -> "Penalty":
        """Return the penalty with its own parameters fitted to these mixtures."""
        return self

    def kl_roughness(self, thetas: tuple[np.ndarray, ...]) -> float | None:
        """Return how much neighbors in a graph differ, for the trace; None without a graph."""
        return None
