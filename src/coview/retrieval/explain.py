"""Why an answer was found by its mixture: the topics (or classes) that make its score."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reporting import top_terms
from coview.retrieval.gallery import Gallery
from coview.retrieval.query import QueryBatch
from coview.retrieval.results import Reason
from coview.retrieval.similarity import PreparedQueries, contributions
from coview.retrieval.spaces import ComparisonSpace, ViewOrAll
from coview.views.container import Views
from coview.views.density import has_negatives

REASONS = 3  # for each answer
TERMS = 8  # of each topic and view
WORDS = 6  # of the query and of the answer, for each topic and view

WeightedWords = list[tuple[str, float]]


class Explainer:
    """Make the reasons for the answers of one index.

    Parameters
    ----------
    model : fitted model
    space : ComparisonSpace
    in_view : str or None
        The view that is searched.
    """

    def __init__(self, model: Any, space: ComparisonSpace, in_view: ViewOrAll):
        self.model = model
        self.space = space
        self.in_view = in_view
        self.terms = top_terms(model, TERMS)

    def reasons(
        self,
        query: QueryBatch,
        prepared: PreparedQueries,
        gallery: Gallery,
        row: int,
    ) -> list[Reason]:
        """Return the largest contributions to the score of one answer.

        Parameters
        ----------
        query : QueryBatch of one query
        prepared : PreparedQueries
            The same query as the kernels take it.
        gallery : Gallery
        row : int
            The row of the answer.
        """
        vector = gallery.vectors[row]
        parts, own = contributions(prepared, vector), prepared.exact[0]
        score = parts.sum()
        # a topic that both have little of may contribute, but is no reason
        shared = (parts > 0) & (own > 0)
        order = [d for d in np.argsort(-parts, kind="stable") if shared[d]][:REASONS]
        found = self._with_mixture(gallery, row, vector)
        shares = parts / score if score else np.zeros_like(parts)
        return [
            self._reason(int(d), float(parts[d]), float(shares[d]), query, found) for d in order
        ]

    def _with_mixture(
        self, gallery: Gallery, row: int, vector: np.ndarray
    ) -> tuple[Views, int, np.ndarray] | None:
        """Return the counts of the gallery, if they are known, the answer's row and mixture."""
        if gallery.views is None:
            return None
        views, number = gallery.views, int(gallery.position(row))
        if self.space.name == "topic":
            return views, number, vector
        return views, number, self.model.fold_in(views[[number]]).doc_topic[0]

    def _reason(
        self,
        dimension: int,
        contribution: float,
        share: float,
        query: QueryBatch,
        answer: tuple[Views, int, np.ndarray] | None,
    ) -> Reason:
        semantic = self.space.name == "semantic"
        label = self.space.classes[dimension] if semantic else None
        topic = self._topic_of_class(dimension, query) if semantic else dimension
        if topic is None:
            return Reason(None, contribution, share, label=label)
        query_words: dict[str, WeightedWords] = {}
        if query.views is not None and query.mixtures is not None:
            query_words = words_for_topic(self.model, query.views, 0, query.mixtures[0], topic)
        answer_words = {} if answer is None else words_for_topic(self.model, *answer, topic)
        terms = {view: self.terms[view][topic] for view in self._shown_views(query)}
        return Reason(topic, contribution, share, terms, query_words, answer_words, label)

    def _shown_views(self, query: QueryBatch) -> list[str]:
        """Return the views of the query and of the answers; all, where they are not known."""
        of_query = [query.view] if query.views is None else query.views.names
        names = [*of_query, self.in_view]
        known = [n for n in self.model.view_names_ if n in names]
        return known if None not in names else list(self.model.view_names_)

    def _topic_of_class(self, c: int, query: QueryBatch) -> int | None:
        """Return the topic of the query that most favors a class over the mean of all classes."""
        if query.mixtures is None:
            return None
        coef = self.space.classifiers[query.view].coef
        return int(np.argmax(query.mixtures[0] * (coef[c] - coef.mean(axis=0))))


def words_for_topic(
    model: Any, views: Views, row: int, p_z_d: np.ndarray, topic: int
) -> dict[str, WeightedWords]:
    """Return, by view, the terms of a document with the largest n(w) p(z|d,w) for a topic z.

    p(z|d,w) is proportional to p(z|d) p(w|z).

    Parameters
    ----------
    model : fitted model
    views : Views
        With the columns of the model.
    row : int
        Number of the document.
    p_z_d : ndarray of shape (topics,)
        Its mixture.
    topic : int
    """
    document = views[[row]]
    counts = dict(document.matrices)
    # negative measurements are no weights of words; the scaled ones are
    real = [name for name, matrix in counts.items() if has_negatives(matrix)]
    counts |= model.as_counts(document.select(*real)) if real else {}
    return {
        name: _view_words(matrix, p_z_d, model.components_[name], topic, model.feature_names_[name])
        for name, matrix in counts.items()
    }


def _view_words(
    counts: sp.csr_array,
    p_z_d: np.ndarray,
    p_w_z: np.ndarray,
    topic: int,
    names: np.ndarray | None,
) -> WeightedWords:
    terms = counts.indices
    joint = p_z_d[:, None].astype(np.float64) * p_w_z[:, terms]  # (topics, terms)
    total = joint.sum(axis=0)
    share = np.divide(joint[topic], total, out=np.zeros(len(terms)), where=total > 0)  # p(z|d,w)
    weights = counts.data * share
    order = [i for i in np.argsort(-weights, kind="stable")[:WORDS] if weights[i] > 0]
    return [(str(terms[i] if names is None else names[terms[i]]), float(weights[i])) for i in order]
