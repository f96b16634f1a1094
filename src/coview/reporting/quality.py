"""The views of a report: what each contributes, and how coherent its topics are."""

from __future__ import annotations

from typing import Any

import numpy as np

from coview.metrics.topics import topic_coherence
from coview.reporting.folding import Folded
from coview.reporting.terms import term_scores, term_shares
from coview.reporting.value import ViewReport, mean_of_known


def report_views(folded: Folded, coherence: dict[str, np.ndarray]) -> list[ViewReport]:
    """Return a report of each view that the documents have."""
    model = folded.model
    contribution = contributions(folded)
    trust = getattr(model, "view_reliability_", None) or {}
    return [
        ViewReport(
            name=name,
            n_terms=int(counts.shape[1]),
            n_docs_present=int(folded.known[:, v].sum()),
            contribution=contribution[name],
            weight=float(model.view_weights_[name]),
            reliability=float(trust[name]) if name in trust else None,
            coherence=mean_of_known(coherence[name]),
            kind=view_kind(folded, name),
            n_tokens=float(counts.sum(dtype=np.float64)),
        )
        for v, (name, counts) in enumerate(folded.counts.items())
    ]


def contributions(folded: Folded) -> dict[str, float]:
    """Return each view's share of the weighted log-likelihood gained over term frequencies."""
    gain = {}
    for name in folded.names:
        sums = folded.log_likelihoods(name, folded.joint)
        gained = float((sums[:, 0] - sums[:, 1]).sum())
        gain[name] = max(0.0, folded.model.view_weights_[name] * gained)
    total = sum(gain.values())
    return {name: value / total if total else np.nan for name, value in gain.items()}


def topic_view_shares(folded: Folded, mixtures: np.ndarray) -> dict[str, np.ndarray]:
    """Return how much of what sets each topic apart is in each view, (topics,) by view.

    What sets a topic apart in a view: its weighted tokens there times the Kullback-Leibler
    divergence of p(w|z) from the corpus.
    """
    apart = {}
    for name, counts in folded.counts.items():
        tokens = np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()
        of_topic = tokens @ mixtures.astype(np.float64)
        weight = folded.model.view_weights_[name]
        apart[name] = weight * of_topic * _from_corpus(folded.model, name)
    total = sum(apart.values())
    return {
        name: np.divide(one, total, out=np.full(len(one), 1 / len(apart)), where=total > 0)
        for name, one in apart.items()
    }


def _from_corpus(model: Any, name: str) -> np.ndarray:
    """Return the divergence of each topic of a view from the frequencies of terms, (topics,)."""
    usual = term_shares(model, name)
    found = np.zeros(len(model.components_[name]))
    for z, row in enumerate(model.components_[name]):
        own = np.flatnonzero((row > 0) & (usual > 0))
        found[z] = max(0.0, float(row[own] @ np.log(row[own] / usual[own])))
    return found


def coherences(folded: Folded, top: int = 10) -> dict[str, np.ndarray]:
    """Return the coherence of each topic in each view, (topics,); NaN where it says nothing."""
    return {name: _coherence(folded, name, top) for name in folded.names}


def _coherence(folded: Folded, name: str, top: int) -> np.ndarray:
    scores = term_scores(folded.model, name)  # of the words that are shown
    rows = np.flatnonzero(folded.known[:, folded.names.index(name)])
    if not len(rows) or folded.is_dense(name):  # in dense views all terms occur together
        return np.full(len(scores), np.nan)
    return topic_coherence(scores, folded.counts[name][rows], top=top)


def view_kind(folded: Folded, name: str) -> str:
    """Return what the terms of a view are: see `ViewReport.kind`."""
    if folded.is_dense(name):
        return "numbers"
    recipe = folded.model.recipes_[name]
    if recipe is not None:
        return {"text": "text", "tokens": "items"}.get(recipe.kind, "pictures")
    features, ids = folded.model.feature_names_[name], folded.model.doc_ids_
    is_links = features is not None and ids is not None and set(features) <= set(ids)
    return "links" if is_links else "items"
