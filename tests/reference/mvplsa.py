"""MVPLSA (004 Eq. 3): one p(z|d) for all views, three factors in each.

    p(f|d,v) = sum_{y,z} p(f|y,v) p(y|z,v) p(z|d),   L = sum_v weight_v sum_df n_v(d,f) log p(f|d,v)

The paper's weights are all one.
"""

import numpy as np

from tests.reference import dual_plsa
from tests.reference.simplex import (
    all_present,
    keep_pinned,
    normalize_rows,
    rows_of_present,
    view_weights,
)


def log_likelihood(Xs, theta, p_y_zs, p_w_ys, weights=None, present=None):
    """004 Eq. 4 without p(d) p(v): sum_v weight_v sum_df n_v(d,f) log p(f|d,v)."""
    weights, present = view_weights(weights, len(Xs)), all_present(present, len(theta), len(Xs))
    total = 0.0
    for v, X in enumerate(Xs):
        if weights[v] > 0:
            X = rows_of_present(X, present[:, v])
            total += weights[v] * dual_plsa.log_likelihood(X, theta, p_y_zs[v], p_w_ys[v])
    return total


def expected_counts(Xs, theta, p_y_zs, p_w_ys, present=None):
    """004 Eq. 9: n_v(d,f) p(y,z|f,d,v) for each view, a list of (D, F_v, K, Y_v)."""
    present = all_present(present, len(theta), len(Xs))
    counts = []
    for v, X in enumerate(Xs):
        X = rows_of_present(X, present[:, v])
        counts.append(dual_plsa.expected_counts(X, theta, p_y_zs[v], p_w_ys[v]))
    return counts


def theta_counts(counts, weights=None):
    """004 Eq. 17, numerator: sum_v weight_v sum_{f,y} n_v(d,f) p(y,z|f,d,v), (D, K)."""
    weights = view_weights(weights, len(counts))
    total = 0.0
    for v, counts_v in enumerate(counts):
        total = total + weights[v] * counts_v.sum(axis=(1, 3))
    return np.asarray(total)


def m_step_theta(counts, theta, weights=None, pinned=None):
    """004 Eq. 17, and Section 3.1 (Eq. 18): the rows of labeled documents stay."""
    return keep_pinned(normalize_rows(theta_counts(counts, weights), theta), theta, pinned)


def m_step_emissions(counts, p_y_zs, p_w_ys):
    """004 Eq. 15 and 16, view by view; (list of p_y_z, list of p_w_y)."""
    new = [dual_plsa.m_step_emissions(counts[v], p_y_zs[v], p_w_ys[v]) for v in range(len(counts))]
    return [p_y_z for p_y_z, _ in new], [p_w_y for _, p_w_y in new]


def mvplsa(Xs, theta, p_y_zs, p_w_ys, n_iter, weights=None, present=None, pinned=None):
    """004 Algorithm 1: E-step for all views, then 15-17; states (theta, p_y_zs, p_w_ys)."""
    states, values = [], [log_likelihood(Xs, theta, p_y_zs, p_w_ys, weights, present)]
    for _ in range(n_iter):
        counts = expected_counts(Xs, theta, p_y_zs, p_w_ys, present)
        theta = m_step_theta(counts, theta, weights, pinned)
        p_y_zs, p_w_ys = m_step_emissions(counts, p_y_zs, p_w_ys)
        states.append((theta, p_y_zs, p_w_ys))
        values.append(log_likelihood(Xs, theta, p_y_zs, p_w_ys, weights, present))
    return states, values


def fold_in(Xs, theta, p_y_zs, p_w_ys, n_iter, weights=None, present=None):
    """Only Eq. 17, the emissions fixed; states theta."""
    states, values = [], [log_likelihood(Xs, theta, p_y_zs, p_w_ys, weights, present)]
    for _ in range(n_iter):
        counts = expected_counts(Xs, theta, p_y_zs, p_w_ys, present)
        theta = m_step_theta(counts, theta, weights)
        states.append(theta)
        values.append(log_likelihood(Xs, theta, p_y_zs, p_w_ys, weights, present))
    return states, values
