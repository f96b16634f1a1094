"""Which views to trust: what a view tells about other views, and half of it about the other half.

Documents are clustered by view u; if neighbors in view v are in the same clusters more often than
by chance, the two tell the same about the documents, and noise does not. B[u, v] is this
assortativity (Newman, 2003). On the diagonal a view is compared with itself: its features are dealt
at random into two halves, one for the clusters and one for the neighbors, so that noise is not
compared with itself. The weights are the leading eigenvector of B: views that agree with themselves
and with other views that do.

Copies of a view would agree with each other and outvote the rest, so they are found first
(`copies`), count as one view in B, and share its weight: w^2, by which a view counts, is divided
by their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.scaling import learn_scaling, scaled
from coview.ensemble.copies import copies
from coview.ensemble.features import (
    MAX_DIMENSIONS,
    Rows,
    Seen,
    are_placed,
    directions,
    n_dimensions,
    placed,
    see,
    unplaced,
    view_features,
)
from coview.ensemble.kmeans import kmeans
from coview.ensemble.spaces import VIEW_NEIGHBORS, neighbor_graph
from coview.memory import check_memory
from coview.params import check_int
from coview.views.container import Views

SPLITS = 2  # how often features are dealt into halves
SAMPLE = 1_500  # documents by which views are judged
LEAST_WEIGHT = (
    0.01  # a view that tells nothing still has topics, and new documents may have it alone
)
STARTS = 2  # of each k-means
OWN_SAY = 0.5  # of the agreement of a view with itself, beside that with another
CONTRAST = 1.5  # the power of the eigenvector


@dataclass(frozen=True)
class ViewReliability:
    """How much each view tells about the documents, as far as it can be known without labels.

    Attributes
    ----------
    names : tuple of str
        The views.
    matrix : ndarray of shape (views, views)
        How well clusters of one view (row) fit the neighbors in another (column): 1 if all
        neighbors are in one cluster, 0 as by chance. The diagonal compares halves of the features
        of a view: it says how reliable a view is by itself.
    weights : dict of float
        The weight of each view, at most 1 and near 0 for a view of noise. Copies of a view share
        its weight: the squares of theirs sum up to its square.
    n_docs : int
        The number of documents by which the views were judged, a sample of them if there are many.
    copies : tuple of tuple of str
        Views that are near copies of each other, if there are any.
    """

    names: tuple[str, ...]
    matrix: np.ndarray
    weights: dict[str, float]
    n_docs: int
    copies: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        width = max(map(len, self.names))
        own = np.diag(self.matrix)
        rows = [
            f"{name:<{width}}  {self.weights[name]:6.2f}  {r:11.2f}"
            for name, r in zip(self.names, own, strict=True)
        ]
        alike = [f"copies that share the weight of one view: {', '.join(c)}" for c in self.copies]
        return "\n".join([f"{'view':<{width}}  weight  reliability", *rows, *alike])

    def plot(self, ax: Any = None) -> Any:
        """Draw the matrix with the weights of the views; return the matplotlib axes."""
        from coview.ensemble.plots import plot_reliability

        return plot_reliability(self, ax)


def view_reliability(
    views: Any, n_components: int = 10, *, random_state: int | None = 0
) -> ViewReliability:
    """Tell which views are worth anything, without labels.

    Parameters
    ----------
    views : Views, dict of matrices, list of matrices, or one matrix
        As in `fit` of the models.
    n_components : int, default=10
        The number of clusters in which the views should agree: about as many topics as you want.
    random_state : int or None, default=0
        Seed of the halves and of k-means.

    Returns
    -------
    ViewReliability

    Examples
    --------
    >>> import numpy as np
    >>> from coview import view_reliability
    >>> from coview.datasets import make_views
    >>> views = make_views(200, 4, [60, 60], random_state=0)
    >>> noise = np.random.default_rng(0).poisson(0.3, (200, 60))
    >>> found = view_reliability({**views.matrices, "noise": noise}, n_components=4)
    >>> found.weights["noise"] < 0.1 < found.weights["view_0"]
    True
    """
    from coview.ensemble.memory import making_bytes
    from coview.runners.native import one_native_thread

    n_components = check_int("n_components", n_components, 1)
    views = views if isinstance(views, Views) else Views(views)
    needed = making_bytes(list(views.matrices.values()), n_components)
    check_memory(needed, f"{n_components:,} clusters (n_components) of {views.n_docs:,} documents")
    scaling = learn_scaling(views.matrices, views.present, "auto")
    matrices = [
        scaled(name, matrix, views.present[:, v], scaling).astype(np.float32)
        for v, (name, matrix) in enumerate(views.matrices.items())
    ]
    has = documents_with_counts(matrices, views.present)
    features = [view_features(m) for m in matrices]
    with one_native_thread("blas"):
        rng = np.random.default_rng(random_state)
        return deal(features, has, n_components, rng).reliability(views.names)


def documents_with_counts(matrices: Sequence[sp.csr_array], present: np.ndarray) -> np.ndarray:
    """Return which documents have a view and at least one count in it (documents, views)."""
    filled = [np.diff(m.indptr) > 0 for m in matrices]
    return present & np.column_stack(filled)


# -- halves ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ViewHalf:
    """Half of the features of a view: some columns of counts, some directions of measurements.

    What measurements tell does not depend on the basis that they are written in, nor on how many
    columns that takes: so their halves are projections to half of a random basis of the leading
    directions. A column as it is may be all that a view tells of a cluster, such as the share of
    a topic, and then only one half would know of it.
    """

    columns: np.ndarray | None = None
    basis: np.ndarray | None = None  # (columns, directions)

    def of(self, values: Rows) -> Rows:
        """Return this half of the values of the view."""
        return values[:, self.columns] if self.basis is None else values @ self.basis


@dataclass(frozen=True)
class Half:
    """Documents as one half of the features of each view shows them, and which features."""

    seen: Seen
    parts: tuple[ViewHalf, ...]


@dataclass(frozen=True)
class Halves:
    """Documents by one half of the features of each view, and by the other.

    `splits[s][h]` has the documents `docs` by half h, when features were dealt for the time s.
    `agreement` is the matrix B, and `same` the first of the views of which each one is a copy.
    """

    docs: np.ndarray
    splits: tuple[tuple[Half, Half], ...]
    agreement: np.ndarray
    same: np.ndarray

    def reliability(self, names: Sequence[str]) -> ViewReliability:
        """Return the matrix and the weights of the views, by name."""
        weights = dict(zip(names, map(float, self.weights), strict=True))
        alike: dict[int, list[str]] = {}
        for name, first in zip(names, self.same.tolist(), strict=True):
            alike.setdefault(first, []).append(name)
        copied = tuple(tuple(group) for group in alike.values() if len(group) > 1)
        return ViewReliability(tuple(names), self.agreement, weights, len(self.docs), copied)

    @property
    def weights(self) -> np.ndarray:
        """The weights of the views; the largest one is 1, if it has no copies."""
        first, place, number = np.unique(self.same, return_inverse=True, return_counts=True)
        weights = leading_weights(self.agreement[np.ix_(first, first)])
        return (weights / np.sqrt(number))[place]


def deal(
    features: Sequence[Rows],
    has: np.ndarray,
    n_clusters: int,
    rng: np.random.Generator,
    n_splits: int = SPLITS,
    most: int | None = None,
) -> Halves:
    """Deal the features of each view into halves, and measure how far views agree.

    `has` (documents, views) says which documents have anything in a view; at most `most` of
    them, by default `SAMPLE`, are compared.
    """
    docs = sampled(np.flatnonzero(has.any(axis=1)), most or SAMPLE, rng)
    has, rows = has[docs], [f[docs] for f in features]
    same = copies(rows, has)
    leading = [_leading(*each) for each in zip(rows, has.T, strict=True)]
    splits = tuple(_split(rows, leading, has, same, n_clusters, rng) for _ in range(n_splits))
    whole = see(rows, has, n_dimensions(n_clusters), _rngs(same, rng))
    agreement = _agreement(whole, same, n_clusters, rng)
    own = [_own_agreement(split, same, n_clusters, rng) for split in splits]
    np.fill_diagonal(agreement, np.mean(own, axis=0))
    # a copy has the row and the column of the view that it copies
    return Halves(docs, splits, agreement[np.ix_(same, same)], same)


def _rngs(same: np.ndarray, rng: np.random.Generator) -> list[np.random.Generator]:
    """Return the random numbers of each view.

    Copies have their own, so that the other views have the same with them as without.
    """
    for_copies = rng.spawn(1)[0]
    return [rng if first == v else for_copies for v, first in enumerate(same)]


def sampled(docs: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return at most so many of the documents, drawn at random, in their order."""
    return docs if len(docs) <= most else np.sort(rng.choice(docs, most, replace=False))


def _leading(rows: Rows, has: np.ndarray) -> np.ndarray | None:
    """Return the leading directions of measurements (columns, directions), None for counts."""
    if not are_placed(rows):
        return None
    return directions(unplaced(rows[has]), MAX_DIMENSIONS, np.random.default_rng(0))


def _split(
    features: Sequence[Rows],
    leading: Sequence[np.ndarray | None],
    has: np.ndarray,
    same: np.ndarray,
    n_clusters: int,
    rng: np.random.Generator,
) -> tuple[Half, Half]:
    """Return the documents by one half of the features of each view, and by the other.

    Exact copies of a view are dealt like it: no feature is in both halves.
    """
    rngs = _rngs(same, rng)
    dealt: list[tuple[ViewHalf, ViewHalf]] = []
    for v, (rows, first) in enumerate(zip(features, same, strict=True)):
        alike = first < v and features[first].shape == rows.shape
        dealt.append(dealt[first] if alike else _view_halves(rows, leading[v], rngs[v]))
    n_dims, halves = n_dimensions(n_clusters), []
    for parts in zip(*dealt, strict=True):
        shown = [_rows_of_half(*each) for each in zip(features, parts, has.T, strict=True)]
        halves.append(Half(see(shown, has, n_dims, rngs), parts))
    one, other = halves
    return one, other


def _view_halves(
    rows: Rows, leading: np.ndarray | None, rng: np.random.Generator
) -> tuple[ViewHalf, ViewHalf]:
    """Deal the features of a view, or its leading directions after a random turn, into halves."""
    if leading is None:
        width = rows.shape[1] - (not sp.issparse(rows))  # the last column of dense ones is none
        one, other = deal_columns(width, rng)
        return ViewHalf(one), ViewHalf(other)
    n_dims = leading.shape[1]
    turn = np.linalg.qr(rng.standard_normal((n_dims, n_dims)))[0].astype(rows.dtype)
    one, other = deal_columns(n_dims, rng)
    return ViewHalf(basis=leading @ turn[:, one]), ViewHalf(basis=leading @ turn[:, other])


def _rows_of_half(rows: Rows, half: ViewHalf, has: np.ndarray) -> Rows:
    """Return the features of documents by half of those of a view."""
    return half.of(rows) if half.basis is None else placed(half.of(unplaced(rows)), has)


def deal_columns(n_columns: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Deal columns at random into two halves; a single column is in both.

    >>> one, other = deal_columns(5, np.random.default_rng(0))
    >>> len(one), len(other), len(np.union1d(one, other))
    (3, 2, 5)
    """
    order = rng.permutation(n_columns)
    return np.sort(order[::2]), np.sort(order[1::2] if n_columns > 1 else order)


def _agreement(
    seen: Seen, same: np.ndarray, n_clusters: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the assortativity of the clusters of each view on the graph of each other.

    Views are compared by all of their features. Copies have zeros.
    """
    first = np.unique(same)
    found = np.zeros((len(same), len(same)))
    graphs = [neighbor_graph(seen.embeddings[v], VIEW_NEIGHBORS) for v in first]
    for u in first if len(first) > 1 else []:
        labels = _clusters(seen.embeddings[u], n_clusters, rng)
        found[u, first] = [assortativity(labels, graph) for graph in graphs]
    return found


def _own_agreement(
    split: tuple[Half, Half], same: np.ndarray, n_clusters: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the assortativity of the clusters of half of each view on the graph of the other."""
    found = np.zeros(len(same))
    for half, other in (split, split[::-1]):
        for v in np.unique(same):
            graph = neighbor_graph(other.seen.embeddings[v], VIEW_NEIGHBORS)
            labels = _clusters(half.seen.embeddings[v], n_clusters, rng)
            found[v] += assortativity(labels, graph) / 2
    return found


def _clusters(points: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return the clusters of the documents that have a view, -1 for the others."""
    docs = np.flatnonzero(points.any(axis=1))
    labels = np.full(len(points), -1)
    if len(docs):
        labels[docs] = kmeans(points[docs], n_clusters, rng, n_init=STARTS)
    return labels


def assortativity(labels: np.ndarray, graph: sp.csr_array) -> float:
    """Return how much more often neighbors are in one cluster than by chance (Newman, 2003).

    Documents without a cluster (-1) are left out. It is 0 where there is nothing to compare.

    >>> assortativity(np.array([0, 0, 1, 1]), sp.csr_array(np.kron(np.eye(2), np.ones((2, 2)))))
    1.0
    """
    edges = graph.tocoo()
    ends = labels[edges.row], labels[edges.col]
    known = (ends[0] >= 0) & (ends[1] >= 0)
    n = labels.max(initial=0) + 1
    shares = np.zeros((n, n))
    np.add.at(shares, (ends[0][known], ends[1][known]), edges.data[known].astype(np.float64))
    if not shares.sum() > 0:
        return 0.0
    shares /= shares.sum()
    chance = float((shares.sum(axis=0) * shares.sum(axis=1)).sum())
    return float((np.trace(shares) - chance) / (1 - chance)) if chance < 1 else 0.0


def leading_weights(agreement: np.ndarray) -> np.ndarray:
    """Return the weights of the views from their agreement: its leading eigenvector, to a power.

    That a view agrees with itself counts for half: so does one that belongs to other documents. The
    power makes up for that where views are of different worth. The largest is 1, none is
    below a hundredth. All are 1 if no view agrees with any.
    """
    symmetric = np.maximum((agreement + agreement.T) / 2, 0)
    np.fill_diagonal(symmetric, OWN_SAY * np.diag(symmetric))
    if not symmetric.any():
        return np.ones(len(agreement))
    vector = np.abs(np.linalg.eigh(symmetric)[1][:, -1])
    return np.maximum((vector / vector.max()) ** CONTRAST, LEAST_WEIGHT)
