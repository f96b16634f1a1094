"""One fitted model on some documents: everything that can be measured of it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from coview.compare.inputs import has_label
from coview.compare.tasks import clustering_metrics
from coview.metrics import topic_coherence, topic_diversity, view_agreement
from coview.models import topic_model
from coview.views.checks import check_labels
from coview.views.container import Views


def evaluate(model: Any, views: Views, labels: Any = None, *, top: int = 10) -> dict[str, Any]:
    """Measure a fitted model on documents, which are folded in.

    Parameters
    ----------
    model : fitted model or TopicClassifier
    views : Views
        Some or all of the views of the model.
    labels : array-like of shape (documents,), default=None
        True classes; by default those of the views. -1 and None stand for documents without one.
    top : int, default=10
        Words of each topic that coherence and diversity look at.

    Returns
    -------
    dict
        ``documents``; ``classes`` (a classifier's accuracy and macro F1) and ``clusters`` (clusters
        against classes), where there are labels; ``perplexity`` of words that were set aside;
        ``agreement`` of each pair of views, each folded in on its own (one minus the mean
        Jensen-Shannon divergence); ``views``, with coherence and diversity of the topics in each.

    Examples
    --------
    >>> from coview import LinkPLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
    >>> found = evaluate(LinkPLSA(3, random_state=0).fit(views), views)
    >>> sorted(found)
    ['agreement', 'clusters', 'documents', 'perplexity', 'views']
    >>> sorted(found["agreement"]), sorted(found["views"]["text"])
    (['text, image'], ['coherence', 'diversity'])
    """
    inner = topic_model(model)
    truth = views.labels if labels is None else check_labels(labels, len(views))
    names = [name for name in inner.view_names_ if name in views.names]
    known = views.select(*names).with_labels(None)
    return {
        "documents": len(views),
        **_against_classes(model, inner, known, truth, views.label_names),
        "perplexity": inner.perplexity(known),
        **_agreement(inner, known),
        "views": {name: _quality(inner, known, name, top) for name in names},
    }


def _against_classes(model, inner, views, truth, label_names):
    if truth is None or not has_label(truth).any():
        return {}
    found = {"clusters": clustering_metrics(truth, inner.predict(views))}
    if not hasattr(model, "classes_"):
        return found
    rows = np.flatnonzero(has_label(truth))
    return {"classes": _correct(model, views, _texts(truth, label_names), rows), **found}


def _correct(model, views, truth, rows):
    """Classes are compared by name: a file of labels and a model may number them differently."""
    from sklearn.metrics import accuracy_score, f1_score

    guess = np.array([str(label) for label in model.predict(views)])[rows]
    return {
        "accuracy": float(accuracy_score(truth[rows], guess)),
        "macro_f1": float(f1_score(truth[rows], guess, average="macro", zero_division=0)),
    }


def _texts(labels, label_names):
    if label_names is None:
        return np.array([str(label) for label in np.asarray(labels).tolist()])
    return np.array([str(label_names[i]) if i >= 0 else "" for i in np.asarray(labels).tolist()])


def _agreement(model, views) -> dict[str, Mapping[str, float]]:
    if views.n_views < 2:
        return {}
    mixtures = {name: model.transform(views.select(name)) for name in views.names}
    found = view_agreement(mixtures, present=views.present)
    pairs = combinations(range(views.n_views), 2)
    return {
        "agreement": {
            f"{views.names[v]}, {views.names[w]}": float(found[v, w])
            for v, w in pairs
            if np.isfinite(found[v, w])
        }
    }


def _quality(model, views, name, top) -> dict[str, float]:
    p_w_z = model.components_[name]
    matrix = model.as_views(views.select(name))[name]
    has = np.flatnonzero(views.present[:, views.names.index(name)])
    if not len(has):
        return {"diversity": topic_diversity(p_w_z, top=top)}
    coherence = topic_coherence(p_w_z, matrix[has], top=top)
    known = coherence[np.isfinite(coherence)]
    found = {"coherence": float(known.mean())} if len(known) else {}
    return {**found, "diversity": topic_diversity(p_w_z, top=top)}
