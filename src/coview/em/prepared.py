"""Prepared: what the engine works on, made from `Views`: scaled matrices, weights, labels, blocks.

Matrices are scaled as `em.scaling` learned it. A block is a range of documents over all views, the
unit of work of every runner. Where the data are cut depends on the data alone, never on the number
of threads, and sums over documents go through the blocks in one order, so the same data give the
same bits for any number of threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.matrix_facts import MatrixFacts, column_sums
from coview.em.penalties.base import Penalty
from coview.em.precision import check_weighted, narrowed
from coview.em.prior import Prior
from coview.em.scaling import scaled
from coview.em.seeds import Seeds, ViewSeeds
from coview.em.simplex import padded
from coview.ensemble.consensus import Ensemble
from coview.ensemble.memory import consensus_bytes, kept_bytes, making_bytes
from coview.ensemble.reliability import ViewReliability
from coview.memory import check_memory
from coview.params import check_choice, check_factor, check_real, shown
from coview.views.blocks import cut_rows, group_blocks, row_ends
from coview.views.checks import DataWarning, check_mixtures, frozen
from coview.views.container import Views
from coview.views.density import is_sparse_counts
from coview.views.labels import check_topic_labels, label_array

ENSEMBLE_VIEW = "(ensemble)"  # the internal view in which documents have the clusters they are in

Guess = tuple[np.ndarray, float]  # mixtures (documents, topics), and the strength of the guess


@dataclass(frozen=True)
class Prepared:
    """The data of a fit, ready for the kernels."""

    names: tuple[str, ...]
    matrices: tuple[Any, ...]  # scaled, in the precision of the model; `MatrixFacts` if on disk
    present: np.ndarray  # (documents, views)
    weights: tuple[float, ...]
    labels: np.ndarray | None = None  # (documents,) the topics of pinned documents, -1 elsewhere
    ranges: tuple[tuple[int, int], ...] = ()  # where to cut, by the views as they were given
    blocks: tuple[Block, ...] = ()
    penalty: Penalty = field(default_factory=Penalty)  # made once a fit, where it couples documents
    prior: Prior = field(default_factory=Prior)
    seeds: Seeds | None = None  # pseudo-counts of the topics' words, by view
    ensemble: Ensemble | None = None  # clusterings of the documents, where they are needed
    strength: Any = None  # of the model's penalty, on the scale of its parameter
    sampled: np.ndarray | None = None  # documents that the ensemble is of; None: all

    @property
    def n_docs(self) -> int:
        """The number of documents."""
        return self.matrices[0].shape[0]

    @property
    def dtype(self) -> np.dtype:
        """The precision of the model's parameters."""
        return self.matrices[0].dtype

    @property
    def on_disk(self) -> bool:
        """Whether the documents are not in memory."""
        return isinstance(self.matrices[0], MatrixFacts)

    @property
    def pinned(self) -> np.ndarray | None:
        """Documents whose mixtures do not move, (documents,) bool."""
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

    @property
    def term_counts(self) -> dict[str, np.ndarray]:
        """How often each term occurs, by view."""
        return dict(zip(self.names, map(column_sums, self.matrices), strict=True))

    def with_prior(self, doc_topic: float, topic_word: float) -> Prepared:
        """Return the data with Dirichlet priors, of topics over the terms that occur."""
        seen = () if topic_word == 1 else tuple(c > 0 for c in self.term_counts.values())
        return replace(self, prior=Prior(doc_topic, topic_word, seen))

    @property
    def has_ensemble_view(self) -> bool:
        """Whether the last view is the internal one."""
        return self.names[-1] == ENSEMBLE_VIEW

    def with_ensemble_view(self, share: float) -> Prepared:
        """Return the data with the clusters of the ensemble as one more, internal view.

        It has `share` of the weighted tokens of all other views.
        """
        if not share or self.ensemble is None:
            return self
        matrix = _narrow(self.ensemble.indicators.astype(self.dtype))
        here = np.diff(matrix.indptr) > 0
        weight = share * self.mass.sum() / matrix.sum(dtype=np.float64)
        return replace(
            self,
            names=(*self.names, ENSEMBLE_VIEW),
            matrices=(*self.matrices, matrix),
            present=np.column_stack([self.present, here]),
            weights=(*self.weights, float(weight)),
            prior=self.prior.with_view(matrix.shape[1]),
            seeds=None if self.seeds is None else (*self.seeds, ViewSeeds.none()),
        )

    def without_ensemble_view(self) -> Prepared:
        """Return the data of the views that were given."""
        if not self.has_ensemble_view:
            return self
        return replace(
            self,
            names=self.names[:-1],
            matrices=self.matrices[:-1],
            present=self.present[:, :-1],
            weights=self.weights[:-1],
            prior=self.prior.without_last_view(),
            seeds=None if self.seeds is None else self.seeds[:-1],
        )

    def with_guess(self, guess: Guess | None) -> Prepared:
        """Return the data with a guess of each document's mixture; None for no guess."""
        if guess is None:
            return self
        mixtures, strength = np.ascontiguousarray(guess[0], self.dtype), guess[1]
        return replace(self, prior=replace(self.prior, guess=mixtures, strength=strength))

    def cut(self, columns: bool) -> Prepared:
        """Return the data cut into blocks; by columns as well, if emissions are to be updated.

        Neither scaling nor the ensemble's view moves the cuts, so that files are cut alike.
        """
        ranges = self.ranges or cut(self.matrices)
        return replace(self, blocks=tuple(make_blocks(self.matrices, ranges, columns)))


def prepare(views: Views, scaling: Mapping[str, Any], dtype: Any) -> Prepared:
    """Scale the views as learned in fit, and cast them to `dtype`; every view has weight 1."""
    if ENSEMBLE_VIEW in views.names:
        raise ValueError(
            f"View {ENSEMBLE_VIEW!r} has the name of the view that models keep for the ensemble of "
            "clusterings; rename it."
        )
    matrices = []
    for name, matrix in views.matrices.items():
        has = views.present[:, views.names.index(name)]
        matrix = scaled(name, matrix, has, scaling)
        unit = 1.0 if name in scaling else None
        matrices.append(narrowed(name, matrix, np.dtype(dtype), unit))
    ranges = tuple(cut(tuple(views.matrices.values())))
    weights = (1.0,) * views.n_views
    return Prepared(views.names, tuple(matrices), views.present, weights, ranges=ranges)


def check_training_data(data: Prepared) -> None:
    """Refuse data of which scaling has left nothing, and warn of labels that teach nothing."""
    if data.empty.all():
        raise ValueError(
            f"All documents are alike in every view ({', '.join(data.names)}): scaled to [0, 1], "
            "nothing is left of features that do not vary. Check how the matrices were built; "
            "scaling=None takes values >= 0 as they are."
        )
    _warn_of_empty_pins(data)


def _warn_of_empty_pins(data: Prepared) -> None:
    """Warn of labels whose documents are all empty: their topics learn nothing from the labels."""
    if data.labels is None:
        return
    pinned = np.unique(data.labels[data.labels >= 0])
    nonempty = np.unique(data.labels[(data.labels >= 0) & ~data.empty])
    idle = np.setdiff1d(pinned, nonempty)
    if len(idle):
        warnings.warn(
            f"All documents labeled {', '.join(map(str, idle[:5]))} are empty: their topics "
            "learn nothing from the labels.",
            DataWarning,
            stacklevel=7,
        )


def check_init(init: Any, n_docs: int, n_topics: int) -> np.ndarray:
    """Return a start that is given: labels (documents,) or mixtures (documents, topics)."""
    given = label_array(init)
    if given.ndim not in (1, 2) or given.dtype.kind not in "biufO":
        raise ValueError(
            "init must be a name, a fitted model, an array of mixtures of shape (documents, "
            f"topics), or labels of shape (documents,); got {shown(init)}."
        )
    check = check_topic_labels if given.ndim == 1 else check_mixtures
    try:
        return check(given, n_docs, n_topics)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"init: {error}") from error


def check_guess(guess: Any, strength: Any, n_docs: int, n_topics: int) -> Guess | None:
    """Return a guess of mixtures and its strength; None if there is none or it has no strength."""
    strength = check_factor("guess_strength", strength)
    if guess is None:
        return None
    mixtures = check_mixtures(guess, n_docs, n_topics, "The guess")
    return (mixtures, strength) if strength > 0 else None


# -- view weights ----------------------------------------------------------------------------------


def view_weights(
    weights: Any, data: Prepared, reliability: ViewReliability | None = None
) -> dict[str, float]:
    """Return each view's weight from a name, a number, numbers in their order, or a dict.

    "learn" needs the reliability of the views, which may be given instead.
    """
    if isinstance(weights, ViewReliability):
        _check_names(weights.weights, data)
        weights, reliability = "learn", weights
    if isinstance(weights, str) and weights == "equal":
        weights = 1 / len(data.names)
    if isinstance(weights, str):
        check_choice("view_weights", weights, ["learn", "balanced", "equal"])
        balanced = dict(zip(data.names, _balanced(data), strict=True))
        if weights == "balanced" or reliability is None:
            return balanced
        return {name: w * reliability.weights.get(name, 1.0) ** 2 for name, w in balanced.items()}
    if not isinstance(weights, Mapping):
        numbers = np.atleast_1d(weights).tolist()
        if np.ndim(weights) == 0:
            numbers *= len(data.names)
        if len(numbers) != len(data.names):
            raise ValueError(
                f"view_weights has {len(numbers)} numbers for {len(data.names)} views "
                f"({', '.join(data.names)}); give one for each view, a dict, 'learn' or 'balanced'."
            )
        weights = dict(zip(data.names, numbers, strict=True))
    _check_names(weights, data)
    checked = {n: check_real(f"view_weights[{n!r}]", weights[n]) for n in data.names}
    if not any(checked.values()):
        raise ValueError("All view_weights are 0: give at least one view a positive weight.")
    check_weighted(checked, data.matrices)
    return checked


def _check_names(weights: Mapping[str, Any], data: Prepared) -> None:
    if set(weights) != set(data.names):
        raise ValueError(
            f"view_weights names the views {sorted(weights)}; the data have {sorted(data.names)}."
        )


def _balanced(data: Prepared) -> list[float]:
    """Weigh views so that an average document has as many weighted tokens in each view it has.

    The weighted tokens of all documents are as many as the tokens. But no count of a sparse view
    weighs more than 1: two or three links of a page do not tell as much as its ninety words.
    """
    n_present = np.maximum(data.present.sum(axis=0), 1)
    totals = np.array([m.sum(dtype=np.float64) for m in data.matrices])
    usual = totals.sum() / max(n_present[totals > 0].sum(), 1)
    means = totals / n_present
    most = [1.0 if is_sparse_counts(m) else np.inf for m in data.matrices]
    pairs = zip(means, most, strict=True)
    return [float(min(usual / mean, limit)) if mean > 0 else 1.0 for mean, limit in pairs]


# -- memory ----------------------------------------------------------------------------------------


def fit_bytes(
    matrices: Sequence[sp.csr_array],
    n_topics: int,
    n_slots: int,
    itemsize: int,
    clusters: bool = False,
    n_feature_topics: Sequence[int] = (),
    generations: int = 2,
) -> int:
    """Return the memory that a fit takes beside the views themselves.

    Non-zeros in column order and their ratios, old and new mixtures, old and new topics and their
    gradient in double precision, and the same of feature topics, where there are some. With
    `clusters` there is an ensemble: it is made before all that is there, its consensus is found
    beside the column order, and its labels stay. Accelerated EM has more `generations` of mixtures
    and topics than an old and a new one (`em.acceleration`).
    """
    n_docs, width = matrices[0].shape[0], padded(n_topics)
    nnz, terms = sum(m.nnz for m in matrices), sum(m.shape[1] for m in matrices)
    mixtures = generations * n_slots * n_docs * width * itemsize
    topics = terms * width * (generations * itemsize + 8)
    pairs = zip(n_feature_topics, matrices, strict=False)
    factors = sum(n * (m.shape[1] + n_topics) for n, m in pairs) * (generations * itemsize + 8)
    em = nnz * (4 + 2 + itemsize) + mixtures + topics + factors
    if not clusters:
        return em
    start = nnz * (4 + 2) + consensus_bytes(n_docs, n_topics)
    return max(em + kept_bytes(n_docs), start, making_bytes(matrices, n_topics))


def check_fit_memory(
    matrices: Sequence[sp.csr_array],
    n_topics: int,
    n_slots: int,
    itemsize: int,
    clusters: bool = False,
    n_feature_topics: Sequence[int] = (),
    generations: int = 2,
) -> None:
    """Refuse a fit that does not fit into memory, before anything large is allocated."""
    n_docs, terms = matrices[0].shape[0], sum(m.shape[1] for m in matrices)
    what = f"{n_topics:,} topics"
    if n_feature_topics:
        what += f" and up to {max(n_feature_topics):,} feature topics (n_feature_topics)"
    check_memory(
        fit_bytes(matrices, n_topics, n_slots, itemsize, clusters, n_feature_topics, generations),
        f"fitting {what} to {n_docs:,} documents and {terms:,} terms",
    )


# -- blocks ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """One view's rows of one block in CSR order: slices of the view's own arrays."""

    place: slice  # where they stand in the arrays of the whole view
    indptr: np.ndarray  # (docs + 1,) uint64, from 0
    indices: np.ndarray  # (nnz,) unsigned
    data: np.ndarray  # (nnz,)


@dataclass(frozen=True)
class Columns:
    """The non-empty columns of the same rows, and where each entry stands in their order."""

    terms: np.ndarray  # (columns,) uint32: which terms these are
    colptr: np.ndarray  # (columns + 1,) uint64
    rows: np.ndarray  # (nnz,) uint16: document within the block
    place: np.ndarray  # (nnz,) uint32: of each entry of `Rows.data` in the order of columns

    def between(self, low: int, high: int) -> tuple[int, int]:
        """Return the first of the columns of terms low to high, and the one after the last."""
        ends = np.array([low, high], self.terms.dtype)  # other integers would cost a copy of terms
        first, last = np.searchsorted(self.terms, ends)
        return int(first), int(last)


@dataclass(frozen=True)
class Block:
    """All views of the documents `start` to `stop`."""

    start: int
    stop: int
    rows: tuple[Rows, ...]
    columns: tuple[Columns, ...] | None  # None when the emissions stay as they are (folding in)
    ends_shard: bool = True  # whether it is the last of its shard, whose sum is complete then

    @property
    def docs(self) -> slice:
        """The documents as a slice."""
        return slice(self.start, self.stop)


def cut(matrices: Sequence[sp.csr_array], nonzeros: int | None = None) -> list[tuple[int, int]]:
    """Return row ranges, each with about `nonzeros` entries over all views.

    >>> import numpy as np, scipy.sparse as sp
    >>> cut([sp.csr_array(np.ones((6, 10)))], nonzeros=25)
    [(0, 3), (3, 6)]
    """
    return cut_rows(row_ends(matrices), nonzeros)


def make_blocks(
    matrices: Sequence[sp.csr_array],
    ranges: Iterable[tuple[int, int]] | None = None,
    columns: bool = True,
) -> list[Block]:
    """Cut the views into blocks; with `columns` also in column order, for dL/dp(w|z)."""
    ranges = cut(matrices) if ranges is None else list(ranges)
    lasts = {stop - 1 for _, stop in group_blocks(len(ranges))}
    blocks = (block_of(matrices, start, stop, columns) for start, stop in ranges)
    return [replace(block, ends_shard=i in lasts) for i, block in enumerate(blocks)]


def _narrow(matrix: sp.csr_array) -> sp.csr_array:
    """Return a matrix with indices of 32 bits, as most have: kernels are not compiled again."""
    if max(matrix.nnz, *matrix.shape) >= 2**31:
        return matrix
    indices, indptr = (a.astype(np.int32, copy=False) for a in (matrix.indices, matrix.indptr))
    return sp.csr_array((matrix.data, indices, indptr), shape=matrix.shape)


def block_of(matrices: Sequence[sp.csr_array], start: int, stop: int, columns: bool) -> Block:
    """Return the block of the documents start to stop, with `columns` also in column order."""
    rows = tuple(_rows(m, start, stop) for m in matrices)
    if not columns:
        return Block(start, stop, rows, None)
    widths = [m.shape[1] for m in matrices]
    return Block(start, stop, rows, tuple(map(_columns, rows, widths)))


def _rows(matrix: sp.csr_array, start: int, stop: int) -> Rows:
    indptr = matrix.indptr[start : stop + 1].astype(np.uint64)
    here = slice(int(indptr[0]), int(indptr[-1]))
    unsigned = np.uint32 if matrix.indices.dtype.itemsize == 4 else np.uint64
    arrays = indptr - indptr[0], matrix.indices[here].view(unsigned), matrix.data[here]
    # read-only always: one compiled kernel, not one for each kind of array
    return Rows(here, *map(frozen, arrays))


def _columns(rows: Rows, n_terms: int) -> Columns:
    """Sort a block's entries by column; within a column documents stay in their order."""
    from coview.kernels.columns import order_by_column

    nnz = len(rows.data)
    place, docs = np.empty(nnz, np.uint32), np.empty(nnz, np.uint16)
    ends = np.zeros(n_terms + 1, np.uint32)
    order_by_column(rows.indptr, rows.indices, ends, place, docs)
    # `ends` has where each column ends; an empty one ends where the column before does
    terms = np.flatnonzero(np.diff(ends[:-1], prepend=np.uint32(0))).astype(np.uint32)
    return Columns(terms, np.append(0, ends[terms]).astype(np.uint64), docs, place)
