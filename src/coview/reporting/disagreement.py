"""Where views disagree beyond chance, and which documents no topic fits.

What a view's own mixture explains of its tokens is its gain, in nats over the frequencies of terms.
With the mixture of another view instead, some of it is lost:

    loss(a, b) = [ L_b(theta_b) - L_b(theta_a) ] / [ L_b(theta_b) - L_b(corpus) + C ]

where L_b(theta) is the log-likelihood of the tokens in view b, and every theta is that of one view
folded in alone. 0: the topics of view a explain view b as well as its own do; 1: they explain
nothing of it; above 1 they mislead, which ranks documents (bounded losses found fewer of the faults
that were planted) and is shown as 1. The constant C keeps short documents, of which little is
known, from the top. The disagreement of two views is the mean of loss(a, b) and loss(b, a). Topics
with similar words are no disagreement here, unlike in the Jensen-Shannon divergence of mixtures;
experiments/disagreement.md compares both by faults that were planted.

By chance views differ the more the shorter they are, and the less topics fit. Two levels tell how
much, and the larger one counts. Each document is drawn again from the model, with the same lengths
and one mixture for all its views (`folding.resample`): the mean loss over `n_resamples` such
documents. But documents that are drawn fit the model, and real ones do not. So the tokens of each
view are also dealt into two halves, which surely are about the same: what one loses with the
mixture of the other, the mean of `n_resamples` deals. A loss in nats hardly depends on how long
both are, if they are of one length; for views of a and b tokens it is (1 + b / a) / 2 times that.
The views of a document are said to disagree where they lose `NOTICEABLE` more than by chance.

Of many documents only a sample is drawn, since that takes most of the time of a report. The others
take over what was found for a drawn one that is much like them: see `most_alike`.

Dense measurements have no counts to be drawn. The chance level of a pair with such a view is what
is usual: the median of the documents that have the same main topic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.held_out import sample_rows
from coview.reporting.folding import (
    Folded,
    drawn_blocks,
    fold_in_counts,
    log_likelihoods,
    resample,
)
from coview.reporting.value import Disagreement

C = 30.0  # nats; a word of a topic is worth two to four
FEWEST = 20  # documents of a topic that say what is usual in it
FEWEST_BEHIND = 3.0  # documents, by p(z|d), from which a topic has an agreement


@dataclass(frozen=True)
class Explained:
    """How well mixtures explain the tokens of each view.

    Attributes
    ----------
    sums : dict of ndarray of shape (documents, 3)
        Of each view under its own mixture: see `log_likelihoods`.
    lost : dict of (str, str) to ndarray of shape (documents,)
        For views a and b, what the mixture of a loses of the log-likelihood of b, in nats.
    """

    sums: dict[str, np.ndarray]
    lost: dict[tuple[str, str], np.ndarray]

    def per_token(self, view: str) -> np.ndarray:
        """Return the mean log-likelihood of a token; NaN without tokens."""
        total, n = self.sums[view][:, 0], self.sums[view][:, 2]
        return np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)

    def gain(self, view: str) -> np.ndarray:
        """Return what a view's own mixture explains, in nats."""
        return np.maximum(self.sums[view][:, 0] - self.sums[view][:, 1], 0.0)


def explain(folded: Folded) -> Explained:
    """Return how well documents are explained by each view alone."""
    return _explain(folded.log_likelihoods, folded.alone)


def explain_drawn(
    folded: Folded, n_resamples: int, rng: np.random.Generator, most: int | None = None
) -> Explained:
    """Return the same of documents drawn from the model, the mean; of views that have counts.

    Of more than `most` documents a sample is drawn, and stands for the others.
    """
    n_docs = len(folded.joint)
    rows = sample_rows(n_docs, n_docs if most is None else most, rng)
    names = [name for name in folded.names if not folded.is_dense(name)]
    parts = []
    for block in drawn_blocks(folded, names, rows):
        runs = []
        for _ in range(n_resamples):
            counts = {name: resample(folded, name, block, rng) for name in names}
            alone = {name: fold_in_counts(folded.model, name, counts[name]) for name in names}
            runs.append(_explain(_likelihood_of(folded.model, counts), alone))
        parts.append(_combined(runs, _mean))
    drawn = _combined(parts, np.concatenate)
    halves = {
        name: _mean([_halves_lost(folded, name, rows, rng) for _ in range(n_resamples)])
        for name in names
    }
    tokens = {name: folded.counts[name].sum(axis=1, dtype=np.float64) for name in names}
    lost = {}
    for a, b in permutations(names, 2):
        longer = tokens[b][rows] / np.maximum(tokens[a][rows], 1.0)
        lost[a, b] = np.maximum(drawn.lost[a, b], halves[b] * (1 + longer) / 2)
    found = Explained(drawn.sums, lost)
    if len(rows) == n_docs:
        return found
    every = np.sum(list(tokens.values()), axis=0)
    alike = most_alike(folded.joint.argmax(axis=1), folded.known, every, rows)
    return Explained(
        {name: part[alike] for name, part in found.sums.items()},
        {pair: part[alike] for pair, part in found.lost.items()},
    )


def _halves_lost(
    folded: Folded, name: str, rows: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return what half of a view's tokens loses with the mixture of the other half, in nats."""
    counts = sp.csr_array(folded.counts[name][rows])
    tokens = counts.data.astype(np.int64)
    if (tokens != counts.data).any():  # weights: there are no tokens to deal
        return np.zeros(len(rows))
    first = rng.binomial(tokens, 0.5)
    halves: dict[int, sp.csr_array] = {}
    for half in (first, counts.data - first):
        halves[len(halves)] = part = counts.copy()
        part.data = half.astype(counts.dtype)
        part.eliminate_zeros()
    if name in folded.left_out:
        own = folded.left_out[name]
        parts = {i: replace(own, counts=half, theta=own.theta[rows]) for i, half in halves.items()}
        alone = {i: part.mixtures() for i, part in parts.items()}
        found = _explain(lambda i, mixtures: parts[i].log_likelihoods(mixtures), alone)
    else:
        alone = {i: fold_in_counts(folded.model, name, half) for i, half in halves.items()}
        found = _explain(
            lambda i, mixtures: log_likelihoods(folded.model, name, halves[i], mixtures), alone
        )
    return _mean(list(found.lost.values()))


def most_alike(
    topic: np.ndarray, known: np.ndarray, tokens: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Return for each document which of the drawn `rows` stands for it: itself if it is one.

    Otherwise one that has the same views (documents, views), then the same main topic, and of these
    the nearest in its number of tokens: chance depends on little else.

    >>> topic, known = np.array([0, 0, 1, 1, 0]), np.ones((5, 2), bool)
    >>> most_alike(topic, known, np.array([10, 90, 10, 50, 70]), rows=np.array([0, 1, 2]))
    array([0, 1, 2, 2, 1])
    """
    place = np.empty(len(topic), np.intp)
    place[rows] = np.arange(len(rows))
    kind = np.unique(known, axis=0, return_inverse=True)[1].ravel()
    both = kind * (topic.max() + 1) + topic
    for which in (np.zeros_like(kind), kind, both):  # ever closer, where there are such documents
        for one in np.unique(which[rows]):
            own, drawn = np.flatnonzero(which == one), rows[which[rows] == one]
            drawn = drawn[np.argsort(tokens[drawn], kind="stable")]
            above = np.searchsorted(tokens[drawn], tokens[own])
            low, high = np.maximum(above - 1, 0), np.minimum(above, len(drawn) - 1)
            nearer = tokens[own] - tokens[drawn[low]] <= tokens[drawn[high]] - tokens[own]
            place[own] = np.searchsorted(rows, drawn[np.where(nearer, low, high)])
    place[rows] = np.arange(len(rows))
    return place


Likelihood = Callable[[Any, np.ndarray], np.ndarray]  # of a view under mixtures


def _likelihood_of(model: Any, counts: Mapping[str, sp.csr_array]) -> Likelihood:
    return lambda name, mixtures: log_likelihoods(model, name, counts[name], mixtures)


def _explain(likelihood: Likelihood, alone: Mapping[Any, np.ndarray]) -> Explained:
    sums = {name: likelihood(name, alone[name]) for name in alone}
    lost = {
        (a, b): sums[b][:, 0] - likelihood(b, alone[a])[:, 0] for a, b in permutations(alone, 2)
    }
    return Explained(sums, lost)


def _combined(
    found: Sequence[Explained], how: Callable[[Sequence[np.ndarray]], np.ndarray]
) -> Explained:
    return Explained(
        {name: how([one.sums[name] for one in found]) for name in found[0].sums},
        {pair: how([one.lost[pair] for one in found]) for pair in found[0].lost},
    )


def _mean(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.asarray(sum(arrays) / len(arrays))


# -- disagreement ----------------------------------------------------------------------------------


def measure_disagreement(
    folded: Folded, mixtures: np.ndarray, real: Explained, drawn: Explained
) -> Disagreement:
    """Return the disagreement of views, of real documents and of those drawn from the model."""
    n_docs = len(mixtures)
    by_pair = {
        (a, b): _of_pair(folded, a, b, real, drawn) for a, b in combinations(folded.names, 2)
    }
    mean = _over_pairs(list(by_pair.values()), n_docs)
    found = _most_apart(folded.names, by_pair, mean)
    found = replace(found, divergence=mean.divergence, by_pair=by_pair)
    apart = np.where(np.isnan(found.beyond), np.nan, found.noticed)
    return replace(found, by_topic=mean_by_topic(apart, mixtures))


def _of_pair(folded: Folded, a: str, b: str, real: Explained, drawn: Explained) -> Disagreement:
    has_a, has_b = (folded.known[:, folded.names.index(name)] for name in (a, b))
    both = np.flatnonzero(has_a & has_b)
    value, chance, apart = (np.full(len(has_a), np.nan) for _ in range(3))
    value[both] = _loss(real, real, a, b)[both]
    apart[both] = divergence(folded.alone[a][both], folded.alone[b][both])
    if (a, b) in drawn.lost:
        chance[both] = _loss(drawn, real, a, b)[both]
    else:
        chance[both] = _usual(value[both], folded.joint[both].argmax(axis=1))
    return Disagreement(value, chance, value - chance, apart)


def _loss(lost: Explained, real: Explained, a: str, b: str) -> np.ndarray:
    """Return the mean of loss(a, b) and loss(b, a), relative to the gain of real documents."""
    ways = ((a, b), (b, a))
    return _mean([lost.lost[way] / (real.gain(way[1]) + C) for way in ways])


def _over_pairs(pairs: Sequence[Disagreement], n_docs: int) -> Disagreement:
    """Return the mean over the pairs that a document has, NaN if it has none."""
    value, chance, apart = (
        _known_mean([getattr(pair, part) for pair in pairs], n_docs)
        for part in ("value", "chance", "divergence")
    )
    return Disagreement(value, chance, value - chance, apart)


def _most_apart(
    names: Sequence[str], by_pair: Mapping[tuple[str, str], Disagreement], mean: Disagreement
) -> Disagreement:
    """Return, of each document, the view that differs most from the others: its mean over them.

    The mean over all pairs would hide one wrong view among many.
    """
    best = mean
    if len(names) < 3:
        return best
    for name in names:
        own = _over_pairs([one for pair, one in by_pair.items() if name in pair], len(mean.value))
        worse = own.beyond > best.beyond
        best = Disagreement(
            *(
                np.where(worse, getattr(own, part), getattr(best, part))
                for part in ("value", "chance", "beyond", "divergence")
            )
        )
    return best


def divergence(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the Jensen-Shannon divergence, in bits, of each row from the same row of the others.

    >>> divergence(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.0, 1.0], [0.5, 0.5]]))
    array([1., 0.])
    """
    from coview.kernels.jensen_shannon import jensen_shannon_rows

    out = np.empty(len(rows))
    jensen_shannon_rows(np.ascontiguousarray(rows), np.ascontiguousarray(others), out)
    return out


def _usual(value: np.ndarray, topic: np.ndarray) -> np.ndarray:
    """Return the median of the documents with the same topic; of all where these are few."""
    usual = np.full(len(value), np.median(value) if len(value) else np.nan)
    for z in np.unique(topic):
        own = topic == z
        if own.sum() >= FEWEST:
            usual[own] = np.median(value[own])
    return usual


def _known_mean(values: Sequence[np.ndarray], n_docs: int) -> np.ndarray:
    total, count = np.zeros(n_docs), np.zeros(n_docs)
    for one in values:
        known = ~np.isnan(one)
        total[known] += one[known]
        count += known
    return np.divide(total, count, out=np.full(n_docs, np.nan), where=count > 0)


def mean_by_topic(values: np.ndarray, mixtures: np.ndarray) -> np.ndarray:
    """Return the mean of known values, weighted by the share of each topic.

    NaN where less than `FEWEST_BEHIND` documents stand behind it.
    """
    known = ~np.isnan(values)
    mass = mixtures[known].sum(axis=0, dtype=np.float64)
    total = values[known] @ mixtures[known].astype(np.float64)
    out = np.full(mixtures.shape[1], np.nan)
    np.divide(total, mass, out=out, where=mass >= FEWEST_BEHIND)
    return np.clip(out, 0.0, 1.0)


# -- documents that no topic fits ------------------------------------------------------------------


def measure_fit(folded: Folded, real: Explained, drawn: Explained) -> np.ndarray:
    """Return how well topics explain each document: see `Report.fit`."""
    total, mass = np.zeros(len(folded.joint)), np.zeros(len(folded.joint))
    for name in folded.names:
        own = real.per_token(name)
        expected = np.full(len(own), np.nan)
        if name in drawn.sums:
            expected = drawn.per_token(name)
        else:
            there = ~np.isnan(own)
            expected[there] = _usual(own[there], folded.joint[there].argmax(axis=1))
        known = ~np.isnan(own) & ~np.isnan(expected)
        weight = folded.model.view_weights_[name] * real.sums[name][known, 2]
        total[known] += weight * (own - expected)[known]
        mass[known] += weight
    return np.divide(total, mass, out=np.full(len(total), np.nan), where=mass > 0)
