""" "Is it any good?": a sentence for each part of the answer, with the numbers it rests on."""

from __future__ import annotations

from typing import Any

import numpy as np

from coview.reporting.value import (
    NOTICEABLE,
    Disagreement,
    SearchQuality,
    TopicReport,
    ViewReport,
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
        "labels": _labels(search),
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
    weak = sorted((t.stability, t.index) for t in topics if (t.stability or 1.0) < UNSTABLE)
    said = (
        f"Topics come back in other clusterings with a median stability of {np.median(known):.2f} "
        "(1 exactly, 0 as by chance)"
    )
    if not weak:
        return f"{said}, none below {UNSTABLE}."
    first = ", ".join(f"{index} ({stability:.2f})" for stability, index in weak[:5])
    more = f" and {len(weak) - 5} more" if len(weak) > 5 else ""
    return f"{said}; do not rely on {'topics' if len(weak) > 1 else 'topic'} {first}{more}."


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
    idle = [quoted(v.name) for v in known if v.contribution < 0.02]
    add = "adds" if len(idle) == 1 else "add"
    return f"{said}; {' and '.join(idle)} {add} next to nothing." if idle else f"{said}."


def _coverage(views: list[ViewReport], n_docs: int) -> str:
    gaps = [v for v in views if v.n_docs_present < n_docs]
    if not gaps:
        return ""
    each = ", ".join(f"{quoted(v.name)} ({n_docs - v.n_docs_present:,})" for v in gaps)
    return f"Of {plural(n_docs, 'document')}, some lack a view: {each}."


def _agreement(found: Disagreement, model: dict[str, Any]) -> str:
    n_docs, apart = int((~np.isnan(found.beyond)).sum()), int(found.noticed.sum())
    if not n_docs:
        return ""
    few = model["n_drawn"] < model["n_docs"]
    sample = f" (known by a sample of {plural(model['n_drawn'], 'document')})" if few else ""
    rest = "" if not apart else f"; those of the other {apart:,} disagree"
    return (
        f"The views of {n_docs - apart:,} of {plural(n_docs, 'document')} with several views agree "
        f"({1 - apart / n_docs:.0%}): the topics of one explain another as well as its own do, but "
        f"for less than {NOTICEABLE:.0%} beyond chance{sample}{rest}."
    )


def _fit(fit: np.ndarray) -> str:
    known = fit[~np.isnan(fit)]
    if not len(known):
        return ""
    typical, worst = (_times(float(np.quantile(known, share))) for share in (0.5, 0.05))
    return (
        f"Compared with documents drawn from the model, a word is {typical} in a typical document, "
        f"and {worst} in the 5% that fit worst."
    )


def _times(log_ratio: float) -> str:
    ratio = np.exp(abs(log_ratio))
    if ratio < 1.05:
        return "as likely"
    return f"{ratio:.1f} times {'less' if log_ratio < 0 else 'more'} likely"


def _search(found: list[SearchQuality], fitted_to_these: bool) -> str:
    if not found:
        return ""
    best, worst = (f(found, key=lambda s: (s.ten, s.first)) for f in (max, min))
    said = _one_way(best) if best is worst else f"{_one_way(best)}; {_one_way(worst)}"
    held = any(s.median_rank is None for s in found)
    what = "The topics, not the translations," if held else "The topics"
    seen = f" {what} were learned from these documents." if fitted_to_these else ""
    return f"Asked with one view of a document, search finds it by another: {said}.{seen}"


def _one_way(s: SearchQuality) -> str:
    return (
        f"{quoted(s.query)} to {quoted(s.answer)} first for {s.first:.0%}, among ten for "
        f"{s.ten:.0%} of {s.n:,}"
    )


def _labels(found: list[SearchQuality]) -> str:
    shares = sorted(s.same_label for s in found if s.same_label is not None)
    by_chance = [s.chance_same_label for s in found if s.chance_same_label is not None]
    if not shares:
        return ""
    low, high = f"{shares[0]:.0%}", f"{shares[-1]:.0%}"
    return (
        f"Of the first ten other documents that a search finds, "
        f"{low if low == high else f'{low} to {high}'} have the label of the one that was asked "
        f"with, by chance {np.mean(by_chance):.0%}."
    )
