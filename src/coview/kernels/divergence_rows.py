"""What `em.penalties.divergence` does around the solver, document by document.

rows, counts and old are (documents, views, topics) in double precision: those of some documents,
taken from and put back into the arrays of the views, which have single or double precision and any
stride. Each document is worked on alone, topics in their order: no result depends on the others.
"""

import numpy as np
from numba import njit

from coview.kernels.divergence_system import L2, SKL
from coview.kernels.elementary import log

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_ROWS = "f8[:, :, ::1]"
_TAKE = [f"void({t}[:, :], i8[::1], i8, {_ROWS})" for t in ("f4", "f8")]
_PUT = [f"void({_ROWS}, i8[::1], i8, {t}[:, :])" for t in ("f4", "f8")]
_MARK = [f"void({t}[:, :], i8, b1[:, ::1])" for t in ("f4", "f8")]


@njit(_TAKE, **_OPTIONS)
def take_rows(array, docs, v, rows):
    """Copy the rows of some documents into view v of rows."""
    for i in range(docs.shape[0]):
        for k in range(rows.shape[2]):
            rows[i, v, k] = array[docs[i], k]


@njit(_PUT, **_OPTIONS)
def put_rows(rows, docs, v, array):
    """Copy view v of rows into the rows of some documents."""
    for i in range(docs.shape[0]):
        for k in range(rows.shape[2]):
            array[docs[i], k] = rows[i, v, k]


@njit(_MARK, **_OPTIONS)
def mark_filled(array, v, filled):
    """Tell in column v of filled (documents, views) which rows have a positive number."""
    for i in range(array.shape[0]):
        found = False
        for k in range(array.shape[1]):
            found |= array[i, k] > 0.0
        filled[i, v] = found


@njit(**_OPTIONS)
def divide_by_mass(counts, lam, present, tiny):
    """Bring the counts of each document's present views to mass 1, and lam (documents,) with it.

    That divides (10) by the mass. Counts below `tiny` become 0, and so do those of absent views.
    """
    n_views, m = counts.shape[1:]
    for d in range(counts.shape[0]):
        mass = 0.0
        for v in range(n_views):
            for k in range(m):
                counts[d, v, k] = counts[d, v, k] if present[d, v] else 0.0
                mass += counts[d, v, k]
        lam[d] /= mass
        for v in range(n_views):
            for k in range(m):
                share = counts[d, v, k] / mass
                counts[d, v, k] = share if share >= tiny else 0.0


@njit(**_OPTIONS)
def keep_better(kind, counts, lam, pairs, present, old, tiny, single, new):
    """Tidy new rows as they will be stored, and put `old` where F (10) is higher there.

    pairs (views, views) are factors of lam; with `single`, rows are stored in single precision.
    Absent views keep their old rows.
    """
    n_views, m = counts.shape[1:]
    logs = np.empty((n_views, m))
    for d in range(counts.shape[0]):
        for v in range(n_views):
            total = 0.0
            for k in range(m):
                new[d, v, k] = new[d, v, k] if present[d, v] else old[d, v, k]
                total += new[d, v, k]
            for k in range(m):
                share = new[d, v, k] / total
                share = share if share >= tiny else (tiny if kind == SKL else 0.0)
                new[d, v, k] = np.float64(np.float32(share)) if single else share
        before = _value(kind, counts[d], lam[d], pairs, present[d], old[d], tiny, logs)
        after = _value(kind, counts[d], lam[d], pairs, present[d], new[d], tiny, logs)
        if not after >= before:
            for v in range(n_views):
                for k in range(m):
                    new[d, v, k] = old[d, v, k]


@njit(**_OPTIONS)
def _value(kind, counts, lam, pairs, present, rows, tiny, logs):
    """Return F (10) of one document; fill logs (views, topics)."""
    n_views, m = counts.shape
    value = 0.0
    for v in range(n_views):
        for k in range(m):
            logs[v, k] = log(max(rows[v, k], tiny))
        for k in range(m):
            value += counts[v, k] * logs[v, k]
    return value - lam * _divergence(kind, pairs, present, rows, logs)


@njit(**_OPTIONS)
def _divergence(kind, pairs, present, rows, logs):
    """Return sum_{v<w} D(h_v, h_w) over the present views of a document, times the pair's factor.

    logs (views, topics) are those of the rows, for skl.
    """
    total = 0.0
    for w in range(rows.shape[0]):
        for v in range(w if present[w] else 0):
            if not present[v]:
                continue
            part = 0.0
            for k in range(rows.shape[1]):
                apart = rows[v, k] - rows[w, k]
                if kind == SKL:
                    part += apart * (logs[v, k] - logs[w, k])
                elif kind == L2:
                    part += 0.5 * apart * apart
                else:
                    part += abs(apart)
            total += pairs[v, w] * part
    return total


@njit(**_OPTIONS)
def weighted_divergences(kind, rows, lam, pairs, present):
    """Return sum_d lam_d sum_{v<w} D(h_v, h_w), rows positive for skl."""
    total, logs = 0.0, np.zeros(rows.shape[1:])
    for d in range(rows.shape[0]):
        if kind == SKL:
            for v in range(rows.shape[1]):
                for k in range(rows.shape[2]):
                    logs[v, k] = log(rows[d, v, k])
        total += lam[d] * _divergence(kind, pairs, present[d], rows[d], logs)
    return total
