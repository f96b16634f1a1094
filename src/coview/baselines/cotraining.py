r"""Co-training: the views' classifiers label documents for each other (Blum & Mitchell, 1998).

Given labelled documents L and a pool of u documents drawn at random from the unlabelled ones,
repeat:

    1. fit a naive Bayes to each view of L;
    2. each of them labels, of the documents in the pool that it takes for class c, the n_c of which
       it is surest;
    3. these join L with those labels, and the pool is filled up.

The paper has two views, two classes, u = 75, 30 rounds and n = (1, 3), about the shares of the
classes. Here views and classes may be more; n_c follows the shares among the labelled documents.
Where two views label one document differently, the surer one is believed. Documents that lack a
view are not seen by its classifier.

In the end the posteriors of the views are joined: by their mean (CoTr_E of Zhuang et al., 2012) or
by their product, as in the paper.

Where the code is: `_round` is one pass of 1 to 3; the classifiers are those of
`baselines.naive_bayes`.
"""

from typing import Any

import numpy as np

from coview.baselines.base import require_several_views
from coview.baselines.naive_bayes import Counts, NaiveBayesViews, fit_views, proba_of_views
from coview.data.views import Views
from coview.params import check_int


class CoTraining(NaiveBayesViews):
    """Co-training of naive Bayes classifiers, one for each view.

    Parameters
    ----------
    combine : {"mean", "product"}, default="mean"
        How the views' posteriors are joined in the end.
    alpha : float, default=1.0
        Added to every count by naive Bayes.
    pool_size : int, default=75
        Unlabelled documents that are looked at in a round.
    n_added : int, default=4
        Documents that each view labels in a round, shared out among the classes as among the
        labelled documents; at least one for each class.
    max_iter : int, default=30
        Rounds.
    random_state : int, Generator, RandomState or None, default=None
        For the order in which documents come into the pool.

    Attributes
    ----------
    classes_, labels_, models_
        As in `NaiveBayesViews`; `view_proba` gives the posterior of each view.
    taught_ : ndarray of int of shape (documents,)
        The number of the class under which each document taught in the end, -1 if it did not.
    n_iter_ : int

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
        counts = Counts.learn(views)
        matrices = counts.of(views)
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
            "counts_": counts,
            "models_": models,
            "class_prior_": prior,
            "taught_": taught,
            "n_iter_": n_iter,
        }

    def _round(self, matrices, present, taught, pool, quota):
        """Label documents of the pool in `taught`, in place; which these are."""
        models = fit_views(matrices, present, taught, self.alpha)
        of_pool = {name: matrix[pool] for name, matrix in matrices.items()}
        posteriors = proba_of_views(models, of_pool, present[pool], len(quota))
        surest = np.zeros(len(pool))
        for proba in posteriors.values():
            for place, c in surest_of(proba, quota):
                if proba[place, c] > surest[place]:
                    surest[place] = proba[place, c]
                    taught[pool[place]] = c
        return pool[surest > 0]


def surest_of(proba: np.ndarray, quota: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of a document and its class: the surest few of each class.

    >>> proba = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> surest_of(proba, np.array([1, 1]))
    [(0, 0), (2, 1)]
    """
    has = np.flatnonzero(~np.isnan(proba[:, 0]))
    guess = proba[has].argmax(axis=1)
    found = []
    for c, most in enumerate(quota.tolist()):
        places = has[guess == c]
        order = np.argsort(-proba[places, c], kind="stable")[:most]
        found += [(int(place), c) for place in places[order]]
    return found
