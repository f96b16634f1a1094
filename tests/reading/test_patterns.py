"""Regular expressions from files: the usual ones are read, none can take for ever."""

import json
import re
import time

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import coview
from coview import PLSA, DataWarning, Views
from coview.reading.patterns import UnsafePattern, check_pattern
from coview.store import read_sealed, write_sealed

USUAL = [
    *(r"(?u)\b\w\w+\b", r"\b[a-zA-Z]{3,}\b", r"[^\W_]{2,}", r"\w+", r"\S+", r"\b\w+\b", r"[^ ]+"),
    *(r"\w+(?:'\w+)?", r"\w+(?:['-]\w+)*", r"[^\s,;]+", r"#?\w+", r"(?i)[a-z]+", r"\d{1,3}", r"."),
    *(r"\b\d{1,2}/\d{1,2}/\d{2,4}\b", r"[a-z]+|\d+", r"(?<!\d)[a-z]+", r"\b([a-z]+)\b", r"\w"),
    *(r"[\u4e00-\u9fff]", r"(?u)\b[^\W\d_]{2,}\b", r"[a-zäöüß]+", r"\$\d+(?:\.\d+)?"),
    *(r"\w{2,20}(?:-\w{2,20})?", r"(?:foo|bar|baz)", r"https?://\S+|\w+", r"\b\w[\w]*\w\b"),
]
ENDLESS = [
    *(r"(x+x+)+y", r"(x+)+y", r"(x*)*y", r"(x|x)*y", r"(x|xx)*y", r"(\w+\s?)*$", r"(.*)*y"),
    *(r"(?:x?){40}x{40}", "x?" * 40 + "x" * 40, r"(?:x*x*)*y", r"(?:xx|xxx)+y", r"(\w+|\d+)+z"),
    *(r"x*x*x*x*x*x*x*x*y", r"(x?x?)*y", r"(?:x{1,50}){1,50}y", r"(?:(?:x+)?x)+y"),
]
QUADRATIC = [
    *(r"x+y", r"\w+\d+", r"[\s\S]+y", r"\b[\s\S]+y", r"y(?:y*z)?", r"(?:\w+-)+y", r"\s*y", r".*y"),
]
UNKNOWN = [
    *(
        r"(\w)\1+",
        r"(?=x+)y",
        r"(?P<a>x)",
        r"(?s).+y",
        r"(?x) a b",
        r"x{100000}",
        "(",
        "[",
        "x" * 2000,
    ),
    *(r"(?:(?:(?:x{9}){9}){9}){9}", 7, r"(?>x+)y", r"(?(1)a|b)"),
]


@pytest.mark.parametrize("pattern", USUAL)
def test_usual_patterns_are_read(pattern):
    assert check_pattern(pattern) == pattern


@pytest.mark.parametrize("pattern", ENDLESS + QUADRATIC + UNKNOWN)
def test_patterns_that_may_take_long_are_refused_with_the_reason(pattern):
    with pytest.raises(UnsafePattern, match=r"could take for ever: |cannot be used: |at most"):
        check_pattern(pattern)


@pytest.mark.parametrize("pattern", USUAL)
@pytest.mark.parametrize("text", ["x", "a1", "x-", "'", "1/", "h", "http", " ", "\u4e00", "$1."])
def test_a_search_takes_time_proportional_to_the_text(pattern, text):
    start = time.process_time()
    re.findall(pattern, text * (200_000 // len(text)) + "\n!")
    assert time.process_time() - start < 5


def random_pattern(rng, depth=0):
    """Return a pattern of few characters, with repetitions, groups and alternatives."""
    parts = []
    for _ in range(rng.integers(1, 4)):
        if depth < 2 and rng.random() < 0.4:
            branches = [random_pattern(rng, depth + 1) for _ in range(rng.integers(1, 3))]
            atom = f"(?:{'|'.join(branches)})"
        else:
            atom = str(rng.choice(["a", "b", "[ab]", r"\w", "-"]))
        parts.append(atom + str(rng.choice(["", "", "", "*", "+", "?", "{1,3}"])))
    return "".join(parts)


def test_what_is_accepted_never_takes_long():
    """Texts on which a pattern that is read in several ways would take years."""
    rng = np.random.default_rng(0)
    texts = [t * 20_000 for t in ("a", "ab", "b", "-", "a-", "aab", "abb")]
    accepted = 0
    for _ in range(300):
        pattern = str(rng.choice(["", r"\b"])) + random_pattern(rng)
        try:
            check_pattern(pattern)
        except UnsafePattern:
            continue
        accepted += 1
        start = time.process_time()
        for text in texts:
            re.findall(pattern, text + "!")
        assert time.process_time() - start < 10, pattern
    assert accepted > 30


# -- files -----------------------------------------------------------------------------------------

TEXTS = {"en": ["ball goal ball", "moon star moon", "goal ball goal"]}


def views_by(pattern):
    own = CountVectorizer(token_pattern=pattern)
    return Views.from_texts(TEXTS, vectorizer={"en": own})


def test_a_usual_pattern_is_saved_and_read(tmp_path):
    views = views_by(r"[a-z]+")
    views.save(tmp_path / "v")
    assert Views.load(tmp_path / "v").recipes["en"].vectorizer.token_pattern == r"[a-z]+"
    PLSA(2, init="random", random_state=0, max_iter=2, tol=0).fit(views).save(tmp_path / "m")
    assert coview.load(tmp_path / "m").transform({"en": ["ball"]}).shape == (1, 2)


def test_a_pattern_that_would_be_refused_is_not_saved(tmp_path):
    views = views_by(r"(?:[a-z]+)+")
    with pytest.warns(DataWarning, match="not saved: The pattern .* could take for ever"):
        views.save(tmp_path / "v")
    assert Views.load(tmp_path / "v").recipes["en"] is None
    model = PLSA(2, init="random", random_state=0, max_iter=2, tol=0).fit(views)
    with pytest.warns(DataWarning, match="could take for ever"):
        model.save(tmp_path / "m")
    assert coview.load(tmp_path / "m").recipes_["en"] is None


@pytest.mark.parametrize(
    "settings", [{"token_pattern": "(x+x+)+y"}, {"ngram_range": [1, 10**6], "analyzer": "char"}]
)
def test_a_crafted_recipe_is_left_out_with_the_reason(tmp_path, settings):
    views = views_by(r"[a-z]+")
    views.save(tmp_path / "v")
    file = tmp_path / "v" / "recipe_en.json"
    contents = json.loads(file.read_text())
    contents["settings"]["parameters"].update(settings)
    file.write_text(json.dumps(contents))
    (tmp_path / "v" / "MANIFEST.json").unlink()  # a folder without one is read as well
    with pytest.warns(
        DataWarning, match=r"recipe_en\.json is left out: (The pattern|Runs of more)"
    ):
        assert Views.load(tmp_path / "v").recipes["en"] is None
    PLSA(2, init="random", random_state=0, max_iter=2, tol=0).fit(views).save(tmp_path / "m")
    header, tensors = read_sealed(tmp_path / "m", "model")
    recipes = dict(header["attributes"]["recipes_"]["items"])
    parameters = dict(dict(recipes["en"]["settings"]["items"])["parameters"]["items"])
    parameters.update(settings)
    for name, value in recipes["en"]["settings"]["items"]:
        if name == "parameters":
            value["items"] = [[k, v] for k, v in parameters.items()]
    write_sealed(tmp_path / "m", "model", header, tensors)
    with pytest.warns(DataWarning, match="The recipe of 'en' is left out: (The pattern|Runs of)"):
        model = coview.load(tmp_path / "m")
    assert model.recipes_["en"] is None
