"""MVPLSA: reductions, feature topics by view, classification."""

import numpy as np
import pytest

from coview import MVPLSA, DualPLSA, LinkPLSA, TopicClassifier
from coview.datasets import make_views


@pytest.fixture(scope="module")
def views():
    return make_views(120, 3, [60, 40], doc_length=40, view_noise=0.2, missing=0.1, random_state=1)


def test_with_one_view_it_is_dual_plsa(views):
    options = {"init": views.labels, "tol": 0.0, "max_iter": 10, "random_state": 0}
    one = views.select("view_0")
    a, b = MVPLSA(3, 5, **options).fit(one), DualPLSA(3, 5, **options).fit(one)
    np.testing.assert_array_equal(a.doc_topic_, b.doc_topic_)
    np.testing.assert_array_equal(a.feature_topics_["view_0"], b.feature_topics_["view_0"])


def test_the_topics_are_the_product_of_the_factors(views):
    model = MVPLSA(3, {"view_0": 6, "view_1": 2}, random_state=0, dtype="float64").fit(views)
    for name, y in (("view_0", 6), ("view_1", 2)):
        assert model.feature_topics_[name].shape[0] == y
        product = model.topic_links_[name] @ model.feature_topics_[name]
        np.testing.assert_allclose(product, model.components_[name], atol=1e-12)
        np.testing.assert_allclose(model.topic_links_[name].sum(axis=1), 1)
        np.testing.assert_allclose(model.feature_topics_[name].sum(axis=1), 1)


def test_enough_feature_topics_reach_the_likelihood_of_link_plsa(views):
    options = {"init": views.labels, "tol": 1e-9, "max_iter": 3000, "random_state": 0}
    three = MVPLSA(3, 8, **options).fit(views)
    two = LinkPLSA(3, **options).fit(views)
    assert three.objective_ == pytest.approx(two.objective_, rel=1e-4)


def test_unknown_views_in_n_feature_topics_are_refused(views):
    with pytest.raises(ValueError, match="n_feature_topics names the views"):
        MVPLSA(3, {"view_0": 6}).fit(views)


def test_few_labels_classify_the_rest(views):
    few = np.full(len(views), -1)
    for k in range(3):
        few[np.flatnonzero(views.labels == k)[:3]] = k
    found = TopicClassifier(MVPLSA(n_feature_topics=6, random_state=0)).fit(views, few)
    assert (found.labels_ == views.labels).mean() > 0.9
    assert not tried(found.estimator_)  # the labels say where to begin: nothing to choose from


def test_a_topic_without_labels_may_start_at_random(views):
    few = np.where(views.labels < 2, views.labels, -1)
    assert tried(MVPLSA(3, 6, random_state=0).fit(views, labels=few)) == ["naive_bayes", "random"]


def tried(model):
    return [name for name, _ in model.trace_.candidates]


def test_a_view_split_at_random_is_several_views(views):
    split = views.select("view_0").split("view_0", 4)
    model = MVPLSA(3, 6, random_state=0).fit(split)
    assert sorted(model.components_) == [f"view_0_{i}" for i in range(4)]
