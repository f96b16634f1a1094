"""What the data are: sparse or dense, counts or weights, links, missing views, near copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from coview.em.scaling import learn_scaling, scaled
from coview.ensemble.copies import near_copies
from coview.ensemble.features import view_features
from coview.ensemble.reliability import documents_with_counts
from coview.ensemble.spaces import is_links
from coview.views.container import Views
from coview.views.density import has_negatives, is_dense, is_dense_real, is_sparse_counts

COUNTS, WEIGHTS, MEASUREMENTS, LINKS = "counts", "weights", "measurements", "links"


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
    scaling = learn_scaling(views.matrices, views.present, "auto")
    matrices = (
        scaled(name, matrix, views.present[:, v], scaling)
        for v, (name, matrix) in enumerate(views.matrices.items())
    )
    pairs = near_copies([view_features(m) for m in matrices], has)
    named = tuple((views.names[u], views.names[v], likeness) for u, v, likeness in pairs)
    return Facts(views.n_docs, found, named)


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
