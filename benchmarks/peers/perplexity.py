"""Held-out perplexity from topics alone: one function for all libraries, never timed.

Document completion: mixtures of new documents are folded in by EM on half of their tokens, and the
other half is predicted. The same smoothing, prior, start and iterations for all.
"""

import numpy as np
from numba import njit

SMOOTHING = 0.01  # the share of the training frequencies in each topic: a zero would be infinity
PSEUDO_COUNT = 0.1  # of each topic in a folded-in mixture
FOLD_IN = 50  # iterations


def perplexity(topics, background, observed, predicted):
    """Return exp(- mean log p(w|d)) over the predicted tokens.

    topics are p(w|z), (topics, terms), background p(w), (terms,), and observed and predicted
    counts in CSR form, (documents, terms).
    """
    smooth = (1 - SMOOTHING) * np.asarray(topics, np.float64) + SMOOTHING * background
    by_term = np.ascontiguousarray((smooth / smooth.sum(axis=1, keepdims=True)).T)
    halves = [(m.indptr, m.indices, m.data.astype(np.float64)) for m in (observed, predicted)]
    total = _log_likelihood(by_term, *halves[0], *halves[1], PSEUDO_COUNT, FOLD_IN)
    return float(np.exp(-total / predicted.sum()))


def background_of(train):
    """Return the frequencies of terms with one added to each count, (terms,)."""
    counts = np.asarray(train.sum(axis=0), dtype=np.float64).ravel() + 1
    return counts / counts.sum()


@njit(cache=True, fastmath={"reassoc", "contract"})
def _log_likelihood(by_term, seen_ptr, seen, seen_n, new_ptr, new, new_n, prior, n_iter):
    n_topics = by_term.shape[1]
    total = 0.0
    theta, counts = np.empty(n_topics), np.empty(n_topics)
    for d in range(len(seen_ptr) - 1):
        theta[:] = 1.0 / n_topics
        for _ in range(n_iter):
            counts[:] = 0.0
            for j in range(seen_ptr[d], seen_ptr[d + 1]):
                p = 0.0
                for k in range(n_topics):
                    p += theta[k] * by_term[seen[j], k]
                r = seen_n[j] / p
                for k in range(n_topics):
                    counts[k] += r * by_term[seen[j], k]
            norm = 0.0
            for k in range(n_topics):
                theta[k] = theta[k] * counts[k] + prior
                norm += theta[k]
            for k in range(n_topics):
                theta[k] /= norm
        for j in range(new_ptr[d], new_ptr[d + 1]):
            p = 0.0
            for k in range(n_topics):
                p += theta[k] * by_term[new[j], k]
            total += new_n[j] * np.log(p)
    return total
