"""`score` and `perplexity`: the likelihood of documents under a fitted model.

Unsmoothed PLSA gives minus infinity to a word that no topic of the document has, so a share
`smoothing` of the corpus distribution p(w) is mixed into every topic,

    p'(w|z) = (1 - smoothing) p(w|z) + smoothing p(w).

Words that never occurred in training are left out; a warning tells if most are such.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.prepared import Prepared
from coview.em.step import em_step
from coview.em.unseen_terms import with_values, without_unseen
from coview.new_documents import NewDocumentsMixin
from coview.params import check_real, seed_of
from coview.runners.threads import ThreadRunner


class ScoresMixin(NewDocumentsMixin):
    """`score` and `perplexity` of a fitted model."""

    term_counts_: dict[str, np.ndarray]

    def score(self, X: Any, y: Any = None, *, smoothing: float = 0.01) -> float:
        """Return the mean log-likelihood of a token, over all views, after folding in.

        Parameters
        ----------
        X : as in `transform`
        y : ignored
            Present for scikit-learn.
        smoothing : float, default=0.01
            Share of the corpus distribution mixed into every topic. Words that never occurred
            in training are left out; a warning tells if more than half of a view is such.

        Returns
        -------
        float
            Larger is better.
        """
        data = without_unseen(self._new_data(X), self.unseen_terms_)
        return self._mean_log_likelihood(data, data, smoothing)

    def perplexity(
        self, X: Any, *, holdout: float = 0.5, smoothing: float = 0.01, random_state: int = 0
    ) -> float:
        """Return exp of minus the mean log-likelihood of tokens not used for folding in.

        Parameters
        ----------
        X : as in `transform`
        holdout : float, default=0.5
            Share of each document's tokens that is set aside at random. The document is folded
            in on the others, and the perplexity is that of the tokens set aside.
        smoothing : float, default=0.01
            As in `score`.
        random_state : int, Generator, RandomState or None, default=0
            Seed of the split.

        Returns
        -------
        float
            Smaller is better.
        """
        check_real("holdout", holdout, 0.0, 1.0)
        data = without_unseen(self._new_data(X), self.unseen_terms_)
        seen, held = split_tokens(data, holdout, seed_of(random_state))
        return float(np.exp(-self._mean_log_likelihood(seen, held, smoothing)))

    def _mean_log_likelihood(self, seen: Prepared, held: Prepared, smoothing: float) -> float:
        """Fold in on the `seen` tokens; return the mean log-likelihood of the `held` ones."""
        check_real("smoothing", smoothing, 0.0, 1.0)
        components = {
            name: smoothed(self.components_[name], self.term_counts_[name], smoothing)
            for name in seen.names
        }
        problem, _ = self._fold_in_data(seen, components)
        # every token counts once, whatever the weight of its view in the fit
        plain = replace(held.cut(columns=False), weights=(1.0,) * len(held.names))
        problem = replace(problem, blocks=plain.blocks, weights=plain.weights)
        n_tokens = sum(m.sum(dtype=np.float64) for m in plain.matrices)
        if n_tokens == 0:
            raise ValueError("There is nothing to score: no document has a known term.")
        with ThreadRunner(self.n_jobs) as run:
            values = em_step(problem, run, "nothing").values
        return float(values.log_likelihoods.sum() / n_tokens)


def smoothed(p_w_z: np.ndarray, term_counts: np.ndarray, smoothing: float) -> np.ndarray:
    """Return p(w|z) with a share `smoothing` of the corpus distribution."""
    corpus = term_counts / max(term_counts.sum(), np.finfo(float).tiny)  # a view may have no counts
    return ((1 - smoothing) * p_w_z + smoothing * corpus).astype(p_w_z.dtype)


def split_tokens(data: Prepared, share: float, seed: int) -> tuple[Prepared, Prepared]:
    """Split each document's tokens at random in two parts, the second with `share` of them.

    Whole counts are split token by token; other weights keep each non-zero in one piece.
    """
    rng = np.random.default_rng(seed)
    pairs = [_split(m, share, rng) for m in data.matrices]
    first, second = (tuple(p[i] for p in pairs) for i in (0, 1))
    return replace(data, matrices=first), replace(data, matrices=second)


def _split(
    matrix: sp.csr_array, share: float, rng: np.random.Generator
) -> tuple[sp.csr_array, sp.csr_array]:
    if (matrix.data == np.rint(matrix.data)).all():
        held = rng.binomial(matrix.data.astype(np.int64), share).astype(matrix.dtype)
    else:
        held = np.where(rng.random(matrix.nnz) < share, matrix.data, 0).astype(matrix.dtype)
    return with_values(matrix, matrix.data - held), with_values(matrix, held)
