"""Features of documents for clustering: tf-idf weights, and embeddings of low dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.views.density import is_dense_real

Rows = Any  # features of one view, (documents, features): a csr_array or an ndarray

POWER_ITERATIONS = 2  # of the randomized SVD: only the leading directions matter
OVERSAMPLING = 10
MIN_DIMENSIONS, MAX_DIMENSIONS = 30, 100


def n_dimensions(n_clusters: int) -> int:
    """Return how many dimensions an embedding has for this many clusters."""
    return int(np.clip(2 * n_clusters, MIN_DIMENSIONS, MAX_DIMENSIONS))


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Return rows scaled to length one; rows of zeros stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)


def tfidf(matrix: sp.csr_array) -> sp.csr_array:
    """Return square roots of counts, weighted by tf-idf, with rows of length one.

    Distances are then Hellinger distances, which suit multinomials; and unlike logarithms, square
    roots keep measurements below 1 positive.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    roots = sp.csr_array((np.sqrt(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    return sp.csr_array(TfidfTransformer().fit_transform(roots))


def view_features(matrix: sp.csr_array) -> Rows:
    """Return the features of a view: tf-idf of counts and weights, measurements as they are."""
    return matrix.toarray() if is_dense_real(matrix) else tfidf(matrix)


def directions(features: Rows, n_dims: int, rng: np.random.Generator) -> np.ndarray:
    """Return the leading right singular vectors (features, n_dims), by random projections.

    See Halko, Martinsson and Tropp (2011), algorithm 4.4.
    """
    width = min(n_dims + OVERSAMPLING, *features.shape)
    basis = rng.standard_normal((features.shape[1], width)).astype(features.dtype)
    for _ in range(POWER_ITERATIONS):
        basis = np.linalg.qr(features.T @ (features @ basis))[0]
    left = np.linalg.qr(features @ basis)[0]
    right = np.linalg.svd((features.T @ left).T, full_matrices=False)[2]
    return np.ascontiguousarray(right[:n_dims].T)


def embed(features: Rows, has: np.ndarray, n_dims: int, rng: np.random.Generator) -> np.ndarray:
    """Return documents in the leading directions of a view, rows of length one.

    Documents that lack the view (`has` is False) are rows of zeros.
    """
    rows = features if has.all() else features[np.flatnonzero(has)]
    if not rows.shape[0]:
        return np.zeros((features.shape[0], 1), features.dtype)
    return project(features, has, directions(rows, n_dims, rng))


def project(features: Rows, has: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return documents in given directions (features, dimensions), as `embed` does."""
    points = unit_rows(np.asarray(features @ right))
    points[~has] = 0
    return points


def fuse(embeddings: Sequence[np.ndarray], weights: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return all views side by side, each times its weight, rows of length one."""
    parts = [e * e.dtype.type(w) for w, e in zip(weights, embeddings, strict=True)]
    return unit_rows(np.hstack(parts))
