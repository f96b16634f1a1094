"""Measures of search: similarity of mixtures, and how well answers are ranked.

`similarity` scores queries against a gallery of documents. Rankings by such scores are judged by
classes (an answer is relevant if it has the class of the query) or by pairs (the one item that
belongs to the query).

With the answers to a query in falling order of score and r_1 < r_2 < ... the ranks of the
relevant ones, the precision at the i-th of these is i / r_i, and

    average precision, "standard"      the mean of i / r_i over all relevant items
    average precision, "first_ten"     the mean over the first ten (all, where there are fewer)
    average precision, "top_ten"       the mean over those with r_i <= 10

"first_ten" is the measure of Wang et al. (2016): "the mean precision value for the top 10
relevant retrievals"; "top_ten" is another way to read that. Any of the three may be the largest;
their values cannot be compared. Equal scores are ranked by index; a query to which nothing is
relevant (among the first ten answers, for "top_ten") scores 0.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import rel_entr

from coview.params import check_choice, check_int
from coview.views.labels import refuse_unlabeled

METRICS = ("hellinger", "cosine", "correlation", "jensen-shannon")
# inverse penalty of the logistic regressions of the semantic space, in `SearchIndex` and in
# comparisons: topic shares are small and need large coefficients (docs/search.md has others)
SEMANTIC_C = 10.0
BLOCK = 1 << 22  # scores that are sorted at a time


# -- similarity ------------------------------------------------------------------------------------


def similarity(
    queries: np.ndarray,
    gallery: np.ndarray,
    *,
    metric: str = "hellinger",
    center: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """Return the similarity of each query's mixture to each mixture of the gallery.

    Parameters
    ----------
    queries, gallery : ndarray of shape (n, topics)
    metric : {"hellinger", "cosine", "correlation", "jensen-shannon"}, default="hellinger"
        Inner product of square roots; cosine; cosine after subtracting `center`; or 1 minus the
        Jensen-Shannon divergence in bits, which is 1 for equal mixtures and 0 for mixtures that
        share no topic. A row of zeros is similar to nothing.
    center : pair of ndarray of shape (topics,), optional
        What "correlation" subtracts from queries and gallery: the mean mixture of the training
        documents in each view. By default the means of the arrays given.

    Returns
    -------
    ndarray of shape (n_queries, n_gallery)
        Larger is more similar.

    Examples
    --------
    >>> mixtures = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> similarity(mixtures, mixtures, metric="jensen-shannon").round(2)
    array([[1.  , 0.69],
           [0.69, 1.  ]])
    """
    check_choice("metric", metric, METRICS)
    queries, gallery = _checked(queries, gallery, signed=metric in ("cosine", "correlation"))
    if metric == "jensen-shannon":
        return np.array([_jensen_shannon(query, gallery) for query in queries])
    if metric == "hellinger":
        return np.sqrt(queries) @ np.sqrt(gallery).T
    if metric == "correlation":
        means = (queries.mean(axis=0), gallery.mean(axis=0)) if center is None else center
        queries, gallery = queries - means[0], gallery - means[1]
    return unit_rows(queries) @ unit_rows(gallery).T


def _checked(queries: Any, gallery: Any, signed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return both as matrices of floats; refuse different widths and invalid values.

    Values must be finite, and not negative unless `signed`.
    """
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
    """Return floats as they are, so that single precision stays single; others as doubles."""
    rows = np.asarray(rows)
    return rows if rows.dtype.kind == "f" else rows.astype(np.float64)


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Scale rows to length 1; a row of zeros stays one."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)


def _jensen_shannon(query: np.ndarray, gallery: np.ndarray) -> np.ndarray:
    """Return 1 - JS of one query and each row, in double precision; rows are made to sum to one."""
    mass, masses = query.sum(dtype=np.float64), gallery.sum(axis=1, dtype=np.float64)
    p = query / (mass or 1)
    q = gallery / np.where(masses > 0, masses, 1)[:, None]
    mean = (p + q) / 2
    terms = rel_entr(p, mean) + rel_entr(q, mean)
    found = 1 - np.maximum(terms.sum(axis=1), 0) / (2 * np.log(2))
    return np.where((mass > 0) & (masses > 0), found, 0.0)


# -- rankings judged by classes --------------------------------------------------------------------


def average_precisions(
    scores: np.ndarray, query_labels: Any, gallery_labels: Any, *, kind: str = "standard"
) -> np.ndarray:
    """Return the average precision of each query.

    Parameters
    ----------
    scores : ndarray of shape (n_queries, n_gallery)
        Larger is more similar, as from `similarity`.
    query_labels, gallery_labels : array-like of shape (n_queries,), (n_gallery,)
        Classes.
    kind : {"standard", "first_ten", "top_ten"}, default="standard"
        Over all relevant items, over the first ten of them, or over those among the first ten
        answers.

    Returns
    -------
    ndarray of shape (n_queries,)

    Examples
    --------
    >>> scores = np.array([[0.9, 0.8, 0.7, 0.6]])
    >>> average_precisions(scores, ["a"], ["a", "b", "a", "b"])  # mean of 1/1 and 2/3
    array([0.83333333])
    """
    check_choice("kind", kind, ["standard", "first_ten", "top_ten"])
    most = 10 if kind == "first_ten" else None
    pieces = _hits(scores, query_labels, gallery_labels)
    if kind == "top_ten":
        pieces = (hits[:, :10] for hits in pieces)
    return np.concatenate([_mean_precision(hits, most) for hits in pieces])


def mean_average_precision(
    scores: np.ndarray, query_labels: Any, gallery_labels: Any, *, kind: str = "standard"
) -> float:
    """Return the mean of `average_precisions` over the queries.

    Parameters
    ----------
    scores, query_labels, gallery_labels, kind
        As in `average_precisions`.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.8, 0.7], [0.1, 0.2, 0.3]])
    >>> mean_average_precision(scores, ["a", "b"], ["a", "b", "a"])  # (1 + 2/3) / 2 and 1/2
    0.6666666666666666
    """
    return float(average_precisions(scores, query_labels, gallery_labels, kind=kind).mean())


def precision_at_k(
    scores: np.ndarray, query_labels: Any, gallery_labels: Any, *, k: int = 10
) -> float:
    """Return the share of relevant items among the first k answers, averaged over the queries.

    Parameters
    ----------
    scores, query_labels, gallery_labels
        As in `average_precisions`.
    k : int, default=10

    Examples
    --------
    >>> precision_at_k(np.array([[0.9, 0.8, 0.7]]), ["a"], ["a", "b", "a"], k=2)
    0.5
    """
    check_int("k", k, 1)
    pieces = _hits(scores, query_labels, gallery_labels)
    return float(np.concatenate([hits[:, :k].mean(axis=1) for hits in pieces]).mean())


def _hits(scores: Any, query_labels: Any, gallery_labels: Any) -> Iterator[np.ndarray]:
    """Yield which answers are relevant, best answer first, in blocks (queries, gallery)."""
    scores = _check_scores(scores)
    queries = refuse_unlabeled("query_labels", query_labels)
    gallery = refuse_unlabeled("gallery_labels", gallery_labels)
    if scores.shape != (len(queries), len(gallery)):
        raise ValueError(
            f"scores have the shape {scores.shape}, but there are labels for {len(queries)} "
            f"queries and {len(gallery)} items of the gallery."
        )
    step = max(1, BLOCK // scores.shape[1])
    for i in range(0, len(scores), step):
        order = np.argsort(-scores[i : i + step], axis=1, kind="stable")
        yield gallery[order] == queries[i : i + step, None]


def _mean_precision(hits: np.ndarray, most: int | None) -> np.ndarray:
    """Return the mean precision at the first `most` hits of each row; 0 in a row without hits."""
    found = np.cumsum(hits, axis=1)
    counted = hits if most is None else hits & (found <= most)
    precision = found / np.arange(1, hits.shape[1] + 1)
    total = np.where(counted, precision, 0.0).sum(axis=1)
    return total / np.maximum(counted.sum(axis=1), 1)


# -- rankings judged by pairs ----------------------------------------------------------------------


def match_ranks(scores: np.ndarray) -> np.ndarray:
    """Return the rank (from 1) of item i in the answer to query i; equal scores count half.

    Parameters
    ----------
    scores : ndarray of shape (n_queries, n_gallery)

    Returns
    -------
    ndarray of shape (n_queries,)

    Examples
    --------
    >>> match_ranks(np.array([[0.9, 0.1], [0.8, 0.3]])).tolist()
    [1.0, 2.0]
    """
    scores = np.asarray(scores, float)
    if scores.ndim != 2 or scores.shape[0] > scores.shape[1] or np.isnan(scores).any():
        raise ValueError(
            "scores must be numbers of shape (queries, gallery) with an item i for each query i; "
            f"found the shape {scores.shape}{' and NaN' if np.isnan(scores).any() else ''}."
        )
    return _ranks(scores, np.arange(len(scores)))


def median_rank(scores: np.ndarray, partners: Any = None) -> float:
    """Return the median over queries of the rank (from 1) of the item that belongs to the query.

    Parameters
    ----------
    scores : ndarray of shape (n_queries, n_gallery)
    partners : array-like of int of shape (n_queries,), optional
        The item of each query; by default item i belongs to query i. Equal scores count half.

    Examples
    --------
    >>> median_rank(np.array([[0.9, 0.1], [0.8, 0.3]]))
    1.5
    """
    scores = _check_scores(scores)
    partners = np.arange(len(scores)) if partners is None else np.asarray(partners)
    known = partners.shape == (len(scores),) and partners.dtype.kind in "iu"
    if not known or partners.min() < 0 or partners.max() >= scores.shape[1]:
        raise ValueError(
            f"{len(scores)} queries, {scores.shape[1]} items: `partners` must give the number "
            "(an integer) of the item that belongs to each query."
        )
    return float(np.median(_ranks(scores, partners)))


def _ranks(scores: np.ndarray, partners: np.ndarray) -> np.ndarray:
    """Return the rank of each query's partner; of equal scores the mean rank."""
    own = scores[np.arange(len(scores)), partners][:, None]
    better, equal = (scores > own).sum(axis=1), (scores == own).sum(axis=1) - 1
    return 1 + better + equal / 2


def _check_scores(scores: Any) -> np.ndarray:
    # floats: unsigned integers cannot be negated, which is how scores are ordered
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    if scores.ndim != 2 or 0 in scores.shape:
        raise ValueError(
            "scores must be a matrix (queries, gallery) with at least one of each; found the "
            f"shape {scores.shape}."
        )
    if np.isnan(scores).any():
        row, column = np.argwhere(np.isnan(scores))[0]
        raise ValueError(f"scores must be numbers, found NaN at row {row}, column {column}.")
    return scores
