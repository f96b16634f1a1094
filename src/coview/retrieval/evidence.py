"""What the terms of a document say about the topics one by one: finer than its mixture.

A mixture is what explains all terms of a document together. Often it is a single topic, the same
one for every document near a query, and then it cannot tell these apart. The evidence is how much
better each topic explains the document's terms, on average, than all documents together do:

    e(z|d) = sum_w n(d,w) log( (p(w|z) + p(w)) / 2 p(w) ) / sum_w n(d,w)

p(w) is the share of the term in training, and half of it is mixed into the topic, so that one term
that a topic lacks does not decide alone. The evidence of several views is the mean over them. It
is centered over the topics and brought to length 1; documents are compared by its cosine.

A document becomes one vector, the square roots of its mixture and its evidence side by side. The
cosine of two such vectors is the mean of "hellinger" and of the cosine of the evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.metrics.retrieval import unit_rows

NOTHING = 1e-9  # evidence, in nats a term
Counts = Mapping[str, sp.csr_array]  # by view, with the columns of the model


class TopicEvidence:
    """The evidence for the topics of one model.

    Parameters
    ----------
    model : fitted model
    """

    def __init__(self, model: Any):
        self.model = model
        self._gains: dict[str, np.ndarray] = {}

    def of(self, counts: Counts) -> np.ndarray:
        """Return the evidence of documents, (documents, topics); zeros for one without terms."""
        total: Any = 0.0
        for view, matrix in counts.items():
            sizes = matrix.sum(axis=1)[:, None]
            gains = matrix @ self.gains(view).T
            total = total + np.divide(gains, sizes, out=np.zeros_like(gains), where=sizes > 0)
        return _centered_rows(total)

    def expected(self, views: Sequence[str]) -> np.ndarray:
        """Return the evidence to expect of a document of each topic, (topics, topics).

        It stands in for the terms of a query of which only the mixture is known.
        """
        total = sum(_shares(self.model.components_[v]) @ self.gains(v).T for v in views)
        return np.asarray(total)

    def gains(self, view: str) -> np.ndarray:
        """Return log((p(w|z) + p(w)) / 2 p(w)) of a view, (topics, terms); 0 for unseen terms."""
        if view not in self._gains:
            p_w_z = _shares(self.model.components_[view])
            p_w = _shares(self.model.term_counts_[view][None])
            ratio = np.divide(p_w_z + p_w, 2 * p_w, out=np.ones_like(p_w_z), where=p_w > 0)
            self._gains[view] = np.log(ratio)
        return self._gains[view]


def expected_rows(expected: np.ndarray, mixtures: np.ndarray) -> np.ndarray:
    """Return the evidence to expect of mixtures, from `TopicEvidence.expected`."""
    return _centered_rows(mixtures @ expected)


def side_by_side(mixtures: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """Return one vector for each document: the roots of its mixture, and its evidence."""
    return np.hstack([np.sqrt(mixtures), evidence]).astype(np.float32)


def mixture_of(vector: np.ndarray) -> np.ndarray:
    """Return the mixture in a vector made by `side_by_side`."""
    return vector[: len(vector) // 2] ** 2


def _centered_rows(evidence: np.ndarray) -> np.ndarray:
    rows = evidence - evidence.mean(axis=1, keepdims=True)
    rows[np.abs(rows) < NOTHING] = 0.0  # rounding, which must not be blown up to length 1
    return unit_rows(rows)


def _shares(rows: np.ndarray) -> np.ndarray:
    """Return rows that sum to one; in some models the topics of one view alone do not."""
    rows = rows.astype(np.float64)
    sums = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
