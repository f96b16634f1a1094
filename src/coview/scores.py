"""Likelihood of documents that a model has not seen, and how many words it does not know.

Unsmoothed PLSA gives minus infinity to a word that no topic of the document has, so a little of
the corpus distribution is mixed into every topic; words that never occurred in training are left
out, and their share is reported.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.step import em_step
from coview.params import check_real, seed_of
from coview.runners.threads import ThreadRunner
from coview.views.checks import DataWarning

WORTH_A_WARNING = 0.01  # share of the counts; folds of a cross-validation always lose a little


def smoothed(p_w_z: np.ndarray, term_counts: np.ndarray, smoothing: float) -> np.ndarray:
    """p(w|z) with a share `smoothing` of the corpus distribution."""
    corpus = term_counts / max(term_counts.sum(), np.finfo(float).tiny)  # a view may have no counts
    return ((1 - smoothing) * p_w_z + smoothing * corpus).astype(p_w_z.dtype)


def warn_of_unseen(data: Prepared, unseen: dict[str, np.ndarray]) -> None:
    """Warn of views much of whose mass is of terms that never occurred in training."""
    for name, matrix in zip(data.names, data.matrices, strict=True):
        lost = matrix.data[_is_unseen(matrix, unseen[name])].sum(dtype=np.float64)
        total = matrix.sum(dtype=np.float64)
        if lost > WORTH_A_WARNING * total:
            warnings.warn(
                f"View {name!r}: {lost / total:.1%} of the counts are of terms that never occurred "
                "in training; they are left out.",
                DataWarning,
                stacklevel=5,
            )


def without_unseen(data: Prepared, unseen: dict[str, np.ndarray]) -> Prepared:
    """The data without terms that never occurred in training."""
    kept = []
    for name, matrix in zip(data.names, data.matrices, strict=True):
        if len(unseen[name]):
            values = np.where(_is_unseen(matrix, unseen[name]), 0, matrix.data)
            matrix = _with_values(matrix, values)
        kept.append(matrix)
    return replace(data, matrices=tuple(kept))


def _is_unseen(matrix, unseen):
    mask = np.zeros(matrix.shape[1], bool)
    mask[unseen] = True
    return mask[matrix.indices]


def split_tokens(data: Prepared, share: float, seed: int) -> tuple[Prepared, Prepared]:
    """Each document's tokens at random in two parts, the second with `share` of them.

    Whole counts are split token by token; other weights keep each non-zero in one piece.
    """
    rng = np.random.default_rng(seed)
    pairs = [_split(m, share, rng) for m in data.matrices]
    first, second = (tuple(p[i] for p in pairs) for i in (0, 1))
    return replace(data, matrices=first), replace(data, matrices=second)


def _split(matrix, share, rng):
    if (matrix.data == np.rint(matrix.data)).all():
        held = rng.binomial(matrix.data.astype(np.int64), share).astype(matrix.dtype)
    else:
        held = np.where(rng.random(matrix.nnz) < share, matrix.data, 0).astype(matrix.dtype)
    return [_with_values(matrix, values) for values in (matrix.data - held, held)]


def _with_values(matrix, values):
    """A matrix with other values in its places, without those that are 0."""
    new = sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
    new.eliminate_zeros()
    return new


class ScoresMixin:
    """`score` and `perplexity` of a fitted model."""

    components_: dict[str, np.ndarray]
    term_counts_: dict[str, np.ndarray]
    unseen_terms_: dict[str, np.ndarray]
    n_jobs: int | None
    _new_data: Callable[..., Prepared]
    _fold_in: Callable[..., tuple[Problem, Prepared]]

    def score(self, X, y=None, *, smoothing: float = 0.01) -> float:
        """Mean log-likelihood of a token, over all views, after folding the documents in.

        Parameters
        ----------
        X : as in `transform`
        y : ignored
        smoothing : float, default=0.01
            Share of the corpus distribution mixed into every topic. Words that never occurred
            in training are left out; a warning gives their share if it is above 1 %.
        """
        data = without_unseen(self._new_data(X), self.unseen_terms_)
        return self._mean_log_likelihood(data, data, smoothing)

    def perplexity(
        self, X, *, holdout: float = 0.5, smoothing: float = 0.01, random_state: int = 0
    ) -> float:
        """exp of minus the mean log-likelihood of tokens that were not used for folding in.

        A share `holdout` of each document's tokens is set aside at random; the document is folded
        in on the others. See `score` for `smoothing`.
        """
        check_real("holdout", holdout, 0.0, 1.0)
        data = without_unseen(self._new_data(X), self.unseen_terms_)
        seen, held = split_tokens(data, holdout, seed_of(random_state))
        return float(np.exp(-self._mean_log_likelihood(seen, held, smoothing)))

    def _mean_log_likelihood(self, seen: Prepared, held: Prepared, smoothing: float) -> float:
        check_real("smoothing", smoothing, 0.0, 1.0)
        components = {
            name: smoothed(self.components_[name], self.term_counts_[name], smoothing)
            for name in seen.names
        }
        problem, _ = self._fold_in(seen, components)
        plain = replace(held.cut(columns=False), weights=(1.0,) * len(held.names))
        problem = replace(problem, blocks=plain.blocks, weights=plain.weights)
        n_tokens = sum(m.sum(dtype=np.float64) for m in plain.matrices)
        if n_tokens == 0:
            raise ValueError("There is nothing to score: no document has a known term.")
        with ThreadRunner(self.n_jobs) as run:
            values = em_step(problem, run, "nothing").values
        return float(values.log_likelihoods.sum() / n_tokens)
