"""scikit-learn's vectorizers: which are accepted, and how they are saved as data."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)

from coview.params import check_int
from coview.reading.counting import VocabularyLimits
from coview.reading.patterns import UnsafePattern, check_pattern
from coview.reading.words import split_words
from coview.views.checks import check_names
from coview.wording import listing, printable, quoted

# a saved file can name no other classes and functions
_CLASSES = {"CountVectorizer": CountVectorizer, "TfidfVectorizer": TfidfVectorizer}
_FUNCTIONS = {"words": split_words}
# the vocabulary is that of the view; the type is saved separately
_NOT_SAVED = ("vocabulary", "dtype")
LONGEST_RUN = 100  # words or characters of an n-gram that is read from a file
_CODE_ADVICE = (
    "Code cannot be saved as data. Split the texts with it yourself and give lists of tokens "
    "instead (Views.from_texts takes them), or use token_pattern=."
)


def check_vectorizer(vectorizer: Any, view: str) -> CountVectorizer:
    """Return an unfitted copy of a user's vectorizer, if its columns have readable terms."""
    if isinstance(vectorizer, HashingVectorizer):
        raise ValueError(
            f"The vectorizer of view {quoted(view)} is a HashingVectorizer, whose columns have no "
            "terms to read. Use CountVectorizer, with max_features= if there are too many terms."
        )
    if not isinstance(vectorizer, CountVectorizer):
        raise TypeError(
            f"The vectorizer of view {quoted(view)} must be a CountVectorizer or a TfidfVectorizer "
            f"of scikit-learn, found {printable(repr(vectorizer))}."
        )
    if vectorizer.input != "content":
        raise ValueError(
            f"The vectorizer of view {quoted(view)} has input={vectorizer.input!r}; texts are "
            "given as they are, so it must be 'content'."
        )
    check_limits(vectorizer.min_df, vectorizer.max_df, vectorizer.max_features)
    check_ngram_range(vectorizer.ngram_range)
    return clone(vectorizer)


def check_limits(min_df: Any, max_df: Any, max_features: Any) -> None:
    """Check the limits on document frequencies: integers are documents, floats are shares."""
    for name, value in (("min_df", min_df), ("max_df", max_df)):
        if not _is_limit(value):
            raise ValueError(
                f"{name} must be a number of documents (an integer of at least 1) or a share of "
                f"them (a float between 0.0 and 1.0); got {value!r}."
            )
    if max_features is not None:
        check_int("max_features", max_features, 1, " or None")


def _is_limit(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return int(value) >= 1 if isinstance(value, Integral) else 0 <= float(value) <= 1


def check_ngram_range(ngram_range: Any) -> None:
    """Check the two lengths of runs of words, the shorter first."""
    pair = isinstance(ngram_range, tuple | list) and len(ngram_range) == 2
    whole = pair and all(isinstance(n, Integral) for n in ngram_range)
    if not whole or not 1 <= ngram_range[0] <= ngram_range[1]:
        raise ValueError(
            "ngram_range must be two integers, the shortest and the longest length of the runs of "
            f"words to count, from 1 on; got {ngram_range!r}."
        )


def limits_of(vectorizer: CountVectorizer) -> VocabularyLimits:
    """Return which terms a vectorizer keeps."""
    return VocabularyLimits(
        vectorizer.min_df,
        vectorizer.max_df,
        vectorizer.max_features,
        vectorizer.binary,
        vectorizer.dtype,
    )


def given_vocabulary(vectorizer: CountVectorizer, view: str) -> list[str] | None:
    """Return the vocabulary that a user gave, in the order of its columns, or None."""
    vocabulary = vectorizer.vocabulary
    if vocabulary is None:
        return None
    if isinstance(vocabulary, set | frozenset):
        return sorted(vocabulary)
    if not hasattr(vocabulary, "values"):
        return check_names(vocabulary, f"the vocabulary of view {quoted(view)}").tolist()
    if sorted(vocabulary.values()) != list(range(len(vocabulary))):
        raise ValueError(
            f"The vocabulary of view {quoted(view)} must number its terms 0, 1, 2, ... without "
            "gaps and repeats."
        )
    return sorted(vocabulary, key=vocabulary.__getitem__)


def tfidf_of(vectorizer: CountVectorizer) -> TfidfTransformer | None:
    """Return an unfitted transformer from counts to tf-idf weights; None for a count vectorizer."""
    if not isinstance(vectorizer, TfidfVectorizer):
        return None
    return TfidfTransformer(
        norm=vectorizer.norm,
        use_idf=vectorizer.use_idf,
        smooth_idf=vectorizer.smooth_idf,
        sublinear_tf=vectorizer.sublinear_tf,
    )


def restored_tfidf(
    vectorizer: CountVectorizer, idf: np.ndarray | None, n_terms: int
) -> TfidfTransformer | None:
    """Return a fitted tf-idf transformer from its saved numbers, or None."""
    tfidf = tfidf_of(vectorizer)
    if tfidf is None:
        return None
    if not tfidf.use_idf:
        return tfidf.fit(sp.csr_array((1, n_terms)))  # it only learns the width
    if idf is None or idf.shape != (n_terms,):
        found = "none" if idf is None else f"an array of the shape {idf.shape}"
        raise ValueError(f"Expected {n_terms:,} inverse document frequencies, found {found}.")
    tfidf.idf_ = np.asarray(idf)
    return tfidf


# -- saving ---------------------------------------------------------------------------------------


def vectorizer_data(vectorizer: CountVectorizer) -> dict[str, Any]:
    """Return class and parameters of a vectorizer, for JSON.

    >>> vectorizer_data(CountVectorizer(tokenizer=split_words))["parameters"]["tokenizer"]
    'words'
    """
    name = type(vectorizer).__name__
    if _CLASSES.get(name) is not type(vectorizer):
        raise ValueError(
            f"A vectorizer of the class {quoted(name)} cannot be saved. {_CODE_ADVICE}"
        )
    if vectorizer.token_pattern is not None and vectorizer.tokenizer is None:
        check_pattern(vectorizer.token_pattern)  # it would be refused when it is read
    parameters = {
        key: _as_json(key, value)
        for key, value in vectorizer.get_params(deep=False).items()
        if key not in _NOT_SAVED
    }
    kind = np.dtype(vectorizer.dtype).name
    return {"vectorizer": name, "parameters": parameters, "dtype": kind}


def _as_json(key: str, value: Any) -> Any:
    if callable(value):
        for name, function in _FUNCTIONS.items():
            if value is function and key == "tokenizer":
                return name
        raise ValueError(
            f"The vectorizer's {key} is a function ({getattr(value, '__name__', '?')}). "
            f"{_CODE_ADVICE}"
        )
    if isinstance(value, set | frozenset | list) and key == "stop_words":
        return sorted(value)
    return value.item() if isinstance(value, np.generic) else value


def vectorizer_from_data(settings: dict[str, Any]) -> CountVectorizer:
    """Return the vectorizer that `vectorizer_data` described; only known names become code."""
    name, parameters = settings.get("vectorizer"), dict(settings.get("parameters", {}))
    if name not in _CLASSES:
        raise ValueError(f"There is no vectorizer {quoted(name)}; known are {listing(_CLASSES)}.")
    known = set(_CLASSES[name]().get_params()) - set(_NOT_SAVED)
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise ValueError(f"This version of scikit-learn's {name} has no {listing(unknown)}.")
    if parameters.get("tokenizer") is not None:
        parameters["tokenizer"] = _function(parameters["tokenizer"])
    elif parameters.get("token_pattern") is not None:
        check_pattern(parameters["token_pattern"])
    if "ngram_range" in parameters:
        parameters["ngram_range"] = tuple(parameters["ngram_range"])
        if max(parameters["ngram_range"], default=0) > LONGEST_RUN:
            raise UnsafePattern(f"Runs of more than {LONGEST_RUN} words take too long to count.")
    made = _CLASSES[name](**parameters, dtype=_number_type(settings))
    checked = check_vectorizer(made, "saved")  # before it is used: it could read files
    checked.build_analyzer()("a word")  # not at the first document: the file is damaged
    return checked


def _function(name: Any) -> Any:
    if name not in _FUNCTIONS:
        raise ValueError(f"There is no tokenizer {quoted(name)}; known are {listing(_FUNCTIONS)}.")
    return _FUNCTIONS[name]


def _number_type(settings: dict[str, Any]) -> type:
    kind = np.dtype(settings.get("dtype", "float64"))
    if kind.kind not in "iuf":
        raise ValueError(f"The type of a vectorizer's numbers cannot be {kind}.")
    return kind.type
