"""Words that are not in the vocabulary, and why."""

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import coview
from coview import PLSA, DataWarning, Views
from coview.reading import left_out
from coview.reading.left_out import LeftOutCollector, TermsLeftOut
from coview.wording import words_for_options

TEXTS = [
    f"{'rain wind storm' if i % 2 else 'goal match team'} {'weather' if i % 5 else ''} "
    f"{'zebra' if i == 3 else ''}"
    for i in range(60)
]
REASONS = {
    "weather": "too common (in 80 % of the documents; max_df)",
    "zebra": "too rare (in 1 document; min_df)",
    "the": "a stop word (en; stop_words)",
    "unicorn": "in no document of training",
}


def fit(**options):
    views = Views.from_texts({"en": TEXTS}, languages="en", **options)
    return PLSA(2, random_state=0, init="random", max_iter=10, tol=0.0).fit(views)


@pytest.fixture(scope="module")
def model():
    return fit()


def test_every_word_has_its_reason(model):
    query = "the weather, a zebra and a unicorn"
    found = model.recipes_["en"].unknown_words(f"rain: {query}")
    assert {word: found[word] for word in REASONS} == REASONS
    assert "rain" not in found
    with pytest.raises(ValueError) as told:
        coview.search(model, {"en": query})
    for word, why in REASONS.items():
        assert f"'{word}' is {why}" in str(told.value)
    results = coview.search(model, {"en": f"{query} rain"}, top=1)
    assert results.left_out == {**REASONS, "and": REASONS["the"]}
    assert "left out: 'weather' is too common" in str(results)
    assert results[:1].left_out == results.left_out
    assert coview.search(model, {"en": "rain"}, top=1).left_out == {}


def test_predictions_and_annotations_say_why(model):
    for use in (
        lambda: model.predict({"en": ["rain", "weather"]}),
        lambda: model.predict_terms({"en": ["rain", "weather"]}, in_view="en"),
    ):
        with pytest.warns(DataWarning, match=r"\(the first: 'weather' is too common \(in 80 %"):
            use()


def test_seeds_say_why():
    model = PLSA(2, seeds={"sky": {"en": ["weather"]}})
    with pytest.raises(ValueError, match="'weather' is too common"):
        model.fit(Views.from_texts({"en": TEXTS}))


def test_the_command_line_names_its_options(model):
    with words_for_options({"max_df": "--max-df"}):
        found = model.recipes_["en"].unknown_words("weather")
    assert found == {"weather": "too common (in 80 % of the documents; --max-df)"}


def test_terms_beyond_the_most_frequent():
    found = fit(max_features=4).recipes_["en"].unknown_words("goal match team rain wind storm")
    assert set(found.values()) == {"not frequent enough (in 30 documents; max_features)"}
    assert len(found) == 2


def test_tokens_have_reasons_as_well():
    tokens = [["a", "b"] if i % 2 else ["a", "c"] for i in range(60)]
    recipe = Views.from_texts({"tags": [*tokens, ["d"]]}).recipes["tags"]
    assert recipe.unknown_words(["a", "b", "d", "e"]) == {
        "a": "too common (in 98 % of the documents; max_df)",
        "d": "too rare (in 1 document; min_df)",
        "e": "in no document of training",
    }


def test_a_given_vocabulary_gives_no_reason():
    vectorizer = CountVectorizer(vocabulary=["rain", "goal"], stop_words=["the"])
    recipe = Views.from_texts({"en": TEXTS}, vectorizer=vectorizer).recipes["en"]
    assert recipe.unknown_words("the rain storm") == {
        "the": "a stop word (your list; stop_words)",
        "storm": "not in the vocabulary",
    }


def test_runs_of_words_are_told_word_by_word():
    recipe = fit(ngram_range=(1, 2)).recipes_["en"]
    assert recipe.unknown_words("rain wind zebra") == {"zebra": REASONS["zebra"]}
    pairs = fit(ngram_range=(2, 2)).recipes_["en"]
    assert pairs.unknown_words("rain wind zebra") == {"wind zebra": "in no document of training"}


def test_a_term_that_the_model_has_not_seen():
    views = Views.from_texts({"en": TEXTS}, max_df=1.0, min_df=1)
    model = PLSA(2, random_state=0, init="random", max_iter=5, tol=0.0).fit(views[10:])
    with pytest.raises(ValueError, match="'zebra' is in no document of training"):
        coview.search(model, {"en": "zebra"})


def test_files_keep_the_reasons(model, tmp_path):
    model.save(tmp_path / "model.coview")
    Views.from_texts({"en": TEXTS}, languages="en").save(tmp_path / "views")
    for recipe in (
        coview.load(tmp_path / "model.coview").recipes_["en"],
        Views.load(tmp_path / "views").recipes["en"],
    ):
        found = recipe.unknown_words("the weather zebra unicorn")
        assert found == {word: REASONS[word] for word in ("the", "weather", "zebra", "unicorn")}


def test_files_of_earlier_versions_have_no_reasons(model):
    recipe = model.recipes_["en"]
    settings, arrays = recipe.as_data()
    json.dumps(settings)
    del settings["left_out"], arrays["leftout"]
    old = type(recipe).from_data(settings, arrays, recipe.terms)
    assert old.unknown_words("the weather") == {
        "the": REASONS["the"],
        "weather": "not in the vocabulary",
    }


@pytest.mark.parametrize(
    "change",
    [
        {"documents": 0},
        {"documents": "60"},
        {"complete": 1},
        {"array": np.zeros((2, 3))},
        {"array": np.zeros(3, np.uint32)},
        {"array": np.array([[2, 1], [1, 1]], np.uint32)},
    ],
)
def test_damaged_reasons_are_refused(model, change):
    settings, arrays = model.recipes_["en"].left_out.as_data()
    array = change.pop("array", arrays["leftout"])
    with pytest.raises(ValueError, match="left out"):
        TermsLeftOut.from_data({**settings, **change}, {"leftout": array})


def test_from_disk_has_the_same_reasons(model, tmp_path):
    table = tmp_path / "news.csv"
    table.write_text("en\n" + "\n".join(f'"{text}"' for text in TEXTS) + "\n")
    for name, options in {"all": {}, "few": {"max_features": 4}}.items():
        coview.convert_table(table, tmp_path / name, text="en", languages="en", **options)
        ours = coview.open_shards(tmp_path / name).recipes["en"].left_out
        expected = Views.from_table(table, text="en", languages="en", **options).recipes["en"]
        np.testing.assert_array_equal(ours.hashes, expected.left_out.hashes)
        np.testing.assert_array_equal(ours.frequencies, expected.left_out.frequencies)
        assert (ours.n_docs, ours.bounds, ours.complete) == (60, expected.left_out.bounds, True)


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(left_out, "MOST", 4)
    terms = [f"term{i}" for i in range(40)]
    frequencies = np.arange(40) % 7
    found = TermsLeftOut.of(terms, frequencies, 40, (10, 20))
    assert len(found.hashes) == 4
    assert (found.frequencies >= 5).all()
    assert not found.complete
    collected = LeftOutCollector()
    for term, frequency in zip(terms, frequencies.tolist(), strict=True):
        collected.add(term.encode(), frequency)
    again = collected.result(40, (10, 20))
    np.testing.assert_array_equal(again.hashes, found.hashes)
    np.testing.assert_array_equal(again.frequencies, found.frequencies)
    assert not again.complete
