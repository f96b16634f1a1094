"""The metrics of a search: queries as the kernels take them, and what each topic adds to a score.

The formulas are in `coview.kernels.search`; `coview.metrics.similarity` computes the same scores
as one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coview.kernels.jensen_shannon import jensen_shannon_term
from coview.kernels.search import CENTERED, JENSEN_SHANNON, ROOT
from coview.metrics.retrieval import METRICS as METRICS
from coview.metrics.retrieval import unit_rows
from coview.params import check_choice
from coview.wording import listing

EVIDENCE = "evidence"
ALL_METRICS = (EVIDENCE, *METRICS)


@dataclass(frozen=True)
class PreparedQueries:
    """Queries as the kernels take them.

    Attributes
    ----------
    form : int
        The formula of the score: ROOT, CENTERED or JENSEN_SHANNON.
    exact : ndarray of shape (queries, dimensions)
        For exact scores, in double precision.
    rough : ndarray of shape (queries, dimensions)
        For rough scores; cast to the precision in which these are computed.
    center : ndarray of shape (dimensions,)
        What is subtracted from the vectors searched, in their precision.
    """

    form: int
    exact: np.ndarray
    rough: np.ndarray
    center: np.ndarray

    def __len__(self) -> int:
        return len(self.exact)

    def __getitem__(self, part: slice | np.ndarray) -> PreparedQueries:
        return PreparedQueries(self.form, self.exact[part], self.rough[part], self.center)

    @property
    def rough_error(self) -> float:
        """Upper bound of the error of a rough score.

        A sum of K products in single precision is off by K roundings of its largest possible
        value, which is 1; the length that it is divided by is off by as much again. The bound is
        four times that: a bound that is too large costs next to nothing.
        """
        return (self.exact.shape[1] + 16) * 2.0**-22


def choose_metric(metric: str | None, space: str, known: bool) -> str:
    """Return the metric asked for, or the default: all evidence where the terms are known.

    Parameters
    ----------
    metric : str or None
    space : {"topic", "semantic"}
    known : bool
        Whether the terms of the documents searched are known.
    """
    if metric is None:
        metric = "correlation" if space == "semantic" else EVIDENCE if known else "hellinger"
    check_choice("metric", metric, ALL_METRICS)
    if metric == EVIDENCE and space == "semantic":
        raise ValueError(
            f"metric={metric!r} compares terms, not the classes of space='semantic': use one of "
            f"{listing(METRICS)} there."
        )
    if metric == EVIDENCE and not known:
        raise ValueError(
            f"metric={metric!r} needs the terms of the documents searched, which this model does "
            "not keep: give the documents it was fitted to as training_views=..., or others as "
            "views=...; or let the model keep them: model.keep_search(views)."
        )
    return metric


def prepare_queries(
    metric: str, queries: np.ndarray, query_center: np.ndarray, center: np.ndarray
) -> PreparedQueries:
    """Prepare queries (queries, dimensions) for a metric; only "correlation" uses the centers.

    Parameters
    ----------
    metric : one of METRICS
    queries : ndarray of shape (queries, dimensions)
    query_center : ndarray of shape (dimensions,)
        Subtracted from the queries.
    center : ndarray of shape (dimensions,)
        Subtracted from the vectors searched; in their precision.
    """
    queries = np.asarray(queries, dtype=np.float64)
    zeros = np.zeros_like(center)
    if metric == "jensen-shannon":  # rough scores are those of "hellinger", an upper bound
        return PreparedQueries(JENSEN_SHANNON, queries, np.sqrt(queries), zeros)
    if metric == "hellinger":
        vectors = np.sqrt(queries)
        return PreparedQueries(ROOT, vectors, vectors, zeros)
    if metric == "cosine":
        query_center, center = np.zeros_like(query_center), zeros
    vectors = unit_rows(queries - query_center)
    return PreparedQueries(CENTERED, vectors, vectors, center)


def contributions(query: PreparedQueries, answer: np.ndarray) -> np.ndarray:
    """Return what each dimension adds to the score of one query and one vector.

    The sum is the score.
    """
    own, answer = query.exact[0], answer.astype(np.float64)
    if query.form == ROOT:
        return own * np.sqrt(answer)
    if query.form == CENTERED:
        return own * unit_rows((answer - query.center)[None])[0]
    own, answer = own / own.sum(), answer / answer.sum()
    terms = [jensen_shannon_term(a, b) for a, b in zip(own, answer, strict=True)]
    return (own + answer) / 2 - np.array(terms)
