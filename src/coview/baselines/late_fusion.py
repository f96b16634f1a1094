r"""Late fusion: each view is clustered on its own, and the clusterings are joined afterward.

FusionLM joins them by a latent model (after Bruno & Marchand-Maillet, 2009). PLSA of each view
gives p(c | d, v) over the clusters c of the view. A latent class z then explains which clusters of
different views go together:

    p(c | d, v)  =  sum_z  p(c | z, v)  p(z | d)                                       (1)

Objective (to be maximized): the likelihood of the views' posteriors taken as counts,

    sum_v sum_{d,c}  p(c | d, v)  log sum_z p(c | z, v) p(z | d)                       (2)

over the views that a document has. (2) is that of `LinkPLSA` with the clusters as terms and equal
weights of the views. The relation of two documents is then their common classes, not their words.
Kim et al. (2010), who compare with Fusion-LM, say of it that it "re-estimates the relationship
between documents from single-view clustering results"; their text does not say more, and this is
our reading of the method, not a copy of it.

MVC joins them by linear maps from one pattern of clusters to those of each view (Long, Yu & Zhang,
2008): see `coview.em.mvc`, where it is also a start of the models.
"""

from typing import Any

import numpy as np

from coview.baselines.base import Clusterer, InductiveClusterer, require_documents
from coview.em.mvc import cluster_views, join_clusterings
from coview.models.link_plsa import LinkPLSA
from coview.models.plsa import PLSA
from coview.params import by_view, check_choice, check_int, check_real
from coview.views.container import Views

# -- Fusion-LM: a latent model of the clusterings --------------------------------------------------

# Equal weights, as in (2), and a likelihood without an ensemble's view, whatever the defaults are.
EQUAL = {"init": "trial", "view_weights": "balanced", "ensemble": 0}


class FusionLM(InductiveClusterer):
    """PLSA of each view, and a latent model of how the views' clusters go together.

    Parameters
    ----------
    n_components : int, default=10
        Clusters of the fusion and of each view.
    init : str, default="auto"
        Start of the views' models, as in `coview.PLSA`.
    max_iter : int, default=200
        Maximum number of iterations of each model.
    random_state : int, Generator, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads; None uses every core. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int of shape (documents,)
    doc_topic_ : ndarray of shape (documents, n_components)
        p(z|d).
    models_ : dict of PLSA
        The model of each view, fitted on the documents that have it.
    fusion_ : LinkPLSA
        `fusion_.components_[view]` is p(c|z,v).

    References
    ----------
    E. Bruno, S. Marchand-Maillet. Multiview clustering: a late fusion approach using latent models.
    SIGIR 2009.

    Examples
    --------
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, [30, 20], random_state=0)
    >>> FusionLM(3, random_state=0).fit(views).predict(views[:5]).shape
    (5,)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        init: str = "auto",
        max_iter: int = 200,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_int("max_iter", self.max_iter, 1)

    def _fit(self, views: Views, rng: np.random.Generator) -> dict[str, Any]:
        require_documents(views, type(self).__name__)
        models, posteriors = {}, {}
        for name, has in zip(views.names, views.present.T, strict=True):
            rows = np.flatnonzero(has)
            model = self._model(PLSA, rng, init=self.init).fit(views.select(name)[rows])
            models[name] = model
            posteriors[name] = _scatter_rows(model.doc_topic_, rows, views.n_docs)
        clusters = Views(posteriors, present=views.present)
        fusion = self._model(LinkPLSA, rng, scaling=None, **EQUAL).fit(clusters)  # (1)
        return {
            "models_": models,
            "fusion_": fusion,
            "doc_topic_": fusion.doc_topic_,
            "labels_": fusion.labels_,
        }

    def _model(self, cls: type, rng: np.random.Generator, **params: Any) -> Any:
        seed = int(rng.integers(2**31))
        common = {"max_iter": self.max_iter, "random_state": seed, "n_jobs": self.n_jobs}
        return cls(self.n_components, **common, **params)

    def _predict(self, views: Views) -> np.ndarray:
        posteriors = {}
        for name, has in zip(views.names, views.present.T, strict=True):
            rows = np.flatnonzero(has)
            found = np.zeros((0, self.n_components))
            if len(rows):
                found = self.models_[name].transform(views.select(name)[rows])
            posteriors[name] = _scatter_rows(found, rows, views.n_docs)
        return self.fusion_.predict(Views(posteriors, present=views.present))


def _scatter_rows(values: np.ndarray, rows: np.ndarray, n_docs: int) -> np.ndarray:
    """Return an array of all documents with the values at `rows`, zeros elsewhere."""
    found = np.zeros((n_docs, values.shape[1]))
    found[rows] = values
    return found


# -- MVC: linear maps to the clusterings -----------------------------------------------------------


class MVC(Clusterer):
    """A consensus of the views' clusterings, with linear maps from it to each of them.

    Parameters
    ----------
    n_components : int, default=10
        Clusters of the consensus and of each view.
    divergence : {"i_divergence", "euclidean"}, default="i_divergence"
        How the clusterings and their reconstructions are compared.
    view_weights : float or dict of float, default=1.0
        w_v, one for all views or by view.
    features : {"auto", "raw"}, default="auto"
        How documents become points for k-means: see `coview.em.features`.
    n_init : int, default=10
        Random starts, and runs of k-means on each view.
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=1e-6
        Stop when an iteration changes the objective by less than this share of it.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of int of shape (documents,)
    view_labels_ : dict of ndarray of int of shape (documents,)
        k-means on each view; -1 for documents that lack it.
    pattern_ : ndarray of shape (documents, n_components)
        B.
    maps_ : dict of ndarray of shape (n_components, n_components)
        P_v.
    objectives_ : ndarray
        The objective at the start and after each iteration.
    n_iter_ : int
        Iterations of the run that was kept.

    References
    ----------
    B. Long, P. S. Yu, Z. Zhang. A general model for multiple view unsupervised learning. SDM 2008.
    D. Lee, S. Seung. Algorithms for non-negative matrix factorization. NIPS 2001.

    Examples
    --------
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, [30, 20], random_state=0)
    >>> MVC(3, random_state=0).fit_predict(views).shape
    (60,)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        divergence: str = "i_divergence",
        view_weights: Any = 1.0,
        features: str = "auto",
        n_init: int = 10,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.divergence = divergence
        self.view_weights = view_weights
        self.features = features
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("divergence", self.divergence, ["i_divergence", "euclidean"])
        check_choice("features", self.features, ["auto", "raw"])
        check_int("n_init", self.n_init, 1)
        check_int("max_iter", self.max_iter, 1)
        check_real("tol", self.tol)

    def _fit(self, views: Views, rng: np.random.Generator) -> dict[str, Any]:
        require_documents(views, type(self).__name__)
        weights = by_view("view_weights", self.view_weights, views.names)
        weights = [check_real("view_weights", w) for w in weights]
        labels = cluster_views(views, self.n_components, rng, self.features, self.n_init)
        joined = join_clusterings(
            list(labels.values()),
            views.present * weights,
            self.n_components,
            rng,
            divergence=self.divergence,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        return {
            "labels_": joined.labels,
            "view_labels_": labels,
            "pattern_": joined.pattern,
            "maps_": dict(zip(views.names, joined.maps, strict=True)),
            "objectives_": joined.objectives,
            "n_iter_": len(joined.objectives) - 1,
        }
