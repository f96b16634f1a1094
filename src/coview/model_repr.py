"""Fitted models in a notebook: their topics as a small table with pictures, without any script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coview.escaping import for_html
from coview.models import topic_model
from coview.reporting.terms import shown_words, summarize_topics
from coview.wording import plural

MOST_TOPICS = 12
N_TERMS = 6
BAR = 90  # pixels of the largest topic


def describe_model(model: Any) -> str:
    """Return a fitted model as HTML: what it is, how it converged, and its largest topics."""
    inner = topic_model(model)
    topics = summarize_topics(model, N_TERMS)
    views = list(inner.components_)
    largest = max((topic["documents"] for topic in topics), default=0)
    head = "".join(f"<th>{for_html(name)}</th>" for name in ("topic", "documents", *views))
    rows = "".join(_row(topic, views, largest) for topic in topics[:MOST_TOPICS])
    left = len(topics) - MOST_TOPICS
    more = f"<p>and {plural(left, 'smaller topic')}</p>" if left > 0 else ""
    title = (
        f"<b>{for_html(type(model).__name__)}</b>, {plural(len(topics), 'topic')} of "
        f"{plural(len(inner.labels_), 'document')} in {plural(len(views), 'view')}; "
        f"{plural(int(inner.n_iter_), 'iteration')} {sparkline(inner.trace_.objective)}"
    )
    return f"<div><p>{title}</p><table><tr>{head}</tr>{rows}</table>{more}</div>"


def _row(topic: dict[str, Any], views: Sequence[str], largest: int) -> str:
    name = topic["topic"] if topic["name"] is None else topic["name"]
    width = BAR * topic["documents"] / largest if largest else 0
    bar = (
        f'<svg width="{BAR + 50}" height="14" role="img">'
        f'<rect width="{width:.0f}" height="12" y="1" fill="#0072B2"/>'
        f'<text x="{width + 4:.0f}" y="11" font-size="11" fill="currentColor">'
        f"{topic['documents']:,}</text></svg>"
    )
    words = "".join(f"<td>{for_html(words)}</td>" for words in shown_words(topic, views))
    return f"<tr><td>{for_html(str(name))}</td><td>{bar}</td>{words}</tr>"


def sparkline(values: Any, width: int = 80, height: int = 16) -> str:
    """Return a small curve as inline SVG; nothing for fewer than two values.

    >>> sparkline([1.0])
    ''
    """
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    if len(known) < 2:
        return ""
    span = known.max() - known.min() or 1.0
    x = np.linspace(1, width - 1, len(known))
    y = height - 2 - (height - 4) * (known - known.min()) / span
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return (
        f'<svg width="{width}" height="{height}" role="img"><title>objective</title>'
        f'<polyline points="{points}" fill="none" stroke="#0072B2" stroke-width="1.5"/></svg>'
    )
