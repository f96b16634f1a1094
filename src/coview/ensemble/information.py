"""What one clustering tells of another, beyond chance."""

from __future__ import annotations

from math import log

import numpy as np


def contingency(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return how many documents each cluster of one has in common with each of the other.

    Labels that no document has are left out.

    >>> contingency(np.array([0, 0, 3]), np.array([1, 2, 2]))
    array([[1, 1],
           [0, 1]])
    """
    (names, rows), (others, columns) = (np.unique(x, return_inverse=True) for x in (one, other))
    shape = len(names), len(others)
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def information(table: np.ndarray) -> tuple[float, float]:
    """Return the mutual information (nats) of a contingency table, and that expected by chance.

    They are those of scikit-learn, without the checks of their input: it is asked many times.

    >>> found, by_chance = information(np.array([[2, 0], [0, 2]]))
    >>> round(found, 3), round(by_chance, 3)
    (0.693, 0.231)
    """
    from sklearn.metrics.cluster import expected_mutual_information

    if min(table.shape) < 2:
        return 0.0, 0.0
    total = table.sum()
    rows, columns = table.nonzero()
    meet = table[rows, columns]
    chance = table.sum(axis=1)[rows] * table.sum(axis=0)[columns]
    share = meet / total
    unlikely = -np.log(chance) + log(total) + log(total)
    each = share * (np.log(meet) - log(total)) + share * unlikely
    each = np.where(np.abs(each) < np.finfo(each.dtype).eps, 0.0, each)
    found = float(np.clip(each.sum(), 0.0, None))
    return found, float(expected_mutual_information(table, int(total)))


def shared_information(one: np.ndarray, other: np.ndarray) -> float:
    """Return what one clustering tells of another, as a share of what the finest could tell.

    It is the mutual information beyond chance, divided by the entropy of clusters of equal size.
    Adjusted mutual information is divided by the entropies of the two instead, so that a split into
    one large cluster and a few small ones counts for as much as one that tells more.

    >>> halves = np.array([0, 0, 0, 1, 1, 1])
    >>> round(shared_information(halves, 1 - halves), 6)
    1.0
    """
    table = contingency(one, other)
    n_clusters = max(table.shape)
    if n_clusters < 2:
        return 0.0
    found, by_chance = information(table)
    finest = np.log(n_clusters)
    # as chance could tell all where clusters are documents
    return float((found - by_chance) / (finest - by_chance)) if finest > by_chance else 0.0
