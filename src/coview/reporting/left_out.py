"""Training documents under topics that were learned without them: see `kernels.left_out`.

A document of the fit has shaped its topics: its rare words are words of its topics because it has
them. Folded in by one view alone it would find these topics again, also if the view is not its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reporting.folding import SMOOTHING, token_mixtures
from coview.reporting.terms import term_shares
from coview.runners.threads import ThreadRunner

BLOCK = 1_000  # documents that a thread works on at a time


@dataclass(frozen=True)
class LeftOut:
    """One view of the training documents, and what it has added to the topics."""

    model: Any
    name: str
    counts: sp.csr_array
    theta: np.ndarray  # (documents, topics) mixtures of the tokens in the fit
    by_term: np.ndarray  # (terms, topics)
    mass: np.ndarray  # (topics,)

    @classmethod
    def of(cls, model: Any, name: str, counts: sp.csr_array) -> LeftOut:
        """Return a view of the documents that a model was fitted to, as the model works on it."""
        from coview.kernels.left_out import add_topic_mass

        by_term = np.ascontiguousarray(model.components_[name].T)
        theta = token_mixtures(model, model.view_doc_topic_[name], name)
        theta = np.ascontiguousarray(theta, by_term.dtype)
        mass = np.zeros(theta.shape[1])
        add_topic_mass(counts.indptr, counts.indices, counts.data, theta, by_term, mass)
        return cls(model, name, counts, theta, by_term, mass)

    def mixtures(self) -> np.ndarray:
        """Return mixtures by this view alone, (documents, topics)."""
        from coview.kernels.left_out import fold_in_left_out

        model, out = self.model, np.empty(self.theta.shape)
        scale = token_mixtures(model, np.ones((1, self.theta.shape[1])), self.name)[0]
        # a prior weighs against weighted tokens
        prior = (model.doc_topic_prior - 1) / max(model.view_weights_[self.name], 1e-12)
        ending = float(prior), int(model.fold_in_max_iter), float(model.fold_in_tol)
        self._each(fold_in_left_out, scale.astype(np.float64), *ending, out)
        return out.astype(self.by_term.dtype)

    def log_likelihoods(self, mixtures: np.ndarray) -> np.ndarray:
        """Return what `folding.log_likelihoods` has, under topics without each document."""
        from coview.kernels.left_out import log_likelihoods_left_out

        mixed = token_mixtures(self.model, mixtures, self.name).astype(np.float64)
        mixed /= np.maximum(mixed.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        out = np.empty((len(mixed), 3))
        usual = term_shares(self.model, self.name)
        self._each(log_likelihoods_left_out, usual, SMOOTHING, mixed, out)
        return out

    def _each(self, kernel: Any, *arguments: Any) -> None:
        """Run a kernel over blocks of documents."""
        counts, n = self.counts, len(self.theta)
        shared = counts.indptr, counts.indices, counts.data, self.theta, self.by_term, self.mass

        def work(begin: int) -> None:
            kernel(begin, min(begin + BLOCK, n), *shared, *arguments)

        with ThreadRunner(self.model.n_jobs) as run:
            list(run(work, range(0, n, BLOCK)))
