"""`report`: put the report of a fitted model together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coview.captions import check_titles
from coview.models import topic_model
from coview.params import check_int, seed_of
from coview.reporting.disagreement import (
    explain,
    explain_drawn,
    measure_disagreement,
    measure_fit,
)
from coview.reporting.folding import fold_views
from coview.reporting.quality import coherences, report_views, topic_view_shares
from coview.reporting.search import measure_search
from coview.reporting.sentences import write_sentences
from coview.reporting.terms import topic_stability
from coview.reporting.topics import report_topics
from coview.reporting.value import Report
from coview.tree import tree_of
from coview.views.container import Views
from coview.views.labels import check_labels, is_unlabeled, named_labels


def report(
    model: Any,
    views: Any,
    *,
    labels: Any = None,
    titles: Sequence[str] | None = None,
    n_terms: int = 10,
    n_documents: int = 10,
    n_resamples: int = 3,
    search_sample: int = 300,
    chance_sample: int = 10_000,
    random_state: Any = 0,
) -> Report:
    """Return what a model says about documents, and how far it can be trusted.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    views : Views, or as in the model's `transform`
        The documents, with some or all of the views of the model: those it was fitted to, or
        others, which are folded in.
    labels : array-like of shape (documents,), optional
        Classes; by default those of `views`. -1, None, NaN and empty texts are unlabeled.
    titles : sequence of str, optional
        A title of each document; by default documents are called by their ids.
    n_terms, n_documents : int, default=10
        Terms of each topic and view, and documents that stand for a topic.
    n_resamples : int, default=3
        How often each document is drawn from the model, to know how far its views differ by
        chance.
    search_sample : int, default=300
        Documents with which each view is searched with each other one; 0 leaves it out.
    chance_sample : int, default=10_000
        Documents that are drawn from the model. Of more, a sample is drawn, and each other document
        takes the chance level of one with the same views and main topic and about as many tokens;
        ``report.model["n_drawn"]`` tells how many were.
    random_state : int, Generator, RandomState or None, default=0

    Returns
    -------
    Report

    Examples
    --------
    >>> import coview
    >>> from coview import LinkPLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
    >>> report = coview.report(LinkPLSA(3, random_state=0).fit(views), views)
    >>> len(report.topics), sorted(report.view_mixtures), report.mixtures.shape
    (3, ['image', 'text'], (60, 3))
    >>> report.sentences["agreement"].startswith("The views of ")
    True
    """
    check_is_fitted(model)
    check_int("n_terms", n_terms, 1)
    check_int("n_documents", n_documents, 0)
    check_int("n_resamples", n_resamples, 1)
    check_int("search_sample", search_sample, 0)
    check_int("chance_sample", chance_sample, 1)
    inner = topic_model(model)
    given = inner.as_views(views)
    rng = np.random.default_rng(seed_of(random_state))
    classes, class_names = _classes(views, labels, given.n_docs)
    mixtures, assigned, fitted_to_these = _mixtures(model, inner, given)
    folded = fold_views(inner, given, of_fit=fitted_to_these)
    real, drawn = explain(folded), explain_drawn(folded, n_resamples, rng, chance_sample)
    disagreement = measure_disagreement(folded, mixtures, real, drawn)
    coherence = coherences(folded)
    topics = report_topics(
        model,
        folded,
        mixtures,
        assigned,
        beyond=disagreement.by_topic,
        coherence=coherence,
        view_shares=topic_view_shares(folded, mixtures),
        labels=classes,
        label_names=class_names,
        n_terms=n_terms,
        n_documents=n_documents,
    )
    facts = _facts(model, inner, given.n_docs, fitted_to_these)
    facts["n_drawn"] = min(given.n_docs, chance_sample)
    of_views, fit = report_views(folded, coherence), measure_fit(folded, real, drawn)
    search = []
    if search_sample:
        search = measure_search(folded, classes, search_sample, rng, fitted_to_these)
    return Report(
        model=facts,
        views=of_views,
        topics=topics,
        mixtures=mixtures,
        view_mixtures=folded.alone,
        disagreement=disagreement,
        fit=fit,
        search=search,
        history=np.array(inner.trace_.objective, dtype=np.float64),
        stability=None if inner.topic_stability_ is None else topic_stability(inner),
        graphs=_graphs(inner),
        labels=classes,
        label_names=class_names,
        doc_ids=None if given.ids is None else [str(name) for name in given.ids],
        titles=check_titles(titles, given.n_docs),
        sentences=write_sentences(facts, of_views, topics, disagreement, fit, search),
        tree=None if getattr(inner, "topic_tree_", None) is None else tree_of(model),
    )


def _mixtures(model: Any, inner: Any, views: Views) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return mixtures and topics of all views together, and whether they are those of the fit."""
    from coview.retrieval.gallery import OtherDocuments, check_training_views

    try:
        check_training_views(inner, views)
    except OtherDocuments:
        found = model.fold_in(views)
        return found.doc_topic, found.labels, False
    return inner.doc_topic_, inner.labels_, True


def _classes(views: Any, labels: Any, n_docs: int) -> tuple[np.ndarray | None, list[str] | None]:
    """Return the class of each document as a number, -1 without one, and the names of classes."""
    own = isinstance(views, Views)
    if labels is None:
        labels = views.named_labels if own else None
    elif own and views.label_names is not None:
        labels = named_labels(check_labels(labels, n_docs), views.label_names)
    if labels is None:
        return None, None
    checked = check_labels(labels, n_docs)
    known = np.flatnonzero(~is_unlabeled(checked))
    kinds, numbers = np.unique(np.array(checked[known].tolist()), return_inverse=True)
    found = np.full(n_docs, -1)
    found[known] = numbers
    return found, [str(name) for name in kinds]


def _facts(model: Any, inner: Any, n_docs: int, fitted_to_these: bool) -> dict[str, Any]:
    """Return what is known of the model itself."""
    parameters = {name: _simple(value) for name, value in inner.get_params(deep=False).items()}
    return {
        "class": type(model).__name__,
        "inner": None if inner is model else type(inner).__name__,
        "n_topics": int(inner.doc_topic_.shape[1]),
        "n_docs": n_docs,
        "n_iter": int(inner.n_iter_),
        "converged": _has_converged(inner),
        "objective": float(inner.objective_),
        "fitted_to_these": fitted_to_these,
        "parameters": parameters,
    }


def _has_converged(model: Any) -> bool:
    """Return whether the fit ended before its last iteration, or hardly moved in it."""
    history = model.trace_.objective
    if model.n_iter_ < model.max_iter or len(history) < 2:
        return True
    return bool(abs(history[-1] - history[-2]) <= model.tol * abs(history[-1]))


def _simple(value: Any) -> Any:
    """Return a parameter as it is if it is a number or a text, else what it is."""
    return value if isinstance(value, str | int | float | bool | None) else type(value).__name__


def _graphs(model: Any) -> dict[str, float] | None:
    weights = getattr(model, "graph_weights_", None)
    return None if weights is None else {name: float(weight) for name, weight in weights.items()}
