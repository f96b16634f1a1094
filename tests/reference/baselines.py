"""Baselines by explicit loops and dense matrices."""

import math

import numpy as np
import scipy.linalg


def canonical_correlations(A, B, q):
    """Hotelling: the leading solutions of [0 C; C' 0] u = rho [CA 0; 0 CB] u, centered A and B.

    Returns the weights of A and B (variates of variance one) and the correlations.
    """
    n, p = A.shape
    joint = np.hstack([A, B]).T @ np.hstack([A, B]) / n
    own = scipy.linalg.block_diag(joint[:p, :p], joint[p:, p:])
    values, vectors = scipy.linalg.eigh(joint - own, own)
    values, vectors = values[::-1][:q], vectors[:, ::-1][:, :q] * math.sqrt(2)
    return vectors[:p], vectors[p:], values


def maxvar_projector_eigenvalues(parts, q, regularization=0.0):
    """Kettenring: leading eigenvalues and eigenvectors of the sum of the views' projectors.

    sum_v Z_v (Z_v'Z_v + c_v I)^-1 Z_v', an (n, n) matrix, c_v = regularization * trace / r_v.
    """
    total = 0
    for Z in parts:
        gram = Z.T @ Z
        c = regularization * np.trace(gram) / len(gram)
        total = total + Z @ np.linalg.solve(gram + c * np.eye(len(gram)), Z.T)
    values, vectors = np.linalg.eigh(total)
    return values[::-1][:q], vectors[:, ::-1][:, :q]


def gaussian_similarity(X):
    """Kumar et al.: exp(-|x-y|^2 / 2 s^2), s the median distance, normalized by degrees."""
    n = len(X)
    squared = np.array([[np.sum((X[i] - X[j]) ** 2) for j in range(n)] for i in range(n)])
    width = np.median([squared[i, j] for i in range(n) for j in range(i + 1, n)])
    K = np.exp(-squared / (2 * width))
    D = np.diag(1 / np.sqrt(K.sum(axis=1)))
    return D @ K @ D


def leading_vectors(matrix, k):
    return np.linalg.eigh(matrix)[1][:, ::-1][:, :k]


def coreg_pairwise(Ls, k, lam, n_rounds):
    """Kumar et al.: U_v are the leading eigenvectors of L_v + lam sum_{w != v} U_w U_w'."""
    Us = [leading_vectors(L, k) for L in Ls]
    for _ in range(n_rounds):
        for v, L in enumerate(Ls):
            others = sum(Us[w] @ Us[w].T for w in range(len(Us)) if w != v)
            Us[v] = leading_vectors(L + lam * others, k)
    return Us


def coreg_centroid(Ls, k, lam, n_rounds):
    """Kumar et al.: U_v of L_v + lam U* U*', then U* of sum_v U_v U_v'. U* comes last."""
    Us = [leading_vectors(L, k) for L in Ls]
    center = leading_vectors(sum(U @ U.T for U in Us), k)
    for _ in range(n_rounds):
        Us = [leading_vectors(L + lam * center @ center.T, k) for L in Ls]
        center = leading_vectors(sum(U @ U.T for U in Us), k)
    return [*Us, center]


def mapping_loss(As, present, weights, B, Ps, divergence):
    """Long et al.: sum_v w_v D(A_v || B P_v) over the documents that have the view."""
    total = 0.0
    for v, A in enumerate(As):
        for d in np.flatnonzero(present[:, v]):
            for c in range(A.shape[1]):
                a, b = A[d, c], B[d] @ Ps[v][:, c]
                if divergence == "euclidean":
                    total += weights[v] * (a - b) ** 2
                else:
                    total += weights[v] * ((a * math.log(a / b) if a > 0 else 0) - a + b)
    return total


def mapping_step(As, present, weights, B, Ps, divergence):
    """One multiplicative update of B, then of every P_v, entry by entry."""
    B = B * _pattern_ratio(As, present, weights, B, Ps, divergence)
    new = []
    for v, A in enumerate(As):
        ratio = np.zeros_like(Ps[v])
        for k in range(B.shape[1]):
            for c in range(A.shape[1]):
                above = below = 0.0
                for d in np.flatnonzero(present[:, v]):
                    product = B[d] @ Ps[v][:, c]
                    euclidean = divergence == "euclidean"
                    above += B[d, k] * (A[d, c] if euclidean else A[d, c] / product)
                    below += B[d, k] * (product if euclidean else 1)
                ratio[k, c] = above / below
        new.append(Ps[v] * ratio)
    return B, new


def _pattern_ratio(As, present, weights, B, Ps, divergence):
    ratio = np.zeros_like(B)
    for d in range(len(B)):
        for k in range(B.shape[1]):
            above = below = 0.0
            for v, A in enumerate(As):
                if present[d, v]:
                    for c in range(A.shape[1]):
                        product = B[d] @ Ps[v][:, c]
                        euclidean = divergence == "euclidean"
                        share = weights[v] * Ps[v][k, c]
                        above += share * (A[d, c] if euclidean else A[d, c] / product)
                        below += share * (product if euclidean else 1)
            ratio[d, k] = above / below if below > 0 else 0
    return ratio


def naive_bayes(X, codes, n_classes, alpha=1.0):
    """McCallum & Nigam: posteriors of all rows from the rows with codes >= 0."""
    taught = [d for d in range(len(X)) if codes[d] >= 0]
    logs = np.zeros((len(X), n_classes))
    for c in range(n_classes):
        rows = [d for d in taught if codes[d] == c]
        counts = X[rows].sum(axis=0) + alpha
        logs[:, c] = math.log(len(rows) / len(taught)) + X @ np.log(counts / counts.sum())
    posteriors = np.exp(logs - logs.max(axis=1, keepdims=True))
    return posteriors / posteriors.sum(axis=1, keepdims=True)


def product_of_views(Xs, codes, n_classes, alpha=1.0):
    """p(c) prod_v p(d|c,v), normalized: naive Bayes with views independent given the class."""
    known = codes >= 0
    prior = np.array([(codes[known] == c).mean() for c in range(n_classes)])
    joint = np.tile(prior, (len(codes), 1))
    for X in Xs:
        joint = joint * naive_bayes(X, codes, n_classes, alpha) / prior
    return joint / joint.sum(axis=1, keepdims=True)


def co_training(Xs, codes, n_classes, order, quota, pool_size, n_rounds):
    """Blum & Mitchell, for documents that have all views; `order` is that of the unlabeled."""
    taught, waiting = list(codes), list(order)
    for _ in range(n_rounds):
        pool = waiting[:pool_size]
        picks = {}
        for X in Xs:
            proba = naive_bayes(X, np.array(taught), n_classes)
            for c in range(n_classes):
                mine = [d for d in pool if proba[d].argmax() == c]
                mine = sorted(mine, key=lambda d: -proba[d, c])[: quota[c]]
                for d in mine:
                    if proba[d, c] > picks.get(d, (0, None))[0]:
                        picks[d] = proba[d, c], c
        if not picks:
            break
        for d, (_, c) in picks.items():
            taught[d] = c
        waiting = [d for d in waiting if d not in picks]
    return np.array(taught)
