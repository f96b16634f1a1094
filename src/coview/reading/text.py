"""Texts and lists of tokens as counts: options, readers of columns, and recipes.

`TextOptions` say how texts are counted. `TextColumn` and `TokensColumn` count one cell after the
other and give a `CountedView`, with the recipe (`TextRecipe`, `TokensRecipe`) that reads new
documents in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from coview.reading.counting import TermCounter, VocabularyLimits, expand_rows
from coview.reading.languages import (
    SAMPLE_WORDS,
    LanguageSample,
    given_language,
    warn_of_others,
)
from coview.reading.recipes import Recipe, is_missing
from coview.reading.vectorizers import (
    check_limits,
    check_ngram_range,
    check_vectorizer,
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
    split_words,
    stop_words,
    unspaced_share,
)
from coview.views.checks import check_known
from coview.wording import argument, listing, location, plural, printable, quoted


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
    """

    kind: ClassVar[str] = "text"
    source: str
    vectorizer: CountVectorizer
    terms: np.ndarray
    tfidf: TfidfTransformer | None = None
    language: str | None = None

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

    def as_data(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return settings for JSON, and arrays; ValueError if the vectorizer holds a function."""
        own = {"source": self.source, "language": self.language}
        settings = {**own, **vectorizer_data(self.vectorizer)}
        if self.tfidf is None or not self.tfidf.use_idf:
            return settings, {}
        return settings, {"idf": self.tfidf.idf_}

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
        return cls(str(settings["source"]), vectorizer, features, tfidf, language)


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
    """

    kind: ClassVar[str] = "tokens"
    source: str
    terms: np.ndarray
    separator: str | None = None

    def __repr__(self) -> str:
        return f"<TokensRecipe: {plural(len(self.terms), 'term')} of {quoted(self.source)}>"

    def counts(self, items: Iterable[Any]) -> tuple[sp.csr_array, np.ndarray]:
        """Return counts (documents, terms) of lists, and which of them are not missing."""
        cell = partial(token_cell, separator=self.separator)
        counter = TermCounter(_unchanged, self.terms)
        matrix = _count(items, cell, counter, self.source)
        return expand_rows(matrix, counter.present), counter.present

    def as_data(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return settings for JSON, and no arrays."""
        return {"source": self.source, "separator": self.separator}, {}

    @classmethod
    def from_data(
        cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], features: np.ndarray
    ) -> TokensRecipe:
        """Return the recipe that `as_data` described, with the terms."""
        return cls(str(settings["source"]), features, settings.get("separator"))


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

    def __init__(self, view: str, source: str, options: TextOptions) -> None:
        self._view, self._source, self._options = view, source, options
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
        self._counter = TermCounter(self._vectorizer.build_analyzer(), given, inspect)
        for text in self._waiting:
            self._counter.add(text)
        self._waiting.clear()

    def add(self, cell: Any) -> None:
        """Count the cell of one more document."""
        text = text_cell(cell)
        if self._sample is None:
            self._counter.add(text)
            return
        self._waiting.append(text)
        if text is not None:
            self._sample.add(text)
            if self._sample.size >= SAMPLE_WORDS:
                self._begin(self._sample.language(self._view))

    def finish(self) -> CountedView:
        """Return the view, when all documents are read."""
        if self._sample is not None:
            self._begin(self._sample.language(self._view))
        elif self._language is not None and self._options.finds_language(self._view):
            warn_of_others(self._view, self._language, *self._counter.occurrences(all_stop_words()))
        present = self._counter.present
        if not self._options.has_vectorizer(self._view):
            self._vectorizer.set_params(**self._options.limits(int(present.sum())))
        matrix, terms = self._counter.finish(self._view, limits_of(self._vectorizer))
        tfidf = tfidf_of(self._vectorizer)
        if tfidf is not None:
            tfidf.fit(matrix.astype(self._vectorizer.dtype))
        weighted = _weighted(matrix, tfidf, self._vectorizer)
        recipe = TextRecipe(self._source, self._vectorizer, terms, tfidf, self._language)
        return CountedView(expand_rows(weighted, present), terms, present, recipe)

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
        self, view: str, source: str, options: TextOptions, separator: str | None = None
    ) -> None:
        self._view, self._source, self._options = view, source, options
        self._separator = separator
        self._counter = TermCounter(_unchanged)

    def add(self, cell: Any) -> None:
        """Count the cell of one more document."""
        self._counter.add(token_cell(cell, self._separator))

    def finish(self) -> CountedView:
        """Return the view, when all documents are read."""
        present = self._counter.present
        limits = self._options.token_limits(int(present.sum()))
        matrix, terms = self._counter.finish(self._view, limits)
        recipe = TokensRecipe(self._source, terms, self._separator)
        return CountedView(expand_rows(matrix, present), terms, present, recipe)


# -- options --------------------------------------------------------------------------------------

FEW = 50  # from so many documents on, a term must be in two of them
VERY_FEW = 10  # from so many documents on, a term may not be in more than half of them


@dataclass(frozen=True)
class TextOptions:
    """How texts are counted: the options of `Views.from_texts`, where they are explained."""

    vectorizer: Any = None
    languages: Any = "auto"
    stop_words: Any = "auto"
    min_df: int | float | None = None
    max_df: int | float | None = None
    max_features: int | None = None
    ngram_range: tuple[int, int] = (1, 1)

    def check(self, texts: Iterable[str], tokens: Iterable[str] = ()) -> None:
        """Refuse options that are wrong, or that no view of these texts and tokens uses."""
        check_limits(
            1 if self.min_df is None else self.min_df,
            1.0 if self.max_df is None else self.max_df,
            self.max_features,
        )
        check_ngram_range(self.ngram_range)
        texts, tokens = list(texts), list(tokens)
        for name in ("vectorizer", "languages", "stop_words"):
            value = getattr(self, name)
            if isinstance(value, Mapping):
                check_known(value, texts, f"`{name}`")
        self._check_used(texts, tokens)

    def _check_used(self, texts: Sequence[str], tokens: Sequence[str]) -> None:
        """Refuse other options if every text has a vectorizer, which brings its own."""
        if tokens or not texts or not all(self.has_vectorizer(view) for view in texts):
            return
        given = [
            field.name
            for field in fields(self)
            if field.name != "vectorizer" and getattr(self, field.name) != field.default
        ]
        if given:
            raise ValueError(
                f"{listing(given)} would not be used, since every text has a vectorizer. Set it "
                "in the vectorizer."
            )

    def has_vectorizer(self, view: str) -> bool:
        """Return whether the user gave a vectorizer for this view."""
        return _of_view(self.vectorizer, view, None) is not None

    def vectorizer_of(self, view: str, language: str | None) -> CountVectorizer:
        """Return a new vectorizer for a view: a copy of the user's, or the default."""
        given = _of_view(self.vectorizer, view, None)
        if given is not None:
            return check_vectorizer(given, view)
        return CountVectorizer(
            tokenizer=split_words,
            token_pattern=None,
            stop_words=self._stop_words(view, language),
            ngram_range=tuple(self.ngram_range),
        )

    def limits(self, n_docs: int) -> dict[str, Any]:
        """Return the limits on terms, which depend on how many documents have the view."""
        common = 0.5 if n_docs >= VERY_FEW else 1.0
        return {
            "min_df": (2 if n_docs >= FEW else 1) if self.min_df is None else self.min_df,
            "max_df": common if self.max_df is None else self.max_df,
            "max_features": self.max_features,
        }

    def token_limits(self, n_docs: int) -> VocabularyLimits:
        """Return the same limits for a view of tokens."""
        return VocabularyLimits(**self.limits(n_docs))

    # -- stop words --

    def _stop_words(self, view: str, language: str | None) -> list[str] | None:
        """Return the stop words of a view as the tokenizer splits them, sorted, or None."""
        words = _of_view(self.stop_words, view, "auto")
        if isinstance(words, str):
            if words != "auto":
                raise ValueError(
                    f'stop_words must be "auto", None, a list of words or a dict of these by view; '
                    f"got {quoted(words)}. To choose a list by language, use "
                    f"{argument('languages')}."
                )
            words = () if language is None else stop_words(language)
        found = {token for word in words or () for token in split_words(word.lower())}
        return sorted(found) or None

    def finds_language(self, view: str) -> bool:
        """Return whether the language of a view must be found, for its stop words."""
        return self._leaves_out_stop_words(view) and _is_auto(self.languages, view)

    def _leaves_out_stop_words(self, view: str) -> bool:
        return not self.has_vectorizer(view) and _is_auto(self.stop_words, view)

    def language_of(self, view: str) -> str | None:
        """Return the language that the user gave, if its stop words are left out."""
        if not self._leaves_out_stop_words(view):
            return None
        return given_language(_of_view(self.languages, view, "auto"), view)


def _is_auto(value: Any, view: str) -> bool:
    own = _of_view(value, view, "auto")
    return isinstance(own, str) and own == "auto"


def _of_view(value: Any, view: str, default: Any) -> Any:
    """Return the value for one view, from one value for all or a dict by view."""
    return value.get(view, default) if isinstance(value, Mapping) else value
