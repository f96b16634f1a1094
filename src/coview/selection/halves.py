"""Two halves of the documents: what the topics found in one tell about those found in the other.

Documents are dealt at random into two halves. Topics are found in either half by itself, the way a
fit finds them: clusterings in several spaces, the clusters on which they agree, and a few steps of
EM from there. Both sets of topics then name a topic for every document: those of the other half are
folded in. Dense measurements are the exception. Topics are poor at placing them, which a fit makes
up for by holding to its clusters; so the clusters stay, and the nearest one takes a document in.
Two things are counted:

* bits, the mutual information of the two answers minus what chance would give: how much about the
  topic of a document the other half confirms;
* topics that come back: their documents are those of a topic of the other half, by a Jaccard
  overlap of more than half of the way from chance to 1.

The spaces are made once for all numbers of topics; only the clusterings in them differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from coview.em.emissions import Topics
from coview.em.loop import Interrupted, fold_in, run_em
from coview.em.prepared import Prepared, prepare, view_weights
from coview.em.problem import Problem
from coview.em.scaling import learn_scaling
from coview.em.starts import label_start, uniform_theta
from coview.ensemble.consensus import consensus, joined, mean_directions
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
from coview.ensemble.information import contingency, information, told_by_kinds
from coview.ensemble.kmeans import kmeans
from coview.ensemble.reliability import ViewReliability, deal, documents_with_counts
from coview.ensemble.spaces import families_along, is_links, links_graph
from coview.held_out import take_documents
from coview.views.container import Views
from coview.views.density import is_dense

JUDGED_AT = 10  # clusters by which views are weighed, one weight for all numbers of topics
ITERATIONS = 5  # of EM: the start decides, and few documents change their topic after that
FOLD_IN_ITERATIONS, FOLD_IN_TOL = 20, 1e-2  # only the largest share is asked for
OVERLAP = 0.5  # of the way from chance to 1, from which a topic has come back


@dataclass(frozen=True)
class Confirmed:
    """What two halves of the documents say about one number of topics.

    Attributes
    ----------
    bits : float
        Mutual information of the two answers, beyond chance.
    told : float
        What an answer tells: the entropy of the topics, the mean of both.
    back : float
        How many topics come back.
    """

    bits: float
    told: float
    back: float

    @property
    def worth(self) -> float:
        """The bits confirmed times the share of those told that they are."""
        return max(self.bits, 0.0) * self.bits / self.told if self.told else 0.0


@dataclass(frozen=True)
class Documents:
    """The documents that are looked at: as the engine and as the ensemble take them."""

    data: Prepared
    features: list[Rows]
    has: np.ndarray
    links: list[sp.csr_array | None]
    reliability: ViewReliability
    measured: bool  # whether dense measurements have most of the weight

    @classmethod
    def of(cls, views: Views, rng: np.random.Generator) -> Documents:
        """Scale the views, weigh them, and keep documents with a count in a view that counts."""
        scaling = learn_scaling(views.matrices, views.present, "auto")
        data = prepare(views, scaling, np.float32)
        links = [links_graph(m) if is_links(m) else None for m in data.matrices]
        data = replace(data, matrices=tuple(map(_shared_terms, data.matrices)))
        has = documents_with_counts(data.matrices, data.present)
        features = [view_features(m) for m in data.matrices]
        reliability = deal(features, has, JUDGED_AT, rng).reliability(views.names)
        data = replace(data, weights=tuple(view_weights("learn", data, reliability).values()))
        squares = np.square(list(reliability.weights.values()))
        dense = np.array([is_dense(m) for m in data.matrices])
        measured = bool(squares[dense].sum() > squares.sum() / 2)
        return cls(data, features, has, links, reliability, measured)

    def deal(self, most_topics: int, rng: np.random.Generator) -> tuple[OneHalf, OneHalf]:
        """Deal the documents into two halves."""
        order = rng.permutation(len(self.has))
        middle = len(order) // 2
        one, other = np.sort(order[:middle]), np.sort(order[middle:])
        return (
            OneHalf.of(self, one, other, most_topics, rng),
            OneHalf.of(self, other, one, most_topics, rng),
        )


def _shared_terms(matrix: sp.csr_array) -> sp.csr_array:
    """Return the terms that two documents have: one that a single document has joins it to none."""
    kept = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]) > 1)
    return matrix if len(kept) in (0, matrix.shape[1]) else sp.csr_array(matrix[:, kept])


@dataclass(frozen=True)
class OneHalf:
    """One half of the documents, with the spaces in which they are clustered.

    `spaces` return the points for a number of clusters; `rest` are the other documents. `points`
    are all documents in the fused space of this half, where documents join the nearest cluster.
    `kinds` are equal for documents with the same views, None if all have all.
    """

    docs: np.ndarray
    rest: np.ndarray
    data: Prepared
    rest_data: Prepared
    spaces: list[Callable[[int], np.ndarray]]
    points: np.ndarray | None
    kinds: np.ndarray | None

    @classmethod
    def of(
        cls,
        all_docs: Documents,
        docs: np.ndarray,
        rest: np.ndarray,
        most_topics: int,
        rng: np.random.Generator,
    ) -> OneHalf:
        """Embed the documents, and find their neighbors, once for all numbers of topics."""
        weights = np.array(list(all_docs.reliability.weights.values()))
        has, n_dims = all_docs.has, n_dimensions(most_topics)
        embeddings = [
            project(f, h, directions(f[docs[h[docs]]], n_dims, rng))
            for f, h in zip(all_docs.features, has.T, strict=True)
        ]
        own = [e[docs] for e in embeddings]
        seen = Seen([unit_rows(f[docs]) for f in all_docs.features], own, has[docs])
        points = fuse(embeddings, weights, view_means(own)) if all_docs.measured else None
        links = [None if g is None else g[docs][:, docs] for g in all_docs.links]
        spaces = families_along(seen, links, weights, most_topics, rng)
        return cls(
            docs,
            rest,
            take_documents(all_docs.data, docs).cut(columns=True),
            take_documents(all_docs.data, rest).cut(columns=False),
            [at for _, at in spaces],
            points,
            None if has.all() else np.unique(has, axis=0, return_inverse=True)[1].ravel(),
        )

    def topics_of_all(self, n_topics: int, rng: np.random.Generator) -> np.ndarray:
        """Find topics in this half, and return the topic of every document (documents,)."""
        members = np.column_stack([kmeans(at(n_topics), n_topics, rng) for at in self.spaces])
        labels = consensus(members, np.ones(members.shape[1]), n_topics, rng)
        found = np.empty(len(self.docs) + len(self.rest), int)
        if self.points is not None:
            centers = mean_directions(self.points[self.docs], labels)
            found[self.docs] = labels
            found[self.rest] = joined(self.points[self.rest], [centers])[:, 0]
        else:
            found[self.docs], found[self.rest] = self._by_em(labels, n_topics)
        return found

    def _by_em(self, labels: np.ndarray, n_topics: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the topics of documents of this half and of the others, from these clusters."""
        start = label_start("half", labels, n_topics, self.data)
        slots = (0,) * len(self.data.names)
        emissions = [Topics.from_rows(p, self.data.dtype) for p in start.p_w_z]
        problem = Problem.of(self.data, emissions, (start.theta,), slots)
        try:
            fitted = run_em(problem, map, max_iter=ITERATIONS, tol=0).problem
        except Interrupted as interrupt:  # with a state of this half, not one of a fit
            raise KeyboardInterrupt from interrupt
        uniform = uniform_theta(self.rest_data, n_topics)
        others = Problem.of(self.rest_data, fitted.emissions, (uniform,), slots)
        folded = fold_in(others, map, FOLD_IN_ITERATIONS, FOLD_IN_TOL)
        return fitted.mixtures[0].argmax(axis=1), folded.mixtures[0].argmax(axis=1)


def confirmed(halves: Sequence[OneHalf], n_topics: int, rng: np.random.Generator) -> Confirmed:
    """Return what two halves confirm about each other's topics."""
    one, other = (half.topics_of_all(n_topics, rng) for half in halves)
    return agreement(one, other, halves[0].kinds)


def agreement(one: np.ndarray, other: np.ndarray, kinds: np.ndarray | None = None) -> Confirmed:
    """Compare two answers for the same documents.

    What both tell about given `kinds` of documents counts as chance: both halves see which views a
    document lacks.

    >>> agreement(np.array([0, 0, 0, 1, 1, 1]), np.array([1, 1, 1, 0, 0, 0])).back
    2.0
    """
    table = contingency(one, other)
    found, by_chance = information(table)
    if kinds is not None:
        by_chance = told_by_kinds(one, other, kinds)
    sizes, others = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    meet = sizes * others / table.sum()  # by chance
    chance = meet / (sizes + others - meet)
    overlap = table / (sizes + others - table)
    # above one half of the way each topic has at most one partner
    back = np.count_nonzero(overlap - chance > OVERLAP * (1 - chance))
    told = float(np.mean([_entropy(sizes), _entropy(others)]))
    return Confirmed(float((found - by_chance) / np.log(2)), told, float(back))


def _entropy(sizes: np.ndarray) -> float:
    """Return the entropy (bits) of clusters of these sizes."""
    shares = sizes / sizes.sum()
    return -float((shares * np.log2(shares)).sum())
