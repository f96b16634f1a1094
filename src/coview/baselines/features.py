"""From views to points: one stated rule for all baselines that work with distances.

"auto": counts and sparse weights as square roots, weighted by tf-idf, rows of length one (the rule
of the models' own starts: `em.starts.concatenated_tfidf`); dense views with features brought to
[0, 1] where they are not whole numbers (`data.scaling`), rows of length one. So each view has the
same say on each document. "raw": the values as they are, as in the papers' k-means.

A document that lacks a view is at the origin of it. What is learned (ranges, document frequencies)
comes from the training documents that have the view.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.prepared import apply_scaling, is_dense, learn_scaling
from coview.params import check_choice
from coview.views.container import Views
from coview.views.vocabulary import match_features


@dataclass(frozen=True)
class Features:
    """How views become points, as learned from the training documents."""

    kind: str
    widths: dict[str, int]
    names: dict[str, np.ndarray | None]  # of the columns
    scaling: dict[str, tuple[np.ndarray, np.ndarray]]
    tfidf: dict[str, Any]  # fitted, for the views that are not dense

    @classmethod
    def learn(cls, views: Views, kind: str = "auto") -> "Features":
        """Learn the rule; kind is "auto" or "raw"."""
        check_choice("features", kind, ["auto", "raw"])
        widths = dict(zip(views.names, views.widths, strict=True))
        if kind == "raw":
            return cls(kind, widths, views.features, {}, {})
        scaling = learn_scaling(views.matrices, views.present, "auto")
        tfidf = {}
        for v, (name, matrix) in enumerate(views.matrices.items()):
            rows = matrix[np.flatnonzero(views.present[:, v])]
            if rows.shape[0] and not is_dense(rows):
                tfidf[name] = _tfidf().fit(_roots(rows))
        return cls(kind, widths, views.features, scaling, tfidf)

    def points(self, views: Views, owner: str = "model") -> dict[str, sp.csr_array]:
        """Points (documents, terms) of each view of the fit; zeros for a view not given."""
        found = {}
        for name, width in self.widths.items():
            if name not in views.names:
                found[name] = sp.csr_array((views.n_docs, width))
                continue
            matrix = match_features(
                views[name], views.features[name], self.names[name], name, width=width, owner=owner
            )
            found[name] = _short_indices(self._of_view(name, matrix.astype(np.float64)))
        return found

    def side_by_side(self, views: Views, owner: str = "model") -> sp.csr_array:
        """Points of all views, (documents, terms of all views)."""
        parts = list(self.points(views, owner).values())
        return _short_indices(sp.csr_array(sp.hstack(parts, format="csr")))

    def _of_view(self, name, matrix):
        from sklearn.preprocessing import normalize

        if self.kind == "raw":
            return matrix
        if name in self.scaling:
            matrix = apply_scaling(matrix, *self.scaling[name])
        if name in self.tfidf:
            return sp.csr_array(self.tfidf[name].transform(_roots(matrix)))
        return sp.csr_array(normalize(matrix))


def _tfidf():
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer()


def _roots(matrix):
    return sp.csr_array((np.sqrt(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)


def _short_indices(matrix):
    """k-means takes 32-bit indices only."""
    if matrix.nnz > np.iinfo(np.int32).max:
        return matrix
    parts = matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return sp.csr_array(parts, shape=matrix.shape)
