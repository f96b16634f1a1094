"""The parts of messages: names from data, lists of them, numbers with nouns, locations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def printable(name: object, width: int = 60) -> str:
    r"""Return text that is safe to print: control characters escaped, long text truncated.

    Examples
    --------
    >>> print(printable("a\x1b[31mred\n"))
    a\x1b[31mred\n
    >>> printable("x" * 100, width=5)
    'xxxxx...'
    """
    text = str(name)
    if len(text) > width:
        text = text[:width] + "..."
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def quoted(name: object) -> str:
    """Return the printable name in single quotes."""
    return f"'{printable(name)}'"


def listing(names: Iterable[object], most: int = 5) -> str:
    """Return the first names, quoted, and their number if not all are shown.

    Examples
    --------
    >>> listing(["a", "b", "c"], most=2)
    "'a', 'b', ... (3 in all)"
    """
    names = list(names)
    text = ", ".join(quoted(name) for name in names[:most])
    return text if len(names) <= most else f"{text}, ... ({len(names):,} in all)"


def suggestion(name: object, known: Iterable[object]) -> str:
    """Return the known name that was likely meant, as a sentence with a space in front, or "".

    Examples
    --------
    >>> suggestion("strngth", ["tol", "strength"])
    " Did you mean 'strength'?"
    >>> suggestion("x", ["tol", "strength"])
    ''
    """
    from difflib import get_close_matches

    close = get_close_matches(str(name), [str(one) for one in known], n=1)
    return f" Did you mean {quoted(close[0])}?" if close else ""


def plural(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 view``, ``1,200 documents``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def location(
    row: int | None = None,
    column: int | None = None,
    ids: np.ndarray | None = None,
    features: np.ndarray | None = None,
) -> str:
    """Return where something was found: row, column, id of the document, name of the feature.

    Examples
    --------
    >>> location(1, 0, ids=["d1", "d2"])
    "row 1, column 0, counting from 0 (document 'd2')"
    """
    numbers = [f"{w} {n:,}" for w, n in (("row", row), ("column", column)) if n is not None]
    known = [
        f"{word} {quoted(names[index])}"
        for word, names, index in (("document", ids, row), ("feature", features, column))
        # lengths are checked after values, so a name may be missing
        if names is not None and index is not None and index < len(names)
    ]
    words = f"{', '.join(numbers)}, counting from 0"
    return f"{words} ({', '.join(known)})" if known else words
