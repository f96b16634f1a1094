"""What can be said about how texts become counts, and what is done where nothing is said."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer

from coview.data.counting import Limits
from coview.data.matrices import DataWarning
from coview.data.show import listing, quoted
from coview.data.stopwords import known_languages, language_code, language_of_view, stop_words
from coview.data.tokens import split_words
from coview.data.validate import check_known
from coview.data.vectorizers import check_limits, check_ngram_range, check_vectorizer

FEW = 50  # documents, from which on a term must be in two of them
VERY_FEW = 10  # documents, from which on a term must not be in more than half of them


@dataclass(frozen=True)
class TextOptions:
    """The options of `Views.from_texts`, which explains them."""

    vectorizer: Any = None
    languages: Any = "auto"
    stop_words: Any = "auto"
    min_df: int | float | None = None
    max_df: int | float | None = None
    max_features: int | None = None
    ngram_range: tuple[int, int] = (1, 1)

    def check(self, texts: Iterable[str], tokens: Iterable[str] = ()) -> None:
        """Refuse what has no meaning, or none for these views of texts and of tokens."""
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
        """A vectoriser brings its own settings: others would be ignored."""
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
        """Whether the user gave a vectoriser for this view."""
        return _of_view(self.vectorizer, view, None) is not None

    def vectorizer_of(self, view: str) -> CountVectorizer:
        """A new vectoriser for a view: a copy of the user's, or our own."""
        given = _of_view(self.vectorizer, view, None)
        if given is not None:
            return check_vectorizer(given, view)
        return CountVectorizer(
            tokenizer=split_words,
            token_pattern=None,
            stop_words=self._stop_words(view),
            ngram_range=tuple(self.ngram_range),
        )

    def limits(self, n_docs: int) -> dict[str, Any]:
        """Parameters of a vectoriser that depend on how many documents have the view."""
        common = 0.5 if n_docs >= VERY_FEW else 1.0
        return {
            "min_df": (2 if n_docs >= FEW else 1) if self.min_df is None else self.min_df,
            "max_df": common if self.max_df is None else self.max_df,
            "max_features": self.max_features,
        }

    def token_limits(self, n_docs: int) -> Limits:
        """The same for a view of tokens."""
        return Limits(**self.limits(n_docs))

    # -- stop words --

    def _stop_words(self, view: str) -> list[str] | None:
        """The stop words of a view as the tokeniser would find them, sorted, or None."""
        words = _of_view(self.stop_words, view, "auto")
        if isinstance(words, str):
            if words != "auto":
                raise ValueError(
                    f'stop_words must be "auto", None, a list of words or a dict of these by view; '
                    f"got {quoted(words)}. To choose a list by language, use languages=."
                )
            language = self._language(view)
            words = () if language is None else stop_words(language)
        found = {token for word in words or () for token in split_words(word.lower())}
        return sorted(found) or None

    def _language(self, view: str) -> str | None:
        name = _of_view(self.languages, view, "auto")
        if name is None:
            return None
        if not isinstance(name, str):
            raise TypeError(
                'languages must be "auto", None, the name or code of a language, or a dict of '
                f"these by view; got {name!r}."
            )
        if name == "auto":
            return language_of_view(view)
        code = language_code(name)
        if code is None:
            warnings.warn(
                f"No list of stop words for the language {quoted(name)} of view {quoted(view)}; "
                "only words in more than max_df of the documents are left out. There are lists "
                f"for {', '.join(known_languages())}.",
                DataWarning,
                stacklevel=2,
            )
        return code


def _of_view(value: Any, view: str, default: Any) -> Any:
    """The value for one view from one for all or a dict by view."""
    return value.get(view, default) if isinstance(value, Mapping) else value
