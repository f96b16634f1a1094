r"""Seeds: words that a person gives to a topic, as pseudo-counts in every M-step.

A seed word w of topic z in view v adds s_v(w,z) pseudo-counts: the word is counted as if it
occurred s_v(w,z) times more, in the topic alone. The objective becomes

    sum_v alpha_v ( L_v + sum_{w,z} s_v(w,z) log p(w|z,v) )  -  penalty                    (1)

whose gradient with respect to p(w|z) has one more term, s(w,z) / p(w|z). Since the expected counts
of EM are factor times gradient, the M-step of free topics is

    p(w|z)  ∝  n(w,z) + s(w,z)                                                              (2)

and by the chain rule that of topics with feature topics is EM with the pseudo-counts spread over y
by p(y|z,w). Either way (1) is the likelihood of the data and of one document for each topic, with
the counts s(.,z) and its mixture pinned to z: EM never lowers it where it would not without seeds.

A weight of 1, the default, is s(w,z) = n(w), the occurrences of the word in all documents. So seeds
mean the same in small and large collections, and rare words are not drowned by frequent ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from coview.em.seed_words import TopicNames, find_words, names_of, number_seeds
from coview.em.simplex import limits
from coview.views.checks import DataWarning
from coview.wording import plural

if TYPE_CHECKING:
    from coview.em.prepared import Prepared
    from coview.em.starts import Start
    from coview.views.container import Views

# starts whose topics already have the numbers a user wants
OWN_NUMBERS = ("given", "model", "seeds")


@dataclass(frozen=True)
class ViewSeeds:
    """The seeds of one view, one entry for each pair of a term and a topic."""

    terms: np.ndarray  # (seeds,) int
    topics: np.ndarray  # (seeds,) int
    counts: np.ndarray  # (seeds,) s(w,z), above 0
    weights: np.ndarray  # (seeds,) s(w,z) / n(w)

    @classmethod
    def none(cls) -> ViewSeeds:
        """Return the seeds of a view that has none."""
        return cls(np.empty(0, int), np.empty(0, int), np.empty(0), np.empty(0))

    def log_prior(self, p_w_z: np.ndarray) -> float:
        """Return sum s(w,z) log p(w|z), from p(w|z) as (terms, topics): the last term of (1)."""
        return float(self.counts @ np.log(self._probabilities(p_w_z)))

    def add_gradient(self, grad: np.ndarray, p_w_z: np.ndarray) -> None:
        """Add s(w,z) / p(w|z) to dL/dp(w|z); both are (terms, topics)."""
        grad[self.terms, self.topics] += self.counts / self._probabilities(p_w_z)

    def _probabilities(self, p_w_z: np.ndarray) -> np.ndarray:
        found = p_w_z[self.terms, self.topics].astype(np.float64)
        return np.maximum(found, limits(p_w_z.dtype).floor)

    def matrix(self, values: np.ndarray, n_terms: int, n_topics: int) -> sp.csr_array:
        """Return values of the seeds as a matrix (terms, topics)."""
        return sp.csr_array((values, (self.terms, self.topics)), shape=(n_terms, n_topics))


Seeds = tuple[ViewSeeds, ...]  # of each view; some may be without


def log_prior(seeds: Seeds, weights: Sequence[float], by_term: Sequence[np.ndarray]) -> float:
    """Return the seeds' part of the objective (1), over all views."""
    views = zip(seeds, weights, by_term, strict=True)
    return sum(weight * view.log_prior(p_w_z) for view, weight, p_w_z in views)


def seeded_topics(seeds: Seeds) -> np.ndarray:
    """Return the numbers of the topics that have seeds in some view."""
    return np.unique(np.concatenate([view.topics for view in seeds]))


# -- from words to pseudo-counts -------------------------------------------------------------------


def prepare_seeds(
    seeds: Mapping[Any, Any] | None, n_topics: int, init: Any, views: Views, data: Prepared
) -> tuple[Seeds | None, TopicNames]:
    """Return the pseudo-counts of a model's `seeds`, and the names of its topics.

    A topic of the model given as `init` keeps its name.
    """
    words, names = number_seeds(seeds, n_topics, names_of(init, n_topics))
    return find_seeds(find_words(words, views.features, views.widths, views.recipes), data), names


def find_seeds(words: Sequence[Mapping[int, Mapping[int, float]]], data: Prepared) -> Seeds | None:
    """Return the pseudo-counts of weights by view, topic and term; None if there are none at all.

    A term that no document has gets none, with a warning: its probability is 0 in every topic.
    """
    if not any(words):
        return None
    idle: list[str] = []
    found = []
    for by_topic, (name, counts) in zip(words, data.term_counts.items(), strict=True):
        entries = [(w, z, weight) for z, terms in by_topic.items() for w, weight in terms.items()]
        idle += [f"{name}: {w}" for w, _, _ in entries if counts[w] == 0]
        entries = [entry for entry in entries if counts[entry[0]] > 0 and entry[2] > 0]
        terms = np.array([w for w, _, _ in entries], np.int64)
        topics = np.array([z for _, z, _ in entries], np.int64)
        weights = np.array([weight for _, _, weight in entries], np.float64)
        found.append(ViewSeeds(terms, topics, weights * counts[terms], weights))
    if idle:
        warnings.warn(
            f"{plural(len(idle), 'seed word')} occur in no document and do nothing (view: column): "
            f"{', '.join(idle[:5])}{', ...' if len(idle) > 5 else ''}.",
            DataWarning,
            stacklevel=6,
        )
    return tuple(found) if any(len(view.terms) for view in found) else None


# -- starts ----------------------------------------------------------------------------------------


def seeded_start(start: Start, data: Prepared) -> Start:
    """Return a start whose topics have the numbers and the words of the seeds.

    Topics are numbered so that they are the likeliest to say the seed words, unless labels, a model
    or the user has numbered them; then the seeds are added to each as if its words were an equal
    share of the view. So no seed word starts at probability 0.
    """
    if data.seeds is None:
        return start
    p_w_z, theta = start.p_w_z, start.theta
    n_topics = len(p_w_z[0])
    if data.labels is None and start.name not in OWN_NUMBERS:
        order = order_by_seeds(p_w_z, data)
        p_w_z = tuple(p[order] for p in p_w_z)
        if not data.on_disk:  # there they are uniform: no order changes them
            theta = theta.copy()
            theta[:, :n_topics] = theta[:, order]
    added = (
        _with_pseudo_counts(p, view, counts.sum() / n_topics)
        for p, view, counts in zip(p_w_z, data.seeds, data.term_counts.values(), strict=True)
    )
    return replace(start, theta=theta, p_w_z=tuple(added))


def order_by_seeds(p_w_z: Sequence[np.ndarray], data: Prepared) -> np.ndarray:
    """Return which topic of a start is topic 0, 1, ... by the seeds (Hungarian method).

    Topics without seeds take what is left, in its order.
    """
    from scipy.optimize import linear_sum_assignment

    assert data.seeds is not None
    n_topics = len(p_w_z[0])
    fit = np.zeros((n_topics, n_topics))  # log p of the seeds of a topic (row) under each (column)
    for view, weight, p in zip(data.seeds, data.weights, p_w_z, strict=True):
        log_p = np.log(np.maximum(p[:, view.terms], limits(p.dtype).floor), dtype=np.float64)
        np.add.at(fit, view.topics, weight * view.counts[:, None] * log_p.T)
    seeded = seeded_topics(data.seeds)
    rows, columns = linear_sum_assignment(fit[seeded], maximize=True)
    order = np.full(n_topics, -1)
    order[seeded[rows]] = columns
    order[order < 0] = np.setdiff1d(np.arange(n_topics), columns)
    return order


def _with_pseudo_counts(p_w_z: np.ndarray, seeds: ViewSeeds, mass: float) -> np.ndarray:
    """Return topics (topics, terms) of `mass` words each after (2), with the sums they had.

    These are 1, or the share of the view where topics sum to one over all views.
    """
    if not len(seeds.terms):
        return p_w_z
    extra = np.bincount(seeds.topics, seeds.counts, len(p_w_z))
    out = p_w_z * (mass / (mass + extra)).astype(p_w_z.dtype)[:, None]
    sums = p_w_z.sum(axis=1, dtype=np.float64)
    share = (sums / (mass + extra))[seeds.topics] * seeds.counts
    out[seeds.topics, seeds.terms] += share.astype(p_w_z.dtype)
    return out


def seed_votes(data: Prepared, n_topics: int) -> np.ndarray:
    """Return the topic whose seed words each document has most of, -1 where none leads.

    An occurrence counts as its share of all occurrences of the word, times its weight, so that a
    rare word says as much as a frequent one.
    """
    assert data.seeds is not None
    votes = np.zeros((data.n_docs, n_topics))
    for view, weight, matrix in zip(data.seeds, data.weights, data.matrices, strict=True):
        if len(view.terms):
            shares = view.weights**2 / view.counts  # weight / n(w)
            by_topic = view.matrix(shares, matrix.shape[1], n_topics)
            votes += weight * (matrix @ by_topic).toarray()
    best = votes.argmax(axis=1)
    first = votes[np.arange(len(votes)), best]
    votes[np.arange(len(votes)), best] = -1
    return np.where(first > np.maximum(votes.max(axis=1), 0), best, -1)


def seeded_centers(
    features: sp.csr_array, votes: np.ndarray, n_topics: int, rng: np.random.Generator
) -> np.ndarray:
    """Return where k-means shall start: the mean of the documents that vote for a topic.

    Topics without votes take documents far from the centers so far, drawn as by k-means++.
    """
    centers = np.zeros((n_topics, features.shape[1]), features.dtype)
    voted = np.unique(votes[votes >= 0])
    for z in voted:
        centers[z] = features[np.flatnonzero(votes == z)].mean(axis=0)
    squares = np.asarray(features.multiply(features).sum(axis=1)).ravel()
    distance = np.full(len(votes), np.inf)
    for z in voted:
        distance = np.minimum(distance, _distance_to(centers[z], features, squares))
    for z in np.setdiff1d(np.arange(n_topics), voted):
        odds = np.where(np.isinf(distance), 1.0, np.maximum(distance, 0)) + 1e-12
        centers[z] = features[[rng.choice(len(odds), p=odds / odds.sum())]].toarray()[0]
        distance = np.minimum(distance, _distance_to(centers[z], features, squares))
    return centers


def _distance_to(center: np.ndarray, features: sp.csr_array, squares: np.ndarray) -> np.ndarray:
    """Return the squared Euclidean distance of each row to a center."""
    return squares - 2 * (features @ center) + center @ center
