"""What terms are called where they are shown: codes and visual words by what goes with them."""

from __future__ import annotations

from typing import Any


def shown_term(model: Any, view: str, w: int) -> str:
    """Return what a term of a view is called where a person reads it.

    Parameters
    ----------
    model : fitted model
    view : str
    w : int
        The column of the term.

    Returns
    -------
    str
        Its name; its number if it has none. Codes of embeddings and visual words have titles:
        ``code 17: goal, coach``, ``word 973: sea (as in beach.jpg)``.
    """
    recipe = (getattr(model, "recipes_", None) or {}).get(view)
    names = getattr(recipe, "titles", ()) or model.feature_names_[view]
    return str(w if names is None else names[w])


def shown_terms(model: Any, view: str) -> list[str]:
    """Return what all terms of a view are called: see `shown_term`.

    Parameters
    ----------
    model : fitted model
    view : str

    Returns
    -------
    list of str
    """
    return [shown_term(model, view, w) for w in range(model.components_[view].shape[1])]
