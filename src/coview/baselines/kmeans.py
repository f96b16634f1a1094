r"""k-means of one view or of all views side by side (MacQueen, 1967; Lloyd, 1982).

Objective (to be minimized) over centers m_k and labels c(d), with x_d the point of a document,

    sum_d |x_d - m_{c(d)}|^2

How a document becomes a point: `em.features`. With features="raw" it is what the papers
call K-means (one view) and ConcatK-means or K-means + CTVF (views side by side).

The iterations are scikit-learn's, from k-means++ seeds; the best of `n_init` runs is kept.
"""

from typing import Any

import numpy as np

from coview.baselines.base import InductiveClusterer
from coview.em.features import Features, best_kmeans
from coview.params import check_choice, check_int
from coview.views.checks import check_known
from coview.views.container import Views


class KMeansViews(InductiveClusterer):
    """k-means of one view, or of all views side by side.

    Parameters
    ----------
    n_components : int, default=10
        Clusters.
    view : str or None, default=None
        The view to cluster; None: all views side by side.
    features : {"auto", "raw"}, default="auto"
        How documents become points: see `coview.em.features`.
    n_init : int, default=10
        Runs from different seeds; the one with the best objective is kept.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of int of shape (documents,)
        -1 for documents that lack the `view`.
    cluster_centers_ : ndarray of shape (n_components, terms)
    inertia_ : float
        The objective.
    features_ : Features
        How documents become points.
    estimator_ : KMeans
        The fitted k-means.

    Examples
    --------
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, [30, 20], random_state=0)
    >>> KMeansViews(3, random_state=0).fit(views).predict(views[:5]).shape
    (5,)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        view: str | None = None,
        features: str = "auto",
        n_init: int = 10,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.view = view
        self.features = features
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("features", self.features, ["auto", "raw"])
        check_int("n_init", self.n_init, 1)

    def _fit(self, views: Views, rng: np.random.Generator) -> dict[str, Any]:
        features = Features.learn(self._own(views), self.features)
        has = self._has(views)
        points = features.side_by_side(self._own(views))
        model = best_kmeans(points[has], self.n_components, rng, self.n_init)
        labels = np.full(views.n_docs, -1)
        labels[has] = model.labels_
        return {
            "features_": features,
            "estimator_": model,
            "labels_": labels,
            "cluster_centers_": model.cluster_centers_,
            "inertia_": model.inertia_,
        }

    def _predict(self, views: Views) -> np.ndarray:
        points = self.features_.side_by_side(self._own(views), type(self).__name__)
        return np.where(self._has(views), self.estimator_.predict(points), -1)

    def _own(self, views: Views) -> Views:
        """Return the views that are clustered."""
        if self.view is None:
            return views
        check_known([self.view], views.names, "`view`")
        return views.select(self.view)

    def _has(self, views: Views) -> np.ndarray:
        """Return which documents are clustered."""
        own = self._own(views)
        return own.present[:, 0] if self.view is not None else np.ones(views.n_docs, bool)
