"""The ensemble of clusterings in plain loops over dense arrays: slow, and close to the formulas."""

from math import log, sqrt

import numpy as np


def unit(row):
    """A row divided by its length; a row of zeros stays."""
    length = sqrt(sum(float(x) ** 2 for x in row))
    return [float(x) / length for x in row] if length else [0.0] * len(row)


def tfidf(X):
    """Square roots of counts times 1 + log((1 + n) / (1 + documents with the term)), unit rows."""
    n_docs, n_terms = X.shape
    idf = [
        1 + log((1 + n_docs) / (1 + sum(1 for d in range(n_docs) if X[d, w] > 0)))
        for w in range(n_terms)
    ]
    return np.array([unit([sqrt(X[d, w]) * idf[w] for w in range(n_terms)]) for d in range(n_docs)])


def nearest_rows(points, n_neighbors):
    """The cosines to the nearest other rows, largest first, for each row."""
    found = []
    for i, row in enumerate(points):
        others = [float(row @ other) for j, other in enumerate(points) if j != i]
        found.append(sorted(others, reverse=True)[:n_neighbors])
    return np.array(found).reshape(len(points), -1)


def graph_of(near, docs, n_docs):
    """1 where either of two documents is near the other."""
    graph = np.zeros((n_docs, n_docs))
    for i, neighbors in enumerate(near):
        for j in neighbors:
            graph[docs[i], docs[j]] = graph[docs[j], docs[i]] = 1
    return graph


def symmetric_normalization(graph):
    """G(i, j) / sqrt(degree of i times degree of j)."""
    degree, found = graph.sum(axis=1), np.zeros_like(graph, dtype=float)
    for i in range(len(graph)):
        for j in range(len(graph)):
            if graph[i, j]:
                found[i, j] = graph[i, j] / sqrt(degree[i] * degree[j])
    return found


def sum_of_graphs(graphs, weights):
    """The sum of w^2 G, scaled to a mean degree of one."""
    total = sum(w * w * g for w, g in zip(weights, graphs, strict=True))
    degrees = [float(row.sum()) for row in total]
    return total / (sum(degrees) / len(degrees))


def smoothed(points, graph, own, times):
    """Points smoothed so many times by their neighbors, and by themselves with a weight."""
    step = symmetric_normalization(graph) + own * np.eye(len(points))
    for _ in range(times):
        points = np.array(
            [sum(step[i, j] * points[j] for j in range(len(points))) for i in range(len(points))]
        )
    return np.array([unit(row) for row in points])


def leading_eigenvectors(graph, number):
    """The leading eigenvalues, clipped to [0, 1], and eigenvectors of the normalized graph."""
    values, vectors = np.linalg.eigh(symmetric_normalization(graph))
    return np.clip(values[::-1][:number], 0, 1), vectors[:, ::-1][:, :number]


def assortativity(labels, graph):
    """Newman's coefficient: (sum e_ii - sum a_i b_i) / (1 - sum a_i b_i) over known ends."""
    ends = [
        (labels[i], labels[j], float(graph[i, j]))
        for i in range(len(labels))
        for j in range(len(labels))
        if graph[i, j] and labels[i] >= 0 and labels[j] >= 0
    ]
    total = sum(weight for *_, weight in ends)
    if not total:
        return 0.0
    clusters = sorted({label for label in labels if label >= 0})
    same = sum(weight for a, b, weight in ends if a == b) / total
    chance = sum(
        sum(w for a, _, w in ends if a == c) * sum(w for _, b, w in ends if b == c)
        for c in clusters
    ) / (total * total)
    return (same - chance) / (1 - chance) if chance < 1 else 0.0


def leading_weights(agreement, least):
    """The limit of multiplying by the symmetric, clipped matrix; the largest weight is 1."""
    n = len(agreement)
    B = np.array(
        [[max((agreement[u, v] + agreement[v, u]) / 2, 0) for v in range(n)] for u in range(n)]
    )
    if not B.any():
        return np.ones(n)
    weights = np.ones(n)
    for _ in range(10_000):
        weights = B @ weights + 1e-3 * B.max() * weights
        weights /= weights.max()
    return np.maximum(weights, least)


def indicators(members, weights):
    """A column for each cluster of each member, with the weight of the member."""
    columns = []
    for member, weight in zip(np.asarray(members).T, weights, strict=True):
        for cluster in range(max(member) + 1):
            columns.append([weight if label == cluster else 0.0 for label in member])
    return np.array(columns).T


def joined(points, sample, labels):
    """The cluster whose mean direction is nearest by cosine, for each point."""
    centers = [unit(sample[labels == c].sum(axis=0)) for c in range(max(labels) + 1)]
    return np.array([int(np.argmax([float(np.dot(p, c)) for c in centers])) for p in points])
