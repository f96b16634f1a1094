"""Search of one view with another, judged by where the right item comes."""

from typing import Any

import numpy as np
from scipy.special import rel_entr

from coview.params import check_choice

KINDS = ("hellinger", "cosine", "correlation", "jensen-shannon")


def similarity(
    queries: np.ndarray, gallery: np.ndarray, *, kind: str = "hellinger", centre=None
) -> np.ndarray:
    """Similarity of each query's mixture to each mixture of the gallery, larger is closer.

    Parameters
    ----------
    queries, gallery : ndarray of shape (n, topics)
    kind : {"hellinger", "cosine", "correlation", "jensen-shannon"}, default="hellinger"
        Inner product of square roots; cosine; cosine after subtracting `centre`; or 1 minus the
        Jensen-Shannon divergence in bits, which is 1 for equal mixtures and 0 for mixtures that
        share no topic. A row of zeros is similar to nothing.
    centre : pair of ndarray of shape (topics,), optional
        What "correlation" subtracts from queries and gallery: the mean mixture of the training
        documents in each view. By default the means of the arrays given.

    Returns
    -------
    ndarray of shape (n_queries, n_gallery)

    Examples
    --------
    >>> mixtures = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> similarity(mixtures, mixtures, kind="jensen-shannon").round(2)
    array([[1.  , 0.69],
           [0.69, 1.  ]])
    """
    check_choice("kind", kind, KINDS)
    queries, gallery = _checked(queries, gallery, signed=kind in ("cosine", "correlation"))
    if kind == "jensen-shannon":
        return np.array([_jensen_shannon(query, gallery) for query in queries])
    if kind == "hellinger":
        return np.sqrt(queries) @ np.sqrt(gallery).T
    if kind == "correlation":
        means = (queries.mean(axis=0), gallery.mean(axis=0)) if centre is None else centre
        queries, gallery = queries - means[0], gallery - means[1]
    return _unit(queries) @ _unit(gallery).T


def match_ranks(scores: np.ndarray) -> np.ndarray:
    """Rank (from 1) of item i in the answer to query i; equal scores count half.

    >>> match_ranks(np.array([[0.9, 0.1], [0.8, 0.3]])).tolist()
    [1.0, 2.0]
    """
    scores = np.asarray(scores, float)
    if scores.ndim != 2 or scores.shape[0] > scores.shape[1] or np.isnan(scores).any():
        raise ValueError(
            "scores must be numbers of shape (queries, gallery) with an item i for each query i; "
            f"found the shape {scores.shape}{' and NaN' if np.isnan(scores).any() else ''}."
        )
    own = np.diag(scores)[:, None]
    better, equal = (scores > own).sum(axis=1), (scores == own).sum(axis=1) - 1
    return 1 + better + equal / 2


def _checked(queries: Any, gallery: Any, signed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Both as matrices of floats with as many topics, finite, and not negative unless `signed`."""
    found = [_floats(queries), _floats(gallery)]
    if any(m.ndim != 2 for m in found) or found[0].shape[1] != found[1].shape[1]:
        raise ValueError(
            "queries and gallery must be matrices (documents, topics) with the same topics; found "
            f"the shapes {found[0].shape} and {found[1].shape}."
        )
    for name, rows in zip(("queries", "gallery"), found, strict=True):
        wrong = ~np.isfinite(rows) if signed else ~np.isfinite(rows) | (rows < 0)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise ValueError(
                f"{name} must be finite{'' if signed else ' and not negative'}, found "
                f"{rows[row, column]} at row {row}, column {column}, counting from 0."
            )
    return found[0], found[1]


def _floats(rows: Any) -> np.ndarray:
    """As they are if they are floats: single precision stays single."""
    rows = np.asarray(rows)
    return rows if rows.dtype.kind == "f" else rows.astype(np.float64)


def _unit(rows):
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)


def _jensen_shannon(query, gallery):
    """1 - JS of one query and each row, in double precision; rows are brought to sum one."""
    mass, masses = query.sum(dtype=np.float64), gallery.sum(axis=1, dtype=np.float64)
    p = query / (mass or 1)
    q = gallery / np.where(masses > 0, masses, 1)[:, None]
    mean = (p + q) / 2
    terms = rel_entr(p, mean) + rel_entr(q, mean)
    found = 1 - np.maximum(terms.sum(axis=1), 0) / (2 * np.log(2))
    return np.where((mass > 0) & (masses > 0), found, 0.0)
