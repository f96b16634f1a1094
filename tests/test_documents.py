"""`fit`, `transform`, `predict`, searches and annotation take the same raw forms."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import coview
from coview import PLSA, LinkPLSA, TopicClassifier, Views
from coview.baselines import KMeansViews, NaiveBayesViews

EN = ["rain and wind today", "a storm with rain", "the goal of the match", "the team has a coach"]
DE = ["Regen und Wind heute", "ein Sturm mit Regen", None, "die Mannschaft hat einen Trainer"]
RAW = {"en": EN * 3, "de": DE * 3}
QUICK = {
    "random_state": 0,
    "init": "random",
    "max_iter": 20,
    "tol": 0.0,
    "view_weights": "balanced",
}


@pytest.fixture(scope="module")
def model():
    return LinkPLSA(2, **QUICK).fit(RAW)


def test_a_fit_takes_texts_as_views_do(model):
    expected = Views.from_texts(RAW)
    assert Views(RAW).equals(expected)
    np.testing.assert_array_equal(model.doc_topic_, LinkPLSA(2, **QUICK).fit(expected).doc_topic_)
    assert model.recipes_["de"].language == "de"
    assert model.present_[:, 1].tolist() == [True, True, False, True] * 3


def test_texts_stand_beside_matrices():
    links = sp.random_array((12, 5), density=0.5, rng=np.random.default_rng(0))
    tokens = [["a", "b c"], [], ["d"], None] * 3
    views = Views({"en": RAW["en"], "links": links, "tags": tokens}, ids=map(str, range(12)))
    assert views.names == ("en", "links", "tags")
    assert views.features["tags"].tolist() == ["a", "b c", "d"]
    assert [name for name, recipe in views.recipes.items() if recipe] == ["en", "tags"]
    model = LinkPLSA(2, **QUICK).fit(views)
    mixed = {"en": ["rain", "goal"], "links": links[[0, 1]]}
    both = Views(
        {"en": model.read({"en": ["rain", "goal"]})["en"], "links": links[[0, 1]]},
        features={"en": views.features["en"]},
    )
    np.testing.assert_array_equal(model.transform(mixed), model.transform(both))
    alone = model.transform({"tags": [["a", "b c"]]})
    np.testing.assert_array_equal(model.transform({"tags": [["a", "b c"], None]})[:1], alone)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_of_prose_has_a_view_for_each_column(frame):
    found = Views(frame({"en": [text + " again" for text in EN], "de": DE}))
    assert found.names == ("en", "de")
    assert found.present[:, 1].tolist() == [True, True, False, True]


def test_a_frame_with_other_columns_is_ambiguous():
    for frame in (
        pd.DataFrame({"en": EN, "kind": ["a", "b", "a", "b"]}),
        pd.DataFrame({"en": EN, "n": range(4)}),
    ):
        with pytest.raises(ValueError, match=r"Found the text.*Views\.from_dataframe"):
            Views(frame)


def test_one_list_of_texts_is_one_view():
    assert Views(EN).names == ("text",)
    assert PLSA(2, **QUICK).fit(np.array(EN)).predict("rain").shape == (1,)
    assert PLSA(2, **QUICK).fit(pd.Series(EN)).predict(["rain", "goal"]).shape == (2,)


@pytest.mark.parametrize(
    "data", [[["1", "2"], ["3", "4"]], {"a": [["1", "2"]]}, "a text", {"a": "b"}]
)
def test_numbers_as_texts_and_single_texts_are_no_views(data):
    with pytest.raises(ValueError, match="holds text"):
        Views(data)


def test_new_documents_are_read_alike(model):
    by_hand = model.transform(model.read({"en": [EN[0]]}))
    for same in (
        {"en": [EN[0]]},
        {"en": EN[0]},
        {"en": (EN[0],)},
        {"en": np.array([EN[0]])},
        {"en": pd.Series([EN[0]])},
        {"en": [EN[0]], "de": None},
        {"en": [EN[0]], "de": [None]},
        pd.DataFrame({"en": [EN[0]], "other": [3]}),
    ):
        np.testing.assert_array_equal(model.transform(same), by_hand)
        assert model.predict(same).tolist() == model.predict({"en": [EN[0]]}).tolist()
    for query in ({"en": EN[0]}, {"en": [EN[0]]}, {"en": EN[0], "de": None}):
        assert coview.search(model, query).ids == coview.search(model, {"en": EN[0]}).ids
        assert coview.search(model, query)[0].score == pytest.approx(1.0, abs=1e-3)
    one = model.predict_terms({"en": EN[0]}, in_view="de", top=3)
    several = model.predict_terms({"en": [EN[0], EN[3]]}, in_view="de", top=3)
    assert one.terms == several[0].terms
    assert len(several) == 2


def test_a_search_among_raw_documents(model):
    found = coview.search(model, {"en": "storm"}, in_view="de", views={"de": ["Sturm", "Trainer"]})
    assert found.positions[0] == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("rain", r"A text alone .* reads 'en', 'de'. Say which it is: \{'en': ...\}"),
        (["rain", "goal"], "A list of documents alone"),
        ({"fr": ["pluie"]}, "can be given for 'de', 'en'; got 'fr'"),
        ({}, "nothing to read"),
        ({"en": None}, "nothing to read"),
        (np.ones((2, 3)), r"one view; it has 'en', 'de'. Say which view it is"),
        ({"en": [3, "rain"]}, "row 0.*Expected a text, found int"),
        ({"en": ["rain"], "de": ["Regen", "Tor"]}, "'en' has 1.*'de' has 2"),
        (pd.DataFrame({"fr": ["pluie"]}), "reads the columns 'en', 'de'; the frame has 'fr'"),
    ],
)
def test_what_cannot_be_read_is_said(model, given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        model.predict(given)


def test_a_model_of_matrices_reads_no_texts():
    model = LinkPLSA(2, **QUICK).fit({"a": np.eye(4), "b": np.eye(4)})
    for use in (model.transform, model.predict, lambda X: coview.search(model, X)):
        with pytest.raises(ValueError, match=r"cannot be read as 'a'.*no recipe.*Give matrices"):
            use({"a": ["a text"]})
        with pytest.raises(ValueError, match=r"reads none: its views are matrices"):
            use("a text")


def test_classifiers_and_baselines_take_texts():
    y = [0, 0, 1, 1] * 3
    for classifier in (TopicClassifier(LinkPLSA(**QUICK)), NaiveBayesViews()):
        fitted = classifier.fit(RAW, y)
        assert fitted.predict({"en": ["storm and rain", "a goal"]}).tolist() == [0, 1]
        assert fitted.predict({"de": "Regen"}).tolist() == [0]
    clusters = KMeansViews(2, random_state=0).fit(RAW)
    assert len(set(clusters.predict({"en": ["rain", "team coach"]}))) == 2
    assert (coview.auto(RAW, 2, verbose=False).predict(RAW) >= 0).all()


def test_a_stream_takes_one_text_and_grows():
    model = PLSA(2, **QUICK).fit({"en": EN * 3})
    n_terms = model.components_["en"].shape[1]
    model.partial_fit({"en": ["thunder and rain"]}, new_terms=True)
    assert model.components_["en"].shape[1] == n_terms + 1
