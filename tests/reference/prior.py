"""MAP-EM with symmetric Dirichlet priors, a of p(z|d) and b of p(w|z) or p(w|y), entry by entry.

    O = log-likelihood + (a - 1) sum log p(z|d) + (b - 1) sum_v alpha_v sum log p_v(w|z)

Parameters below 1 take 1 - a from each expected count: below 0 it is 0, and where none is left the
largest takes all. `tiny` is what a share of 0 counts as in O. Mixtures of documents without counts
or with pins, and terms that never occur, have no prior.
"""

import math

import numpy as np

from tests.reference import link_plsa, mvplsa
from tests.reference.simplex import keep_pinned, normalize_rows


def add(row, excess):
    """A row of counts, each plus its excess (a number, or one by entry), not below 0."""
    excess = np.broadcast_to(excess, len(row))
    new = [max(0.0, c + e) for c, e in zip(row, excess, strict=True)]
    if sum(new) == 0 and max(row) > 0:
        new[int(np.argmax(row))] = max(row)
    return np.array(new)


def add_to_documents(counts, a):
    """`add` of a - 1 to n(d,z), but not to documents without counts."""
    return np.array([add(row, a - 1) if row.sum() > 0 else row for row in counts])


def log_prior_of_mixtures(Xs, theta, a, pinned, tiny):
    total = 0.0
    for d in range(len(theta)):
        if any(X[d].sum() > 0 for X in Xs) and not (pinned is not None and pinned[d]):
            total += sum(math.log(max(p, tiny)) for p in theta[d])
    return (a - 1) * total


def log_prior_of_topics(Xs, topics, b, alpha, tiny):
    total = 0.0
    for X, rows, weight in zip(Xs, topics, alpha, strict=True):
        for w in range(X.shape[1]):
            if X[:, w].sum() > 0:
                total += weight * sum(math.log(max(row[w], tiny)) for row in rows)
    return (b - 1) * total


def step_of_topics(X, counts, old, b):
    """Rows of counts (topics, terms) plus b - 1 where the term occurs, normalized."""
    excess = np.where(X.sum(axis=0) > 0, b - 1, 0.0)
    return normalize_rows([add(row, excess) for row in counts], old)


def link_plsa_map(Xs, theta, p_w_zs, n_iter, a, b, alpha, present, pinned, tiny):
    """Link-PLSA with priors; states (theta, list of p_w_z)."""

    def objective():
        return (
            link_plsa.log_likelihood(Xs, theta, p_w_zs, alpha, present)
            + log_prior_of_mixtures(Xs, theta, a, pinned, tiny)
            + log_prior_of_topics(Xs, p_w_zs, b, alpha, tiny)
        )

    states, values = [], [objective()]
    for _ in range(n_iter):
        counts = link_plsa.expected_counts(Xs, theta, p_w_zs, present)
        total = sum(alpha[v] * c.sum(axis=1) for v, c in enumerate(counts))
        theta = keep_pinned(normalize_rows(add_to_documents(total, a), theta), theta, pinned)
        p_w_zs = [
            step_of_topics(X, c.sum(axis=0).T, p, b)
            for X, c, p in zip(Xs, counts, p_w_zs, strict=True)
        ]
        states.append((theta, p_w_zs))
        values.append(objective())
    return states, values


def mvplsa_map(Xs, theta, p_y_zs, p_w_ys, n_iter, a, b, alpha, present, pinned, tiny):
    """MVPLSA with priors, b of the feature topics; states (theta, p_y_zs, p_w_ys)."""

    def objective():
        return (
            mvplsa.log_likelihood(Xs, theta, p_y_zs, p_w_ys, alpha, present)
            + log_prior_of_mixtures(Xs, theta, a, pinned, tiny)
            + log_prior_of_topics(Xs, p_w_ys, b, alpha, tiny)
        )

    states, values = [], [objective()]
    for _ in range(n_iter):
        counts = mvplsa.expected_counts(Xs, theta, p_y_zs, p_w_ys, present)  # axes d, w, z, y
        total = sum(alpha[v] * c.sum(axis=(1, 3)) for v, c in enumerate(counts))
        theta = keep_pinned(normalize_rows(add_to_documents(total, a), theta), theta, pinned)
        p_y_zs = [
            normalize_rows(c.sum(axis=(0, 1)), p) for c, p in zip(counts, p_y_zs, strict=True)
        ]
        p_w_ys = [
            step_of_topics(X, c.sum(axis=(0, 2)).T, p, b)
            for X, c, p in zip(Xs, counts, p_w_ys, strict=True)
        ]
        states.append((theta, p_y_zs, p_w_ys))
        values.append(objective())
    return states, values
