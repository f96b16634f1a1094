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

MVC joins them by linear maps (Long, Yu & Zhang, 2008). k-means of each view gives A_v (documents,
clusters), which says which cluster a document is in. Wanted are one pattern B (documents, clusters)
and for each view a map P_v (clusters, clusters), all non-negative, so that B P_v is close to A_v.
Objective (to be minimized), with a weight w_v for each view and over the documents that have it,

    sum_v w_v  D(A_v || B P_v)                                                         (3)

where D is the generalized I-divergence, sum a log(a/b) - a + b, or the squared Euclidean distance.
With the A_v and P_v side by side in A and P, M the weights (0 where a document lacks a view), and
Q = B P, the updates for the I-divergence are

    B  <-  B * ((M A / Q) P') / (M P'),      P  <-  P * (B' (M A / Q)) / (B' M)         (4)

and for the Euclidean distance

    B  <-  B * ((M A) P') / ((M Q) P'),      P  <-  P * (B' (M A)) / (B' (M Q))         (5)

Neither raises (3) (Lee & Seung, 2001). B is determined up to scale: with the rows of P made to sum
to one, a document is in the cluster of its largest entry. The updates start from the clustering of
each view, and from `n_init` random patterns; the lowest objective is kept.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import rel_entr

from coview.baselines.base import Clusterer, InductiveClusterer, require_documents
from coview.baselines.features import Features
from coview.baselines.kmeans import best_kmeans
from coview.models.link_plsa import LinkPLSA
from coview.models.plsa import PLSA
from coview.params import by_view, check_choice, check_int, check_real
from coview.views.container import Views

# -- Fusion-LM: a latent model of the clusterings --------------------------------------------------


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
        fusion = self._model(LinkPLSA, rng, scaling=None).fit(clusters)  # (1)
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


SMOOTHING = 0.1  # of a start from labels: multiplicative updates never leave a zero


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
        How documents become points for k-means: see `coview.baselines.features`.
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
        (3) at the start and after each iteration.
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
        labels = self._view_labels(views, rng)
        patterns = np.hstack([one_hot(found, self.n_components) for found in labels.values()])
        weights = by_view("view_weights", self.view_weights, views.names)
        weights = [check_real("view_weights", w) for w in weights]
        mask = np.repeat(views.present * weights, self.n_components, axis=1)
        runs = [self._run(patterns, mask, *start) for start in self._starts(labels, patterns, rng)]
        pattern, maps, objectives = min(runs, key=lambda run: run[2][-1])
        size = maps.sum(axis=1)
        pattern, maps = pattern * size, maps / np.where(size > 0, size, 1)[:, None]
        return {
            "labels_": pattern.argmax(axis=1),
            "view_labels_": labels,
            "pattern_": pattern,
            "maps_": dict(zip(views.names, np.split(maps, views.n_views, axis=1), strict=True)),
            "objectives_": np.array(objectives),
            "n_iter_": len(objectives) - 1,
        }

    def _view_labels(self, views: Views, rng: np.random.Generator) -> dict[str, np.ndarray]:
        points = Features.learn(views, self.features).points(views)
        found = {}
        for (name, rows), has in zip(points.items(), views.present.T, strict=True):
            labels = np.full(views.n_docs, -1)
            model = best_kmeans(rows[has], self.n_components, rng, self.n_init)
            labels[has] = model.labels_
            found[name] = labels
        return found

    def _starts(
        self, labels: dict[str, np.ndarray], patterns: np.ndarray, rng: np.random.Generator
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield pairs B, P: from the clustering of each view, then at random."""
        k = self.n_components
        for found in labels.values():
            pattern = one_hot(found, k) + SMOOTHING / k
            yield pattern, pattern.T @ patterns / pattern.sum(axis=0)[:, None] + SMOOTHING / k
        for _ in range(self.n_init):
            yield rng.random((len(patterns), k)) + 0.1, rng.random((k, patterns.shape[1])) + 0.1

    def _run(
        self, patterns: np.ndarray, mask: np.ndarray, pattern: np.ndarray, maps: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[float]]:
        """Iterate from one start; return B, P and the objective after each iteration."""
        losses = [mapping_loss(patterns, mask, pattern, maps, self.divergence)]
        for _ in range(self.max_iter):
            pattern, maps = mapping_step(patterns, mask, pattern, maps, self.divergence)
            losses.append(mapping_loss(patterns, mask, pattern, maps, self.divergence))
            if losses[-2] - losses[-1] <= self.tol * losses[-2]:
                break
        return pattern, maps, losses


def one_hot(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return indicators (documents, clusters) of labels; zeros for -1.

    Examples
    --------
    >>> one_hot(np.array([1, -1]), 2)
    array([[0., 1.],
           [0., 0.]])
    """
    found = np.zeros((len(labels), n_clusters))
    known = np.flatnonzero(labels >= 0)
    found[known, labels[known]] = 1
    return found


def mapping_loss(
    patterns: np.ndarray, mask: np.ndarray, pattern: np.ndarray, maps: np.ndarray, divergence: str
) -> float:
    """Return (3), with all views side by side: A, M, B and P."""
    product = pattern @ maps
    if divergence == "euclidean":
        return float((mask * (patterns - product) ** 2).sum())
    # D(m a || m b) = m D(a || b), and it is 0 where m is, even if b is 0 there
    patterns, product = mask * patterns, mask * product
    return float((rel_entr(patterns, product) - patterns + product).sum())


def mapping_step(
    patterns: np.ndarray, mask: np.ndarray, pattern: np.ndarray, maps: np.ndarray, divergence: str
) -> tuple[np.ndarray, np.ndarray]:
    """Update B, then P with the new B: (4) or (5)."""
    above, below = _ratio_parts(patterns, mask, pattern @ maps, divergence)
    pattern = pattern * _divided(above @ maps.T, below @ maps.T)
    above, below = _ratio_parts(patterns, mask, pattern @ maps, divergence)
    maps = maps * _divided(pattern.T @ above, pattern.T @ below)
    return pattern, maps


def _ratio_parts(
    patterns: np.ndarray, mask: np.ndarray, product: np.ndarray, divergence: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return what P' or B' multiplies in the numerator and in the denominator of (4) or (5)."""
    if divergence == "euclidean":
        return mask * patterns, mask * product
    return _divided(mask * patterns, product), mask


def _divided(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a / b, 0 where b is 0."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
