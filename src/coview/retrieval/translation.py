"""A translation table between two views: which terms of one a term of the other calls for.

It is PLSA whose topics are the terms of the first view, and whose mixtures stay at the shares that
these terms have in a document:

    p(w'|d) = (1 - NULL) sum_w f(w|d) t(w'|w) + NULL p(w')

f(w|d) and the counts of the second view are damped, log(1 + n); p(w') takes what no term of the
first view calls for. EM learns t(w'|w) from the documents that have both views. A term keeps a
bounded number of candidates from the start, and a document a bounded number of terms, so that a
pass is linear in the non-zeros. A term that too few documents have cannot be learned: it calls for
what its topics call for, t(w'|w) = sum_z p(w'|z) p(z|w).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.kernels.translation import divide_counts, find_candidates, update_table
from coview.runners.threads import ThreadRunner

CANDIDATES = 100  # terms that a term may call for, while EM runs
KEPT = 20  # of them at the end
ITERATIONS = 6
NULL = 0.1
LONGEST = 256  # terms of a document from which a table is learned: the rarest for their counts
FEWEST_DOCS = 3  # that have a term, to learn what it calls for
RANGES = 64  # that terms and documents are cut into, whatever the number of threads
DIGITS = 8  # bits of a probability that are kept, in files and pages
BLOCK = 1 << 22  # probabilities of rare terms that are computed at a time


def learn_table(
    asked: sp.csr_array, answered: sp.csr_array, n_jobs: int | None = None
) -> tuple[sp.csr_array, list[float]]:
    """Learn t(w'|w) from documents that have both views.

    Parameters
    ----------
    asked, answered : csr_array of shape (documents, terms)
        Counts of the first and of the second view.
    n_jobs : int or None, default=None
        Threads; the bits of the table do not depend on them.

    Returns
    -------
    table : csr_array of shape (terms, terms of the second view)
        Rows sum to at most 1; empty for terms that fewer than three documents have.
    log_likelihoods : list of float
        Before each iteration.
    """
    shares, counts = term_shares(cut_long(asked)), damped(cut_long(answered))
    shares.data *= 1 - NULL
    by_term = sp.csc_array(shares)
    by_term.sort_indices()
    totals = np.asarray(counts.sum(axis=0), dtype=np.float64)
    null = NULL * totals / (totals.sum() or 1.0)
    docs_with = np.bincount(counts.indices, minlength=counts.shape[1]).astype(np.float64)
    n_terms, width = asked.shape[1], min(CANDIDATES, answered.shape[1])
    found = np.full((n_terms, width), -1, np.int32)
    table = np.zeros((n_terms, width))
    ratio = np.empty(counts.nnz)
    to = (counts.indptr, counts.indices)
    term_ranges, doc_ranges = _cut(by_term.indptr), _cut(shares.indptr)
    likelihoods = []
    with ThreadRunner(n_jobs) as run:

        def find(part: tuple[int, int]) -> None:
            find_candidates(by_term.indptr, by_term.indices, *part, *to, docs_with, found, table)

        def divide(part: tuple[int, int]) -> float:
            own = (shares.indptr, shares.indices, shares.data)
            return divide_counts(*part, *own, found, table, to, counts.data, null, ratio)

        def update(part: tuple[int, int]) -> None:
            own = (by_term.indptr, by_term.indices, by_term.data)
            update_table(*own, *part, to, ratio, found, table, answered.shape[1])

        list(run(find, term_ranges))
        table /= np.maximum(table.sum(axis=1, keepdims=True), 1.0)
        for _ in range(ITERATIONS):
            likelihoods.append(float(sum(run(divide, doc_ranges))))
            list(run(update, term_ranges))
    enough = np.diff(by_term.indptr) >= FEWEST_DOCS
    table[~enough] = 0.0
    return _largest(found, table, answered.shape[1]), likelihoods


def _cut(starts: np.ndarray) -> list[tuple[int, int]]:
    """Cut rows into ranges with about as many entries each."""
    targets = np.linspace(0, starts[-1], RANGES + 1)
    ends = np.unique([*np.searchsorted(starts, targets[:-1]), len(starts) - 1])
    return [(int(a), int(b)) for a, b in pairwise(ends)]


def _largest(found: np.ndarray, table: np.ndarray, n_terms: int) -> sp.csr_array:
    """Return the KEPT largest entries of each row, by column."""
    order = np.argsort(-table, axis=1, kind="stable")[:, :KEPT]
    columns = np.take_along_axis(found, order, axis=1)
    values = np.take_along_axis(table, order, axis=1)
    rows, places = np.nonzero(values > 0)
    made = sp.coo_array(
        (_few_digits(values[rows, places]), (rows, columns[rows, places])),
        shape=(len(found), n_terms),
    )
    return _sorted(made.tocsr())


def with_topics(
    table: sp.csr_array, model: Any, view: str, to: str, rows: np.ndarray | None = None
) -> sp.csr_array:
    """Return a table in which terms that were not learned call for what their topics do.

    Parameters
    ----------
    table : csr_array of shape (terms, terms of the other view)
    model : fitted model
    view, to : str
        The views of its rows and of its columns.
    rows : ndarray of int, optional
        The terms; by default those that occurred in training and have no entries.
    """
    if rows is None:
        rows = np.flatnonzero((np.diff(table.indptr) == 0) & (model.term_counts_[view] > 0))
    p_z = model.doc_topic_.mean(axis=0, dtype=np.float64)
    parts = [table]
    step = max(1, BLOCK // table.shape[1])
    for begin in range(0, len(rows), step):
        part = rows[begin : begin + step]
        p_z_w = model.components_[view][:, part].T * p_z
        p_z_w /= np.maximum(p_z_w.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        called = p_z_w @ model.components_[to].astype(np.float64)
        width = min(KEPT, called.shape[1])
        order = np.argsort(-called, axis=1, kind="stable")[:, :width]
        values = _few_digits(np.take_along_axis(called, order, axis=1))
        at = np.repeat(part, width), order.ravel()
        parts.append(sp.csr_array((values.ravel(), at), shape=table.shape))
    total = sp.csr_array(sum(parts[1:], start=parts[0]))
    total.eliminate_zeros()
    return _sorted(total)


def _few_digits(values: np.ndarray) -> np.ndarray:
    """Return probabilities cut to DIGITS bits: they are not known better, and need less room."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.floor(np.ldexp(fraction, DIGITS)), exponent - DIGITS).astype(np.float32)


def _sorted(table: sp.csr_array) -> sp.csr_array:
    table.sort_indices()
    return table


# -- counts ----------------------------------------------------------------------------------------


def damped(counts: sp.csr_array) -> sp.csr_array:
    """Return log(1 + n): a term that occurs ten times is not ten times as telling."""
    rows = sp.csr_array(counts, dtype=np.float64, copy=True)
    rows.data = np.log1p(rows.data)
    return rows


def term_shares(counts: sp.csr_array) -> sp.csr_array:
    """Return f(w|d): damped counts of which each row sums to one."""
    rows = damped(counts)
    sums = np.asarray(rows.sum(axis=1))
    rows.data /= np.repeat(np.where(sums > 0, sums, 1.0), np.diff(rows.indptr))
    return rows


def cut_long(counts: sp.csr_array) -> sp.csr_array:
    """Return documents with at most LONGEST terms, those with the largest tf-idf."""
    lengths = np.diff(counts.indptr)
    long = np.flatnonzero(lengths > LONGEST)
    if not len(long):
        return counts
    docs_with = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = (
        np.log1p(counts.data) * np.log(len(lengths) / np.maximum(docs_with, 1))[counts.indices]
    )
    kept = np.ones(counts.nnz, bool)
    for part in _rows(counts, long):
        order = np.argsort(-weights[part], kind="stable")
        kept[part.start + order[LONGEST:]] = False
    indptr = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[counts.indptr]
    parts = counts.data[kept], counts.indices[kept], indptr.astype(counts.indptr.dtype)
    return sp.csr_array(parts, shape=counts.shape)


def _rows(counts: sp.csr_array, rows: np.ndarray) -> Iterator[slice]:
    for row in rows:
        yield slice(int(counts.indptr[row]), int(counts.indptr[row + 1]))
