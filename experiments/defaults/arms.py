"""What is compared: the five simple baselines, and settings of coview, by name.

To add one, add a line to `MODELS` (and to `ABLATION` for a row in that table). A setting that this
version does not know fails when it is run, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import coview
from coview import LinkPLSA, Views
from coview.baselines import KMeansViews, SpectralConcat
from coview.baselines.kmeans import best_kmeans
from coview.em.features import Features
from coview.em.starts import spectral_embedding
from coview.graphs.neighbors import knn_graph

Cluster = Callable[[Views, int, int], np.ndarray]  # views, number of clusters, seed -> labels
Fit = Callable[[Views, int, int], Any]  # views, number of topics, seed -> fitted model


# -- baselines -------------------------------------------------------------------------------------


def kmeans(views: Views, n_clusters: int, seed: int) -> np.ndarray:
    """Cluster all views side by side by k-means: tf-idf, dense views scaled, rows of length one."""
    return KMeansViews(n_clusters, random_state=seed).fit(views).labels_


def spectral(n_neighbors: int) -> Cluster:
    """Return spectral clustering of the neighbor graph of all views side by side."""

    def cluster(views: Views, n_clusters: int, seed: int) -> np.ndarray:
        model = SpectralConcat(n_clusters, n_neighbors=n_neighbors, random_state=seed)
        return model.fit(views).labels_

    return cluster


def spectral_sum(n_neighbors: int) -> Cluster:
    """Return spectral clustering of the sum of the views' neighbor graphs."""

    def cluster(views: Views, n_clusters: int, seed: int) -> np.ndarray:
        points = Features.learn(views).points(views).values()
        rng = np.random.default_rng(seed)
        with threadpool_limits(1):
            graph = sum(
                knn_graph(rows, n_neighbors, present=has)
                for rows, has in zip(points, views.present.T, strict=True)
            )
            embedding = spectral_embedding(graph, n_clusters, rng)
            return best_kmeans(embedding, n_clusters, rng).labels_

    return cluster


BASELINES: dict[str, Cluster] = {
    "km": kmeans,
    "s10": spectral(10),
    "s20": spectral(20),
    "sum10": spectral_sum(10),
    "sum20": spectral_sum(20),
}


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
