"""The search of nearest neighbors by cosine, among points or among documents with several views."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from coview.ensemble.features import Rows

SCORES_AT_ONCE = 1 << 19  # cosines that are held at a time
PAIRS_AT_ONCE = 1 << 13  # whose features are held at a time
SAME = 1e-6  # cosines are rounded to it: their last bits depend on how many rows there are

Scores = Callable[[slice], np.ndarray]  # some rows -> their similarities to all points


def nearest_points(
    rows: Rows, points: Rows, n_neighbors: int, own: np.ndarray | None = None
) -> np.ndarray:
    """Return the nearest points (rows, n_neighbors) of each row, nearest first.

    Of points that are equally near, up to errors of rounding, the first are taken: so what is found
    for a row does not depend on the other rows.

    Parameters
    ----------
    rows, points : ndarray or csr_array of shape (rows, dimensions) and (points, dimensions)
        Of length one.
    n_neighbors : int
        There are fewer where there are fewer points.
    own : ndarray of int of shape (rows,), optional
        Which of the points each row is itself, -1 for none. It is not its own neighbor.

    Examples
    --------
    >>> axes = np.eye(3)
    >>> nearest_points(np.array([[0.6, 0.8, 0.0]]), axes, 2)
    array([[1, 0]], dtype=int32)
    >>> nearest_points(axes[:1], axes, 2, own=np.array([0]))
    array([[1, 2]], dtype=int32)
    """
    return _nearest(_cosines(rows, points), rows.shape[0], points.shape[0], n_neighbors, own)


def nearest_by_views(
    features: Sequence[Rows], has: np.ndarray, weights: np.ndarray, n_neighbors: int
) -> np.ndarray:
    """Return the nearest other documents by the sum of the views' cosines, each times weight^2.

    `features` of each view have rows of length one, or zero where a document lacks it (`has`,
    (documents, views)). Two documents of which one lacks a view have the mean cosine there: so a
    missing view brings nobody nearer.
    """
    n_docs = len(has)
    cosines = [_cosines(rows, rows) for rows in features]
    usual = [_mean_cosine(rows, h) for rows, h in zip(features, has.T, strict=True)]

    def scores(here: slice) -> np.ndarray:
        total = np.zeros((len(has[here]), n_docs), np.float32)
        for of_view, mean, h, weight in zip(cosines, usual, has.T, weights, strict=True):
            found = of_view(here)
            if not h.all():
                found += mean * ~(h[here, np.newaxis] & h)
            total += np.float32(weight * weight) * found
        return total

    return _nearest(scores, n_docs, n_docs, n_neighbors, np.arange(n_docs))


def likeness(
    features: Sequence[Rows],
    has: np.ndarray,
    weights: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
) -> np.ndarray:
    """Return how alike pairs of documents are in all views: 1 if they are the same, 0 as usual.

    It is the mean of the views, by weight^2, of the cosine as a share of the way from the mean
    cosine of a view to 1. A view that one of the two lacks counts as 0.

    >>> rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> pairs = np.array([0, 0]), np.array([1, 2])
    >>> likeness([rows], np.ones((4, 1), bool), np.ones(1), *pairs).tolist()
    [1.0, -1.0]
    """
    found = np.zeros(len(one), np.float32)
    shares = np.square(weights) / np.square(weights).sum()
    for rows, h, share in zip(features, has.T, shares, strict=True):
        usual = _mean_cosine(rows, h)
        scale = np.float32(share) / max(1 - usual, np.float32(SAME))
        for start in range(0, len(one), PAIRS_AT_ONCE):
            here = slice(start, start + PAIRS_AT_ONCE)
            products = rows[one[here]] * rows[other[here]]
            cosines = np.asarray(products.sum(axis=1)).ravel()
            found[here] += np.where(h[one[here]] & h[other[here]], (cosines - usual) * scale, 0)
    return found


def _cosines(rows: Rows, points: Rows) -> Scores:
    """Return what gives the cosines of some of the rows with all points, as a dense array."""
    if not sp.issparse(rows):
        return lambda here: rows[here] @ points.T
    by_feature = sp.csc_array(points)

    from coview.kernels.nearest import sparse_products

    def cosines(here: slice) -> np.ndarray:
        some = rows[here]
        found = np.zeros((some.shape[0], points.shape[0]), some.dtype)
        arrays = by_feature.indptr, by_feature.indices, by_feature.data
        sparse_products(some.indptr, some.indices, some.data, *arrays, found)
        return found

    return cosines


def _mean_cosine(rows: Rows, has: np.ndarray) -> np.float32:
    """Return the mean cosine of two documents that have a view."""
    mean = np.asarray(rows.sum(axis=0)).ravel() / max(np.count_nonzero(has), 1)
    return np.float32(mean @ mean)


def _nearest(
    scores: Scores, n_rows: int, n_points: int, n_neighbors: int, own: np.ndarray | None
) -> np.ndarray:
    from coview.kernels.nearest import largest_of_rows

    k = max(min(n_neighbors, n_points - (own is not None)), 0)
    found = np.empty((n_rows, k), np.int32)
    own = np.full(n_rows, -1) if own is None else own
    size = max(SCORES_AT_ONCE // max(n_points, 1), 1)
    for start in range(0, n_rows if k else 0, size):
        here = slice(start, start + size)
        # compiled for double precision alone, in which it compares
        some = np.ascontiguousarray(scores(here), np.float64)
        largest_of_rows(some, own[here], SAME, found[here])
    return found
