r"""Naive Bayes for each view, and the views' ensemble (NBC and NBC_E of Zhuang et al., 2012).

For each view v, from the labelled documents (McCallum & Nigam, 1998), with n(c,w,v) the counts of a
word in the documents of a class,

    p(w | c, v)  =  (n(c,w,v) + alpha) / sum_w' (n(c,w',v) + alpha)
    p(c | d, v)  ∝  p(c)  prod_w  p(w | c, v)^n(d,w,v)

The ensemble of the views a document has is the mean of the posteriors ("mean": the papers' ensemble
of equal weights), or their product with the prior taken once ("product": one naive Bayes for
which views are independent given the class).

Where the code is: scikit-learn's MultinomialNB for each view; `combine` joins them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from coview.baselines.base import Classifier
from coview.data.prepare import prepare
from coview.data.scaling import learn_scaling
from coview.data.validate import check_known
from coview.data.views import Views
from coview.data.vocabulary import match_features
from coview.params import check_choice, check_real


class NaiveBayesViews(Classifier):
    """Multinomial naive Bayes of one view, or the ensemble of all.

    Parameters
    ----------
    view : str or None, default=None
        The one view to use; None joins all of them.
    combine : {"mean", "product"}, default="mean"
        How the views' posteriors are joined.
    alpha : float, default=1.0
        Added to every count.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    labels_ : ndarray of shape (documents,)
        The class of each training document, given or found.
    models_ : dict of MultinomialNB
        Those of the views with a labelled document.

    References
    ----------
    A. McCallum, K. Nigam. A comparison of event models for naive Bayes text classification. AAAI
    Workshop on Learning for Text Categorization 1998.

    Examples
    --------
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
    >>> few = np.where(np.arange(60) < 12, views.labels, -1)
    >>> model = NaiveBayesViews().fit(views, few)
    >>> model.predict({"text": views["text"][:5]}).shape
    (5,)
    >>> sorted(model.view_proba(views))  # the posterior of each view on its own
    ['image', 'text']
    """

    random_state = 0  # nothing is random

    def __init__(self, *, view: str | None = None, combine: str = "mean", alpha: float = 1.0):
        self.view = view
        self.combine = combine
        self.alpha = alpha

    def _check_parameters(self) -> None:
        check_choice("combine", self.combine, ["mean", "product"])
        check_real("alpha", self.alpha)

    def _fit(self, views: Views, codes: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
        if self.view is not None:
            check_known([self.view], views.names, "`view`")
            views = views.select(self.view)
        counts = Counts.learn(views)
        matrices = counts.of(views)
        models = fit_views(matrices, views.present, codes, self.alpha)
        if not models:
            raise ValueError("No labelled document has the view, or any: nothing to learn from.")
        prior = np.bincount(codes[codes >= 0]) / (codes >= 0).sum()
        return {"counts_": counts, "models_": models, "class_prior_": prior}

    def view_proba(self, X) -> dict[str, np.ndarray]:
        """Posteriors (documents, classes) of each view; NaN for documents that lack it."""
        views = self._known_views(X)
        return self._view_proba(views)

    def _view_proba(self, views):
        kept = views.select(*(n for n in views.names if n in self.models_))
        matrices = self.counts_.of(kept, type(self).__name__)
        n_classes = len(self.class_prior_)
        return proba_of_views(self.models_, matrices, kept.present, n_classes)

    def _proba(self, views: Views) -> np.ndarray:
        if not any(n in self.models_ for n in views.names):
            return np.tile(self.class_prior_, (views.n_docs, 1))
        return join(list(self._view_proba(views).values()), self.class_prior_, self.combine)


class Counts:
    """Views as counts: dense real ones brought to [0, 1], as in the models; the rest as it is."""

    def __init__(self, scaling: dict, names: dict, widths: dict):
        self.scaling, self.names, self.widths = scaling, names, widths

    @classmethod
    def learn(cls, views: Views) -> "Counts":
        scaling = learn_scaling(views.matrices, views.present, "auto")
        return cls(scaling, views.features, dict(zip(views.names, views.widths, strict=True)))

    def of(self, views: Views, owner: str = "model") -> dict[str, Any]:
        """The matrix of each view given, its columns in the order of the fit."""
        matched = {
            name: match_features(
                matrix,
                views.features[name],
                self.names[name],
                name,
                width=self.widths[name],
                owner=owner,
            )
            for name, matrix in views.matrices.items()
        }
        data = prepare(Views(matched, present=views.present), self.scaling, np.float64)
        return dict(zip(data.names, data.matrices, strict=True))


def fit_views(
    matrices: Mapping[str, Any], present: np.ndarray, codes: np.ndarray, alpha: float
) -> dict[str, Any]:
    """A naive Bayes for each view that a labelled document has."""
    from sklearn.naive_bayes import MultinomialNB

    models = {}
    for (name, matrix), has in zip(matrices.items(), present.T, strict=True):
        taught = np.flatnonzero(has & (codes >= 0))
        if len(taught):
            models[name] = MultinomialNB(alpha=alpha).fit(matrix[taught], codes[taught])
    return models


def proba_of_views(
    models: Mapping[str, Any], matrices: Mapping[str, Any], present: np.ndarray, n_classes: int
) -> dict[str, np.ndarray]:
    """Posteriors (documents, classes) of each view that has a model; NaN where it is lacking."""
    found = {}
    for (name, matrix), has in zip(matrices.items(), present.T, strict=True):
        if name in models:
            # a class that no labelled document of the view has keeps probability 0
            proba = np.zeros((matrix.shape[0], n_classes))
            proba[:, models[name].classes_] = models[name].predict_proba(matrix)
            proba[~has] = np.nan
            found[name] = proba
    return found


def join(posteriors: list[np.ndarray], prior: np.ndarray, combine: str) -> np.ndarray:
    """One posterior from those of the views a document has; the prior where it has none.

    >>> a, b = np.array([[0.8, 0.2]]), np.array([[0.4, 0.6]])
    >>> join([a, b], np.array([0.5, 0.5]), "mean")
    array([[0.6, 0.4]])
    >>> join([a, b], np.array([0.5, 0.5]), "product").round(3)  # .32 against .12
    array([[0.727, 0.273]])
    """
    stack = np.stack(posteriors)  # (views, documents, classes)
    known = ~np.isnan(stack[:, :, :1])
    n_known = known.sum(axis=0)
    if combine == "mean":
        joined = np.where(known, stack, 0).sum(axis=0) / np.maximum(n_known, 1)
    else:
        with np.errstate(divide="ignore"):
            logs = np.where(known, np.log(np.where(known, stack, 1)), 0).sum(axis=0)
            logs = np.maximum(logs, -1e300) - (n_known - 1) * np.log(prior)
        joined = np.exp(logs - logs.max(axis=1, keepdims=True))
        joined /= joined.sum(axis=1, keepdims=True)
    return np.where(n_known > 0, joined, prior)
