"""The tasks of a comparison: "cluster", "classify" and "retrieve"; and `follow`, a traced fit.

Each task takes a cell and its views, fits the model and returns an `Outcome`.

"cluster" fits all documents and compares the clusters with the classes. "classify" gives the
classes of some documents and predicts those of the others. "retrieve" fits the training documents
and searches the test documents of one view with those of another.

In "retrieve" a test document is folded in view by view, so that no query knows its answer
("separate"). "joint" folds in both views of a test document together, which leaks the answer to the
query: with one mixture for all views the right answer is the query itself. Some published numbers
look as if they were obtained in this way; it is measured to show that, and its parts are called
"joint fold-in (leaks)".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from coview.compare.cell_inputs import (
    GivenModels,
    Preprocessing,
    Split,
    draw_labeled,
    draw_test,
    has_label,
    make_estimator,
    n_classes,
    n_topics_for,
    seen_views,
    task_of,
)
from coview.compare.evaluation import classification_metrics, clustering_metrics, label_free_metrics
from coview.metrics.retrieval import SEMANTIC_C
from coview.models import topic_model
from coview.new_documents import nearest_center, topic_centers
from coview.params import check_int
from coview.views.container import Views
from coview.wording import quoted

CellData = Mapping[str, Any]  # a `Cell` as plain data


@dataclass(frozen=True)
class Outcome:
    """What one fit gives.

    Attributes
    ----------
    values : dict of dict of float
        Values by part ("" if there is only one; "image->text" and the like in searches) and
        metric.
    seconds : float
        Wall time of the fit alone.
    iterations : int or None
        Number of iterations, if the model has them.
    documents : int
        Number of documents that the model was fitted on.
    """

    values: dict[str, dict[str, float]]
    seconds: float
    iterations: int | None
    documents: int


def timed(work: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """Call a function; return its result and the seconds it took."""
    start = time.perf_counter()
    found = work(*args)
    return found, time.perf_counter() - start


def iterations(model: Any) -> int | None:
    """Return the number of iterations of a fit, if the model has one."""
    count = getattr(topic_model(model), "n_iter_", None)
    return int(count) if isinstance(count, int | np.integer) else None


# -- cluster ---------------------------------------------------------------------------------------


def cluster(cell: CellData, views: Views, is_test: Split, given: GivenModels) -> Outcome:
    """Fit all documents and compare the clusters with the classes; `is_test` is not used."""
    entry = cell["entry"]
    if task_of(entry["name"]) != "clustering":
        raise ValueError(f"{entry['name']} needs labels in fit: it is not for the task 'cluster'.")
    prepared = Preprocessing(cell["data"]["steps"]).learn(views).apply(views)
    seen = seen_views(entry, prepared)
    model = make_estimator(entry, n_topics_for(entry, views), cell["seed"], given)
    # Only an entry that is marked as an oracle gets the labels.
    fitted, seconds = timed(model.fit, seen, *((seen.labels,) if entry["oracle"] else ()))
    values = clustering_metrics(views.labels, fitted.labels_) | label_free_metrics(fitted, seen)
    return Outcome({"": values}, seconds, iterations(fitted), len(views))


# -- classify --------------------------------------------------------------------------------------


def classify(cell: CellData, views: Views, is_test: Split, given: GivenModels) -> Outcome:
    """Fit with few labels and predict the classes of the documents whose label was hidden.

    Hidden documents are part of the fit, without their label (transductive), as in Zhuang et al.
    (2012).
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
    prepared = Preprocessing(cell["data"]["steps"]).learn(views).apply(views)
    model = _classifier(cell, n_classes(views) or 1, given)
    seen = seen_views(cell["entry"], prepared.with_labels(None))
    fitted, seconds = timed(model.fit, seen, known)
    values = classification_metrics(codes[hidden], np.asarray(fitted.labels_)[hidden])
    return Outcome({"": {**values, "labeled": len(shown)}}, seconds, iterations(fitted), len(views))


def _codes(labels: Any) -> np.ndarray:
    """Return the classes as numbers, -1 for documents without one."""
    known = has_label(labels)
    codes = np.full(len(known), -1)
    values = np.array(np.asarray(labels)[known].tolist())
    codes[known] = np.unique(values, return_inverse=True)[1]
    return codes


def _classifier(cell: CellData, n_components: int, given: GivenModels) -> Any:
    """Return an estimator that takes labels; topic models are wrapped in a `TopicClassifier`."""
    from coview.base import BaseViewsModel
    from coview.classifier import TopicClassifier

    made = make_estimator(cell["entry"], n_components, cell["seed"], given)
    if isinstance(made, BaseViewsModel):
        # the models are compared, not the guess: with it, all of them would look alike
        return TopicClassifier(made, guess_strength=0)
    if task_of(cell["entry"]["name"]) == "clustering" and not hasattr(made, "predict_proba"):
        raise ValueError(f"{cell['entry']['name']} takes no labels: it is not for 'classify'.")
    return made


# -- retrieve --------------------------------------------------------------------------------------


LEAK = ", joint fold-in (leaks)"  # in the names of parts
Vectors = dict[str, np.ndarray]  # by view


def retrieve(cell: CellData, views: Views, is_test: Split, given: GivenModels) -> Outcome:
    """Fit the training documents and search the test documents in every direction."""
    entry, settings = cell["entry"], cell["settings"]
    model = make_estimator(entry, n_topics_for(entry, views), cell["seed"], given)
    if entry["concat"] or not hasattr(model, "transform"):
        raise ValueError(f"{entry['name']} cannot place a document by one of its views.")
    train, test = _split(cell, views, is_test)
    if task_of(entry["name"]) == "retrieval":
        # by numbers: names would put the classes into another order
        fitted, seconds = timed(model.fit, train.with_labels(None), train.labels)
    else:
        fitted, seconds = timed(model.fit, train)
    values: dict[str, dict[str, float]] = {}
    for space in settings["spaces"]:
        for fold_in in settings["fold_ins"]:
            vectors = _vectors(fitted, train, test, space, fold_in, settings)
            if vectors is not None:
                values |= _directions(vectors, test, space, fold_in, settings)
    return Outcome(values, seconds, iterations(fitted), len(train))


def _split(cell: CellData, views: Views, is_test: Split) -> tuple[Views, Views]:
    """Return training and test documents, preprocessed."""
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
    preprocessing = Preprocessing(cell["data"]["steps"]).learn(train)
    return preprocessing.apply(train), preprocessing.apply(test)


# -- retrieve: vectors of documents ----------------------------------------------------------------


def _vectors(
    model: Any,
    train: Views,
    test: Views,
    space: str,
    fold_in: str,
    settings: Mapping[str, Any],
) -> tuple[Vectors, Vectors] | None:
    """Return vectors of the test documents and means of the training documents, by view.

    None if the model cannot fold in several views together.
    """
    # SCM and the like: `transform` gives class probabilities, `project` the space before them.
    classifier = hasattr(model, "project")
    if classifier and fold_in == "joint":
        return None
    if classifier:
        learned, found = (_each(model, v, space == "semantic") for v in (train, test))
    else:
        learned = _training_mixtures(model, train, settings["training_mixtures"])
        found = _joint(model, test) if fold_in == "joint" else _each(model, test)
        if space == "semantic":
            learned, found = _posteriors(learned, found, train)
    return found, {name: rows.mean(axis=0) for name, rows in learned.items()}


def _each(model: Any, views: Views, transform: bool = True) -> Vectors:
    """Return the vectors of each view on its own."""
    place = model.transform if transform else model.project
    return {name: np.asarray(place(views.select(name)), float) for name in views.names}


def _training_mixtures(model: Any, train: Views, which: str) -> Vectors:
    if which == "folded":
        return _each(model, train)
    return {n: np.asarray(theta, float) for n, theta in model.view_doc_topic_.items()}


def _joint(model: Any, test: Views) -> Vectors:
    """Return the mixture of each view, all views of a document folded in together."""
    mixtures = model.fold_in(test).view_doc_topic
    return {name: np.asarray(theta, float) for name, theta in mixtures.items()}


def _posteriors(learned: Vectors, found: Vectors, train: Views) -> tuple[Vectors, Vectors]:
    """Return class probabilities that a logistic regression of each view predicts."""
    from sklearn.linear_model import LogisticRegression

    codes = _codes(train.labels)
    taught: Vectors = {}
    new: Vectors = {}
    for name, has in zip(train.names, train.present.T, strict=True):
        model = LogisticRegression(C=SEMANTIC_C, max_iter=2000).fit(learned[name][has], codes[has])
        for vectors, mixtures in ((taught, learned), (new, found)):
            # Classes that a view has no training document of keep the probability 0.
            vectors[name] = np.zeros((len(mixtures[name]), codes.max() + 1))
            vectors[name][:, model.classes_] = model.predict_proba(mixtures[name])
    return taught, new


# -- retrieve: searches ----------------------------------------------------------------------------


def _directions(
    vectors: tuple[Vectors, Vectors],
    test: Views,
    space: str,
    fold_in: str,
    settings: Mapping[str, Any],
) -> dict[str, dict[str, float]]:
    """Return the metrics of each direction, and their mean over the directions."""
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


def _search(
    found: Vectors,
    means: Vectors,
    query: str,
    answer: str,
    test: Views,
    settings: Mapping[str, Any],
) -> dict[str, float]:
    """Search one view with another, among the test documents that have both."""
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

    watched.fit(views, on_iteration=on_iteration)
    return watched, np.array(values)


def _labels(model: Any, theta: np.ndarray) -> np.ndarray:
    """Return labels as the model reads them off its mixtures at the end of a fit."""
    if model.assign == "kmeans":
        return nearest_center(theta, topic_centers(theta, model.random_state or 0))
    return theta.argmax(axis=1)
