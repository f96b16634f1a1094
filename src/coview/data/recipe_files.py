"""Recipes on disk, beside the counts they made: settings as JSON, arrays as .npy; no code.

    recipe_<view>.json          {"version": 1, "kind": ..., "settings": {...}, "arrays": [...]}
    recipe_<view>_<array>.npy   one for each array

The vocabulary of a recipe is the names of the view's features, which are stored once.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coview.data.matrices import DataWarning
from coview.data.readers import load_array, read_file
from coview.data.recipes import RECIPES, Recipe, recipe_class
from coview.data.show import quoted
from coview.data.validate import check_names

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
