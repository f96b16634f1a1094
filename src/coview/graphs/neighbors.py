"""Graphs over documents: nearest neighbors of a view, a user's own links, and their mixture.

A graph is a symmetric CSR array (documents, documents) of positive weights without a diagonal.
That of a view is Eq. 5 of Wang et al. (2017): U_is = 1 if document i is among the p nearest
of document s or s among those of i, and 0 otherwise.

The search compares all pairs, a block of rows at a time; no array is documents x documents.
Products of matrices give candidates, with a bound on their rounding errors, and sums of squared
differences in double precision rank them. So ties are ties, and neither the number of threads nor
the size of a block changes the answer. Equal documents are searched for once.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coview.params import check_choice, check_int
from coview.views.matrix_checks import DataWarning, _shell, frozen_csr
from coview.wording import place, plural, quoted

# Costs in units of one multiplication in a dense product (some .06 ns on two cores): of one in a
# sparse product, and of the choice among the distances of one pair.
SPARSE_COST, CHOICE_COST = 250, 50
MAX_WORK = 1.5e12  # of "auto": one or two minutes, 50,000 documents of 500 dense features, say
BUFFER = 1 << 25  # bytes of a block of distances
CHUNK = 1 << 20  # entries of the rows whose differences are squared at a time
INDEX_NEIGHBORS = 4  # an index is asked for this many times the neighbors that are wanted


class Pairs(NamedTuple):
    """Points, others near to them, and the squared distances."""

    points: np.ndarray
    others: np.ndarray
    distances: np.ndarray

    def where(self, index: np.ndarray) -> Pairs:
        return Pairs(*(part[index] for part in self))

    def nearest(self, most: int) -> Pairs:
        """The first few of each point by distance, ties by index; sorted."""
        pairs = self.where(np.lexsort((self.others, self.distances, self.points)))
        _, counts = np.unique(pairs.points, return_counts=True)
        return pairs.where(_ranges(np.zeros_like(counts), counts) < most)


def knn_graph(
    matrix: Any,
    n_neighbors: int = 5,
    *,
    present: np.ndarray | None = None,
    metric: str = "euclidean",
    method: str = "auto",
    seed: int = 0,
) -> sp.csr_array:
    """The graph of nearest neighbors: an edge if one of two documents is near to the other.

    Parameters
    ----------
    matrix : csr_array or ndarray of shape (n_docs, n_terms)
        One view, in the scale in which distances are to be taken.
    n_neighbors : int, default=5
        Each document looks for this many others. It is not its own neighbor, but its duplicates
        are; ties go to the document that comes first. Where there are fewer others, all are taken.
    present : ndarray of bool of shape (n_docs,), optional
        Documents that lack the view have no edge. One that has it, but no count, is a point like
        any other: the origin, which is near to all short documents.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Cosine is Euclidean between documents scaled to length one.
    method : {"auto", "exact", "approximate"}, default="auto"
        "exact" compares all pairs: time grows with the square of the documents, memory does not.
        "approximate" builds an index and needs the extra ``coview[graph]``. "auto" is exact for up
        to a minute or two (50,000 documents of 500 dense features, say), and without the extra
        beyond that too, with a warning.
    seed : int, default=0
        For the index; the same seed gives the same graph.

    Returns
    -------
    csr_array of shape (n_docs, n_docs)
        Symmetric, ones, no diagonal.

    Examples
    --------
    >>> knn_graph(np.array([[0.0], [1.0], [10.0]]), n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    check_int("n_neighbors", n_neighbors, 1)
    check_choice("metric", metric, ["euclidean", "cosine"])
    check_choice("method", method, ["auto", "exact", "approximate"])
    n_docs = matrix.shape[0]
    docs = np.arange(n_docs) if present is None else np.flatnonzero(present)
    points = _points(sp.csr_array(matrix)[docs], metric)
    first, group = _distinct(points)
    found = _search(points[first], min(n_neighbors, len(first) - 1), method, seed)
    pairs = _with_duplicates(found, group, n_neighbors)
    ends = docs[np.stack([pairs.points, pairs.others])].astype(np.int32)
    both = np.append(ends[0], ends[1]), np.append(ends[1], ends[0])
    graph = sp.csr_array((np.ones(2 * ends.shape[1]), both), shape=(n_docs, n_docs))
    graph.sum_duplicates()
    graph.data[:] = 1  # Eq. 5: one "or" the other
    return frozen_csr(graph)


def _points(rows, metric):
    """Rows in double precision, canonical, and of a size that lets no square overflow."""
    points = rows.astype(np.float64)
    points.sum_duplicates()
    points.eliminate_zeros()
    # by a power of two, which costs no digit
    points.data *= 0.5 ** np.frexp(np.abs(points.data).max(initial=0.0))[1]
    if metric == "cosine":
        points.data /= np.repeat(np.sqrt(_squared_lengths(points)), np.diff(points.indptr))
    return points


def _squared_lengths(points):
    sums = np.zeros(points.shape[0])
    filled = np.flatnonzero(np.diff(points.indptr))
    sums[filled] = np.add.reduceat(points.data**2, points.indptr[filled])
    return sums


def _ranges(starts, counts):
    """starts[0], starts[0] + 1, ... (counts[0] of them), starts[1], and so on."""
    before = np.cumsum(counts) - counts
    return np.arange(counts.sum()) + np.repeat(starts - before, counts)


def _distinct(points):
    """Where each distinct row occurs first (ascending), and which of them each row equals."""
    known: dict[tuple[bytes, bytes], int] = {}
    group = np.empty(points.shape[0], dtype=np.intp)
    for i, (start, stop) in enumerate(zip(points.indptr, points.indptr[1:], strict=False)):
        key = points.indices[start:stop].tobytes(), points.data[start:stop].tobytes()
        group[i] = known.setdefault(key, len(known))
    return np.unique(group, return_index=True)[1], group


def _with_duplicates(found: Pairs, group: np.ndarray, most: int) -> Pairs:
    """From neighbors among distinct points to those among all."""
    sizes = np.bincount(group)
    members = np.argsort(group, kind="stable")
    own = np.arange(len(sizes))
    of, near = np.append(own, found.points), np.append(own, found.others)
    # the first members of every group that is near, and one more since a point is not its own
    count = np.minimum(sizes[near], most + 1)
    others = members[_ranges((np.cumsum(sizes) - sizes)[near], count)]
    distances = np.repeat(np.append(np.zeros(len(own)), found.distances), count)
    of = np.repeat(of, count)
    # all that for each member of the group
    order, each = np.argsort(of, kind="stable"), np.bincount(of, minlength=len(own))
    index = order[_ranges((np.cumsum(each) - each)[group], each[group])]
    points = np.repeat(np.arange(len(group)), each[group])
    pairs = Pairs(points, others[index], distances[index])
    return pairs.where(pairs.points != pairs.others).nearest(most)


# -- all pairs, or an index -----------------------------------------------------------------------


def _search(points, k, method, seed):
    """The k nearest others of each of some distinct points."""
    if k < 1:
        return Pairs(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))
    if method == "approximate" or (method == "auto" and _wants_index(points)):
        return _approximate(points, k, seed)
    return _exact(points, k)


def _exact(points, k):
    search = _Blocks(points, k)
    step = max(1, BUFFER // (8 * search.n_padded))
    blocks = range(0, points.shape[0], step)
    parts = [search.nearest(i, min(i + step, points.shape[0])) for i in blocks]
    return Pairs(*map(np.concatenate, zip(*parts, strict=True)))


class _Blocks:
    """Distances from a block of points to all, as |b|^2 - 2ab, and the choice among them.

    Terms of many documents are multiplied as a dense matrix, the others as a sparse one: on text
    that is several times faster than either alone.
    """

    def __init__(self, points: sp.csr_array, k: int):
        n = points.shape[0]
        self.points, self.k = points, k
        # the k smallest minima over groups of columns bound the k smallest columns from above
        self.width = int(np.clip(n // (8 * k), 1, 64))
        self.n_padded = -(-n // self.width) * self.width
        padding = (0, self.n_padded - n)
        common = _sparse_costs(points) > float(n) ** 2
        self.dense = np.pad(points[:, common].toarray(), (padding, (0, 0)))
        self.rare = points[:, ~common]
        self.rare.resize(self.n_padded, self.rare.shape[1])
        self.rare_by_term = self.rare.T.tocsr()
        lengths = _squared_lengths(points)
        self.lengths = np.pad(lengths, padding, constant_values=np.inf)
        self.slack = _slack(points, lengths)

    def nearest(self, start: int, stop: int) -> Pairs:
        """The k nearest others of the points start to stop."""
        pairs, limit = self._candidates(start, stop)
        if self.slack is None:
            pairs = _without_late_ties(pairs, limit, self.k).nearest(self.k)
            return pairs._replace(distances=pairs.distances + self.lengths[pairs.points])
        farthest = pairs.nearest(self.k).distances.reshape(-1, self.k)[:, -1]
        limit = (farthest + self.slack[start:stop])[pairs.points - start]
        return _measured(pairs.where(pairs.distances <= limit), self.points).nearest(self.k)

    def _candidates(self, start, stop):
        """All pairs that can be among the k nearest, by index, and the limit each had to meet."""
        distances = self._distances(start, stop).reshape(stop - start, -1, self.width)
        minima = distances.min(axis=2)
        limit = np.partition(minima, self.k - 1, axis=1)[:, self.k - 1]
        if self.slack is not None:
            limit += self.slack[start:stop]
        rows, groups = np.nonzero(minima <= limit[:, None])
        near = distances[rows, groups]
        pair, lane = np.nonzero(near <= limit[rows, None])
        others = groups[pair] * self.width + lane
        return Pairs(start + rows[pair], others, near[pair, lane]), limit[rows[pair]]

    def _distances(self, start, stop):
        """|b|^2 - 2ab for all b, infinite for a itself: |a|^2 does not change the order."""
        into = -2 * self.dense[start:stop] @ self.dense.T
        if self.rare.nnz:
            into += (-2 * self.rare[start:stop] @ self.rare_by_term).toarray()
        into += self.lengths
        into[np.arange(stop - start), np.arange(start, stop)] = np.inf
        return into


def _sparse_costs(points):
    """Of each term: as many products as there are pairs of documents that have it."""
    return SPARSE_COST * np.bincount(points.indices, minlength=points.shape[1]).astype(float) ** 2


def _slack(points, lengths):
    """Twice the most by which |b|^2 - 2ab is off, for each a; None where it is exact: counts."""
    longest = lengths.max()
    # sums up to 4 longest of products of multiples of this unit fit into 53 bits
    whole = points.data / 2.0 ** np.ceil(np.log2(4 * longest) / 2 - 26)
    if (whole == np.rint(whole)).all():
        return None
    # a sum of n products is off by at most n eps sum |ab|, and 2 |ab| <= a^2 + b^2
    n_products = np.diff(points.indptr).max() + 4
    return 4 * np.finfo(float).eps * n_products * (lengths + longest)


def _without_late_ties(pairs, limit, k):
    """Drop all but the first k pairs at a point's limit: among counts there may be thousands."""
    tie = pairs.distances == limit
    before = np.cumsum(tie) - tie
    rank = before - before[np.searchsorted(pairs.points, pairs.points)]
    return pairs.where(~tie | (rank < k))


def _measured(pairs, points):
    """With distances that are sums of squared differences: equal where they should be."""
    step = max(1, CHUNK // (2 * int(np.diff(points.indptr).max(initial=1))))
    distances = np.empty(len(pairs.points))
    for start in range(0, len(distances), step):
        here = slice(start, start + step)
        difference = points[pairs.points[here]] - points[pairs.others[here]]
        difference.sort_indices()
        distances[here] = _squared_lengths(difference)
    return pairs._replace(distances=distances)


def _wants_index(points):
    """Whether there are too many pairs to compare, and there is an index to turn to."""
    pairs = float(points.shape[0]) ** 2
    work = np.minimum(_sparse_costs(points), pairs).sum() + CHOICE_COST * pairs
    if work <= MAX_WORK or find_spec("pynndescent") is not None:
        return work > MAX_WORK
    message = (
        f"Comparing all pairs of {plural(points.shape[0], 'document')} takes some "
        f"{work / 1e12:,.0f} minutes; pip install 'coview[graph]' brings an approximate index."
    )
    warnings.warn(message, DataWarning, stacklevel=4)
    return False


def _approximate(points, k, seed):
    """Candidates from an index, measured and ranked like the others."""
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        need = "method='approximate' needs pynndescent: pip install 'coview[graph]'"
        raise ImportError(f"{need}, or use method='exact'.") from error
    most = INDEX_NEIGHBORS * k + 1  # itself included
    if points.shape[0] <= 10 * most:
        return _exact(points, k)
    data = sp.csr_matrix(points.astype(np.float32))
    if points.nnz > 0.5 * points.shape[0] * points.shape[1]:
        data = data.toarray()
    # one thread: with more, the graph depends on how many there are
    index = NNDescent(data, n_neighbors=most, random_state=seed, n_jobs=1)
    others = index.neighbor_graph[0].astype(np.intp).ravel()
    own = np.repeat(np.arange(points.shape[0]), most)
    known = (others >= 0) & (others != own)
    return _measured(Pairs(own[known], others[known], np.empty(0)), points).nearest(k)


# -- graphs that are given, and sums of graphs ----------------------------------------------------


def check_graph(
    graph: Any, n_docs: int, name: str = "graph", *, allow_empty: bool = False
) -> sp.csr_array:
    """A user's own graph (citations, links) as a symmetric CSR array of positive weights.

    Links from a document to itself are left out: they join nothing. Links in one direction count in
    both, with a warning; of two different weights the larger one holds.

    Parameters
    ----------
    graph : scipy.sparse array or matrix, or array-like, of shape (n_docs, n_docs)
        Weights of the edges, 0 for none. Never altered; `name` is for the messages.
    allow_empty : bool, default=False
        Whether a graph without a single edge will do. Weights that are learned would all go to
        such a graph, and so switch the penalty off.

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


def _edges(graph, name):
    """Any matrix as canonical CSR in double precision, over buffers of its own."""
    try:
        # the format comes first: damaged indices make compiled code read foreign memory
        shell = _shell(graph) if sp.issparse(graph) else np.asarray(graph)
        edges = sp.csr_array(shell.astype(np.float64, casting="same_kind"), copy=True)
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"Graph {quoted(name)} must be a matrix of numbers: {error}.") from error
    edges.sum_duplicates()
    return edges


def _check_weights(edges, name):
    wrong = np.flatnonzero(~((edges.data >= 0) & (edges.data < np.inf)))  # NaN is neither
    if len(wrong):
        row = int(np.searchsorted(edges.indptr, wrong[0], side="right")) - 1
        raise ValueError(
            f"Graph {quoted(name)} has the weight {edges.data[wrong[0]]:g} at "
            f"{place(row, int(edges.indices[wrong[0]]))}. Weights of edges must be finite and >= 0."
        )


def _undirected(edges, name):
    reverse = edges.T.tocsr()
    differ = (edges - reverse).tocoo()  # without zeros: scipy stores none
    if not differ.nnz:
        return edges
    message = (
        f"Graph {quoted(name)} is not symmetric in {plural(differ.nnz // 2, 'pair')} of documents, "
        f"first {place(int(differ.row[0]), int(differ.col[0]))}: the larger counts both ways."
    )
    warnings.warn(message, DataWarning, stacklevel=3)
    return edges.maximum(reverse)


def sum_graphs(graphs: Sequence[sp.csr_array], weights: Sequence[float]) -> sp.csr_array:
    """The weighted sum E = sum_t mu_t U^t of Eq. 11.

    >>> sum_graphs([sp.csr_array([[0.0, 1.0], [1.0, 0.0]])] * 2, [0.25, 0.5]).toarray()
    array([[0.  , 0.75],
           [0.75, 0.  ]])
    """
    # a graph of weight 0 lends the sum no edge
    parts = [float(w) * g for w, g in zip(weights, graphs, strict=True) if w > 0]
    return sum(parts, start=sp.csr_array(graphs[0].shape))
