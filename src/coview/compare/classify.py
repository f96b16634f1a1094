"""The task "classify": the classes of some documents are given, those of the others are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from coview.compare.cluster import iterations
from coview.compare.making import make, n_classes, task_of, visible
from coview.compare.outcome import Outcome, timed
from coview.compare.preparing import Preparation
from coview.compare.sampling import draw_labelled, has_label
from coview.data.views import Views


def classify(cell: Mapping[str, Any], views: Views, is_test: Any, given: Any) -> Outcome:
    """Fit with few labels; accuracy on the documents whose label was hidden.

    Hidden documents are there without their label (transductive), as in Zhuang et al. (2012).
    """
    if views.labels is None:
        raise ValueError("The task 'classify' needs data with labels.")
    codes = _codes(views.labels)
    shown = draw_labelled(
        codes, cell["rate"], sampling=cell["settings"]["label_sampling"], seed=cell["seed"]
    )
    hidden = np.setdiff1d(np.flatnonzero(codes >= 0), shown)
    known = np.full(len(codes), -1)
    known[shown] = codes[shown]
    prepared = Preparation(cell["data"]["steps"]).learn(views).apply(views)
    model = _classifier(cell, n_classes(views) or 1, given)
    fitted, seconds = timed(model.fit, visible(cell["entry"], prepared), known)
    values = _measures(codes[hidden], np.asarray(fitted.labels_)[hidden])
    return Outcome(
        {"": {**values, "labelled": len(shown)}}, seconds, iterations(fitted), len(views)
    )


def _codes(labels):
    """Numbers of the classes, -1 for documents without one."""
    known = has_label(labels)
    codes = np.full(len(known), -1)
    values = np.array(np.asarray(labels)[known].tolist())
    codes[known] = np.unique(values, return_inverse=True)[1]
    return codes


def _classifier(cell, n_components, given):
    from coview.base import BaseViewsModel
    from coview.classifier import TopicClassifier

    made = make(cell["entry"], n_components, cell["seed"], given)
    if isinstance(made, BaseViewsModel):
        return TopicClassifier(made)
    if task_of(cell["entry"]["name"]) == "clustering" and not hasattr(made, "predict_proba"):
        raise ValueError(f"{cell['entry']['name']} takes no labels: it is not for 'classify'.")
    return made


def _measures(truth, found):
    from sklearn.metrics import accuracy_score, f1_score

    return {
        "accuracy": float(accuracy_score(truth, found)),
        "macro_f1": float(f1_score(truth, found, average="macro", zero_division=0)),
    }
