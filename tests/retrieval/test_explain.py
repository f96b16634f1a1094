"""Semantic space, and why an answer was found."""

import json

import numpy as np
import pytest

from coview import Doc, LinkPLSA, SearchIndex, Views, search
from coview.metrics.retrieval import SEMANTIC_C
from coview.retrieval.similarity import METRICS
from tests.retrieval import naive
from tests.retrieval.stories import TOPICS

# -- the semantic space ---------------------------------------------------------------------------


def test_semantic_space_is_that_of_logistic_regressions_on_the_mixtures(coupled, planted):
    from sklearn.linear_model import LogisticRegression

    labels = [None if i % 5 == 0 else "abcd"[k] for i, k in enumerate(planted.labels)]
    known = np.array([label is not None for label in labels])
    index = SearchIndex(
        coupled, in_view="view_1", space="semantic", labels=labels, metric="correlation"
    )
    posteriors = {}
    for view in planted.names:
        mixtures = coupled.view_doc_topic_[view].astype(float)
        fitted = LogisticRegression(C=SEMANTIC_C, max_iter=2000).fit(
            mixtures[known], np.array(labels)[known]
        )
        posteriors[view] = fitted.predict_proba, fitted.predict_proba(mixtures)
    query = coupled.transform(planted[:1].select("view_0")).astype(float)
    expected, values = naive.best(
        "correlation",
        posteriors["view_0"][0](query)[0],
        posteriors["view_1"][1],
        5,
        query_center=posteriors["view_0"][1].mean(axis=0),
        center=posteriors["view_1"][1].mean(axis=0),
    )
    found = index.query(planted[:1].select("view_0"), top=5)
    assert found.positions.tolist() == expected
    np.testing.assert_allclose(found.scores, values, atol=1e-4)


def test_two_classes_have_the_posterior_of_scikit_learn(coupled, planted):
    from sklearn.linear_model import LogisticRegression

    labels = planted.labels % 2
    index = SearchIndex(coupled, in_view="view_1", space="semantic", labels=labels)
    mixtures = coupled.view_doc_topic_["view_1"].astype(float)
    expected = (
        LogisticRegression(C=SEMANTIC_C, max_iter=2000)
        .fit(mixtures, labels)
        .predict_proba(mixtures)
    )
    np.testing.assert_allclose(index._gallery.vectors, expected, atol=1e-5)


def test_a_class_that_no_document_of_a_view_has_is_never_likely(stories, model):
    labels = ["space" if name == "space-7" else "other" for name in stories.ids]
    labels[0] = "sport"
    index = SearchIndex(model, in_view="de", space="semantic", labels=labels)
    assert index._space.classes == ["other", "space", "sport"]
    assert (index._gallery.vectors[index._gallery.rows, 1] < 1e-6).all()


def test_semantic_labels_are_checked(model):
    with pytest.raises(ValueError, match="2 labels for 24 training documents"):
        SearchIndex(model, space="semantic", labels=[0, 1])
    with pytest.raises(ValueError, match="two classes or more; found '3' on 2 labeled documents"):
        SearchIndex(model, space="semantic", labels=[3, 3] + [-1] * 22)


# -- reasons --------------------------------------------------------------------------------------


def test_reasons_name_the_topic_in_the_words_of_both_views(model):
    hit = search(model, {"en": "rocket orbit xyzzy"}, in_view="de", explain=True)[0]
    first = hit.explanation[0]
    assert set(first.terms["en"]) <= set(TOPICS["space"][0])
    assert set(first.terms["de"]) <= set(TOPICS["space"][1])
    assert {word for word, _ in first.query_words["en"]} == {"rocket", "orbit"}
    assert first.answer_words == {}  # the counts of the training documents are not at hand
    assert first.share > 0.9


@pytest.mark.parametrize("metric", METRICS)
def test_shares_are_of_the_score(coupled, planted, metric):
    for hit in search(coupled, planted[:1], metric=metric, top=3, explain=True):
        for reason in hit.explanation:
            assert reason.contribution == pytest.approx(reason.share * hit.score)
        if metric != "correlation":
            assert sum(reason.share for reason in hit.explanation) <= 1 + 1e-9


def test_words_speak_for_a_topic_by_their_posterior(coupled, planted):
    options = {"views": planted, "metric": "hellinger", "top": 1, "explain": True}
    hit = search(coupled, planted[:1].select("view_0"), **options)[0]
    reason = next(reason for reason in hit.explanation if reason.topic is not None)
    p_z_d = coupled.transform(planted[:1].select("view_0"))[0].astype(float)
    p_w_z = coupled.components_["view_0"].astype(float)
    counts = planted["view_0"].toarray()[0]
    expected = {}
    for w in np.flatnonzero(counts):
        joint = p_z_d * p_w_z[:, w]
        expected[str(w)] = counts[w] * joint[reason.topic] / joint.sum()
    largest = sorted(expected.values(), reverse=True)[: len(reason.query_words["view_0"])]
    weights = [weight for _, weight in reason.query_words["view_0"]]
    np.testing.assert_allclose(weights, largest, rtol=1e-5)
    for word, weight in reason.query_words["view_0"]:
        assert weight == pytest.approx(expected[word], rel=1e-5)


def test_answers_of_new_documents_show_their_own_words(model):
    views = model.read({"de": ["tor pokal tor", "mond"]})
    options = {"views": views, "metric": "hellinger", "top": 1, "explain": True}
    hit = search(model, {"en": "goal"}, in_view="de", **options)[0]
    words = hit.explanation[0].answer_words["de"]
    assert [word for word, _ in words] == ["tor", "pokal"]
    assert words[0][1] == pytest.approx(2, abs=0.1)


def test_in_semantic_space_the_reasons_are_classes(stories, model):
    labels = [name.split("-")[0] for name in stories.ids]
    options = {"space": "semantic", "labels": labels, "explain": True, "top": 2}
    for hit in search(model, {"en": "salt garlic"}, in_view="de", **options):
        assert hit.explanation[0].label == "food"
        assert set(hit.explanation[0].terms["de"]) <= set(TOPICS["food"][1])
    assert search(model, Doc("food-1"), **options)[0].explanation[0].label == "food"
    new = search(model, Doc("food-1"), views=stories, in_view="de", **options)
    assert new[0].explanation[0].label == "food"  # of whose mixture nothing is kept
    assert new[0].explanation[0].topic is None


def test_results_are_plain_data(stories, model):
    labels = np.array([i % 3 for i in range(24)])
    found = search(model, {"en": "ball"}, top=2, explain=True, space="semantic", labels=labels)
    rows = json.loads(json.dumps(found.to_rows()))
    assert [row["rank"] for row in rows] == [1, 2]
    assert rows[0]["explanation"][0]["label"] in (0, 1, 2)
    assert found[:1].ids == found.ids[:1]
    assert "query: ball" in str(found)
    assert repr(found).startswith("<SearchResults: 2>")


def test_control_characters_of_ids_are_not_shown(planted):
    ids = [f"\x1b[31m{i}" for i in range(30)]
    views = Views(planted[:30], ids=ids)
    model = LinkPLSA(2, init="random", random_state=0, max_iter=3, tol=0).fit(views)
    assert "\x1b" not in str(search(model, Doc(0)))


@pytest.mark.parametrize("metric", METRICS)
def test_what_both_lack_is_no_reason(model, metric):
    """Two mixtures that are below the mean in the same topics correlate there, too."""
    hits = search(model, {"en": "moon rocket"}, in_view="de", metric=metric, top=3, explain=True)
    query = model.transform({"en": ["moon rocket"]})[0]
    for hit in hits:
        assert hit.explanation[0].topic == query.argmax()
        assert all(query[reason.topic] > 0.01 for reason in hit.explanation)
