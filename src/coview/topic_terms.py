"""What the topics of a fitted model are called, and their words: part of every model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted


def topic_columns(n_topics: int) -> list[str]:
    """Return the names of columns with the shares of topics, the same everywhere.

    >>> topic_columns(2)
    ['topic_0', 'topic_1']
    """
    return [f"topic_{z}" for z in range(n_topics)]


class TopTermsMixin:
    """The words of the topics of a model, or of the classes of a classifier."""

    def top_terms(
        self, n_terms: int = 10, *, relevance: float = 0.6, as_frame: bool = False
    ) -> Any:
        """Return the most relevant terms of each topic, by view.

        Parameters
        ----------
        n_terms : int, default=10
            Number of terms of each topic and view; fewer if the topic has fewer.
        relevance : float, default=0.6
            1 ranks terms by p(w|z), 0 by how specific they are to the topic: see
            :func:`coview.top_terms`.
        as_frame : bool, default=False
            Whether to return a pandas DataFrame.

        Returns
        -------
        dict of list of list of str, or DataFrame
            For each view and topic the names of the terms; their numbers if they have no names. A
            DataFrame has a row for each of them, with the columns ``topic`` (its number), ``name``
            (where topics have names), ``view``, ``rank`` (from 1), ``term`` and ``probability``.
        """
        from coview.report import terms_frame, top_terms

        check_is_fitted(self)
        made = terms_frame if as_frame else top_terms
        return made(self, n_terms, relevance=relevance)


class TopicsMixin(TopTermsMixin):
    """The words of the topics, and the names of what `transform` returns."""

    _n_features_out: int

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that `transform` returns: topic_0, topic_1, ...

        Parameters
        ----------
        input_features : ignored
        """
        check_is_fitted(self)
        return np.array(topic_columns(self._n_features_out), dtype=object)
