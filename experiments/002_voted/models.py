"""The first stage of voted-PLSA on its own, for Table 1 of paper 002."""

from __future__ import annotations

from typing import Any

import numpy as np

from coview import VotedPLSA


class FirstStage(VotedPLSA):
    """VotedPLSA up to the vote.

    Attributes
    ----------
    labels_ : ndarray of int of shape (documents,)
        Clusters of the documents assigned by vote. Each of the others is a cluster of its own, so
        that the purity of those assigned follows from the purity of all.
    objective_ : float
        Share of documents assigned: comparisons record the objective.
    """

    def fit(self, X: Any, y: Any = None):
        super().fit(X)
        others = np.flatnonzero(self.preassigned_ < 0)
        self.labels_ = self.preassigned_.copy()
        self.labels_[others] = self.n_components + np.arange(len(others))
        self.objective_ = self.coverage_
        return self
