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
