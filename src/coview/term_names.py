"""What terms are called where they are shown: codes and visual words by what goes with them."""

from __future__ import annotations

from typing import Any


def shown_terms(model: Any, view: str) -> list[str]:
    """Return what the terms of a view are called where a person reads them.

    Parameters
    ----------
    model : fitted model
    view : str

    Returns
    -------
    list of str
        The names of the terms; their numbers if they have no names.
    """
    names = model.feature_names_[view]
    if names is None:
        return [str(w) for w in range(model.components_[view].shape[1])]
    return [str(name) for name in names]
