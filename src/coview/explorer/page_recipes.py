"""What the page needs to read texts of a view as Python does: `frontend/src/core/tokens.js`."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from coview.explorer.js_patterns import NoCounterpart, javascript_pattern
from coview.reading.words import split_words


def page_recipe(recipe: Any) -> tuple[dict[str, Any] | None, str | None]:
    """Return a recipe as plain data for the page, or None and the reason why there is none.

    Parameters
    ----------
    recipe : Recipe or None
        That of a view of a model.
    """
    if recipe is None:
        return None, "the view was made from numbers, not from texts"
    if recipe.kind == "tokens":
        return {"kind": "tokens", "separator": recipe.separator}, None
    if recipe.kind.startswith("image"):
        return None, "a page cannot read pictures; the served explorer can"
    if recipe.kind != "text":
        return None, "a page cannot compute what this view is made of"
    try:
        return _text_recipe(recipe), None
    except NoCounterpart as error:
        return None, f"a page cannot split its texts: {error}"


def _text_recipe(recipe: Any) -> dict[str, Any]:
    vectorizer: CountVectorizer = recipe.vectorizer
    if callable(vectorizer.analyzer) or vectorizer.preprocessor is not None:
        raise NoCounterpart("its vectorizer has a function of its own")
    stop = vectorizer.get_stop_words()
    found: dict[str, Any] = {
        "kind": "text",
        "analyzer": vectorizer.analyzer,
        "lowercase": bool(vectorizer.lowercase),
        "strip_accents": vectorizer.strip_accents,
        "ngrams": [int(n) for n in vectorizer.ngram_range],
        "stop_words": sorted(stop) if stop else [],
        "binary": bool(vectorizer.binary),
        "tfidf": _tfidf(recipe.tfidf),
    }
    if callable(vectorizer.strip_accents):
        raise NoCounterpart("its vectorizer has a function of its own")
    if vectorizer.strip_accents == "unicode":
        found["combining"] = _combining_marks()
    if vectorizer.analyzer == "word":
        found |= _splitting(vectorizer)
    return found


def _splitting(vectorizer: CountVectorizer) -> dict[str, Any]:
    if vectorizer.tokenizer is split_words:
        return {"split": "words"}
    if vectorizer.tokenizer is not None:
        raise NoCounterpart("its vectorizer has a function of its own")
    source, groups = javascript_pattern(vectorizer.token_pattern)
    if groups > 1:
        raise NoCounterpart("its pattern has several groups")
    return {"split": "pattern", "pattern": source, "group": groups}


def _tfidf(tfidf: Any) -> dict[str, Any] | None:
    if tfidf is None:
        return None
    return {
        "norm": tfidf.norm,
        "sublinear": bool(tfidf.sublinear_tf),
        "idf": bool(tfidf.use_idf),
    }


def idf_of(recipe: Any) -> np.ndarray | None:
    """Return the inverse document frequencies of a recipe, None if it has none."""
    tfidf = getattr(recipe, "tfidf", None)
    return None if tfidf is None or not tfidf.use_idf else np.asarray(tfidf.idf_)


@cache
def _combining_marks() -> str:
    """Return the characters that "unicode" strips, as ranges for a class of a pattern."""
    ranges: list[list[int]] = []
    for point in range(sys.maxunicode + 1):
        if not unicodedata.combining(chr(point)):
            continue
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(rf"\u{{{a:x}}}-\u{{{b:x}}}" for a, b in ranges)
