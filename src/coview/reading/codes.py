"""Codes: numbered centers of vectors (visual words, codes of embeddings), and what to call them.

A code has no meaning by itself. Where it is shown it is called by the terms of another view that go
with it in the training documents, and visual words by pictures as well. The recipe of the view
keeps both; the names of the features stay numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.runners.native import one_native_thread

CODED = {"embedding": "code", "image_words": "word"}  # kinds of recipes, and what a code is called
NO_NAMES = ("image_color",)  # kinds of recipes whose terms do not describe anything else
N_TERMS = 2  # in the title of a code
N_EXAMPLES = 3
MOST_DOCS = 20_000  # from which titles are found
BLOCK = 64  # codes whose terms are compared at once


def kmeans_centers(points: np.ndarray, n_centers: int, seed: int) -> np.ndarray:
    """Return centers of k-means on mini-batches, of shape (n_centers, dimensions)."""
    from sklearn.cluster import MiniBatchKMeans

    kmeans = MiniBatchKMeans(
        n_centers, n_init=1, batch_size=4096, compute_labels=False, random_state=seed
    )
    with one_native_thread():  # the number of threads must not change a bit of the result
        return kmeans.fit(points).cluster_centers_


# -- what codes are called ------------------------------------------------------------------------


def recipes_with_titles(views: Any) -> dict[str, Any]:
    """Return the recipes of views; those of codes with titles and examples.

    Parameters
    ----------
    views : Views
        The documents in which codes and terms are counted.

    Returns
    -------
    dict view -> Recipe or None
    """
    recipes = dict(views.recipes)
    for view, recipe in recipes.items():
        if recipe is None or recipe.kind not in CODED:
            continue
        shares = _shares(views[view])
        by = _describing_view(views, view)
        terms = None if by is None else _terms_of_codes(shares, views[by], views.features[by])
        examples = _examples(shares, views.ids) if recipe.kind == "image_words" else None
        titles = _titles(CODED[recipe.kind], shares.shape[1], terms, examples)
        recipes[view] = replace(recipe, titles=titles)
    return recipes


def _shares(counts: sp.csr_array) -> sp.csr_array:
    """Return the share of each code in the counts of a document."""
    totals = np.maximum(counts.sum(axis=1, dtype=np.float64), 1e-300)
    return sp.csr_array(counts.multiply(1 / totals[:, None])).tocsr()


def _describing_view(views: Any, view: str) -> str | None:
    """Return the view whose terms describe the codes of another: texts first, then tokens."""

    def kind(name: str) -> str:
        recipe = views.recipes[name]
        return "" if recipe is None else recipe.kind

    named = [n for n in views.names if n != view and views.features[n] is not None]
    usable = [n for n in named if kind(n) not in (*CODED, *NO_NAMES)]
    order = {"text": 0, "tokens": 1}
    return min(usable, key=lambda name: order.get(kind(name), 2), default=None)


def _terms_of_codes(
    shares: sp.csr_array, counts: sp.csr_array, names: Sequence[str]
) -> list[list[str]]:
    """Return the terms most relevant to each code: in how many of its documents, and how rare."""
    rows = np.unique(np.linspace(0, shares.shape[0] - 1, MOST_DOCS).astype(np.int64))
    has = sp.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)
    has, shares = has[rows], shares[rows]
    everywhere = np.sqrt(np.maximum(has.sum(axis=0), 1))
    found: list[list[str]] = []
    for start in range(0, shares.shape[1], BLOCK):
        together = (shares[:, start : start + BLOCK].T @ has).toarray()  # (codes, terms)
        score = together / everywhere  # as in `coview.top_terms`
        best = np.argsort(-score, axis=1, kind="stable")[:, :N_TERMS]
        found += [
            [str(names[w]) for w in words if row[w] > 0]
            for words, row in zip(best, score, strict=True)
        ]
    return found


def _examples(shares: sp.csr_array, ids: Sequence[str] | None) -> list[list[str]]:
    """Return the documents in which each code has the largest share."""
    by_code = shares.tocsc()
    found = []
    for code in range(by_code.shape[1]):
        part = slice(by_code.indptr[code], by_code.indptr[code + 1])
        rows, values = by_code.indices[part], by_code.data[part]
        best = rows[np.lexsort((rows, -values))][:N_EXAMPLES]
        found.append([f"document {row}" if ids is None else str(ids[row]) for row in best])
    return found


def _titles(
    what: str, n_codes: int, terms: list[list[str]] | None, examples: list[list[str]] | None
) -> tuple[str, ...]:
    """Return what each code is called: 'code 17: goal, coach' or 'word 973: sea (as in a.jpg)'."""
    titles = []
    for code in range(n_codes):
        words = ", ".join(terms[code]) if terms else ""
        like = f"as in {', '.join(examples[code])}" if examples and examples[code] else ""
        about = f"{words} ({like})" if words and like else words or like
        titles.append(f"{what} {code}: {about}" if about else f"{what} {code}")
    return tuple(titles)


def titles_setting(titles: tuple[str, ...]) -> dict[str, list[str]]:
    """Return titles as a part of a recipe's settings; nothing if there are none."""
    return {"titles": list(titles)} if titles else {}


def read_titles(settings: Mapping[str, Any], n_codes: int) -> tuple[str, ...]:
    """Return the titles in a recipe's settings, if they are one text for each code."""
    titles = settings.get("titles", [])
    if not isinstance(titles, list) or len(titles) not in (0, n_codes):
        raise ValueError(f"The titles of codes must be a list of {n_codes:,} texts.")
    if not all(isinstance(title, str) for title in titles):
        raise ValueError("The titles of codes must be texts.")
    return tuple(titles)
