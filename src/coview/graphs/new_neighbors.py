"""The neighbors of new documents among the training documents of one view.

It is Eq. 5 of Wang et al. (2017) for a document i that joins documents s which already are a graph:
U_is = 1 if s is among the p nearest neighbors of i, or i nearer to s than the p-th nearest neighbor
of s, and 0 otherwise. Each new document joins on its own; what else is new plays no part.

Documents that share no feature are no neighbors. Between sparse counts all such documents are
equally far from each other, and the nearest would be those that happen to come first.

As in `neighbors`, products of matrices give candidates and sums of squared differences in double
precision rank them, so the result depends neither on threads nor on the other new documents.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.graphs.neighbors import (
    BUFFER,
    CHOICE_COST,
    NeighborPairs,
    largest_value,
    measured,
    rounding_slack,
    scaled_points,
    sparse_costs,
    squared_lengths,
)
from coview.views.checks import DataWarning
from coview.wording import plural

MAX_WORK = 1.5e12  # beyond this a search takes minutes, and warns of it


def neighbor_radii(pairs: NeighborPairs, n_points: int, n_neighbors: int) -> np.ndarray:
    """Return the squared distance of each point from its last neighbor; infinite if it lacks some.

    >>> pairs = NeighborPairs(np.array([0, 1, 2]), np.array([1, 0, 1]), np.array([4.0, 4.0, 9.0]))
    >>> neighbor_radii(pairs, 3, 1)
    array([4., 4., 9.])
    """
    if n_points <= n_neighbors:
        return np.full(n_points, np.inf)
    radii = np.zeros(n_points)
    np.maximum.at(radii, pairs.points, pairs.distances)
    return radii


class NeighborSearch:
    """Training documents as points, ready for the search of new documents.

    Parameters
    ----------
    points : csr_array of shape (n_points, n_terms)
        Features of the training documents, none negative.
    radii : ndarray of shape (n_points,)
        See `neighbor_radii`; of the points as `scaled_points` returns them.
    n_neighbors : int

    Examples
    --------
    >>> points = sp.csr_array([[1.0, 0.0], [1.0, 1.0], [0.0, 4.0]])
    >>> search = NeighborSearch(points, radii=np.zeros(3), n_neighbors=1)
    >>> search.edges(sp.csr_array([[0.0, 3.0], [0.0, 0.0]])).toarray()
    array([[0., 0., 1.],
           [0., 0., 0.]])
    """

    def __init__(self, points: sp.csr_array, radii: np.ndarray, n_neighbors: int) -> None:
        self.largest, self.points = largest_value(points), scaled_points(points)
        self.radii, self.n_neighbors = radii, n_neighbors
        self.lengths = squared_lengths(self.points)
        # terms of many documents are multiplied as a dense matrix, the others as a sparse one
        self.common = sparse_costs(self.points) > float(points.shape[0]) ** 2
        self.dense = self.points[:, self.common].toarray()
        self.rare_by_term = self.points[:, ~self.common].T.tocsr()

    def edges(self, queries: sp.csr_array) -> sp.csr_array:
        """Return ones where a new document (row) and a training document (column) are neighbors."""
        rows = scaled_points(queries, self.largest)
        shape = queries.shape[0], len(self.lengths)
        step = max(1, BUFFER // (8 * max(shape[1], 1)))
        blocks = range(0, max(shape[0], 1), step)  # at least one, maybe of no document
        parts = [self._neighbors(rows[i : i + step], i) for i in blocks]
        ends = [np.concatenate([p[side] for p in parts]) for side in (0, 1)]
        edges = sp.csr_array((np.ones(len(ends[0])), tuple(ends)), shape=shape)
        edges.sort_indices()
        return edges

    def _neighbors(self, rows: sp.csr_array, first: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the edges of a block of new documents, the first of which has the given number."""
        pairs = measured(self._candidates(rows), rows, self.points)
        order = np.lexsort((pairs.others, pairs.distances, pairs.points))  # ties by number
        pairs = pairs.where(order)
        rank = np.arange(len(order)) - np.searchsorted(pairs.points, pairs.points)
        # (5): s is near i, or i is near s
        pairs = pairs.where(
            (rank < self.n_neighbors) | (pairs.distances < self.radii[pairs.others])
        )
        return first + pairs.points, pairs.others

    def _candidates(self, rows: sp.csr_array) -> NeighborPairs:
        """Return all pairs that can be neighbors, up to errors of rounding."""
        products = rows[:, self.common].toarray() @ self.dense.T
        if self.rare_by_term.nnz:
            products += (rows[:, ~self.common] @ self.rare_by_term).toarray()
        share = products > 0
        # |b|^2 - 2ab: |a|^2 does not change the order
        distances = np.where(share, self.lengths - 2 * products, np.inf)
        lengths = squared_lengths(rows)
        n_products = max(int(np.diff(m.indptr).max(initial=0)) for m in (rows, self.points))
        slack = rounding_slack(n_products, lengths, self.lengths.max(initial=0.0))
        near = distances <= (self._farthest(distances) + slack)[:, None]
        near |= distances + (lengths - slack)[:, None] < self.radii
        points, others = np.nonzero(near & share)
        return NeighborPairs(points, others, np.empty(0))

    def _farthest(self, distances: np.ndarray) -> np.ndarray:
        """Return the distance of each new document from the last of its nearest neighbors."""
        if distances.shape[1] <= self.n_neighbors:
            return np.full(len(distances), np.inf)
        return np.partition(distances, self.n_neighbors - 1, axis=1)[:, self.n_neighbors - 1]

    def warn_if_slow(self, n_new: int, remedy: str) -> None:
        """Warn if the search for this many new documents takes minutes, and say what to do."""
        pairs = float(n_new) * len(self.lengths)
        each = np.minimum(sparse_costs(self.points) / max(len(self.lengths), 1) ** 2, 1).sum()
        work = (each + CHOICE_COST) * pairs
        if work > MAX_WORK:
            message = (
                f"Comparing {plural(n_new, 'new document')} with {len(self.lengths):,} training "
                f"documents takes some {work / 1e12:,.0f} minutes; {remedy}."
            )
            warnings.warn(message, DataWarning, stacklevel=8)


# -- what a model keeps ----------------------------------------------------------------------------


def pack_points(
    matrix: sp.csr_array, docs: np.ndarray, radii: np.ndarray, n_neighbors: int
) -> dict[str, Any]:
    """Return the rows of some documents as plain arrays, exactly and in as few bytes as possible.

    Whole numbers take one or two bytes, numbers of columns two if there are up to 65,536, and a
    matrix that is mostly non-zero needs none.

    Parameters
    ----------
    matrix : csr_array of shape (n_docs, n_terms)
    docs : ndarray of int
        Documents that have the view; the rows of others are empty.
    radii : ndarray of shape (len(docs),)
        See `neighbor_radii`.
    n_neighbors : int

    Examples
    --------
    >>> matrix = sp.csr_array(np.array([[0, 2, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], dtype="f4"))
    >>> packed = pack_points(matrix, np.array([0, 2]), np.ones(2), 1)
    >>> packed["values"], packed["indices"]
    (array([2, 1], dtype=uint8), array([1, 0], dtype=uint16))
    >>> bool((unpack_points(packed) != matrix).nnz)
    False
    """
    shape, dtype = np.array(matrix.shape), str(matrix.dtype)
    packed = {"docs": docs, "radii": radii, "n_neighbors": int(n_neighbors)}
    packed |= {"shape": shape, "dtype": dtype}
    rows = matrix if len(docs) == matrix.shape[0] else matrix[docs]
    if 2 * rows.nnz > rows.shape[0] * rows.shape[1]:
        return packed | {"values": _narrow(rows.toarray())}
    narrow = np.uint16 if rows.shape[1] <= 1 << 16 else np.uint32
    return packed | {
        "values": _narrow(rows.data),
        "indices": rows.indices.astype(narrow),
        "indptr": rows.indptr.astype(np.int64),
    }


def unpack_points(packed: dict[str, Any]) -> sp.csr_array:
    """Return the matrix that `pack_points` has packed."""
    n_docs, n_terms = map(int, packed["shape"])
    values, docs = packed["values"].astype(packed["dtype"]), packed["docs"]
    if "indices" in packed:
        lengths = np.diff(packed["indptr"])
        indices = packed["indices"].astype(np.int64 if n_terms > 1 << 31 else np.int32)
    else:
        rows, indices = np.nonzero(values)
        values, lengths = values[rows, indices], np.bincount(rows, minlength=len(docs))
    indptr = np.zeros(n_docs + 1, np.int64)
    indptr[docs + 1] = lengths
    matrix = sp.csr_array((values, indices, np.cumsum(indptr)), shape=(n_docs, n_terms))
    matrix.check_format(full_check=True)  # wrong indices make compiled code read foreign memory
    return matrix


def _narrow(values: np.ndarray) -> np.ndarray:
    """Return whole numbers in one or two bytes, if they are such; a copy in any case."""
    if (values == np.rint(values)).all():
        for dtype in (np.uint8, np.uint16):
            if values.min(initial=0) >= 0 and values.max(initial=0) <= np.iinfo(dtype).max:
                return values.astype(dtype)
    return values.copy()
