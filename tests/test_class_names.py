"""Names of classes come back from classifiers; documents that a model does not know are told."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_score

import coview
from coview import PLSA, DataWarning, LinkPLSA, TopicClassifier, Views, load
from coview.baselines import NaiveBayesViews

WORDS = {"sport": "goal coach match team", "food": "butter garlic salt pan", "sky": "moon star sun"}
TEXTS = [f"{words} {words.split()[i % 3]}" for words in WORDS.values() for i in range(8)]
KINDS = [kind for kind in WORDS for _ in range(8)]


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "news.csv"
    pd.DataFrame({"text": TEXTS, "kind": KINDS}).to_csv(path, index=False)
    return Views.from_table(path, text="text", label="kind", languages=None)


def classifier():
    return TopicClassifier(LinkPLSA(random_state=0))


def some(labels, mark=-1):
    """Return every second label."""
    return [label if i % 2 else mark for i, label in enumerate(labels)]


@pytest.mark.parametrize("make", [classifier, NaiveBayesViews])
def test_a_classifier_of_numbers_gives_the_names_that_the_views_know(views, make):
    found = make().fit(views, some(views.labels))
    assert found.classes_.tolist() == ["food", "sky", "sport"]
    assert found.predict(views).tolist() == KINDS
    assert found.labels_.tolist() == KINDS
    assert found.predict({"text": views["text"]}).tolist() == KINDS


def test_numbers_and_names_give_the_same_model(views):
    by_number = classifier().fit(views, some(views.labels))
    by_name = classifier().fit(views, some(KINDS, ""))
    np.testing.assert_array_equal(by_number.classes_, by_name.classes_)
    np.testing.assert_array_equal(by_number.predict_proba(views), by_name.predict_proba(views))
    assert coview.auto(views, labels=views.labels, verbose=False).predict(views).tolist() == KINDS


def test_views_give_labels_by_name(views):
    assert views.named_labels.tolist() == KINDS
    assert views.with_labels([0] * 24).named_labels.tolist() == [0] * 24
    assert views.with_labels(None).named_labels is None
    some_named = views.with_labels(some(views.labels), views.label_names)
    assert some_named.named_labels.tolist() == some(KINDS, None)


def test_names_come_back_from_a_file_and_a_folder(views, tmp_path):
    views.save(tmp_path / "views")
    again = Views.load(tmp_path / "views")
    classifier().fit(again, again.labels).save(tmp_path / "model.coview")
    assert load(tmp_path / "model.coview").predict(again).tolist() == KINDS


def test_names_are_never_compared_with_numbers_in_silence(views):
    found = classifier().fit(views, views.labels)
    for compare in (
        lambda: found.predict(views) == views.labels,
        lambda: views.labels == found.labels_,
        lambda: found.predict(views)[:3] != 1,
    ):
        with pytest.raises(TypeError, match=r"compared with numbers.*named_labels"):
            compare()
    assert (found.predict(views) == views.named_labels).all()
    assert (found.predict(views) == KINDS).all()


def test_the_score_takes_numbers_and_names_and_leaves_out_the_unlabeled(views):
    found = classifier().fit(views, views.labels)
    for y in (views.labels, KINDS, some(views.labels), some(KINDS, ""), some(KINDS, pd.NA)):
        assert found.score(views, y) == 1.0
    assert found.score(views, ["food"] * 24) == pytest.approx(1 / 3)
    assert found.score(views, KINDS, sample_weight=np.ones(24)) == 1.0
    assert cross_val_score(classifier(), views, views.labels, cv=2).tolist() == [1.0, 1.0]
    assert accuracy_score(views.named_labels, found.predict(views)) == 1.0
    with pytest.raises(ValueError, match="at least one document to compare"):
        found.score(views, [None] * 24)


def test_numbers_of_other_classes_stay_numbers(views):
    others = np.arange(24) % 2
    found = classifier().fit(views, others)
    assert found.classes_.tolist() == [0, 1]
    assert found.score(views, others) > 0.5
    assert classifier().fit(views.with_labels(None), views.labels).classes_.tolist() == [0, 1, 2]


def test_more_labels_than_the_views_have_are_named_as_well(views):
    few = views.with_labels(some(views.labels), views.label_names)
    assert classifier().fit(few, views.labels).labels_.tolist() == KINDS


# -- documents of which nothing is known -----------------------------------------------------------

NEW = {"text": ["zzzz qqqq", "a goal of the coach", ""]}


def test_a_topic_of_an_unknown_document_is_marked_and_told(views):
    model = PLSA(3, random_state=0).fit(views)
    with pytest.warns(DataWarning, match="2 of 3 documents have no feature .* topic is -1") as told:
        found = model.predict(NEW)
    assert found.tolist() == [-1, model.predict({"text": ["goal coach"]})[0], -1]
    assert told[0].filename == __file__
    guessed = model.predict(NEW, unknown="guess")
    assert (guessed >= 0).all()
    with pytest.raises(ValueError, match="unknown must be one of 'mark', 'guess'; got 'ignore'"):
        model.predict(NEW, unknown="ignore")


def test_a_class_of_an_unknown_document_is_marked_and_told(views):
    by_name = classifier().fit(views, views.labels)
    with pytest.warns(DataWarning, match="2 of 3 documents .* class is an empty text"):
        found = by_name.predict(NEW)
    assert found.tolist() == ["", "sport", ""]
    assert found.dtype.kind == "U"
    assert by_name.predict(NEW, unknown="guess")[1] == "sport"


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float64, bool])
def test_the_mark_fits_numbers_of_any_type(views, dtype):
    y = (views.labels > 0).astype(dtype)
    found = TopicClassifier(LinkPLSA(random_state=0), unlabeled=99).fit(views, y)
    with pytest.warns(DataWarning, match="class is 99"):
        assert found.predict(NEW).tolist()[::2] == [99, 99]


def test_a_mark_that_is_a_class_is_refused(views):
    y = np.where(views.labels > 0, 1, -1)
    found = TopicClassifier(LinkPLSA(random_state=0), unlabeled=None).fit(views, y)
    with pytest.raises(
        ValueError, match=r"2 documents .* by -1, which is a class.*unknown='guess'"
    ):
        found.predict(NEW)
    assert len(found.predict(NEW, unknown="guess")) == 3


def test_baselines_mark_unknown_documents(views):
    found = NaiveBayesViews().fit(views, views.labels)
    counts = views["text"][:2].toarray() * [[0], [1]]
    with pytest.warns(DataWarning, match="1 of 2 documents has no feature"):
        assert found.predict({"text": counts}).tolist() == ["", "sport"]
    assert "" not in found.predict({"text": counts}, unknown="guess").tolist()
