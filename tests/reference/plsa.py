"""PLSA (Hofmann 1999; 000 Eq. 2-3, 9, 12; 003 Eq. 2-6): p(w|d) = sum_z p(w|z) p(z|d)."""

import numpy as np

from tests.reference.simplex import count_log, keep_pinned, normalize_rows, safe_divide


def log_likelihood(X, theta, p_w_z):
    """000 Eq. 3, 003 Eq. 2, without p(d): sum_dw n(d,w) log sum_z p(w|z) p(z|d)."""
    return count_log(X, theta @ p_w_z)


def e_step(X, theta, p_w_z):
    """000 Eq. 9: p(z|d,w) = p(w|z) p(z|d) / sum_z p(w|z) p(z|d), as a (D, W, K) array.

    0/0 = 0, and 0 in the cells without a count, whose posterior is never used.
    """
    joint = theta[:, None, :] * p_w_z.T[None, :, :]
    posterior = safe_divide(joint, joint.sum(axis=2, keepdims=True))
    return np.where((np.asarray(X) > 0)[:, :, None], posterior, 0.0)


def expected_counts(X, theta, p_w_z):
    """n(d,w) p(z|d,w), (D, W, K)."""
    return np.asarray(X, dtype=float)[:, :, None] * e_step(X, theta, p_w_z)


def theta_counts(X, theta, p_w_z):
    """003 Eq. 5, the matrix Q: n(d,z) = sum_w n(d,w) p(z|d,w), (D, K)."""
    return expected_counts(X, theta, p_w_z).sum(axis=1)


def m_step_emissions(counts, p_w_z):
    """000 Eq. 12, 003 Eq. 4: p(w|z) ∝ sum_d n(d,w) p(z|d,w)."""
    return normalize_rows(counts.sum(axis=0).T, p_w_z)


def m_step_theta(counts, theta, pinned=None):
    """003 Eq. 6: p(z|d) ∝ sum_w n(d,w) p(z|d,w)."""
    return keep_pinned(normalize_rows(counts.sum(axis=1), theta), theta, pinned)


def joint_step(X, theta, p_w_z, pinned=None):
    """One EM iteration: both updates from the same E-step."""
    counts = expected_counts(X, theta, p_w_z)
    return m_step_theta(counts, theta, pinned), m_step_emissions(counts, p_w_z)


def alternating_step(X, theta, p_w_z, pinned=None):
    """003's order: first p(w|z), then p(z|d) from a second E-step with the new p(w|z)."""
    p_w_z = m_step_emissions(expected_counts(X, theta, p_w_z), p_w_z)
    theta = m_step_theta(expected_counts(X, theta, p_w_z), theta, pinned)
    return theta, p_w_z


def _iterate(step, X, theta, p_w_z, n_iter, pinned):
    states, values = [], [log_likelihood(X, theta, p_w_z)]
    for _ in range(n_iter):
        theta, p_w_z = step(X, theta, p_w_z, pinned)
        states.append((theta, p_w_z))
        values.append(log_likelihood(X, theta, p_w_z))
    return states, values


def plsa(X, theta, p_w_z, n_iter, pinned=None):
    """Joint EM (000 Eq. 9, 12, 13 with lambda = 0); states (theta, p_w_z)."""
    return _iterate(joint_step, X, theta, p_w_z, n_iter, pinned)


def plsa_alternating(X, theta, p_w_z, n_iter, pinned=None):
    """The alternating EM of 003 (Eq. 3-6), one inner step each; states (theta, p_w_z)."""
    return _iterate(alternating_step, X, theta, p_w_z, n_iter, pinned)


def fold_in(X, theta, p_w_z, n_iter):
    """Only Eq. 6 of 003, p(w|z) fixed; states theta."""
    states, values = [], [log_likelihood(X, theta, p_w_z)]
    for _ in range(n_iter):
        theta = m_step_theta(expected_counts(X, theta, p_w_z), theta)
        states.append(theta)
        values.append(log_likelihood(X, theta, p_w_z))
    return states, values
