"""Views as features: in what the halves of features and of documents are compared.

Two kinds for each view. `linear` features have an expectation that is linear in the mixture of a
document, so that the rank of their covariances tells the number of topics: shares n(d,w) / n(d)
over the square root of p(w), the weighting of correspondence analysis (a little is added to p(w),
or words that occur once would have all the weight); measurements with variance one. `points` are
for clustering: square roots weighted by tf-idf, rows of length one; measurements with variance one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.prepared import prepare
from coview.em.scaling import learn_scaling
from coview.em.tfidf import tfidf
from coview.ensemble.features import embed, fuse, unit_rows
from coview.ensemble.reliability import deal_columns
from coview.views.container import Views

Matrix = Any  # dense or sparse, (documents, features)


@dataclass(frozen=True)
class ViewFeatures:
    """One view: which documents have it, and its features; rows of the others are zeros.

    Attributes
    ----------
    present : ndarray of bool of shape (documents,)
    linear, points : matrix of shape (documents, features)
    excess : ndarray of shape (documents,)
        A document's shares sum to one, so that a token in one half is missing in the other. The
        product of two shares is unbiased for two different tokens, times n / (n - 1) for n tokens:
        this is what is above 1. 0 for measurements.
    """

    present: np.ndarray
    linear: Matrix
    points: Matrix
    excess: np.ndarray

    @property
    def width(self) -> int:
        """The number of features."""
        return self.points.shape[1]

    def at(self, rows: np.ndarray) -> ViewFeatures:
        """Return some documents."""
        return ViewFeatures(
            self.present[rows], self.linear[rows], self.points[rows], self.excess[rows]
        )


def view_features(views: Views) -> list[ViewFeatures]:
    """Return the features of each view."""
    scaling = learn_scaling(views.matrices, views.present, "auto")
    data = prepare(views, scaling, np.float64)
    made = []
    for name, matrix, present in zip(data.names, data.matrices, data.present.T, strict=True):
        if name in scaling:
            rows = _standardized(matrix.toarray(), present)
            made.append(ViewFeatures(present, rows, rows, np.zeros(len(rows))))
        else:
            made.append(ViewFeatures(present, _shares(matrix), tfidf(matrix), _excess(matrix)))
    return made


def _excess(counts: sp.csr_array) -> np.ndarray:
    """Return n / (n - 1) - 1 for documents of n tokens, 0 for weights that are no counts."""
    tokens = np.asarray(counts.sum(axis=1)).ravel()
    several = (tokens > 1) & bool((counts.data == np.rint(counts.data)).all())
    return np.divide(1, tokens - 1, out=np.zeros_like(tokens), where=several)


def _standardized(rows: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return measurements with mean 0 and variance 1; constant ones are 0."""
    known = rows[present]
    spread = known.std(axis=0)
    made = (rows - known.mean(axis=0)) / np.where(spread > 0, spread, np.inf)
    made[~present] = 0
    return made


def _shares(counts: sp.csr_array) -> sp.csr_array:
    """Return n(d,w) / n(d) over the square root of p(w), p(w) raised by its mean."""
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    terms = np.asarray(counts.sum(axis=0)).ravel()
    p_w = terms / max(terms.sum(), np.finfo(float).tiny)
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    weights = 1 / np.sqrt(p_w + 1 / len(p_w))
    return sp.csr_array(sp.diags_array(inverse) @ counts @ sp.diags_array(weights))


def embedding(
    parts: Sequence[Matrix],
    present: Sequence[np.ndarray],
    weights: Sequence[float],
    n_dims: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return one point for each document, of length one, from some columns of each view.

    Views are embedded and fused as in the ensemble, but where a document lacks a view, its place is
    predicted from the views it has, not the mean: all numbers of clusters are compared here, and
    documents between the clusters would blur them.
    """
    found = [embed(part, has, n_dims, rng) for part, has in zip(parts, present, strict=True)]
    return fuse(_fill_absent(found, np.stack(present, axis=1)), weights)


def _fill_absent(views: Sequence[np.ndarray], present: np.ndarray) -> list[np.ndarray]:
    """Predict the points of absent views from those present, by ridge regression."""
    filled = [rows.copy() for rows in views]
    for pattern in np.unique(present[~present.all(axis=1)], axis=0):
        rows = np.flatnonzero((present == pattern).all(axis=1))
        known, absent = np.flatnonzero(pattern).tolist(), np.flatnonzero(~pattern).tolist()
        for v in absent if known else ():
            both = np.flatnonzero(present[:, [*known, v]].all(axis=1))
            inputs = np.hstack([views[u] for u in known])
            slopes = _ridge(inputs[both], views[v][both])
            filled[v][rows] = unit_rows(inputs[rows] @ slopes)
    return filled


def _ridge(inputs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Return the coefficients of a ridge regression."""
    squares = inputs.T @ inputs
    penalty = max(0.5 * np.trace(squares) / len(squares), 1e-9)
    return np.linalg.solve(squares + penalty * np.eye(len(squares)), inputs.T @ outputs)


def deal_halves(widths: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
    """Deal the columns of each view into two halves, 0 and 1, of equal size up to one.

    A view of one column goes to either half in turn: in both, it would agree with itself.

    >>> [sorted(half.tolist()) for half in deal_halves([4, 1, 1], np.random.default_rng(0))]
    [[0, 0, 1, 1], [0], [1]]
    """
    dealt, turn = [], 0
    for width in widths:
        half = np.zeros(width, int)
        half[deal_columns(width, rng)[1]] = 1
        if width == 1:
            half[:], turn = turn, 1 - turn
        dealt.append(half)
    return dealt
