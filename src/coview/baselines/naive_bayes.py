r"""Naive Bayes of the views: their ensemble, and co-training.

NaiveBayesViews (NBC and NBC_E of Zhuang et al., 2012). For each view v, from the labeled documents
(McCallum & Nigam, 1998), with n(c,w,v) the counts of a word in the documents of a class,

    p(w | c, v)  =  (n(c,w,v) + alpha) / sum_w' (n(c,w',v) + alpha)
    p(c | d, v)  ∝  p(c)  prod_w  p(w | c, v)^n(d,w,v)

The ensemble of the views a document has is the mean of the posteriors ("mean": the papers' ensemble
of equal weights), or their product with the prior taken once ("product": one naive Bayes in which
views are independent given the class). The models are scikit-learn's MultinomialNB; `join` combines
their posteriors.

CoTraining (Blum & Mitchell, 1998): the views' classifiers label documents for each other. Given
labeled documents L and a pool of u documents drawn at random from the unlabeled ones, repeat:

    1. fit a naive Bayes to each view of L;
    2. each of them labels, among the documents of the pool that it assigns to class c, the n_c
       that it is most confident of;
    3. these join L with those labels, and the pool is refilled.

The paper has two views, two classes, u = 75, 30 rounds and n = (1, 3), about the shares of the
classes. Here there may be more views and classes; n_c follows the shares among the labeled
documents. Where two views label one document differently, the more confident one wins. Documents
that lack a view are not seen by its classifier. In the end the posteriors of the views are combined
by their mean (CoTr_E of Zhuang et al., 2012) or by their product, as in the paper.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.baselines.base import Classifier, require_several_views
from coview.em.prepared import prepare
from coview.em.scaling import learn_scaling
from coview.params import check_choice, check_int, check_real
from coview.views.checks import check_known
from coview.views.container import Views
from coview.views.vocabulary import match_views

# -- the ensemble ----------------------------------------------------------------------------------


class NaiveBayesViews(Classifier):
    """Multinomial naive Bayes of one view, or the ensemble of all views.

    Parameters
    ----------
    view : str or None, default=None
        The one view to use; None combines all of them.
    combine : {"mean", "product"}, default="mean"
        How the views' posteriors are combined.
    alpha : float, default=1.0
        Added to every count.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes among the labeled documents.
    labels_ : ndarray of shape (documents,)
        The class of each training document, given or predicted.
    models_ : dict of MultinomialNB
        The model of each view that a labeled document has.

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
        scaling = CountScaling.learn(views)
        matrices = scaling.counts(views)
        models = fit_views(matrices, views.present, codes, self.alpha)
        if not models:
            raise ValueError("No labeled document has the view, or any: nothing to learn from.")
        prior = np.bincount(codes[codes >= 0]) / (codes >= 0).sum()
        return {"counts_": scaling, "models_": models, "class_prior_": prior}

    def view_proba(self, X: Any) -> dict[str, np.ndarray]:
        """Return the posteriors of each view on its own.

        Parameters
        ----------
        X : as in `fit`
            Any subset of the fitted views.

        Returns
        -------
        dict of ndarray of shape (documents, n_classes)
            NaN for documents that lack the view.
        """
        views = self._known_views(X)
        return self._view_proba(views)

    def _view_proba(self, views: Views) -> dict[str, np.ndarray]:
        kept = views.select(*(n for n in views.names if n in self.models_))
        matrices = self.counts_.counts(kept, type(self).__name__)
        n_classes = len(self.class_prior_)
        return proba_of_views(self.models_, matrices, kept.present, n_classes)

    def _proba(self, views: Views) -> np.ndarray:
        if not any(n in self.models_ for n in views.names):
            return np.tile(self.class_prior_, (views.n_docs, 1))
        return join(list(self._view_proba(views).values()), self.class_prior_, self.combine)


@dataclass(frozen=True)
class CountScaling:
    """How views become counts: dense real ones scaled to [0, 1] as in the models, others as is.

    Attributes
    ----------
    scaling : dict of pair of ndarray
        Smallest value and range of the features, for the views that are scaled.
    names : dict of ndarray or None
        Names of the columns of each view.
    widths : dict of int
        Number of columns of each view.
    """

    scaling: dict[str, tuple[np.ndarray, np.ndarray]]
    names: dict[str, np.ndarray | None]
    widths: dict[str, int]

    @classmethod
    def learn(cls, views: Views) -> "CountScaling":
        """Learn from training documents."""
        scaling = learn_scaling(views.matrices, views.present, "auto")
        return cls(scaling, views.features, dict(zip(views.names, views.widths, strict=True)))

    def counts(self, views: Views, owner: str = "model") -> dict[str, sp.csr_array]:
        """Return the matrix of each view given, with the columns of the fit."""
        views = match_views(views, self.names, self.widths, owner)
        data = prepare(views, self.scaling, np.float64)
        return dict(zip(data.names, data.matrices, strict=True))


def fit_views(
    matrices: Mapping[str, Any], present: np.ndarray, codes: np.ndarray, alpha: float
) -> dict[str, Any]:
    """Fit a naive Bayes to each view that a labeled document has; codes of -1 are unlabeled."""
    from sklearn.naive_bayes import MultinomialNB

    models = {}
    for (name, matrix), has in zip(matrices.items(), present.T, strict=True):
        labeled = np.flatnonzero(has & (codes >= 0))
        if len(labeled):
            models[name] = MultinomialNB(alpha=alpha).fit(matrix[labeled], codes[labeled])
    return models


def proba_of_views(
    models: Mapping[str, Any], matrices: Mapping[str, Any], present: np.ndarray, n_classes: int
) -> dict[str, np.ndarray]:
    """Return posteriors (documents, classes) of each view with a model; NaN where it is absent."""
    found = {}
    for (name, matrix), has in zip(matrices.items(), present.T, strict=True):
        if name in models:
            # a class that no labeled document of the view has keeps probability 0
            proba = np.zeros((matrix.shape[0], n_classes))
            proba[:, models[name].classes_] = models[name].predict_proba(matrix)
            proba[~has] = np.nan
            found[name] = proba
    return found


def join(posteriors: list[np.ndarray], prior: np.ndarray, combine: str) -> np.ndarray:
    """Combine the posteriors of the views a document has; the prior where it has none.

    Parameters
    ----------
    posteriors : list of ndarray of shape (documents, classes)
        One for each view; NaN for documents that lack it.
    prior : ndarray of shape (classes,)
    combine : {"mean", "product"}

    Examples
    --------
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
        with np.errstate(divide="ignore"):  # log 0 of impossible classes; bounded below
            logs = np.where(known, np.log(np.where(known, stack, 1)), 0).sum(axis=0)
            logs = np.maximum(logs, -1e300) - (n_known - 1) * np.log(prior)
        joined = np.exp(logs - logs.max(axis=1, keepdims=True))
        joined /= joined.sum(axis=1, keepdims=True)
    return np.where(n_known > 0, joined, prior)


# -- co-training -----------------------------------------------------------------------------------


class CoTraining(NaiveBayesViews):
    """Co-training of naive Bayes classifiers, one for each view.

    Parameters
    ----------
    combine : {"mean", "product"}, default="mean"
        How the views' posteriors are combined in the end.
    alpha : float, default=1.0
        Added to every count by naive Bayes.
    pool_size : int, default=75
        Unlabeled documents that are considered in a round.
    n_added : int, default=4
        Documents that each view labels in a round, divided among the classes by their shares of
        the labeled documents; at least one for each class.
    max_iter : int, default=30
        Maximum number of rounds.
    random_state : int, Generator, RandomState or None, default=None
        For the order in which documents enter the pool.

    Attributes
    ----------
    classes_, class_prior_, labels_, models_
        As in `NaiveBayesViews`.
    taught_ : ndarray of int of shape (documents,)
        The number of the class with which each document was used in the last fit, -1 if unused.
    n_iter_ : int
        Rounds that were run.

    References
    ----------
    A. Blum, T. Mitchell. Combining labeled and unlabeled data with co-training. COLT 1998.

    Examples
    --------
    >>> from coview.datasets import make_views
    >>> views = make_views(200, 2, {"text": 30, "links": 20}, random_state=0)
    >>> few = np.where(np.arange(200) < 12, views.labels, -1)
    >>> CoTraining(random_state=0).fit(views, few).predict(views[:5]).shape
    (5,)
    """

    def __init__(
        self,
        *,
        combine: str = "mean",
        alpha: float = 1.0,
        pool_size: int = 75,
        n_added: int = 4,
        max_iter: int = 30,
        random_state: Any = None,
    ):
        self.combine = combine
        self.alpha = alpha
        self.pool_size = pool_size
        self.n_added = n_added
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_int("pool_size", self.pool_size, 1)
        check_int("n_added", self.n_added, 1)
        check_int("max_iter", self.max_iter, 1)

    def _fit(self, views: Views, codes: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
        require_several_views(views, type(self).__name__)
        scaling = CountScaling.learn(views)
        matrices = scaling.counts(views)
        prior = np.bincount(codes[codes >= 0]) / (codes >= 0).sum()
        quota = np.maximum(1, np.rint(self.n_added * prior)).astype(int)
        taught, waiting = codes.copy(), rng.permutation(np.flatnonzero(codes < 0))
        n_iter = 0
        while n_iter < self.max_iter and len(waiting):
            new = self._round(matrices, views.present, taught, waiting[: self.pool_size], quota)
            if not len(new):
                break
            waiting = waiting[~np.isin(waiting, new)]
            n_iter += 1
        models = fit_views(matrices, views.present, taught, self.alpha)
        return {
            "counts_": scaling,
            "models_": models,
            "class_prior_": prior,
            "taught_": taught,
            "n_iter_": n_iter,
        }

    def _round(
        self,
        matrices: Mapping[str, Any],
        present: np.ndarray,
        taught: np.ndarray,
        pool: np.ndarray,
        quota: np.ndarray,
    ) -> np.ndarray:
        """Run steps 1 to 3: label documents of the pool in `taught`, in place; return which."""
        models = fit_views(matrices, present, taught, self.alpha)
        of_pool = {name: matrix[pool] for name, matrix in matrices.items()}
        posteriors = proba_of_views(models, of_pool, present[pool], len(quota))
        confidence = np.zeros(len(pool))
        for proba in posteriors.values():
            for row, c in most_confident(proba, quota):
                if proba[row, c] > confidence[row]:
                    confidence[row] = proba[row, c]
                    taught[pool[row]] = c
        return pool[confidence > 0]


def most_confident(proba: np.ndarray, quota: np.ndarray) -> list[tuple[int, int]]:
    """Return pairs of a document and its class: the most confident predictions of each class.

    Parameters
    ----------
    proba : ndarray of shape (documents, classes)
        NaN for documents that lack the view.
    quota : ndarray of int of shape (classes,)
        Number of documents of each class.

    Examples
    --------
    >>> proba = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> most_confident(proba, np.array([1, 1]))
    [(0, 0), (2, 1)]
    """
    has = np.flatnonzero(~np.isnan(proba[:, 0]))
    guess = proba[has].argmax(axis=1)
    found = []
    for c, most in enumerate(quota.tolist()):
        rows = has[guess == c]
        order = np.argsort(-proba[rows, c], kind="stable")[:most]
        found += [(int(row), c) for row in rows[order]]
    return found
