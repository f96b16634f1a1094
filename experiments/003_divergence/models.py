"""The random baseline of paper 003, and the documents on which strengths are tried."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from coview.datasets import load_wikipedia
from coview.views.container import Views


class RandomOrder(BaseEstimator):
    """A search that returns answers in random order."""

    def __init__(self, n_components: int = 10, random_state: Any = None):
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, views: Views, y: Any = None):
        self.rng_ = np.random.default_rng(self.random_state)
        return self

    def project(self, views: Views) -> np.ndarray:
        return self.rng_.standard_normal((views.n_docs, self.n_components))

    transform = project


def wikipedia_training() -> Views:
    """Load the publisher's training documents."""
    views, is_test = load_wikipedia(return_split=True)
    return views[np.flatnonzero(~is_test)]
