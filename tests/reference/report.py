"""Losses and divergences of views by explicit loops: what `coview.report` computes in kernels."""

import math


def jensen_shannon(p, q):
    """In bits, of two lists of shares."""
    total = 0.0
    for a, b in zip(p, q, strict=True):
        for x in (a, b):
            if x > 0:
                total += 0.5 * x * math.log2(2 * x / (a + b))
    return total


def log_likelihood(counts, mixture, p_w_z, p_w, smoothing):
    """Of one document's counts under a mixture; None stands for the frequencies of terms."""
    total = 0.0
    for w, n in enumerate(counts):
        if n > 0 and p_w[w] > 0:
            p = p_w[w]
            if mixture is not None:
                own = sum(t * p_w_z[z][w] for z, t in enumerate(mixture))
                p = (1 - smoothing) * own + smoothing * p_w[w]
            total += n * math.log(p)
    return total


def loss(counts, own, other, p_w_z, p_w, *, smoothing, constant):
    """What is lost of one view with the mixture of another one."""
    mine = log_likelihood(counts, own, p_w_z, p_w, smoothing)
    theirs = log_likelihood(counts, other, p_w_z, p_w, smoothing)
    corpus = log_likelihood(counts, None, p_w_z, p_w, smoothing)
    return (mine - theirs) / (max(mine - corpus, 0.0) + constant)


def topics_without(document, X, theta, p_w_z):
    """Topics p(w|z) of one view after the expected counts of one document were taken away."""
    n_topics, n_terms = len(p_w_z), len(p_w_z[0])
    total = [[0.0] * n_terms for _ in range(n_topics)]
    left = [[0.0] * n_terms for _ in range(n_topics)]
    for d, counts in enumerate(X):
        for w, n in enumerate(counts):
            p = sum(theta[d][z] * p_w_z[z][w] for z in range(n_topics))
            for z in range(n_topics):
                c = n * theta[d][z] * p_w_z[z][w] / p if n and p else 0.0
                total[z][w] += c
                left[z][w] += 0.0 if d == document else c
    mass = [sum(row) for row in left]
    return [[x / mass[z] if mass[z] else 0.0 for x in left[z]] for z in range(n_topics)]


def mixture(counts, p_w_z, n_iter):
    """The mixture of one document by EM from a uniform one; words of no topic are left out."""
    n_topics = len(p_w_z)
    theta = [1 / n_topics] * n_topics
    for _ in range(n_iter):
        expected = [0.0] * n_topics
        for w, n in enumerate(counts):
            p = sum(theta[z] * p_w_z[z][w] for z in range(n_topics))
            if n and p > 0:
                for z in range(n_topics):
                    expected[z] += n * theta[z] * p_w_z[z][w] / p
        theta = [x / sum(expected) for x in expected]
    return theta
