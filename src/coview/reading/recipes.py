"""Recipes: how raw things (texts, lists of tokens, pictures) become the counts of a view.

A recipe is kept with the views made by it and with every model fitted to them, so that new raw
documents can be read in the same way later. It is data, not code: settings that JSON can hold and
plain arrays; its vocabulary is the names of the view's features.

Recipes on disk, beside the counts they made: settings as JSON, arrays as .npy; no code.

    recipe_<view>.json          {"version": 1, "kind": ..., "settings": {...}, "arrays": [...]}
    recipe_<view>_<array>.npy   one for each array

The vocabulary of a recipe is the names of the view's features, which are stored once.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from coview.reading.plain_files import load_array, read_file
from coview.views.checks import check_names
from coview.views.matrix_checks import DataWarning
from coview.wording import listing, quoted


@runtime_checkable
class Recipe(Protocol):
    """What a view needs to read raw documents.

    Attributes
    ----------
    kind : str
        Its name in `RECIPES`.
    source : str
        The raw column it reads: several views may be made from one (a picture's words and its
        colors).
    """

    kind: ClassVar[str]
    source: str

    def counts(self, items: Iterable[Any]) -> tuple[sp.csr_array, np.ndarray]:
        """The counts of raw items (documents, features), and which of them are there.

        A missing item (None, NaN, an empty text) is an absent view: its row is empty and its
        mark False. An item that is there but has no known feature has an empty row and the mark
        True.
        """

    def as_data(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Settings for JSON, and arrays; without the vocabulary.

        Raises ValueError if the recipe holds code (a user's own function).
        """

    @classmethod
    def from_data(
        cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], features: np.ndarray
    ) -> Recipe:
        """What `as_data` gave, together with the names of the view's features."""


RECIPES = {
    "text": ("coview.reading.text", "TextRecipe"),
    "tokens": ("coview.reading.text", "TokensRecipe"),
    "image_words": ("coview.reading.images", "ImageWordsRecipe"),
    "image_color": ("coview.reading.images", "ImageColorRecipe"),
    "image_colour": ("coview.reading.images", "ImageColorRecipe"),  # in early files
}


def recipe_class(kind: str) -> Any:
    """The class of a recipe by its kind; ValueError for a kind that is not ours."""
    if kind not in RECIPES:
        raise ValueError(f"There is no recipe {quoted(kind)}; known are {listing(RECIPES)}.")
    module, name = RECIPES[kind]
    return getattr(import_module(module), name)


def is_missing(item: Any) -> bool:
    """Whether a raw cell is empty: None, NaN or NA, a text without a visible character, no path.

    >>> [is_missing(item) for item in (None, float("nan"), "  ", "", "text", ["a"], [])]
    [True, True, True, True, False, False, False]
    """
    if item is None:
        return True
    if isinstance(item, str):
        return not item.strip()
    if isinstance(item, float):
        return item != item
    return type(item).__name__ in ("NAType", "NaTType")


def is_raw(X: Any) -> bool:
    """Whether these are lists of raw documents rather than matrices.

    >>> is_raw({"en": ["a text", None]}), is_raw({"en": [[1, 2]]}), is_raw({"tags": [["a", "b"]]})
    (True, False, True)
    """
    if not isinstance(X, Mapping) or not X:
        return False
    return all(isinstance(v, list | tuple) and any(_is_raw_item(i) for i in v) for v in X.values())


def _is_raw_item(item: Any) -> bool:
    if isinstance(item, list | tuple):
        return bool(item) and all(isinstance(token, str) for token in item)
    return isinstance(item, str | PurePath)


def read_raw(recipes: Mapping[str, Recipe | None], raw: Mapping[str, Iterable[Any]]) -> dict:
    """Raw columns as keyword arguments of `Views`: every view whose recipe reads one of them."""
    columns = {name: _column(name, items) for name, items in raw.items()}
    known = {recipe.source for recipe in recipes.values() if recipe is not None}
    unknown = [name for name in columns if name not in known]
    if unknown or not columns:
        raise ValueError(
            f"Raw data can be given for {listing(sorted(known)) or 'no view'}; "
            f"got {listing(unknown) if unknown else 'nothing'}. Views made from matrices have no "
            "recipe: give them as matrices."
        )
    matrices, present = {}, {}
    for view, recipe in recipes.items():
        if recipe is not None and recipe.source in columns:
            matrices[view], present[view] = recipe.counts(columns[recipe.source])
    return {"data": matrices, "present": present}


def _column(name: str, items: Any) -> list[Any]:
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise TypeError(f"Raw data of {quoted(name)} must be a list of documents; got {items!r}.")
    return list(items)


# -- recipe files ----------------------------------------------------------------------------------


VERSION = 1


def write_recipe(folder: Path, view: str, recipe: Recipe) -> None:
    """Write the files of one recipe; one that holds code is left out, with a warning."""
    try:
        settings, arrays = recipe.as_data()
    except ValueError as error:
        _warn(
            f"The recipe of view {quoted(view)} is not saved: {str(error).rstrip('.')}. The "
            "counts are, but new raw documents cannot be read with them."
        )
        return
    for name, array in arrays.items():
        if not name.isalnum():  # the last underscore of a file name parts view and array
            raise ValueError(f"An array of a recipe cannot be called {quoted(name)}.")
        np.save(folder / f"recipe_{view}_{name}.npy", array, allow_pickle=False)
    contents = {
        "version": VERSION,
        "kind": recipe.kind,
        "settings": settings,
        "arrays": sorted(arrays),
    }
    text = json.dumps(contents, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
    (folder / f"recipe_{view}.json").write_bytes(f"{text}\n".encode())


def read_recipes(folder: Path, features: Mapping[str, list[str] | None]) -> dict[str, Recipe]:
    """The recipes of those views that have one we know."""
    found = {view: _read_recipe(folder, view, names) for view, names in features.items()}
    return {view: recipe for view, recipe in found.items() if recipe is not None}


def _read_recipe(folder: Path, view: str, names: list[str] | None) -> Recipe | None:
    path = folder / f"recipe_{view}.json"
    if not path.exists():
        return None
    contents = read_file(path, _load_json)
    trouble = _trouble(contents, names)
    if trouble is not None:
        _warn(
            f"{path} is left out: {trouble}. The counts of view {quoted(view)} are read, but new "
            "raw documents cannot be."
        )
        return None
    arrays = {
        name: read_file(folder / f"recipe_{view}_{name}.npy", load_array)
        for name in contents["arrays"]
    }
    terms = check_names(names or (), f"features of view {quoted(view)}")
    make = recipe_class(contents["kind"]).from_data
    return read_file(path, lambda _: make(contents["settings"], arrays, terms))


def _load_json(path: Path) -> dict[str, Any]:
    contents = json.loads(path.read_bytes())
    wanted = {"version": int, "kind": str, "settings": dict, "arrays": list}
    for key, kind in wanted.items():
        if not isinstance(contents, dict) or not isinstance(contents.get(key), kind):
            raise ValueError(f"it must have the entries {', '.join(wanted)}")
    if not all(isinstance(name, str) and name.isalnum() for name in contents["arrays"]):
        raise ValueError("its arrays must be named by letters and digits")
    return contents


def _trouble(contents: dict[str, Any], names: list[str] | None) -> str | None:
    """Why a sound recipe cannot be used here."""
    if contents["version"] > VERSION:
        return f"it was written by a newer version of coview (version {contents['version']})"
    if contents["kind"] not in RECIPES:
        return f"this version of coview knows no recipe {quoted(contents['kind'])}"
    if names is None:
        return "the names of the view's features are not there"
    return None


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=2)
