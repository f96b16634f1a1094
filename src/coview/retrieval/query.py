"""Read queries: raw texts and pictures, counts, mixtures, and documents that are already known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coview.documents import read_documents, unknown_words
from coview.reading.left_out import name_left_out
from coview.retrieval.evidence import Asked
from coview.retrieval.spaces import ViewOrAll
from coview.views.container import Views
from coview.wording import listing, quoted

SUM_TOLERANCE = 1e-3  # how far the sum of a mixture given as an array may be from 1


@dataclass(frozen=True)
class Doc:
    """A document that is already known, as a query: "what is like this one?"

    Parameters
    ----------
    id : str or int
        The id of a document that is searched or was trained on; or its number, from 0.
    view : str, optional
        The view whose mixture is the query. By default all views together for a training
        document; for other documents, and if the index has no model, the view that is searched.
    include_itself : bool, default=False
        Whether the document may be among its answers.

    Examples
    --------
    >>> Doc("news-7", view="en")
    Doc(id='news-7', view='en', include_itself=False)
    """

    id: str | int
    view: str | None = None
    include_itself: bool = False


@dataclass(frozen=True)
class QueryBatch:
    """One query or several, as the index takes them.

    Attributes
    ----------
    vectors : ndarray of shape (queries, dimensions)
        In the space of the index; without dimensions where evidence is compared.
    view : str or None
        The view of the queries; None: several, or not known.
    mixtures : ndarray of shape (queries, topics), or None
        None if they are not known.
    views : Views or None
        Their counts, with the columns of the model, if they are known.
    asked : list of list of Asked
        What each query asks, view by view, if evidence is compared.
    excluded_row : int or None
        The row of the gallery that is the query itself and not an answer.
    """

    vectors: np.ndarray = field(default_factory=lambda: np.empty((1, 0)))
    view: ViewOrAll = None
    mixtures: np.ndarray | None = None
    views: Views | None = None
    asked: list[list[Asked]] = field(default_factory=list)
    excluded_row: int | None = None


def read_one(model: Any, query: Any) -> Views:
    """Read one document, raw or as counts, as views of the model with its columns."""
    views = model.as_views(read_documents(model, query, one=True))
    if len(views) != 1:
        raise ValueError(
            f"A query is one document; got {len(views):,}. Use query_many for several."
        )
    if not known_counts(model, views).any():
        raise ValueError(nothing_known(model, query, views.names))
    return views


def read_many(model: Any, queries: Any) -> Views:
    """Read documents, raw or as counts, as views of the model with its columns."""
    views = model.as_views(queries)
    empty = np.flatnonzero(known_counts(model, views) == 0)
    if len(empty):
        raise ValueError(
            f"{len(empty):,} of {len(views):,} queries have no term that the model knows in "
            f"{_name_views(views.names)}: rows {listing(empty)}, counting from 0. Leave them out."
        )
    return views


def known_counts(model: Any, views: Views) -> np.ndarray:
    """Return the counts of each document that are of terms seen in training, (documents,)."""
    total = np.zeros(len(views))
    for name, matrix in views.matrices.items():
        total += abs(matrix) @ (model.term_counts_[name] > 0).astype(np.float64)
    return total


def as_mixtures(queries: Any, n_topics: int, model: Any = None) -> np.ndarray | None:
    """Return an array of mixtures as (queries, topics); None if it does not look like one.

    The rows must sum to one and have as many columns as there are topics, so that counts are not
    taken for mixtures.
    """
    if not isinstance(queries, np.ndarray) or queries.dtype.kind != "f" or queries.ndim > 2:
        return None
    rows = np.atleast_2d(queries)
    sums = rows.sum(axis=1, dtype=np.float64)
    if rows.shape[1] != n_topics or not np.all(np.abs(sums - 1) < SUM_TOLERANCE):
        return None
    if not np.all(rows >= 0):
        return None
    widths = [] if model is None else [p.shape[1] for p in model.components_.values()]
    if widths == [n_topics]:
        raise ValueError(
            f"The model has {n_topics} topics and {n_topics} terms, so this array could hold "
            "mixtures or documents: give documents as Views."
        )
    return rows / sums[:, None]


# -- messages --------------------------------------------------------------------------------------


def _name_views(names: Sequence[str]) -> str:
    return f"view {quoted(names[0])}" if len(names) == 1 else listing(names)


def nothing_known(model: Any, query: Any, names: Sequence[str]) -> str:
    """Return the message for a query of which nothing is known, with the reason of each word.

    Parameters
    ----------
    model : fitted model
    query : as in `SearchIndex.query`
    names : sequence of str
        The views of the query.
    """
    words = name_left_out(unknown_words(model, query, one=True))
    return (
        f"Nothing of the query is known to the model in {_name_views(names)}"
        f"{words and f': {words}'}. Use other terms, or fit a model to data that keep these."
    )
