"""Split texts of any script into words, and stop words by language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple
from unicodedata import category, is_normalized, normalize

# Han, Hiragana and Katakana: written without spaces, and mixed
_CJK = (
    "\u3005\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
# Thai, Lao, Tibetan and Burmese, which are adjacent, and Khmer
_UNSPACED = "\u0e00-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff"

# soft hyphen, zero-width non-joiner and joiner: hints for the typesetter inside a word
_INVISIBLE = ("\u00ad", "\u200c", "\u200d")

_ASCII_WORD = re.compile(r"[A-Za-z0-9]{2,}")
_PLAIN_WORD = re.compile(r"[^\W_]{2,}")
_ANY_CJK = re.compile(f"[{_CJK}]")
_ANY_UNSPACED = re.compile(f"[{_UNSPACED}]")


def split_words(text: str) -> list[str]:
    """Return the words of a text in order: two or more letters or digits of any script.

    Combining marks (vowel signs of Hindi or Arabic, separate accents) belong to their word and
    count as characters. Everything else, the underscore included, separates words. Runs of Han,
    Hiragana and Katakana, which are written without spaces, are split into overlapping pairs of
    characters; a run of one character is kept.

    Spellings that look the same give the same words: the text is normalized to Unicode's form NFC
    (composed characters), and soft hyphens, zero-width joiners and the dot that Python's `lower`
    leaves above the i of a Turkish "İ" are dropped. Case is kept.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str

    Examples
    --------
    >>> split_words("A naïve x_ray of 2 cafés, in 2024")
    ['naïve', 'ray', 'of', 'cafés', 'in', '2024']
    >>> split_words("हिन्दी भाषा")
    ['हिन्दी', 'भाषा']
    >>> split_words("東京タワーへ iPhone で")
    ['東京', '京タ', 'タワ', 'ワー', 'ーへ', 'iPhone', 'で']
    """
    if text.isascii():
        return _ASCII_WORD.findall(text)
    text = _normalized(text)
    if _patterns().special.search(text) is None:
        return _PLAIN_WORD.findall(text)
    return _split_special(text.replace("_", " "))


def unspaced_share(terms: Iterable[str], counts: Iterable[int]) -> float:
    """Return the share of characters in scripts that do not separate words by spaces.

    These are Thai, Lao, Khmer, Burmese and Tibetan. The terms are weighted by their counts.

    >>> unspaced_share(["ab", "ไทย", "cd"], [1, 2, 1])
    0.6
    """
    unspaced = total = 0
    for term, count in zip(terms, counts, strict=True):
        size = len(term) * int(count)
        total += size
        unspaced += size if _ANY_UNSPACED.match(term) else 0
    return unspaced / total if total else 0.0


def _normalized(text: str) -> str:
    """Return the text without differences that cannot be seen."""
    for char in _INVISIBLE:
        if char in text:
            text = text.replace(char, "")
    if not is_normalized("NFC", text):
        text = normalize("NFC", text)
    return text.replace("i\u0307", "i")


def _split_special(text: str) -> list[str]:
    """Split a text with combining marks, CJK characters, or code points from 65,536 on."""
    patterns = _patterns()
    if _ANY_CJK.search(text) is None:
        return patterns.word.findall(text)
    words = patterns.word_or_run.findall(patterns.run.sub(r" \g<0> ", text))
    return [part for word in words for part in _pairs_of_run(word)]


def _pairs_of_run(word: str) -> list[str]:
    if _ANY_CJK.match(word) is None:
        return [word] if len(word) > 1 else []
    units = list(word) if word.isalnum() else _patterns().unit.findall(word)  # any marks?
    return [a + b for a, b in pairwise(units)] or units


class _Patterns(NamedTuple):
    """Compiled on first use: Python's `re` knows no categories, so marks must be listed."""

    special: re.Pattern[str]  # a character for which [^\W_] is not enough
    word: re.Pattern[str]
    run: re.Pattern[str]  # of CJK characters
    unit: re.Pattern[str]  # a CJK character with its marks, such as variation selectors
    word_or_run: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    low, high = _mark_ranges(0, 0x10000), _mark_ranges(0x10000, 0x20000)
    marks = f"{low}{high}\U000e0100-\U000e01ef"
    return _Patterns(
        # one range for all rare characters: a class with a hundred ranges is slow to search
        special=re.compile(f"[{low}{_CJK}\U00010000-\U0010ffff]"),
        word=re.compile(rf"\w[\w{marks}]+"),
        run=re.compile(f"[{_CJK}][{_CJK}{marks}]*"),
        unit=re.compile(f"[{_CJK}][{marks}]*"),
        word_or_run=re.compile(rf"\w[\w{marks}]*"),
    )


def _mark_ranges(start: int, stop: int) -> str:
    """Return the ranges of combining marks for a character class: a-b and so on."""
    found: list[list[int]] = []
    for point in range(start, stop):
        if category(chr(point))[0] != "M":
            continue
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in found)


# -- languages and stop words ---------------------------------------------------------------------

_SPLIT = re.compile(r"[\W_\d]+")
_WITH_REGION = re.compile("[a-z]{2}(-[A-Za-z]{2}|_[A-Z]{2})")


def known_languages() -> tuple[str, ...]:
    """Return the codes of the languages that have a list of stop words.

    >>> known_languages()[:3]
    ('en', 'de', 'fr')
    """
    return tuple(code for code, *_ in _sections())


def language_code(name: str) -> str | None:
    """Return the code of a language, given by code or name, or None.

    >>> language_code("Deutsch"), language_code("pt-BR"), language_code("tlh")
    ('de', 'pt', None)
    """
    names = _names()
    name = name.lower()
    return names.get(name, names.get(re.split("[-_]", name)[0]))


def language_of_view(name: str) -> str | None:
    """Return the language that is part of the name of a view, or None.

    The name of a language may be anywhere in it. A code must be the whole name, its last part, or
    its first part before a region, because "it" and "no" are also words.

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
    """Return closed-class words of a language, in lower case; none if its code is unknown.

    The English list is scikit-learn's without words such as "fire" and "bill", which tell the
    subject of a text, and with the rests of contractions.

    >>> "zwischen" in stop_words("de"), "fire" in stop_words("en"), stop_words("tlh")
    (True, False, frozenset())
    """
    words = next((words for code, _, words in _sections() if code == language), ())
    dropped = {word[1:] for word in words if word.startswith("-")}
    kept = {word for word in words if not word.startswith("-")}
    return frozenset((kept | _base(language)) - dropped)


@cache
def all_stop_words() -> frozenset[str]:
    """Return the stop words of all languages."""
    return frozenset().union(*map(stop_words, known_languages()))


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
    """Return code, names and words of each language of the file."""
    return tuple(_read_sections())


def _read_sections() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    text = (files("coview.reading") / "stopwords.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    for section in "\n".join(lines).split("[")[1:]:
        head, words = section.split("]")
        code, *names = head.split()
        yield code, tuple(names), tuple(words.split())
