"""Labels from mixtures: the largest share, or k-means on the mixtures."""

import numpy as np

from coview.em.starts import calm_kmeans


def topic_centres(theta: np.ndarray, seed: int) -> np.ndarray:
    """k-means centres of mixtures (documents, topics); centre k is the one that belongs to topic k.

    Where fewer distinct mixtures than topics exist, the remaining centres are the corners.
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.cluster import KMeans

    n_topics = theta.shape[1]
    n_clusters = min(n_topics, len(np.unique(theta, axis=0)))
    with calm_kmeans():
        found = KMeans(n_clusters, n_init=10, random_state=seed).fit(theta).cluster_centers_
    clusters, topics = linear_sum_assignment(found, maximize=True)
    centres = np.eye(n_topics, dtype=theta.dtype)
    centres[topics] = found[clusters]
    return centres


def nearest_centre(theta: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Index of the nearest centre for each mixture, ties to the lowest."""
    distance = (centres**2).sum(axis=1) - 2 * (theta @ centres.T)
    return distance.argmin(axis=1)
