"""Metrics of fitted models: clusters and predicted classes against true classes, topic quality.

`evaluate` measures everything that can be measured of one model; the tasks of a comparison use the
functions below it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from coview import metrics
from coview.compare.cell_inputs import has_label
from coview.models import topic_model
from coview.reporting.terms import term_scores, topic_names
from coview.views.checks import DataWarning
from coview.views.container import Views
from coview.views.labels import check_labels, named_labels
from coview.wording import listing, plural

SEARCHED = 1000  # documents with which views are searched, at the most
_CLUSTERING = {
    "accuracy": metrics.clustering_accuracy,
    "nmi_max": metrics.nmi_max,
    "nmi_mean": metrics.nmi_mean,
    "purity": metrics.purity,
    "pairwise_f": metrics.pairwise_f,
    "adjusted_rand": metrics.adjusted_rand,
}


def evaluate(
    model: Any, views: Views, labels: Any = None, *, top: int = 10, search: bool = False
) -> dict[str, Any]:
    """Measure a fitted model on documents, which are folded in.

    Parameters
    ----------
    model : fitted model or TopicClassifier
    views : Views
        Some or all of the views of the model.
    labels : array-like of shape (documents,), default=None
        True classes; by default those of the views. -1, None, NaN and empty texts stand for
        documents without one, which are left out.
    top : int, default=10
        Number of words of each topic for coherence and diversity.
    search : bool, default=False
        Whether to search each view with each other one.

    Returns
    -------
    dict
        ``documents``; ``unlabeled`` (how many have no class), ``classes`` (a classifier's accuracy
        and macro F1) and ``clusters`` (clusters against classes), if there are labels;
        ``perplexity`` of words that were set aside;
        ``agreement`` of each pair of views, each folded in on its own (one minus the mean
        Jensen-Shannon divergence); ``views``, with coherence and diversity of the topics in each;
        ``search``, how often a document is found by its other view: see `SearchQuality`.

    Examples
    --------
    >>> from coview import LinkPLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
    >>> found = evaluate(LinkPLSA(3, random_state=0).fit(views), views)
    >>> sorted(found)
    ['agreement', 'clusters', 'documents', 'perplexity', 'unlabeled', 'views']
    >>> sorted(found["agreement"]), sorted(found["views"]["text"])
    (['text, image'], ['coherence', 'diversity'])
    """
    inner = topic_model(model)
    truth = views.labels if labels is None else check_labels(labels, len(views))
    names = [name for name in inner.view_names_ if name in views.names]
    known = views.select(*names).with_labels(None)
    return {
        "documents": len(views),
        **_against_classes(model, known, truth, views.label_names),
        "perplexity": inner.perplexity(known),
        **_agreement(inner, known),
        "views": {name: _view_quality(inner, known, name, top) for name in names},
        **({"search": _searches(inner, known)} if search else {}),
    }


def _searches(model: Any, views: Views) -> list[dict[str, Any]]:
    """Return how often a document is found by its other view, for each pair of views."""
    from coview.reporting.folding import fold_views
    from coview.reporting.search import measure_search
    from coview.retrieval.gallery import OtherDocuments, check_training_views

    try:
        check_training_views(model, views)
        of_fit = True
    except OtherDocuments:
        of_fit = False
    folded = fold_views(model, model.as_views(views))
    found = measure_search(folded, None, SEARCHED, np.random.default_rng(0), of_fit)
    return [
        {
            "query": s.query,
            "answer": s.answer,
            "documents": s.n,
            "first": s.first,
            "ten": s.ten,
            "counts": s.counts,
        }
        for s in found
    ]


def _against_classes(
    model: Any, views: Views, truth: Any, label_names: list[str] | None
) -> dict[str, Any]:
    if truth is None or not has_label(truth).any():
        return {}
    unlabeled = {"unlabeled": int((~has_label(truth)).sum())}
    clusters = clustering_metrics(truth, topic_model(model).predict(views, unknown="guess"))
    if not hasattr(model, "classes_"):
        return {**unlabeled, "clusters": clusters}
    rows = np.flatnonzero(has_label(truth))
    true, names = _same_kind(model, truth[rows], label_names)
    found = model.fold_in(views).labels[rows]
    return {
        **unlabeled,
        "classes": classification_metrics(true, names[found]),
        "clusters": clusters,
    }


def _same_kind(
    model: Any, truth: np.ndarray, label_names: list[str] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the true classes and the classes of the model, both by name or both as they are.

    By name first: a file of labels and a model may number the same classes differently.
    """
    by_name = _texts(named_labels(truth, label_names)), _texts(topic_names(model))
    for true, classes in (by_name, (_texts(truth), _texts(model.classes_))):
        if np.isin(true, classes).any():
            return true, classes
    warnings.warn(
        f"None of their classes ({listing(np.unique(by_name[0]), 3)}) is one of the model "
        f"({listing(by_name[1], 3)}): all predicted classes count as wrong.",
        DataWarning,
        stacklevel=4,
    )
    return by_name


def _texts(labels: Any) -> np.ndarray:
    return np.array([str(label) for label in labels])


def _agreement(model: Any, views: Views) -> dict[str, Mapping[str, float]]:
    if views.n_views < 2:
        return {}
    mixtures = {name: model.transform(views.select(name)) for name in views.names}
    found = metrics.view_agreement(mixtures, present=views.present)
    pairs = combinations(range(views.n_views), 2)
    return {
        "agreement": {
            f"{views.names[v]}, {views.names[w]}": float(found[v, w])
            for v, w in pairs
            if np.isfinite(found[v, w])
        }
    }


def _view_quality(model: Any, views: Views, name: str, top: int) -> dict[str, float]:
    scores = term_scores(model, name)  # of the words that are shown
    found = {"diversity": metrics.topic_diversity(scores, top=top)}
    has = np.flatnonzero(views.present[:, views.names.index(name)])
    if len(has):
        matrix = model.as_views(views.select(name))[name]
        coherence = _mean_of_known(metrics.topic_coherence(scores, matrix[has], top=top))
        found = {"coherence": coherence, **found}
    return {metric: value for metric, value in found.items() if np.isfinite(value)}


# -- metrics that tasks and `evaluate` share -------------------------------------------------------


def clustering_metrics(truth: Any, found: np.ndarray) -> dict[str, float]:
    """Compare clusters with classes over the documents that have a class; {} without classes.

    Parameters
    ----------
    truth : array-like of shape (documents,) or None
        Classes, -1 or None for documents without one.
    found : ndarray of int of shape (documents,)
        Clusters.
    """
    if truth is None or not has_label(truth).any():
        return {}
    if len(truth) != len(found):
        raise ValueError(
            f"{plural(len(truth), 'label')} cannot be compared with the clusters of "
            f"{plural(len(found), 'document')}: give one for each."
        )
    rows = np.flatnonzero(has_label(truth))
    classes = np.unique(np.array(np.asarray(truth)[rows].tolist()), return_inverse=True)[1]
    return {name: float(measure(classes, found[rows])) for name, measure in _CLUSTERING.items()}


def classification_metrics(truth: np.ndarray, found: np.ndarray) -> dict[str, float]:
    """Compare predicted classes with true ones."""
    from sklearn.metrics import accuracy_score, f1_score

    return {
        "accuracy": float(accuracy_score(truth, found)),
        "macro_f1": float(f1_score(truth, found, average="macro", zero_division=0)),
    }


def label_free_metrics(model: Any, views: Views) -> dict[str, float]:
    """Return metrics that need no classes: objective, agreement, coherence, diversity."""
    found = {}
    # Baselines have neither an objective nor topics.
    if hasattr(model, "objective_"):
        found["objective"] = float(model.objective_)
    if hasattr(model, "components_") and hasattr(model, "view_doc_topic_"):
        found |= _topic_metrics(model, views)
    return {name: value for name, value in found.items() if np.isfinite(value)}


def _topic_metrics(model: Any, views: Views) -> dict[str, float]:
    quality = [_view_quality(model, views, name, top=10) for name in model.view_names_]
    found = {
        name: _mean_of_known(q[name] for q in quality if name in q)
        for name in ("coherence", "diversity")
    }
    mixtures = model.view_doc_topic_
    # Views that share one mixture would agree perfectly: that says nothing.
    if len({id(theta) for theta in mixtures.values()}) > 1:
        found["agreement"] = metrics.mean_view_agreement(mixtures, present=views.present)
    return found


def _mean_of_known(values: Iterable[float]) -> float:
    """Return the mean of the finite values; NaN if there are none."""
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan
