"""Labels from mixtures: the largest share, or k-means on the mixtures."""

import numpy as np

from coview.em.starts import deterministic_kmeans


def topic_centers(theta: np.ndarray, seed: int) -> np.ndarray:
    """k-means centers of mixtures (documents, topics); center k is the one that belongs to topic k.

    Where fewer distinct mixtures than topics exist, the remaining centers are the corners.
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.cluster import KMeans

    n_topics = theta.shape[1]
    n_clusters = min(n_topics, len(np.unique(theta, axis=0)))
    with deterministic_kmeans():
        found = KMeans(n_clusters, n_init=10, random_state=seed).fit(theta).cluster_centers_
    clusters, topics = linear_sum_assignment(found, maximize=True)
    centers = np.eye(n_topics, dtype=theta.dtype)
    centers[topics] = found[clusters]
    return centers


def nearest_center(theta: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Index of the nearest center for each mixture, ties to the lowest."""
    distance = (centers**2).sum(axis=1) - 2 * (theta @ centers.T)
    return distance.argmin(axis=1)
