"""Classifiers answer in the type of the labels; documents that a model does not know are told."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_score

import coview
from coview import PLSA, DataWarning, LinkPLSA, TopicClassifier, Views, load
from coview.baselines import NaiveBayesViews
from coview.reporting.terms import topic_names

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
def test_numbers_in_numbers_out_and_names_in_names_out(views, make):
    for y, expected in ((views.labels, views.labels.tolist()), (views.named_labels, KINDS)):
        found = make().fit(views, [label if i % 2 else None for i, label in enumerate(y)])
        assert found.classes_.tolist() == sorted(set(expected))
        for answer in (found.predict(views), found.labels_, found.predict({"text": views["text"]})):
            assert answer.tolist() == expected
            assert (answer == y).all()
        assert accuracy_score(y, found.predict(views)) == 1.0


@pytest.mark.parametrize("make", [classifier, NaiveBayesViews])
@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int64, np.float64, bool])
def test_the_type_of_numbers_is_kept(views, make, dtype):
    y = (views.labels > 0).astype(dtype)
    found = make().fit(views, y)
    assert found.classes_.dtype == found.predict(views).dtype == found.labels_.dtype == dtype
    assert (found.predict(views) == y).all()


def test_numbers_and_names_give_the_same_model(views):
    by_number = classifier().fit(views, some(views.labels))
    by_name = classifier().fit(views, some(KINDS, ""))
    assert by_number.estimator_.topic_names_ == by_name.estimator_.topic_names_
    assert topic_names(by_number) == sorted(WORDS)
    np.testing.assert_array_equal(by_number.predict_proba(views), by_name.predict_proba(views))
    for y in (views.labels, views.named_labels):
        assert (coview.auto(views, labels=y, verbose=False).predict(views) == y).all()


def test_views_give_labels_by_name(views):
    assert views.named_labels.tolist() == KINDS
    assert views.labels.dtype.kind == "i"
    assert views.with_labels([0] * 24).named_labels.tolist() == [0] * 24
    assert views.with_labels(None).named_labels is None
    some_named = views.with_labels(some(views.labels), views.label_names)
    assert some_named.named_labels.tolist() == some(KINDS, None)


def test_labels_keep_their_type_in_a_file_and_a_folder(views, tmp_path):
    views.save(tmp_path / "views")
    again = Views.load(tmp_path / "views")
    for y in (again.labels, again.named_labels):
        classifier().fit(again, y).save(tmp_path / "model.coview")
        found = load(tmp_path / "model.coview")
        assert found.classes_.dtype.kind == ("i" if y is again.labels else "U")
        assert (found.predict(again) == y).all()
        assert (found.labels_ == y).all()
        assert topic_names(found) == sorted(WORDS)


@pytest.mark.parametrize("make", [classifier, NaiveBayesViews])
@pytest.mark.parametrize(
    "mixed",
    [
        [1, "1"] * 12,
        [None, -1, "", 2, "two", 2] * 4,
        pd.Series([0.0, "0"] * 12, dtype=object),
        np.array([3, "three"] * 12, dtype=object),
    ],
    ids=["one", "two", "zero", "three"],
)
def test_numbers_and_texts_together_are_refused(views, make, mixed):
    message = r"all numbers or all texts, found both: .* at row \d.* and '.*' at row \d"
    for use in (
        lambda: make().fit(views, mixed),
        lambda: views.with_labels(mixed),
        lambda: coview.auto(views, labels=mixed, verbose=False),
        lambda: make().fit(views, views.labels).score(views, mixed),
    ):
        with pytest.raises(ValueError, match=message):
            use()


def test_the_score_takes_labels_as_in_fit_and_leaves_out_the_unlabeled(views):
    for y in (views.labels, views.named_labels):
        found = classifier().fit(views, y)
        for given in (y, some(y, None), some(y, ""), some(y, pd.NA), some(y, -1)):
            assert found.score(views, given) == 1.0
        assert found.score(views, [y[0]] * 24) == pytest.approx(1 / 3)
        assert found.score(views, y, sample_weight=np.ones(24)) == 1.0
        assert cross_val_score(classifier(), views, y, cv=2).tolist() == [1.0, 1.0]
        with pytest.raises(ValueError, match="at least one document to compare"):
            found.score(views, [None] * 24)
        other = views.labels if y is not views.labels else views.named_labels
        with pytest.raises(ValueError, match=r"give names or numbers as in fit.*named_labels"):
            found.score(views, other)


def test_numbers_of_other_classes_have_no_names(views):
    others = np.arange(24) % 2
    found = classifier().fit(views, others)
    assert found.classes_.tolist() == [0, 1]
    assert topic_names(found) == ["0", "1"]
    assert found.score(views, others) > 0.5
    plain = classifier().fit(views.with_labels(None), views.labels)
    assert topic_names(plain) == ["0", "1", "2"]


def test_more_labels_than_the_views_have_are_named_as_well(views):
    few = views.with_labels(some(views.labels), views.label_names)
    assert topic_names(classifier().fit(few, views.labels)) == sorted(WORDS)


@pytest.mark.parametrize("y", ["numbers", "names"])
@pytest.mark.parametrize("named", [True, False])
def test_evaluate_finds_the_classes_of_numbers_and_names(views, y, named):
    labels = views.labels if y == "numbers" else views.named_labels
    known = views if named else views.with_labels(labels)
    found = coview.compare.evaluate(classifier().fit(known, labels), views)
    assert found["classes"]["accuracy"] == 1.0
    unnamed = views.with_labels(labels)
    again = coview.compare.evaluate(classifier().fit(views, labels), unnamed)
    assert again["classes"]["accuracy"] == 1.0


def test_evaluate_tells_of_classes_that_the_model_does_not_have(views):
    model = classifier().fit(views, [f"kind {label}" for label in views.labels])
    with pytest.warns(DataWarning, match=r"None of their classes .* is one of the model"):
        assert coview.compare.evaluate(model, views)["classes"]["accuracy"] == 0.0


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
    by_name = classifier().fit(views, views.named_labels)
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
    found = NaiveBayesViews().fit(views, views.named_labels)
    counts = views["text"][:2].toarray() * [[0], [1]]
    with pytest.warns(DataWarning, match="1 of 2 documents has no feature"):
        assert found.predict({"text": counts}).tolist() == ["", "sport"]
    assert "" not in found.predict({"text": counts}, unknown="guess").tolist()
