r"""SCM: semantic correlation matching, for search of one view with another (Pereira et al., 2014).

1. Correlation. Canonical correlations of the views (`baselines.cca`) give each view v a map to
   one common space: documents become x_v.
2. Abstraction. In that space a logistic regression of each view maps a document to the classes,

       p(c | d, v)  =  exp(a_cv + b_cv' x_v) / sum_c' exp(a_c'v + b_c'v' x_v)

   taught by the labelled documents that have the view.

Documents of different views are then compared by these posteriors: `coview.metrics.similarity` with
kind="correlation" and the training means as `centre` is the paper's centred correlation. Step 1
alone is the paper's correlation matching (`project`).

The paper's correlations are between kernels; these are linear, in points (`baselines.features`)
for which distance is Hellinger's or Euclidean, with a truncated decomposition of wide views before.
"""

from typing import Any

import numpy as np

from coview.baselines.base import Classifier
from coview.baselines.cca import CommonSpace, check_cca_parameters
from coview.data.views import Views
from coview.params import check_int, check_real


class SCM(Classifier):
    """Canonical correlations and logistic regression: views as vectors of class posteriors.

    Parameters
    ----------
    n_components : int, default=10
        Dimensions of the common space.
    rank : int, default=100
        Dimensions of each view before.
    regularization : float, default=1.0
        Share of its mean variance that is added to the variance of each view in all directions.
    C : float, default=1.0
        Inverse strength of the penalty in the logistic regressions.
    features : {"auto", "raw"}, default="auto"
        How documents become points: see `coview.baselines.features`.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    labels_ : ndarray of shape (documents,)
        The class of each training document, given or found.
    correlations_ : ndarray of shape (n_components,)
    means_ : dict of ndarray of shape (n_classes,)
        Mean semantic vector of the training documents in each view.

    References
    ----------
    J. Costa Pereira et al. On the role of correlation and abstraction in cross-modal multimedia
    retrieval. IEEE Transactions on Pattern Analysis and Machine Intelligence 36, 2014.

    Examples
    --------
    >>> from coview.datasets import make_views
    >>> from coview.metrics import similarity
    >>> views = make_views(90, 3, {"text": 40, "image": 30}, random_state=0)
    >>> model = SCM(4, random_state=0).fit(views, views.labels)
    >>> text = model.transform({"text": views["text"]})
    >>> image = model.transform({"image": views["image"]})
    >>> centre = model.means_["text"], model.means_["image"]
    >>> similarity(text, image, kind="correlation", centre=centre).shape
    (90, 90)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        rank: int = 100,
        regularization: float = 1.0,
        C: float = 1.0,
        features: str = "auto",
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.rank = rank
        self.regularization = regularization
        self.C = C
        self.features = features
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_int("n_components", self.n_components, 1)
        check_real("C", self.C, np.finfo(float).tiny)
        check_cca_parameters(self)

    def _fit(self, views: Views, codes: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
        if len(np.unique(codes[codes >= 0])) < 2:
            raise ValueError("SCM needs labelled documents of at least two classes.")
        space = CommonSpace.learn(self, views, self.n_components, rng)
        models, means = {}, {}
        n_classes = codes.max() + 1
        for name, has in zip(views.names, views.present.T, strict=True):
            points = space.project(views.select(name))
            models[name] = self._regression(name, points, codes, np.flatnonzero(has))
            means[name] = _posteriors(models[name], points[has], n_classes).mean(axis=0)
        return {
            "space_": space,
            "correlations_": space.correlations,
            "models_": models,
            "means_": means,
            "n_classes_": n_classes,
        }

    def _regression(self, name, points, codes, rows):
        from sklearn.linear_model import LogisticRegression

        taught = rows[codes[rows] >= 0]
        if len(np.unique(codes[taught])) < 2:
            raise ValueError(
                f"View {name!r} has labelled documents of fewer than two classes: give more "
                "labels, or leave the view out."
            )
        return LogisticRegression(C=self.C, max_iter=1000).fit(points[taught], codes[taught])

    def project(self, X) -> np.ndarray:
        """Documents in the common space (correlation matching): (documents, n_components)."""
        views = self._known_views(X)
        return self.space_.project(views, type(self).__name__)

    def transform(self, X) -> np.ndarray:
        """Semantic vectors: the classes' posteriors, mean over the views given that it has.

        Give one view, ``transform({"text": X})``, to search with it or in it.

        Returns
        -------
        ndarray of shape (documents, n_classes)
        """
        return self.predict_proba(X)

    def _proba(self, views: Views) -> np.ndarray:
        total = np.zeros((views.n_docs, self.n_classes_))
        for name, has in zip(views.names, views.present.T, strict=True):
            points = self.space_.project(views.select(name), type(self).__name__)
            total += has[:, None] * _posteriors(self.models_[name], points, self.n_classes_)
        n_views = views.present.sum(axis=1, keepdims=True)
        return np.where(n_views > 0, total / np.maximum(n_views, 1), 1 / self.n_classes_)


def _posteriors(model, points, n_classes):
    found = np.zeros((len(points), n_classes))
    found[:, model.classes_] = model.predict_proba(points)
    return found
