"""Graphs of nearest neighbors in LTM and MGGM, and new documents that join them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from coview.base import BaseViewsModel
from coview.em.penalties.base import Penalty
from coview.em.penalties.graph_smoothness import GraphSmoothness
from coview.em.penalties.neighbor_pull import NeighborPull
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start
from coview.em.tfidf import inverse_frequencies, tfidf
from coview.em.unseen_terms import without_unseen
from coview.graphs.neighbors import graph_of_pairs, nearest_pairs, scaled_points
from coview.graphs.new_neighbors import (
    NeighborSearch,
    neighbor_radii,
    pack_points,
    unpack_points,
)
from coview.models._shared import OTHER_MODELS
from coview.models._strength import PenalizedModel
from coview.views.density import is_dense
from coview.wording import listing

# of the weight of all graphs; the pull of one that has less is far below the fold-in's tolerance
NEGLIGIBLE = 1e-6


class NeighborFeatures:
    """What the documents of one view are compared by, learned from the training documents.

    The papers' Euclidean distance suits measurements; between sparse counts it mostly tells short
    documents from long ones. So sparse views are compared by tf-idf weights of square roots, with
    rows of length one (`em.tfidf`), unless `metric` says otherwise.
    """

    def __init__(self, training: sp.csr_array, metric: str = "auto") -> None:
        euclidean = is_dense(training) if metric == "auto" else metric == "euclidean"
        self.idf = None if euclidean else inverse_frequencies(training)

    def of(self, matrix: sp.csr_array) -> sp.csr_array:
        """Return the features of documents, of the training or new ones."""
        return matrix if self.idf is None else tfidf(matrix, self.idf)


def neighbor_graph(
    data: Prepared, v: int, n_neighbors: int, metric: str, n_jobs: int | None = None
) -> tuple[sp.csr_array, dict[str, Any]]:
    """Return the graph of nearest neighbors in one view, Eq. 5 of Wang et al. (2017).

    And what it takes to find the neighbors of new documents later: see `pack_points`.
    """
    matrix, docs = data.matrices[v], np.flatnonzero(data.present[:, v])
    points = scaled_points(NeighborFeatures(matrix, metric).of(matrix)[docs])
    pairs = nearest_pairs(points, n_neighbors, n_jobs=n_jobs)
    radii = neighbor_radii(pairs, len(docs), n_neighbors)
    return graph_of_pairs(pairs, docs, data.n_docs), pack_points(matrix, docs, radii, n_neighbors)


class NeighborsOfNewDocuments(PenalizedModel):
    """A model whose new documents are smoothed over their neighbors among the training documents.

    `graph_points_` has what `neighbor_graph` keeps of each view, and `graph_strength_` is lambda of
    Eq. 15 of Wang et al. (2017). A model file of an earlier version has neither: there new
    documents are folded in without the graph, as they were.
    """

    n_neighbors: int
    neighbor_metric: Literal["auto", "euclidean", "tfidf"]
    smooth_new: bool
    graph_points_: dict[str, dict[str, Any]]
    graph_strength_: float
    doc_topic_: np.ndarray

    def _graphs_by_view(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the graphs that were given, by view or another name, as they were given."""
        raise NotImplementedError

    def _graph_entries(self, n_docs: int, names: Sequence[str]) -> list[int]:
        given = self._graphs_by_view(names)
        sizes = [g.nnz if sp.issparse(g) else np.count_nonzero(g) for g in given.values()]
        n_made = len(set(names) - set(given))
        return [*map(int, sizes), *[2 * n_docs * self.n_neighbors] * n_made]

    def _needs_all_documents(self, names: Sequence[str]) -> str:
        if isinstance(self.strength, str):
            return f"give a number as strength, {OTHER_MODELS}"
        given = self._graphs_by_view(names)
        missing = [name for name in names if name not in given]
        if not missing:
            return ""
        return (
            f"give a graph of the documents for {listing(missing)} (of links, say: "
            f"coview.edge_graph), {OTHER_MODELS}"
        )

    def _for_new(
        self, penalty: GraphSmoothness, points: dict[str, dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the fitted attributes by which new documents find their neighbors."""
        kept = points if self.smooth_new and penalty.strength else {}
        return {"graph_strength_": float(penalty.strength), "graph_points_": kept}

    def _keep(self, *args: Any) -> Self:
        """Set the fitted attributes; of the points, those that can move a new document."""
        super()._keep(*args)
        least = NEGLIGIBLE * sum(getattr(self, "graph_weights_", {"": 1.0}).values())
        points = self.graph_points_.items()
        self.graph_points_ = {n: kept for n, kept in points if self._graph_weight(n) > least}
        return self

    def _fold_in_problem(self, data: Prepared, emissions: Any, start: Start) -> Problem:
        problem = super()._fold_in_problem(data, emissions, start)
        return replace(problem, penalty=self._neighbor_pull(data))

    def _neighbor_pull(self, data: Prepared) -> Penalty:
        """Return the pull of the training documents on new ones: (15) for these rows alone."""
        joined = [n for n in data.names if self._graph_weight(n) > 0]
        if not self.smooth_new or not joined:
            return Penalty()
        edges = sp.csr_array((data.n_docs, len(self.doc_topic_)))
        known = without_unseen(data, self.unseen_terms_)
        for name, matrix in zip(known.names, known.matrices, strict=True):
            if name in joined:
                edges = edges + self._graph_weight(name) * self._new_edges(name, matrix)  # (11)
        return NeighborPull(self.graph_strength_ * (edges @ self.doc_topic_.astype(np.float64)))

    def _graph_weight(self, name: str) -> float:
        """Return mu of a view's graph; 0 if it was given, so that new documents cannot join it."""
        if name not in getattr(self, "graph_points_", {}):
            return 0.0
        return getattr(self, "graph_weights_", {name: 1.0}).get(name, 0.0)

    def _new_edges(self, name: str, matrix: sp.csr_array) -> sp.csr_array:
        """Return the edges (new documents, training documents) of one view's graph."""
        features, search = self._searches()[name]
        search.warn_if_slow(
            matrix.shape[0], "smooth_new=False folds documents in without their neighbors"
        )
        found = search.edges(features.of(matrix))
        docs = self.graph_points_[name]["docs"]
        ends = found.indptr, docs[found.indices]
        return sp.csr_array(
            (found.data, ends[1], ends[0]), shape=(matrix.shape[0], len(self.doc_topic_))
        )

    def _searches(self) -> dict[str, tuple[NeighborFeatures, NeighborSearch]]:
        """Return the search of each view; made once, and again after another fit."""
        points, searches = _SEARCHES.get(self, (None, {}))
        if points is not self.graph_points_:
            searches = {n: self._search(packed) for n, packed in self.graph_points_.items()}
            _SEARCHES[self] = self.graph_points_, searches
        return searches

    def _search(self, packed: dict[str, Any]) -> tuple[NeighborFeatures, NeighborSearch]:
        matrix = unpack_points(packed)
        features = NeighborFeatures(matrix, self.neighbor_metric)
        points = features.of(matrix)[packed["docs"]]
        return features, NeighborSearch(points, packed["radii"], packed["n_neighbors"])


# beside the models, since it is neither part of what is saved nor of a copy
_SEARCHES: WeakKeyDictionary[BaseViewsModel, tuple[dict, dict]] = WeakKeyDictionary()
