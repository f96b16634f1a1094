"""How texts are counted: the options of `Views.from_texts`, for each view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer

from coview.reading.counting import VocabularyLimits
from coview.reading.languages import given_language
from coview.reading.vectorizers import check_limits, check_ngram_range, check_vectorizer
from coview.reading.words import split_words, stop_words
from coview.views.checks import check_known
from coview.wording import argument, listing, quoted

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
