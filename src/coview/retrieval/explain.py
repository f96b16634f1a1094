"""Why an answer was found: the topics that make its score, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from coview.report import top_terms
from coview.retrieval.query import QueryBatch, words_for_topic
from coview.retrieval.results import Reason
from coview.retrieval.similarity import Prepared, contributions
from coview.retrieval.spaces import Key, Space
from coview.views.container import Views

REASONS = 3
TERMS = 8
WORDS = 6


class Explainer:
    """Reasons for the answers of one index; what it needs of the model is made once."""

    def __init__(self, model: Any, space: Space, in_view: Key):
        self.model = model
        self.space = space
        self.in_view = in_view
        self.terms = top_terms(model, TERMS)

    def reasons(
        self,
        asked: QueryBatch,
        prepared: Prepared,
        vector: np.ndarray,
        answer: tuple[Views, int] | None,
    ) -> list[Reason]:
        """The largest contributions to the score of one answer, given its vector.

        answer : its views and row there, if its counts are at hand.
        """
        parts = contributions(prepared, vector)
        score = parts.sum()
        # with "correlation" a topic that both have little of counts, too, but is no reason
        shared = (parts > 0) & (prepared.careful[0] > 0)
        order = [d for d in np.argsort(-parts, kind="stable") if shared[d]][:REASONS]
        found = self._with_mixture(answer, vector)
        return [
            self._reason(
                int(d), float(parts[d]), float(parts[d] / score) if score else 0.0, asked, found
            )
            for d in order
        ]

    def _with_mixture(self, answer, vector):
        """The answer's counts and mixture."""
        if answer is None:
            return None
        views, row = answer
        if self.space.name == "topic":
            return views, row, vector
        return views, row, np.asarray(self.model.transform(views[[row]]))[0]

    def _reason(self, dimension, contribution, share, asked, found):
        semantic = self.space.name == "semantic"
        label = self.space.classes[dimension] if semantic else None
        topic = self._topic_of_class(dimension, asked) if semantic else dimension
        if topic is None:
            return Reason(None, contribution, share, label=label)
        own = {}
        if asked.views is not None and asked.mixtures is not None:
            own = words_for_topic(self.model, asked.views, 0, asked.mixtures[0], topic, WORDS)
        theirs = {}
        if found is not None:
            views, row, mixture = found
            theirs = words_for_topic(self.model, views, row, mixture, topic, WORDS)
        terms = {view: self.terms[view][topic] for view in self._views(asked)}
        return Reason(topic, contribution, share, terms, own, theirs, label)

    def _views(self, asked):
        """The views of the query and of the answers; all, where they are not known."""
        if asked.views is not None:
            names = [*asked.views.names, self.in_view]
        else:
            names = [asked.view, self.in_view]
        known = [n for n in self.model.view_names_ if n in names]
        return known if None not in names else list(self.model.view_names_)

    def _topic_of_class(self, c, asked):
        """The topic of the query that speaks most for a class, against the others."""
        if asked.mixtures is None:
            return None
        coef = self.space.classifiers[asked.view].coef
        return int(np.argmax(asked.mixtures[0] * (coef[c] - coef.mean(axis=0))))
