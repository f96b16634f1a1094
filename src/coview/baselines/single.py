r"""Estimators of one matrix on several views: on one of them, on all side by side, on the best.

`OneView` and `Concatenated` apply `PLSA`, `LTM` and other estimators of one matrix to `Views`; the
papers call these PLSA and LTM of a view, and conc-PLSA, PLSA + CTVF or ConcatLTM.

`BestView` fits every view and keeps the best. The papers choose it by the true labels: that is an
oracle, not a method, and `oracle_` says so. Without labels the choice is by the mean silhouette in
the view's own points (`em.features`),

    s(d) = (b(d) - a(d)) / max(a(d), b(d))

with a(d) the mean distance to the other documents of d's cluster and b(d) that to the nearest other
cluster (Rousseeuw, 1987); or by the mean adjusted Rand index with the clusterings of the other
views ("agreement"), since what views share is less likely to be an accident of one. Silhouettes
favor views of few dimensions, and with two views the agreement is the same for both: "auto" is
agreement for three views and more, silhouette for two. Objectives and likelihoods of different
views cannot be compared: they are sums over different data.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import clone

from coview.baselines.base import InductiveClusterer, check_classes, require_documents
from coview.em.features import Features
from coview.metrics import adjusted_rand, clustering_accuracy
from coview.params import check_choice, check_estimator
from coview.views.checks import check_known
from coview.views.container import Views
from coview.views.density import has_negatives
from coview.views.vocabulary import match_views, read_known

SILHOUETTE_DOCUMENTS = 2_000  # of more a sample is drawn, since all pairs are compared


class OneView(InductiveClusterer):
    """An estimator of one matrix, on one of several views.

    Parameters
    ----------
    estimator : estimator with `fit` and `labels_`
        It is cloned; `predict` needs its `predict`.
    view : str or None, default=None
        The view; None if there is only one.

    Attributes
    ----------
    estimator_ : the fitted estimator
    labels_ : ndarray of shape (documents,)
        -1 for documents that lack the view, which are left out of the fit.

    Examples
    --------
    >>> from coview import PLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
    >>> OneView(PLSA(3, random_state=0), view="text").fit(views).labels_.shape
    (60,)
    """

    random_state = 0  # not used: the estimator has its own

    def __init__(self, estimator: Any, *, view: str | None = None):
        self.estimator = estimator
        self.view = view

    def _check_parameters(self) -> None:
        check_estimator("estimator", self.estimator)  # it checks its own parameters

    def _fit(self, views: Views, rng: np.random.Generator) -> dict[str, Any]:
        own, has = self._own(views)
        require_documents(own, type(self).__name__)
        model = clone(self.estimator).fit(own[has])
        labels = np.full(views.n_docs, -1)
        labels[has] = model.labels_
        return {"estimator_": model, "labels_": labels}

    def _predict(self, views: Views) -> np.ndarray:
        own, has = self._own(views)
        labels = np.full(own.n_docs, -1)
        if len(has):
            labels[has] = self.estimator_.predict(own[has])
        return labels

    def _own(self, views: Views) -> tuple[Views, np.ndarray]:
        """Return the one view, and the rows of the documents that have it."""
        if self.view is None and views.n_views > 1:
            raise ValueError(
                f"OneView needs `view` where there are several ({', '.join(views.names)})."
            )
        name = views.names[0] if self.view is None else self.view
        check_known([name], views.names, "`view`")
        own = views.select(name)
        return own, np.flatnonzero(own.present[:, 0])


class Concatenated(InductiveClusterer):
    """An estimator of one matrix, on all views side by side.

    The columns keep their values, so a view with larger sums has a larger weight, as in the
    papers.

    Parameters
    ----------
    estimator : estimator with `fit` and `labels_`
        It is cloned; `predict` needs its `predict`.

    Attributes
    ----------
    estimator_ : the fitted estimator
    labels_ : ndarray of shape (documents,)
    widths_ : dict of int
        Number of columns of each view.
    features_ : dict of ndarray or None
        Names of the columns of each view.

    Examples
    --------
    >>> from coview import PLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, [30, 20], random_state=0)
    >>> Concatenated(PLSA(3, random_state=0)).fit(views).predict(views[:4]).shape
    (4,)
    """

    random_state = 0

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def _check_parameters(self) -> None:
        check_estimator("estimator", self.estimator)  # it checks its own parameters

    def _fit(self, views: Views, rng: np.random.Generator) -> dict[str, Any]:
        model = clone(self.estimator).fit(views.concat())
        widths = dict(zip(views.names, views.widths, strict=True))
        return {
            "estimator_": model,
            "labels_": model.labels_,
            "widths_": widths,
            "features_": views.features,
        }

    def _predict(self, views: Views) -> np.ndarray:
        owner = type(self).__name__
        views = match_views(views, self.features_, self.widths_, owner)
        absent = [n for n in self.view_names_ if n not in views.names]
        empty = {n: np.zeros((views.n_docs, self.widths_[n])) for n in absent}
        real = [n for n, matrix in views.matrices.items() if has_negatives(matrix)]
        whole = read_known({**views.matrices, **empty}, real).select(*self.view_names_)
        return self.estimator_.predict(whole.concat())


class BestView(InductiveClusterer):
    """An estimator of one matrix on every view, of which the best is kept.

    Parameters
    ----------
    estimator : estimator with `fit` and `labels_`
        It is cloned for each view; `predict` needs its `predict`.
    oracle : bool, default=False
        Choose by the accuracy under the true labels, `fit(views, y)`, as the papers do. Then
        `oracle_` is True, and every report must say so.
    criterion : {"auto", "silhouette", "agreement"}, default="auto"
        How to choose without labels; "auto" is "agreement" for three views and more.

    Attributes
    ----------
    best_view_ : str
    labels_ : ndarray of shape (documents,)
        Those of the best view; -1 for documents that lack it.
    oracle_ : bool
        Whether true labels were used.
    view_labels_ : dict of ndarray of shape (documents,)
        The labels of each view.
    view_scores_ : dict of float
        The score of each view by which the best was chosen.
    estimators_ : dict
        The fitted estimator of each view.
    models_ : dict of OneView
        The same, with `predict` for `Views`.

    Examples
    --------
    >>> from coview import PLSA
    >>> from coview.datasets import make_views
    >>> noise = {"image": 1.0}
    >>> views = make_views(90, 3, {"text": 40, "image": 40}, view_noise=noise, random_state=0)
    >>> best = BestView(PLSA(3, random_state=0)).fit(views)
    >>> sorted(best.view_scores_), best.oracle_
    (['image', 'text'], False)
    >>> BestView(PLSA(3, random_state=0), oracle=True).fit(views, views.labels).best_view_
    'text'
    """

    random_state = 0

    def __init__(self, estimator: Any, *, oracle: bool = False, criterion: str = "auto"):
        self.estimator = estimator
        self.oracle = oracle
        self.criterion = criterion

    def _check_parameters(self) -> None:
        check_estimator("estimator", self.estimator)  # it checks its own parameters
        check_choice("oracle", self.oracle, [True, False])
        check_choice("criterion", self.criterion, ["auto", "silhouette", "agreement"])

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit every view and keep the best.

        Parameters
        ----------
        X : Views, dict of matrices, list of matrices, or one matrix
        y : array-like of shape (documents,), optional
            The true labels; used with `oracle=True` only.

        Returns
        -------
        self
        """
        self._check_parameters()
        views = self._training_views(X)
        require_documents(views, type(self).__name__)
        models = {n: OneView(self.estimator, view=n).fit(views) for n in views.names}
        labels = {n: m.labels_ for n, m in models.items()}
        scores = self._oracle_scores(labels, y) if self.oracle else self._scores(labels, views)
        best = max(scores, key=lambda name: scores[name])
        found = {
            "best_view_": best,
            "labels_": labels[best],
            "oracle_": self.oracle,
            "view_labels_": labels,
            "view_scores_": scores,
            "estimators_": {n: m.estimator_ for n, m in models.items()},
            "models_": models,
        }
        return self._keep(views, found, 0)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return `labels_`."""
        return self.fit(X, y).labels_

    def _predict(self, views: Views) -> np.ndarray:
        return self.models_[self.best_view_].predict(views)

    def _oracle_scores(self, labels: dict[str, np.ndarray], y: Any) -> dict[str, float]:
        if y is None:
            raise ValueError("BestView(oracle=True) chooses by the true labels: fit(views, y).")
        codes = check_classes(y, len(next(iter(labels.values()))))[1]
        known = codes >= 0
        return {n: clustering_accuracy(codes[known], found[known]) for n, found in labels.items()}

    def _scores(self, labels: dict[str, np.ndarray], views: Views) -> dict[str, float]:
        by_default = "agreement" if views.n_views > 2 else "silhouette"
        if (by_default if self.criterion == "auto" else self.criterion) == "agreement":
            return {n: _agreement(labels, n) for n in labels}
        points = Features.learn(views).points(views)
        return {n: _silhouette(points[n], labels[n]) for n in labels}


def _silhouette(points: Any, labels: np.ndarray) -> float:
    """Return the mean silhouette of the documents that have a label; -1 for a single cluster."""
    from sklearn.metrics import silhouette_score

    kept = np.flatnonzero(labels >= 0)
    if len(kept) > SILHOUETTE_DOCUMENTS:
        kept = np.random.default_rng(0).choice(kept, SILHOUETTE_DOCUMENTS, replace=False)
    n_clusters = len(np.unique(labels[kept]))
    if not 1 < n_clusters < len(kept):
        return -1.0
    return float(silhouette_score(points[kept], labels[kept]))


def _agreement(labels: dict[str, np.ndarray], name: str) -> float:
    """Return the mean adjusted Rand index with the other views, over documents that have both."""
    values = []
    for other, found in labels.items():
        both = (labels[name] >= 0) & (found >= 0)
        if other != name and both.any():
            values.append(adjusted_rand(labels[name][both], found[both]))
    return float(np.mean(values)) if values else 0.0
