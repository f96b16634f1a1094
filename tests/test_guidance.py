"""`suggest_labels`: which documents to label next."""

import numpy as np
import pytest

from coview import LinkPLSA, TopicClassifier, Views, suggest_labels
from coview.datasets import make_views
from coview.guidance import _in_turns


@pytest.fixture(scope="module")
def taught():
    """Planted views in which document 5 has the words of one class and the links of another."""
    views = make_views(80, 3, [40, 30], random_state=0)
    first, second = (m.toarray() for m in views.matrices.values())
    other = np.flatnonzero(views.labels != views.labels[5])[0]
    second[5] = second[other]
    mixed = Views(
        dict(zip(views.names, (first, second), strict=True)),
        ids=[f"doc{i}" for i in range(80)],
        labels=views.labels,
    )
    y = np.full(80, -1)
    for c in range(3):
        rows = np.setdiff1d(np.flatnonzero(views.labels == c), [5])[:3]
        y[rows] = c
    return TopicClassifier(LinkPLSA(random_state=0)).fit(mixed, y), mixed, y


def naive_disagreement(mixtures):
    """Jensen-Shannon divergence of some distributions, term by term, over log 2."""
    total = 0.0
    for p in mixtures:
        mean = np.mean(mixtures, axis=0)
        total += sum(a * np.log(a / b) for a, b in zip(p, mean, strict=True) if a > 0)
    return total / len(mixtures) / np.log(min(len(mixtures), len(mixtures[0])))


def test_scores_are_those_of_a_naive_loop(taught):
    classifier, views, _ = taught
    model = classifier.estimator_
    for found in suggest_labels(classifier, views, 80)[::7]:
        document = views[[found.row]]
        alone = [model.transform(document.select(n))[0].astype(float) for n in views.names]
        p = model.transform(document)[0].astype(float)
        entropy = -sum(x * np.log(x) for x in p if x > 0) / np.log(3)
        assert found.disagreement == pytest.approx(naive_disagreement(alone), abs=1e-6)
        assert found.uncertainty == pytest.approx(entropy, abs=1e-6)
        assert found.score == pytest.approx((found.disagreement + found.uncertainty) / 2)
        assert found.id == f"doc{found.row}"


def test_views_that_contradict_each_other_come_first(taught):
    classifier, views, y = taught
    found = suggest_labels(classifier, views, 3, labels=y)
    assert 5 in [each.row for each in found]
    reason = next(each.reason for each in found if each.row == 5)
    assert reason.startswith(("the views disagree: view_0 says", "the mixture is between"))


def test_labeled_and_empty_documents_are_left_out(taught):
    classifier, views, y = taught
    found = [each.row for each in suggest_labels(classifier, views, 999, labels=y)]
    assert sorted(found) == np.flatnonzero(y < 0).tolist()
    texts = [None if label < 0 else str(label) for label in y]
    assert [each.row for each in suggest_labels(classifier, views, 999, labels=texts)] == found
    blank = Views(
        {n: np.vstack([m.toarray(), m.toarray()[:1] * 0]) for n, m in views.matrices.items()}
    )
    assert 80 not in [each.row for each in suggest_labels(classifier, blank, 999)]


def test_topics_take_turns():
    score, topic = np.array([0.9, 0.8, 0.7, 0.6, 0.5]), np.array([0, 0, 1, 0, 1])
    assert _in_turns(score, topic, np.arange(5)) == [0, 2, 1, 4, 3]


def test_a_document_with_one_view_has_no_disagreement(taught):
    classifier, views, _ = taught
    present = np.ones((80, 2), bool)
    present[:10, 1] = False
    second = views.matrices["view_1"].toarray()
    second[:10] = 0
    lacking = Views({"view_0": views.matrices["view_0"], "view_1": second}, present=present)
    found = {each.row: each for each in suggest_labels(classifier, lacking, 999)}
    assert all(found[row].disagreement < 1e-9 for row in range(10) if row in found)
    one = suggest_labels(classifier, views.select("view_0"), 3)
    assert all(each.disagreement < 1e-9 for each in one)


def test_any_model_will_do(taught):
    _, views, _ = taught
    model = LinkPLSA(3, random_state=0).fit(views)
    assert len(suggest_labels(model, views, 4)) == 4
    assert "topic " in suggest_labels(model, views, 1)[0].reason


def test_bad_input_is_explained(taught):
    classifier, views, _ = taught
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        suggest_labels(classifier, views, 0)
    with pytest.raises(ValueError, match=r"80 documents.*found the shape \(3,\)"):
        suggest_labels(classifier, views, labels=[1, 2, 3])
