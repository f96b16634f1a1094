"""The topics of a report: terms of each view, documents and classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from coview.reporting.folding import Folded
from coview.reporting.terms import (
    documents_with_view,
    first_columns,
    term_documents_of,
    term_scores,
    topic_names,
    topic_stability,
)
from coview.reporting.value import Terms, TopicReport
from coview.term_names import shown_term

FEWEST_SHARE = 0.005  # of a class in a topic that is listed


def report_topics(
    model: Any,
    folded: Folded,
    mixtures: np.ndarray,
    assigned: np.ndarray,
    *,
    beyond: np.ndarray,
    coherence: dict[str, np.ndarray],
    view_shares: dict[str, np.ndarray],
    labels: np.ndarray | None,
    label_names: list[str] | None,
    n_terms: int,
    n_documents: int,
) -> list[TopicReport]:
    """Return a report of each topic, by number."""
    inner = folded.model
    names, stability = topic_names(model), topic_stability(inner)
    n_topics = mixtures.shape[1]
    sizes = mixtures.mean(axis=0, dtype=np.float64) if len(mixtures) else np.zeros(n_topics)
    counts = np.bincount(assigned, minlength=n_topics)
    terms = {view: topic_terms(inner, view, n_terms) for view in inner.view_names_}
    having = documents_with_view(inner)
    classes = class_shares(mixtures, labels, label_names)
    evidence = _evidence(folded)
    ids = folded.views.ids
    return [
        TopicReport(
            index=z,
            name=names[z],
            size=float(sizes[z]),
            n_docs=int(counts[z]),
            terms={view: found[z] for view, found in terms.items()},
            view_documents={view: found[z] for view, found in having.items()},
            documents=[
                (int(d), None if ids is None else str(ids[d]), float(mixtures[d, z]))
                for d in representatives(mixtures[:, z], evidence, n_documents)
            ],
            labels=classes[z],
            agreement=float(1 - beyond[z]),
            stability=stability[z],
            coherence={view: float(found[z]) for view, found in coherence.items()},
            view_share={view: float(found[z]) for view, found in view_shares.items()},
        )
        for z in range(n_topics)
    ]


# -- terms -----------------------------------------------------------------------------------------


def topic_terms(model: Any, view: str, n_terms: int) -> list[Terms]:
    """Return the first terms of each topic in one view, with the documents behind them."""
    documents = term_documents_of(model, view)
    best = first_columns(term_scores(model, view), n_terms)
    return [
        [(shown_term(model, view, int(w)), float(row[w])) for w in columns]
        for row, columns in zip(documents, best, strict=True)
    ]


# -- documents and classes -------------------------------------------------------------------------


def representatives(share: np.ndarray, evidence: np.ndarray, most: int) -> np.ndarray:
    """Return the documents with the largest share of a topic, of equal ones those that say most.

    >>> representatives(np.array([1.0, 0.2, 0.999, 1.0]), np.array([3.0, 9, 8, 5]), 2)
    array([2, 3])
    """
    known = np.flatnonzero((evidence > 0) & (share > 0))
    order = np.lexsort((-evidence[known], -share[known].round(2)))
    return known[order][:most]


def _evidence(folded: Folded) -> np.ndarray:
    """Return the weighted tokens of each document."""
    total = np.zeros(len(folded.joint))
    for name, counts in folded.counts.items():
        tokens = np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()
        total += folded.model.view_weights_[name] * tokens
    return total


def class_shares(
    mixtures: np.ndarray, labels: np.ndarray | None, names: list[str] | None
) -> list[dict[str, float]]:
    """Return the share of each class in each topic, the largest first."""
    if labels is None or names is None:
        return [{} for _ in range(mixtures.shape[1])]
    known = np.flatnonzero(labels >= 0)
    mass = np.zeros((len(names), mixtures.shape[1]))
    np.add.at(mass, labels[known], mixtures[known])
    shares = mass / np.maximum(mass.sum(axis=0), np.finfo(float).tiny)
    return [
        {
            names[c]: float(column[c])
            for c in np.argsort(-column, kind="stable")
            if column[c] >= FEWEST_SHARE
        }
        for column in shares.T
    ]
