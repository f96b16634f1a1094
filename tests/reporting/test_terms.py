"""The words of topics as plain data and as a frame, and the names of topics."""

import numpy as np
import pytest

from coview import PLSA, LinkPLSA, TopicClassifier, Views, top_terms
from coview.datasets import make_views


@pytest.fixture(scope="module")
def model():
    views = Views(
        {"en": [[6, 2, 0], [5, 1, 0], [0, 0, 5]], "links": [[1, 0], [1, 0], [0, 3]]},
        features={"en": ["ball", "goal", "vote"]},
    )
    return LinkPLSA(2, random_state=0).fit(views)


def test_the_words_of_topics_are_a_method(model):
    assert model.top_terms(2) == top_terms(model, 2)
    assert model.top_terms(2, relevance=1.0) == top_terms(model, 2, relevance=1.0)
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


@pytest.mark.parametrize(("options", "words"), [((0,), "n_terms"), ((2, 1.5), "relevance")])
def test_bad_options_are_named(model, options, words):
    n_terms, *relevance = options
    with pytest.raises(ValueError, match=words):
        model.top_terms(n_terms, **({"relevance": relevance[0]} if relevance else {}))


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
