"""Model files read only to be shown, by `coview topics` and `coview info`: attributes, no methods.

The same checks are made as in `coview.load`, but what a search needs is not read. The classes of
models and recipes are not imported, and with them scikit-learn and SciPy, whose import took three
quarters of the time of a command that shows a small model.
"""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

from coview.io import Unpacker, home_of, read_model
from coview.model_checks import USED_PARAMETERS


def read_for_display(path: str | os.PathLike[str]) -> Any:
    """Read a model file, only to show the model.

    Parameters
    ----------
    path : path

    Returns
    -------
    object
        With the fitted attributes of the model, `n_components` and the parameters that are checked;
        the name of its type is that of the model's class. A recipe has its `kind` and `source`; the
        trace and other records have their fields.
    """
    return read_model(path, _DisplayUnpacker)


class _DisplayUnpacker(Unpacker):
    """Turn JSON back into plain objects instead of models, recipes and records."""

    def _record(self, value: dict) -> Any:
        if value["$"] == "topic_tree":  # it has methods, and needs no model
            return super()._record(value)
        if value["$"] == "search_evidence":  # large, and shown by its size alone
            return None
        return SimpleNamespace(**{n: self.unpack(v) for n, v in value["fields"].items()})

    def _recipe(self, value: dict) -> Any:
        settings = self.unpack(value["settings"])
        recipe = SimpleNamespace(kind=value["kind"], source=settings["source"])
        recipe.titles = tuple(settings.get("titles", ()))
        if "language" in settings:  # as `TextRecipe.stop_words`
            own = "none" if settings.get("parameters", {}).get("stop_words") is None else "own"
            recipe.stop_words = settings["language"] or own
        return recipe

    def _model(self, value: dict) -> Any:
        home_of(value["class"])  # refuses what is no model
        model = type(value["class"], (SimpleNamespace,), {})()
        for name in ("n_components", *USED_PARAMETERS):
            if name in value["params"]:
                setattr(model, name, self.unpack(value["params"][name]))
        self._set_attributes(model, value)
        return model
