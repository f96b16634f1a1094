"""The metric "topics+words": mixtures, what terms say about topics, and the terms themselves.

`evidence` has the part of the topics, which is a cosine of vectors and so is found as any other
metric is; `words` the part of the words, which is added to the scores of candidates.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coview.retrieval.evidence import TopicEvidence, expected_rows, side_by_side
from coview.retrieval.exact import ScoresAndRows
from coview.retrieval.gallery import Gallery
from coview.retrieval.query import QueryBatch
from coview.retrieval.similarity import PreparedQueries
from coview.retrieval.words import WordIndex, best_with_words, index_words
from coview.views.container import Views


@dataclass(frozen=True)
class Combined:
    """What the documents of one gallery are compared by, beside their vectors.

    Attributes
    ----------
    words : WordIndex
        In the order of the gallery.
    expected : ndarray of shape (topics, topics)
        The evidence to expect of a document of each topic in the views searched.
    """

    words: WordIndex
    expected: np.ndarray
    _evidence: list[TopicEvidence] = field(default_factory=list, repr=False)  # of the model

    def _evidence_of(self, model: Any) -> TopicEvidence:
        """Return the evidence of a model, which is computed once for all queries."""
        if not self._evidence or self._evidence[0].model is not model:
            self._evidence[:] = [TopicEvidence(model)]
        return self._evidence[0]

    @classmethod
    def of(cls, model: Any, gallery: Gallery) -> Combined:
        """Index the words of a gallery, whose counts must be known."""
        counts = gallery.counts(model)
        return cls(index_words(model, counts), TopicEvidence(model).expected(list(counts)))

    def from_mixtures(self, mixtures: np.ndarray, view: str | None) -> QueryBatch:
        """Return queries of which only the mixtures are known: they have no words."""
        vectors = side_by_side(mixtures, expected_rows(self.expected, mixtures))
        return QueryBatch(vectors, view, mixtures)

    def from_views(
        self, model: Any, views: Views, mixtures: np.ndarray, view: str | None
    ) -> QueryBatch:
        """Return queries with their words."""
        counts = model.as_counts(views)
        vectors = side_by_side(mixtures, self._evidence_of(model).of(counts))
        return QueryBatch(vectors, view, mixtures, views, self.words.query_rows(model, counts))

    def from_row(self, gallery: Gallery, row: int, mixture: np.ndarray | None) -> QueryBatch:
        """Return a document that is searched as a query; `mixture` replaces its own."""
        vectors = gallery.vectors[[row]]
        if mixture is not None:
            vectors = side_by_side(mixture, vectors[:, mixture.shape[1] :])
        return QueryBatch(vectors, None, mixture, words=self.words.row_as_query(row))

    def best(
        self,
        batch: QueryBatch,
        prepared: PreparedQueries,
        gallery: Gallery,
        by_topics: ScoresAndRows,
    ) -> ScoresAndRows:
        """Return the best answers by topics and words, from as many by topics alone."""
        if batch.words is None:
            return by_topics
        scores, rows = by_topics
        for q in range(len(rows)):
            scores[q], rows[q] = best_with_words(
                self.words, batch.words[[q]], prepared[q : q + 1], gallery, rows[q], rows.shape[1]
            )
        return scores, rows


def with_evidence(model: Any, gallery: Gallery) -> Gallery:
    """Return a gallery of documents that can be answers, with their evidence in their vectors."""
    kept = gallery.in_order(gallery.rows)
    evidence = TopicEvidence(model).of(kept.counts(model))
    return replace(kept, vectors=side_by_side(kept.vectors, evidence))
