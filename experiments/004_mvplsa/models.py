"""Models of paper 004 that coview does not have, made of coview's parts.

* one view of co-training (CoTr_V1, CoTr_V2): the ensemble is coview's `CoTraining`;
* label spreading on the graph of spectral clustering (Zhou et al., 2004): the strong simple
  baseline where labels are given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve
from sklearn.base import BaseEstimator

from coview.baselines import CoTraining
from coview.em.features import Features
from coview.graphs.neighbors import knn_graph
from coview.views.container import Views


def cotraining_view(n_components: int, random_state: Any = None, *, view: int, **params: Any):
    """Return co-training read from one of its views, counted from 1 in the order of the data."""
    return _CoTrainingView(view, CoTraining(random_state=random_state, **params))


class _CoTrainingView(BaseEstimator):
    def __init__(self, view: int, model: Any):
        self.view = view
        self.model = model

    def fit(self, views: Views, y: np.ndarray):
        self.model_ = self.model.fit(views, y)
        proba = self.model_.view_proba(views)[views.names[self.view - 1]]
        found = self.model_.classes_[np.nan_to_num(proba).argmax(axis=1)]
        self.labels_ = np.where(y >= 0, y, found)
        return self

    def predict_proba(self, views: Views) -> np.ndarray:
        return self.model_.view_proba(views)[views.names[self.view - 1]]


def label_spreading(n_components: int, random_state: Any = None, **params: Any):
    """Return label spreading over the nearest-neighbor graph of all views side by side."""
    return _LabelSpreading(**params)


class _LabelSpreading(BaseEstimator):
    """F = (I - a S)^-1 Y with S = D^-1/2 U D^-1/2, U the graph of `SpectralConcat`.

    Each class is then scaled to its share of the labels; otherwise a class with few labels would
    hardly be predicted (class mass normalization, Zhu et al., 2003).
    """

    def __init__(self, alpha: float = 0.9, n_neighbors: int = 20, class_mass: bool = True):
        self.alpha = alpha
        self.class_mass = class_mass
        self.n_neighbors = n_neighbors

    def fit(self, views: Views, y: np.ndarray):
        points = Features.learn(views, "auto").side_by_side(views)
        graph = knn_graph(points, self.n_neighbors)
        root = sp.diags_array(1 / np.sqrt(np.maximum(graph.sum(axis=1), 1e-12)))
        system = sp.eye_array(len(y)) - self.alpha * (root @ graph @ root)
        given = np.eye(y.max() + 2)[y][:, :-1]
        self.scores_ = spsolve(sp.csc_array(system), given)
        if self.class_mass:
            self.scores_ *= given.mean(axis=0) / np.maximum(self.scores_.sum(axis=0), 1e-300)
        self.labels_ = np.where(y >= 0, y, self.scores_.argmax(axis=1))
        return self

    def predict_proba(self, views: Views) -> np.ndarray:
        raise NotImplementedError("Label spreading classifies only the documents of the fit.")
