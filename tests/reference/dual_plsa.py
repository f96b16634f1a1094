"""Dual PLSA (004 Eq. 2): p(w|d) = sum_{y,z} p(w|y) p(y|z) p(z|d)."""

import numpy as np

from tests.reference.simplex import count_log, keep_pinned, normalize_rows, safe_divide


def mixture(theta, p_y_z, p_w_y):
    """004 Eq. 2 without p(d): sum_{y,z} p(w|y) p(y|z) p(z|d), (D, W)."""
    return np.einsum("dz,zy,yw->dw", theta, p_y_z, p_w_y)


def log_likelihood(X, theta, p_y_z, p_w_y):
    """004 Eq. 4 without p(d): sum_dw n(d,w) log p(w|d)."""
    return count_log(X, mixture(theta, p_y_z, p_w_y))


def e_step(X, theta, p_y_z, p_w_y):
    """004 Eq. 9: p(y,z|d,w) = p(w|y) p(y|z) p(z|d) / sum_{y,z} of the same, (D, W, K, Y).

    0/0 = 0, and 0 in the cells without a count.
    """
    joint = (
        theta[:, None, :, None] * p_y_z[None, None, :, :] * p_w_y.T[None, :, None, :]
    )  # axes d, w, z, y
    posterior = safe_divide(joint, joint.sum(axis=(2, 3), keepdims=True))
    return np.where((np.asarray(X) > 0)[:, :, None, None], posterior, 0.0)


def expected_counts(X, theta, p_y_z, p_w_y):
    """n(d,w) p(y,z|d,w), (D, W, K, Y)."""
    return np.asarray(X, dtype=float)[:, :, None, None] * e_step(X, theta, p_y_z, p_w_y)


def m_step_emissions(counts, p_y_z, p_w_y):
    """004 Eq. 15: p(w|y) ∝ sum_{d,z} n p(y,z|d,w); Eq. 16: p(y|z) ∝ sum_{d,w} n p(y,z|d,w)."""
    new_p_w_y = normalize_rows(counts.sum(axis=(0, 2)).T, p_w_y)
    new_p_y_z = normalize_rows(counts.sum(axis=(0, 1)), p_y_z)
    return new_p_y_z, new_p_w_y


def m_step_theta(counts, theta, pinned=None):
    """004 Eq. 17, one view: p(z|d) ∝ sum_{w,y} n(d,w) p(y,z|d,w); labeled rows stay (3.1)."""
    return keep_pinned(normalize_rows(counts.sum(axis=(1, 3)), theta), theta, pinned)


def dual_plsa(X, theta, p_y_z, p_w_y, n_iter, pinned=None):
    """EM of 004 (Eq. 9, 15-17), all from one E-step; states (theta, p_y_z, p_w_y)."""
    states, values = [], [log_likelihood(X, theta, p_y_z, p_w_y)]
    for _ in range(n_iter):
        counts = expected_counts(X, theta, p_y_z, p_w_y)
        theta = m_step_theta(counts, theta, pinned)
        p_y_z, p_w_y = m_step_emissions(counts, p_y_z, p_w_y)
        states.append((theta, p_y_z, p_w_y))
        values.append(log_likelihood(X, theta, p_y_z, p_w_y))
    return states, values


def fold_in(X, theta, p_y_z, p_w_y, n_iter):
    """Only Eq. 17, both emission factors fixed; states theta."""
    states, values = [], [log_likelihood(X, theta, p_y_z, p_w_y)]
    for _ in range(n_iter):
        theta = m_step_theta(expected_counts(X, theta, p_y_z, p_w_y), theta)
        states.append(theta)
        values.append(log_likelihood(X, theta, p_y_z, p_w_y))
    return states, values
