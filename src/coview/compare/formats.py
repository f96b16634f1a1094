"""Tables as Markdown, LaTeX and plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """What stands in a cell, and how."""

    text: str
    bold: bool = False
    dagger: bool = False


Rows = Sequence[Sequence[Text]]

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "†": r"$^\dagger$",
    "->": r"$\to$",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def write(format: str, header: Sequence[str | Text], rows: Rows, notes: Sequence[str]) -> str:
    """A table whose first column is text and whose others are numbers."""
    titles = [cell if isinstance(cell, Text) else Text(cell) for cell in header]
    return {"markdown": _markdown, "latex": _latex, "text": _text}[format](titles, rows, notes)


def _markdown(header, rows, notes):
    lines = [_markdown_row(header), "| --- |" + " ---: |" * (len(header) - 1)]
    lines += [_markdown_row(row) for row in rows]
    return "\n".join([*lines, *(["", " ".join(notes)] if notes else [])]) + "\n"


def _markdown_row(cells):
    return "| " + " | ".join(_markdown_cell(cell) for cell in cells) + " |"


def _markdown_cell(cell):
    text = " ".join(cell.text.replace("|", r"\|").split()) + (" †" if cell.dagger else "")
    return f"**{text}**" if cell.bold else text


def _latex(header, rows, notes):
    lines = [
        r"\begin{tabular}{l" + "r" * (len(header) - 1) + "}",
        r"\toprule",
        _latex_row(header),
        r"\midrule",
        *(_latex_row(row) for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join([*lines, *(f"\n{latex_text(note)}" for note in notes)]) + "\n"


def _latex_row(cells):
    return " & ".join(_latex_cell(cell) for cell in cells) + r" \\"


def _latex_cell(cell):
    text = latex_text(cell.text) + (r"$^\dagger$" if cell.dagger else "")
    return rf"\textbf{{{text}}}" if cell.bold else text


def latex_text(text: str) -> str:
    r"""Text for LaTeX, with what it would take for commands escaped.

    >>> print(latex_text("image->text, 5 %"))
    image$\to$text, 5 \%
    """
    marked = text.replace("->", "\0")
    return "".join(_LATEX["->"] if c == "\0" else _LATEX.get(c, c) for c in marked)


def _text(header, rows, notes):
    plain = [[_plain_cell(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*plain, strict=True)]
    lines = [
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(pairs)).rstrip()
        for pairs in ([*zip(row, widths, strict=True)] for row in plain)
    ]
    return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


def _plain_cell(cell):
    text = " ".join(cell.text.split()) + (" †" if cell.dagger else "")
    return f"{text} *" if cell.bold else f"{text}  "
