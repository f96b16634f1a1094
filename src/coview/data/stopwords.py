"""Languages by their names, and the closed-class words of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

_SPLIT = re.compile(r"[\W_\d]+")
_WITH_REGION = re.compile("[a-z]{2}(-[A-Za-z]{2}|_[A-Z]{2})")


def known_languages() -> tuple[str, ...]:
    """Codes of the languages that have a list of stop words.

    >>> known_languages()[:3]
    ('en', 'de', 'fr')
    """
    return tuple(code for code, *_ in _sections())


def language_code(name: str) -> str | None:
    """The code of a language by its code or name, or None.

    >>> language_code("Deutsch"), language_code("pt-BR"), language_code("tlh")
    ('de', 'pt', None)
    """
    names = _names()
    name = name.lower()
    return names.get(name, names.get(re.split("[-_]", name)[0]))


def language_of_view(name: str) -> str | None:
    """The language that the name of a view speaks of, or None.

    The name of a language may stand anywhere in it. A code must be all of it, its last part, or
    its first part before a region, for "it" and "no" are also words.

    >>> [language_of_view(name) for name in ("text_de", "english title", "pt-BR", "it_costs")]
    ['de', 'en', 'pt', None]
    """
    parts = [part for part in _SPLIT.split(name) if part]
    if not parts:
        return None
    if _WITH_REGION.fullmatch(name):
        return language_code(name)
    spoken = [part for part in parts if len(part) > 3] + [parts[-1]]
    found = {code for part in spoken if (code := _names().get(part.lower())) is not None}
    return found.pop() if len(found) == 1 else None


@cache
def stop_words(language: str) -> frozenset[str]:
    """Closed-class words of a language, in lower case; none if its code is not known.

    English is scikit-learn's list without words such as "fire" and "bill", which say what a text
    is about, and with what is left of contractions.

    >>> "zwischen" in stop_words("de"), "fire" in stop_words("en"), stop_words("tlh")
    (True, False, frozenset())
    """
    words = next((words for code, _, words in _sections() if code == language), ())
    dropped = {word[1:] for word in words if word.startswith("-")}
    kept = {word for word in words if not word.startswith("-")}
    return frozenset((kept | _base(language)) - dropped)


def _base(language: str) -> frozenset[str]:
    if language != "en":
        return frozenset()
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS


@cache
def _names() -> dict[str, str]:
    return {name: code for code, names, _ in _sections() for name in (code, *names)}


@cache
def _sections() -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
    """Code, names and words of each language of the file."""
    return tuple(_read_sections())


def _read_sections() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    text = (files("coview.data") / "stopwords.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    for section in "\n".join(lines).split("[")[1:]:
        head, words = section.split("]")
        code, *names = head.split()
        yield code, tuple(names), tuple(words.split())
