"""The topics of a report: terms of each view in three orders, documents and classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from coview.reporting.folding import Folded
from coview.reporting.terms import (
    NEGLIGIBLE,
    relevance_of,
    term_shares,
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
    relevance: float,
) -> list[TopicReport]:
    """Return a report of each topic, by number."""
    inner = folded.model
    names, stability = topic_names(model), topic_stability(inner)
    n_topics = mixtures.shape[1]
    sizes = mixtures.mean(axis=0, dtype=np.float64) if len(mixtures) else np.zeros(n_topics)
    counts = np.bincount(assigned, minlength=n_topics)
    terms = {
        view: topic_terms(inner, view, sizes, n_terms, relevance) for view in inner.view_names_
    }
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


def topic_terms(
    model: Any, view: str, sizes: np.ndarray, n_terms: int, relevance: float
) -> list[dict[str, Terms]]:
    """Return the first terms of each topic in one view, in three orders."""
    p_w_z, p_w = model.components_[view], term_shares(model, view)
    # p(w) under the model; topics of no document still say which terms are theirs
    everywhere = np.maximum(sizes, 1e-12) @ p_w_z.astype(np.float64)
    found = []
    for z, row in enumerate(p_w_z.astype(np.float64)):
        own = np.flatnonzero(row > NEGLIGIBLE * row.max())
        p_z_w = max(sizes[z], 1e-12) * row[own] / everywhere[own]
        scores = {
            "probability": row[own],
            "relevance": relevance_of(row[own], p_w[own], relevance),
            "exclusivity": exclusivity(row[own], p_z_w),
        }
        found.append({how: _named(model, view, own, s, n_terms) for how, s in scores.items()})
    return found


def exclusivity(p_w: np.ndarray, p_z_w: np.ndarray) -> np.ndarray:
    """Return the harmonic mean of the ranks of terms by p(w|z) and by p(z|w), as shares of 1.

    So a term must be frequent in the topic and rare elsewhere (Bischof & Airoldi, 2012).

    >>> exclusivity(np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.9, 1.0])).round(2)
    array([0.5 , 0.67, 0.5 ])
    """
    frequent, own = (np.searchsorted(np.sort(p), p, "right") / max(len(p), 1) for p in (p_w, p_z_w))
    return 2 / (1 / frequent + 1 / own)


def _named(model: Any, view: str, terms: np.ndarray, scores: np.ndarray, most: int) -> Terms:
    first = np.arange(len(scores))
    if most < len(scores):  # to sort all of them takes longer than all the rest
        first = np.flatnonzero(scores >= -np.partition(-scores, most - 1)[most - 1])
    best = first[np.argsort(-scores[first], kind="stable")][:most]
    return [(shown_term(model, view, int(terms[i])), float(scores[i])) for i in best]


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
