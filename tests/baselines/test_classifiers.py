"""Naive Bayes, its ensembles, and co-training, against explicit loops."""

import numpy as np
import pytest

from coview import Views
from coview.baselines import CoTraining, FusionLM, NaiveBayesViews
from coview.datasets import make_views
from tests.reference import baselines as naive


@pytest.fixture(scope="module")
def views():
    made = make_views(150, 2, {"a": 15, "b": 12}, doc_length=6, random_state=4)
    return made.with_labels(made.labels)  # numbers, whose names are not known


@pytest.fixture(scope="module")
def few(views):
    return np.where(np.arange(150) < 12, views.labels, -1)


def dense(views):
    return [m.toarray().astype(float) for m in views.matrices.values()]


def test_the_posterior_of_one_view_is_that_of_the_formula(views, few):
    model = NaiveBayesViews(view="b", alpha=0.5).fit(views, few)
    expected = naive.naive_bayes(dense(views)[1], few, 2, alpha=0.5)
    np.testing.assert_allclose(model.predict_proba(views), expected)


def test_the_mean_and_the_product_of_the_views(views, few):
    one, other = (naive.naive_bayes(X, few, 2) for X in dense(views))
    mean = NaiveBayesViews(combine="mean").fit(views, few)
    np.testing.assert_allclose(mean.predict_proba(views), (one + other) / 2)
    np.testing.assert_allclose(mean.view_proba(views)["b"], other)
    product = NaiveBayesViews(combine="product").fit(views, few)
    expected = naive.product_of_views(dense(views), few, 2)
    np.testing.assert_allclose(product.predict_proba(views), expected)


def test_a_document_is_classified_by_the_views_it_has(views, few):
    model = NaiveBayesViews().fit(views, few)
    new = Views({"a": views["a"][:2].toarray(), "b": [[0] * 12, views["b"][:2].toarray()[1]]})
    proba = model.predict_proba(new)
    np.testing.assert_allclose(proba[0], model.predict_proba({"a": views["a"][:1]})[0])
    assert np.isnan(model.view_proba(new)["b"][0]).all()
    empty = model.predict_proba(Views({"a": [[0] * 15]}))
    np.testing.assert_allclose(empty[0], model.class_prior_)


def test_a_class_without_a_labeled_document_in_a_view_is_left_to_the_others():
    present = np.array([[1, 1], [1, 0], [1, 1]], bool)
    views = Views({"a": [[3, 0], [0, 3], [0, 3]], "b": [[2, 1], [0, 0], [2, 1]]}, present=present)
    model = NaiveBayesViews(combine="mean").fit(views, [0, 1, -1])
    assert model.view_proba(views)["b"][2].tolist() == [1, 0]
    assert model.labels_[2] == 0  # view b knows of no other class


def test_given_labels_are_kept(views, few):
    model = NaiveBayesViews().fit(views, few)
    np.testing.assert_array_equal(model.labels_[:12], few[:12])
    np.testing.assert_array_equal(model.labels_[12:], model.predict(views)[12:])


@pytest.mark.parametrize("n_rounds", [1, 6])
def test_co_training_is_that_of_explicit_loops(views, few, n_rounds):
    model = CoTraining(pool_size=30, n_added=4, max_iter=n_rounds, random_state=3).fit(views, few)
    order = np.random.default_rng(3).permutation(np.flatnonzero(few < 0))
    share = np.bincount(few[:12]) / 12
    quota = np.maximum(1, np.rint(4 * share)).astype(int)
    expected = naive.co_training(dense(views), few, 2, order, quota, 30, n_rounds)
    np.testing.assert_array_equal(model.taught_, expected)
    assert (model.taught_ >= 0).sum() > 12
    assert model.n_iter_ == n_rounds


def test_co_training_ends_when_all_are_labeled(views, few):
    model = CoTraining(pool_size=150, n_added=40, random_state=0).fit(views, few)
    assert (model.taught_ >= 0).all()
    assert model.n_iter_ < 30


def test_co_training_helps_when_labels_are_few():
    gains = []
    for seed in range(6):
        views = make_views(300, 2, {"a": 40, "b": 40}, doc_length=5, random_state=seed)
        first = [np.flatnonzero(views.labels == c)[:2] for c in (0, 1)]
        few = np.full(300, -1)
        few[np.concatenate(first)] = [0, 0, 1, 1]
        right = [
            (model.fit(views, few).labels_ == views.labels).mean()
            for model in (NaiveBayesViews(), CoTraining(random_state=seed))
        ]
        gains.append(right[1] - right[0])
    assert np.mean(gains) > 0.01
    assert min(gains) > 0


def test_late_fusion_explains_the_clusters_of_the_views():
    views = make_views(90, 3, {"a": 40, "b": 30}, doc_length=40, random_state=3)
    model = FusionLM(3, init="kmeans", random_state=0).fit(views)
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-5)
    for name in views.names:
        shares = model.fusion_.components_[name]  # p(c|z,v): nearly a permutation
        assert (shares.max(axis=1) > 0.8).all()
        assert sorted(shares.argmax(axis=1)) == [0, 1, 2]


def test_late_fusion_weighs_the_views_alike_whatever_the_defaults_are():
    views = make_views(90, 3, {"a": 40, "b": 30}, doc_length=40, random_state=3)
    fusion = FusionLM(3, init="kmeans", random_state=0).fit(views).fusion_
    assert fusion.view_weights_ == pytest.approx({"a": 1.0, "b": 1.0}, rel=1e-5)
    assert fusion.view_reliability_ is None
    assert fusion.trace_.ensemble is None
