"""What the data are: sparse or dense, counts or weights, links, missing views, near copies."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.ensemble.features import tfidf
from coview.ensemble.reliability import documents_with_counts
from coview.ensemble.spaces import is_links
from coview.views.container import Views
from coview.views.density import has_negatives, is_dense, is_dense_real, is_sparse_counts

COUNTS, WEIGHTS, MEASUREMENTS, LINKS = "counts", "weights", "measurements", "links"
COMPARED = 500  # documents by which two views are compared
FEWEST_COMPARED = 20
COPY = 0.95  # correlation of similarities from which one view may be a copy of another,
SAME_NEIGHBOR = 0.4  # if also the nearest neighbors of this share of the documents are the same


@dataclass(frozen=True)
class ViewFacts:
    """What a view holds.

    Attributes
    ----------
    name : str
    kind : {"counts", "weights", "measurements", "links"}
        Whole numbers, sparse weights, dense real numbers, or a graph of the documents.
    n_terms : int
    n_docs : int
        Documents that have anything in the view.
    filled : float
        Share of the cells that are not zero, among the documents that have the view.
    """

    name: str
    kind: str
    n_terms: int
    n_docs: int
    filled: float


@dataclass(frozen=True)
class Facts:
    """What the data hold: `views`, and `copies`, pairs of views with the correlation of them."""

    n_docs: int
    views: tuple[ViewFacts, ...]
    copies: tuple[tuple[str, str, float], ...]

    def of_kind(self, kind: str) -> list[str]:
        """Return the names of the views of this kind that any document has."""
        return [v.name for v in self.views if v.kind == kind and v.n_docs]


def look_at(views: Views) -> Facts:
    """Return what the data hold; the same for the same data."""
    has = documents_with_counts(list(views.matrices.values()), views.present)
    found = tuple(
        _view_facts(name, matrix, views.present[:, v], int(has[:, v].sum()))
        for v, (name, matrix) in enumerate(views.matrices.items())
    )
    return Facts(views.n_docs, found, near_copies(views, has))


def _view_facts(name: str, matrix: sp.csr_array, present: np.ndarray, n_docs: int) -> ViewFacts:
    rows = matrix if present.all() else matrix[np.flatnonzero(present)]
    filled = rows.nnz / max(rows.shape[0] * rows.shape[1], 1)
    return ViewFacts(name, _kind(matrix, rows), matrix.shape[1], n_docs, filled)


def _kind(matrix: sp.csr_array, rows: sp.csr_array) -> str:
    if _is_measured(rows):
        return MEASUREMENTS
    if is_links(matrix) and matrix.nnz:
        return LINKS
    return COUNTS if is_sparse_counts(rows) or is_dense(rows) else WEIGHTS


def _is_measured(rows: sp.csr_array) -> bool:
    """Return whether a view is one that the models scale."""
    return has_negatives(rows) or (rows.shape[0] > 1 and is_dense_real(rows))


# -- copies ----------------------------------------------------------------------------------------


def near_copies(views: Views, has: np.ndarray) -> tuple[tuple[str, str, float], ...]:
    """Return pairs of views in which the same documents are alike to the same degree.

    Two views are compared by the correlation of the similarities of all pairs among some of the
    documents that have both: 1 for a copy, whatever the order of its terms. Views of the same clear
    clusters come close to that, but nearest neighbors within a cluster differ between them.
    """
    rng = np.random.default_rng(0)
    found = []
    for u, v in combinations(range(views.n_views), 2):
        docs = np.flatnonzero(has[:, u] & has[:, v])
        if len(docs) < FEWEST_COMPARED:
            continue
        if len(docs) > COMPARED:
            docs = np.sort(rng.choice(docs, COMPARED, replace=False))
        one, other = (_similarities(views[views.names[i]][docs]) for i in (u, v))
        pairs = np.triu_indices(len(docs), 1)
        likeness = _correlation(one[pairs], other[pairs])
        if likeness >= COPY and _same_neighbors(one, other) >= SAME_NEIGHBOR:
            found.append((views.names[u], views.names[v], likeness))
    return tuple(found)


def _similarities(rows: sp.csr_array) -> np.ndarray:
    """Return the similarity of each document to each other."""
    features: Any = _standardized(rows.toarray()) if _is_measured(rows) else tfidf(rows)
    products = features @ features.T
    products = products.toarray() if sp.issparse(products) else products
    return np.asarray(products, np.float64)


def _standardized(rows: np.ndarray) -> np.ndarray:
    spread = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)


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
