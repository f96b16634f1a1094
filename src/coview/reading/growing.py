"""Recipes whose vocabulary grows: words of new documents that no earlier document had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from coview.reading.recipes import Recipe
from coview.reading.text import TextOptions, TextRecipe, TokensRecipe, text_cell, token_cell
from coview.views.vocabulary import grown_names
from coview.wording import argument, quoted


def grown_recipes(
    recipes: Mapping[str, Recipe | None], raw: Mapping[str, Iterable[Any]]
) -> dict[str, Recipe | None]:
    """Return the recipes of views with the new words of raw columns, after those that they have.

    A word is new if it is in as many of the documents as a word needs to be in a first reading.
    Recipes of other kinds than texts and tokens have no words to add.

    Parameters
    ----------
    recipes : dict view -> Recipe or None
    raw : dict column -> iterable of raw documents
    """
    grown = dict(recipes)
    for view, recipe in recipes.items():
        source = view if recipe is None or view in raw else recipe.source
        if isinstance(recipe, TextRecipe | TokensRecipe) and source in raw:
            grown[view] = with_terms(recipe, _all_terms(recipe, raw[source]), view)
    return grown


def with_terms(recipe: Recipe, terms: np.ndarray, view: str) -> Recipe:
    """Return a recipe with more terms than it has; its own come first.

    Parameters
    ----------
    recipe : Recipe
    terms : array of str
    view : str
        Name of the view, for the message.
    """
    if len(terms) == len(getattr(recipe, "terms", terms)):
        return recipe
    if not isinstance(recipe, TextRecipe | TokensRecipe):
        raise ValueError(
            f"View {quoted(view)} is made by a recipe of the kind {quoted(recipe.kind)}, whose "
            "features are learned once: none can be added. Leave out "
            f"{argument('new_terms', True)}."
        )
    if isinstance(recipe, TextRecipe) and recipe.tfidf is not None:
        raise ValueError(
            f"View {quoted(view)} is weighted by tf-idf, as learned from the first documents: the "
            f"weights of new words are not known. Leave out {argument('new_terms', True)}, or use "
            "counts."
        )
    return replace(recipe, terms=terms)


def _all_terms(recipe: TextRecipe | TokensRecipe, items: Iterable[Any]) -> np.ndarray:
    """Return the terms of a recipe and the new ones, sorted."""
    known, n_docs = set(recipe.terms.tolist()), 0
    documents: Counter[str] = Counter()
    analyze = recipe.vectorizer.build_analyzer() if isinstance(recipe, TextRecipe) else None
    for item in items:
        cell = text_cell(item) if analyze else token_cell(item, recipe.separator)  # type: ignore[union-attr]
        if cell is not None:
            n_docs += 1
            documents.update(set(analyze(cell) if analyze else cell) - known)
    least = TextOptions().limits(n_docs)["min_df"]
    new = sorted(term for term, n in documents.items() if n >= least)
    return grown_names(recipe.terms, np.array(new, dtype=object))
