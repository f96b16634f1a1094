"""What is done to the matrices before the models see them, learned from the training documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.data.views import Views


class Preparation:
    """Steps for each view, in turn; `learn` from the training documents, then `apply` to any.

    >>> views = Views({"text": [[1, 3], [2, 0]]})
    >>> Preparation(["l1"]).learn(views).apply(views)["text"].toarray()
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """

    def __init__(self, steps: Sequence[str]):
        self._steps = steps
        self._learned: dict[str, list[Any]] = {}

    def learn(self, views: Views) -> Preparation:
        for name, matrix in views.matrices.items():
            learned = self._learned[name] = []
            for step in self._steps:
                learned.append(_LEARN.get(step, _nothing)(matrix))
                matrix = _APPLY[step](matrix, learned[-1])
        return self

    def apply(self, views: Views) -> Views:
        if not self._steps:
            return views
        return Views(
            {name: self._matrix(name, matrix) for name, matrix in views.matrices.items()},
            ids=views.ids,
            labels=views.labels,
            label_names=views.label_names,
            features={n: f for n, f in views.features.items() if f is not None} or None,
            present=views.present,
        )

    def _matrix(self, name, matrix):
        for step, learned in zip(self._steps, self._learned[name], strict=True):
            matrix = _APPLY[step](matrix, learned)
        return matrix


def _nothing(matrix):
    return None


def _idf(matrix):
    """Smoothed inverse document frequencies, as scikit-learn has them."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer(norm=None).fit(sp.csr_matrix(matrix))


def _largest(matrix):
    return matrix.max() or 1.0


def _unit_rows(norm):
    def apply(matrix, learned):
        from sklearn.preprocessing import normalize

        return sp.csr_array(normalize(sp.csr_matrix(matrix, dtype=np.float64), norm=norm))

    return apply


_LEARN = {"tfidf": _idf, "max": _largest}
_APPLY = {
    "l1": _unit_rows("l1"),
    "l2": _unit_rows("l2"),
    "max": lambda matrix, largest: matrix / largest,
    "tfidf": lambda matrix, idf: sp.csr_array(idf.transform(sp.csr_matrix(matrix))),
    "binary": lambda matrix, _: sp.csr_array(matrix > 0, dtype=np.float64),
    "sqrt": lambda matrix, _: matrix.sqrt(),
}
