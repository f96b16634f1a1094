"""What a cell gives back, and how time is taken.

The task "cluster": fit on all documents, compare the clusters with the classes.

The task "classify": the classes of some documents are given, those of the others are found.

The task "retrieve": test documents of one view are searched with another view.

The model is fitted on the training documents. A test document is folded in view by view, so that no
query knows its answer ("separate"). "joint" folds both views of a test document in together, which
hands the answer to the query: with one mixture for all views the right answer is the query itself.
Some published figures look as if they were obtained so; it is measured to show that, and its parts
say "joint fold-in (leaks)".

A metric of a model's clusters, iteration by iteration of its fit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from coview.assign import nearest_center, topic_centers
from coview.compare.inputs import (
    Preparation,
    draw_labeled,
    draw_test,
    has_label,
    make,
    n_classes,
    task_of,
    topics_for,
    visible,
)
from coview.models import topic_model
from coview.params import check_int
from coview.views.container import Views
from coview.wording import plural, quoted


@dataclass(frozen=True)
class Outcome:
    """Measures of one fit.

    Attributes
    ----------
    values : dict of dict of float
        By part ("" if there is only one; "image->text" and the like in searches) and metric.
    seconds : float
        Wall time of the fit alone.
    iterations : int or None
    documents : int
    """

    values: dict[str, dict[str, float]]
    seconds: float
    iterations: int | None
    documents: int


def timed(work: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """What the work returns, and the seconds it took."""
    start = time.perf_counter()
    found = work(*args)
    return found, time.perf_counter() - start


# -- cluster ---------------------------------------------------------------------------------------


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
    inner = topic_model(model)
    count = getattr(inner, "n_iter_", None)
    return int(count) if isinstance(count, int | np.integer) else None


# -- classify --------------------------------------------------------------------------------------


def classify(cell: Mapping[str, Any], views: Views, is_test: Any, given: Any) -> Outcome:
    """Fit with few labels; accuracy on the documents whose label was hidden.

    Hidden documents are there without their label (transductive), as in Zhuang et al. (2012).
    """
    if views.labels is None:
        raise ValueError("The task 'classify' needs data with labels.")
    codes = _codes(views.labels)
    shown = draw_labeled(
        codes, cell["rate"], sampling=cell["settings"]["label_sampling"], seed=cell["seed"]
    )
    hidden = np.setdiff1d(np.flatnonzero(codes >= 0), shown)
    known = np.full(len(codes), -1)
    known[shown] = codes[shown]
    prepared = Preparation(cell["data"]["steps"]).learn(views).apply(views)
    model = _classifier(cell, n_classes(views) or 1, given)
    fitted, seconds = timed(model.fit, visible(cell["entry"], prepared), known)
    values = _measures(codes[hidden], np.asarray(fitted.labels_)[hidden])
    return Outcome({"": {**values, "labeled": len(shown)}}, seconds, iterations(fitted), len(views))


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


# -- retrieve --------------------------------------------------------------------------------------


C = 10.0  # of the logistic regressions: shares are small numbers and need large coefficients
LEAK = ", joint fold-in (leaks)"


def retrieve(cell: Mapping[str, Any], views: Views, is_test: Any, given: Any) -> Outcome:
    """Fit on the training documents, search the test documents in every direction."""
    entry, settings = cell["entry"], cell["settings"]
    model = make(entry, topics_for(entry, views), cell["seed"], given)
    if entry["concat"] or not hasattr(model, "transform"):
        raise ValueError(f"{entry['name']} cannot place a document by one of its views.")
    train, test = _split(cell, views, is_test)
    if task_of(entry["name"]) == "retrieval":
        fitted, seconds = timed(model.fit, train, train.labels)
    else:
        fitted, seconds = timed(model.fit, train)
    values: dict[str, dict[str, float]] = {}
    for space in settings["spaces"]:
        for fold_in in settings["fold_ins"]:
            vectors = _vectors(fitted, train, test, space, fold_in, settings)
            if vectors is not None:
                values |= _directions(vectors, test, space, fold_in, settings)
    return Outcome(values, seconds, iterations(fitted), len(train))


def _split(cell, views, is_test):
    settings = cell["settings"]
    if views.labels is None or not has_label(views.labels).all():
        raise ValueError("The task 'retrieve' needs data in which every document has a label.")
    if settings["split"] == "random":
        is_test = draw_test(len(views), settings["test_share"], seed=cell["seed"])
    elif is_test is None:
        raise ValueError(
            f"The publisher of {quoted(cell['data']['name'])} gives no split: use split='random'."
        )
    seen = views.select(*cell["entry"]["views"]) if cell["entry"]["views"] else views
    train, test = seen[np.flatnonzero(~is_test)], seen[np.flatnonzero(is_test)]
    preparation = Preparation(cell["data"]["steps"]).learn(train)
    return preparation.apply(train), preparation.apply(test)


# -- vectors ---------------------------------------------------------------------------------------


def _vectors(model, train, test, space, fold_in, settings):
    """Vectors of the test documents and means of the training documents, by view; or None."""
    classifier = hasattr(model, "project")  # SCM: posteriors, and the common space before them
    if classifier and fold_in == "joint":
        return None  # views are never folded in together there
    if classifier:
        learned, found = (_each(model, v, space == "semantic") for v in (train, test))
    else:
        learned = _training_mixtures(model, train, settings["training_mixtures"])
        found = _joint(model, test) if fold_in == "joint" else _each(model, test)
        if space == "semantic":
            learned, found = _posteriors(learned, found, train)
    return found, {name: rows.mean(axis=0) for name, rows in learned.items()}


def _each(model, views, transform=True):
    place = model.transform if transform else model.project
    return {name: np.asarray(place(views.select(name)), float) for name in views.names}


def _training_mixtures(model, train, which):
    if which == "folded":
        return _each(model, train)
    return {n: np.asarray(theta, float) for n, theta in model.view_doc_topic_.items()}


def _joint(model, test):
    """The mixture of each view, all views of a document folded in together."""
    mixtures = model.fold_in(test).view_doc_topic
    return {name: np.asarray(theta, float) for name, theta in mixtures.items()}


def _posteriors(learned, found, train):
    """Classes that a logistic regression of each view reads from its mixtures."""
    from sklearn.linear_model import LogisticRegression

    codes = np.unique(np.array(train.labels.tolist()), return_inverse=True)[1]
    taught: dict[str, np.ndarray] = {}
    new: dict[str, np.ndarray] = {}
    for name, has in zip(train.names, train.present.T, strict=True):
        model = LogisticRegression(C=C, max_iter=2000).fit(learned[name][has], codes[has])
        for vectors, mixtures in ((taught, learned), (new, found)):
            vectors[name] = np.zeros((len(mixtures[name]), codes.max() + 1))
            vectors[name][:, model.classes_] = model.predict_proba(mixtures[name])
    return taught, new


# -- searches --------------------------------------------------------------------------------------


def _directions(vectors, test, space, fold_in, settings):
    """Measures of each direction, and their mean over the directions."""
    found, means = vectors
    pairs = settings["pairs"] or list(permutations(test.names, 2))
    suffix = (", semantic" if space == "semantic" else "") + (LEAK if fold_in == "joint" else "")
    values = {
        f"{query}->{answer}{suffix}": _search(found, means, query, answer, test, settings)
        for query, answer in pairs
    }
    each = list(values.values())
    mean = {name: float(np.mean([v[name] for v in each])) for name in each[0]}
    return {**values, f"mean{suffix}": mean}


def _search(found, means, query, answer, test, settings):
    """One view of the test documents searched with another; documents that have both."""
    from coview import metrics

    has = test.present[:, test.names.index(query)] & test.present[:, test.names.index(answer)]
    rows = np.flatnonzero(has)
    labels = np.array(np.asarray(test.labels)[rows].tolist())
    metric = settings["similarity"]
    center = (means[query], means[answer]) if metric == "correlation" else None
    queries, answers = found[query][rows], found[answer][rows]
    scores = metrics.similarity(queries, answers, metric=metric, center=center)
    rank = metrics.mean_average_precision
    return {
        "map_first_ten": rank(scores, labels, labels, kind="first_ten"),
        "map_standard": rank(scores, labels, labels),
        "precision_at_10": metrics.precision_at_k(scores, labels, labels, k=10),
        "median_rank": metrics.median_rank(scores),
    }


# -- convergence -----------------------------------------------------------------------------------


def follow(model: Any, views: Any, metric: Callable[[np.ndarray], float]) -> tuple[Any, np.ndarray]:
    """Fit a clone of a model and measure its clusters after every iteration.

    Parameters
    ----------
    model : estimator of this package
        With `n_init` = 1: a trace over several starts says nothing.
    views : Views
    metric : callable
        Takes the labels of the documents, shape (documents,), and returns a number.

    Returns
    -------
    fitted : the fitted clone
    values : ndarray of shape (n_iter,)
        One for each value of ``fitted.trace_.objective``.

    Examples
    --------
    >>> from coview import LinkPLSA
    >>> from coview.datasets import make_views
    >>> from coview.metrics import clustering_accuracy
    >>> views = make_views(60, 3, [30, 20], random_state=0)
    >>> model = LinkPLSA(3, init="random", max_iter=5, tol=0, random_state=0)
    >>> _, values = follow(model, views, lambda found: clustering_accuracy(views.labels, found))
    >>> values.shape
    (5,)
    """
    from sklearn.base import clone

    watched = clone(model)
    if check_int("n_init", watched.n_init, 1) > 1:
        raise ValueError(f"One run can be followed, not {watched.n_init}: set n_init=1.")
    values: list[float] = []

    def on_iteration(state: dict[str, Any]) -> None:
        values.append(float(metric(_labels(watched, state["doc_topic_"]))))

    # the hooks of scikit-learn's callbacks, which the fit calls in every version of it
    watched._skl_callbacks = [on_iteration]
    watched._init_callback_context = lambda **kwargs: _Context(on_iteration)
    try:
        watched.fit(views)
    finally:
        del watched._skl_callbacks, watched._init_callback_context
    return watched, np.array(values)


def _labels(model, theta):
    """As the model reads labels off its mixtures at the end of a fit."""
    if model.assign == "kmeans":
        return nearest_center(theta, topic_centers(theta, model.random_state or 0))
    return theta.argmax(axis=1)


class _Context:
    """What a fit tells of its iterations."""

    def __init__(self, on_iteration):
        self._on_iteration = on_iteration

    def subcontext(self, **kwargs):
        return self

    def call_on_fit_task_begin(self, **kwargs):
        """Nothing has happened yet."""

    def call_on_fit_task_end(self, reconstruction_attributes=None, **kwargs):
        if reconstruction_attributes is not None:
            self._on_iteration(reconstruction_attributes)
        return False
