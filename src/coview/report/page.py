"""A report as a page of text for the terminal."""

from __future__ import annotations

from coview.report.value import Report


def page(report: Report, *, top: int, terms: int) -> str:
    return "\n".join(report.sentences.values())
