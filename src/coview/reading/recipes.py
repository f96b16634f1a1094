"""Recipes: how raw documents (texts, lists of tokens, pictures) become the counts of a view.

A recipe is kept with the views that it made and with every model fitted to them, so that new raw
documents can be read in the same way later. It is data, not code: settings for JSON, and arrays.
On disk it is beside the counts that it made:

    recipe_<view>.json          {"version": 1, "kind": ..., "settings": {...}, "arrays": [...]}
    recipe_<view>_<array>.npy   one for each array

The vocabulary of a recipe is the feature names of the view, which are stored once.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from coview.reading.patterns import UnsafePattern
from coview.reading.plain_files import load_array, read_file
from coview.views.checks import DataWarning, check_names
from coview.views.labels import is_missing as is_missing
from coview.wording import listing, quoted


@runtime_checkable
class Recipe(Protocol):
    """How raw documents become the counts of a view.

    Attributes
    ----------
    kind : str
        Its name in `RECIPES`.
    source : str
        The raw column that it reads. Several views may be made from one column, such as the visual
        words and the colors of pictures.
    """

    kind: ClassVar[str]
    source: str

    def counts(self, items: Iterable[Any]) -> tuple[sp.csr_array, np.ndarray]:
        """Return counts of raw items (documents, features), and which items are present.

        A missing item (None, NaN, an empty text) has an empty row and is not present. An item
        without a known feature has an empty row and is present.
        """

    def as_data(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return settings for JSON, and arrays; without the vocabulary.

        Raises ValueError if the recipe holds code (a user's own function).
        """

    @classmethod
    def from_data(
        cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], features: np.ndarray
    ) -> Recipe:
        """Return the recipe that `as_data` described, with the feature names of the view."""


RECIPES = {
    "text": ("coview.reading.text", "TextRecipe"),
    "tokens": ("coview.reading.text", "TokensRecipe"),
    "embedding": ("coview.reading.embeddings", "EmbeddingRecipe"),
    "image_words": ("coview.reading.images", "ImageWordsRecipe"),
    "image_color": ("coview.reading.images", "ImageColorRecipe"),
    "image_colour": ("coview.reading.images", "ImageColorRecipe"),  # in early files
}


def recipe_class(kind: str) -> Any:
    """Return the class of a recipe by its kind; ValueError for an unknown kind."""
    if kind not in RECIPES:
        raise ValueError(f"There is no recipe {quoted(kind)}; known are {listing(RECIPES)}.")
    module, name = RECIPES[kind]
    return getattr(import_module(module), name)


def is_raw_column(items: Any) -> bool:
    """Return whether these are raw documents: a list, an array or a column of a frame of them."""
    if isinstance(items, np.ndarray) or hasattr(items, "to_list"):
        if getattr(items, "ndim", 1) != 1:
            return False
        items = items.tolist() if isinstance(items, np.ndarray) else items.to_list()
    return isinstance(items, list | tuple) and any(_is_raw_item(item) for item in items)


def is_frame(X: Any) -> bool:
    """Return whether X looks like a DataFrame of pandas or polars or a table of pyarrow."""
    return hasattr(type(X), "columns") and not isinstance(X, Mapping)


def frame_columns(X: Any, known: list[str]) -> dict[str, list[Any]] | None:
    """Return the columns of a frame that recipes read; None if it can only be a matrix."""
    from coview.reading.tables import FrameRows  # not above: it imports the views, and they this

    frame = FrameRows(X)
    names = list(frame.columns())
    wanted = [name for name in known if name in names]
    if wanted:
        cells = list(zip(*(row for _, row in frame.rows(wanted)), strict=True))
        return {name: list(column) for name, column in zip(wanted, cells, strict=True)}
    _, first = next(frame.rows(names), (0, ()))
    if any(isinstance(cell, str | list | tuple) for cell in first):
        raise ValueError(
            f"The model reads the columns {listing(known)}; the frame has {listing(names)}. Rename "
            "its columns, or make views of it with Views.from_dataframe(frame, text=...)."
        )
    return None


def _is_raw_item(item: Any) -> bool:
    if isinstance(item, list | tuple):
        return bool(item) and all(isinstance(token, str) for token in item)
    return isinstance(item, str | PurePath)


def read_raw(
    recipes: Mapping[str, Recipe | None], raw: Mapping[str, Iterable[Any]]
) -> dict[str, Any]:
    """Read raw columns by the recipes of views, as keyword arguments of `Views`.

    Parameters
    ----------
    recipes : dict view -> Recipe or None
    raw : dict -> iterable of raw documents
        By the column that views are made from, or by one of these views.

    Returns
    -------
    dict
        "data" and "present" of every view whose recipe reads one of the columns.
    """
    columns = {name: _column(name, items) for name, items in raw.items()}
    views = {name: views_of(recipes, name) for name in columns}
    unknown = [name for name, made in views.items() if not made]
    if unknown or not columns:
        known = sorted({recipe.source for recipe in recipes.values() if recipe is not None})
        raise ValueError(
            f"Raw data can be given for {listing(known)}; got "
            f"{listing(unknown) if unknown else 'nothing'}. Views made from matrices have no "
            "recipe: give them as matrices."
            if known
            else f"Raw data cannot be read as {listing(unknown) if unknown else 'a view'}: the "
            "views were made from matrices, so there is no recipe to count with. Give matrices, "
            "or fit the model to texts."
        )
    items = {view: columns[name] for name, made in views.items() for view in made}
    matrices, present = {}, {}
    for view, recipe in recipes.items():
        if recipe is not None and view in items:
            matrices[view], present[view] = recipe.counts(items[view])
    return {"data": matrices, "present": present}


def views_of(recipes: Mapping[str, Recipe | None], name: str) -> list[str]:
    """Return the views that are made from a raw column, or the view of this name."""
    made = [view for view, recipe in recipes.items() if recipe and recipe.source == name]
    return made or [view for view, recipe in recipes.items() if recipe and view == name]


def _column(name: str, items: Any) -> list[Any]:
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise TypeError(f"Raw data of {quoted(name)} must be a list of documents; got {items!r}.")
    return list(items)


# -- files ----------------------------------------------------------------------------------------

VERSION = 1


def write_recipe(folder: Path, view: str, recipe: Recipe, stem: str | None = None) -> None:
    """Write the files of one recipe; a recipe that holds code is not saved, with a warning.

    The names of the files have `stem` in them, by default the name of the view.
    """
    stem = view if stem is None else stem
    try:
        settings, arrays = recipe.as_data()
    except ValueError as error:
        _warn(
            f"The recipe of view {quoted(view)} is not saved: {str(error).rstrip('.')}. The "
            "counts are, but new raw documents cannot be read with them."
        )
        return
    for name, array in arrays.items():
        if not name.isalnum():  # the last underscore of a file name separates view and array
            raise ValueError(f"An array of a recipe cannot be called {quoted(name)}.")
        np.save(folder / f"recipe_{stem}_{name}.npy", array, allow_pickle=False)
    contents = {
        "version": VERSION,
        "kind": recipe.kind,
        "settings": settings,
        "arrays": sorted(arrays),
    }
    text = json.dumps(contents, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
    (folder / f"recipe_{stem}.json").write_bytes(f"{text}\n".encode())


def read_recipes(folder: Path, features: Mapping[str, list[str] | None]) -> dict[str, Recipe]:
    """Return the recipes of those views that have one of a known kind."""
    found = {view: read_recipe(folder, view, names) for view, names in features.items()}
    return {view: recipe for view, recipe in found.items() if recipe is not None}


def read_recipe(
    folder: Path, view: str, names: Sequence[str] | np.ndarray | None, stem: str | None = None
) -> Recipe | None:
    """Return the recipe of a view, None if it has none that can be used; see `write_recipe`."""
    stem = view if stem is None else stem
    path = folder / f"recipe_{stem}.json"
    if not path.exists():
        return None
    contents = read_file(path, _load_json)
    reason = _unusable_reason(contents, names)
    if reason is not None:
        warn_of_unused(str(path), view, reason)
        return None
    arrays = {
        name: read_file(folder / f"recipe_{stem}_{name}.npy", load_array)
        for name in contents["arrays"]
    }
    terms = check_names(() if names is None else names, f"features of view {quoted(view)}")
    make = recipe_class(contents["kind"]).from_data
    try:
        return read_file(path, lambda _: make(contents["settings"], arrays, terms))
    except ValueError as error:
        if not isinstance(error.__cause__, UnsafePattern):
            raise
        warn_of_unused(str(path), view, str(error.__cause__))
        return None


def _load_json(path: Path) -> dict[str, Any]:
    contents = json.loads(path.read_bytes())
    wanted = {"version": int, "kind": str, "settings": dict, "arrays": list}
    for key, kind in wanted.items():
        if not isinstance(contents, dict) or not isinstance(contents.get(key), kind):
            raise ValueError(f"it must have the entries {', '.join(wanted)}")
    if not all(isinstance(name, str) and name.isalnum() for name in contents["arrays"]):
        raise ValueError("its arrays must be named by letters and digits")
    return contents


def _unusable_reason(contents: dict[str, Any], names: Any) -> str | None:
    """Return why an undamaged recipe cannot be used here, or None."""
    if contents["version"] > VERSION:
        return f"it was written by a newer version of coview (version {contents['version']})"
    if contents["kind"] not in RECIPES:
        return f"this version of coview knows no recipe {quoted(contents['kind'])}"
    if names is None:
        return "the names of the view's features are not there"
    return None


def warn_of_unused(what: str, view: str, reason: str) -> None:
    """Warn of a recipe in a file that is whole, but cannot be used."""
    _warn(
        f"{what} is left out: {reason.rstrip('.')}. The counts of view {quoted(view)} are read, "
        "but new raw documents cannot be."
    )


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=2)
