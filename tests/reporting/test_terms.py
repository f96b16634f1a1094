"""The words of topics as plain data and as a frame, and the names of topics."""

import pickle
from copy import copy

import numpy as np
import pytest

from coview import PLSA, LinkPLSA, TopicClassifier, Views, top_terms
from coview.datasets import make_views
from coview.reporting.terms import first_columns, term_scores


@pytest.fixture(scope="module")
def model():
    views = Views(
        {"en": [[6, 2, 0], [5, 1, 0], [0, 0, 5]], "links": [[1, 0], [1, 0], [0, 3]]},
        features={"en": ["ball", "goal", "vote"]},
    )
    return LinkPLSA(2, random_state=0).fit(views)


def test_the_words_of_topics_are_a_method(model):
    assert model.top_terms(2) == top_terms(model, 2)
    assert sorted(terms[0] for terms in model.top_terms(1)["en"]) == ["ball", "vote"]


def test_the_words_of_topics_as_a_frame(model):
    pytest.importorskip("pandas")
    frame = model.top_terms(2, as_frame=True)
    assert list(frame.columns) == ["topic", "view", "rank", "term", "probability"]
    for (topic, view), rows in frame.groupby(["topic", "view"]):
        assert rows["term"].tolist() == model.top_terms(2)[view][topic]
        assert rows["rank"].tolist() == list(range(1, len(rows) + 1))
        columns = [["ball", "goal", "vote"].index(t) if view == "en" else int(t) for t in rows.term]
        expected = model.components_[view][topic, columns]
        np.testing.assert_allclose(rows["probability"], expected)
    assert (frame["probability"] > 0).all()


def test_a_classifier_names_its_classes():
    pytest.importorskip("pandas")
    views = make_views(40, 2, [10, 8], random_state=0)
    names = np.array(["sport", "space"])[views.labels]
    classifier = TopicClassifier(LinkPLSA(max_iter=5, random_state=0)).fit(views, names)
    frame = classifier.top_terms(3, as_frame=True)
    assert set(frame["name"]) == {"sport", "space"}
    assert classifier.top_terms(3) == top_terms(classifier.estimator_, 3)
    assert top_terms(classifier, 3) == classifier.top_terms(3)


def test_bad_options_are_named(model):
    with pytest.raises(ValueError, match="n_terms"):
        model.top_terms(0)


def test_the_words_of_topics_print_as_a_table(model):
    found = model.top_terms(2)
    assert isinstance(found, dict)
    assert eval(repr(found)) == found
    assert pickle.loads(pickle.dumps(found)) == found
    lines = str(found).splitlines()
    assert lines[0].split() == ["topic", "en", "links"]
    assert [line.split()[0] for line in lines[1:]] == ["0", "1"]
    assert all(" ".join(words) in line for words, line in zip(found["en"], lines[1:], strict=True))
    named = copy(model)
    named.topic_names_ = ["sport", None]
    assert str(named.top_terms(2)).splitlines()[1].split()[:2] == ["0", "sport"]


def test_a_file_of_an_earlier_version_has_words(model):
    old = copy(model)
    del old.term_docs_, old.view_docs_, old.dense_views_
    assert sorted(terms[0] for terms in old.top_terms(1)["en"]) == ["ball", "vote"]


def test_a_handful_of_documents_does_not_come_before_many():
    """Of 40 documents of a topic all have "many", as do 8 others; 5 have "few", no others."""
    has = np.zeros((80, 3))
    has[:48, 0] = has[:5, 1] = has[40:, 2] = 1
    labels = np.repeat([0, 1], 40)
    views = Views({"en": has}, features={"en": ["many", "few", "other"]}, labels=labels)
    model = LinkPLSA(2, random_state=0).fit(views)
    model.term_docs_["en"] = np.array([[40.0, 5, 0], [32, 0, 40]])
    model.view_docs_["en"] = np.array([40.0, 40])
    assert model.top_terms(2)["en"][0] == ["many", "few"]
    expected = np.array([40 / np.sqrt(75), 5 / np.sqrt(8), 0])
    np.testing.assert_allclose(term_scores(model, "en")[0], expected)


def test_first_columns_are_those_of_a_full_stable_sort(rng):
    scores = rng.integers(6, size=(3, 25)).astype(float)  # many ties
    for most in (1, 4, 24, 25, 40):
        for row, found in zip(scores, first_columns(scores, most), strict=True):
            order = [w for w in np.argsort(-row, kind="stable") if row[w] > 0]
            assert found.tolist() == order[:most]


def test_a_model_that_is_not_fitted_has_no_words():
    with pytest.raises(Exception, match="not fitted"):
        PLSA(2).top_terms()


def test_topics_have_one_name_everywhere(model):
    pandas = pytest.importorskip("pandas")
    assert list(model.get_feature_names_out()) == ["topic_0", "topic_1"]
    fitted = PLSA(2, random_state=0).set_output(transform="pandas").fit([[6, 2, 0], [0, 0, 5]])
    frame = fitted.transform([[1, 0, 0]])
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["topic_0", "topic_1"]


def test_a_trace_is_shown_in_a_line(model):
    shown = repr(model.trace_)
    assert shown.startswith(f"<Trace: {model.n_iter_} iterations; objective ")
    assert "\n" not in shown
    assert len(shown) < 300
    several = PLSA(2, n_init=3, init="random", random_state=0).fit([[6, 2, 0], [0, 0, 5]])
    assert "best of 3 restarts" in str(several.trace_)
