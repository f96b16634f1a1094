"""The words themselves: documents that share terms with a query, by an inverted index.

A term weighs log(1 + n) log(1 / p(w)): p(w) is its share in training, so that rare ones count most.
The row of each view has length 1. Terms are compared within a view, and between two views whose
terms have the same names and, by the model, the same meaning.

With the query's comparable terms q, of length |q| <= 1, the words g of a document, and the score t
of its topics,

    score = (1 - WORDS |q|) t + WORDS q.g

so the words have the more votes, the more of the query can be compared. It is never above 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.metrics.retrieval import unit_rows
from coview.retrieval.evidence import Counts
from coview.retrieval.exact import ScoresAndRows
from coview.retrieval.gallery import Gallery
from coview.retrieval.similarity import PreparedQueries, rough_scores_at, scores_at

WORDS = 0.7  # weight of the words where all of a query can be compared; docs/search.md
ROUNDING = 1e-9  # of scores in double precision
SAME_MEANING = 0.5  # mean correlation of p(z|w) of terms of the same name in two views


@dataclass(frozen=True)
class WordIndex:
    """The weighted terms of the documents searched.

    Attributes
    ----------
    by_term : csc_array of shape (documents, terms of all views searched)
        In the order of the gallery.
    widths : dict of int
        The views searched and their numbers of terms, in the order of the columns.
    """

    by_term: sp.csc_array
    widths: dict[str, int]
    _shared: dict[tuple[str, str], np.ndarray] = field(default_factory=dict, repr=False)

    def begin(self, view: str) -> int:
        """Return the first column of a view."""
        views = list(self.widths)
        return sum(self.widths[v] for v in views[: views.index(view)])

    def query_rows(self, model: Any, counts: Counts) -> sp.csr_array:
        """Return the terms of queries as rows over the columns of this index.

        The lengths of the parts of a row, one for each view searched, sum to at most 1.
        """
        own = {view: weighted(model, view, matrix) for view, matrix in counts.items()}
        n_queries = next(iter(own.values())).shape[0]
        parts = [
            own[view] if view in own else self._from_others(model, own, view, (n_queries, width))
            for view, width in self.widths.items()
        ]
        return _of_length_one(parts)

    def _from_others(
        self, model: Any, own: Counts, view: str, shape: tuple[int, int]
    ) -> sp.csr_array:
        """Return the terms of queries in other views as those of the same name in this view."""
        total = sp.csr_array(shape)
        for other, rows in own.items():
            if (other, view) not in self._shared:
                self._shared[other, view] = shared_terms(model, other, view)
            from_columns, to_columns = self._shared[other, view]
            found = rows[:, from_columns].tocoo()
            placed = (found.data, (found.row, to_columns[found.col]))
            total = total + sp.csr_array(placed, shape=shape)
        return total / len(own)

    def row_as_query(self, row: int) -> sp.csr_array:
        """Return the terms of a document searched, as `query_rows` does."""
        whole = self.by_term[[row]].tocsr()
        begins = [self.begin(view) for view in self.widths]
        ends = [*begins[1:], whole.shape[1]]
        return _of_length_one([whole[:, a:b] for a, b in zip(begins, ends, strict=True)])

    def scores(self, query: sp.csr_array) -> np.ndarray:
        """Return the inner product of one query (1, terms) with each document."""
        return self.by_term[:, query.indices] @ query.data

    def shared_weights(self, query: sp.csr_array, row: int) -> list[tuple[str, int, float]]:
        """Return the terms that a query shares with a document: view, number, product."""
        products = (query * self.by_term[[row]].tocsr()).tocoo()
        begins = {view: self.begin(view) for view in self.widths}
        found = []
        for column, product in zip(products.col.tolist(), products.data.tolist(), strict=True):
            view = max((v for v in begins if begins[v] <= column), key=begins.__getitem__)
            found.append((view, column - begins[view], product))
        return sorted(found, key=lambda term: -term[2])


def index_words(model: Any, counts: Counts) -> WordIndex:
    """Return the index of documents (rows) in the order given."""
    parts = [weighted(model, view, matrix) for view, matrix in counts.items()]
    by_term = sp.hstack(parts, format="csc", dtype=np.float32)
    return WordIndex(sp.csc_array(by_term), {v: m.shape[1] for v, m in counts.items()})


def weighted(model: Any, view: str, counts: sp.csr_array) -> sp.csr_array:
    """Return rows of length 1: each count by its size and by how rare its term is."""
    rows = sp.csr_array(counts, dtype=np.float64, copy=True)
    rows.data = np.log1p(rows.data) * rarity(model, view)[rows.indices]
    lengths = _lengths(rows)
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(rows.indptr))
    rows.eliminate_zeros()
    return rows


def rarity(model: Any, view: str) -> np.ndarray:
    """Return log(1 / p(w)) of the terms of a view; 0 for those that never occurred in training."""
    totals = model.term_counts_[view].astype(np.float64)
    seen = totals > 0
    return np.log(np.divide(totals.sum(), totals, out=np.ones_like(totals), where=seen))


def shared_terms(model: Any, a: str, b: str) -> np.ndarray:
    """Return the columns of the terms that two views share, (2, terms); none if meanings differ.

    Columns called "0", "1", ... in two matrices have the same names by accident: the topics then do
    not agree on them.
    """
    none = np.empty((2, 0), dtype=np.int64)
    names = [model.feature_names_[view] for view in (a, b)]
    if names[0] is None or names[1] is None:
        return none
    in_a, in_b = np.intersect1d(names[0].astype(str), names[1].astype(str), return_indices=True)[1:]
    seen = (model.term_counts_[a][in_a] > 0) & (model.term_counts_[b][in_b] > 0)
    in_a, in_b = in_a[seen], in_b[seen]
    if not len(in_a):
        return none
    agreement = np.mean(np.sum(_meanings(model, a, in_a) * _meanings(model, b, in_b), axis=1))
    return np.array([in_a, in_b]) if agreement >= SAME_MEANING else none


def _meanings(model: Any, view: str, terms: np.ndarray) -> np.ndarray:
    """Return p(z|w) of terms less p(z), as rows of length 1, (terms, topics)."""
    p_z = model.doc_topic_.mean(axis=0, dtype=np.float64)
    joint = model.components_[view][:, terms].T * p_z
    sums = joint.sum(axis=1, keepdims=True)
    return unit_rows(
        np.divide(joint, sums, out=np.tile(p_z, (len(terms), 1)), where=sums > 0) - p_z
    )


def _lengths(rows: sp.csr_array) -> np.ndarray:
    return np.sqrt((rows * rows).sum(axis=1))


def _of_length_one(parts: list[sp.csr_array]) -> sp.csr_array:
    """Join the parts of rows; the lengths of the parts of a row must not sum to more than 1."""
    lengths = sum(_lengths(part) for part in parts)
    rows = sp.csr_array(sp.hstack(parts, format="csr"))
    rows.data = rows.data / np.repeat(np.maximum(lengths, 1.0), np.diff(rows.indptr))
    return rows


# -- scores of topics and words --------------------------------------------------------------------


def comparable_share(words: WordIndex, query: sp.csr_array) -> float:
    """Return |q|, the sum of the lengths of the parts of a query (1, terms)."""
    begins = np.array([words.begin(view) for view in words.widths])
    part = np.searchsorted(begins, query.indices, side="right") - 1
    squares = np.bincount(part, weights=query.data**2, minlength=len(begins))
    return min(float(np.sqrt(squares).sum()), 1.0)


def best_with_words(
    words: WordIndex,
    query: sp.csr_array,
    prepared: PreparedQueries,
    gallery: Gallery,
    by_topics: np.ndarray,
    top: int,
) -> ScoresAndRows:
    """Return scores and rows of the best documents by topics and words, for one query.

    Parameters
    ----------
    words : WordIndex
    query : csr_array of shape (1, terms)
    prepared : PreparedQueries of one query
    gallery : Gallery
    by_topics : ndarray of int64
        The best `top` rows by topics alone. What is not among them and shares no word with the
        query is no better than they are.
    top : int
    """
    weight = WORDS * comparable_share(words, query)
    shared = WORDS * words.scores(query)

    def scored(rows: np.ndarray) -> np.ndarray:
        by_topic = scores_at(prepared, gallery.vectors[rows])
        return np.minimum((1 - weight) * by_topic + shared[rows], 1.0)

    scores = scored(by_topics)
    hopeful = _hopeful(shared, 1 - weight, prepared, gallery.vectors, (scores, by_topics), top)
    rows = np.concatenate([by_topics, hopeful])
    scores = np.concatenate([scores, scored(hopeful)])
    order = np.lexsort((gallery.position(rows), -scores))[:top]
    return scores[order], rows[order]


def _hopeful(
    shared: np.ndarray,
    topics_weight: float,
    prepared: PreparedQueries,
    vectors: np.ndarray,
    known: ScoresAndRows,
    top: int,
) -> np.ndarray:
    """Return the rows beside the known ones that could be among the best, by rough scores."""
    scores, by_topics = known
    enough = np.sort(scores)[-top] if len(scores) >= top else -np.inf
    # topics can add no more than their weight
    rows = np.flatnonzero((shared > 0) & (shared + topics_weight >= enough - ROUNDING))
    rows = np.setdiff1d(rows, by_topics, assume_unique=True)
    rough = topics_weight * rough_scores_at(prepared, vectors[rows]) + shared[rows]
    together = np.concatenate([scores, rough])
    enough = -np.inf
    if len(together) >= top:
        enough = np.partition(together, len(together) - top)[len(together) - top]
    return rows[rough >= enough - 2 * prepared.rough_error - ROUNDING]
