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
from coview.em.starts import concatenated_tfidf
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
            points = concatenated_tfidf([matrix])
            made.append(ViewFeatures(present, _shares(matrix), points, _excess(matrix)))
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
    seed: int,
) -> np.ndarray:
    """Return one point for each document, of length one, from some columns of each view.

    Each view is reduced by a truncated SVD with rows of length one, and counts by its weight. Where
    a document lacks a view, its place is predicted from the views it has: at the origin, documents
    would be told apart by what they lack.
    """
    from sklearn.utils.extmath import randomized_svd

    found, masks, scales = [], [], []
    for part, has, weight in zip(parts, present, weights, strict=True):
        rows = np.flatnonzero(has)
        rank = min(n_dims, part.shape[1], len(rows))
        if not rank:
            continue
        left, values, _ = randomized_svd(part[rows], rank, n_iter=4, random_state=seed)
        reduced = np.zeros((len(has), rank))
        reduced[rows] = unit_rows(left * values)
        found.append(reduced)
        masks.append(has)
        scales.append(weight)
    if not found:
        return np.zeros((len(present[0]), 0))
    filled = _fill_absent(found, np.stack(masks, axis=1))
    return unit_rows(np.hstack([w * rows for w, rows in zip(scales, filled, strict=True)]))


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


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Return rows of length one; rows of zeros (up to rounding) stay."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 1e-9)


def deal_halves(widths: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
    """Deal the columns of each view into two halves, 0 and 1, of equal size up to one.

    Odd columns go to either half in turn, so that several views of one feature are in both.

    >>> [sorted(half.tolist()) for half in deal_halves([4, 1, 1], np.random.default_rng(0))]
    [[0, 0, 1, 1], [0], [1]]
    """
    dealt, extra = [], 0
    for width in widths:
        dealt.append(rng.permutation((np.arange(width) + extra) % 2))
        extra += width % 2
    return dealt
