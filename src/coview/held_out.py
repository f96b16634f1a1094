"""Parts of the data that judge each other without labels: samples of documents, halves of columns.

Tokens are masked by `coview.scores.split_tokens`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from coview.em.penalties.base import Penalty
from coview.em.prepared import Prepared
from coview.ensemble.reliability import deal_columns
from coview.views.container import Views

LEAST_COLUMNS = 4  # of a view that is dealt into halves: one column alone says nothing


def sample_rows(
    n_docs: int, most: int, rng: np.random.Generator, first: np.ndarray | None = None
) -> np.ndarray:
    """Return at most `most` documents, in their order; up to half of them from those in `first`.

    >>> sample_rows(3, 10, np.random.default_rng(0))
    array([0, 1, 2])
    """
    if n_docs <= most:
        return np.arange(n_docs)
    order = rng.permutation(n_docs)
    if first is not None:
        wanted = order[first[order]][: most // 2]
        order = np.concatenate([wanted, order[~np.isin(order, wanted)]])
    return np.sort(order[:most])


def take_documents(data: Prepared, rows: np.ndarray) -> Prepared:
    """Return some documents, without what depends on all of them: penalty, blocks and seeds."""
    return replace(
        data,
        matrices=tuple(m[rows] for m in data.matrices),
        present=data.present[rows],
        labels=None if data.labels is None else data.labels[rows],
        ranges=(),
        blocks=(),
        penalty=Penalty(),
        seeds=None,
    )


def deal_views(data: Prepared, rng: np.random.Generator) -> tuple[Views, Views]:
    """Deal the columns of each view at random into two halves: the same documents, other terms.

    A view of fewer than four columns goes to both whole. A document has in both the views it has.
    """
    halves: tuple[dict[str, sp.csr_array], ...] = ({}, {})
    for name, matrix in zip(data.names, data.matrices, strict=True):
        n, every = matrix.shape[1], np.arange(matrix.shape[1])
        dealt = (every, every) if n < LEAST_COLUMNS else deal_columns(n, rng)
        for half, columns in zip(halves, dealt, strict=True):
            half[name] = sp.csr_array(matrix[:, columns])
    return Views(halves[0], present=data.present), Views(halves[1], present=data.present)


def deal_edges(graph: sp.csr_array, rng: np.random.Generator) -> tuple[sp.csr_array, sp.csr_array]:
    """Deal the edges of a symmetric graph at random into two graphs of the same documents."""
    upper = sp.coo_array(sp.triu(graph))
    mine = rng.random(upper.nnz) < 0.5
    return _graph_of(upper, mine), _graph_of(upper, ~mine)


def _graph_of(upper: sp.coo_array, kept: np.ndarray) -> sp.csr_array:
    edges = upper.data[kept], (upper.row[kept], upper.col[kept])
    half = sp.csr_array(edges, shape=upper.shape)
    return sp.csr_array(half + half.T - sp.diags_array(half.diagonal()))


def has_counts(views: Views) -> np.ndarray:
    """Return which documents have a count in some view."""
    return sum(np.diff(m.indptr) for m in views.matrices.values()) > 0


def label_agreement(one: np.ndarray, other: np.ndarray) -> float:
    """Return the adjusted mutual information of two clusterings: 0 by chance, 1 if equal.

    >>> label_agreement(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    from sklearn.metrics import adjusted_mutual_info_score

    return float(adjusted_mutual_info_score(one, other))
