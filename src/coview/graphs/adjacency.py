"""Adjacency matrices of graphs over documents: checked, made from links, and summed.

A graph is a symmetric CSR array (documents, documents) of positive weights without a diagonal. Such
graphs smooth the mixtures of documents in `LTM` and `MGGM`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reading.links import directed_links
from coview.views.checks import DataWarning
from coview.views.matrix_checks import frozen_csr
from coview.views.sparse_formats import checked_sparse
from coview.wording import location, plural, quoted


def check_graph(
    graph: Any, n_docs: int, name: str = "graph", *, allow_empty: bool = False
) -> sp.csr_array:
    """Return a user's own graph (citations, links) as a symmetric CSR array of positive weights.

    Links from a document to itself are dropped. Links in one direction count in both, with a
    warning; of two different weights the larger one is used.

    Parameters
    ----------
    graph : scipy.sparse array or matrix, or array-like, of shape (n_docs, n_docs)
        Weights of the edges, 0 for none. Never altered.
    n_docs : int
    name : str, default="graph"
        Name of the graph, for the messages.
    allow_empty : bool, default=False
        Whether to accept a graph without a single edge. If the weights of graphs are learned, such
        a graph gets all the weight, which switches the penalty off.

    Returns
    -------
    csr_array of shape (n_docs, n_docs)

    Examples
    --------
    >>> check_graph([[1, 2], [2, 0]], 2).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    edges = _edges(graph, name)
    if edges.shape != (n_docs, n_docs):
        raise ValueError(
            f"Graph {quoted(name)} must have a row and a column for each of "
            f"{plural(n_docs, 'document')}, found the shape {edges.shape}."
        )
    _check_weights(edges, name)
    rows = np.repeat(np.arange(n_docs), np.diff(edges.indptr))
    edges.data[edges.indices == rows] = 0
    edges.eliminate_zeros()
    if not (edges.nnz or allow_empty):
        raise ValueError(f"Graph {quoted(name)} joins no two documents: leave it out.")
    return frozen_csr(_undirected(edges, name))


def _edges(graph: Any, name: str) -> sp.csr_array:
    """Return any matrix as a canonical CSR in double precision, over buffers of its own."""
    try:
        # the format is checked first: damaged indices make compiled code read foreign memory
        shell = checked_sparse(graph) if sp.issparse(graph) else np.asarray(graph)
        edges = sp.csr_array(shell.astype(np.float64, casting="same_kind"), copy=True)
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"Graph {quoted(name)} must be a matrix of numbers: {error}.") from error
    edges.sum_duplicates()
    return edges


def _check_weights(edges: sp.csr_array, name: str) -> None:
    wrong = np.flatnonzero(~((edges.data >= 0) & (edges.data < np.inf)))  # NaN is neither
    if len(wrong):
        row = int(np.searchsorted(edges.indptr, wrong[0], side="right")) - 1
        raise ValueError(
            f"Graph {quoted(name)} has the weight {edges.data[wrong[0]]:g} at "
            f"{location(row, int(edges.indices[wrong[0]]))}. Weights of edges must be finite and "
            ">= 0."
        )


def _undirected(edges: sp.csr_array, name: str) -> sp.csr_array:
    reverse = edges.T.tocsr()
    differ = (edges - reverse).tocoo()  # scipy stores no zeros here
    if not differ.nnz:
        return edges
    message = (
        f"Graph {quoted(name)} is not symmetric in {plural(differ.nnz // 2, 'pair')} of documents, "
        f"first {location(int(differ.row[0]), int(differ.col[0]))}: the larger counts both ways."
    )
    warnings.warn(message, DataWarning, stacklevel=3)
    return edges.maximum(reverse)


def edge_graph(edges: Any, ids: Iterable[Any], *, unknown: str = "error") -> sp.csr_array:
    """Return links as an undirected graph, for ``LTM(graph=...)`` and ``MGGM(graphs=...)``.

    Links from a document to itself are dropped, and repeated links are summed. Of the weights of
    two directions the larger one is used.

    Parameters
    ----------
    edges : path, or iterable of (source, target) or (source, target, weight)
        As in `Views.from_graph`.
    ids : sequence of str
        The documents, in the order of the views to be fitted (``views.ids``).
    unknown : {"error", "ignore"}, default="error"
        What to do with links from or to documents that `ids` does not list.

    Returns
    -------
    csr_array of shape (n_docs, n_docs)
        Symmetric, without a diagonal.

    Examples
    --------
    >>> edge_graph([("a", "b"), ("b", "a"), ("b", "b"), ("c", "b", 2)], ["a", "b", "c"]).toarray()
    array([[0., 1., 0.],
           [1., 0., 2.],
           [0., 2., 0.]])
    """
    links, names = directed_links(edges, ids, unknown=unknown)
    return check_graph(links.maximum(sp.csr_array(links.T)), len(names))


def sum_graphs(graphs: Sequence[sp.csr_array], weights: Sequence[float]) -> sp.csr_array:
    """Return the weighted sum of graphs, E = sum_t mu_t U^t: Eq. 11 of Wang et al. (2017).

    Parameters
    ----------
    graphs : sequence of csr_array of shape (n_docs, n_docs)
    weights : sequence of float
        A graph of weight 0 adds no edge.

    Returns
    -------
    csr_array of shape (n_docs, n_docs)

    Examples
    --------

    >>> sum_graphs([sp.csr_array([[0.0, 1.0], [1.0, 0.0]])] * 2, [0.25, 0.5]).toarray()
    array([[0.  , 0.75],
           [0.75, 0.  ]])
    """
    parts = [float(w) * g for w, g in zip(weights, graphs, strict=True) if w > 0]
    return sum(parts, start=sp.csr_array(graphs[0].shape))
