"""One fitted model on documents, against the metrics called by hand."""

import numpy as np
import pytest

from coview import LinkPLSA, TopicClassifier, Views
from coview.compare import evaluate
from coview.compare.evaluation import clustering_metrics
from coview.metrics import (
    clustering_accuracy,
    mean_view_agreement,
    topic_coherence,
    topic_diversity,
)
from coview.reporting.terms import term_scores
from tests.compare.helpers import small_views


@pytest.fixture(scope="module")
def fitted():
    return LinkPLSA(3, random_state=0).fit(small_views())


def test_every_figure_is_that_of_the_metric(fitted):
    views = small_views()
    found = evaluate(fitted, views)
    assert found["documents"] == 60
    guess = fitted.predict(views)
    assert found["clusters"]["accuracy"] == clustering_accuracy(views.labels, guess)
    assert found["perplexity"] == fitted.perplexity(views)
    coherence = topic_coherence(term_scores(fitted, "text"), views["text"]).mean()
    assert found["views"]["text"]["coherence"] == pytest.approx(coherence)
    diversity = topic_diversity(term_scores(fitted, "image"))
    assert found["views"]["image"]["diversity"] == pytest.approx(diversity)
    alone = {name: fitted.transform(views.select(name)) for name in views.names}
    assert found["agreement"]["text, image"] == pytest.approx(mean_view_agreement(alone))


def test_without_labels_there_are_no_clusters_to_judge(fitted):
    assert "clusters" not in evaluate(fitted, Views(dict(small_views().matrices)))


def test_labels_may_be_given_and_may_be_missing(fitted):
    views = small_views()
    truth = np.array([str(label) for label in views.labels], dtype=object)
    truth[:30] = None
    accuracy = clustering_accuracy(views.labels[30:], fitted.predict(views)[30:])
    assert evaluate(fitted, views, truth)["clusters"]["accuracy"] == pytest.approx(accuracy)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.zeros(50, int), "one entry for each of 60 documents"),
        (np.full(60, np.inf), "found inf"),
    ],
)
def test_labels_of_other_documents_or_none_are_refused(fitted, labels, words):
    with pytest.raises(ValueError, match=words):
        evaluate(fitted, small_views(), labels)
    with pytest.raises(ValueError, match="50 labels cannot be compared"):
        clustering_metrics(np.zeros(50, int), fitted.labels_)


def test_some_of_the_views_will_do(fitted):
    found = evaluate(fitted, small_views().select("image"))
    assert list(found["views"]) == ["image"]
    assert "agreement" not in found


def test_a_classifier_is_judged_by_its_classes():
    views = small_views()
    names = np.array(["ant", "bee", "cat"])[views.labels]
    model = TopicClassifier(LinkPLSA(random_state=0)).fit(views, names)
    found = evaluate(model, views.with_labels(views.labels, ["ant", "bee", "cat"]))
    assert found["classes"]["accuracy"] == pytest.approx((model.predict(views) == names).mean())


def test_a_view_that_no_document_has_has_no_coherence(fitted):
    matrices = {"text": small_views()["text"], "image": np.zeros((60, 20))}
    found = evaluate(fitted, Views(matrices))
    assert "coherence" not in found["views"]["image"]
    assert found["agreement"] == {}
