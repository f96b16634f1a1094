""" "Is it any good?": a sentence for each part of the answer, with the numbers it rests on."""

from __future__ import annotations

from typing import Any

import numpy as np

from coview.reporting.value import (
    Disagreement,
    SearchQuality,
    TopicReport,
    ViewReport,
    mean_of_known,
)
from coview.wording import plural, quoted

UNSTABLE = 0.3  # see `topic_stability_`: do not rely on topics below it


def write_sentences(
    model: dict[str, Any],
    views: list[ViewReport],
    topics: list[TopicReport],
    disagreement: Disagreement,
    fit: np.ndarray,
    search: list[SearchQuality],
) -> dict[str, str]:
    """Return a sentence for each question that the numbers can answer."""
    found = {
        "convergence": _convergence(model),
        "topics": _topics(topics),
        "stability": _stability(topics),
        "coherence": _coherence(views),
        "views": _views(views),
        "coverage": _coverage(views, model["n_docs"]),
        "agreement": _agreement(disagreement, model),
        "fit": _fit(fit),
        "search": _search(search, model["fitted_to_these"]),
    }
    return {question: answer for question, answer in found.items() if answer}


def _convergence(model: dict[str, Any]) -> str:
    steps = plural(model["n_iter"], "iteration")
    if model["converged"]:
        return f"The fit has converged, in {steps}."
    return f"The fit has not converged in {steps}: fit with a larger max_iter."


def _topics(topics: list[TopicReport]) -> str:
    sizes = np.array([t.size for t in topics])
    empty = sum(t.n_docs == 0 for t in topics)
    said = f"{plural(len(topics), 'topic')}; the largest has {sizes.max():.0%} of the documents"
    if not empty:
        return f"{said}, the smallest {sizes.min():.1%}."
    have = "is the main topic" if empty == 1 else "are the main topics"
    return f"{said}; {empty} {have} of no document: fewer topics may do."


def _stability(topics: list[TopicReport]) -> str:
    known = np.array([t.stability for t in topics if t.stability is not None])
    if not len(known):
        return ""
    weak = int((known < UNSTABLE).sum())
    said = (
        f"Topics come back in other clusterings with a median stability of {np.median(known):.2f}"
    )
    if not weak:
        return f"{said}, none below {UNSTABLE} (1 exactly, 0 as by chance)."
    return f"{said}; do not rely on {plural(weak, 'topic')} below {UNSTABLE}."


def _coherence(views: list[ViewReport]) -> str:
    known = [v for v in views if not np.isnan(v.coherence)]
    if not known:
        return ""
    each = ", ".join(f"{v.coherence:.2f} in {quoted(v.name)}" for v in known)
    worst = min(v.coherence for v in known)
    verdict = "above chance in every view" if worst > 0.02 else "no better than chance in some view"
    return f"The first words of a topic occur together: NPMI {each}; {verdict}."


def _views(views: list[ViewReport]) -> str:
    known = sorted(
        (v for v in views if not np.isnan(v.contribution)), key=lambda v: -v.contribution
    )
    if len(views) < 2 or not known:
        return ""
    each = ", ".join(f"{quoted(v.name)} {v.contribution:.0%}" for v in known)
    said = f"What the topics explain comes from {each}"
    idle = [v for v in known if v.contribution < 0.02]
    return f"{said}; the last adds next to nothing." if idle else f"{said}."


def _coverage(views: list[ViewReport], n_docs: int) -> str:
    gaps = [v for v in views if v.n_docs_present < n_docs]
    if not gaps:
        return ""
    each = ", ".join(f"{quoted(v.name)} ({n_docs - v.n_docs_present:,})" for v in gaps)
    return f"Documents that lack a view, of {n_docs:,}: {each}."


def _agreement(found: Disagreement, model: dict[str, Any]) -> str:
    pairs = found.by_pair.values()
    value, chance = (
        mean_of_known(np.concatenate([getattr(one, part) for one in pairs] or [np.empty(0)]))
        for part in ("value", "chance")
    )
    if np.isnan(value):
        return ""
    beyond = value - chance
    verdict = "agree" if beyond < 0.1 else "agree in the main" if beyond < 0.3 else "disagree"
    few = model["n_drawn"] < model["n_docs"]
    sample = f", by a sample of {plural(model['n_drawn'], 'document')}" if few else ""
    return (
        f"Of what a view's own topics explain, {value:.0%} is lost with the topics of another view "
        f"of the same document, where {chance:.0%} is to be expected by chance{sample}: "
        f"views {verdict}."
    )


def _fit(fit: np.ndarray) -> str:
    known = fit[~np.isnan(fit)]
    if not len(known):
        return ""
    low = np.quantile(known, 0.05)
    return (
        "Per token, documents are "
        f"{_times(float(np.median(known)))} drawn from the model, and the 5 % that fit worst "
        f"{_times(float(low))}."
    )


def _times(log_ratio: float) -> str:
    ratio = np.exp(abs(log_ratio))
    if ratio < 1.05:
        return "as likely as those"
    return f"{ratio:.1f} times {'less' if log_ratio < 0 else 'more'} likely than those"


def _search(found: list[SearchQuality], fitted_to_these: bool) -> str:
    if not found:
        return ""
    best, worst = (f(found, key=lambda s: s.map / s.chance_map) for f in (max, min))
    what = "documents of the same class" if best.relevant == "class" else "a document's other view"
    seen = ", with topics that were learned from these documents" if fitted_to_these else ""
    said = _one_way(best) if best is worst else f"{_one_way(best)}, {_one_way(worst)}"
    return f"Search finds {what} across views{seen}: {said}."


def _one_way(s: SearchQuality) -> str:
    return (
        f"{quoted(s.query)} to {quoted(s.answer)} MAP {s.map:.2f} (by chance {s.chance_map:.2f}), "
        f"median rank {s.median_rank:,.0f} of {s.n:,}"
    )
