"""Read queries: raw texts and pictures, counts, mixtures, and documents that are already known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reading.recipes import is_raw, is_vectors
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
    views = model.as_views(query_views(model, query, one=True))
    if len(views) != 1:
        raise ValueError(
            f"A query is one document; got {len(views):,}. Use query_many for several."
        )
    if not known_counts(model, views).any():
        raise ValueError(_nothing_known_message(model, query, views))
    return views


def read_many(model: Any, queries: Any) -> Views:
    """Read documents, raw or as counts, as views of the model with its columns."""
    views = model.as_views(query_views(model, queries, one=False))
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


# -- raw documents and matrices --------------------------------------------------------------------


def is_one_document(model: Any, X: Any) -> bool:
    """Tell one document, raw or as a row of counts, from several: lists of raw ones, matrices."""
    if not isinstance(X, Mapping) or sp.issparse(X):  # a DOK is a dict as well
        return isinstance(X, str) or _is_row(X)
    given = [(name, value) for name, value in X.items() if value is not None]
    return all(_is_one(model, name, value) for name, value in given)


def _is_one(model: Any, name: str, value: Any) -> bool:
    recipe = _recipe(model, name)
    if isinstance(value, list | tuple) and any(isinstance(item, str) for item in value):
        return recipe is not None and recipe.kind == "tokens"
    if is_vectors(recipe, value):
        return isinstance(value, str) or _is_row(value)
    if isinstance(value, list | tuple) or sp.issparse(value) or np.ndim(value) == 1:
        return _is_row(value)
    return _is_raw_one(model, name, value)


def _is_row(value: Any) -> bool:
    """Return whether this is one row of numbers."""
    if sp.issparse(value):
        return value.ndim == 1
    if not isinstance(value, np.ndarray | list | tuple):
        return False
    try:
        row = np.asarray(value)
    except ValueError:  # lists of different lengths
        return False
    return row.ndim == 1 and row.dtype.kind in "biuf"


def query_views(model: Any, query: Any, one: bool) -> Views:
    """Return a query (`one`) or queries as views, with whatever columns they have."""
    if isinstance(query, Views):
        return query
    if isinstance(query, str):
        query = {_only_text_source(model): query}
    if not isinstance(query, Mapping):
        return Views({_only_view(model): _matrix(query)})
    query = {name: value for name, value in query.items() if value is not None}
    if not query:
        raise ValueError("The query is empty: give a text, a picture or counts for some view.")
    raw = {n: v for n, v in query.items() if (_is_raw_one if one else _are_raw)(model, n, v)}
    parts = [_read(model, name, value, one) for name, value in raw.items()]
    parts += [Views({n: _matrix(v)}) for n, v in query.items() if n not in raw]
    return _join_views(parts)


def _only_text_source(model: Any) -> str:
    sources = sorted({r.source for r in model.recipes_.values() if r and r.kind == "text"})
    if len(sources) == 1:
        return sources[0]
    found = f"it has {listing(sources)}" if sources else "it has none: its views are matrices"
    raise ValueError(
        f"A text alone is a query if the model reads one kind of text; {found}. "
        "Say which view it is: {'view': ...}."
    )


def _only_view(model: Any) -> str:
    if len(model.view_names_) == 1:
        return model.view_names_[0]
    raise ValueError(
        f"A matrix alone is a query if the model has one view; it has "
        f"{listing(model.view_names_)}. Say which view it is: {{'view': matrix}}. (An array of "
        "mixtures has a column for each topic, and its rows sum to one.)"
    )


def _matrix(value: Any) -> Any:
    """Return a row as a matrix of one row; a matrix as it is."""
    if sp.issparse(value):
        return value.reshape(1, -1) if value.ndim == 1 else value
    return np.atleast_2d(value) if np.ndim(value) < 2 else value


def _is_raw_one(model: Any, name: str, value: Any) -> bool:
    """Tell whether one query of a view is raw (a text, a picture, a vector) rather than counts."""
    if is_vectors(_recipe(model, name), value):
        return True
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, str | PurePath) for item in value)
    if sp.issparse(value):
        return False
    if not hasattr(value, "shape"):  # a text or a path
        return True
    # a picture may be an array: gray ones have the two dimensions of a matrix, but are of bytes
    recipe = _recipe(model, name)
    picture = recipe is not None and recipe.kind.startswith("image") and value.dtype == np.uint8
    return len(value.shape) > (1 if picture else 2)


def _are_raw(model: Any, name: str, value: Any) -> bool:
    """Tell whether several queries of a view are raw."""
    return is_vectors(_recipe(model, name), value) or is_raw({name: value})


def _recipe(model: Any, name: str) -> Any:
    """Return the recipe of a view or of a raw column; None for a view given as a matrix."""
    by_source = {r.source: r for r in model.recipes_.values() if r is not None}
    return model.recipes_.get(name) or by_source.get(name)


def _read(model: Any, name: str, value: Any, one: bool) -> Views:
    """Read raw documents of a view, or of the raw column that several views are made from."""
    recipe = _recipe(model, name)
    source = name if recipe is None else recipe.source
    # one document may be a list: of tokens, of the numbers of a vector
    is_list = recipe is not None and recipe.kind in ("tokens", "embedding")
    listed = not one or (isinstance(value, list | tuple) and not is_list)
    views = model.read({source: list(value) if listed else [value]})
    return views if name == source else views.select(name)


def _join_views(parts: list[Views]) -> Views:
    """Return one Views with the views of all parts."""
    if len(parts) == 1:
        return parts[0]
    matrices = {n: m for part in parts for n, m in part.matrices.items()}
    features = {n: f for part in parts for n, f in part.features.items() if f is not None}
    present = {n: part.present[:, v] for part in parts for v, n in enumerate(part.names)}
    return Views(matrices, features=features, present=present)


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
