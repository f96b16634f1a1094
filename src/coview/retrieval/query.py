"""What can be asked: raw things, counts, mixtures and documents; and how they are read.

The words of a document that speak for a topic, and the words of a raw query.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reading.recipes import is_raw
from coview.retrieval.spaces import Key
from coview.views.container import Views
from coview.views.vocabulary import match_features
from coview.wording import listing, quoted

SUM_TOLERANCE = 1e-3  # of mixtures given as arrays


@dataclass(frozen=True)
class Doc:
    """A document that is known already, as a query: "what is like this one?"

    Parameters
    ----------
    id : str or int
        The id of a document that is searched or was trained on; or its number, from 0.
    view : str, optional
        The view whose mixture asks. By default all views together, for a training document; the
        view in which they are searched for other documents, and if the index knows no model.
    include_itself : bool, default=False
        Whether the document may be among its answers.
    """

    id: str | int
    view: str | None = None
    include_itself: bool = False


@dataclass(frozen=True)
class QueryBatch:
    """A query, or several, as the index sees them.

    Attributes
    ----------
    vectors : ndarray of shape (queries, dimensions)
        In the space of the index.
    view : str or None
        The view that the queries are of; None: several, or not known.
    mixtures : ndarray of shape (queries, topics), or None
    views : Views or None
        Their counts, with the columns of the model.
    itself : int or None
        The row of the gallery that is the query itself and no answer.
    """

    vectors: np.ndarray
    view: Key = None
    mixtures: np.ndarray | None = None
    views: Views | None = None
    itself: int | None = None


def read_one(model: Any, query: Any) -> Views:
    """One document, raw or as counts, as views of the model with columns in its order."""
    views = known_views(model, _as_views(model, query, one=True))
    if len(views) != 1:
        raise ValueError(
            f"A query is one document; got {len(views):,}. Use query_many for several."
        )
    if not known_counts(model, views).any():
        raise ValueError(_nothing_known(model, query, views))
    return views


def read_many(model: Any, queries: Any) -> Views:
    """Documents, raw or as counts, as views of the model with columns in its order."""
    views = known_views(model, _as_views(model, queries, one=False))
    empty = np.flatnonzero(known_counts(model, views) == 0)
    if len(empty):
        raise ValueError(
            f"{len(empty):,} of {len(views):,} queries have no term that the model knows in "
            f"{_views_named(views)}: rows {listing(empty)}, counting from 0. Leave them out."
        )
    return views


def known_views(model: Any, views: Views) -> Views:
    """The same documents with the columns that the model knows, in its order."""
    unknown = [name for name in views.names if name not in model.view_names_]
    if unknown:
        raise ValueError(
            f"The model's views are {listing(model.view_names_)}; got {listing(unknown)} as well. "
            "Leave out what the model does not know, or name the matrices as in fit."
        )
    matrices = {
        name: match_features(
            matrix,
            views.features[name],
            model.feature_names_[name],
            name,
            width=model.components_[name].shape[1],
            owner=type(model).__name__,
        )
        for name, matrix in views.matrices.items()
    }
    features = {n: f for n, f in model.feature_names_.items() if n in matrices and f is not None}
    return Views(matrices, present=views.present, features=features)


def known_counts(model: Any, views: Views) -> np.ndarray:
    """How much of each document is of terms that occurred in training, (documents,)."""
    total = np.zeros(len(views))
    for name, matrix in views.matrices.items():
        total += matrix @ (model.term_counts_[name] > 0).astype(np.float64)
    return total


def as_mixtures(queries: Any, n_topics: int, model: Any = None) -> np.ndarray | None:
    """An array that holds mixtures, as (queries, topics); None if it does not look like one.

    Counts are not mistaken for mixtures: the rows must sum to one and have as many columns as
    there are topics.
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


# -- raw things and matrices ----------------------------------------------------------------------


def _as_views(model, query, one):
    if isinstance(query, Views):
        return query
    if isinstance(query, str):
        query = {_only_text_source(model): query}
    if not isinstance(query, Mapping):
        return Views({_only_view(model): _matrix(query)})
    query = {name: value for name, value in query.items() if value is not None}
    if not query:
        raise ValueError("The query is empty: give a text, a picture or counts for some view.")
    raw = {n: v for n, v in query.items() if (_is_raw_one(model, n, v) if one else is_raw({n: v}))}
    parts = [_read(model, name, value, one) for name, value in raw.items()]
    parts += [Views({n: _matrix(v)}) for n, v in query.items() if n not in raw]
    return _side_by_side(parts)


def _only_text_source(model):
    sources = sorted({r.source for r in model.recipes_.values() if r and r.kind == "text"})
    if len(sources) == 1:
        return sources[0]
    found = f"it has {listing(sources)}" if sources else "it has none: its views are matrices"
    raise ValueError(
        f"A text alone is a query if the model reads one kind of text; {found}. "
        "Say which view it is: {'view': ...}."
    )


def _only_view(model):
    if len(model.view_names_) == 1:
        return model.view_names_[0]
    raise ValueError(
        f"A matrix alone is a query if the model has one view; it has "
        f"{listing(model.view_names_)}. Say which view it is: {{'view': matrix}}. (An array of "
        "mixtures has a column for each topic, and its rows sum to one.)"
    )


def _matrix(value):
    """A row as a matrix of one row; what has two dimensions already stays as it is."""
    if sp.issparse(value):
        return value.reshape(1, -1) if value.ndim == 1 else value
    return np.atleast_2d(value) if np.ndim(value) < 2 else value


def _is_raw_one(model, name, value):
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, str | PurePath) for item in value)
    if sp.issparse(value) or not hasattr(value, "shape"):
        return not sp.issparse(value)
    recipe = _recipe(model, name)
    picture = recipe is not None and recipe.kind.startswith("image") and value.dtype == np.uint8
    return len(value.shape) > (1 if picture else 2)


def _recipe(model, name):
    """How a view is made, or the first view of a raw column; None if it was given as a matrix."""
    by_source = {r.source: r for r in model.recipes_.values() if r is not None}
    return model.recipes_.get(name) or by_source.get(name)


def _read(model, name, value, one):
    """Raw things by the name of the raw column that some views are made from, or of one view."""
    recipe = _recipe(model, name)
    source = name if recipe is None else recipe.source
    tokens = recipe is not None and recipe.kind == "tokens"
    listed = isinstance(value, list | tuple) and (not one or not tokens)
    views = model.read({source: list(value) if listed else [value]})
    return views if name == source else views.select(name)


def _side_by_side(parts):
    if len(parts) == 1:
        return parts[0]
    matrices = {n: m for part in parts for n, m in part.matrices.items()}
    features = {n: f for part in parts for n, f in part.features.items() if f is not None}
    present = {n: part.present[:, v] for part in parts for v, n in enumerate(part.names)}
    return Views(matrices, features=features, present=present)


# -- words for errors -----------------------------------------------------------------------------


def _views_named(views):
    return f"view {quoted(views.names[0])}" if len(views.names) == 1 else listing(views.names)


def _nothing_known(model, query, views):
    words = raw_words(model, query)
    shown = f": {listing(words)}" if words else ""
    return (
        f"Nothing of the query is known to the model in {_views_named(views)}{shown}. Ask with "
        "terms that occurred in training, or fit the model on documents that have these."
    )


# -- words -----------------------------------------------------------------------------------------


Weighted = list[tuple[str, float]]


def words_for_topic(
    model: Any, views: Views, row: int, p_z_d: np.ndarray, topic: int, most: int
) -> dict[str, Weighted]:
    """By view, the terms of a document with the largest n(w) p(z|d,w) for a topic z.

    p(z|d,w) is proportional to p(z|d) p(w|z).

    Parameters
    ----------
    model : fitted model
    views : Views
        With the columns of the model.
    row : int
        Number of the document.
    p_z_d : ndarray of shape (topics,)
        Its mixture.
    topic, most : int
        The topic, and how many terms to give at most.
    """
    return {
        name: _words(matrix[[row]], p_z_d, model.components_[name], topic, most, names)
        for name, matrix in views.matrices.items()
        for names in [model.feature_names_[name]]
    }


def _words(counts, p_z_d, p_w_z, topic, most, names):
    terms = counts.indices
    joint = p_z_d[:, None].astype(np.float64) * p_w_z[:, terms]  # (topics, terms)
    total = joint.sum(axis=0)
    share = np.divide(joint[topic], total, out=np.zeros(len(terms)), where=total > 0)
    weights = counts.data * share
    order = [i for i in np.argsort(-weights, kind="stable")[:most] if weights[i] > 0]
    return [(str(terms[i] if names is None else names[terms[i]]), float(weights[i])) for i in order]


def raw_words(model: Any, query: Any) -> list[str]:
    """The words of a raw query, as its recipe finds them; none for pictures and matrices."""
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


def _split(text, recipe):
    if recipe is not None and recipe.kind not in ("text", "tokens"):
        return []  # the path of a picture
    analyze = getattr(getattr(recipe, "vectorizer", None), "build_analyzer", None)
    return analyze()(text) if analyze else re.findall(r"\w+", text)
