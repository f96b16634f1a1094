"""k-means as plain loops."""

import numpy as np


def squared_distance(a, b):
    return float(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


def nearest(X, centers):
    """The first of the nearest centers of each row, and the squared distance to it."""
    labels, distances = [], []
    for row in np.asarray(X, dtype=float):
        here = [squared_distance(row, center) for center in np.asarray(centers, dtype=float)]
        labels.append(int(np.argmin(here)))
        distances.append(min(here))
    return np.array(labels), np.array(distances)


def means(X, labels, centers):
    """The mean of the rows of each cluster; the old center if it has none."""
    new = np.array(centers, dtype=float)
    for k in range(len(new)):
        rows = [row for row, label in zip(X, labels, strict=True) if label == k]
        if rows:
            new[k] = sum(np.asarray(row, dtype=float) for row in rows) / len(rows)
    return new


def lloyd_round(X, centers):
    """One round: the new centers, and the inertia before it."""
    labels, distances = nearest(X, centers)
    return means(X, labels, centers), float(distances.sum())
