"""The words of a document that speak for a topic, and the words of a raw query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from coview.data.views import Views

Weighted = list[tuple[str, float]]


def words_for_topic(
    model: Any, views: Views, row: int, p_z_d: np.ndarray, topic: int, most: int
) -> dict[str, Weighted]:
    """By view, the terms of a document with the largest n(w) p(z|d,w) for a topic z.

    p(z|d,w) is proportional to p(z|d) p(w|z).

    Parameters
    ----------
    model : fitted model
    views : Views
        With the columns of the model.
    row : int
        Number of the document.
    p_z_d : ndarray of shape (topics,)
        Its mixture.
    topic, most : int
        The topic, and how many terms to give at most.
    """
    return {
        name: _words(matrix[[row]], p_z_d, model.components_[name], topic, most, names)
        for name, matrix in views.matrices.items()
        for names in [model.feature_names_[name]]
    }


def _words(counts, p_z_d, p_w_z, topic, most, names):
    terms = counts.indices
    joint = p_z_d[:, None].astype(np.float64) * p_w_z[:, terms]  # (topics, terms)
    total = joint.sum(axis=0)
    share = np.divide(joint[topic], total, out=np.zeros(len(terms)), where=total > 0)
    weights = counts.data * share
    order = [i for i in np.argsort(-weights, kind="stable")[:most] if weights[i] > 0]
    return [(str(terms[i] if names is None else names[terms[i]]), float(weights[i])) for i in order]


def raw_words(model: Any, query: Any) -> list[str]:
    """The words of a raw query, as its recipe finds them; none for pictures and matrices."""
    if isinstance(query, str):
        return _split(query, None)
    if not isinstance(query, Mapping):
        return []
    words: list[str] = []
    for name, value in query.items():
        items = value if isinstance(value, list | tuple) else [value]
        recipe = model.recipes_.get(name)
        for item in items:
            words += _split(item, recipe) if isinstance(item, str) else []
    return list(dict.fromkeys(words))


def _split(text, recipe):
    if recipe is not None and recipe.kind not in ("text", "tokens"):
        return []  # the path of a picture
    analyze = getattr(getattr(recipe, "vectorizer", None), "build_analyzer", None)
    return analyze()(text) if analyze else re.findall(r"\w+", text)
