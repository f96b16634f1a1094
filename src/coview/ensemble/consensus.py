"""The ensemble: many clusterings of the same documents, and what they agree on.

Documents are clustered in every family of spaces (`spaces`), once with the wanted number of
clusters and a few times with more. A family whose clusters come back when it sees only half of the
features has a larger say. The consensus clusters the documents by the clusters they are in (Strehl
and Ghosh, 2002; with the weights of spectral clustering of the bipartite graph of documents and
clusters).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from coview.ensemble.features import (
    Rows,
    Seen,
    directions,
    fuse,
    n_dimensions,
    project,
    unit_rows,
    view_features,
    view_means,
)
from coview.ensemble.information import shared_information
from coview.ensemble.kmeans import kmeans
from coview.ensemble.reliability import (
    SPLITS,
    Halves,
    ViewHalf,
    ViewReliability,
    deal,
    documents_with_counts,
    sampled,
)
from coview.ensemble.spaces import families, is_links, links_graph
from coview.views.matrix_checks import short_indices

MOST_DOCUMENTS = 5_000  # are all clustered in every family
SAMPLE = 3_000  # are, if there are more; the others join the nearest clusters
MEMBERS = 4  # of each family
SAMPLE_MEMBERS = 2  # the same where there is a sample, since all documents are in every member
QUICK_SAMPLE, QUICK_SPLITS = 1_500, 1  # of a quick ensemble
ALONE_SAMPLE = 750  # documents by which the families of a single view of many documents are judged
JOINED_AT_ONCE = 20_000  # documents
SHARPNESS = 4  # the say of a family is its replicability to this power
FEWEST_JUDGES = 30  # documents; with fewer, which family replicates is a matter of luck
LEAST_SAY = 1e-3  # members with less are left out
STARTS = 3  # of the k-means of a member: from one, many end in a poor clustering
CONSENSUS_STARTS = 10


@dataclass(frozen=True)
class HalfClusterings:
    """Clusterings of a sample of the documents, each by one half of the features.

    Attributes
    ----------
    docs : ndarray of int
        The documents of the sample.
    families : tuple of str
    labels : ndarray of int of shape (documents of the sample, splits, 2, families)
        The cluster of each document by each of the two halves, as often as features were dealt.
    parts : tuple of (tuple of ViewHalf, tuple of ViewHalf)
        Which features of each view are in one half, and which in the other.
    kinds : ndarray of int of shape (documents of the sample,) or None
        Equal for documents that have the same views; None if all have all.
    """

    docs: np.ndarray
    families: tuple[str, ...]
    labels: np.ndarray
    parts: tuple[tuple[tuple[ViewHalf, ...], ...], ...] = ()
    kinds: np.ndarray | None = None

    @cached_property
    def replicability(self) -> dict[str, float]:
        """The mean of what the clusters of the two halves tell of each other, by family."""
        splits = np.moveaxis(self.labels, 0, -1)  # (splits, 2, families, documents)
        told = [
            [shared_information(one, other, self.kinds) for one, other in zip(*halves, strict=True)]
            for halves in splits
        ]
        return dict(zip(self.families, np.mean(told, axis=0).tolist(), strict=True))

    @property
    def clusterings(self) -> np.ndarray:
        """All clusterings, (documents of the sample, clusterings)."""
        return self.labels.reshape(len(self.docs), -1)

    @property
    def weights(self) -> np.ndarray:
        """The say of each of `clusterings`: that of its family."""
        return np.tile(self._say, 2 * self.labels.shape[1])

    @property
    def _say(self) -> np.ndarray:
        say = family_say(self.replicability)
        return np.array([say[name] for name in self.families])

    def consensus(
        self, split: int, half: int, n_clusters: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the clusters on which the families agree by one half of the features."""
        return consensus(self.labels[:, split, half], self._say, n_clusters, rng)


@dataclass(frozen=True)
class Ensemble:
    """Clusterings of the same documents.

    Attributes
    ----------
    members : ndarray of int of shape (documents, members)
        The cluster of each document in each clustering, -1 for documents without any count.
    weights : ndarray of shape (members,)
        The say of each clustering, at most 1.
    families : tuple of str
        The family of each clustering.
    replicability : dict of float
        Of each family: what its clusters of the documents by one half of their features tell of
        those by the other (`shared_information`).
    reliability : ViewReliability
        How far the views can be trusted.
    halves : HalfClusterings or None
        The clusterings by halves of the features that `replicability` compares.
    share : float or None
        Of the weighted tokens of all views: what a view of these clusters should have, if it is
        known.
    """

    members: np.ndarray
    weights: np.ndarray
    families: tuple[str, ...]
    replicability: dict[str, float]
    reliability: ViewReliability
    halves: HalfClusterings | None = None
    share: float | None = None

    @property
    def indicators(self) -> sp.csr_array:
        """A column for each cluster of each member, with its say where a document is in it."""
        return _columns(self.members, self.weights)

    def consensus(
        self, n_clusters: int, rng: np.random.Generator, *, resample: bool = False
    ) -> np.ndarray:
        """Return the clusters on which the members agree (documents,), -1 for empty documents.

        `resample` draws the members with replacement: how much that changes tells how far the
        consensus can be trusted.
        """
        say = self.weights
        if resample:
            drawn = rng.integers(len(say), size=len(say))
            say = say * np.bincount(drawn, minlength=len(say))
            say = say if say.any() else self.weights
        return consensus(self.members, say, n_clusters, rng)


def consensus(
    members: np.ndarray, say: np.ndarray, n_clusters: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the clusters on which clusterings (documents, members) agree, -1 for empty ones."""
    columns = _columns(members, say, by_size=True)
    docs = np.flatnonzero(np.diff(columns.indptr))
    rows = columns[docs]
    points = unit_rows(np.asarray(rows @ directions(rows, n_clusters, rng)))
    labels = np.full(len(members), -1)
    labels[docs] = kmeans(points, n_clusters, rng, n_init=CONSENSUS_STARTS)
    return labels


def _columns(members: np.ndarray, say: np.ndarray, by_size: bool = False) -> sp.csr_array:
    """Return a column for each cluster of each member, with its say where a document is in it.

    `by_size` divides the say by the size of the cluster, and takes the square root.
    """
    docs = np.flatnonzero(members.min(axis=1) >= 0)
    sizes = members.max(axis=0) + 1
    columns = members[docs] + (np.cumsum(sizes) - sizes)
    values = np.broadcast_to(say, columns.shape)
    if by_size:
        values = np.sqrt(values / np.bincount(columns.ravel(), minlength=sizes.sum())[columns])
    rows = np.repeat(docs, columns.shape[1])
    entries = values.ravel().astype(np.float32), (rows, columns.ravel())
    shape = len(members), int(sizes.sum())
    return short_indices(sp.csr_array(sp.coo_array(entries, shape=shape)))


def make_ensemble(
    names: Sequence[str],
    matrices: Sequence[sp.csr_array],
    present: np.ndarray,
    n_clusters: int,
    rng: np.random.Generator,
    weights: np.ndarray | None = None,
    quick: bool = False,
) -> Ensemble:
    """Cluster the documents in all families.

    `weights` are those of the views in the fused space, by default learned from the data. With many
    documents all but the last step are done on a sample: the others join the nearest clusters. A
    `quick` ensemble has fewer families, a smaller sample, and deals the features only once. A
    single view has no weight to learn: where it has many documents, its features are dealt once
    too, and fewer documents are compared by them.
    BLAS should be held to one thread by the caller.
    """
    has = documents_with_counts(matrices, present)
    features = [view_features(m) for m in matrices]
    every = np.flatnonzero(has.any(axis=1))
    alone = len(names) == 1 and len(every) > MOST_DOCUMENTS and not quick
    n_splits = QUICK_SPLITS if quick or alone else SPLITS
    halves = deal(features, has, n_clusters, rng, n_splits, ALONE_SAMPLE if alone else None)
    weights = halves.weights if weights is None else weights
    by_half = half_clusterings(halves, weights, n_clusters, rng, quick)
    replicability = by_half.replicability
    if len(every) < FEWEST_JUDGES:
        replicability = dict.fromkeys(replicability, 0.0)
    most, size = (QUICK_SAMPLE, QUICK_SAMPLE) if quick else (MOST_DOCUMENTS, SAMPLE)
    docs = every if len(every) <= most else sampled(every, size, rng)
    space = _FusedSpace(features, has, docs, weights, n_clusters, rng)
    links = [links_graph(m)[docs][:, docs] if is_links(m) else None for m in matrices]
    n_members = MEMBERS if len(docs) == len(every) and not quick else SAMPLE_MEMBERS
    found = _members(space, links, weights, replicability, n_clusters, n_members, rng, quick)
    members = np.full((len(present), len(found)), -1, np.int32)
    members[docs] = np.column_stack([labels for _, labels, _ in found])
    if len(docs) < len(every):
        rest = np.setdiff1d(every, docs)
        centers = [mean_directions(space.sample, labels) for _, labels, _ in found]
        for start in range(0, len(rest), JOINED_AT_ONCE):
            some = rest[start : start + JOINED_AT_ONCE]
            members[some] = joined(space.points(some), centers)
    return Ensemble(
        members,
        np.array([say for *_, say in found]),
        tuple(name for name, *_ in found),
        replicability,
        halves.reliability(names),
        by_half,
    )


def clustered_documents(n_docs: int) -> int:
    """Return how many of the documents are clustered in every family."""
    return n_docs if n_docs <= MOST_DOCUMENTS else SAMPLE


def half_clusterings(
    halves: Halves,
    weights: np.ndarray,
    n_clusters: int,
    rng: np.random.Generator,
    quick: bool = False,
) -> HalfClusterings:
    """Return the clusters of each family by one half of the features, and by the other."""
    no_links = [None] * len(weights)  # links are features in a half of the features
    splits = []
    for split in halves.splits:
        found = []
        for half in split:
            spaces = families(half.seen, no_links, weights, n_clusters, rng, quick)
            found.append(
                {name: kmeans(space, n_clusters, rng, n_init=STARTS) for name, space in spaces}
            )
        splits.append([list(labels.values()) for labels in found])
    labels = np.array(splits, np.int32)  # (splits, 2, families, documents)
    parts = tuple(tuple(half.parts for half in split) for split in halves.splits)
    has = halves.splits[0][0].seen.has
    kinds = None if has.all() else np.unique(has, axis=0, return_inverse=True)[1].ravel()
    by_document = np.moveaxis(labels, -1, 0)
    return HalfClusterings(halves.docs, tuple(found[0]), by_document, parts, kinds)


def family_say(replicability: Mapping[str, float]) -> dict[str, float]:
    """Return the say of each family, at most 1; all are equal where none replicates."""
    best = max(replicability.values())
    if best <= 0:
        return dict.fromkeys(replicability, 1.0)
    return {name: (max(r, 0.0) / best) ** SHARPNESS for name, r in replicability.items()}


class _FusedSpace:
    """The fused embedding of the views, learned on a sample of the documents."""

    def __init__(
        self,
        features: Sequence[Rows],
        has: np.ndarray,
        docs: np.ndarray,
        weights: np.ndarray,
        n_clusters: int,
        rng: np.random.Generator,
    ):
        self._features, self._has, self._weights = features, has, weights
        n_dims = n_dimensions(n_clusters)
        self._directions = []
        for v, rows in enumerate(features):
            self._directions.append(directions(rows[docs[has[docs, v]]], n_dims, rng))
        embeddings = self._embeddings(docs)
        self.seen = Seen([unit_rows(rows[docs]) for rows in features], embeddings, has[docs])
        self._means = view_means(embeddings)
        self.sample = fuse(embeddings, weights, self._means)

    def _embeddings(self, docs: np.ndarray) -> list[np.ndarray]:
        views = enumerate(zip(self._features, self._directions, strict=True))
        return [project(rows[docs], self._has[docs, v], right) for v, (rows, right) in views]

    def points(self, docs: np.ndarray) -> np.ndarray:
        """Return other documents in the same space."""
        return fuse(self._embeddings(docs), self._weights, self._means)


def _members(
    space: _FusedSpace,
    links: Sequence[sp.csr_array | None],
    weights: np.ndarray,
    replicability: dict[str, float],
    n_clusters: int,
    n_members: int,
    rng: np.random.Generator,
    quick: bool,
) -> list[tuple[str, np.ndarray, float]]:
    """Return family, clusters and say of each member, on the documents of the sample."""
    says, found = family_say(replicability), []
    for name, points in families(space.seen, links, weights, n_clusters, rng, quick):
        say = says[name]
        if say >= LEAST_SAY:
            more = rng.integers(n_clusters, 2 * n_clusters + 3, size=n_members - 1)
            for k in (n_clusters, *more):
                found.append((name, kmeans(points, int(k), rng, n_init=STARTS), say))
    return found


def mean_directions(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the mean direction of each cluster, by which other documents join them."""
    marks = np.ones(len(labels), points.dtype), labels, np.arange(len(labels) + 1)
    return unit_rows(sp.csr_array(marks, shape=(len(labels), labels.max() + 1)).T @ points)


def joined(points: np.ndarray, centers: Sequence[np.ndarray]) -> np.ndarray:
    """Return the nearest cluster of each member (documents, members) for other documents."""
    return np.column_stack([(points @ means.T).argmax(axis=1) for means in centers])
