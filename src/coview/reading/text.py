"""Texts and lists of tokens as counts: readers of columns, and recipes.

`coview.reading.text_options` says how texts are counted. `TextColumn` and `TokensColumn` count one
cell after the other and give a `CountedView`, with the recipe (`TextRecipe`, `TokensRecipe`) that
reads new documents in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from coview.reading.counting import TermCounter, VocabularyLimits, expand_rows
from coview.reading.languages import (
    SAMPLE_WORDS,
    LanguageSample,
    warn_of_others,
)
from coview.reading.left_out import TermsLeftOut, unknown_terms
from coview.reading.recipes import Recipe, is_missing
from coview.reading.text_options import TextOptions
from coview.reading.vectorizers import (
    given_vocabulary,
    limits_of,
    restored_tfidf,
    tfidf_of,
    vectorizer_data,
    vectorizer_from_data,
)
from coview.reading.words import (
    all_stop_words,
    language_code,
    unspaced_share,
)
from coview.wording import location, plural, printable, quoted

MakeCounter = Callable[..., TermCounter]


class CountedView(NamedTuple):
    """A view that was counted from raw documents."""

    matrix: sp.csr_array
    features: np.ndarray
    present: np.ndarray
    recipe: Recipe


# -- cells ----------------------------------------------------------------------------------------


def text_cell(cell: Any) -> str | None:
    """Return the text of a cell, or None if it is missing."""
    if isinstance(cell, str) and cell and not cell.isspace():
        return cell
    if is_missing(cell):
        return None
    raise TypeError(
        f"Expected a text, found {type(cell).__name__} ({printable(repr(cell))}). Convert it to "
        "text, or give lists of tokens as tokens."
    )


def token_cell(cell: Any, separator: str | None = None) -> list[str] | None:
    """Return the tokens of a cell, or None if it is missing.

    A list is used unchanged. A text is split at the separator; without one, it is read as a list
    in JSON if it is one, and split at white space otherwise.

    >>> token_cell("b a"), token_cell('["b", "a c"]'), token_cell("b; a c", ";"), token_cell("")
    (['b', 'a'], ['b', 'a c'], ['b', 'a c'], None)
    """
    if is_missing(cell):
        return None
    if isinstance(cell, str):
        listed = _json_list(cell) if separator is None else None
        parts: Iterable[Any] = cell.split(separator) if listed is None else listed
    elif isinstance(cell, bytes | dict) or not isinstance(cell, Iterable):
        raise TypeError(f"Expected a list of tokens, found {type(cell).__name__}.")
    else:
        parts = cell
    return [token for part in parts if (token := _token(part))]


def _json_list(text: str) -> list[Any] | None:
    if not text.lstrip().startswith("["):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _token(token: Any) -> str:
    if isinstance(token, str):
        return str(token).strip()
    if isinstance(token, int | np.integer) and not isinstance(token, bool):
        return str(token)
    raise TypeError(
        f"A token must be a text, found {type(token).__name__} ({printable(repr(token))})."
    )


# -- recipes --------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class TextRecipe:
    """How the texts of a view become counts of terms.

    Attributes
    ----------
    source : str
        The column of raw texts.
    vectorizer : CountVectorizer or TfidfVectorizer
        Splits a text into terms; not fitted, because the terms are kept here.
    terms : array of str of shape (n_terms,)
    tfidf : fitted TfidfTransformer or None
    language : str or None
        The language whose stop words are left out.
    left_out : TermsLeftOut or None
        Terms that were counted but not kept; None if that is not known.
    """

    kind: ClassVar[str] = "text"
    source: str
    vectorizer: CountVectorizer
    terms: np.ndarray
    tfidf: TfidfTransformer | None = None
    language: str | None = None
    left_out: TermsLeftOut | None = None

    def __repr__(self) -> str:
        how = type(self.vectorizer).__name__
        return f"<TextRecipe: {plural(len(self.terms), 'term')} of {quoted(self.source)} by {how}>"

    @property
    def stop_words(self) -> str:
        """Whose stop words are left out: a language, "own" for a list of the user, or "none"."""
        return self.language or ("none" if self.vectorizer.stop_words is None else "own")

    def counts(self, items: Iterable[Any]) -> tuple[sp.csr_array, np.ndarray]:
        """Return counts (documents, terms) of texts, and which of them are not missing."""
        analyze = self.vectorizer.build_analyzer()
        counter = TermCounter(analyze, self.terms)
        matrix = _count(items, text_cell, counter, self.source, self.vectorizer.binary)
        weighted = _weighted(matrix, self.tfidf, self.vectorizer)
        return expand_rows(weighted, counter.present), counter.present

    def unknown_words(self, item: Any, totals: np.ndarray | None = None) -> dict[str, str]:
        """Return the words of a text that are not known, and why: see `unknown_terms`."""
        text, vectorizer = text_cell(item), self.vectorizer
        if text is None:
            return {}
        if vectorizer.analyzer != "word" or vectorizer.ngram_range[0] > 1:
            return unknown_terms(self, vectorizer.build_analyzer()(text), totals)
        # single words: the analyzer leaves out stop words, and makes runs of words
        words = vectorizer.build_tokenizer()(vectorizer.build_preprocessor()(text))
        return unknown_terms(self, words, totals, vectorizer.get_stop_words() or ())

    def as_data(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return settings for JSON, and arrays; ValueError if the vectorizer holds a function."""
        own = {"source": self.source, "language": self.language}
        settings, arrays = _left_out_data(self.left_out)
        if self.tfidf is not None and self.tfidf.use_idf:
            arrays["idf"] = self.tfidf.idf_
        return {**own, **vectorizer_data(self.vectorizer), **settings}, arrays

    @classmethod
    def from_data(
        cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], features: np.ndarray
    ) -> TextRecipe:
        """Return the recipe that `as_data` described, with the terms."""
        vectorizer = vectorizer_from_data(settings)
        tfidf = restored_tfidf(vectorizer, arrays.get("idf"), len(features))
        language = settings.get("language")  # which early files lack
        if language is not None and language_code(str(language)) != language:
            raise ValueError(f"There is no language {quoted(language)}.")
        left_out = TermsLeftOut.from_data(settings.get("left_out"), arrays)
        return cls(str(settings["source"]), vectorizer, features, tfidf, language, left_out)


@dataclass(eq=False, repr=False)
class TokensRecipe:
    """How the lists of tokens of a view become counts.

    Attributes
    ----------
    source : str
        The column of lists.
    terms : array of str of shape (n_terms,)
    separator : str or None
        What separates the tokens of a cell that is one text; None: white space.
    left_out : TermsLeftOut or None
        Tokens that were counted but not kept; None if that is not known.
    """

    kind: ClassVar[str] = "tokens"
    source: str
    terms: np.ndarray
    separator: str | None = None
    left_out: TermsLeftOut | None = None

    def __repr__(self) -> str:
        return f"<TokensRecipe: {plural(len(self.terms), 'term')} of {quoted(self.source)}>"

    def counts(self, items: Iterable[Any]) -> tuple[sp.csr_array, np.ndarray]:
        """Return counts (documents, terms) of lists, and which of them are not missing."""
        cell = partial(token_cell, separator=self.separator)
        counter = TermCounter(_unchanged, self.terms)
        matrix = _count(items, cell, counter, self.source)
        return expand_rows(matrix, counter.present), counter.present

    def unknown_words(self, item: Any, totals: np.ndarray | None = None) -> dict[str, str]:
        """Return the tokens of a cell that are not known, and why: see `unknown_terms`."""
        return unknown_terms(self, token_cell(item, self.separator) or [], totals)

    def as_data(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return settings for JSON, and arrays."""
        settings, arrays = _left_out_data(self.left_out)
        return {"source": self.source, "separator": self.separator, **settings}, arrays

    @classmethod
    def from_data(
        cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], features: np.ndarray
    ) -> TokensRecipe:
        """Return the recipe that `as_data` described, with the terms."""
        left_out = TermsLeftOut.from_data(settings.get("left_out"), arrays)
        return cls(str(settings["source"]), features, settings.get("separator"), left_out)


def _left_out_data(left_out: TermsLeftOut | None) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if left_out is None:
        return {}, {}
    settings, arrays = left_out.as_data()
    return {"left_out": settings}, arrays


def _count(
    items: Iterable[Any],
    cell: Callable[[Any], Any],
    counter: TermCounter,
    source: str,
    binary: bool = False,
) -> sp.csr_array:
    """Return counts of known terms in the items that are not missing."""
    for row, item in enumerate(items):
        try:
            counter.add(cell(item))
        except (TypeError, ValueError) as error:
            raise type(error)(f"In {quoted(source)}, {location(row)}: {error}") from error
    return counter.finish(source, VocabularyLimits(binary=binary)).matrix


def _unchanged(tokens: list[str]) -> list[str]:
    return tokens


def _weighted(
    matrix: sp.csr_array, tfidf: TfidfTransformer | None, vectorizer: CountVectorizer
) -> sp.csr_array:
    """Return the weights that the vectorizer gives to counts."""
    if tfidf is None or not matrix.shape[0]:
        return matrix
    return sp.csr_array(tfidf.transform(matrix.astype(vectorizer.dtype), copy=False))


# -- readers of columns ---------------------------------------------------------------------------


class TextColumn:
    """Count the texts of a column, one cell after the other."""

    def __init__(
        self, view: str, source: str, options: TextOptions, counter: MakeCounter = TermCounter
    ) -> None:
        self._view, self._source, self._options = view, source, options
        self._make_counter = counter
        # texts wait until there are enough of them to find their language
        self._waiting: list[str | None] = []
        self._sample = LanguageSample() if options.finds_language(view) else None
        if self._sample is None:
            self._begin(options.language_of(view))

    def _begin(self, language: str | None) -> None:
        """Count from now on, the texts that have waited first."""
        view, options = self._view, self._options
        self._language, self._sample = language, None
        self._vectorizer = options.vectorizer_of(view, language)
        inspect = None if options.has_vectorizer(view) else self._check_spaces
        given = given_vocabulary(self._vectorizer, view)
        self.counter = self._make_counter(self._vectorizer.build_analyzer(), given, inspect)
        for text in self._waiting:
            self.counter.add(text)
        self._waiting.clear()

    def add(self, cell: Any) -> None:
        """Count the cell of one more document."""
        text = text_cell(cell)
        if self._sample is None:
            self.counter.add(text)
            return
        self._waiting.append(text)
        if text is not None:
            self._sample.add(text)
            if self._sample.size >= SAMPLE_WORDS:
                self._begin(self._sample.language(self._view))

    def settle(self) -> VocabularyLimits:
        """Return which terms are kept, when all documents are read."""
        if self._sample is not None:
            self._begin(self._sample.language(self._view))
        elif self._language is not None and self._options.finds_language(self._view):
            warn_of_others(self._view, self._language, *self.counter.occurrences(all_stop_words()))
        if not self._options.has_vectorizer(self._view):
            self._vectorizer.set_params(**self._options.limits(self.counter.n_present))
        return limits_of(self._vectorizer)

    def recipe(
        self,
        terms: np.ndarray,
        tfidf: TfidfTransformer | None = None,
        left_out: TermsLeftOut | None = None,
    ) -> TextRecipe:
        """Return how texts became counts of these terms."""
        return TextRecipe(self._source, self._vectorizer, terms, tfidf, self._language, left_out)

    def finish(self) -> CountedView:
        """Return the view, when all documents are read."""
        limits = self.settle()
        present = self.counter.present
        matrix, terms, left_out = self.counter.finish(self._view, limits)
        tfidf = tfidf_of(self._vectorizer)
        if tfidf is not None:
            tfidf.fit(matrix.astype(self._vectorizer.dtype))
        weighted = _weighted(matrix, tfidf, self._vectorizer)
        expanded = expand_rows(weighted, present)
        return CountedView(expanded, terms, present, self.recipe(terms, tfidf, left_out))

    def _check_spaces(self, terms: Sequence[str], counts: np.ndarray) -> None:
        if unspaced_share(terms, counts) > 0.5:
            raise ValueError(
                f"View {quoted(self._view)} is mostly in a script that does not separate words by "
                "spaces (Thai, Lao, Khmer, Burmese or Tibetan). Segment it into words and give "
                "lists of tokens, or count pieces of text: "
                'vectorizer=CountVectorizer(analyzer="char", ngram_range=(2, 3)).'
            )


class TokensColumn:
    """Count the lists of tokens of a column, one cell after the other."""

    def __init__(
        self,
        view: str,
        source: str,
        options: TextOptions,
        separator: str | None = None,
        counter: MakeCounter = TermCounter,
    ) -> None:
        self._view, self._source, self._options = view, source, options
        self._separator = separator
        self.counter = counter(_unchanged)

    def add(self, cell: Any) -> None:
        """Count the cell of one more document."""
        self.counter.add(token_cell(cell, self._separator))

    def settle(self) -> VocabularyLimits:
        """Return which tokens are kept, when all documents are read."""
        return self._options.token_limits(self.counter.n_present)

    def recipe(self, terms: np.ndarray, left_out: TermsLeftOut | None = None) -> TokensRecipe:
        """Return how lists became counts of these tokens."""
        return TokensRecipe(self._source, terms, self._separator, left_out)

    def finish(self) -> CountedView:
        """Return the view, when all documents are read."""
        present = self.counter.present
        matrix, terms, left_out = self.counter.finish(self._view, self.settle())
        expanded = expand_rows(matrix, present)
        return CountedView(expanded, terms, present, self.recipe(terms, left_out))
