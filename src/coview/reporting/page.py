"""A report as a page of text for the terminal; texts from data are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

import numpy as np

from coview.reporting.terms import words_or_dash
from coview.reporting.value import Report, TopicReport, as_share
from coview.wording import plural, printable

WIDTH = 100


def page(report: Report, *, top: int, terms: int) -> str:
    """Return the page; see `Report.to_text`."""
    parts = [
        _title(report),
        _sentences(report),
        _views(report),
        _search(report),
        _tree(report, top),
        _topics(report, top, terms),
        _disagreeing(report, top),
        _unexplained(report, top),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _title(report: Report) -> str:
    facts = report.model
    inner = "" if facts["inner"] is None else f" of {facts['inner']}"
    which = "the documents of the fit" if facts["fitted_to_these"] else "not those of the fit"
    return (
        f"{facts['class']}{inner}: {plural(facts['n_topics'], 'topic')}, "
        f"{plural(facts['n_docs'], 'document')} ({which}), {plural(len(report.views), 'view')}"
    )


def _sentences(report: Report) -> str:
    lines = ["Is it any good?"]
    for said in report.sentences.values():
        lines += wrap(said, WIDTH, initial_indent="  - ", subsequent_indent="    ")
    return "\n".join(lines)


def _views(report: Report) -> str:
    head = ["view", "kind", "terms", "documents", "contribution", "weight", "coherence"]
    rows = [
        [
            printable(v.name, 30),
            v.kind,
            f"{v.n_terms:,}",
            f"{v.n_docs_present:,}",
            _percent(v.contribution),
            f"{v.weight:.3g}",
            _number(v.coherence),
        ]
        for v in report.views
    ]
    graphs = report.graphs or {}
    shown = ", ".join(f"{printable(name, 30)} {weight:.2f}" for name, weight in graphs.items())
    return _table("Views", head, rows, left=2) + (
        f"\n  weights of graphs: {shown}" if shown else ""
    )


def _search(report: Report) -> str:
    if not report.search:
        return ""
    head = ["query", "answer", "documents", "found first", "among ten", "median rank"]
    labeled = any(s.same_label is not None for s in report.search)
    rows = [
        [
            printable(s.query, 30),
            printable(s.answer, 30),
            f"{s.n:,}",
            _percent(s.first),
            _percent(s.ten),
            "" if s.median_rank is None else f"{s.median_rank:,.0f}",
            *([_percent(s.same_label), _percent(s.chance_same_label)] if labeled else []),
        ]
        for s in report.search
    ]
    head += ["same label", "by chance"] if labeled else []
    title = "Search of one view with another: is the document itself found?"
    told = "".join(f"\n  {s.sentence}" for s in report.search)
    return _table(title, head, rows, left=2) + told


def _tree(report: Report, top: int) -> str:
    """Return the first lines of the tree."""
    if report.tree is None:
        return ""
    head, *lines = report.tree.to_text().splitlines()
    most = 5 * top
    more = [f"  and {len(lines) - most:,} more"] if len(lines) > most else []
    return "\n".join([f"Tree: {head}", *(f"  {line}" for line in lines[:most]), *more])


def _topics(report: Report, top: int, terms: int) -> str:
    order = sorted(report.topics, key=lambda t: (-t.size, t.index))[:top]
    rest = len(report.topics) - len(order)
    lines = [f"Topics, {'the largest ' + str(len(order)) if rest else 'by size'}"]
    for topic in order:
        lines += _topic(topic, terms)
    if rest:
        lines.append(f"  and {rest:,} more")
    return "\n".join(lines)


def _topic(topic: TopicReport, terms: int) -> list[str]:
    name = "" if topic.name is None else f" {printable(topic.name, 40)}"
    facts = [f"{topic.size:.1%} of the documents", f"main topic of {topic.n_docs:,}"]
    if not np.isnan(topic.agreement):
        facts.append(f"views agree in {topic.agreement:.0%}")
    if topic.stability is not None:
        facts.append(f"stability {topic.stability:.2f}")
    if topic.labels:
        first, share = next(iter(topic.labels.items()))
        facts.append(f"{share:.0%} labeled {printable(first, 30)}")
    lines = [f"  {topic.index}{name}: {', '.join(facts)}"]
    for view, found in topic.terms.items():
        words = [printable(term, 30) for term, _ in found[:terms]]
        shown = words_or_dash(words, *topic.view_documents[view])
        lines.append(f"      {printable(view, 30)}: {shown}")
    return lines


def _disagreeing(report: Report, top: int) -> str:
    rows = report.disagreeing(top)
    lost, chance = map(as_share, (report.disagreement.value, report.disagreement.chance))
    cells = [[_percent(lost[d]), _percent(chance[d])] for d in rows]
    return _documents(report, "Views disagree", rows, ["lost", "by chance"], cells)


def _unexplained(report: Report, top: int) -> str:
    rows = report.unexplained(top)
    cells = [[f"{np.exp(-report.fit[d]):.1f}x"] for d in rows]
    return _documents(report, "No topic fits", rows, ["less likely"], cells)


def _documents(
    report: Report, title: str, rows: list[int], head: list[str], cells: list[list[str]]
) -> str:
    if not rows:
        return ""
    body = [
        [
            printable(report.title(d), 40),
            *numbers,
            *(_main_topic(mixtures[d]) for mixtures in report.view_mixtures.values()),
        ]
        for d, numbers in zip(rows, cells, strict=True)
    ]
    return _table(
        f"{title} (main topic by each view alone)",
        ["document", *head, *map(_short, report.view_mixtures)],
        body,
        left=1,
    )


def _short(name: str) -> str:
    return printable(name, 16)


def _main_topic(mixture: np.ndarray) -> str:
    if np.isnan(mixture).any():
        return "-"
    return f"{mixture.argmax()} ({mixture.max():.0%})"


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Return aligned columns, the first `left` of them to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]
    return "\n".join([title, *(f"  {line}" for line in lines)])


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "-" if value is None or np.isnan(value) else f"{value:.0%}"
