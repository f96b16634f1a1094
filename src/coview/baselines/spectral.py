r"""Spectral clustering: of all views side by side, and co-regularized.

SpectralConcat (Ng, Jordan & Weiss, 2002). With U the graph of nearest neighbors of the points
(`em.features`, all views side by side) and D its degrees, let E be the K leading
eigenvectors of

    D^-1/2 U D^-1/2                                                                    (1)

as columns. Rows of E are scaled to length one and clustered by k-means. The method does not know
which column belongs to which view, and is hard to beat where all views are good.

CoRegSpectral (Kumar, Rai & Daumé, 2011), pairwise and centroid. Each view v has a similarity K_v of
all documents, its normalized form L_v = D^-1/2 K_v D^-1/2, and an embedding U_v (documents,
clusters) with orthonormal columns. The embeddings are to agree on which documents are alike,
U_v U_v'. Objective (to be maximized), "pairwise" over unordered pairs of views,

    sum_v tr(U_v' L_v U_v)  +  lam sum_{v<w} tr(U_v U_v' U_w U_w')                     (2)

and "centroid", with one more embedding U*,

    sum_v tr(U_v' L_v U_v)  +  lam sum_v tr(U_v U_v' U* U*')                           (3)

Updates, each the exact maximizer with the others fixed, so the objective never falls: the leading
eigenvectors

    U_v   of   L_v + lam sum_{w != v} U_w U_w'                    pairwise              (4)
    U_v   of   L_v + lam U* U*',    U*  of  sum_v U_v U_v'        centroid              (5)

which `_leading` finds by Lanczos iterations that multiply with L_v and the thin U_w, never forming
the sum. k-means clusters the rows, scaled to length one: of all U_v side by side (pairwise; or of
one view), of U* (centroid).

The similarity is Gaussian, exp(-|x - y|^2 / 2 s^2), with the median distance as s, as in the
paper. A document that lacks a view is similar to none in it; its row of U_v comes from the others.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.baselines.base import Clusterer, require_documents, require_several_views
from coview.em.features import Features, best_kmeans
from coview.em.starts import spectral_embedding
from coview.graphs.neighbors import knn_graph
from coview.metrics.retrieval import unit_rows
from coview.params import check_choice, check_int, check_real
from coview.views.checks import check_known
from coview.views.container import Views
from coview.wording import plural

# -- all views side by side ------------------------------------------------------------------------


class SpectralConcat(Clusterer):
    """Spectral clustering on the neighbor graph of all views side by side.

    Parameters
    ----------
    n_components : int, default=10
        Clusters.
    n_neighbors : int, default=20
        Nearest neighbors of each document in the graph. With few of them, most documents of a
        text collection are joined to a few short ones: on reuters1200, 10 give an accuracy of
        32 %, 20 of 50 %, 100 of 61 %. Of 5, 10, 20, 50 and 100 the default has the best mean
        accuracy on seven real datasets (labels were used to choose it).
    features : {"auto", "raw"}, default="auto"
        How documents become points: see `coview.em.features`.
    n_init : int, default=10
        Runs of k-means on the eigenvectors.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of int of shape (documents,)
    embedding_ : ndarray of shape (documents, n_components)
        The eigenvectors, rows of length one.

    References
    ----------
    A. Ng, M. Jordan, Y. Weiss. On spectral clustering: analysis and an algorithm. NIPS 2002.

    Examples
    --------
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, [30, 20], random_state=0)
    >>> SpectralConcat(3, random_state=0).fit_predict(views).shape
    (60,)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        n_neighbors: int = 20,
        features: str = "auto",
        n_init: int = 10,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.features = features
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_int("n_neighbors", self.n_neighbors, 1)
        check_choice("features", self.features, ["auto", "raw"])
        check_int("n_init", self.n_init, 1)

    def _fit(self, views: Views, rng: np.random.Generator) -> dict[str, Any]:
        _check_eigenvectors(self.n_components, views.n_docs)
        points = Features.learn(views, self.features).side_by_side(views)
        embedding = spectral_embedding(knn_graph(points, self.n_neighbors), self.n_components, rng)
        labels = best_kmeans(embedding, self.n_components, rng, self.n_init).labels_
        return {"labels_": labels, "embedding_": embedding}


def _check_eigenvectors(n_components: int, n_docs: int) -> None:
    if n_docs < n_components + 2:
        raise ValueError(
            f"{n_components} eigenvectors need at least {n_components + 2} documents; got "
            f"{n_docs}. Lower n_components."
        )


# -- co-regularized --------------------------------------------------------------------------------


MAX_DOCUMENTS = 5_000  # the similarity of all pairs then takes 200 MB for each view


class CoRegSpectral(Clusterer):
    """Spectral clustering of every view, with embeddings that are made to agree.

    Parameters
    ----------
    n_components : int, default=10
        Clusters, and eigenvectors of each view.
    kind : {"pairwise", "centroid"}, default="pairwise"
        Whether the embeddings agree with each other, or with a common one.
    strength : float, default=0.01
        lam: the weight of the agreement.
    view : str or None, default=None
        Pairwise: cluster the embedding of this view; None: all embeddings side by side.
    features : {"auto", "raw"}, default="auto"
        How documents become points: see `coview.em.features`.
    max_iter : int, default=20
        Maximum number of rounds over all views.
    tol : float, default=1e-6
        Stop when a round changes the objective by less than this share of it.
    n_init : int, default=10
        Runs of k-means.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of int of shape (documents,)
    embeddings_ : dict of ndarray of shape (documents, n_components)
        U_v of each view, and U* as "*" in the centroid kind.
    objectives_ : ndarray of shape (iterations + 1,)
        (2) or (3) at the start (every view alone) and after each round.
    n_iter_ : int
        Rounds that were run.

    References
    ----------
    A. Kumar, P. Rai, H. Daumé III. Co-regularized multi-view spectral clustering. NIPS 2011.

    Examples
    --------
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, [30, 20], random_state=0)
    >>> CoRegSpectral(3, random_state=0).fit_predict(views).shape
    (60,)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        kind: str = "pairwise",
        strength: float = 0.01,
        view: str | None = None,
        features: str = "auto",
        max_iter: int = 20,
        tol: float = 1e-6,
        n_init: int = 10,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.kind = kind
        self.strength = strength
        self.view = view
        self.features = features
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("kind", self.kind, ["pairwise", "centroid"])
        check_real("strength", self.strength)
        check_choice("features", self.features, ["auto", "raw"])
        check_int("max_iter", self.max_iter, 1)
        check_real("tol", self.tol)
        check_int("n_init", self.n_init, 1)

    def _fit(self, views: Views, rng: np.random.Generator) -> dict[str, Any]:
        self._check_views(views)
        points = Features.learn(views, self.features).points(views)
        sims = [
            normalized_similarity(p, has)
            for p, has in zip(points.values(), views.present.T, strict=True)
        ]
        vectors, objectives = self._embed(sims, rng)
        rows = np.hstack([unit_rows(u) for u in self._clustered(vectors, views.names)])
        names = (*views.names, "*")
        return {
            "labels_": best_kmeans(rows, self.n_components, rng, self.n_init).labels_,
            "embeddings_": dict(zip(names, vectors, strict=False)),
            "objectives_": np.array(objectives),
            "n_iter_": len(objectives) - 1,
        }

    def _check_views(self, views: Views) -> None:
        name = type(self).__name__
        require_several_views(views, name)
        require_documents(views, name)
        if self.view is not None:
            check_known([self.view], views.names, "`view`")
        if views.n_docs > MAX_DOCUMENTS:
            raise ValueError(
                f"{name} compares all pairs of documents and takes at most {MAX_DOCUMENTS:,}; got "
                f"{plural(views.n_docs, 'document')}. Draw a sample (views[rows]), or use "
                "SpectralConcat, whose graph is sparse."
            )
        _check_eigenvectors(self.n_components, views.n_docs)

    def _embed(
        self, sims: Sequence[np.ndarray], rng: np.random.Generator
    ) -> tuple[list[np.ndarray], list[float]]:
        """Return the embeddings, U* last in the centroid kind, and the objective of each round."""
        k, centroid = self.n_components, self.kind == "centroid"
        start = rng.random(len(sims[0]))
        vectors = [_leading(s, [], 0.0, k, start) for s in sims]
        if centroid:
            vectors.append(_leading(None, vectors, 1.0, k, start))
        objectives = [objective(sims, vectors, self.strength)]
        for _ in range(self.max_iter):
            for v, sim in enumerate(sims):
                others = vectors[-1:] if centroid else vectors[:v] + vectors[v + 1 :]
                vectors[v] = _leading(sim, others, self.strength, k, start)  # (4), (5)
            if centroid:
                vectors[-1] = _leading(None, vectors[:-1], 1.0, k, start)  # (5)
            objectives.append(objective(sims, vectors, self.strength))
            if objectives[-1] - objectives[-2] <= self.tol * abs(objectives[-1]):
                break
        return vectors, objectives

    def _clustered(self, vectors: list[np.ndarray], names: tuple[str, ...]) -> list[np.ndarray]:
        """Return the embeddings that k-means clusters."""
        if self.kind == "centroid":
            return vectors[-1:]
        return vectors if self.view is None else [vectors[names.index(self.view)]]


def normalized_similarity(points: sp.csr_array, present: np.ndarray) -> np.ndarray:
    """Return D^-1/2 K D^-1/2 of the Gaussian similarity with the median distance as its width.

    Parameters
    ----------
    points : csr_array of shape (documents, features)
    present : ndarray of bool of shape (documents,)
        Which documents have the view; the others have zeros.

    Returns
    -------
    ndarray of shape (documents, documents)
    """
    rows = np.flatnonzero(present)
    squared = _squared_distances(points[rows])
    upper = squared[np.triu_indices(len(squared), 1)]
    width = (np.median(upper) or upper.mean() or 1.0) if len(upper) else 1.0
    similarity = np.exp(squared / (-2 * width))
    root = 1 / np.sqrt(similarity.sum(axis=1))
    whole = np.zeros((len(present), len(present)))
    whole[np.ix_(rows, rows)] = similarity * root[:, None] * root
    return whole


def objective(sims: Sequence[np.ndarray], vectors: Sequence[np.ndarray], strength: float) -> float:
    """Return (2), or (3) if there is one embedding more than there are views."""
    own = sum(np.vdot(u, s @ u) for s, u in zip(sims, vectors, strict=False))
    n_views = len(sims)
    if len(vectors) > n_views:
        pairs = [(v, n_views) for v in range(n_views)]
    else:
        pairs = [(v, w) for w in range(n_views) for v in range(w)]
    return float(own + strength * sum(_overlap(vectors[v], vectors[w]) for v, w in pairs))


def _overlap(u: np.ndarray, w: np.ndarray) -> float:
    """Return tr(U U' W W'), the squared length of U'W."""
    return np.sum((u.T @ w) ** 2)


def _squared_distances(points: sp.csr_array) -> np.ndarray:
    squares = np.asarray(points.multiply(points).sum(axis=1)).ravel()
    found = squares[:, None] + squares - 2 * (points @ points.T).toarray()
    np.maximum(found, 0, out=found)
    np.fill_diagonal(found, 0)
    return found


def _leading(
    sim: np.ndarray | None,
    others: Sequence[np.ndarray],
    strength: float,
    k: int,
    start: np.ndarray,
) -> np.ndarray:
    """Return the k leading eigenvectors of sim + strength * sum of U U' over the others."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    def product(x: np.ndarray) -> np.ndarray:
        result = sim @ x if sim is not None else np.zeros(len(x))
        for u in others if strength else []:
            result = result + strength * (u @ (u.T @ x))
        return result

    n_docs = len(start)
    operator = LinearOperator((n_docs, n_docs), matvec=product, dtype=float)
    return eigsh(operator, k=k, which="LA", v0=start)[1][:, ::-1]
