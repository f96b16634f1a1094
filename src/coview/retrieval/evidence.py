"""What a query in one view says about documents in another: four kinds of evidence, and one score.

All of it follows from counts. With the damped shares f(w|d) of the terms of a document, and the
share p(w) of a term in all training documents, a query q in view a says about a document d in b:

* names: terms of the query that the document has, under the same name;

      sqrt(n) sum_w f(w|q) log(1 + f(w|d) / p(w)),   n: different terms of the query

* translation: the same with sum_w' t(w|w') f(w'|d) for f(w|d), from the table of `translation`:
  how well the terms of the document call for those of the query;
* topics: the cosine of what the terms of both say about the topics one by one,
  e(z|d) = sum_w f(w|d) log((p(w|z) + p(w)) / 2 p(w)), centered over the topics;
* map: the cosine in a space of few dimensions, tf-idf projected on the singular vectors of each
  view, after ridge regression from one space to the other; centered.

A query in the view that is searched has names and topics. How much each kind counts is a number
that is never negative, learned from pairs of documents that were held back (`learning`). With s the
weighted sum, the score of a document is the probability that it is the one asked for,

    p(d|q) = exp(s(q,d)) / sum over all documents searched of exp(s)

Where a document has several of the views searched, the one speaks for it in which it is ahead of
the average document by most; several views of a query have the mean of their logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.kernels.translation import add_called
from coview.metrics.retrieval import unit_rows
from coview.retrieval.translation import damped, term_shares

KINDS = ("names", "translation", "topics", "map")
NOTHING = 1e-9  # evidence, in nats a term: rounding, which must not be blown up to length 1
Counts = Mapping[str, sp.csr_array]  # by view, with the columns of the model
ViewPair = tuple[str, str]  # the view that asks, and the one that answers


@dataclass(frozen=True)
class ViewTerms:
    """What is known about the terms of a view.

    Attributes
    ----------
    shares : ndarray of shape (terms,)
        p(w) of damped counts; 0 for terms that do not occur.
    rarity : ndarray of shape (terms,)
        log of the documents over the documents that have the term.
    directions : ndarray of float16 of shape (terms, dimensions)
        Singular vectors of tf-idf; without dimensions where no map needs them.
    center : ndarray of shape (dimensions,)
        Mean of the projected documents.
    """

    shares: np.ndarray
    rarity: np.ndarray
    directions: np.ndarray
    center: np.ndarray

    def weighted(self, counts: sp.csr_array) -> sp.csr_array:
        """Return tf-idf, rows of length 1."""
        rows = damped(counts)
        rows.data *= self.rarity[rows.indices]
        lengths = np.sqrt(np.asarray((rows * rows).sum(axis=1)))
        rows.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(rows.indptr))
        return rows

    def projected(self, counts: sp.csr_array) -> np.ndarray:
        """Return documents in the space of the directions, (documents, dimensions)."""
        return self.weighted(counts) @ self.directions.astype(np.float64)


@dataclass(frozen=True)
class PairEvidence:
    """How one view asks another.

    Attributes
    ----------
    weights : ndarray of shape (4,)
        How much each of KINDS counts.
    names : ndarray of int of shape (2, terms)
        Columns of the terms that have the same name and meaning in both views.
    mapping : ndarray of shape (dimensions, dimensions)
        From the space of the view that asks to that of the view that answers.
    center : ndarray of shape (dimensions,)
        Mean of the mapped training documents.
    held_back : int
        Documents that were held back to learn the weights; 0 where they are the usual ones.
    first, ten : float
        Shares of these whose other view was the first answer, and among the first ten.
    """

    weights: np.ndarray
    names: np.ndarray
    mapping: np.ndarray
    center: np.ndarray
    held_back: int = 0
    first: float = 0.0
    ten: float = 0.0


@dataclass(frozen=True)
class SearchEvidence:
    """What a search needs: the terms of the documents, and what they call for in other views.

    Attributes
    ----------
    views : dict of ViewTerms
    tables : dict of csr_array
        For each pair of views with documents in common, p(w'|w): rows are terms of the first.
    term_docs : dict of ndarray of int
        How many documents with both views have each term of the first, by pair.
    pairs : dict of PairEvidence
        By the view that asks and the view that answers.
    counts : dict of csr_array
        The training documents; empty where they are not kept.
    titles : ndarray of str, or None
    """

    views: dict[str, ViewTerms]
    tables: dict[ViewPair, sp.csr_array]
    term_docs: dict[ViewPair, np.ndarray]
    pairs: dict[ViewPair, PairEvidence]
    counts: dict[str, sp.csr_array] = field(default_factory=dict)
    titles: np.ndarray | None = None

    def without_documents(self) -> SearchEvidence:
        """Return a copy without counts and titles."""
        return replace(self, counts={}, titles=None)

    @property
    def nbytes(self) -> int:
        """The size of the arrays, in bytes."""
        sparse = [*self.tables.values(), *self.counts.values()]
        arrays = [a for m in sparse for a in (m.data, m.indices, m.indptr)]
        arrays += [a for v in self.views.values() for a in (v.shares, v.rarity, v.directions)]
        return int(sum(a.nbytes for a in arrays))


# -- topics ----------------------------------------------------------------------------------------


class TopicGains:
    """What each term says about the topics of a model, view by view.

    Parameters
    ----------
    model : fitted model
    topics : dict of ndarray of shape (topics, terms), optional
        p(w|z) to take instead of those of the model.
    """

    def __init__(self, model: Any, topics: Mapping[str, np.ndarray] | None = None):
        self.model = model
        self._topics = model.components_ if topics is None else topics
        self._gains: dict[str, np.ndarray] = {}

    def of(self, view: str) -> np.ndarray:
        """Return log((p(w|z) + p(w)) / 2 p(w)) of a view, (terms, topics); 0 for unseen terms."""
        if view not in self._gains:
            p_w_z = _shares(self._topics[view])
            p_w = _shares(self.model.term_counts_[view][None])
            ratio = np.divide(p_w_z + p_w, 2 * p_w, out=np.ones_like(p_w_z), where=p_w > 0)
            self._gains[view] = np.ascontiguousarray(np.log(ratio).T)
        return self._gains[view]

    def rows(self, view: str, shares: sp.csr_array) -> np.ndarray:
        """Return what documents say about the topics, rows of length 1, from f(w|d)."""
        return _centered(shares @ self.of(view))

    def of_mixtures(self, view: str, mixtures: np.ndarray) -> np.ndarray:
        """Return what documents of these mixtures can be expected to say about the topics."""
        expected = _shares(self._topics[view]) @ self.of(view)
        return _centered(mixtures.astype(np.float64) @ expected)


def _centered(rows: np.ndarray) -> np.ndarray:
    rows = rows - rows.mean(axis=1, keepdims=True)
    rows[np.abs(rows) < NOTHING] = 0.0
    return unit_rows(rows)


def _shares(rows: np.ndarray) -> np.ndarray:
    """Return rows that sum to one; in some models the topics of one view alone do not."""
    rows = rows.astype(np.float64)
    sums = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)


# -- documents that are searched -------------------------------------------------------------------


@dataclass(frozen=True)
class SearchedView:
    """One view of the documents that are searched.

    Attributes
    ----------
    by_term : csc_array of shape (documents, terms)
        f(w|d).
    topics : ndarray of float32 of shape (documents, topics)
        What their terms say about the topics, rows of length 1.
    mapped : ndarray of float32 of shape (documents, dimensions)
        Their place in the space of the map, rows of length 1.
    has : ndarray of bool of shape (documents,)
        Whether a document has a known term.
    """

    by_term: sp.csc_array
    topics: np.ndarray
    mapped: np.ndarray
    has: np.ndarray

    @classmethod
    def of(
        cls, view: str, counts: sp.csr_array, terms: ViewTerms, gains: TopicGains
    ) -> SearchedView:
        """Prepare documents, from their counts with the columns of the model."""
        shares = term_shares(_known(counts, terms))
        by_term = sp.csc_array(shares, dtype=np.float32)
        by_term.sort_indices()
        mapped = unit_rows(terms.projected(counts) - terms.center)
        return cls(
            by_term,
            gains.rows(view, shares).astype(np.float32),
            mapped.astype(np.float32),
            np.diff(shares.indptr) > 0,
        )

    def __len__(self) -> int:
        return len(self.has)


def _known(counts: sp.csr_array, terms: ViewTerms) -> sp.csr_array:
    """Return counts without terms that never occurred in training."""
    kept = terms.shares[counts.indices] > 0
    if kept.all():
        return counts
    indptr = np.concatenate([[0], np.cumsum(kept)])[counts.indptr]
    return sp.csr_array((counts.data[kept], counts.indices[kept], indptr), shape=counts.shape)


# -- queries ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """One view of a query.

    Attributes
    ----------
    view : str
    terms : ndarray of int
        The columns of its known terms.
    weights : ndarray
        sqrt(n) f(w|q) of these.
    topics : ndarray of shape (topics,)
    place : ndarray of shape (dimensions,)
        In the space of its own view.
    """

    view: str
    terms: np.ndarray
    weights: np.ndarray
    topics: np.ndarray
    place: np.ndarray


class Comparison:
    """Compare queries with documents by the evidence for one model."""

    def __init__(self, model: Any, evidence: SearchEvidence, gains: TopicGains | None = None):
        self.model = model
        self.evidence = evidence
        self.gains = gains or TopicGains(model)
        self._columns: dict[tuple[str, str, str], sp.csc_array] = {}

    def searched(self, view: str, counts: sp.csr_array) -> SearchedView:
        """Prepare the documents that are searched in a view."""
        return SearchedView.of(view, counts, self.evidence.views[view], self.gains)

    def asked(self, view: str, counts: sp.csr_array) -> list[Asked | None]:
        """Prepare one view of queries (queries, terms); None for one without a known term."""
        terms = self.evidence.views[view]
        known = _known(sp.csr_array(counts), terms)
        shares = term_shares(known)
        topics, places = self.gains.rows(view, shares), terms.projected(known)
        made: list[Asked | None] = []
        for q, (begin, end) in enumerate(pairwise(shares.indptr.tolist())):
            part = slice(begin, end)
            weights = np.sqrt(end - begin) * shares.data[part]
            one = Asked(view, shares.indices[part], weights, topics[q], places[q])
            made.append(one if end > begin else None)
        return made

    def parts(self, asked: Asked, answer: str, searched: SearchedView) -> np.ndarray:
        """Return the evidence of each kind about each document, (kinds, documents)."""
        pair = self.evidence.pairs[asked.view, answer]
        found = np.zeros((len(KINDS), len(searched)))
        for k, kind in enumerate(KINDS[:2]):
            if pair.weights[k] > 0:
                self._add(asked, searched, self.calls(kind, asked.view, answer), found[k])
        found[2] = searched.topics @ asked.topics.astype(np.float32)
        if pair.weights[3] > 0:
            place = unit_rows((asked.place @ pair.mapping - pair.center)[None])[0]
            found[3] = searched.mapped @ place.astype(np.float32)
        return found

    def calls(self, kind: str, view: str, answer: str) -> sp.csc_array:
        """Return t(w|w') of terms w' of the answers, by columns of query terms w.

        Of the kind "names", 1 for terms of the same name.
        """
        if (kind, view, answer) not in self._columns:
            shape = tuple(len(self.evidence.views[v].shares) for v in (answer, view))
            if kind == "translation":
                made = self.evidence.tables.get((answer, view), sp.csr_array(shape))
            elif view == answer:
                made = sp.eye_array(shape[0])
            else:
                own, other = self.evidence.pairs[view, answer].names
                made = sp.coo_array((np.ones(len(own)), (other, own)), shape=shape)
            columns = sp.csc_array(made, dtype=np.float64)
            columns.sort_indices()
            self._columns[kind, view, answer] = columns
        return self._columns[kind, view, answer]

    def _add(
        self, asked: Asked, searched: SearchedView, calls: sp.csc_array, out: np.ndarray
    ) -> None:
        p_w = self.evidence.views[asked.view].shares[asked.terms]
        by_term = searched.by_term
        add_called(
            *(asked.terms, asked.weights, p_w),
            (calls.indptr, calls.indices, calls.data),
            *((by_term.indptr, by_term.indices, by_term.data), out),
        )

    def log_probabilities(
        self, query: list[Asked], searched: Mapping[str, SearchedView]
    ) -> np.ndarray:
        """Return log p(d|q) of each document, -inf where it cannot be an answer."""
        total = np.zeros(len(next(iter(searched.values()))))
        for asked in query:
            best = np.full(len(total), -np.inf)
            for answer, documents in searched.items():
                weights = self.evidence.pairs[asked.view, answer].weights
                scores = weights @ self.parts(asked, answer, documents)
                # as a ratio to a document drawn at random, so that views which few have compare
                ratio = log_softmax(scores, documents.has) + np.log(max(documents.has.sum(), 1))
                np.maximum(best, ratio, out=best)
            total += best
        return log_softmax(total / len(query), total > -np.inf)


def log_softmax(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return log( exp(s) / sum exp(s) ) over the documents that can be answers, else -inf."""
    found = np.where(allowed, scores, -np.inf)
    if not allowed.any():
        return found
    found -= found.max()
    return found - np.log(np.exp(found).sum())
