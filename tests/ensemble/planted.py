"""Views with planted clusters for the tests of the ensemble, beside views that know nothing."""

import numpy as np
import scipy.sparse as sp

from coview.datasets import make_views

N_DOCS, N_CLUSTERS = 160, 4


def sparse_views(seed, **options):
    """Two views of counts from which the clusters can be told."""
    options = {"concentration": 0.03, **options}
    return make_views(N_DOCS, N_CLUSTERS, {"text": 60, "image": 40}, random_state=seed, **options)


def dense_view(labels, seed, n_features=12):
    """Measurements around the centers of the clusters."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(4, n_features))[labels] * 2 + rng.normal(size=(len(labels), n_features))


def blobs(rng, n_docs=90, n_clusters=3, n_dims=6, noise=0.15):
    """Unit rows around the axes, with their clusters."""
    labels = np.arange(n_docs) % n_clusters
    points = np.eye(n_clusters, n_dims)[labels] + noise * rng.normal(size=(n_docs, n_dims))
    return points / np.linalg.norm(points, axis=1, keepdims=True), labels


def symmetric_graph(rng, n_docs=20, density=0.2):
    """A random weighted graph in which the last document has no edge."""
    graph = rng.random((n_docs, n_docs)) * (rng.random((n_docs, n_docs)) < density)
    graph = graph + graph.T
    np.fill_diagonal(graph, 0)
    graph[-1] = graph[:, -1] = 0
    return sp.csr_array(graph)


def same_span(a, b):
    """The largest angle between the spans of columns, in radians."""
    from scipy.linalg import subspace_angles

    return float(subspace_angles(a, b).max())
