"""Damage to data: a view of noise, a shuffled view, a copy of a view, missing views."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from coview import Views

MISSING_SHARE = 0.3


def add_noise(views: Views, source: str, rng: np.random.Generator) -> Views:
    """Add a copy of a view whose columns are shuffled one by one.

    Each feature keeps its values; no feature says anything about another, or about any view.
    """
    columns = sp.csc_array(views[source], copy=True)
    columns.sum_duplicates()
    has = _rows_with(views, source)
    for start, stop in zip(columns.indptr, columns.indptr[1:], strict=False):
        columns.indices[start:stop] = rng.choice(has, stop - start, replace=False)
    columns.has_sorted_indices = False
    return _with_view(views, "noise", source, sp.csr_array(columns))


def add_shuffled(views: Views, source: str, rng: np.random.Generator) -> Views:
    """Add a copy of a view whose documents are shuffled: good in itself, but of other documents."""
    has = _rows_with(views, source)
    order = np.arange(views.n_docs)
    order[has] = rng.permutation(has)
    return _with_view(views, "shuffled", source, views[source][order])


def add_duplicate(views: Views, source: str, rng: np.random.Generator) -> Views:
    """Add a copy of a view."""
    return _with_view(views, "duplicate", source, views[source])


CHANGES: dict[str, Callable[[Views, str, np.random.Generator], Views]] = {
    "noise": add_noise,
    "shuffled": add_shuffled,
    "duplicate": add_duplicate,
}


def _rows_with(views: Views, name: str) -> np.ndarray:
    return np.flatnonzero(views.present[:, views.names.index(name)])


def _with_view(views: Views, name: str, source: str, matrix: sp.csr_array) -> Views:
    """Return the views and one more, which the same documents have as its source."""
    present = dict(zip(views.names, views.present.T, strict=True))
    return Views({**views.matrices, name: matrix}, present={**present, name: present[source]})


def remove_cells(views: Views, rng: np.random.Generator, share: float = MISSING_SHARE) -> Views:
    """Take views away from documents at random, this share of all; each document keeps one."""
    present = views.present.copy()
    order = rng.random(present.shape)
    kept = np.where(present, order, -1).argmax(axis=1)  # one of those that it has
    safe = np.zeros_like(present)
    safe[np.arange(len(kept)), kept] = True
    removable = np.flatnonzero((present & ~safe).ravel())
    n_removed = min(round(float(share * present.sum())), len(removable))
    present.ravel()[rng.choice(removable, n_removed, replace=False)] = False
    rows = {
        name: sp.csr_array(sp.diags_array(has.astype(views[name].dtype)) @ views[name])
        for name, has in zip(views.names, present.T, strict=True)
    }
    return Views(rows, present=present)
