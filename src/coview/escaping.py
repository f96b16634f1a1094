r"""Texts from data: one function for each medium (terminal, CSV, Markdown, LaTeX, HTML, plots).

Names of views, documents, models and files come from users' data, and may hold anything: control
codes that a terminal obeys, formulas that a spreadsheet computes, markup that a browser runs. What
is shown or written passes the function of its medium, which leaves ordinary texts as they are.
"""

from __future__ import annotations

import html as _html
import json
import re
import unicodedata
from typing import Any

from coview.wording import printable

_NO_LIMIT = 10**9
# characters that a spreadsheet takes for the beginning of a formula, after NFKC
_FORMULA = "=+-@"
# leading characters that a spreadsheet may drop, besides white space: controls, invisible ones
_DROPPED = ("Cc", "Cf", "Zs", "Zl", "Zp")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "†": r"$^\dagger$",
    "->": r"$\to$",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}
_MARKDOWN = {c: f"\\{c}" for c in "\\`*|"} | {"<": "&lt;"}
# an underscore within a word is no markup; an ampersand is some only in an entity
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_END_OF_LINK_TEXT = re.compile(r"\](?=[(\[])")


def for_terminal(text: object) -> str:
    r"""Return a text that a terminal only shows: other characters escaped, line breaks kept.

    `coview.wording.printable` does the same for one name, in one line.

    >>> print(for_terminal("saved as \x1b]0;title\a.csv"))
    saved as \x1b]0;title\x07.csv
    """
    return "\n".join(printable(line, _NO_LIMIT) for line in str(text).split("\n"))


def one_line(text: object) -> str:
    r"""Return a text in one line, for a table: white space as single spaces, the rest escaped.

    >>> one_line("a\nb\x1b")
    'a b\\x1b'
    """
    return printable(" ".join(str(text).split()), _NO_LIMIT)


def for_json(value: Any, indent: int | None = None) -> str:
    r"""Return JSON that is safe to print: characters that are not printable as ``\u...``.

    >>> print(for_json({"a": "é\x9b"}))
    {"a": "é\u009b"}
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    # line breaks within texts are escaped already: those that are left are of the indentation
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def for_spreadsheet(value: Any) -> Any:
    r"""Return a cell of a CSV file, which a spreadsheet shows and does not compute.

    A text that would be a formula gets an apostrophe in front, also one that begins with white
    space, an invisible character or a full-width sign. Control codes are escaped but for tabs and
    line breaks. Values that are not texts stay as they are.

    >>> [for_spreadsheet(v) for v in ("=1+1", "\n=1", "＝1", "a\x1b", "plain", -3.5)]
    ["'=1+1", "'\n=1", "'＝1", 'a\\x1b', 'plain', -3.5]
    """
    if not isinstance(value, str):
        return value
    text = "".join(c if _is_fine_in_cell(c) else repr(c)[1:-1] for c in value)
    return f"'{text}" if _is_formula(text.lstrip("'")) else text


def from_spreadsheet(text: str) -> str:
    """Return the text of a cell that `for_spreadsheet` wrote; control codes stay escaped.

    >>> [from_spreadsheet(for_spreadsheet(t)) for t in ("=1", "'=1", "'a")]
    ['=1', "'=1", "'a"]
    """
    return text[1:] if text.startswith("'") and _is_formula(text.lstrip("'")) else text


def _is_fine_in_cell(character: str) -> bool:
    return character in "\t\r\n" or unicodedata.category(character) not in ("Cc", "Cs")


def _is_formula(text: str) -> bool:
    """Return whether the first character that is seen begins a formula, or a tab is in front."""
    if text.startswith(("\t", "\r")):
        return True
    seen = (c for c in text if not (c.isspace() or unicodedata.category(c) in _DROPPED))
    first = next(seen, "")
    return unicodedata.normalize("NFKC", first)[:1] in _FORMULA if first else False


def for_markdown(text: object) -> str:
    r"""Return a text in one line that Markdown shows as it is: no markup, no HTML, no links.

    >>> print(for_markdown("<script>|n_topics *5* [a](b)"))
    &lt;script>\|n_topics \*5\* [a\](b)
    """
    escaped = "".join(_MARKDOWN.get(c, c) for c in _ENTITY.sub("&amp;", one_line(text)))
    return _END_OF_LINK_TEXT.sub(r"\\]", _UNDERSCORE.sub(r"\\_", escaped))


def for_latex(text: object) -> str:
    r"""Return a text in one line for LaTeX.

    >>> print(for_latex("image->text, 5 %"))
    image$\to$text, 5 \%
    """
    marked = one_line(text).replace("->", "\0")
    return "".join(_LATEX["->"] if c == "\0" else _LATEX.get(c, c) for c in marked)


def for_html(text: object) -> str:
    """Return a text for HTML, in an element or in quotes.

    >>> for_html("<b>")
    '&lt;b&gt;'
    """
    return _html.escape(for_terminal(text))


def for_plot(text: object) -> str:
    r"""Return a text in one line for matplotlib, which sets what is between dollar signs.

    >>> print(for_plot("$a_$"))
    \$a_\$
    """
    return one_line(text).replace("$", r"\$")
