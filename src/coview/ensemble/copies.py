"""Copies: views that tell the same of the same documents, perhaps with a few entries changed.

One is a copy of another if the same documents are alike in both, or if each can be computed from
the other by a linear map: a view in other units, in another basis, shifted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from coview.ensemble.features import Rows, are_placed, unplaced

MOST_COMPARED, FEWEST_COMPARED = 500, 20  # documents by which two views are compared
COPY = 0.95  # correlation of similarities from which one view may be a copy of another,
SAME_NEIGHBOR = 0.4  # if also the nearest neighbors of this share of the documents are the same;
CERTAIN_COPY = 0.995  # above it neighbors do not matter: documents may be equally far apart
COMPUTED = 0.95  # share of each of two views that follows from the other, for copies
DOCUMENTS_PER_COLUMN = 4  # for a linear map between views
RANK_TOLERANCE = 1e-3  # of the largest singular value; features are in single precision


def copies(features: Sequence[Rows], has: np.ndarray) -> np.ndarray:
    """Return of each view (views,) the first one of which it is a copy, itself if of none.

    A copy of a copy is a copy.

    >>> from coview.ensemble.features import unit_rows
    >>> words = np.random.default_rng(0).random((50, 9))
    >>> views = [unit_rows(columns) for columns in (words, words[:, :4], words[:, ::-1])]
    >>> copies([np.pad(rows, [(0, 0), (0, 1)]) for rows in views], np.ones((50, 3), bool))
    array([0, 1, 0])
    """
    same = np.arange(len(features))
    for u, v, _ in near_copies(features, has):
        first, second = sorted((same[u], same[v]))
        same[same == second] = first
    return same


def near_copies(features: Sequence[Rows], has: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of views that tell the same of the documents that have both, and how much.

    Views are compared by some of the documents that have both (`has`, (documents, views)), in two
    ways. The correlation of the similarities of all pairs of them is 1 for a copy, whatever the
    order of its terms. Views of the same clear clusters come close to that, but nearest neighbors
    within a cluster differ between them. And two views of places that can be computed from each
    other are copies, even if one has stretched what the other has not (`_computed`). `features`
    have rows of length one.
    """
    some = np.flatnonzero(has.any(axis=1))
    if len(some) > MOST_COMPARED:
        rng = np.random.default_rng(0)  # the same for the same data
        some = np.sort(rng.choice(some, MOST_COMPARED, replace=False))
    has, rows = has[some], [f[some] for f in features]
    products = [_products(f) for f in rows]
    for u, v in combinations(range(len(features)), 2):
        docs = np.flatnonzero(has[:, u] & has[:, v])
        if len(docs) < FEWEST_COMPARED:
            continue
        one, other = (products[view][np.ix_(docs, docs)] for view in (u, v))
        pairs = np.triu_indices(len(docs), 1)
        likeness = _correlation(one[pairs], other[pairs])
        alike = likeness >= COPY and _same_neighbors(one, other) >= SAME_NEIGHBOR
        computed = 0.0
        if not (alike or likeness >= CERTAIN_COPY) and are_placed(rows[u]) and are_placed(rows[v]):
            computed = _computed(unplaced(rows[u][docs]), unplaced(rows[v][docs]))
        if alike or likeness >= CERTAIN_COPY or computed >= COMPUTED:
            yield u, v, max(likeness, computed)


def _products(rows: Rows) -> np.ndarray:
    products = rows @ rows.T
    return np.asarray(products.toarray() if sp.issparse(products) else products, np.float64)


def _computed(one: np.ndarray, other: np.ndarray) -> float:
    """Return which share of each of two views follows from the other, by the best linear map.

    It is the mean squared canonical correlation, beyond what chance gives, of the view with more
    dimensions: no invertible linear map of either view changes it. It is 0 where there are too few
    documents to know.

    >>> rows = np.random.default_rng(0).normal(size=(40, 3))
    >>> round(_computed(rows, rows @ [[1, 2, 0], [0, 1, 0], [5, 0, 1]] + 7), 6)
    1.0
    """
    n_docs, widest = len(one), max(one.shape[1], other.shape[1])
    if DOCUMENTS_PER_COLUMN * widest > n_docs:
        return 0.0
    bases = []
    for rows in (one, other):
        left, sizes, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        bases.append(left[:, sizes > RANK_TOLERANCE * sizes.max()])
    ranks = sorted(basis.shape[1] for basis in bases)
    if not ranks[0]:
        return 0.0
    told = float(((bases[0].T @ bases[1]) ** 2).sum()) / ranks[1]
    by_chance = ranks[0] / n_docs
    return (told - by_chance) / (1 - by_chance)


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
