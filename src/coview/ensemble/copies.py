"""Copies: views that tell the same of the same documents, perhaps with a few entries changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from coview.ensemble.features import Rows

MOST_COMPARED, FEWEST_COMPARED = 500, 20  # documents by which two views are compared
COPY = 0.95  # correlation of similarities from which one view may be a copy of another,
SAME_NEIGHBOR = 0.4  # if also the nearest neighbors of this share of the documents are the same


def copies(features: Sequence[Rows], has: np.ndarray) -> np.ndarray:
    """Return of each view (views,) the first one of which it is a copy, itself if of none.

    A copy of a copy is a copy.

    >>> words = np.random.default_rng(0).random((50, 9))
    >>> copies([words, words[:, :4], words[:, ::-1]], np.ones((50, 3), bool))
    array([0, 1, 0])
    """
    same = np.arange(len(features))
    for u, v, _ in near_copies(features, has):
        first, second = sorted((same[u], same[v]))
        same[same == second] = first
    return same


def near_copies(features: Sequence[Rows], has: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of views in which the same documents are alike to the same degree, and how much.

    Two views are compared by the correlation of the similarities of all pairs among some of the
    documents that have both (`has`, (documents, views)): 1 for a copy, whatever the order of its
    terms. Views of the same clear clusters come close to that, but nearest neighbors within a
    cluster differ between them. `features` are tf-idf where they are sparse.
    """
    some = np.flatnonzero(has.any(axis=1))
    if len(some) > MOST_COMPARED:
        rng = np.random.default_rng(0)  # the same for the same data
        some = np.sort(rng.choice(some, MOST_COMPARED, replace=False))
    has, rows = has[some], [f[some] for f in features]
    plain, standard = _similarities(rows, has)
    for u, v in combinations(range(len(features)), 2):
        docs = np.flatnonzero(has[:, u] & has[:, v])
        if len(docs) < FEWEST_COMPARED:
            continue
        alike = plain if sp.issparse(rows[u]) or sp.issparse(rows[v]) else standard
        one, other = (alike[view][np.ix_(docs, docs)] for view in (u, v))
        pairs = np.triu_indices(len(docs), 1)
        likeness = _correlation(one[pairs], other[pairs])
        if likeness >= COPY and _same_neighbors(one, other) >= SAME_NEIGHBOR:
            yield u, v, likeness


def _similarities(
    features: Sequence[Rows], has: np.ndarray
) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """Return the similarity of each document to each other, by view: as it is, and standardized.

    Dense views are standardized. With sparse ones they are compared as they are: a view is sparse
    if few have it, and its copy, which all have, is dense.
    """
    views = dict(enumerate(features))
    dense = {v: rows for v, rows in views.items() if not sp.issparse(rows)}
    standard = {v: _products(_standardized(rows, has[:, v])) for v, rows in dense.items()}
    if len(dense) == len(views):
        return {}, standard
    return {v: _products(rows) for v, rows in views.items()}, standard


def _products(rows: Rows) -> np.ndarray:
    products = rows @ rows.T
    return np.asarray(products.toarray() if sp.issparse(products) else products, np.float64)


def _standardized(rows: np.ndarray, has: np.ndarray) -> np.ndarray:
    """Return the rows with mean zero and a spread of one, over the documents that have the view."""
    if not has.any():
        return rows
    spread = rows[has].std(axis=0)
    return (rows - rows[has].mean(axis=0)) / np.where(spread > 0, spread, 1)


def _same_neighbors(one: np.ndarray, other: np.ndarray) -> float:
    """Return the share of documents whose nearest neighbor is the same."""
    themselves = np.eye(len(one), dtype=bool)
    nearest = (np.where(themselves, -np.inf, near).argmax(axis=1) for near in (one, other))
    return float(np.equal(*nearest).mean())


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Return the correlation, 0 where one of the two does not vary.

    >>> round(_correlation(np.array([1.0, 2.0, 4.0]), np.array([2.0, 4.0, 8.0])), 6)
    1.0
    """
    one, other = one - one.mean(), other - other.mean()
    scale = np.linalg.norm(one) * np.linalg.norm(other)
    tiny = np.finfo(np.float32).eps * len(one)  # tf-idf of one term: 1 but for rounding
    return float(one @ other / scale) if scale > tiny else 0.0
