"""The task "retrieve": test documents of one view are searched with another view.

The model is fitted on the training documents. A test document is folded in view by view, so that no
query knows its answer ("separate"). "joint" folds both views of a test document in together, which
hands the answer to the query: with one mixture for all views the right answer is the query itself.
Some published figures look as if they were obtained so; it is measured to show that, and its parts
say "joint fold-in (leaks)".
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import numpy as np

from coview.compare.cluster import iterations
from coview.compare.making import make, task_of, topics_for
from coview.compare.outcome import Outcome, timed
from coview.compare.preparing import Preparation
from coview.compare.sampling import draw_test, has_label
from coview.data.show import quoted
from coview.data.views import Views

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
    problem, data = model._fold_in(model._new_data(test), model.components_)
    return {
        name: np.asarray(problem.mixtures[slot], float)
        for name, slot in zip(data.names, problem.slots, strict=True)
    }


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
    kind = settings["similarity"]
    centre = (means[query], means[answer]) if kind == "correlation" else None
    scores = metrics.similarity(found[query][rows], found[answer][rows], kind=kind, centre=centre)
    rank = metrics.mean_average_precision
    return {
        "map_first_ten": rank(scores, labels, labels, kind="first_ten"),
        "map_standard": rank(scores, labels, labels),
        "precision_at_10": metrics.precision_at_k(scores, labels, labels, k=10),
        "median_rank": metrics.median_rank(scores),
    }
