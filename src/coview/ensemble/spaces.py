"""Families: the ways to see all views of documents at once, in which they are clustered.

A family is a space with a row for each document: the fused embeddings of the views, the same
smoothed over a graph of neighbors, eigenvectors of such a graph (spectral clustering of Ng, Jordan
and Weiss, 2002), or diffusion maps of it (Coifman and Lafon, 2006), which weigh eigenvectors by
powers of their eigenvalues instead of cutting them off.

Neighbors are searched in two ways, and each has its families: by embeddings, in which documents can
be near without a word in common, and by all features. In noisy short texts the second find the
better neighbors, since the leading directions leave out the rare words that two of them share; in
parallel or very long texts the first. Which of them tell more is left to their replicability.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature

import numpy as np
import scipy.sparse as sp

from coview.ensemble.features import Rows, Seen, fuse, unit_rows
from coview.ensemble.neighbors import likeness, nearest_by_views, nearest_points

VIEW_NEIGHBORS = 15  # in each view
FUSED_NEIGHBORS = (10, 20)  # in the fused space
FEWEST_NEIGHBORS = 3
FEW_DOCUMENTS = 500  # a table of all their pairs is small
SELF_WEIGHT = 0.15  # of a document itself where it is smoothed over its neighbors
SMOOTHINGS = (2, 4)
DIFFUSION_TIMES = (4, 8)
MORE_VECTORS = 20  # than clusters, where spaces serve many numbers
FEW_CLUSTERS = 8  # for which neighbors are searched where spaces serve many numbers
LINKS_DENSITY = 0.1  # a square view with more non-zeros than this share is no graph of links


# -- graphs ----------------------------------------------------------------------------------------


def nearest_rows(points: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Return the nearest other rows (documents, n_neighbors) by cosine, nearest first.

    The rows have length one. There are fewer neighbors where there are fewer other rows.
    """
    return nearest_points(points, points, n_neighbors, own=np.arange(len(points)))


def graph_of(
    near: np.ndarray, docs: np.ndarray, n_docs: int, among: np.ndarray | None = None
) -> sp.csr_array:
    """Return the graph of all documents with an edge where either of two is near the other.

    `near` (documents in `docs`, neighbors) are places in `among`, by default in `docs`.
    """
    among = docs if among is None else among
    ends = np.repeat(docs, near.shape[1]), among[near.ravel()]
    if n_docs <= FEW_DOCUMENTS:
        return _small_graph(*ends, n_docs)
    graph = sp.csr_array((np.ones(near.size, np.float32), ends), shape=(n_docs, n_docs))
    graph = sp.csr_array(graph + graph.T)
    graph.data[:] = 1
    return graph


def _small_graph(ends: np.ndarray, others: np.ndarray, n_docs: int) -> sp.csr_array:
    """Return the same graph by a table of all pairs: most of a sum of small graphs is overhead."""
    linked = np.zeros((n_docs, n_docs), bool)
    linked[ends, others] = linked[others, ends] = True
    indptr = np.append(0, np.cumsum(np.count_nonzero(linked, axis=1)))
    indices = np.nonzero(linked)[1].astype(np.int32)
    values = np.ones(len(indices), np.float32)
    return sp.csr_array((values, indices, indptr.astype(np.int32)), shape=linked.shape)


def neighbor_graph(
    points: np.ndarray, n_neighbors: int, searched: np.ndarray | None = None
) -> sp.csr_array:
    """Return the graph of nearest neighbors; rows of zeros, which lack the view, have no edge.

    `searched` are the documents among which neighbors are searched, by default all.
    """
    docs = np.flatnonzero(points.any(axis=1))
    among = docs if searched is None else searched[points[searched].any(axis=1)]
    place = np.full(len(points), -1)
    place[among] = np.arange(len(among))
    near = nearest_points(points[docs], points[among], n_neighbors, own=place[docs])
    return graph_of(near, docs, len(points), among)


def is_links(matrix: sp.csr_array) -> bool:
    """Return whether a view is a graph of the documents itself: square, sparse and symmetric.

    >>> is_links(sp.csr_array(np.eye(40)[::-1]))
    True
    """
    n, width = matrix.shape
    return n == width and matrix.nnz <= LINKS_DENSITY * n * n and not (matrix != matrix.T).nnz


def links_graph(matrix: sp.csr_array) -> sp.csr_array:
    """Return a view of links as a graph, without links of documents to themselves."""
    graph = sp.csr_array(matrix, dtype=np.float32, copy=True)
    graph.setdiag(0)
    graph.eliminate_zeros()
    return graph


def sum_of_graphs(graphs: Sequence[sp.csr_array], weights: np.ndarray) -> sp.csr_array:
    """Return sum_v w_v^2 G_v."""
    return sp.csr_array(sum(np.float32(w * w) * g for w, g in zip(weights, graphs, strict=True)))


def mean_degree_one(graph: sp.csr_array) -> sp.csr_array:
    """Return the graph scaled so that the mean degree of documents is one."""
    total = float(graph.sum())
    return graph * np.float32(graph.shape[0] / total) if total > 0 else graph


def symmetric_normalization(graph: sp.csr_array) -> sp.csr_array:
    """Return D^-1/2 G D^-1/2; documents without an edge have rows of zeros."""
    degree = np.asarray(graph.sum(axis=1, dtype=np.float64)).ravel()
    root = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    rows = np.repeat(root, np.diff(graph.indptr))
    values = rows * graph.data * root[graph.indices]
    return sp.csr_array((values, graph.indices, graph.indptr), shape=graph.shape)


# -- families --------------------------------------------------------------------------------------


def usual_neighbors(wanted: int, n_docs: int, n_clusters: int) -> int:
    """Return how many neighbors to search: at most two thirds of the documents of a cluster.

    A graph with more neighbors than a cluster has documents cannot tell it from others.

    >>> usual_neighbors(15, 1000, 5), usual_neighbors(15, 90, 5)
    (15, 12)
    """
    return min(wanted, max(2 * n_docs // (3 * n_clusters), FEWEST_NEIGHBORS))


def view_graph(points: Rows, has: np.ndarray, n_clusters: int) -> sp.csr_array:
    """Return the graph of nearest neighbors in one view, among the documents that have it."""
    docs = np.flatnonzero(has)
    k = usual_neighbors(VIEW_NEIGHBORS, len(docs), n_clusters)
    near = nearest_points(points[docs], points[docs], k, own=np.arange(len(docs)))
    return graph_of(near, docs, len(has))


def agreed(
    graph: sp.csr_array, points: Sequence[Rows], has: np.ndarray, weights: np.ndarray
) -> sp.csr_array:
    """Return the graph with each edge times how alike all views find its two ends, same total.

    Neighbors in a view say who is near, and nothing of who is far. Two clusters that one view tells
    apart and several do not would be linked by the neighbors in all of these.
    """
    ends = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices
    values = graph.data * np.maximum(likeness(points, has, weights, *ends), 0)
    total = values.sum()
    if not total > 0:  # no two neighbors are more alike than any two documents
        return graph
    values *= graph.data.sum() / total
    return sp.csr_array((values, graph.indices, graph.indptr), shape=graph.shape)


def families(
    seen: Seen,
    links: Sequence[sp.csr_array | None],
    weights: np.ndarray,
    n_clusters: int,
    rng: np.random.Generator,
    quick: bool = False,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name of each family and its space (documents, dimensions), rows of length one.

    Views of links have their own graph in place of one of neighbors. `quick` ones are the fused
    space and what is smoothed over the neighbors by features: many eigenvectors of a graph cost
    more than EM itself. A single view is the fused space itself: its neighbors are searched once,
    and it has no family of its own.
    """
    fused = fuse(seen.embeddings, weights)
    yield "fused", fused
    graphs = _graphs_by_features(seen, links, weights, n_clusters)
    if quick:
        yield from _smoothed(fused, graphs.both, "by features")
        return
    alone = len(links) == 1
    yield from _of_graphs(fused, graphs, n_clusters, rng, "by features", alone)
    graphs = _graphs_by_embedding(seen, fused, links, weights, n_clusters)
    yield from _of_graphs(fused, graphs, n_clusters, rng, "by embedding", alone)


def families_along(
    seen: Seen,
    links: Sequence[sp.csr_array | None],
    weights: np.ndarray,
    most_clusters: int,
    rng: np.random.Generator,
) -> Iterator[tuple[str, Callable[[int], np.ndarray]]]:
    """Yield the name of each family and a function from a number of clusters to its space.

    As `families`, for all numbers up to `most_clusters` at once: graphs and eigenvectors are
    computed once, and a space for few clusters has the leading ones. There is one family of each
    kind, since many numbers are tried.
    """
    fused = fuse(seen.embeddings, weights)
    yield "fused", partial(_leading, fused, None)
    ways = {
        "by features": _graphs_by_features(seen, links, weights, FEW_CLUSTERS),
        "by embedding": _graphs_by_embedding(seen, fused, links, weights, FEW_CLUSTERS),
    }
    for how, graphs in ways.items():
        smoothed = next(_smoothed(fused, graphs.both, how))[1]
        number = most_clusters + min(most_clusters, MORE_VECTORS)
        values, vectors = eigenvectors(graphs.both, number, rng)
        diffused = vectors * values ** DIFFUSION_TIMES[0]
        yield f"smoothed, {how}", partial(_leading, smoothed, None)
        yield f"spectral, {how}", partial(_leading, vectors, 1)
        yield f"diffusion, {how}", partial(_leading, diffused, 2)


def _leading(points: np.ndarray, each: int | None, n_clusters: int) -> np.ndarray:
    """Return the leading columns, `each` for a cluster, rows of length one; all if it is None."""
    return points if each is None else unit_rows(points[:, : each * n_clusters])


@dataclass(frozen=True)
class _Graphs:
    """Graphs of neighbors: in the fused space, the weighted sum of those in the views, and both."""

    fused: sp.csr_array
    of_views: sp.csr_array
    both: sp.csr_array


def _graphs_by_features(
    seen: Seen, links: Sequence[sp.csr_array | None], weights: np.ndarray, n_clusters: int
) -> _Graphs:
    docs = np.flatnonzero(seen.has.any(axis=1))
    k = usual_neighbors(max(FUSED_NEIGHBORS), len(docs), n_clusters)
    near = nearest_by_views([rows[docs] for rows in seen.features], seen.has[docs], weights, k)
    return _graphs(near, docs, seen.features, seen.has, links, weights, n_clusters)


def _graphs_by_embedding(
    seen: Seen,
    fused: np.ndarray,
    links: Sequence[sp.csr_array | None],
    weights: np.ndarray,
    n_clusters: int,
) -> _Graphs:
    docs = np.flatnonzero(fused.any(axis=1))
    near = nearest_rows(fused[docs], usual_neighbors(max(FUSED_NEIGHBORS), len(docs), n_clusters))
    return _graphs(near, docs, seen.embeddings, seen.has, links, weights, n_clusters)


def _graphs(
    near: np.ndarray,
    docs: np.ndarray,
    points: Sequence[Rows],
    has: np.ndarray,
    links: Sequence[sp.csr_array | None],
    weights: np.ndarray,
    n_clusters: int,
) -> _Graphs:
    """Return the graphs of the neighbors `near` of `docs` in the fused space, and in each view.

    The neighbors in a single view are those in the fused space.
    """
    few, many = (
        graph_of(near[:, : k * near.shape[1] // max(FUSED_NEIGHBORS)], docs, len(has))
        for k in FUSED_NEIGHBORS
    )
    if len(links) == 1:
        k = usual_neighbors(VIEW_NEIGHBORS, len(docs), n_clusters)
        own = graph_of(near[:, :k], docs, len(has)) if links[0] is None else links[0]
        of_views = mean_degree_one(own)
    else:
        found = np.array([own is None for own in links])
        each = zip(points, has.T, links, strict=True)
        graphs = [view_graph(p, h, n_clusters) if own is None else own for p, h, own in each]
        neighbors = agreed(sum_of_graphs(graphs, weights * found), points, has, weights)
        of_views = mean_degree_one(neighbors + sum_of_graphs(graphs, weights * ~found))
    return _Graphs(many, of_views, sp.csr_array(mean_degree_one(few + many) + of_views))


def _of_graphs(
    fused: np.ndarray,
    graphs: _Graphs,
    n_clusters: int,
    rng: np.random.Generator,
    how: str,
    alone: bool,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the families of one way to search neighbors."""
    yield from _smoothed(fused, graphs.both, how)
    if not alone:
        yield f"spectral, fused, {how}", spectral(graphs.fused, n_clusters, rng)
        yield f"spectral, views, {how}", spectral(graphs.of_views, n_clusters, rng)
    values, vectors = eigenvectors(graphs.both, 2 * n_clusters, rng)
    yield f"spectral, both, {how}", unit_rows(vectors[:, :n_clusters])
    for time in DIFFUSION_TIMES:
        yield f"diffusion {time}, {how}", unit_rows(vectors * values**time)


def _smoothed(fused: np.ndarray, graph: sp.csr_array, how: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the fused space smoothed over a graph, by S = D^-1/2 G D^-1/2 + .15 I."""
    own = SELF_WEIGHT * sp.eye_array(len(fused), format="csr")
    smoother = sp.csr_array(symmetric_normalization(graph) + own, dtype=fused.dtype)
    points = fused
    for times in range(1, max(SMOOTHINGS) + 1):
        points = smoother @ points
        if times in SMOOTHINGS:
            yield f"smoothed {times}, {how}", unit_rows(points)


def spectral(graph: sp.csr_array, n_vectors: int, rng: np.random.Generator) -> np.ndarray:
    """Return the rows of the leading eigenvectors of a graph, scaled to length one."""
    return unit_rows(eigenvectors(graph, n_vectors, rng)[1])


def eigenvectors(
    graph: sp.csr_array, number: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading eigenvalues, from 0 to 1, and eigenvectors of D^-1/2 G D^-1/2.

    Those of a graph without edges are zeros: it tells nothing.
    """
    n = graph.shape[0]
    if not graph.nnz:
        return np.zeros(min(number, n)), np.zeros((n, min(number, n)))
    # plus one: Lanczos finds the largest in modulus faster than the algebraically largest
    shifted = symmetric_normalization(graph) + sp.eye_array(n, format="csr")
    if 2 * number >= n:
        values, vectors = np.linalg.eigh(shifted.toarray())
    else:
        values, vectors = _lanczos(shifted, _of_parts(graph, number), number, rng)
    leading = np.argsort(-values, kind="stable")[:number]
    return np.clip(values[leading] - 1, 0, 1), vectors[:, leading]


def _of_parts(graph: sp.csr_array, most: int) -> np.ndarray:
    """Return the eigenvectors of eigenvalue one: one for each part that is not linked to others.

    Of more than `most` parts, those of the parts with most edges.
    """
    from scipy.sparse.csgraph import connected_components

    part = connected_components(graph, directed=False)[1]
    degree = np.asarray(graph.sum(axis=1, dtype=np.float64)).ravel()
    n_edges = np.bincount(part, weights=degree)
    largest = np.argsort(-n_edges, kind="stable")[:most]
    largest = largest[n_edges[largest] > 0]
    inside = part[:, np.newaxis] == largest
    return np.where(inside, np.sqrt(degree)[:, np.newaxis], 0) / np.sqrt(n_edges[largest])


def _lanczos(
    shifted: sp.csr_array, known: np.ndarray, number: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading eigenvalues and eigenvectors, of which some of eigenvalue two are known.

    Lanczos sees an eigenvalue only once, however many eigenvectors it has: where the graph has
    several parts, those that are known are taken out.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    if known.shape[1] <= 1:
        known, matrix = known[:, :0], shifted
    elif known.shape[1] >= number:
        return np.full(number, 2.0), known
    else:
        matrix = LinearOperator(
            shifted.shape, lambda x: shifted @ x - 2 * (known @ (known.T @ x)), dtype=np.float64
        )
    # where it finds no more by itself, it goes on with random vectors: these must be ours
    ours = {"rng": rng} if "rng" in signature(eigsh).parameters else {}
    wanted, first = number - known.shape[1], rng.random(len(known))
    values, vectors = eigsh(matrix, k=wanted, which="LM", v0=first, tol=1e-3, **ours)
    return np.append(values, np.full(known.shape[1], 2.0)), np.hstack([vectors, known])
