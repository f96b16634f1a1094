"""Pairwise CoPLSA (000): a PLSA per view, similarities of documents kept alike across views.

    O = sum_v tau_v L_v - lam sum_{v<w} R_vw,    R_vw = |S^v - S^w|_F^2              (Eq. 4, 6, 15)

`pairs` is a list of unordered document pairs (i, j), i < j; each stands for (i, j) and (j, i) in
the norm, which is what gives Eq. 14 its factor 8. View pairs are unordered. A document pair counts
in R_vw only if both documents have both views. `lam` is a number, or a symmetric (V, V) matrix of
strengths lam_vw for the pairs of views (4.2).
"""

import itertools
import math

import numpy as np

from tests.reference import plsa
from tests.reference.simplex import (
    all_present,
    count_log,
    keep_pinned,
    normalize_rows,
    rows_of_present,
)

MAX_HALVINGS = 30


def all_pairs(n_docs):
    """Every i < j."""
    return list(itertools.combinations(range(n_docs), 2))


def similarity(a, b, sigma):
    """000 Eq. 7: S_ij = exp(-sum_k (p(z_k|d_i) - p(z_k|d_j))^2 / sigma)."""
    return math.exp(-sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / sigma)


def pair_counts(pair, v, w, present):
    """Do both documents have both views?"""
    i, j = pair
    return bool(present[i, v] and present[i, w] and present[j, v] and present[j, w])


def disagreement(thetas, v, w, pairs, sigma, present=None):
    """000 Eq. 6: R_vw = sum over ordered pairs (S^v_ij - S^w_ij)^2 (the diagonal is 0)."""
    present = all_present(present, len(thetas[0]), len(thetas))
    total = 0.0
    for i, j in pairs:
        if pair_counts((i, j), v, w, present):
            s_v = similarity(thetas[v][i], thetas[v][j], sigma)
            s_w = similarity(thetas[w][i], thetas[w][j], sigma)
            total += 2 * (s_v - s_w) ** 2
    return total


def of_pair(lam, v, w):
    """lam_vw."""
    return lam if np.ndim(lam) == 0 else lam[v][w]


def penalty(thetas, pairs, sigma, present=None, lam=1.0):
    """sum_{v<w} lam_vw R_vw (000 Eq. 15 with unordered view pairs)."""
    views = itertools.combinations(range(len(thetas)), 2)
    return sum(
        of_pair(lam, v, w) * disagreement(thetas, v, w, pairs, sigma, present) for v, w in views
    )


def penalty_gradient(thetas, v, pairs, sigma, present=None, lam=1.0):
    """000 Eq. 14 times lam_vw, summed over the other views w (Eq. 17), as a (D, K) array:

    dR/dp^v(z_k|d_i) = -(8/sigma) sum_w sum_j S^v_ij (S^v_ij - S^w_ij) (p^v(k|i) - p^v(k|j))
    """
    present = all_present(present, len(thetas[0]), len(thetas))
    theta = thetas[v]
    gradient = np.zeros_like(theta)
    for w in range(len(thetas)):
        for i, j in pairs if w != v else ():
            if not pair_counts((i, j), v, w, present):
                continue
            s_v = similarity(theta[i], theta[j], sigma)
            s_w = similarity(thetas[w][i], thetas[w][j], sigma)
            for k in range(theta.shape[1]):
                term = -8 / sigma * s_v * (s_v - s_w) * (theta[i, k] - theta[j, k])
                gradient[i, k] += of_pair(lam, v, w) * term
                gradient[j, k] -= of_pair(lam, v, w) * term
    return gradient


def log_likelihood(Xs, thetas, p_w_zs, tau, present=None):
    """sum_v tau_v L_v over the documents that have view v."""
    present = all_present(present, len(thetas[0]), len(Xs))
    total = 0.0
    for v, X in enumerate(Xs):
        X = rows_of_present(X, present[:, v])
        total += tau[v] * plsa.log_likelihood(X, thetas[v], p_w_zs[v])
    return total


def objective(Xs, thetas, p_w_zs, tau, lam, pairs, sigma, present=None):
    """000 Eq. 4 / 15."""
    R = penalty(thetas, pairs, sigma, present, lam)
    return log_likelihood(Xs, thetas, p_w_zs, tau, present) - R


def m_step_value(counts, thetas, v, lam, pairs, sigma, present=None):
    """000 Eq. 10, what depends on p^v(z|d): sum_dk counts log p^v(z_k|d) - lam sum_w R_vw.

    counts are tau_v n_v(d, z).
    """
    others = [w for w in range(len(thetas)) if w != v]
    R = sum(of_pair(lam, v, w) * disagreement(thetas, v, w, pairs, sigma, present) for w in others)
    return count_log(counts, thetas[v]) - R


def literal_step(counts, thetas, v, lam, pairs, sigma, present=None, pinned=None):
    """000 Eq. 13 / 17: p_n ∝ tau sum_j c(d,w_j) p(z|d,w_j) - lam dR/dp_{n-1} p_{n-1}.

    counts are tau_v n_v(d, z). Negative entries are clipped to 0 (the paper does not say what to
    do); a row that vanishes keeps its old values. The objective may fall.
    """
    theta = thetas[v]
    numerator = counts - penalty_gradient(thetas, v, pairs, sigma, present, lam) * theta
    new = normalize_rows(np.maximum(numerator, 0), theta)
    return keep_pinned(new, theta, pinned)


def safe_candidate(counts, thetas, v, lam, pairs, sigma, present=None, pinned=None):
    """The target of the safeguarded step: p (g + c) normalized, per document.

    g_k = counts_k / p_k - lam dR/dp_k is the gradient of `m_step_value` (entries with p_k = 0 stay
    0 and are ignored), c = max(0, -min_k g_k). Without a shift this is Eq. 13. A row without mass
    keeps its old values. For a row p the direction ascends: g'(candidate - p) = Var_p(g) / (E_p(g)
    + c) >= 0.
    """
    theta = thetas[v]
    slope = penalty_gradient(thetas, v, pairs, sigma, present, lam)
    target = np.zeros_like(theta)
    for d in range(len(theta)):
        support = theta[d] > 0
        g = counts[d][support] / theta[d][support] - slope[d][support]
        shift = max(0.0, -g.min())
        target[d][support] = theta[d][support] * (g + shift)
    return keep_pinned(normalize_rows(target, theta), theta, pinned)


def safe_step(counts, thetas, v, lam, pairs, sigma, present=None, pinned=None):
    """theta + s (candidate - theta), one s for all documents of the view.

    s = 1, 1/2, 1/4, ... down to 2^-30 (MAX_HALVINGS), the first for which `m_step_value` is not
    below its old value (no tolerance); if there is none, theta stays.
    """
    theta = thetas[v]
    candidate = safe_candidate(counts, thetas, v, lam, pairs, sigma, present, pinned)
    before = m_step_value(counts, thetas, v, lam, pairs, sigma, present)
    for halving in range(MAX_HALVINGS + 1):
        new = theta + 0.5**halving * (candidate - theta)
        trial = [new if w == v else thetas[w] for w in range(len(thetas))]
        if m_step_value(counts, trial, v, lam, pairs, sigma, present) >= before:
            return new
    return np.array(theta)


def pairwise_coplsa(
    Xs,
    thetas,
    p_w_zs,
    n_iter,
    tau,
    lam,
    sigma,
    pairs=None,
    present=None,
    pinned=None,
    step="safe",
):
    """000 Algorithm 1 and 2, cycled over the views; states (thetas, p_w_zs), lists over views.

    For view v in order: E-step (9), p(w|z) (12) and p(z|d) (13, "literal"; or "safe") from it, the
    other views fixed at their latest values. The safe step never lowers the objective.
    """
    n_docs, n_views = len(thetas[0]), len(Xs)
    present = all_present(present, n_docs, n_views)
    pairs = all_pairs(n_docs) if pairs is None else pairs
    update = {"safe": safe_step, "literal": literal_step}[step]
    thetas, p_w_zs = list(thetas), list(p_w_zs)
    states, values = [], [objective(Xs, thetas, p_w_zs, tau, lam, pairs, sigma, present)]
    for _ in range(n_iter):
        for v, X in enumerate(Xs):
            X = rows_of_present(X, present[:, v])
            counts = plsa.expected_counts(X, thetas[v], p_w_zs[v])
            n_dz = tau[v] * counts.sum(axis=1)
            thetas[v] = update(n_dz, thetas, v, lam, pairs, sigma, present, pinned)
            p_w_zs[v] = plsa.m_step_emissions(counts, p_w_zs[v])
        states.append((list(thetas), list(p_w_zs)))
        values.append(objective(Xs, thetas, p_w_zs, tau, lam, pairs, sigma, present))
    return states, values
