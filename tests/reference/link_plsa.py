"""Link-PLSA (Cohn and Hofmann 2001, as used in 003): one p(z|d) shared by all views.

p_v(w|d) = sum_z p_v(w|z) p(z|d),    L = sum_v alpha_v sum_dw n_v(d,w) log p_v(w|d)
"""

import numpy as np

from tests.reference import plsa
from tests.reference.simplex import (
    all_present,
    keep_pinned,
    normalize_rows,
    rows_of_present,
    view_weights,
)


def log_likelihood(Xs, theta, p_w_zs, alpha=None, present=None):
    """sum_v alpha_v sum over documents with view v of n_v(d,w) log p_v(w|d)."""
    alpha, present = view_weights(alpha, len(Xs)), all_present(present, len(theta), len(Xs))
    total = 0.0
    for v, X in enumerate(Xs):
        if alpha[v] > 0:
            X = rows_of_present(X, present[:, v])
            total += alpha[v] * plsa.log_likelihood(X, theta, p_w_zs[v])
    return total


def expected_counts(Xs, theta, p_w_zs, present=None):
    """n_v(d,w) p_v(z|d,w) for each view, a list of (D, W_v, K); 0 where the view is absent."""
    present = all_present(present, len(theta), len(Xs))
    counts = []
    for v, X in enumerate(Xs):
        X = rows_of_present(X, present[:, v])
        counts.append(plsa.expected_counts(X, theta, p_w_zs[v]))
    return counts


def m_step_theta(counts, theta, alpha=None, pinned=None):
    """p(z|d) ∝ sum_v alpha_v sum_w n_v(d,w) p_v(z|d,w)."""
    alpha = view_weights(alpha, len(counts))
    total = np.zeros_like(theta)
    for v, counts_v in enumerate(counts):
        total += alpha[v] * counts_v.sum(axis=1)
    return keep_pinned(normalize_rows(total, theta), theta, pinned)


def m_step_emissions(counts, p_w_zs):
    """p_v(w|z) ∝ sum_d n_v(d,w) p_v(z|d,w), view by view (alpha_v cancels)."""
    return [plsa.m_step_emissions(c, p) for c, p in zip(counts, p_w_zs, strict=True)]


def link_plsa(Xs, theta, p_w_zs, n_iter, alpha=None, present=None, pinned=None):
    """Joint EM; states (theta, list of p_w_z)."""
    states, values = [], [log_likelihood(Xs, theta, p_w_zs, alpha, present)]
    for _ in range(n_iter):
        counts = expected_counts(Xs, theta, p_w_zs, present)
        theta = m_step_theta(counts, theta, alpha, pinned)
        p_w_zs = m_step_emissions(counts, p_w_zs)
        states.append((theta, p_w_zs))
        values.append(log_likelihood(Xs, theta, p_w_zs, alpha, present))
    return states, values


def fold_in(Xs, theta, p_w_zs, n_iter, alpha=None, present=None):
    """p_v(w|z) fixed, any subset of the views through `present`; states theta."""
    states, values = [], [log_likelihood(Xs, theta, p_w_zs, alpha, present)]
    for _ in range(n_iter):
        theta = m_step_theta(expected_counts(Xs, theta, p_w_zs, present), theta, alpha)
        states.append(theta)
        values.append(log_likelihood(Xs, theta, p_w_zs, alpha, present))
    return states, values
