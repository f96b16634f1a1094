"""The few things all references share: safe division, rows of probabilities, masks."""

import numpy as np


def safe_divide(numerator, denominator):
    """numerator / denominator with x/0 = 0 (used only where x is then 0 as well)."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    return np.divide(numerator, denominator, out=np.zeros(numerator.shape), where=denominator != 0)


def normalize_rows(counts, old):
    """Each row of counts divided by its sum; a row without mass is the old row."""
    counts = np.asarray(counts, dtype=float)
    new = np.array(old, dtype=float)
    for i in range(len(counts)):
        if counts[i].sum() > 0:
            new[i] = counts[i] / counts[i].sum()
    return new


def keep_pinned(new, old, pinned):
    """The new rows, except that pinned rows are the old ones."""
    if pinned is None:
        return new
    return np.where(np.asarray(pinned, dtype=bool)[:, None], old, new)


def count_log(counts, p):
    """sum counts * log p with 0 log 0 = 0; minus infinity if a counted cell has p = 0."""
    counts, p = np.broadcast_arrays(np.asarray(counts, dtype=float), np.asarray(p, dtype=float))
    seen = counts > 0
    if np.any(p[seen] <= 0):
        return -np.inf
    return float(np.sum(counts[seen] * np.log(p[seen])))


def all_present(present, n_docs, n_views):
    """The (D, V) mask; everything present when it is None."""
    if present is None:
        return np.ones((n_docs, n_views), dtype=bool)
    return np.asarray(present, dtype=bool)


def view_weights(weights, n_views):
    """The V weights; all one when None."""
    return np.ones(n_views) if weights is None else np.asarray(weights, dtype=float)


def rows_of_present(X, present_v):
    """X with the rows of documents that lack the view set to zero: they contribute nothing."""
    return np.where(np.asarray(present_v, dtype=bool)[:, None], np.asarray(X, dtype=float), 0.0)
