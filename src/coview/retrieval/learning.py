"""Learn what a search needs from the documents of a fit: tables, maps, and what each kind counts.

For each pair of views with documents in common, some of these are held back. From the others come
a table in either direction and a linear map. Each document that was held back then asks for its
other view among all that were held back, twice: with all of its terms, and with three of them,
since people ask in few words. With s the weighted sum of the evidence, the weights w >= 0 minimize

    - mean over queries of log( exp(s(right)) / sum over documents of exp(s) )

so that exp(s) / sum exp(s) is the probability that an answer is right. A kind without which this
hardly rises is left out. At the end tables and maps are learned anew from all documents. Within one
view, the terms of a document are dealt into two halves, and one half asks for the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from coview.held_out import sample_rows
from coview.merging import tokens_by_view
from coview.metrics.retrieval import match_ranks
from coview.retrieval.evidence import (
    KINDS,
    Comparison,
    Counts,
    PairEvidence,
    SearchEvidence,
    TopicGains,
    ViewPair,
    ViewTerms,
)
from coview.retrieval.translation import FEWEST_DOCS, damped, learn_table, with_topics
from coview.runners.native import one_native_thread

HELD_BACK = 400  # documents at the most, and a fifth of those there are
FEWEST_PAIRS = 50  # documents with both views, to learn weights from some of them
LEARN_FROM = 5_000  # documents, while weights are learned
ASKED = 3  # terms of a short query
ANSWERS = 10  # that a person looks at
DIMENSIONS = 50  # of the linear map
UNUSED = np.uint16(0xFFE0)  # leaves five bits of the ten that a direction has: files get smaller
RIDGE = 0.1  # of the mean variance of a dimension
NEEDED = 0.003  # nats a query that a kind of evidence has to save
USUAL = np.array([1.0, 1.0, 5.0, 0.0])  # weights of KINDS where none can be learned
SPREAD = np.array([1.0, 1.0, 3.0, 1.0])  # how far weights are from these, as a rule
PRIOR_QUERIES = 10  # that the usual weights are worth


def learn_evidence(
    model: Any,
    counts: Counts,
    *,
    titles: Sequence[str] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> SearchEvidence:
    """Learn how the views of a model search each other.

    Parameters
    ----------
    model : fitted model
    counts : dict of csr_array of shape (documents, terms)
        The documents of the fit, as `model.as_counts` returns them.
    titles : sequence of str, optional
        What the documents are called where they are answers.
    random_state : int, default=0
        Seed of the documents that are held back.
    n_jobs : int or None, default=None
        Threads; nothing that is learned depends on them.

    Returns
    -------
    SearchEvidence
    """
    counts = {view: sp.csr_array(matrix, dtype=np.float32) for view, matrix in counts.items()}
    rng = np.random.default_rng(random_state)
    with one_native_thread("blas"):
        views = {view: _terms(matrix, rng) for view, matrix in counts.items()}
        evidence = SearchEvidence(views, {}, {}, {}, counts)
        for view in counts:
            evidence.pairs[view, view] = _within(model, evidence, view, rng)
        for a, b in combinations(counts, 2):
            _learn_pair(model, evidence, (a, b), rng, n_jobs)
    return _only_needed(replace(evidence, titles=None if titles is None else np.array(titles)))


def untrained(model: Any) -> SearchEvidence:
    """Return evidence without tables and maps: names and topics, with the usual weights."""
    views = {}
    for view, totals in model.term_counts_.items():
        shares = totals.astype(np.float64) / (totals.sum(dtype=np.float64) or 1.0)
        none = np.empty((len(shares), 0), np.float16)
        views[view] = ViewTerms(shares, np.zeros(len(shares)), none, np.empty(0))
    evidence = SearchEvidence(views, {}, {}, {})
    for a in views:
        for b in views:
            evidence.pairs[a, b] = _usual(evidence, (a, b), shared_names(model, evidence, a, b))
    return evidence


def _terms(counts: sp.csr_array, rng: np.random.Generator) -> ViewTerms:
    rows = damped(counts)
    totals = np.asarray(rows.sum(axis=0))
    docs_with = np.bincount(rows.indices, minlength=rows.shape[1])
    n_docs = np.count_nonzero(np.diff(rows.indptr))
    rarity = np.log((n_docs + 1) / (docs_with + 0.5)) * (docs_with > 0)
    none = np.empty((rows.shape[1], 0), np.float16)
    terms = ViewTerms(totals / (totals.sum() or 1.0), rarity, none, np.empty(0))
    if min(counts.shape) < 3:
        return terms
    sample = counts[sample_rows(counts.shape[0], LEARN_FROM, rng)]
    terms = replace(terms, directions=_directions(sample, rarity, rng))
    return replace(terms, center=terms.projected(sample).mean(axis=0))


def _directions(counts: sp.csr_array, rarity: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    from sklearn.utils.extmath import randomized_svd

    identity = ViewTerms(rarity, rarity, np.empty((len(rarity), 0)), np.empty(0))
    rows = identity.weighted(counts)
    n_dims = min(DIMENSIONS, *(n - 1 for n in rows.shape))
    seed = int(rng.integers(2**31))
    found = randomized_svd(rows, n_dims, random_state=seed)[2].T.astype(np.float16)
    return (found.view(np.uint16) & UNUSED).view(np.float16)


# -- one pair of views -----------------------------------------------------------------------------


def _learn_pair(
    model: Any,
    evidence: SearchEvidence,
    views: ViewPair,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> None:
    """Learn the tables, maps and weights of two views, in both directions, into `evidence`."""
    a, b = views
    both = np.flatnonzero(np.all([np.diff(evidence.counts[v].indptr) > 0 for v in views], axis=0))
    directions = [(a, b), (b, a)]
    weighed = {}
    if len(both) >= FEWEST_PAIRS:
        order = rng.permutation(both)
        n_held = min(HELD_BACK, len(both) // 5)
        held, rest = np.sort(order[:n_held]), np.sort(order[n_held : n_held + LEARN_FROM])
        trial = _with_tables(model, evidence, views, rest, n_jobs, rng)
        for asks, answers in directions:
            matrices = _matrices(model, trial, (asks, answers), held, rng)
            weighed[asks, answers] = _weigh(matrices)
    final = _with_tables(model, evidence, views, both, n_jobs)
    for key in directions:
        evidence.tables.update({key: final.tables[key]} if key in final.tables else {})
        evidence.term_docs[key] = final.term_docs[key]
        learned = weighed.get(key)
        pair = final.pairs[key]
        evidence.pairs[key] = pair if learned is None else replace(pair, **learned)


def _with_tables(
    model: Any,
    evidence: SearchEvidence,
    views: ViewPair,
    rows: np.ndarray,
    n_jobs: int | None,
    rng: np.random.Generator | None = None,
) -> SearchEvidence:
    """Return evidence with tables and maps between two views, from some documents.

    With `rng` what is known about each view alone comes from these documents, too.
    """
    terms = {v: _terms(evidence.counts[v][rows], rng) for v in views} if rng else evidence.views
    made = SearchEvidence(terms, {}, {}, {}, evidence.counts)
    for a, b in (views, views[::-1]):
        asks, answers = evidence.counts[a][rows], evidence.counts[b][rows]
        made.term_docs[a, b] = np.bincount(asks.indices, minlength=asks.shape[1]).astype(np.int32)
        if len(rows):
            table = learn_table(asks, answers, n_jobs)[0]
            made.tables[a, b] = with_topics(table, model, a, b)
    for a, b in (views, views[::-1]):
        names = shared_names(model, made, a, b)
        pair = _usual(made, (a, b), names)
        made.pairs[a, b] = _with_map(made, pair, (a, b), rows)
    return made


def _usual(evidence: SearchEvidence, views: ViewPair, names: np.ndarray) -> PairEvidence:
    """Return a pair of views without a map, with the usual weights."""
    shape = tuple(evidence.views[view].directions.shape[1] for view in views)
    return PairEvidence(USUAL, names, np.zeros(shape, np.float32), np.zeros(shape[1]))


def _with_map(
    evidence: SearchEvidence, pair: PairEvidence, views: ViewPair, rows: np.ndarray
) -> PairEvidence:
    """Return a pair with the ridge regression from one space to the other."""
    x, y = (evidence.views[v].projected(evidence.counts[v][rows[:LEARN_FROM]]) for v in views)
    if not x.size or not y.size:
        return pair
    gram = x.T @ x
    gram[np.diag_indices(len(gram))] += RIDGE * max(np.trace(gram) / len(gram), 1e-12)
    mapping = np.linalg.solve(gram, x.T @ y).astype(np.float32)
    return replace(pair, mapping=mapping, center=(x @ mapping).mean(axis=0))


def shared_names(model: Any, evidence: SearchEvidence, a: str, b: str) -> np.ndarray:
    """Return the columns of the terms that two views share by name and by meaning, (2, terms).

    Terms that are frequent enough to be learned have to be among the translations of each other.
    """
    none = np.empty((2, 0), np.int32)
    names = [model.feature_names_[view] for view in (a, b)]
    if a == b or names[0] is None or names[1] is None:
        return none
    in_a, in_b = np.intersect1d(names[0].astype(str), names[1].astype(str), return_indices=True)[1:]
    seen = (evidence.views[a].shares[in_a] > 0) & (evidence.views[b].shares[in_b] > 0)
    in_a, in_b = in_a[seen], in_b[seen]
    if (a, b) in evidence.tables and len(in_a):
        rare = (evidence.term_docs[a, b][in_a] < FEWEST_DOCS) | (
            evidence.term_docs[b, a][in_b] < FEWEST_DOCS
        )
        there = np.asarray(evidence.tables[a, b][in_a, in_b]).ravel() > 0
        back = np.asarray(evidence.tables[b, a][in_b, in_a]).ravel() > 0
        kept = rare | there | back
        in_a, in_b = in_a[kept], in_b[kept]
    return np.array([in_a, in_b], dtype=np.int32)


def _within(
    model: Any, evidence: SearchEvidence, view: str, rng: np.random.Generator
) -> PairEvidence:
    """Learn how a view is searched with itself: one half of a document asks for the other."""
    counts = evidence.counts[view]
    pair = _usual(evidence, (view, view), np.empty((2, 0), np.int32))
    pair = replace(pair, weights=USUAL * [1, 0, 1, 0])
    docs = np.flatnonzero(np.diff(counts.indptr) > 1)
    if len(docs) < FEWEST_PAIRS:
        return pair
    held = np.sort(rng.permutation(docs)[: min(HELD_BACK, len(docs) // 5)])
    one, other = _halves(counts[held], rng)
    trial = SearchEvidence(evidence.views, {}, {}, {(view, view): pair})
    gains = TopicGains(model, _topics_without(model, {view: counts}, held))
    comparison = Comparison(model, trial, gains)
    learned = _weigh(_judged(comparison, (view, view), [one, _short(one, rng)], other))
    return replace(pair, **learned)


def _halves(counts: sp.csr_array, rng: np.random.Generator) -> tuple[sp.csr_array, sp.csr_array]:
    """Deal the terms of each document into two halves."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    place = np.empty(counts.nnz, np.int64)
    place[np.lexsort((rng.random(counts.nnz), rows))] = np.arange(counts.nnz)
    odd = (place - counts.indptr[rows]) % 2 == 1
    parts = []
    for kept in (odd, ~odd):
        part = sp.csr_array((counts.data * kept, counts.indices, counts.indptr), counts.shape)
        part.eliminate_zeros()
        parts.append(sp.csr_array(part, copy=True))
    return parts[0], parts[1]


# -- weights ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _HeldBack:
    """The evidence about all pairs of some queries and documents, (kinds, queries, documents).

    The right answer to a query is the document of the same number.
    """

    parts: np.ndarray

    def scores(self, weights: np.ndarray) -> np.ndarray:
        return np.tensordot(weights, self.parts, 1)

    def loss(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the mean of -log softmax at the right answers, and its gradient."""
        scores = self.scores(weights)
        top = scores.max(axis=1, keepdims=True)
        odds = np.exp(scores - top)
        sums = odds.sum(axis=1, keepdims=True)
        right = np.arange(len(scores))
        value = np.mean(np.log(sums[:, 0]) + top[:, 0] - scores[right, right])
        p = odds / sums
        expected = np.einsum("kqd,qd->k", self.parts, p) / len(scores)
        return float(value), expected - self.parts[:, right, right].mean(axis=1)


def _matrices(
    model: Any,
    trial: SearchEvidence,
    views: ViewPair,
    held: np.ndarray,
    rng: np.random.Generator,
) -> list[_HeldBack]:
    asks, answers = (trial.counts[view][held] for view in views)
    everything = replace(trial.pairs[views], weights=np.ones(len(KINDS)))
    gains = TopicGains(model, _topics_without(model, trial.counts, held))
    comparison = Comparison(model, replace(trial, pairs={views: everything}), gains)
    return _judged(comparison, views, [asks, _short(asks, rng)], answers)


def _judged(
    comparison: Comparison, views: ViewPair, queries: list[sp.csr_array], answers: sp.csr_array
) -> list[_HeldBack]:
    searched = comparison.searched(views[1], answers)
    made = []
    for rows in queries:
        parts = np.zeros((len(KINDS), rows.shape[0], len(searched)))
        for q, asked in enumerate(comparison.asked(views[0], rows)):
            if asked is not None:
                parts[:, q] = comparison.parts(asked, views[1], searched)
        made.append(_HeldBack(parts))
    return made


def _topics_without(model: Any, counts: Counts, held: np.ndarray) -> dict[str, np.ndarray]:
    """Return p(w|z) without the expected counts of the documents that are held back.

    The topics of the model have seen both views of these documents, so that they would seem to find
    one with the other better than they will.
    """
    made = {}
    for view, tokens in tokens_by_view(model).items():
        if view not in counts:
            continue
        p_w_z = model.components_[view].astype(np.float64)
        left = p_w_z * tokens[:, None]  # expected counts n(w,z)
        rows, thetas = counts[view][held], model.view_doc_topic_[view][held]
        for theta, (begin, end) in zip(thetas, pairwise(rows.indptr.tolist()), strict=True):
            terms = rows.indices[begin:end]
            joint = theta[:, None] * p_w_z[:, terms]
            sums = np.maximum(joint.sum(axis=0), np.finfo(np.float64).tiny)
            left[:, terms] -= rows.data[begin:end] * joint / sums
        made[view] = np.maximum(left, 0.0)
    return made


def _short(counts: sp.csr_array, rng: np.random.Generator) -> sp.csr_array:
    """Return a few terms of each document, drawn by their counts."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    keys = np.log(np.maximum(counts.data, 1e-12)) + rng.gumbel(size=counts.nnz)
    place = np.empty(counts.nnz, np.int64)
    place[np.lexsort((-keys, rows))] = np.arange(counts.nnz)
    kept = place - counts.indptr[rows] < ASKED
    indptr = np.concatenate([[0], np.cumsum(kept)])[counts.indptr]
    ones = np.ones(int(kept.sum()), np.float32)
    return sp.csr_array((ones, counts.indices[kept], indptr), shape=counts.shape)


def _weigh(matrices: list[_HeldBack]) -> dict[str, Any]:
    """Return weights, the line to log-odds, and how often the right answer was found."""
    allowed = np.array([any(m.parts[k].any() for m in matrices) for k in range(len(KINDS))])
    weights, loss = _fit_weights(matrices, allowed)
    for k in np.argsort(weights * [np.std(matrices[0].parts[k]) for k in range(len(KINDS))]):
        if not allowed[k] or allowed.sum() == 1:
            continue
        without = allowed & (np.arange(len(KINDS)) != k)
        fewer, larger = _fit_weights(matrices, without)
        if larger - loss < NEEDED:
            weights, loss, allowed = fewer, larger, without
    ranks = match_ranks(matrices[0].scores(weights))
    return {
        "weights": weights,
        "held_back": len(ranks),
        "first": float((ranks < 2).mean()),
        "ten": float((ranks < ANSWERS + 1).mean()),
    }


def _fit_weights(matrices: list[_HeldBack], allowed: np.ndarray) -> tuple[np.ndarray, float]:
    # few queries do not move the weights far from the usual ones
    hold = PRIOR_QUERIES / sum(m.parts.shape[1] for m in matrices)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        found = [m.loss(weights) for m in matrices]
        apart = (weights - USUAL) / SPREAD
        value = np.mean([value for value, _ in found]) + hold * (apart @ apart) / 2
        return float(value), np.mean([g for _, g in found], axis=0) + hold * apart / SPREAD

    bounds = [(0.0, None) if k else (0.0, 0.0) for k in allowed]
    best = minimize(loss, USUAL * allowed, jac=True, bounds=bounds, method="L-BFGS-B")
    return np.round(best.x, 6), float(best.fun)


def _only_needed(evidence: SearchEvidence) -> SearchEvidence:
    """Return evidence without directions and maps that no pair of views uses."""
    used = {view for views, pair in evidence.pairs.items() for view in views if pair.weights[3] > 0}
    views = {}
    for name, terms in evidence.views.items():
        none = np.empty((len(terms.shares), 0), np.float16)
        views[name] = terms if name in used else replace(terms, directions=none, center=np.empty(0))
    pairs = {}
    for (a, b), pair in evidence.pairs.items():
        if not pair.weights[3]:
            shape = tuple(views[view].directions.shape[1] for view in (a, b))
            pair = replace(pair, mapping=np.zeros(shape, np.float32), center=np.zeros(shape[1]))
        pairs[a, b] = pair
    return replace(evidence, views=views, pairs=pairs)
