"""Small data for quick runs: some documents of the real data set, or generated ones without it.

A quick run shows that an experiment still runs from end to end. Its numbers mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.views.container import Views

DOCUMENTS = 120
COLUMNS = 300  # of each view: the most frequent ones

# Number of classes and names of the views of generated stand-ins.
SHAPES: dict[str, tuple[int, list[str]]] = {
    "webkb_cornell": (2, ["content", "cites"]),
    "webkb_washington": (2, ["content", "cites"]),
    "newsgv2": (2, ["view1", "view2"]),
    "newsgv4": (3, ["view1", "view2", "view3", "view4"]),
    "newsgv4-parts": (3, ["part1", "part2", "part3", "part4"]),
    "wikipedia": (10, ["text_words", "image_sift128"]),
    "wikipedia-training": (10, ["text_words", "image_sift128"]),
    "mfeat": (10, ["pix", "fou", "fac", "zer", "mor"]),
    "reuters1200": (6, ["en", "fr", "gr", "it", "sp"]),
    "cora": (7, ["content", "cites"]),
    "msrcv1": (7, ["cm24", "hog576", "gist512", "lbp256", "centrist254"]),
}


def quick_data(
    name: str, loader: Callable[..., Any] | None, split: bool, **options: Any
) -> Views | tuple[Views, np.ndarray]:
    """Return a few documents of a data set; with `split`, also which of them are for testing."""
    try:
        views = loader(**options) if loader else _real(name, options)
    except FileNotFoundError:
        views = _generated(name, options)
    views = views[0] if isinstance(views, tuple) else views
    few = _cut(views)
    return (few, np.arange(len(few)) % 4 == 0) if split else few


def _real(name: str, options: dict[str, Any]) -> Views:
    from coview.datasets import load_dataset

    return load_dataset(name, **options)


def _generated(name: str, options: dict[str, Any]) -> Views:
    from coview.datasets import make_views

    classes, names = SHAPES[name]
    names = options.get("views", names)
    return make_views(DOCUMENTS, classes, dict.fromkeys(names, 60), random_state=0)


def _cut(views: Views) -> Views:
    """Return documents of all classes in turn, with the most frequent columns of each view."""
    labels = np.asarray(views.labels)
    place = np.empty(len(labels), int)
    for value in np.unique(labels):
        rows = np.flatnonzero(labels == value)
        place[rows] = np.arange(len(rows))
    kept = views[np.sort(np.lexsort((labels, place))[:DOCUMENTS])]
    matrices = {name: _frequent(matrix) for name, matrix in kept.matrices.items()}
    return Views(matrices, labels=kept.labels, label_names=kept.label_names, present=kept.present)


def _frequent(matrix: sp.csr_array) -> sp.csr_array:
    total = np.asarray(matrix.sum(axis=0)).ravel()
    return matrix[:, np.sort(np.argsort(-total, kind="stable")[:COLUMNS])]
