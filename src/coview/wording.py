"""The parts of messages: names from data, lists of them, numbers with nouns, locations."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


# names of the options of the command line by argument; None: the words are for Python
_OPTIONS: ContextVar[Mapping[str, str] | None] = ContextVar("_OPTIONS", default=None)


def option_words() -> Mapping[str, str] | None:
    """Return what `words_for_options` was given, None outside of it."""
    return _OPTIONS.get()


@contextmanager
def words_for_options(options: Mapping[str, str] | None) -> Iterator[None]:
    """Let messages name options of the command line instead of arguments of Python."""
    token = _OPTIONS.set(options)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def argument(name: str, *values: Any) -> str:
    """Return an argument, with values it may have, as a user gives it: in Python or as an option.

    >>> argument("encoding", "cp1252", "latin-1")
    "encoding='cp1252' or 'latin-1'"
    >>> with words_for_options({"encoding": "--encoding"}):
    ...     argument("encoding", "cp1252", "latin-1"), argument("delimiter", ";")
    ('--encoding cp1252 or latin-1', "delimiter=';' in Python")
    """
    options = _OPTIONS.get()
    if options is not None and name in options:
        said = " or ".join(_shell_word(value) for value in values)
        return f"{options[name]} {said}".rstrip()
    said = " or ".join(repr(value) for value in values)
    return f"{name}={said}" if options is None else f"{name}={said} in Python"


def _shell_word(value: Any) -> str:
    """Return a value as it is typed into a shell; a flag has none."""
    if value is True:
        return ""
    if isinstance(value, Mapping):
        pairs = ((name, "none" if item is None else item) for name, item in value.items())
        return " ".join(_shell_word(f"{name}={item}") for name, item in pairs)
    return "$'\\t'" if value == "\t" else shlex.quote(str(value))


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
