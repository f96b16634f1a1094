r"""Clustering in the space of canonical correlations (Chaudhuri et al., 2009; Kettenring, 1971).

Each view v, as points of few dimensions Z_v (documents, r_v) with mean 0 and covariance C_v, is
mapped to directions W_v (r_v, q) so that the views agree. For two views these are the canonical
correlations (Hotelling, 1936); for more the generalised ones by MAXVAR, with one common G,

    minimise  sum_v |G - Z_v W_v|^2    subject to  G'G = n I                           (1)

whose solution comes from the views made white, Z_v R_v with R_v' C_v R_v = I, side by side:

    M = [Z_1 R_1, ..., Z_V R_V] / sqrt(n),     M'M = E diag(lam) E',    W_v ∝ R_v E_v   (2)

lam lies between 0 and V; (lam - 1) / (V - 1) is the mean correlation of the views in a direction.
To each C_v is added `regularization` times its mean variance, or more features than documents
correlate perfectly with anything.

Wide or sparse views are first brought to `rank` dimensions by a truncated singular value
decomposition. The directions are found on documents that have all views; a document's
place is the mean of the projections of the views it has. k-means there gives the clusters.

Where the code is: (2) is `maxvar`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.baselines.base import Clusterer, require_documents, require_several_views
from coview.baselines.features import Features
from coview.baselines.kmeans import best_kmeans
from coview.data.views import Views
from coview.params import check_choice, check_int, check_real


class CCAClustering(Clusterer):
    """k-means on the canonical correlations of the views.

    Parameters
    ----------
    n_components : int, default=10
        Clusters.
    n_directions : int or None, default=None
        Dimensions of the common space; None: one less than clusters, at least one.
    rank : int, default=100
        Dimensions of each view before.
    regularization : float, default=1.0
        Share of its mean variance that is added to the variance of each view in all directions.
        Of 0.01, 0.1 and 1 the last had the best accuracy on four real datasets (which is to say
        that labels were used to choose it).
    features : {"auto", "raw"}, default="auto"
        How documents become points: see `coview.baselines.features`.
    n_init : int, default=10
        Runs of k-means.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of int of shape (documents,)
    correlations_ : ndarray of shape (n_directions,)
        Mean correlation of the views in each direction.
    embedding_ : ndarray of shape (documents, n_directions)

    References
    ----------
    K. Chaudhuri, S. Kakade, K. Livescu, K. Sridharan. Multi-view clustering via canonical
    correlation analysis. ICML 2009.
    J. Kettenring. Canonical analysis of several sets of variables. Biometrika 58, 1971.

    Examples
    --------
    >>> from coview.datasets import make_views
    >>> views = make_views(90, 3, [30, 20], random_state=0)
    >>> CCAClustering(3, random_state=0).fit(views).predict(views[:5]).shape
    (5,)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        n_directions: int | None = None,
        rank: int = 100,
        regularization: float = 1.0,
        features: str = "auto",
        n_init: int = 10,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.n_directions = n_directions
        self.rank = rank
        self.regularization = regularization
        self.features = features
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_directions is not None:
            check_int("n_directions", self.n_directions, 1)
        check_int("n_init", self.n_init, 1)
        check_cca_parameters(self)

    def _fit(self, views: Views, rng: np.random.Generator) -> dict[str, Any]:
        n_directions = self.n_directions or max(self.n_components - 1, 1)
        space = CommonSpace.learn(self, views, n_directions, rng)
        embedding = space.project(views)
        model = best_kmeans(embedding, self.n_components, rng, self.n_init)
        return {
            "space_": space,
            "model_": model,
            "labels_": model.labels_,
            "correlations_": space.correlations,
            "embedding_": embedding,
        }

    def predict(self, X) -> np.ndarray:
        """The nearest centre of each document, from the views it has."""
        views = self._known_views(X)
        return self.model_.predict(self.space_.project(views, type(self).__name__))


def check_cca_parameters(model) -> None:
    """Those that all methods with a common space have."""
    check_int("rank", model.rank, 1)
    check_real("regularization", model.regularization)
    check_choice("features", model.features, ["auto", "raw"])


@dataclass(frozen=True)
class CommonSpace:
    """The maps from each view to the common space."""

    features: Features
    bases: dict[str, np.ndarray | None]  # (terms, r) of the truncated decomposition, if any
    means: dict[str, np.ndarray]
    weights: dict[str, np.ndarray]  # W_v
    correlations: np.ndarray

    @classmethod
    def learn(cls, model, views: Views, n_directions: int, rng: np.random.Generator):
        """From the documents that have all views; `model` holds the parameters."""
        require_several_views(views, type(model).__name__)
        require_documents(views, type(model).__name__)
        complete = np.flatnonzero(views.present.all(axis=1))
        if len(complete) < n_directions + 2:
            raise ValueError(
                f"{type(model).__name__} finds {n_directions} directions from documents that have "
                f"all views, and there are {len(complete)} of these. Leave out a view that few "
                "documents have, or lower n_components."
            )
        features = Features.learn(views, model.features)
        points = {n: p[complete] for n, p in features.points(views).items()}
        bases = {n: _basis(p, model.rank, rng) for n, p in points.items()}
        parts = {n: _reduced(p, bases[n]) for n, p in points.items()}
        means = {n: part.mean(axis=0) for n, part in parts.items()}
        centred = [part - means[n] for n, part in parts.items()]
        weights, correlations = maxvar(centred, n_directions, model.regularization)
        return cls(features, bases, means, dict(zip(parts, weights, strict=True)), correlations)

    def project(self, views: Views, owner: str = "model") -> np.ndarray:
        """Mean of the projections of the views that each document has; 0 where it has none."""
        points = self.features.points(views, owner)
        total = np.zeros((views.n_docs, len(self.correlations)))
        for name, has in zip(views.names, views.present.T, strict=True):
            part = _reduced(points[name], self.bases[name]) - self.means[name]
            total += has[:, None] * (part @ self.weights[name])
        return total / np.maximum(views.present.sum(axis=1, keepdims=True), 1)


def maxvar(
    parts: Sequence[np.ndarray], n_directions: int, regularization: float = 0.0
) -> tuple[list[np.ndarray], np.ndarray]:
    """Directions of each of several centred matrices in which they correlate most.

    Parameters
    ----------
    parts : sequence of ndarray of shape (documents, r_v)
    n_directions : int
        At most as many as the widest part has columns that vary.
    regularization : float, default=0.0

    Returns
    -------
    weights : list of ndarray of shape (r_v, n_directions)
        Without regularisation and for two parts: the canonical variates have variance one.
    correlations : ndarray of shape (n_directions,)
        Falling.
    """
    n_docs = len(parts[0])
    roots = [_whitening(part, regularization) for part in parts]
    white = np.hstack([part @ r for part, r in zip(parts, roots, strict=True)]) / np.sqrt(n_docs)
    values, vectors = np.linalg.eigh(white.T @ white)  # (2)
    leading = slice(None, -n_directions - 1, -1)
    ends = np.cumsum([r.shape[1] for r in roots])[:-1]
    blocks = np.split(vectors[:, leading], ends)
    scale = np.sqrt(len(parts))
    weights = [scale * r @ e for r, e in zip(roots, blocks, strict=True)]
    return weights, (values[leading] - 1) / (len(parts) - 1)


def _whitening(part, regularization):
    """R with R' C R = I over the directions in which the part varies."""
    covariance = part.T @ part / len(part)
    covariance += regularization * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-10 * max(values[-1], np.finfo(float).tiny)
    return vectors[:, kept] / np.sqrt(values[kept])


def _basis(points, rank, rng):
    from sklearn.utils.extmath import randomized_svd

    if points.shape[1] <= rank:
        return None
    seed = int(rng.integers(2**31))
    rank = min(rank, points.shape[0] - 1)
    return randomized_svd(points, rank, n_iter=7, random_state=seed)[2].T


def _reduced(points, basis) -> np.ndarray:
    return np.asarray(points @ basis) if basis is not None else sp.csr_array(points).toarray()
