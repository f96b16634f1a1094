r"""A first guess of the class of every document, from a few labels: views, neighbors, propagation.

Labels are few, but neighbors are many. All views are put into one space, in which each has the say
it deserves (`learn_space`, without labels):

    F_v     tf-idf weights of view v, rows of length one; dense views as the model scales them
    E_v     F_v in its leading singular directions, rows of length one, zero without the view
    w_v     how far the halves of the view's columns, and those of other views, agree: see
            `coview.ensemble.reliability`
    X       rows of length one of [w_v E_v]
    G       nearest neighbors in X, plus sum_v w_v^2 (nearest neighbors in E_v, or the links
            themselves where a view is symmetric links between the documents), each of mean degree 1
    S       D^-1/2 G D^-1/2

and the labels are carried into it in two ways (`guess_classes`), whose mean is the guess:

    propagation     F = alpha S F + (1 - alpha) Y       (Zhou et al., 2004), rows sum to one
    regression      logistic regression on rows of length one of S'^2 X, S' = S with a loop at each
                    document

A new document has the guess of its nearest neighbors in X.

D. Zhou, O. Bousquet, T. Lal, J. Weston, B. Schölkopf. Learning with local and global consistency.
NIPS 2004.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.tfidf import inverse_frequencies, tfidf
from coview.ensemble.features import directions, fuse, n_dimensions, unit_rows, view_means
from coview.ensemble.neighbors import nearest_points
from coview.ensemble.reliability import ViewReliability, deal, documents_with_counts
from coview.ensemble.spaces import (
    FUSED_NEIGHBORS,
    SELF_WEIGHT,
    VIEW_NEIGHBORS,
    is_links,
    links_graph,
    mean_degree_one,
    neighbor_graph,
    symmetric_normalization,
)
from coview.views.density import is_dense

ALPHA, MAX_STEPS = 0.9, 110  # of the propagation: what is left then is below 1e-5
INVERSE_PENALTY = 10.0  # C of the logistic regression
# Neighbors are searched among all documents if these are up to 20,000. Of more documents it is a
# random sample, so that the comparisons stay as many, but at least 2,000.
MAX_PAIRS, MIN_SEARCHED = 20_000**2, 2_000
FEW_DOCUMENTS = 20_000  # scores of so many stay in the caches; a kernel for them is not worth it


# -- the space of all views ------------------------------------------------------------------------


@dataclass(frozen=True)
class FusedSpace:
    """All views as one space, and the graph of neighbors in it.

    Attributes
    ----------
    points : ndarray of shape (documents, dimensions)
        X: rows of length one, or zero.
    graph : csr_array of shape (documents, documents)
        S.
    searched : ndarray of int
        The documents among which neighbors are searched.
    reliability : ViewReliability
        How far the views can be trusted.
    maps : dict of dict
        How new documents get there: of each view the weight ``trust``, the ``basis`` (terms,
        dimensions), the ``mean`` of the documents and, where there is tf-idf, the ``idf``.
    """

    points: np.ndarray
    graph: sp.csr_array
    searched: np.ndarray
    reliability: ViewReliability
    maps: dict[str, dict[str, Any]]

    @property
    def trust(self) -> dict[str, float]:
        """The weight of each view."""
        return self.reliability.weights


def learn_space(
    counts: Mapping[str, sp.csr_array], present: np.ndarray, n_classes: int, seed: int
) -> FusedSpace:
    """Put all views into one space.

    Parameters
    ----------
    counts : dict of csr_array of shape (documents, terms)
        The views as the model works on them.
    present : ndarray of bool of shape (documents, views)
    n_classes : int
    seed : int
        Of the random projections, and of the sample of documents where there are many.
    """
    from coview.runners.native import one_native_thread

    rng = np.random.default_rng(seed)
    n_dims, n_docs = n_dimensions(n_classes), len(present)
    with one_native_thread():  # sums in several threads have no fixed order
        idf = [_idf(m, has) for m, has in zip(counts.values(), present.T, strict=True)]
        features = [_features(m, i) for m, i in zip(counts.values(), idf, strict=True)]
        has = documents_with_counts(list(counts.values()), present)
        reliability = deal(features, has, n_classes, rng).reliability(list(counts))
        trust = np.array([reliability.weights[name] for name in counts])
        bases = [directions(f, n_dims, rng) for f in features]
        embeddings = [unit_rows(f @ b) for f, b in zip(features, bases, strict=True)]
        means = view_means(embeddings)
        points = fuse(embeddings, trust, means)
        searched = _searched(n_docs, rng)
        graph = _fused_graph(list(counts.values()), embeddings, points, trust, searched)
    maps = {}
    for name, weight, basis, mean, view_idf in zip(counts, trust, bases, means, idf, strict=True):
        maps[name] = {"trust": float(weight), "basis": basis, "mean": mean}
        if view_idf is not None:
            maps[name]["idf"] = view_idf
    return FusedSpace(points, graph, searched, reliability, maps)


def _searched(n_docs: int, rng: np.random.Generator) -> np.ndarray:
    """Return the documents among which neighbors are searched: the cost stays linear."""
    most = max(MAX_PAIRS // max(n_docs, 1), MIN_SEARCHED)
    if n_docs <= most:
        return np.arange(n_docs)
    return np.sort(rng.choice(n_docs, most, replace=False))


def _idf(matrix: sp.csr_array, present: np.ndarray) -> np.ndarray | None:
    """Return inverse document frequencies, None for a view that is mostly non-zero."""
    rows = matrix[np.flatnonzero(present)].astype(np.float32)
    return inverse_frequencies(rows) if rows.nnz and not is_dense(rows) else None


def _features(matrix: sp.csr_array, idf: np.ndarray | None) -> sp.csr_array:
    """Return tf-idf of square roots, or the values as they are; rows of length one."""
    from sklearn.preprocessing import normalize

    values = matrix.astype(np.float32)
    return sp.csr_array(normalize(values)) if idf is None else tfidf(values, idf)


def _fused_graph(
    matrices: Sequence[sp.csr_array],
    embeddings: Sequence[np.ndarray],
    points: np.ndarray,
    weights: np.ndarray,
    searched: np.ndarray,
) -> sp.csr_array:
    """Return S, the normalized graph of neighbors in the fused space and in each view."""
    of_views = [
        mean_degree_one(
            links_graph(m) if is_links(m) else neighbor_graph(e, VIEW_NEIGHBORS, searched)
        )
        for m, e in zip(matrices, embeddings, strict=True)
    ]
    squares = weights**2 / (weights**2).sum()
    graph = sum(s * g for s, g in zip(squares, of_views, strict=True))
    fused = sum(neighbor_graph(points, k, searched) for k in FUSED_NEIGHBORS)
    return symmetric_normalization(graph + mean_degree_one(fused))


# -- labels ----------------------------------------------------------------------------------------


def guess_classes(space: FusedSpace, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Return p(class|d) (documents, classes) from labels, -1 for none; each class has some."""
    from coview.runners.native import one_native_thread

    if n_classes == 1:
        return np.ones((len(labels), 1))
    with one_native_thread():
        spread = propagate(space.graph, labels, n_classes)
        return (spread + _regress(_smoothed(space), labels, spread)) / 2


def propagate(graph: sp.csr_array, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Return label spreading over a normalized graph; where no label comes, the classes' shares.

    >>> chain = sp.csr_array([[0, 0.7, 0, 0], [0.7, 0, 0, 0], [0, 0, 0, 0.7], [0, 0, 0.7, 0]])
    >>> propagate(chain, np.array([0, -1, 1, -1]), 2).round(2)
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    known = np.flatnonzero(labels >= 0)
    given = np.zeros((len(labels), n_classes))
    given[known, labels[known]] = 1
    scores = _carried(graph, given)
    reached = scores.sum(axis=1, keepdims=True)
    shares = given.sum(axis=0) / len(known)
    return np.where(reached > 0, scores / np.where(reached > 0, reached, 1), shares)


def _carried(graph: sp.csr_array, given: np.ndarray) -> np.ndarray:
    """Return the scores after MAX_STEPS steps of the propagation."""
    scores, given = given, (1 - ALPHA) * given
    if graph.shape[0] <= FEW_DOCUMENTS:
        for _ in range(MAX_STEPS):
            scores = ALPHA * (graph @ scores) + given
        return scores
    from coview.kernels.graph import spread

    # the same bits, without waiting for rows that are far from each other in the memory
    arrays = graph.indptr.astype(np.uint64), graph.indices.astype(np.uint32), graph.data
    new = np.empty_like(scores)
    old = scores.copy()
    for _ in range(MAX_STEPS):
        spread(*arrays, old, ALPHA, given, new)
        old, new = new, old
    return old


def _smoothed(space: FusedSpace) -> np.ndarray:
    """Return the points smoothed twice over their neighbors, rows of length one."""
    loops = SELF_WEIGHT * sp.eye_array(space.graph.shape[0], format="csr")
    smoother = symmetric_normalization(sp.csr_array(space.graph + loops))
    return unit_rows(smoother @ (smoother @ space.points.astype(np.float64)))


def _regress(points: np.ndarray, labels: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Return the probabilities of logistic regression; `otherwise` for documents at the origin."""
    from sklearn.linear_model import LogisticRegression

    here = points.any(axis=1)
    taught = np.flatnonzero(here & (labels >= 0))
    found = otherwise.copy()
    if len(np.unique(labels[taught])) < 2:
        return found
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=1000)
    model.fit(points[taught], labels[taught])
    proba = np.zeros((int(here.sum()), found.shape[1]))
    proba[:, model.classes_] = model.predict_proba(points[here])
    found[here] = proba
    return found


# -- new documents ---------------------------------------------------------------------------------


def pack_space(space: FusedSpace) -> dict[str, Any]:
    """Return what new documents need, as plain arrays."""
    docs = space.searched[space.points[space.searched].any(axis=1)]
    return {"docs": docs, "points": space.points[docs], "maps": space.maps}


def guess_of_new(
    packed: Mapping[str, Any], counts: Mapping[str, sp.csr_array], doc_topic: np.ndarray
) -> np.ndarray:
    """Return the mean mixture of the nearest training documents of each new document.

    Parameters
    ----------
    packed : dict
        From `pack_space`.
    counts : dict of csr_array
        Some of the views, as the model works on them.
    doc_topic : ndarray of shape (training documents, topics)
        Mixtures of the training documents; the answer is uniform for documents without features.
    """
    from coview.runners.native import one_native_thread

    n_new, n_topics = next(iter(counts.values())).shape[0], doc_topic.shape[1]
    guess = np.full((n_new, n_topics), 1 / n_topics)
    with one_native_thread():
        points = _placed(packed["maps"], counts, n_new)
        here = np.flatnonzero(points.any(axis=1))
        near = packed["docs"][nearest_points(points[here], packed["points"], max(FUSED_NEIGHBORS))]
    if near.size:
        means = (doc_topic[near[:, :k]].mean(axis=1, dtype=float) for k in FUSED_NEIGHBORS)
        sums = np.add(*means)
        guess[here] = sums / sums.sum(axis=1, keepdims=True)
    return guess


def _placed(
    maps: Mapping[str, dict[str, Any]], counts: Mapping[str, sp.csr_array], n_new: int
) -> np.ndarray:
    """Return new documents as points of the space."""
    parts = []
    for name, to_space in maps.items():
        if name in counts:
            features = _features(counts[name], to_space.get("idf"))
            parts.append(unit_rows(features @ to_space["basis"]))
        else:
            parts.append(np.zeros((n_new, to_space["basis"].shape[1]), np.float32))
    weights, means = ([m[key] for m in maps.values()] for key in ("trust", "mean"))
    return fuse(parts, weights, means)
