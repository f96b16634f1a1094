"""Features of documents for clustering: tf-idf weights, and embeddings of low dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.tfidf import tfidf
from coview.views.density import is_dense, is_dense_real

Rows = Any  # features of one view, (documents, features): a csr_array or an ndarray

POWER_ITERATIONS = 2  # of the randomized SVD: only the leading directions matter
OVERSAMPLING = 10
RANK_TOLERANCE = 1e-10  # of the largest squared singular value: below it there is only rounding
ROWS_AT_ONCE = 8_192  # in double precision
MIN_DIMENSIONS, MAX_DIMENSIONS = 30, 100


def n_dimensions(n_clusters: int) -> int:
    """Return how many dimensions an embedding has for this many clusters."""
    return int(np.clip(2 * n_clusters, MIN_DIMENSIONS, MAX_DIMENSIONS))


def unit_rows(rows: Rows) -> Rows:
    """Return rows scaled to length one; rows of zeros stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    if sp.issparse(rows):
        length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        scale = np.divide(1, length, out=np.zeros_like(length), where=length > 0)
        values = np.repeat(scale, np.diff(rows.indptr)) * rows.data
        return sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)


def view_features(matrix: sp.csr_array) -> Rows:
    """Return the features of a view, rows of length one, zeros for documents without an entry.

    Of counts, and of weights that are mostly zero, they are tf-idf: what counts is the direction.
    Of measurements they tell the place (`placed`). Dense ones are an ndarray with one more column,
    which is 0 where only directions count.
    """
    if not is_dense(matrix):
        return tfidf(matrix)
    if is_dense_real(matrix):
        return placed(matrix.toarray(), np.diff(matrix.indptr) > 0)
    rows = tfidf(matrix).toarray()
    return np.hstack([rows, np.zeros_like(rows[:, :1])])


def are_placed(rows: Rows) -> bool:
    """Return whether features tell the place of documents rather than a direction."""
    return not sp.issparse(rows) and bool(rows[:, -1].any())


def placed(values: np.ndarray, has: np.ndarray) -> np.ndarray:
    """Return dense values as rows of length one whose directions tell where the documents are.

    With x the values less their mean and s the root of the mean of |x|^2, a row is (x, s) divided
    by its length: x as seen from a distance s above the mean. Neither a shift of the values nor
    another orthonormal basis changes an angle between rows. Without the last column documents on
    one side of the mean would be one, whatever their distance; without subtracting the mean, all
    documents of a view of few columns. Documents that lack the view (`has` is False) are zeros.

    >>> placed(np.array([[1.0], [2.0], [3.0], [9.0]]), np.array([True, True, True, False])).round(2)
    array([[-0.77,  0.63],
           [ 0.  ,  1.  ],
           [ 0.77,  0.63],
           [ 0.  ,  0.  ]])
    """
    some = values if has.all() else values[has]
    mean = some.mean(axis=0, dtype=np.float64) if len(some) else np.zeros(values.shape[1])
    rows = np.empty((len(values), values.shape[1] + 1), values.dtype)
    np.subtract(values, mean, out=rows[:, :-1], casting="same_kind")
    squares = np.einsum("ij,ij->i", rows[:, :-1], rows[:, :-1])
    spread = np.sqrt(squares[has].mean(dtype=np.float64)) if has.any() else 0.0
    rows[:, -1] = spread if spread > 0 else 1.0
    rows /= np.sqrt(squares + rows[:, -1] ** 2)[:, np.newaxis]
    rows[~has] = 0
    return rows


def unplaced(rows: np.ndarray) -> np.ndarray:
    """Return the values less their mean from which `placed` has made rows, in units of s."""
    last = rows[:, -1:]
    return np.divide(rows[:, :-1], last, out=np.zeros_like(rows[:, :-1]), where=last > 0)


def directions(rows: Rows, n_dims: int, rng: np.random.Generator) -> np.ndarray:
    """Return the leading right singular vectors (features, at most n_dims), by random projections.

    Subspace iteration on documents or features, whichever are fewer (Halko, Martinsson and Tropp,
    2011, algorithm 4.4), then the singular vectors of the small matrix that is left.
    """
    width = min(n_dims + OVERSAMPLING, *rows.shape)
    if not width:
        return np.zeros((rows.shape[1], 1), rows.dtype)
    fewer = rows if rows.shape[0] <= rows.shape[1] else rows.T
    basis = rng.standard_normal((fewer.shape[0], width)).astype(rows.dtype)
    for _ in range(POWER_ITERATIONS):
        basis = np.linalg.qr(fewer @ (fewer.T @ basis))[0]
    if fewer is not rows:
        basis = np.linalg.qr(rows @ basis)[0]
    small = np.asarray(rows.T @ basis)  # (features, width)
    squares, turn = np.linalg.eigh(_sum_of_squares(small))
    first = np.argsort(-squares, kind="stable")[:n_dims]
    first = first[squares[first] > RANK_TOLERANCE * squares.max()]
    return small @ (turn[:, first] / np.sqrt(squares[first])).astype(rows.dtype)


def _sum_of_squares(rows: np.ndarray) -> np.ndarray:
    """Return rows' rows in double precision, block by block: no copy of all rows is made."""
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for start in range(0, len(rows), ROWS_AT_ONCE):
        block = rows[start : start + ROWS_AT_ONCE].astype(np.float64)
        total += block.T @ block
    return total


@dataclass(frozen=True)
class Seen:
    """Documents as they are seen by all features, or by half of them.

    Attributes
    ----------
    features : list of csr_array or ndarray
        Of each view, rows of length one.
    embeddings : list of ndarray
        The same in the leading directions of each view, rows of length one.
    has : ndarray of bool of shape (documents, views)
        Which documents have anything in a view.
    """

    features: list[Rows]
    embeddings: list[np.ndarray]
    has: np.ndarray


def see(
    features: Sequence[Rows],
    has: np.ndarray,
    n_dims: int,
    rngs: Sequence[np.random.Generator],
) -> Seen:
    """Return documents as these features of each view show them; `rngs` are those of the views."""
    units = [unit_rows(rows) for rows in features]
    filled = [np.asarray(abs(rows).sum(axis=1)).ravel() > 0 for rows in units]
    has = has & np.column_stack(filled)
    views = zip(units, has.T, rngs, strict=True)
    points = [embed(rows, h, n_dims, rng) for rows, h, rng in views]
    return Seen(units, points, has)


def embed(features: Rows, has: np.ndarray, n_dims: int, rng: np.random.Generator) -> np.ndarray:
    """Return documents in the leading directions of a view, rows of length one.

    Documents that lack the view (`has` is False) are rows of zeros.
    """
    rows = features if has.all() else features[np.flatnonzero(has)]
    return project(features, has, directions(rows, n_dims, rng))


def project(features: Rows, has: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return documents in given directions (features, dimensions), as `embed` does."""
    points = unit_rows(np.asarray(features @ right))
    points[~has] = 0
    return points


def fuse(
    embeddings: Sequence[np.ndarray],
    weights: Sequence[float] | np.ndarray,
    means: Sequence[np.ndarray] | None = None,
) -> np.ndarray:
    """Return all views side by side, each times its weight, rows of length one.

    A document that lacks a view has the mean of the others there: with zeros, documents that lack
    the same views would be near each other, whatever the rest says. Documents without any view
    stay zero. `means` are those of `view_means`, by default of these documents.
    """
    means = view_means(embeddings) if means is None else means
    some = np.any([e.any(axis=1) for e in embeddings], axis=0)
    parts = []
    for points, weight, mean in zip(embeddings, weights, means, strict=True):
        lacking = some & ~points.any(axis=1)
        filled = np.where(lacking[:, np.newaxis], mean, points) if lacking.any() else points
        parts.append(filled * points.dtype.type(weight))
    return unit_rows(np.hstack(parts))


def view_means(embeddings: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the mean of the documents that have each view."""
    return [e.sum(axis=0) / max(np.count_nonzero(e.any(axis=1)), 1) for e in embeddings]
