r"""MVC: a consensus of the views' clusterings by linear maps (Long, Yu & Zhang, 2008).

k-means of each view gives A_v (documents, clusters), which says which cluster a document is in.
Wanted are one pattern B (documents, clusters) and for each view a map P_v (clusters, clusters), all
non-negative, so that B P_v is close to A_v.
Objective (to be minimized), with a weight w_v for each view and over the documents that have it,

    sum_v w_v  D(A_v || B P_v)                                                         (1)

where D is the generalized I-divergence, sum a log(a/b) - a + b, or the squared Euclidean distance.
With the A_v and P_v side by side in A and P, M the weights (0 where a document lacks a view), and
Q = B P, the updates for the I-divergence are

    B  <-  B * ((M A / Q) P') / (M P'),      P  <-  P * (B' (M A / Q)) / (B' M)         (2)

and for the Euclidean distance

    B  <-  B * ((M A) P') / ((M Q) P'),      P  <-  P * (B' (M A)) / (B' (M Q))         (3)

Neither raises (1) (Lee & Seung, 2001). B is determined up to scale: with the rows of P made to sum
to one, a document is in the cluster of its largest entry. The updates start from the clustering of
each view, and from `n_init` random patterns; the lowest objective is kept.

A view that fewer documents have than there are clusters has as many clusters as documents.

In the code: A_v is `cluster_views`, the rest `join_clusterings`. `coview.baselines.MVC` is the
estimator; as `init="mvc"` its clusters are the start of any model, as Zhuang et al. (2012) start
MVPLSA.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr

from coview.em.features import Features, best_kmeans
from coview.em.prepared import Prepared
from coview.em.starts import Start, deterministic_kmeans, label_start
from coview.params import seed_of_run
from coview.views.container import Views

SMOOTHING = 0.1  # of a start from labels: multiplicative updates never leave a zero


@dataclass(frozen=True)
class Joined:
    """One clustering for those of all views: B, P_v of each view, and the objective."""

    pattern: np.ndarray  # (documents, clusters)
    maps: list[np.ndarray]  # (clusters, clusters), by view; side by side rows sum to one
    objectives: np.ndarray  # (1) at the start and after each iteration

    @property
    def labels(self) -> np.ndarray:
        """The cluster of each document."""
        return self.pattern.argmax(axis=1)


def mvc_start(views: Views, data: Prepared, n_topics: int, rng: np.random.Generator) -> Start:
    """Start from the labels of `coview.baselines.MVC`, smoothed; views without counts are left out.

    The seed is that of the fit, in the next restart one more, and so on.
    """
    counted = [name for name in sorted(views.names) if views[name].nnz]
    own, rng = views.select(*counted), np.random.default_rng(seed_of_run(rng))
    with deterministic_kmeans():
        labels = cluster_views(own, n_topics, rng)
        joined = join_clusterings(list(labels.values()), own.present, n_topics, rng)
    return label_start("mvc", joined.labels, n_topics, data)


def cluster_views(
    views: Views,
    n_clusters: int,
    rng: np.random.Generator,
    kind: str = "auto",
    n_init: int = 10,
) -> dict[str, np.ndarray]:
    """Return the clusters that k-means finds in each view, -1 for documents that lack it."""
    points = Features.learn(views, kind).points(views)
    found = {}
    for (name, rows), has in zip(points.items(), views.present.T, strict=True):
        labels = np.full(views.n_docs, -1)
        n_own = min(n_clusters, int(has.sum()))
        labels[has] = best_kmeans(rows[has], n_own, rng, n_init).labels_
        found[name] = labels
    return found


def join_clusterings(
    labels: Sequence[np.ndarray],
    weights: np.ndarray,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    divergence: str = "i_divergence",
    n_init: int = 10,
    max_iter: int = 200,
    tol: float = 1e-6,
) -> Joined:
    """Return the pattern and the maps with the lowest objective, over all starts.

    Parameters
    ----------
    labels : sequence of ndarray of int of shape (documents,)
        The cluster of each document in each view, -1 where it lacks the view.
    weights : ndarray of shape (documents, views)
        w_v, 0 where a document lacks the view.
    n_clusters : int
    rng : Generator
    divergence : {"i_divergence", "euclidean"}, default="i_divergence"
    n_init : int, default=10
        Random starts.
    max_iter, tol : int, float
        The end of a run: so many iterations, or one that lowers the objective by less than this
        share of it.

    Returns
    -------
    Joined
    """
    patterns = np.hstack([one_hot(found, n_clusters) for found in labels])
    mask = np.repeat(weights * 1.0, n_clusters, axis=1)
    runs = [
        _run(patterns, mask, *start, divergence, max_iter, tol)
        for start in _starts(labels, patterns, n_clusters, rng, n_init)
    ]
    pattern, maps, objectives = min(runs, key=lambda run: run[2][-1])
    size = maps.sum(axis=1)
    pattern, maps = pattern * size, maps / np.where(size > 0, size, 1)[:, None]
    return Joined(pattern, np.split(maps, len(labels), axis=1), np.array(objectives))


def _starts(
    labels: Sequence[np.ndarray],
    patterns: np.ndarray,
    k: int,
    rng: np.random.Generator,
    n_random: int,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield pairs B, P: from the clustering of each view, then at random."""
    for found in labels:
        pattern = one_hot(found, k) + SMOOTHING / k
        yield pattern, pattern.T @ patterns / pattern.sum(axis=0)[:, None] + SMOOTHING / k
    for _ in range(n_random):
        yield rng.random((len(patterns), k)) + 0.1, rng.random((k, patterns.shape[1])) + 0.1


def _run(
    patterns: np.ndarray,
    mask: np.ndarray,
    pattern: np.ndarray,
    maps: np.ndarray,
    divergence: str,
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Iterate from one start; return B, P and the objective after each iteration."""
    losses = [mapping_loss(patterns, mask, pattern, maps, divergence)]
    for _ in range(max_iter):
        pattern, maps = mapping_step(patterns, mask, pattern, maps, divergence)
        losses.append(mapping_loss(patterns, mask, pattern, maps, divergence))
        if losses[-2] - losses[-1] <= tol * losses[-2]:
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
    """Return (1), with all views side by side: A, M, B and P."""
    product = pattern @ maps
    if divergence == "euclidean":
        return float((mask * (patterns - product) ** 2).sum())
    # D(m a || m b) = m D(a || b), and it is 0 where m is, even if b is 0 there
    patterns, product = mask * patterns, mask * product
    return float((rel_entr(patterns, product) - patterns + product).sum())


def mapping_step(
    patterns: np.ndarray, mask: np.ndarray, pattern: np.ndarray, maps: np.ndarray, divergence: str
) -> tuple[np.ndarray, np.ndarray]:
    """Update B, then P with the new B: (2) or (3)."""
    above, below = _ratio_parts(patterns, mask, pattern @ maps, divergence)
    pattern = pattern * _divided(above @ maps.T, below @ maps.T)
    above, below = _ratio_parts(patterns, mask, pattern @ maps, divergence)
    maps = maps * _divided(pattern.T @ above, pattern.T @ below)
    return pattern, maps


def _ratio_parts(
    patterns: np.ndarray, mask: np.ndarray, product: np.ndarray, divergence: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return what P' or B' multiplies in the numerator and in the denominator of (2) or (3)."""
    if divergence == "euclidean":
        return mask * patterns, mask * product
    return _divided(mask * patterns, product), mask


def _divided(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a / b, 0 where b is 0."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
