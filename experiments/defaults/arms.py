"""What is compared: the ten simple baselines, and settings of coview, by name.

To add one, add a line to `MODELS` (and to `ABLATION` for a row in that table). A setting that this
version does not know fails when it is run, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import coview
from coview import LinkPLSA, Views
from coview.baselines.kmeans import best_kmeans
from coview.em.features import Features
from coview.em.starts import spectral_embedding
from coview.graphs.neighbors import knn_graph
from coview.views.density import has_negatives, is_dense_real

Cluster = Callable[[Views, int, int], np.ndarray]  # views, number of clusters, seed -> labels
Points = Callable[[Views], dict[str, Any]]  # views -> points of each (documents, features)
Fit = Callable[[Views, int, int], Any]  # views, number of topics, seed -> fitted model


# -- baselines -------------------------------------------------------------------------------------


def scaled_points(views: Views) -> dict[str, Any]:
    """Return points of each view: tf-idf, dense views scaled to [0, 1], rows of length one."""
    return Features.learn(views).points(views)


def standardized_points(views: Views) -> dict[str, Any]:
    """Return points of each view: tf-idf, dense views with mean 0 and spread 1 in each feature.

    Dense views are divided by the root of the number of their features, so that views count alike.
    Documents that lack a view are at its mean.
    """
    points = scaled_points(views)
    for v, (name, matrix) in enumerate(views.matrices.items()):
        has = views.present[:, v]
        if has_negatives(matrix) or is_dense_real(matrix[np.flatnonzero(has)]):
            rows, values = np.zeros(matrix.shape), matrix.toarray()[has].astype(float)
            spread = values.std(axis=0)
            rows[has] = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1)
            points[name] = sp.csr_array(rows / np.sqrt(matrix.shape[1]))
    return points


def kmeans(make: Points) -> Cluster:
    """Return k-means of all views side by side."""

    def cluster(views: Views, n_clusters: int, seed: int) -> np.ndarray:
        rows = sp.csr_array(sp.hstack(list(make(views).values()), format="csr"))
        return best_kmeans(rows, n_clusters, np.random.default_rng(seed)).labels_

    return cluster


def spectral(make: Points, n_neighbors: int) -> Cluster:
    """Return spectral clustering of the neighbor graph of all views side by side."""

    def cluster(views: Views, n_clusters: int, seed: int) -> np.ndarray:
        rows = sp.csr_array(sp.hstack(list(make(views).values()), format="csr"))
        return _spectral_clusters([knn_graph(rows, n_neighbors)], n_clusters, seed)

    return cluster


def spectral_sum(make: Points, n_neighbors: int) -> Cluster:
    """Return spectral clustering of the sum of the views' neighbor graphs."""

    def cluster(views: Views, n_clusters: int, seed: int) -> np.ndarray:
        pairs = zip(make(views).values(), views.present.T, strict=True)
        graphs = [knn_graph(rows, n_neighbors, present=has) for rows, has in pairs]
        return _spectral_clusters(graphs, n_clusters, seed)

    return cluster


def _spectral_clusters(graphs: Sequence[Any], n_clusters: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    with threadpool_limits(1):
        embedding = spectral_embedding(sum(graphs), n_clusters, rng)
        return best_kmeans(embedding, n_clusters, rng).labels_


def _baselines(make: Points, mark: str) -> dict[str, Cluster]:
    found = {"km": kmeans(make)}
    for kind, of_graph in (("s", spectral), ("sum", spectral_sum)):
        found |= {f"{kind}{k}": of_graph(make, k) for k in (10, 20)}
    return {name + mark: cluster for name, cluster in found.items()}


BASELINES = {**_baselines(scaled_points, ""), **_baselines(standardized_points, "z")}


# -- settings of coview ----------------------------------------------------------------------------


def link_plsa(**params: Any) -> Fit:
    """Return a fit of `LinkPLSA` with these parameters."""
    return lambda views, k, seed: LinkPLSA(k, random_state=seed, n_jobs=1, **params).fit(views)


def weights_one(views: Views, n_topics: int, seed: int) -> Any:
    """Fit the old default, but let every token count once, whatever its view."""
    params = {**OLD, "view_weights": dict.fromkeys(views.names, 1.0)}
    return link_plsa(**params)(views, n_topics, seed)


def auto(views: Views, n_topics: int, seed: int) -> Any:
    """Let `coview.auto` choose everything but the number of topics."""
    return coview.auto(views, n_topics, random_state=seed, verbose=False)


# What was the default before: the best of several starts by their objective, balanced weights.
OLD = (
    {"init": "trial", "view_weights": "balanced", "ensemble": 0}
    if "ensemble" in signature(LinkPLSA).parameters
    else {"init": "auto", "view_weights": "balanced"}
)
LEARNED = {"view_weights": "learn"}

MODELS: dict[str, Fit] = {
    "auto": auto,
    "default": link_plsa(),
    "old": link_plsa(**OLD),
    "old + weights 1": weights_one,
    "old + learned weights": link_plsa(**{**OLD, **LEARNED}),
    "balanced weights": link_plsa(view_weights="balanced"),
    "learned weights": link_plsa(**LEARNED),
    "no ensemble": link_plsa(**LEARNED, ensemble=0),
    "random start": link_plsa(**LEARNED, init="random", ensemble=0),
    "kmeans start": link_plsa(**LEARNED, init="kmeans", ensemble=0),
}

# Starts for topics: no ensemble, so that only the start differs, and as today by default.
STARTS: dict[str, Fit] = {
    "random": link_plsa(**{**OLD, "init": "random"}),
    "kmeans": link_plsa(**{**OLD, "init": "kmeans"}),
    "old": MODELS["old"],
    "consensus": link_plsa(**{**OLD, "init": "consensus"}),
    "consensus + ensemble": link_plsa(**{**OLD, "init": "consensus", "ensemble": 0.2}),
    "default": MODELS["default"],
    "auto": auto,
}

MOST_SEEDS = {"old": 3, "old + weights 1": 3, "old + learned weights": 3}  # it is slow


def _labels_of(fit: Fit) -> Cluster:
    return lambda views, n_clusters, seed: fit(views, n_clusters, seed).labels_


CLUSTERERS: dict[str, Cluster] = {
    **BASELINES,
    **{name: _labels_of(fit) for name, fit in MODELS.items()},
}
