"""A batch of a stream: stepwise EM with remembered counts, dense and one step after the other.

Memory: tokens n_v(z) and topics p_v(w|z), S_v(w,z) = rho p_v(w|z) n_v(z). A batch starts from
p_v(w|z) + 10 / C_v, normalized, with C_v = sum_z n_v(z); its documents are folded in from uniform
mixtures; then EM with S_v as pseudo-counts, and a last M-step of the topics.
"""

import numpy as np

from tests.reference import divergence_coplsa, link_plsa, mvplsa, plsa, seeds
from tests.reference.simplex import normalize_rows


def remembered(p_w_zs, tokens, rho):
    return [rho * n[:, None] * p for p, n in zip(p_w_zs, tokens, strict=True)]


def opened(rows, n_tokens):
    """Rows of probabilities, each entry raised by ten tokens."""
    raised = rows + 10 / n_tokens
    return raised / raised.sum(axis=1, keepdims=True)


def weight_of_batch(sizes, forgetting):
    """Step sizes n / m' of batches, by the memory after each: m' = (N + f b) / (f + 1)."""
    memory, seen, steps = 0.0, 0, []
    for i, n in enumerate(sizes):
        seen += n
        largest = max(sizes[: i + 1])
        memory = min(memory + n, (seen + forgetting * largest) / (forgetting + 1))
        steps.append(n / memory)
    return steps


def link_batch(Xs, p_w_zs, tokens, rho, n_fold, n_steps, alpha, present, pinned=None, labels=None):
    """One batch of link-PLSA (PLSA with one view): theta, p_w_zs, tokens after it."""
    S, k = remembered(p_w_zs, tokens, rho), len(tokens[0])
    p_w_zs = [opened(p, n.sum()) for p, n in zip(p_w_zs, tokens, strict=True)]
    theta = np.full((len(Xs[0]), k), 1 / k)
    theta = link_plsa.fold_in(Xs, theta, p_w_zs, n_fold, alpha, present)[0][-1]
    if pinned is not None:
        theta[pinned] = np.eye(k)[labels[pinned]]
    states, _ = seeds.seeded_link_plsa(Xs, theta, p_w_zs, S, n_steps, alpha, present, pinned)
    theta, p_w_zs = states[-1]
    counts = link_plsa.expected_counts(Xs, theta, p_w_zs, present)
    total = [c.sum(axis=0).T + s for c, s in zip(counts, S, strict=True)]
    new = [normalize_rows(t, p) for t, p in zip(total, p_w_zs, strict=True)]
    return theta, new, [t.sum(axis=1) for t in total]


def mvplsa_batch(Xs, p_y_zs, p_w_ys, tokens, rho, n_fold, n_steps, alpha, present):
    """One batch of MVPLSA: theta, p_y_zs, p_w_ys, tokens after it."""
    k = len(tokens[0])
    S = remembered([a @ b for a, b in zip(p_y_zs, p_w_ys, strict=True)], tokens, rho)
    p_y_zs = [opened(p, n.sum()) for p, n in zip(p_y_zs, tokens, strict=True)]
    p_w_ys = [opened(p, n.sum()) for p, n in zip(p_w_ys, tokens, strict=True)]
    theta = np.full((len(Xs[0]), k), 1 / k)
    theta = mvplsa.fold_in(Xs, theta, p_y_zs, p_w_ys, n_fold, alpha, present)[0][-1]
    states, _ = seeds.seeded_mvplsa(Xs, theta, p_y_zs, p_w_ys, S, n_steps, alpha, present, None)
    theta, p_y_zs, p_w_ys = states[-1]
    counts = mvplsa.expected_counts(Xs, theta, p_y_zs, p_w_ys, present)
    tokens = [c.sum(axis=(0, 1, 3)) + s.sum(axis=1) for c, s in zip(counts, S, strict=True)]
    p_y_zs, p_w_ys = seeds._factors(counts, S, p_y_zs, p_w_ys)
    return theta, p_y_zs, p_w_ys, tokens


def divergence_batch(Xs, p_w_zs, tokens, rho, n_fold, n_steps, lam, kind, alpha, present):
    """One batch of DivergenceCoPLSA: thetas, p_w_zs, tokens after it."""
    S, k, n_docs = remembered(p_w_zs, tokens, rho), len(tokens[0]), len(Xs[0])
    p_w_zs = [opened(p, n.sum()) for p, n in zip(p_w_zs, tokens, strict=True)]
    thetas = np.full((len(Xs), n_docs, k), 1 / k)

    def topics():
        pairs = zip(Xs, thetas, p_w_zs, S, strict=True)
        return [plsa.expected_counts(X, t, p).sum(axis=0).T + s for X, t, p, s in pairs]

    def mixtures():
        new = thetas.copy()
        for d in range(n_docs):
            counts = np.array(
                [
                    alpha[v] * plsa.theta_counts(Xs[v], thetas[v], p_w_zs[v])[d]
                    for v in range(len(Xs))
                ]
            )
            new[:, d] = divergence_coplsa.m_step_document(
                counts, thetas[:, d], lam[d], kind, present[d], "joint"
            )
        return new

    for _ in range(n_fold):
        thetas = mixtures()
    for _ in range(n_steps):
        p_w_zs = [normalize_rows(t, p) for t, p in zip(topics(), p_w_zs, strict=True)]
        thetas = mixtures()
    total = topics()
    new = [normalize_rows(t, p) for t, p in zip(total, p_w_zs, strict=True)]
    return thetas, new, [t.sum(axis=1) for t in total]
