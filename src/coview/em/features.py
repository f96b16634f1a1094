"""From views to points, and k-means on points: one rule for all methods that work with distances.

"auto": counts and sparse weights as square roots, weighted by tf-idf, rows of length one
(`em.tfidf`, as in the start "kmeans"); dense views that are not whole numbers with
features scaled to [0, 1] (`em.scaling`), rows of length one. So each view has the same weight in
each document. "raw": the values as they are, as in the papers' k-means.

A document that lacks a view is at the origin of it. What is learned (ranges, document frequencies)
comes from the training documents that have the view.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from coview.em.scaling import learn_scaling, scaled
from coview.em.tfidf import inverse_frequencies, tfidf
from coview.params import check_choice
from coview.views.container import Views
from coview.views.density import is_dense
from coview.views.vocabulary import match_views

if TYPE_CHECKING:
    from sklearn.cluster import KMeans


@dataclass(frozen=True)
class Features:
    """How views become points, as learned from the training documents.

    Attributes
    ----------
    kind : {"auto", "raw"}
    widths : dict of int
        Number of columns of each view.
    names : dict of ndarray or None
        Names of the columns of each view.
    scaling : dict of pair of ndarray
        Smallest value and range of the features of dense real views.
    idf : dict of ndarray of shape (terms,)
        Inverse document frequencies, for the views that are not dense.
    """

    kind: str
    widths: dict[str, int]
    names: dict[str, np.ndarray | None]
    scaling: dict[str, tuple[np.ndarray, np.ndarray]]
    idf: dict[str, np.ndarray]

    @classmethod
    def learn(cls, views: Views, kind: str = "auto") -> "Features":
        """Learn from training documents how they become points; kind is "auto" or "raw"."""
        check_choice("features", kind, ["auto", "raw"])
        widths = dict(zip(views.names, views.widths, strict=True))
        if kind == "raw":
            return cls(kind, widths, views.features, {}, {})
        scaling = learn_scaling(views.matrices, views.present, "auto")
        idf = {}
        for v, (name, matrix) in enumerate(views.matrices.items()):
            rows = matrix[np.flatnonzero(views.present[:, v])]
            if rows.shape[0] and not is_dense(rows) and name not in scaling:
                idf[name] = inverse_frequencies(rows.astype(np.float64))
        return cls(kind, widths, views.features, scaling, idf)

    def points(self, views: Views, owner: str = "model") -> dict[str, sp.csr_array]:
        """Return points (documents, terms) of each fitted view; zeros for a view not given."""
        views = match_views(views, self.names, self.widths, owner)
        found = {}
        for name, width in self.widths.items():
            if name in views:
                has = views.present[:, views.names.index(name)]
                points = self._points_of_view(name, views[name].astype(np.float64), has)
                found[name] = _short_indices(points)
            else:
                found[name] = sp.csr_array((views.n_docs, width))
        return found

    def side_by_side(self, views: Views, owner: str = "model") -> sp.csr_array:
        """Return points of all views, (documents, terms of all views)."""
        parts = list(self.points(views, owner).values())
        return _short_indices(sp.csr_array(sp.hstack(parts, format="csr")))

    def _points_of_view(self, name: str, matrix: sp.csr_array, present: np.ndarray) -> sp.csr_array:
        from sklearn.preprocessing import normalize

        if self.kind == "raw":
            return matrix
        matrix = scaled(name, matrix, present, self.scaling)
        if name in self.idf:
            return tfidf(matrix, self.idf[name])
        return sp.csr_array(normalize(matrix))


def _short_indices(matrix: sp.csr_array) -> sp.csr_array:
    """Return the matrix with 32-bit indices, the only ones that k-means takes."""
    if matrix.nnz > np.iinfo(np.int32).max:
        return matrix
    parts = matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return sp.csr_array(parts, shape=matrix.shape)


def best_kmeans(
    points: Any, n_clusters: int, rng: np.random.Generator, n_init: int = 10
) -> "KMeans":
    """Return the best of several runs of k-means on points (documents, features), fitted."""
    from sklearn.cluster import KMeans

    from coview.runners.native import one_native_thread

    if points.shape[0] < n_clusters:
        raise ValueError(
            f"{n_clusters} clusters cannot be made of {points.shape[0]} documents; lower "
            "n_components, or leave out a view that few documents have."
        )
    seed = int(rng.integers(2**31))
    with one_native_thread():  # with several threads sums have no fixed order
        return KMeans(n_clusters, n_init=n_init, random_state=seed).fit(points)
