"""What one clustering tells of another, beyond chance."""

from __future__ import annotations

from math import log

import numpy as np

SHUFFLES = 10  # by which chance is known where documents lack views


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
    by_chance = expected_mutual_information(table, int(table.sum()))
    return mutual_information(table), float(by_chance)


def mutual_information(table: np.ndarray) -> float:
    """Return the mutual information (nats) of a contingency table."""
    if min(table.shape) < 2:
        return 0.0
    total = table.sum()
    rows, columns = table.nonzero()
    meet = table[rows, columns]
    chance = table.sum(axis=1)[rows] * table.sum(axis=0)[columns]
    share = meet / total
    unlikely = -np.log(chance) + log(total) + log(total)
    each = share * (np.log(meet) - log(total)) + share * unlikely
    each = np.where(np.abs(each) < np.finfo(each.dtype).eps, 0.0, each)
    return float(np.clip(each.sum(), 0.0, None))


def shared_information(
    one: np.ndarray, other: np.ndarray, kinds: np.ndarray | None = None
) -> float:
    """Return what one clustering tells of another, as a share of what the finest could tell.

    It is the mutual information beyond chance, divided by the entropy of clusters of equal size.
    Adjusted mutual information is divided by the entropies of the two instead, so that a split into
    one large cluster and a few small ones counts for as much as one that tells more.

    What both tell of given `kinds` of documents counts as chance: both halves of the features know
    which views a document lacks, and clusters of that would come back for certain.

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
    if finest <= by_chance:  # where clusters are documents
        return 0.0
    known = by_chance if kinds is None else told_by_kinds(one, other, kinds)
    return float((found - known) / (finest - by_chance))


def told_by_kinds(one: np.ndarray, other: np.ndarray, kinds: np.ndarray) -> float:
    """Return the mutual information of clusterings that know nothing but the kinds."""
    rng = np.random.default_rng(0)
    drawn = [contingency(one, _shuffled(other, kinds, rng)) for _ in range(SHUFFLES)]
    return float(np.mean([mutual_information(table) for table in drawn]))


def _shuffled(labels: np.ndarray, kinds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the labels in another order, those of each kind of documents among themselves."""
    places, order = np.argsort(kinds, kind="stable"), np.lexsort((rng.random(len(kinds)), kinds))
    shuffled = np.empty_like(labels)
    shuffled[places] = labels[order]
    return shuffled
