"""The page and Python split texts alike: the tokens of both are in `tokens.json`."""

import json

import pytest
from sklearn.feature_extraction.text import CountVectorizer

from coview.explorer.js_patterns import NoCounterpart, javascript_pattern
from coview.explorer.page_recipes import page_recipe
from coview.reading.text import TextRecipe
from tests.explorer.record_tokens import FILE, cases

RECORDED = {case["name"]: case for case in json.loads(FILE.read_text("utf-8"))}


def test_python_splits_as_recorded():
    found = {name: (recipe, texts) for name, recipe, texts in cases()}
    assert set(found) == set(RECORDED)
    for name, (recipe, texts) in found.items():
        assert texts == RECORDED[name]["texts"], name
        # the lists of stop words and of accents belong to versions of scikit-learn and Unicode
        recipe, recorded = dict(recipe), dict(RECORDED[name]["recipe"])
        for part in (recipe, recorded):
            part.pop("combining", None)
            part.pop("stop_words", None)
        assert recipe == recorded, name


@pytest.mark.parametrize(
    ("pattern", "source"),
    [
        (r"\w+", r"[\p{L}\p{N}_]+"),
        (r"a{,3}b{2}c{1,}", "a{0,3}b{2}c{1,}"),
        (r"[]a-c^-]", r"[\u{5d}a-c\u{5e}\u{2d}]"),
        (r"x\-\U0001F600", r"x\u{2d}\u{1f600}"),
        (r"[\W\d]", r"(?:[\p{Nd}]|[^\p{L}\p{N}_])"),
        (r"(?=a)b|c}", r"(?=a)b|c\u{7d}"),
    ],
)
def test_patterns_become_those_of_javascript(pattern, source):
    assert javascript_pattern(pattern)[0] == source


@pytest.mark.parametrize("pattern", ["(?i)a", "(?P<n>a)", "a++", r"(a)\1", "(?>a)"])
def test_patterns_without_counterpart_are_refused(pattern):
    with pytest.raises(NoCounterpart):
        javascript_pattern(pattern)


@pytest.mark.parametrize(
    "vectorizer",
    [
        CountVectorizer(tokenizer=str.split, token_pattern=None),
        CountVectorizer(preprocessor=str.upper),
        CountVectorizer(analyzer=str.split),
        CountVectorizer(strip_accents=str.upper),
        CountVectorizer(token_pattern="(?i)[a-z]+"),
    ],
)
def test_recipes_that_a_page_cannot_run_have_a_reason(vectorizer):
    recipe, reason = page_recipe(TextRecipe("text", vectorizer, []))
    assert recipe is None
    assert reason.startswith("a page cannot split its texts: ")
