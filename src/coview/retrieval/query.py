"""Read queries: raw texts and pictures, counts, mixtures, and documents that are already known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.documents import read_documents
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
        In the space of the index.
    view : str or None
        The view of the queries; None: several, or not known.
    mixtures : ndarray of shape (queries, topics), or None
        None if they are not known.
    views : Views or None
        Their counts, with the columns of the model, if they are known.
    words : csr_array of shape (queries, terms), or None
        Their terms as the `WordIndex` takes them, if they are compared by words.
    excluded_row : int or None
        The row of the gallery that is the query itself and not an answer.
    """

    vectors: np.ndarray
    view: ViewOrAll = None
    mixtures: np.ndarray | None = None
    views: Views | None = None
    words: sp.csr_array | None = None
    excluded_row: int | None = None


def read_one(model: Any, query: Any) -> Views:
    """Read one document, raw or as counts, as views of the model with its columns."""
    views = model.as_views(read_documents(model, query, one=True))
    if len(views) != 1:
        raise ValueError(
            f"A query is one document; got {len(views):,}. Use query_many for several."
        )
    if not known_counts(model, views).any():
        raise ValueError(_nothing_known_message(model, query, views))
    return views


def read_many(model: Any, queries: Any) -> Views:
    """Read documents, raw or as counts, as views of the model with its columns."""
    views = model.as_views(queries)
    empty = np.flatnonzero(known_counts(model, views) == 0)
    if len(empty):
        raise ValueError(
            f"{len(empty):,} of {len(views):,} queries have no term that the model knows in "
            f"{_name_views(views)}: rows {listing(empty)}, counting from 0. Leave them out."
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


def _name_views(views: Views) -> str:
    return f"view {quoted(views.names[0])}" if len(views.names) == 1 else listing(views.names)


def _nothing_known_message(model: Any, query: Any, views: Views) -> str:
    words = _raw_words(model, query)
    shown = f": {listing(words)}" if words else ""
    return (
        f"Nothing of the query is known to the model in {_name_views(views)}{shown}. Use "
        "terms that occurred in training, or fit the model on documents that have these."
    )


def _raw_words(model: Any, query: Any) -> list[str]:
    """Return the words of a raw query, as its recipe finds them; none for pictures and matrices."""
    if isinstance(query, str):
        return _split(query, None)
    if not isinstance(query, Mapping):
        return []
    words: list[str] = []
    for name, value in query.items():
        items = value if isinstance(value, list | tuple) else [value]
        recipe = model.recipes_.get(name)
        for item in items:
            words += _split(item, recipe) if isinstance(item, str) else []
    return list(dict.fromkeys(words))


def _split(text: str, recipe: Any) -> list[str]:
    if recipe is not None and recipe.kind not in ("text", "tokens"):
        return []  # the text is the path of a picture
    if recipe is not None and recipe.kind == "text":
        return recipe.vectorizer.build_analyzer()(text)
    return re.findall(r"\w+", text)
