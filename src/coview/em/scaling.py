"""Scaling: dense measurements are brought to [0, 1]; counts and sparse weights stay as they are.

A topic model sees shares of a document's counts, so measurements must not be negative, and those in
different units need a common one. Which views are scaled depends on the values alone
(`views.density`). With low and span the smallest value and the range of a feature in training,

    views without negative values    (x - low) / span, to [0, 1]
    views with negative values       (x - low) / sqrt(span * largest span of the view)

The second is halfway between one range for every feature and one unit for the whole view: in
principal components the range says how much a feature tells, in z-scores all are alike, and in
features of different units none takes over. docs/design.md has the measurements.

New documents may be beyond the range of training: in views with negative values such values are cut
off at both ends, and counted; in others below only.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from coview.views.checks import DataWarning
from coview.views.container import Views
from coview.views.density import has_negatives, is_dense_real
from coview.views.matrix_checks import short_indices
from coview.wording import listing, quoted

Scaling = dict[str, tuple[np.ndarray, np.ndarray]]  # smallest value and unit of each feature

ROUNDING = 1e-6  # of a unit: new documents may be in another precision than those of the fit
OUTSIDE_SHARE = 0.05  # of the values; below it no warning: a few always are beyond the extremes


def learn_scaling(
    matrices: Mapping[str, sp.csr_array], present: np.ndarray, scaling: str | None
) -> Scaling:
    """Return the smallest value and the unit of each feature, for the views to be scaled.

    With scaling="auto" these are the dense real views with at least two documents, and those with
    negative values; None scales nothing. Documents that lack the view are left out.
    """
    if scaling is None:
        _check_not_negative(matrices)
        return {}
    learned = {}
    for v, (name, matrix) in enumerate(matrices.items()):
        rows = matrix[np.flatnonzero(present[:, v])] if not present[:, v].all() else matrix
        if has_negatives(rows):
            learned[name] = _learn_real(rows, name)
        elif rows.shape[0] > 1 and is_dense_real(rows):
            low = rows.min(axis=0).toarray().ravel()
            learned[name] = low, rows.max(axis=0).toarray().ravel() - low
    return learned


def _learn_real(rows: sp.csr_array, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest value and the unit of each feature of a view with negative values."""
    low = rows.min(axis=0).toarray().ravel().astype(np.float64)
    with np.errstate(over="ignore"):
        span = rows.max(axis=0).toarray().ravel() - low
    if not np.isfinite(span).all():
        column = int(np.argmin(np.isfinite(span)))
        raise ValueError(
            f"View {quoted(name)} has values from {low[column]:.3g} on in column {column}, "
            "counting from 0, whose range is too large for a number. Divide the view by a constant."
        )
    if not span.any():
        warnings.warn(
            f"All documents are alike in view {quoted(name)}; such a view teaches nothing.",
            DataWarning,
            stacklevel=6,
        )
    return low, np.sqrt(span) * np.sqrt(span.max())


def real_views(scaling: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> list[str]:
    """Return the names of the views that had negative values in training."""
    return [name for name, (low, _) in scaling.items() if low.min() < 0]


def scaled(
    name: str,
    matrix: sp.csr_array,
    present: np.ndarray,
    scaling: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> sp.csr_array:
    """Return the matrix of one view, scaled if its view is."""
    if name not in scaling:
        _check_not_negative({name: matrix})
        return matrix
    low, unit = scaling[name]
    if low.min() < 0:
        return _scaled_real(matrix, low, unit, np.flatnonzero(present))
    return _scaled_to_one(matrix, low, unit)


def _scaled_to_one(matrix: sp.csr_array, low: np.ndarray, span: np.ndarray) -> sp.csr_array:
    """Return (x - low) / span, feature by feature, not below 0; constant features become 0.

    Rows without any entry stay empty: they stand for documents that lack the view.
    """
    kept = np.flatnonzero(np.diff(matrix.indptr))
    dense = matrix[kept].toarray()
    dense -= low.astype(dense.dtype)
    np.divide(dense, span, out=dense, where=span > 0, casting="same_kind")
    dense[:, span <= 0] = 0
    np.maximum(dense, 0, out=dense)
    return _at_rows(dense, kept, matrix.shape[0])


def _scaled_real(
    matrix: sp.csr_array, low: np.ndarray, unit: np.ndarray, rows: np.ndarray
) -> sp.csr_array:
    """Return (x - low) / unit, feature by feature, from 0 to the largest value in training.

    Zeros are values here: a row without any entry is empty only if the document lacks the view.
    """
    dense = matrix[rows].toarray().astype(np.float64, copy=False)
    dense -= low
    np.divide(dense, unit, out=dense, where=unit > 0)
    np.clip(dense, 0, _highest(unit), out=dense)
    return _at_rows(dense.astype(matrix.dtype, copy=False), rows, matrix.shape[0])


def _highest(unit: np.ndarray) -> np.ndarray:
    """Return span / unit, the largest scaled value of each feature; 0 for constant features."""
    # unit = sqrt(span * largest span), so span / unit = unit / largest span, the largest unit
    return unit / max(unit.max(), np.finfo(float).tiny)


def _at_rows(dense: np.ndarray, rows: np.ndarray, n_docs: int) -> sp.csr_array:
    """Return a matrix of all documents with these rows, the others empty."""
    back = sp.csr_array(
        (np.ones(len(rows), dense.dtype), (rows, np.arange(len(rows)))),
        shape=(n_docs, len(rows)),
    )
    scattered = sp.csr_array(back @ sp.csr_array(dense))
    scattered.sort_indices()
    return short_indices(scattered)


def _check_not_negative(matrices: Mapping[str, sp.csr_array]) -> None:
    """Refuse negative values in views that are not scaled."""
    negative = [name for name, matrix in matrices.items() if has_negatives(matrix)]
    if negative:
        lowest = min(matrices[name].data.min() for name in negative)
        raise ValueError(
            f"Negative values in {listing(negative)} (down to {lowest:g}), which are not scaled, "
            "but counts and weights must be >= 0. Fit with scaling='auto', which brings the "
            "features of dense real views to [0, 1]; shift or scale them first (for example "
            "with sklearn.preprocessing.MinMaxScaler), or leave them out."
        )


# -- new documents beyond the range of training ----------------------------------------------------


def count_clipped(
    views: Views, scaling: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> dict[str, int]:
    """Return how many values are beyond the range of training, by view with negative values."""
    counts = {}
    for name in real_views(scaling):
        if name in views:
            rows = np.flatnonzero(views.present[:, views.names.index(name)])
            low, unit = scaling[name]
            above = views[name][rows].toarray() - low
            slack = ROUNDING * unit
            outside = (above < -slack) | (above > _highest(unit) * unit + slack)
            counts[name] = int(outside.sum())
    return counts


def warn_of_clipped(views: Views, counts: Mapping[str, int]) -> None:
    """Warn of views where many values are beyond the range of training."""
    for name, count in counts.items():
        column = views.names.index(name)
        total = views.present[:, column].sum() * views.widths[column]
        if count > OUTSIDE_SHARE * total:
            warnings.warn(
                f"View {quoted(name)}: {count / total:.1%} of the values are beyond the range of "
                "training and were cut off. Are they in the same units?",
                DataWarning,
                stacklevel=5,
            )


def describe_scaling(scaling: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, str]:
    """Return in words how each view that is scaled was scaled.

    >>> describe_scaling({"pca": (np.array([-2.5, -1]), np.array([4.0, 2]))})["pca"]
    'features from -2.5..1.5 to 0..1, narrower ones to the square root of their share of that'
    """
    found = {}
    for name, (low, unit) in scaling.items():
        found[name] = "each feature to 0..1"
        if low.min() < 0:
            widest = unit.argmax()
            around = f"{low[widest]:.3g}..{low[widest] + unit[widest]:.3g}"
            narrower = "narrower ones to the square root of their share of that"
            found[name] = f"features from {around} to 0..1, {narrower}"
    return found
