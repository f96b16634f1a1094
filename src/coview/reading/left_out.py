"""Terms that were counted but not kept, so that a model can say why it does not know a word.

A recipe keeps them as hashes of 32 bits with the number of documents that have each: 8 bytes for a
term, whatever its length, and at most `MOST` terms, those in the most documents. A term that never
occurred has the hash of one that did once in some 30,000 times.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np

from coview.wording import argument, plural, printable, quoted

MOST = 1 << 17
SHOWN = 5  # words of a message
STOP_WORD = "a stop word"


@dataclass(frozen=True)
class TermsLeftOut:
    """The terms of a view that were left out.

    Attributes
    ----------
    n_docs : int
        Documents that have the view.
    bounds : (float, float)
        The least and the largest number of documents of a term that is kept.
    hashes : ndarray of uint32 of shape (terms,)
        Sorted.
    frequencies : ndarray of uint32 of shape (terms,)
        How many documents have the term.
    complete : bool
        Whether these are all terms that were left out.

    Examples
    --------
    >>> left_out = TermsLeftOut.of(["and", "moth"], np.array([9, 1]), 10, (2, 5.0))
    >>> left_out.reason("and"), left_out.reason("moth"), left_out.reason("zebra")
    ('too common (in 90 % of the documents; max_df)', 'too rare (in 1 document; min_df)', None)
    """

    n_docs: int
    bounds: tuple[float, float]
    hashes: np.ndarray
    frequencies: np.ndarray
    complete: bool

    @classmethod
    def of(
        cls, terms: Iterable[str], frequencies: np.ndarray, n_docs: int, bounds: tuple[float, float]
    ) -> TermsLeftOut:
        """Return what is to be kept of terms that are left out."""
        hashes = np.fromiter(map(term_hash, terms), np.uint32, len(frequencies))
        return cls._of_hashes(hashes, frequencies, n_docs, bounds, True, MOST)

    @classmethod
    def _of_hashes(
        cls,
        hashes: np.ndarray,
        frequencies: np.ndarray,
        n_docs: int,
        bounds: tuple[float, float],
        complete: bool,
        most: int,
    ) -> TermsLeftOut:
        # ties by hash: the order in which terms were met does not matter
        chosen = np.lexsort((hashes, -frequencies.astype(np.int64)))[:most]
        chosen = chosen[np.argsort(hashes[chosen], kind="stable")]
        low, high = bounds
        return cls(
            n_docs,
            (float(low), float(high)),
            hashes[chosen],
            frequencies[chosen].astype(np.uint32),
            complete and len(chosen) == len(hashes),
        )

    def reason(self, term: str) -> str | None:
        """Return why a term was left out; None if it was not, or is not among those known."""
        place = int(np.searchsorted(self.hashes, np.uint32(term_hash(term))))
        if place == len(self.hashes) or self.hashes[place] != term_hash(term):
            return None
        n, (low, high) = int(self.frequencies[place]), self.bounds
        if n > high:
            share = f"{100 * n / self.n_docs:.0f} %"
            return f"too common (in {share} of the documents; {shown_option('max_df')})"
        if n < low:
            return f"too rare (in {plural(n, 'document')}; {shown_option('min_df')})"
        return f"not frequent enough (in {plural(n, 'document')}; {shown_option('max_features')})"

    def first(self, most: int) -> TermsLeftOut:
        """Return the terms that the most documents have."""
        return self._of_hashes(
            self.hashes, self.frequencies, self.n_docs, self.bounds, self.complete, most
        )

    def as_data(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return settings for JSON, and arrays."""
        low, high = self.bounds
        settings = {"documents": self.n_docs, "min": low, "max": high, "complete": self.complete}
        return settings, {"leftout": np.stack([self.hashes, self.frequencies])}

    @classmethod
    def from_data(
        cls, settings: Mapping[str, Any] | None, arrays: Mapping[str, np.ndarray]
    ) -> TermsLeftOut | None:
        """Return what `as_data` described; None from files of earlier versions."""
        if settings is None:
            return None
        n_docs, complete, both = settings["documents"], settings["complete"], arrays["leftout"]
        if type(n_docs) is not int or n_docs < 1 or type(complete) is not bool:
            raise ValueError("The terms that were left out are of no number of documents.")
        if both.dtype != np.uint32 or both.ndim != 2 or len(both) != 2 or both.shape[1] > MOST:
            raise ValueError("The terms that were left out are not hashes and frequencies.")
        if (both[0, 1:] < both[0, :-1]).any():
            raise ValueError("The hashes of terms that were left out are not in order.")
        bounds = float(settings["min"]), float(settings["max"])
        return cls(n_docs, bounds, both[0], both[1], complete)


class LeftOutCollector:
    """Collect terms that are left out, one after the other, in bounded memory."""

    def __init__(self) -> None:
        self._hashes: list[int] = []
        self._frequencies: list[int] = []
        self._complete = True

    def add(self, term: bytes, frequency: int) -> None:
        """Add a term in UTF-8."""
        self._hashes.append(crc32(term))
        self._frequencies.append(frequency)
        if len(self._hashes) >= 4 * MOST:
            kept = self.result(1, (0, 0))
            self._complete = kept.complete
            self._hashes, self._frequencies = kept.hashes.tolist(), kept.frequencies.tolist()

    def result(self, n_docs: int, bounds: tuple[float, float]) -> TermsLeftOut:
        """Return the terms of which most documents are."""
        hashes = np.array(self._hashes, np.uint32)
        frequencies = np.array(self._frequencies, np.int64)
        return TermsLeftOut._of_hashes(hashes, frequencies, n_docs, bounds, self._complete, MOST)


def term_hash(term: str) -> int:
    """Return 32 bits of a term, the same on every machine."""
    return crc32(term.encode("utf-8", "surrogatepass"))


def unknown_terms(
    recipe: Any, words: Iterable[str], totals: np.ndarray | None, stop_words: Collection[str] = ()
) -> dict[str, str]:
    """Return the words that are not known, each once, and why, in words that follow the term.

    Parameters
    ----------
    recipe : recipe with `terms` and `left_out`
    words : iterable of str
    totals : ndarray of shape (terms,), or None
        How often a model has seen the terms; None: often.
    stop_words : collection of str
        Those that were left out before anything was counted.
    """
    found: dict[str, str] = {}
    columns, left_out = _columns(recipe), recipe.left_out
    for word in dict.fromkeys(words):
        column = columns.get(word)
        if column is not None and (totals is None or totals[column] > 0):
            continue
        reason = None if left_out is None else left_out.reason(word)
        if word in stop_words:
            of = getattr(recipe, "language", None) or "your list"
            reason = f"{STOP_WORD} ({of}; {shown_option('stop_words')})"
        elif column is not None or (reason is None and left_out is not None and left_out.complete):
            reason = "in no document of training"
        found[word] = reason or "not in the vocabulary"
    return found


# by recipe: a model may be asked many times
_COLUMNS: WeakKeyDictionary[Any, dict[str, int]] = WeakKeyDictionary()


def _columns(recipe: Any) -> dict[str, int]:
    if recipe not in _COLUMNS:
        _COLUMNS[recipe] = {term: column for column, term in enumerate(recipe.terms.tolist())}
    return _COLUMNS[recipe]


def name_left_out(words: Mapping[str, str], stop_words: bool = True) -> str:
    """Return words with the reasons why they are not known, some of them; "" if there are none.

    Stop words come last, or not at all: that they are left out is no news.

    >>> name_left_out({"the": "a stop word (en; stop_words)", "moth": "too rare (in 1 document)"})
    "'moth' is too rare (in 1 document), 'the' is a stop word (en; stop_words)"
    """
    told = sorted(words.items(), key=lambda pair: pair[1].startswith(STOP_WORD))
    told = [pair for pair in told if stop_words or not pair[1].startswith(STOP_WORD)]
    shown = [f"{quoted(printable(word, 30))} is {why}" for word, why in told[:SHOWN]]
    more = len(told) - len(shown)
    return ", ".join([*shown, *([f"and {more:,} more"] if more else [])])


def shown_option(name: str) -> str:
    """Return an argument's name as a user gives it: in Python or as an option."""
    return argument(name).removesuffix("=")
