"""Find the language of texts by the share of each list of stop words among their words.

In running text every third to second word is a stop word of its own language, and few words are
one of another: of the languages with a list only Danish and Norwegian are close, and these have
most stop words in common.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from typing import Any

from coview.reading.words import (
    known_languages,
    language_code,
    language_of_view,
    split_words,
    stop_words,
)
from coview.views.checks import DataWarning
from coview.wording import argument, quoted

SAMPLE_WORDS = 100_000  # that are looked at to find a language
FEW_WORDS = 50  # with fewer, a language is neither found nor missed
FEWEST_STOP_WORDS = 3  # different ones, by which a language can be told
LEAST_SHARE = 0.15  # of stop words in texts of their language; titles have a quarter


class LanguageSample:
    """The words of the first texts of a view."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """Take the words of one more text."""
        words = split_words(text.lower())
        self._counts.update(word for word in words if not word.isdecimal())

    @property
    def size(self) -> int:
        """Number of words so far."""
        return self._counts.total()

    def language(self, view: str) -> str | None:
        """Return the language of the view by its words and its name; warn where none fits.

        A name such as "text_de" decides, unless the words are clearly of another language.
        """
        named, found = language_of_view(view), None
        if self.size >= FEW_WORDS:
            shares = language_shares(self._counts, self.size)
            found = best_language(shares)
            if named is None and found is None:
                _warn_of_none(view, shares)
            if named and found and 2 * shares[named] < shares[found]:
                _warn_of_name(view, named, found, shares)
                return found
        return named or found


def given_language(name: Any, view: str) -> str | None:
    """Return the code of a language that the user named; warn if it has no list."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise TypeError(
            'languages must be "auto", None, the name or code of a language, or a dict of '
            f"these by view; got {name!r}."
        )
    code = language_code(name)
    if code is None:
        _warn(
            f"No list of stop words for the language {quoted(name)} of view {quoted(view)}; "
            "only words in more than max_df of the documents are left out. There are lists "
            f"for {', '.join(known_languages())}."
        )
    return code


def language_shares(
    counts: Mapping[str, int], total: int, left_out: frozenset[str] = frozenset()
) -> dict[str, float]:
    """Return the share of the stop words of each language among counted words.

    It is 0 where one or two words are in a list: they may be others that look alike.

    >>> shares = language_shares({"der": 3, "die": 1, "und": 1, "haus": 5}, 10)
    >>> shares["de"], shares["en"]
    (0.5, 0.0)
    """
    lists = {language: stop_words(language) - left_out for language in known_languages()}
    shares = {}
    for language, words in lists.items():
        found = [counts[word] for word in words if word in counts]
        enough = len(found) >= FEWEST_STOP_WORDS
        shares[language] = sum(found) / max(total, 1) if enough else 0.0
    return shares


def best_language(shares: Mapping[str, float]) -> str | None:
    """Return the language with the largest share, unless that is too small."""
    # with equal shares any will do: the stop words that occur are in both lists
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= LEAST_SHARE else None


def warn_of_others(view: str, language: str, counts: Mapping[str, int], total: int) -> None:
    """Warn if stop words of other languages are left when those of one are gone.

    Then the first texts are in one language and later ones in others.
    """
    shares = language_shares(counts, total, stop_words(language))
    other = best_language(shares)
    if other is not None:
        _warn(
            f"View {quoted(view)} is in several languages: the first texts are read as "
            f"{quoted(language)}, but {100 * shares[other]:.0f} % of the words that are left are "
            f"stop words of {quoted(other)}. Give each language a view of its own, or the stop "
            "words of all: stop_words= in Python."
        )


def _warn_of_none(view: str, shares: Mapping[str, float]) -> None:
    best = max(shares, key=shares.__getitem__)
    _warn(
        f"No list of stop words fits view {quoted(view)} (that of {quoted(best)} has "
        f"{100 * shares[best]:.0f} % of its words), so none are left out. Say its language, such "
        f"as {argument('languages', {view: 'en'})}, or {argument('languages', {view: None})} for "
        f"none; there are lists for {', '.join(known_languages())}."
    )


def _warn_of_name(view: str, named: str, found: str, shares: Mapping[str, float]) -> None:
    _warn(
        f"View {quoted(view)} is called like the language {quoted(named)}, but its words are of "
        f"{quoted(found)} ({100 * shares[found]:.0f} % are stop words of that, "
        f"{100 * shares[named]:.0f} % of the other), whose stop words are left out. To choose: "
        f"{argument('languages', {view: named})}."
    )


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=3)
