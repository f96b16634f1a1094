r"""Fusion-LM: late fusion of the views' clusterings by a latent model (after Bruno &
Marchand-Maillet, 2009).

Each view is clustered on its own by PLSA, which gives p(c | d, v) over the clusters c of the view.
A latent class z then explains which clusters of different views go together:

    p(c | d, v)  =  sum_z  p(c | z, v)  p(z | d)                                       (1)

Objective (to be maximised): the likelihood of the views' posteriors taken as counts,

    sum_v sum_{d,c}  p(c | d, v)  log sum_z p(c | z, v) p(z | d)                       (2)

over the views that a document has. (2) is that of `LinkPLSA` with the clusters as terms, each view
with the same say. The relation of two documents is then their common classes, not their words.

Kim et al. (2010), who compare with Fusion-LM, say of it that it "re-estimates the relationship
between documents from single-view clustering results"; their text does not say more, and this is
our reading of the method, not a copy of it.

Where the code is: `coview.PLSA` for the views, `coview.LinkPLSA` for (1).
"""

from typing import Any

import numpy as np

from coview.baselines.base import Clusterer, require_documents
from coview.data.views import Views
from coview.models.link_plsa import LinkPLSA
from coview.models.plsa import PLSA
from coview.params import check_int


class FusionLM(Clusterer):
    """Late fusion: PLSA of each view, and a latent model of how their clusters go together.

    Parameters
    ----------
    n_components : int, default=10
        Clusters, of the fusion and of each view.
    init : str, default="auto"
        Start of the views' models, as in `coview.PLSA`.
    max_iter : int, default=200
        Most iterations of each model.
    random_state : int, Generator, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

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
            posteriors[name] = _spread(model.doc_topic_, rows, views.n_docs)
        clusters = Views(posteriors, present=views.present)
        fusion = self._model(LinkPLSA, rng, scaling=None).fit(clusters)
        return {
            "models_": models,
            "fusion_": fusion,
            "doc_topic_": fusion.doc_topic_,
            "labels_": fusion.labels_,
        }

    def _model(self, cls, rng, **params):
        seed = int(rng.integers(2**31))
        common = {"max_iter": self.max_iter, "random_state": seed, "n_jobs": self.n_jobs}
        return cls(self.n_components, **common, **params)

    def predict(self, X) -> np.ndarray:
        """The cluster of each document, from the views it has."""
        views = self._known_views(X)
        posteriors = {}
        for name, has in zip(views.names, views.present.T, strict=True):
            rows = np.flatnonzero(has)
            found = np.zeros((0, self.n_components))
            if len(rows):
                found = self.models_[name].transform(views.select(name)[rows])
            posteriors[name] = _spread(found, rows, views.n_docs)
        return self.fusion_.predict(Views(posteriors, present=views.present))


def _spread(rows, places, n_docs):
    """Rows at their places among all documents, zeros elsewhere."""
    found = np.zeros((n_docs, rows.shape[1]))
    found[places] = rows
    return found
