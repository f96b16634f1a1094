"""Replicability: do two halves of the features, or of the documents, find the same clusters?

Features. The columns of each view are dealt into two halves, and the documents are clustered by
each half alone. Documents. All features, but clusters are found in either half of the documents,
and the others are assigned to the nearest center. Either way there are two clusterings of the same
documents, and their agreement is the adjusted mutual information: 1 if they are equal, 0 by chance
whatever the number of clusters. Below the right number clusters are merged differently by the
halves, above it split differently, so that the agreement is largest there.

The adjusted mutual information divides by the mean entropy of the clusterings, which grows with
their number: coarse splits are favored. Undivided it is the information (in bits) that the
halves share beyond chance, which instead stays nearly level beyond the right number.

Clusters are those of Ward's method, improved by k-means: one tree serves all numbers of clusters,
and there are no bad random starts, which would spoil the agreement of many clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from coview.em.starts import kmeans_labels
from coview.ensemble.information import contingency, information
from coview.selection.features import ViewFeatures, deal_halves, embedding


@dataclass(frozen=True)
class Agreement:
    """How far two clusterings agree: adjusted mutual information, and bits beyond chance."""

    adjusted: float
    bits: float


Path = dict[int, np.ndarray]  # a label for each document, by the number of clusters


def feature_halves(
    features: Sequence[ViewFeatures],
    weights: Sequence[float],
    topics: Sequence[int],
    n_dims: int,
    rng: np.random.Generator,
) -> dict[int, Agreement]:
    """Return the agreement of the clusters of two random halves of the features.

    Numbers of topics that cannot be compared (a half without features) are left out.
    """
    halves = deal_halves([f.width for f in features], rng)
    present = [f.present for f in features]
    paths = []
    for which in (0, 1):
        columns = [np.flatnonzero(h == which) for h in halves]
        parts = [f.points[:, c] for f, c in zip(features, columns, strict=True)]
        points = embedding(parts, present, weights, n_dims, rng)
        if not points.any():
            return {}
        paths.append(cluster_path(points, topics, rng))
    return {k: agreement(paths[0][k], paths[1][k]) for k in topics}


def document_halves(
    points: np.ndarray, topics: Sequence[int], rng: np.random.Generator
) -> dict[int, Agreement]:
    """Return the agreement of clusters found in two random halves of the documents."""
    order = rng.permutation(len(points))
    halves = np.sort(order[: len(points) // 2]), np.sort(order[len(points) // 2 :])
    possible = [k for k in topics if k <= len(points) // 2]
    paths = [_assigned(points, half, possible, rng) for half in halves]
    return {k: agreement(paths[0][k], paths[1][k]) for k in possible}


def whole_points(
    features: Sequence[ViewFeatures],
    weights: Sequence[float],
    n_dims: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the embedding of the documents by all features."""
    parts, present = [f.points for f in features], [f.present for f in features]
    return embedding(parts, present, weights, n_dims, rng)


def _assigned(
    points: np.ndarray, half: np.ndarray, topics: Sequence[int], rng: np.random.Generator
) -> Path:
    """Cluster one half of the documents, and assign all to the nearest centers."""
    from coview.new_documents import nearest_center

    found = cluster_path(points[half], topics, rng)
    return {
        k: nearest_center(points, _means(points[half], labels, k)) for k, labels in found.items()
    }


def cluster_path(points: np.ndarray, topics: Sequence[int], rng: np.random.Generator) -> Path:
    """Return clusters of every number: Ward's method, improved by k-means."""
    return {k: kmeans_labels(points, k, rng, start) for k, start in _ward_centers(points, topics)}


def _ward_centers(points: np.ndarray, topics: Sequence[int]) -> Iterator[tuple[int, np.ndarray]]:
    from scipy.cluster.hierarchy import linkage

    tree = linkage(points, "ward")
    for k in topics:
        yield k, _means(points, cut(tree, k), k)


def cut(tree: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the clusters of a tree of `scipy.cluster.hierarchy`, numbered by their first points.

    As `cut_tree` of scipy, which takes longer than all the rest.

    >>> from scipy.cluster.hierarchy import linkage
    >>> cut(linkage([[0.0], [9.0], [1.0], [9.5]], "ward"), 2)
    array([0, 1, 0, 1])
    """
    n_points = len(tree) + 1
    n_merges = n_points - n_clusters
    above = np.arange(n_points + len(tree))
    above[tree[:n_merges, :2].astype(int)] = n_points + np.arange(n_merges)[:, None]
    while (above[above] != above).any():
        above = above[above]
    _, first, cluster = np.unique(above[:n_points], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[cluster]


def _means(points: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the centers of clusters; one without points is at infinity, nearest to none."""
    sums = np.zeros((n_clusters, points.shape[1]))
    np.add.at(sums, labels, points)
    sizes = np.bincount(labels, minlength=n_clusters)[:, None]
    return np.divide(sums, sizes, out=np.full_like(sums, 1e6), where=sizes > 0)


def agreement(first: np.ndarray, second: np.ndarray) -> Agreement:
    """Compare two clusterings of the same documents; one cluster agrees with nothing.

    >>> agreement(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])).adjusted
    1.0
    """
    table = contingency(first, second)
    if min(table.shape) < 2:
        return Agreement(0.0, 0.0)
    found, chance = information(table)
    beyond = found - chance
    most = (_entropy(table.sum(axis=0)) + _entropy(table.sum(axis=1))) / 2 - chance
    adjusted = beyond / most if most > 1e-12 else 0.0
    return Agreement(float(adjusted), float(beyond / np.log(2)))


def _entropy(sizes: np.ndarray) -> float:
    shares = sizes / sizes.sum()
    return float(-(shares * np.log(shares)).sum())
