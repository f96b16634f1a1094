"""From `Views` to what the engine works on: scaled matrices in one precision, weights, pins."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.data.blocks import Block, make_blocks
from coview.data.scaling import apply_scaling
from coview.data.validate import check_memory
from coview.data.views import Views
from coview.params import check_choice, check_real


@dataclass(frozen=True)
class Prepared:
    """The views a model works on, ready for the kernels."""

    names: tuple[str, ...]
    matrices: tuple[sp.csr_array, ...]  # scaled, in the precision of the model
    present: np.ndarray  # (documents, views)
    weights: tuple[float, ...]
    labels: np.ndarray | None = None  # (documents,) the topics of pinned documents, -1 elsewhere
    blocks: tuple[Block, ...] = ()
    coupling: Any = None  # what a model's penalty knows of the documents: graphs, pairs

    @property
    def n_docs(self) -> int:
        return self.matrices[0].shape[0]

    @property
    def dtype(self) -> np.dtype:
        return self.matrices[0].dtype

    @property
    def pinned(self) -> np.ndarray | None:
        return None if self.labels is None else self.labels >= 0

    @property
    def empty(self) -> np.ndarray:
        """Documents without a single count, (documents,) bool."""
        return sum(np.diff(m.indptr) for m in self.matrices) == 0

    @cached_property
    def mass(self) -> np.ndarray:
        """Weighted tokens of each document, over all views."""
        mass = np.zeros(self.n_docs)
        for weight, matrix in zip(self.weights, self.matrices, strict=True):
            mass += weight * np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
        return mass

    def cut(self, columns: bool) -> "Prepared":
        """With the blocks; `columns` when the emissions are to be updated."""
        return replace(self, blocks=tuple(make_blocks(self.matrices, columns=columns)))


def prepare(views: Views, scaling: Mapping, dtype) -> Prepared:
    """Scale the views as learned in fit, and cast them; every view with weight 1."""
    matrices = []
    for name, matrix in views.matrices.items():
        scaled = apply_scaling(matrix, *scaling[name]) if name in scaling else matrix
        matrices.append(scaled.astype(dtype, copy=False))
    return Prepared(views.names, tuple(matrices), views.present, (1.0,) * views.n_views)


def view_weights(weights, data: Prepared) -> dict[str, float]:
    """The weight of each view from "balanced", numbers in the order of the views, or a dict."""
    if isinstance(weights, str):
        check_choice("view_weights", weights, ["balanced"])
        return dict(zip(data.names, _balanced(data), strict=True))
    if not isinstance(weights, Mapping):
        numbers = np.atleast_1d(weights).tolist()
        if len(numbers) != len(data.names):
            raise ValueError(
                f"view_weights has {len(numbers)} numbers for {len(data.names)} views "
                f"({', '.join(data.names)}); give one for each view, a dict, or 'balanced'."
            )
        weights = dict(zip(data.names, numbers, strict=True))
    if set(weights) != set(data.names):
        raise ValueError(
            f"view_weights names the views {sorted(weights)}; the data have {sorted(data.names)}."
        )
    checked = {n: check_real(f"view_weights[{n!r}]", weights[n]) for n in data.names}
    if not any(checked.values()):
        raise ValueError("All view_weights are 0: give at least one view a positive weight.")
    return checked


def _balanced(data):
    """Equal say for each view on a document that has it, and as many weighted tokens as tokens."""
    n_present = np.maximum(data.present.sum(axis=0), 1)
    totals = np.array([m.sum(dtype=np.float64) for m in data.matrices])
    usual, means = totals.sum() / n_present.sum(), totals / n_present
    return [float(usual / mean) if mean > 0 else 1.0 for mean in means]


def fit_bytes(matrices, n_topics: int, n_slots: int, itemsize: int) -> int:
    """Memory that a fit takes beside the views themselves.

    Non-zeros in column order and their ratios, old and new mixtures, old and new topics and their
    gradient in double precision.
    """
    from coview.em.simplex import padded

    nnz = sum(m.nnz for m in matrices)
    terms = sum(m.shape[1] for m in matrices)
    width = padded(n_topics)
    entries = nnz * (4 + 2 + itemsize)
    mixtures = 2 * n_slots * matrices[0].shape[0] * width * itemsize
    topics = terms * width * (2 * itemsize + 8)
    return entries + mixtures + topics


def check_fit_memory(matrices, n_topics: int, n_slots: int, itemsize: int) -> None:
    """Refuse a fit that cannot be held, before anything large is allocated."""
    n_docs, terms = matrices[0].shape[0], sum(m.shape[1] for m in matrices)
    check_memory(
        fit_bytes(matrices, n_topics, n_slots, itemsize),
        f"fitting {n_topics:,} topics to {n_docs:,} documents and {terms:,} terms",
    )
