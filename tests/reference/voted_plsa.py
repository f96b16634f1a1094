"""Voted-PLSA (002): a PLSA per view votes, agreeing documents prime a PLSA on all features.

A pattern is a tuple of topics, one per view, -1 where the document lacks the view. Clusters are
numbered by the rank of their signature.
"""

import numpy as np
from scipy.special import psi

from tests.reference import plsa
from tests.reference.simplex import all_present, rows_of_present

UNASSIGNED = -1
CORPUS_SHARE = 0.01


def voting_patterns(thetas, present=None):
    """002: z^v_d = argmax_z p(z|d^v), ties to the lowest topic; a list of D tuples."""
    present = all_present(present, len(thetas[0]), len(thetas))
    patterns = []
    for d in range(len(thetas[0])):
        votes = [
            int(np.argmax(theta[d])) if present[d, v] else -1 for v, theta in enumerate(thetas)
        ]
        patterns.append(tuple(votes))
    return patterns


def n_common(pattern, signature):
    """In how many views a pattern has the signature's vote."""
    return sum(a == b for a, b in zip(pattern, signature, strict=True))


def needed(n_views):
    """How many votes must agree: V-1 (002); both of two (000, footnote 2); the one of one."""
    return n_views - 1 if n_views >= 3 else n_views


def signatures(patterns, n_clusters, rule="frequent"):
    """002: the patterns of the C largest groups; a list of (signature, group size), largest first.

    Groups are documents with the identical complete pattern; equal sizes in lexicographic order.
    rule="greedy" skips a pattern that a signature chosen before would already claim (`needed`
    votes in common). There may be fewer than C.
    """
    sizes = {}
    for pattern in patterns:
        if -1 not in pattern:
            sizes[pattern] = sizes.get(pattern, 0) + 1
    chosen = []
    for pattern, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        need = needed(len(pattern))
        claimed = any(n_common(pattern, other) >= need for other, _ in chosen)
        if len(chosen) < n_clusters and not (rule == "greedy" and claimed):
            chosen.append((pattern, size))
    return chosen


def matches(pattern, signature):
    """Does the document belong to the signature's group?

    Complete pattern: at least `needed` votes in common. Views missing: at least two votes, all in
    common.
    """
    votes = [v for v in pattern if v != -1]
    if len(votes) == len(pattern):
        return n_common(pattern, signature) >= needed(len(pattern))
    return len(votes) >= 2 and n_common(pattern, signature) == len(votes)


def preassign(patterns, chosen):
    """002: the cluster of each document, UNASSIGNED if no signature matches.

    Of several: most votes in common (so an exact match wins), then the larger group, then the
    earlier signature.
    """
    assigned = []
    for pattern in patterns:
        best, best_key = UNASSIGNED, None
        for c, (signature, size) in enumerate(chosen):
            key = (n_common(pattern, signature), size, -c)
            if matches(pattern, signature) and (best_key is None or key > best_key):
                best, best_key = c, key
        assigned.append(best)
    return np.array(assigned)


def start(X, assigned, n_clusters, spare):
    """theta, p_w_z and the pins of the second stage, X the concatenated counts.

    p(c|d) is one-hot for pre-assigned documents and uniform for the others. p(w|c) is .99 of the
    word distribution of the documents pre-assigned to c and .01 of the corpus's (without it words
    unseen there would have probability 0 for ever); a cluster without such words starts from its
    row of `spare` (C, W).
    """
    corpus = X.sum(axis=0) / X.sum()
    theta = np.full((len(X), n_clusters), 1 / n_clusters)
    p_w_z = np.array(spare, dtype=float)
    for d, c in enumerate(assigned):
        if c != UNASSIGNED:
            theta[d] = np.eye(n_clusters)[c]
    for c in range(n_clusters):
        words = X[assigned == c].sum(axis=0)
        if words.sum() > 0:
            p_w_z[c] = (1 - CORPUS_SHARE) * words / words.sum() + CORPUS_SHARE * corpus
    return theta, p_w_z, assigned != UNASSIGNED


def concatenate(Xs, present=None):
    """All views side by side, absent ones empty."""
    present = all_present(present, len(Xs[0]), len(Xs))
    return np.hstack([rows_of_present(X, present[:, v]) for v, X in enumerate(Xs)])


def voted_plsa(Xs, thetas, n_clusters, n_iter, spare, present=None, rule="frequent"):
    """002 from the first stage's mixtures; returns (assigned, labels, states, values).

    thetas: p(z|d^v) per view, fitted elsewhere. The second stage is joint EM in which the
    pre-assigned rows of p(c|d) stay fixed; labels are the argmax of the last p(c|d).
    """
    patterns = voting_patterns(thetas, present)
    assigned = preassign(patterns, signatures(patterns, n_clusters, rule))
    X = concatenate(Xs, present)
    theta, p_w_z, pinned = start(X, assigned, n_clusters, spare)
    states, values = plsa.plsa(X, theta, p_w_z, n_iter, pinned)
    last = states[-1][0] if states else theta
    return assigned, np.argmax(last, axis=1), states, values


def lda_document(counts, topics, alpha):
    """p(c|d) before normalization (gamma) and q(c|d,w) of one document, to the fixed point."""
    n_clusters, n_terms = topics.shape
    log_topics = [
        [psi(topics[c, w]) - psi(topics[c].sum()) for w in range(n_terms)]
        for c in range(n_clusters)
    ]
    gamma = np.ones(n_clusters)
    for _ in range(5000):
        q = np.zeros((n_clusters, n_terms))
        for w in range(n_terms):
            odds = np.array([np.exp(psi(gamma[c]) + log_topics[c][w]) for c in range(n_clusters)])
            q[:, w] = odds / odds.sum()
        old, gamma = gamma, alpha + q @ counts
        if np.abs(gamma - old).max() < 1e-13:
            break
    return gamma, q


def lda_with_pins(X, assigned, topics, alpha, eta, n_iter):
    """Variational EM of LDA in which pre-assigned documents keep q(c|d,w) = 1.

    topics: lambda (C, W) of the start. Returns the last lambda and p(c|d).
    """
    n_clusters = len(topics)
    for _ in range(n_iter):
        new = np.full(topics.shape, float(eta))
        for counts, c in zip(X, assigned, strict=True):
            if c != UNASSIGNED:
                new[c] += counts
            else:
                new += counts * lda_document(counts, topics, alpha)[1]
        topics = new
    theta = np.zeros((len(X), n_clusters))
    for d, c in enumerate(assigned):
        gamma = np.eye(n_clusters)[c] if c != UNASSIGNED else lda_document(X[d], topics, alpha)[0]
        theta[d] = gamma / gamma.sum()
    return topics, theta
