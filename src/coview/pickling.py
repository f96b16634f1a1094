"""Pickled models know which version wrote them, and a warning tells when another reads them."""

from __future__ import annotations

import warnings
from typing import Any

from coview import __version__
from coview.views.checks import DataWarning

_KEY = "_coview_version"


class VersionedPickleMixin:
    """Add the version of coview to the pickled state of an estimator; copies have it, too."""

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {**state, _KEY: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        own = {name: value for name, value in state.items() if name != _KEY}
        version = state.get(_KEY)
        if version != __version__:
            writer = "an early version of coview" if version is None else f"coview {version}"
            warnings.warn(
                f"This {type(self).__name__} was pickled by {writer} and is read by {__version__}: "
                "its results may differ, or it may not work. Later versions read what "
                "model.save(path) wrote; fit the model again if there is no such file.",
                DataWarning,
                stacklevel=2,
            )
        super().__setstate__(own)  # type: ignore[misc]
