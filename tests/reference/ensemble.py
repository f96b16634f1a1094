"""The ensemble of clusterings in plain loops over dense arrays: slow, and close to the formulas."""

from itertools import permutations
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


def placed(X):
    """Values less their mean, and the root of the mean of their squared lengths, unit rows."""
    n_docs, n_columns = X.shape
    mean = [sum(X[d, w] for d in range(n_docs)) / n_docs for w in range(n_columns)]
    rows = [[float(X[d, w] - mean[w]) for w in range(n_columns)] for d in range(n_docs)]
    size = sqrt(sum(x * x for row in rows for x in row) / n_docs)
    return np.array([unit([*row, size]) for row in rows])


def nearest_rows(points, n_neighbors):
    """The cosines to the nearest other rows, largest first, for each row."""
    found = []
    for i, row in enumerate(points):
        others = [float(row @ other) for j, other in enumerate(points) if j != i]
        found.append(sorted(others, reverse=True)[:n_neighbors])
    return np.array(found).reshape(len(points), -1)


def largest(scores, number, same):
    """The places of the largest scores, the first of those that are equal but for rounding."""
    rounded = [round(score / same) for score in scores]
    return sorted(range(len(rounded)), key=lambda j: (-rounded[j], j))[:number]


def nearest_by_views(features, has, weights, n_neighbors):
    """The nearest other documents by sum_v w_v^2 cosine, with the mean cosine if one lacks v."""
    n_docs, total = len(has), np.zeros((len(has), len(has)))
    for v, (rows, weight) in enumerate(zip(features, weights, strict=True)):
        inside = [d for d in range(n_docs) if has[d, v]]
        pairs = [float(np.dot(rows[i], rows[j])) for i in inside for j in inside]
        usual = sum(pairs) / max(len(pairs), 1)
        for i in range(n_docs):
            for j in range(n_docs):
                both = has[i, v] and has[j, v]
                total[i, j] += weight**2 * (float(np.dot(rows[i], rows[j])) if both else usual)
    found = []
    for i in range(n_docs):
        others = [j for j in range(n_docs) if j != i]
        found.append([others[p] for p in largest(total[i, others], n_neighbors, 1e-6)])
    return np.array(found)


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


def agreed(graph, features, has, weights):
    """The graph times the mean of the views' cosines beyond the usual ones, with the same sum."""
    found = np.zeros(graph.shape)
    for i, j in zip(*np.nonzero(graph), strict=True):
        total = 0.0
        for rows, h, weight in zip(features, has.T, weights, strict=True):
            if h[i] and h[j]:
                mean = rows.sum(axis=0) / h.sum()
                usual = mean @ mean
                total += weight**2 * (rows[i] @ rows[j] - usual) / (1 - usual)
        found[i, j] = graph[i, j] * max(total, 0) / sum(w * w for w in weights)
    return found * graph.sum() / found.sum()


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
    """The limit of multiplying by the symmetric, clipped matrix, to the power of 1.5, at most 1.

    What a view says of itself is halved.
    """
    n = len(agreement)
    B = np.array(
        [[max((agreement[u, v] + agreement[v, u]) / 2, 0) for v in range(n)] for u in range(n)]
    )
    for v in range(n):
        B[v, v] /= 2
    if not B.any():
        return np.ones(n)
    weights = np.ones(n)
    for _ in range(10_000):
        weights = B @ weights + 1e-3 * B.max() * weights
        weights /= weights.max()
    return np.maximum(weights**1.5, least)


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


def mutual_information(one, other):
    """sum p(a, b) log p(a, b) / (p(a) p(b))."""
    n, total = len(one), 0.0
    for a in set(one):
        for b in set(other):
            both = sum(1 for x, y in zip(one, other, strict=True) if (x, y) == (a, b)) / n
            if both:
                total += both * log(both / (list(one).count(a) / n * list(other).count(b) / n))
    return total


def shared_information(one, other):
    """Mutual information beyond its mean over all orders of one, over log K beyond it."""
    one, other = list(one), list(other)
    orders = list(permutations(one))
    chance = sum(mutual_information(order, other) for order in orders) / len(orders)
    finest = log(max(len(set(one)), len(set(other))))
    beyond = finest - chance
    return (mutual_information(one, other) - chance) / beyond if beyond > 1e-12 else 0.0


def are_copies(one, other):
    """Correlation of .95 of the similarities of pairs, .4 of the nearest neighbors the same."""
    n = len(one)
    near = [[[float(np.dot(X[i], X[j])) for j in range(n)] for i in range(n)] for X in (one, other)]
    pairs = [[near_[i][j] for i in range(n) for j in range(i)] for near_ in near]
    same = 0
    for i in range(n):
        others = [j for j in range(n) if j != i]
        nearest = [max(others, key=lambda j, row=near_[i]: row[j]) for near_ in near]
        same += nearest[0] == nearest[1]
    return bool(np.corrcoef(pairs)[0, 1] >= 0.95 and same / n >= 0.4)


def copies(views):
    """The first view to which each one is linked by a chain of copies."""
    found = list(range(len(views)))
    for _ in views:  # a chain is no longer than there are views
        for u in range(len(views)):
            for v in range(len(views)):
                if u != v and are_copies(views[u], views[v]):
                    found[u] = found[v] = min(found[u], found[v])
    return found
