"""The data sets behind the defaults: fourteen with classes, and two for topics and search."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from coview import Views
from coview.compare.cell_inputs import draw_test
from coview.datasets import load_20newsgroups, load_dataset, load_python_api, load_wikipedia

DATASETS = (
    *("mfeat", "msrcv1", "reuters1200", "cora", "webkb_cornell", "webkb_texas"),
    *("webkb_washington", "webkb_wisconsin", "wikipedia", "ngs", "bdgp", "mnist4"),
    *("synthetic3d", "wikiarticles"),
)
TEST_SHARE = 0.25  # of documents, where the publisher gives no split


@lru_cache(maxsize=2)
def load(name: str) -> tuple[Views, np.ndarray]:
    """Return the views of one of the fourteen data sets, without their labels, and the labels.

    All six views of mfeat; words and citations of cora; words and SIFT of wikipedia; the links of
    WebKB in both directions. `COVIEW_DATA` names the folder that holds the data sets.
    """
    views = load_dataset(name, **({"views": "all"} if name == "mfeat" else {}))
    return Views(views.matrices, present=views.present), np.asarray(views.labels)


@lru_cache(maxsize=2)
def load_corpus(name: str) -> tuple[Views, np.ndarray | None]:
    """Return 20newsgroups, python_api or wikipedia, and which documents the publisher tests on."""
    if name == "python_api":
        return load_python_api(), None
    loaders = {"20newsgroups": load_20newsgroups, "wikipedia": load_wikipedia}
    return loaders[name](return_split=True)


def train_and_test(name: str, seed: int) -> tuple[Views, Views]:
    """Return training and test documents: as the publisher splits them, else at random."""
    views, is_test = load_corpus(name)
    if is_test is None:
        is_test = draw_test(len(views), TEST_SHARE, seed=seed)
    return views[np.flatnonzero(~is_test)], views[np.flatnonzero(is_test)]
