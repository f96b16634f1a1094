"""How names that come from data and numbers are shown in messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def show(name: object, width: int = 60) -> str:
    r"""Text that is safe on a terminal and in a log: control characters escaped, long text cut.

    Examples
    --------
    >>> print(show("a\x1b[31mred\n"))
    a\x1b[31mred\n
    >>> show("x" * 100, width=5)
    'xxxxx...'
    """
    text = str(name)
    if len(text) > width:
        text = text[:width] + "..."
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def quoted(name: object) -> str:
    """The shown name in single quotes."""
    return f"'{show(name)}'"


def listing(names: Iterable[object], most: int = 5) -> str:
    """The first few names, quoted, and how many there are if not all are shown.

    Examples
    --------
    >>> listing(["a", "b", "c"], most=2)
    "'a', 'b', ... (3 in all)"
    """
    names = list(names)
    text = ", ".join(quoted(name) for name in names[:most])
    return text if len(names) <= most else f"{text}, ... ({len(names):,} in all)"


def plural(count: int, noun: str) -> str:
    """A number with its noun: `1 view`, `1,200 documents`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def place(
    row: int | None = None,
    column: int | None = None,
    ids: np.ndarray | None = None,
    features: np.ndarray | None = None,
) -> str:
    """Where something was found: row and column, with the document's id and the feature's name.

    Examples
    --------
    >>> place(1, 0, ids=["d1", "d2"])
    "row 1, column 0, counting from 0 (document 'd2')"
    """
    numbers = [f"{w} {n:,}" for w, n in (("row", row), ("column", column)) if n is not None]
    known = [
        f"{word} {quoted(names[index])}"
        for word, names, index in (("document", ids, row), ("feature", features, column))
        # the lengths are checked later than the values, so a name may be missing
        if names is not None and index is not None and index < len(names)
    ]
    words = f"{', '.join(numbers)}, counting from 0"
    return f"{words} ({', '.join(known)})" if known else words
