"""New documents, whatever they are given as, become views of a fitted model.

`read_documents` is behind everything that takes new documents: `transform`, `predict`, searches,
annotation, streams and baselines. It takes

* `Views`, matrices by view, or one matrix where the model has one view;
* raw documents by view or by the column that several views are made from, ``{"en": ["a text",
  None]}``, also beside matrices; one document instead of a list, ``{"en": "a text"}``; a DataFrame
  with such columns; a list of documents, or one, where the model reads a single column.

Raw documents are read by the recipes of the model. What a fit takes is read by `Views`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.scaling import real_views
from coview.reading.growing import grown_recipes
from coview.reading.recipes import (
    frame_columns,
    is_frame,
    is_missing,
    is_raw_column,
    read_raw,
    views_of,
)
from coview.views.container import Views
from coview.views.vocabulary import read_known
from coview.wording import listing, quoted

MOST_READ = 100  # documents whose words are looked at, where some are not known


def read_documents(model: Any, X: Any, *, one: bool = False, new_terms: bool = False) -> Views:
    """Return new documents as views of a fitted model, with whatever columns they have.

    Parameters
    ----------
    model : fitted model
        With `view_names_`, `recipes_` and, if it scales views, `scaling_`.
    X : Views, dict, matrix, DataFrame, list or text
        See the top of this module.
    one : bool, default=False
        Whether one document is asked for: then a row of numbers is a matrix of one row, a list of
        texts is one document where the view is made of tokens, and an array may be a picture.
    new_terms : bool, default=False
        Whether words that the model does not know are counted as well, in columns after its own.

    Examples
    --------
    >>> from coview import PLSA
    >>> texts = {"en": ["ball goal", "moon star", "goal team"]}
    >>> model = PLSA(2, random_state=0).fit(texts)
    >>> read_documents(model, {"en": ["goal", None]})["en"].sum(axis=1).tolist()
    [1.0, 0.0]
    >>> read_documents(model, "a star and a star")["en"].sum()
    np.float32(2.0)
    """
    if isinstance(X, Views):
        return X
    raw: dict[str, Any] = {}
    matrices: dict[str, Any] = {}
    for name, value in _by_name(model, X, one).items():
        items = _raw_items(_recipe(model, name), value, one)
        if items is None:
            matrices[name] = _as_rows(value) if one else value
        else:
            raw[name] = items
    counted = read_raw_views(model, raw, new_terms) if raw else {}
    data = {**counted.pop("data", {}), **matrices}
    return read_known(data, real_views(getattr(model, "scaling_", {})), **counted)


def read_raw_views(model: Any, raw: Mapping[str, Any], new_terms: bool = False) -> dict[str, Any]:
    """Return raw documents as keyword arguments of `Views`: data, features and present."""
    recipes = model.recipes_
    if new_terms:
        recipes = grown_recipes(recipes, raw)
    parts = read_raw(recipes, raw)
    names = getattr(model, "feature_names_", {})
    features = {n: getattr(recipes[n], "terms", names.get(n)) for n in parts["data"]}
    return {**parts, "features": features}


def unknown_words(
    model: Any, X: Any, *, row: int | None = None, one: bool = False
) -> dict[str, str]:
    """Return the words of raw documents that the model does not know, each with the reason.

    Parameters
    ----------
    model : fitted model
    X : as in `read_documents`
        Whatever is not raw has no words.
    row : int, optional
        The document to look at; by default the first `MOST_READ`.
    one : bool, default=False
        As in `read_documents`.

    Examples
    --------
    >>> from coview import PLSA
    >>> texts = ["a ball and a goal", "the moon and a star", "the goal of the team"]
    >>> model = PLSA(2, random_state=0).fit({"en": texts})
    >>> unknown_words(model, {"en": "the goal of a zebra"})["zebra"]
    'in no document of training'
    """
    if isinstance(X, Views) or not (isinstance(X, Mapping | str | list | tuple) or is_frame(X)):
        return {}
    rows = slice(MOST_READ) if row is None else slice(row, row + 1)
    found: dict[str, str] = {}
    for name, value in _by_name(model, X, one).items():
        items = _raw_items(_recipe(model, name), value, one) or []
        for view in views_of(model.recipes_, name):
            recipe = model.recipes_[view]
            if hasattr(recipe, "unknown_words"):
                for item in items[rows]:
                    found |= recipe.unknown_words(item, model.term_counts_[view])
    return found


def is_one_document(model: Any, X: Any) -> bool:
    """Tell one document, raw or as a row of counts, from several: lists of raw ones, matrices."""
    if not isinstance(X, Mapping) or sp.issparse(X):  # a DOK is a dict as well
        return isinstance(X, str) or _is_row(X)
    return all(_is_one(_recipe(model, n), value) for n, value in X.items() if value is not None)


def _is_one(recipe: Any, value: Any) -> bool:
    if _is_row(value):
        return True
    items = _raw_items(recipe, value, one=True)
    return items is not None and len(items) == 1 and items[0] is value


# -- by view ---------------------------------------------------------------------------------------


def _by_name(model: Any, X: Any, one: bool) -> dict[str, Any]:
    """Return what is given by view, or by the raw column that views are made from."""
    if isinstance(X, Mapping) and not sp.issparse(X):
        given = {name: value for name, value in X.items() if value is not None}
        if not given:
            raise ValueError("There is nothing to read: give a text, a picture or counts.")
        return given
    sources = list(dict.fromkeys(r.source for r in model.recipes_.values() if r is not None))
    if is_frame(X):
        columns = frame_columns(X, sources) if sources else None
        if columns is None and len(model.view_names_) > 1:
            raise ValueError(
                "A DataFrame is one matrix, and the model has the views "
                f"{listing(model.view_names_)}. Give a dict of frames by view, or "
                "Views.from_dataframe(frame, ...) with the names of these views."
            )
        return {model.view_names_[0]: X} if columns is None else dict(columns)
    if isinstance(X, str) or is_raw_column(X):
        return {_only_source(model, X, sources): X}
    if isinstance(X, list | tuple) and not _is_rows(X) and not (one and _is_row(X)):
        return {f"view_{v}": matrix for v, matrix in enumerate(X)}
    if len(model.view_names_) == 1:
        return {model.view_names_[0]: X}
    raise ValueError(
        f"A matrix alone can be read if the model has one view; it has "
        f"{listing(model.view_names_)}. Say which view it is: {{'view': matrix}}."
        + (" (An array of mixtures has a column for each topic, and its rows sum to one.)" * one)
    )


def _only_source(model: Any, X: Any, sources: list[str]) -> str:
    """Return the column that texts without a name are of."""
    texts = [s for s in sources if _recipe(model, s).kind == "text"]
    wanted = texts if isinstance(X, str) else sources
    if len(wanted) == 1:
        return wanted[0]
    what = "A text alone" if isinstance(X, str) else "A list of documents alone"
    raise ValueError(
        f"{what} can be read if the model reads one column of texts; it reads "
        + (
            f"{listing(sources)}. Say which it is: {{{quoted(sources[0])}: ...}}."
            if sources
            else "none: its views are matrices. Give matrices, or fit the model to texts."
        )
    )


def _recipe(model: Any, name: str) -> Any:
    """Return the recipe of a view or of a raw column; None for a view given as a matrix."""
    by_source = {r.source: r for r in model.recipes_.values() if r is not None}
    return model.recipes_.get(name) or by_source.get(name)


# -- values ----------------------------------------------------------------------------------------


def _raw_items(recipe: Any, value: Any, one: bool) -> list[Any] | None:
    """Return the raw documents of a column; None if this is a matrix, or a row, of numbers."""
    kind = getattr(recipe, "kind", "")
    if sp.issparse(value):
        return None
    if isinstance(value, str | bytes | PurePath):
        return [value]
    if kind == "embedding":
        return [value] if _is_row(value) else value
    if isinstance(value, list | tuple):
        if one and kind == "tokens" and all(isinstance(token, str) for token in value):
            return [value]
        missing = kind in ("text", "tokens") and all(is_missing(item) for item in value)
        pictures = kind.startswith("image") and any(_is_picture(item) for item in value)
        return list(value) if missing or pictures or is_raw_column(value) else None
    if one and kind.startswith("image") and _is_picture(value):
        return [value]
    return list(value) if is_raw_column(value) else None


def _is_picture(value: Any) -> bool:
    """Return whether this is a picture in memory: bytes, in gray or in colors."""
    return isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim in (2, 3)


def _is_rows(X: Any) -> bool:
    """Tell one matrix as nested lists of numbers from a list of views."""
    return bool(len(X)) and np.ndim(X[0]) == 1


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


def _as_rows(value: Any) -> Any:
    """Return a row as a matrix of one row; a matrix as it is."""
    if sp.issparse(value):
        return value.reshape(1, -1) if value.ndim == 1 else value
    return np.atleast_2d(value) if np.ndim(value) < 2 else value
