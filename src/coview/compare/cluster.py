"""The task "cluster": fit on all documents, compare the clusters with the classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from coview.compare.making import make, task_of, topics_for, visible
from coview.compare.outcome import Outcome, timed
from coview.compare.preparing import Preparation
from coview.compare.sampling import has_label
from coview.data.show import plural
from coview.data.views import Views


def cluster(cell: Mapping[str, Any], views: Views, is_test: Any, given: Any) -> Outcome:
    """Fit and measure. `is_test` is not used: no document is left out."""
    entry = cell["entry"]
    if task_of(entry["name"]) != "clustering":
        raise ValueError(f"{entry['name']} needs labels in fit: it is not for the task 'cluster'.")
    prepared = Preparation(cell["data"]["steps"]).learn(views).apply(views)
    seen = visible(entry, prepared)
    model = make(entry, topics_for(entry, views), cell["seed"], given)
    # only what says that it chooses by labels gets them
    fitted, seconds = timed(model.fit, seen, *((seen.labels,) if entry["oracle"] else ()))
    values = {**clustering_metrics(views.labels, fitted.labels_), **label_free(fitted, seen)}
    return Outcome({"": values}, seconds, iterations(fitted), len(views))


def clustering_metrics(truth: Any, found: np.ndarray) -> dict[str, float]:
    """Clusters against classes, over the documents that have a class; empty without classes."""
    from coview import metrics

    if truth is None or not has_label(truth).any():
        return {}
    if len(truth) != len(found):
        raise ValueError(
            f"{plural(len(truth), 'label')} cannot be compared with the clusters of "
            f"{plural(len(found), 'document')}: give one for each."
        )
    rows = np.flatnonzero(has_label(truth))
    classes = np.unique(np.array(np.asarray(truth)[rows].tolist()), return_inverse=True)[1]
    measures = {
        "accuracy": metrics.clustering_accuracy,
        "nmi_max": metrics.nmi_max,
        "nmi_mean": metrics.nmi_mean,
        "purity": metrics.purity,
        "pairwise_f": metrics.pairwise_f,
        "adjusted_rand": metrics.adjusted_rand,
    }
    return {name: float(measure(classes, found[rows])) for name, measure in measures.items()}


def label_free(model: Any, views: Views) -> dict[str, float]:
    """What needs no classes: objective, agreement between views, coherence, diversity."""
    found = {}
    if hasattr(model, "objective_"):
        found["objective"] = float(model.objective_)
    if hasattr(model, "components_") and hasattr(model, "view_doc_topic_"):
        found |= _topic_measures(model, views)
    return {name: value for name, value in found.items() if np.isfinite(value)}


def _topic_measures(model, views):
    from coview.metrics import mean_view_agreement, topic_quality

    quality = topic_quality(model, views).values()
    found = {
        name: _mean_of_known([q[name] for q in quality]) for name in ("coherence", "diversity")
    }
    mixtures = model.view_doc_topic_
    if len({id(theta) for theta in mixtures.values()}) > 1:  # a shared one agrees with itself
        found["agreement"] = mean_view_agreement(mixtures, present=views.present)
    return found


def _mean_of_known(values):
    """Mean over the views where it could be measured; NaN if that is none."""
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


def iterations(model: Any) -> int | None:
    """How many iterations a fit took, where the model says it."""
    inner = getattr(model, "model_", model)
    count = getattr(inner, "n_iter_", None)
    return int(count) if isinstance(count, int | np.integer) else None
