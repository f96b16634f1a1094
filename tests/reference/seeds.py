"""Seeds as pseudo-counts: p_v(w|z) ∝ n_v(w,z) + s_v(w,z), for free and for factored topics.

O = sum_v alpha_v ( L_v + sum_wz s_v(w,z) log p_v(w|z) )

`seeds` are dense arrays s_v (K, W_v). With feature topics y the pseudo-counts of (w, z) are spread
over y by p(y|z,w) ∝ p(y|z) p(w|y), in the same E-step as the counts.
"""

import numpy as np

from tests.reference import link_plsa, mvplsa
from tests.reference.simplex import normalize_rows


def log_prior(seeds, p_w_zs, alpha):
    """sum_v alpha_v sum_wz s_v(w,z) log p_v(w|z), one seed at a time."""
    total = 0.0
    for v, s in enumerate(seeds):
        for z, w in zip(*np.nonzero(s), strict=True):
            total += alpha[v] * s[z, w] * np.log(p_w_zs[v][z, w])
    return total


def seeded_link_plsa(Xs, theta, p_w_zs, seeds, n_iter, alpha, present, pinned):
    """Joint EM of link-PLSA with pseudo-counts; states (theta, list of p_w_z)."""

    def value():
        likelihood = link_plsa.log_likelihood(Xs, theta, p_w_zs, alpha, present)
        return likelihood + log_prior(seeds, p_w_zs, alpha)

    states, values = [], [value()]
    for _ in range(n_iter):
        counts = link_plsa.expected_counts(Xs, theta, p_w_zs, present)
        theta = link_plsa.m_step_theta(counts, theta, alpha, pinned)
        p_w_zs = [
            normalize_rows(c.sum(axis=0).T + s, p)
            for c, s, p in zip(counts, seeds, p_w_zs, strict=True)
        ]
        states.append((theta, p_w_zs))
        values.append(value())
    return states, values


def seeded_mvplsa(Xs, theta, p_y_zs, p_w_ys, seeds, n_iter, weights, present, pinned):
    """EM of MVPLSA with pseudo-counts; states (theta, p_y_zs, p_w_ys)."""

    def value():
        p_w_zs = [a @ b for a, b in zip(p_y_zs, p_w_ys, strict=True)]
        likelihood = mvplsa.log_likelihood(Xs, theta, p_y_zs, p_w_ys, weights, present)
        return likelihood + log_prior(seeds, p_w_zs, weights)

    states, values = [], [value()]
    for _ in range(n_iter):
        counts = mvplsa.expected_counts(Xs, theta, p_y_zs, p_w_ys, present)
        theta = mvplsa.m_step_theta(counts, theta, weights, pinned)
        p_y_zs, p_w_ys = _factors(counts, seeds, p_y_zs, p_w_ys)
        states.append((theta, p_y_zs, p_w_ys))
        values.append(value())
    return states, values


def _factors(counts, seeds, p_y_zs, p_w_ys):
    new_y, new_w = [], []
    for c, s, p_y_z, p_w_y in zip(counts, seeds, p_y_zs, p_w_ys, strict=True):
        by_zy, by_yw = c.sum(axis=(0, 1)), c.sum(axis=(0, 2)).T  # (K, Y), (Y, W)
        for z, w in zip(*np.nonzero(s), strict=True):
            joint = p_y_z[z] * p_w_y[:, w]
            spread = s[z, w] * joint / joint.sum()
            by_zy[z] += spread
            by_yw[:, w] += spread
        new_y.append(normalize_rows(by_zy, p_y_z))
        new_w.append(normalize_rows(by_yw, p_w_y))
    return new_y, new_w
