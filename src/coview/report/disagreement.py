"""Where views disagree beyond chance: Jensen-Shannon divergence minus that of resampled documents.

The mixtures of two views, each folded in alone, differ by chance, and the more the shorter they
are: raw divergence mostly ranks short documents. So each document is drawn again from the model,
with the same lengths and one mixture for all its views (`folding.resample`), `n_resamples` times in
every view; the mean divergence over all pairs of a draw of one view and a draw of the other is the
chance level of the document.

Dense measurements have no counts to be drawn. The chance level of a pair with such a view is what
is usual: the median divergence of the documents that have the same main topic.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from coview.report.folding import Folded, fold_in_counts, log_likelihoods, resample
from coview.report.value import Disagreement

FEWEST = 20  # documents of a topic that say what is usual in it


def measure_disagreement(
    folded: Folded, mixtures: np.ndarray, drawn: dict[str, Drawn]
) -> Disagreement:
    """Return the disagreement of views; `drawn` are documents drawn from the model."""
    by_pair = {(a, b): _of_pair(folded, a, b, drawn) for a, b in combinations(folded.names, 2)}
    n_docs = len(mixtures)
    value, chance = (
        _mean_over_pairs([getattr(one, part) for one in by_pair.values()], n_docs)
        for part in ("value", "chance")
    )
    beyond = value - chance
    return Disagreement(value, chance, beyond, by_pair, mean_by_topic(beyond, mixtures))


@dataclass(frozen=True)
class Drawn:
    """Documents drawn from the model in one view, several times.

    Attributes
    ----------
    mixtures : list of ndarray of shape (documents, topics)
        Folded in by this view alone, one for each time.
    log_likelihood : ndarray of shape (documents,)
        Mean log-likelihood of a token; NaN without tokens.
    """

    mixtures: list[np.ndarray]
    log_likelihood: np.ndarray


def draw_views(folded: Folded, n_resamples: int, rng: np.random.Generator) -> dict[str, Drawn]:
    """Draw all documents again, in each view that has counts to be drawn."""
    counted = [name for name in folded.names if not folded.is_dense(name)]
    return {name: _draw_view(folded, name, n_resamples, rng) for name in counted}


def _draw_view(folded: Folded, name: str, times: int, rng: np.random.Generator) -> Drawn:
    every, mixtures, sums = np.arange(len(folded.joint)), [], np.zeros((len(folded.joint), 3))
    for _ in range(times):
        counts = resample(folded, name, every, rng)
        mixtures.append(fold_in_counts(folded.model, name, counts))
        sums += log_likelihoods(folded.model, name, counts, mixtures[-1])
    return Drawn(mixtures, per_token(sums))


def per_token(sums: np.ndarray) -> np.ndarray:
    """Return the mean log-likelihood of a token from `log_likelihoods`; NaN without tokens."""
    none = np.full(len(sums), np.nan)
    return np.divide(sums[:, 0], sums[:, 2], out=none, where=sums[:, 2] > 0)


def measure_fit(folded: Folded, drawn: dict[str, Drawn]) -> np.ndarray:
    """Return how well topics explain each document: see `Report.fit`."""
    total, mass = np.zeros(len(folded.joint)), np.zeros(len(folded.joint))
    for name in folded.names:
        sums = folded.log_likelihoods(name, folded.alone[name])
        own = per_token(sums)
        known = ~np.isnan(own)
        expected = np.full(len(own), np.nan)
        if name in drawn:
            expected = drawn[name].log_likelihood
        else:
            expected[known] = _usual(own[known], folded.joint[known].argmax(axis=1))
        known &= ~np.isnan(expected)
        weight = folded.model.view_weights_[name] * sums[known, 2]
        total[known] += weight * (own - expected)[known]
        mass[known] += weight
    return np.divide(total, mass, out=np.full(len(total), np.nan), where=mass > 0)


def divergence(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the Jensen-Shannon divergence, in bits, of each row from the same row of the others.

    >>> divergence(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.0, 1.0], [0.5, 0.5]]))
    array([1., 0.])
    """
    from coview.kernels.jensen_shannon import jensen_shannon_rows

    out = np.empty(len(rows))
    jensen_shannon_rows(np.ascontiguousarray(rows), np.ascontiguousarray(others), out)
    return out


def _of_pair(folded: Folded, a: str, b: str, drawn: dict[str, Drawn]) -> Disagreement:
    both = np.flatnonzero(folded.known[:, [folded.names.index(a), folded.names.index(b)]].all(1))
    value = np.full(len(folded.joint), np.nan)
    chance = value.copy()
    value[both] = divergence(folded.alone[a][both], folded.alone[b][both])
    if a in drawn and b in drawn:
        levels = [
            divergence(one[both], other[both])
            for one in drawn[a].mixtures
            for other in drawn[b].mixtures
        ]
        chance[both] = np.mean(levels, axis=0)
    else:
        chance[both] = _usual(value[both], folded.joint[both].argmax(axis=1))
    return Disagreement(value, chance, value - chance)


def _usual(value: np.ndarray, topic: np.ndarray) -> np.ndarray:
    """Return the median of the documents with the same topic; of all where these are few."""
    usual = np.full(len(value), np.median(value) if len(value) else np.nan)
    for z in np.unique(topic):
        own = topic == z
        if own.sum() >= FEWEST:
            usual[own] = np.median(value[own])
    return usual


def _mean_over_pairs(values: list[np.ndarray], n_docs: int) -> np.ndarray:
    """Return the mean over the pairs that a document has, NaN if it has none."""
    total, count = np.zeros(n_docs), np.zeros(n_docs)
    for one in values:
        known = ~np.isnan(one)
        total[known] += one[known]
        count += known
    return np.divide(total, count, out=np.full(n_docs, np.nan), where=count > 0)


def mean_by_topic(values: np.ndarray, mixtures: np.ndarray) -> np.ndarray:
    """Return the mean of known values, weighted by the share of each topic; NaN without any."""
    known = ~np.isnan(values)
    mass = mixtures[known].sum(axis=0, dtype=np.float64)
    total = values[known] @ mixtures[known].astype(np.float64)
    return np.divide(total, mass, out=np.full(mixtures.shape[1], np.nan), where=mass > 0)
