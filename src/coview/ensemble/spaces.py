"""Families: the ways to see all views of documents at once, in which they are clustered.

A family is a space with a row for each document: the fused embeddings of the views, the same
smoothed over a graph of neighbors, eigenvectors of such a graph (spectral clustering of Ng, Jordan
and Weiss, 2002), or diffusion maps of it (Coifman and Lafon, 2006), which weigh eigenvectors by
powers of their eigenvalues instead of cutting them off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import signature

import numpy as np
import scipy.sparse as sp

from coview.ensemble.features import unit_rows
from coview.ensemble.neighbors import nearest_points

VIEW_NEIGHBORS = 15  # in each view
FUSED_NEIGHBORS = (10, 20)  # in the fused space
SELF_WEIGHT = 0.15  # of a document itself where it is smoothed over its neighbors
SMOOTHINGS = (2, 4)
DIFFUSION_TIMES = (4, 8)
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
    graph = sp.csr_array((np.ones(near.size, np.float32), ends), shape=(n_docs, n_docs))
    graph = sp.csr_array(graph + graph.T)
    graph.data[:] = 1
    return graph


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
    """Return sum_v w_v^2 G_v, with a mean degree of one."""
    total = sum(np.float32(w * w) * g for w, g in zip(weights, graphs, strict=True))
    return mean_degree_one(sp.csr_array(total))


def mean_degree_one(graph: sp.csr_array) -> sp.csr_array:
    """Return the graph scaled so that the mean degree of documents is one."""
    total = float(graph.sum())
    return graph * np.float32(graph.shape[0] / total) if total > 0 else graph


def symmetric_normalization(graph: sp.csr_array) -> sp.csr_array:
    """Return D^-1/2 G D^-1/2; documents without an edge have rows of zeros."""
    degree = np.asarray(graph.sum(axis=1, dtype=np.float64)).ravel()
    root = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    scale = sp.diags_array(root)
    return sp.csr_array(scale @ graph @ scale)


# -- families --------------------------------------------------------------------------------------


def families(
    fused: np.ndarray, of_views: sp.csr_array, n_clusters: int, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name of each family and its space (documents, dimensions), rows of length one.

    `fused` are the fused embeddings, `of_views` is the weighted sum of the views' graphs.
    """
    docs = np.flatnonzero(fused.any(axis=1))
    near = nearest_rows(fused[docs], max(FUSED_NEIGHBORS))
    few, many = (graph_of(near[:, :k], docs, len(fused)) for k in FUSED_NEIGHBORS)
    both = sp.csr_array(mean_degree_one(few + many) + of_views)
    yield "fused", fused
    yield from _smoothed(fused, both)
    yield "spectral, fused", spectral(many, n_clusters, rng)
    yield "spectral, views", spectral(of_views, n_clusters, rng)
    values, vectors = eigenvectors(both, 2 * n_clusters, rng)
    yield "spectral, both", unit_rows(vectors[:, :n_clusters])
    for time in DIFFUSION_TIMES:
        yield f"diffusion {time}", unit_rows(vectors * values**time)


def _smoothed(fused: np.ndarray, graph: sp.csr_array) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the fused space smoothed over a graph, by S = D^-1/2 G D^-1/2 + .15 I."""
    own = SELF_WEIGHT * sp.eye_array(len(fused), format="csr")
    smoother = sp.csr_array(symmetric_normalization(graph) + own, dtype=fused.dtype)
    points = fused
    for times in range(1, max(SMOOTHINGS) + 1):
        points = smoother @ points
        if times in SMOOTHINGS:
            yield f"smoothed {times}", unit_rows(points)


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
