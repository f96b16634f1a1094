"""From the data set of a cell to views, each loaded once in a process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coview.compare.plan import as_json
from coview.data.show import quoted
from coview.data.views import Views

KEPT = 6  # data sets held in memory in one process: each comes again with every seed

Given = Mapping[str, Views | Callable[..., Views]]
_held: OrderedDict[str, tuple[Views, np.ndarray | None]] = OrderedDict()


def load(data: Mapping[str, Any], given: Given, *, split: bool = False):
    """The views of a data set, and which documents its publisher keeps for testing, or None.

    Parameters
    ----------
    data : dict
        A `Data` as a dict.
    given : dict
        Views and loaders that the caller of `run` gave, by name.
    split : bool, default=False
        Whether the publisher's split is wanted.
    """
    wanted = as_json([data["name"], data["options"], split])
    source = given.get(data["name"])
    if isinstance(source, Views):  # held by the caller, and perhaps another one next time
        return _selected(source, data), None
    if wanted not in _held:
        _held[wanted] = _read(data["name"], data["options"], source, split)
        if len(_held) > KEPT:
            _held.popitem(last=False)
    views, is_test = _held[wanted]
    return _selected(views, data), is_test


def forget() -> None:
    """Let go of what is held: the names of another run may stand for other data."""
    _held.clear()


def _selected(views, data):
    return views.select(*data["views"]) if data["views"] else views


def _read(name, options, loader, split):
    if loader is not None:
        return _with_split(loader(**options))
    if name in _built_in():
        return _built_in()[name](**options), None
    if _is_registered(name):
        from coview.datasets import load_dataset

        asked: dict[str, Any] = {**options, "return_split": True} if split else dict(options)
        return _with_split(load_dataset(name, **asked))
    if Path(name).is_dir():
        return load_folder(name, options), None
    raise FileNotFoundError(
        f"There is no data set and no folder {quoted(name)}. Data sets: {', '.join(known_names())}."
    )


def is_folder(name: str) -> bool:
    """Whether a name stands for a views folder of the user's."""
    return name not in _built_in() and not _is_registered(name) and Path(name).is_dir()


def load_folder(name: str, options: Mapping[str, Any]) -> Views:
    """A views folder; the fingerprint among the options is for the journal alone."""
    return Views.load(name, **{n: v for n, v in options.items() if n != "sha256"})


def _with_split(found):
    return found if isinstance(found, tuple) else (found, None)


def _built_in() -> dict[str, Callable[..., Views]]:
    from coview.datasets import load_digits_views, load_python_api, make_views

    return {"digits": load_digits_views, "python-api": load_python_api, "make_views": make_views}


def _is_registered(name: str) -> bool:
    from coview.datasets.registry import DATASETS

    return name in DATASETS


def known_names() -> list[str]:
    """All names that need no path."""
    from coview.datasets.registry import DATASETS

    return [*_built_in(), *DATASETS]
