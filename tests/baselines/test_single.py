"""One view, all side by side, the best view."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from coview import PLSA, Views
from coview.baselines import BASELINES, BestView, Concatenated, KMeansViews, OneView
from coview.datasets import make_views
from coview.metrics import clustering_accuracy

TERMS = {"a": 30, "b": 40, "c": 30}


@pytest.fixture(scope="module")
def noisy():
    """The view `b` is good, `c` is fair, `a` says nothing."""
    noise = {"a": 1.0, "c": 0.4}
    return make_views(120, 3, TERMS, doc_length=40, view_noise=noise, random_state=1)


@pytest.fixture(scope="module")
def gappy():
    return make_views(60, 3, TERMS, doc_length=40, missing=0.3, random_state=1)


def test_kmeans_of_raw_values_is_that_of_scikit_learn(noisy):
    seed = int(np.random.default_rng(5).integers(2**31))
    expected = KMeans(3, n_init=10, random_state=seed).fit(noisy["b"].astype(float).toarray())
    found = KMeansViews(3, view="b", features="raw", random_state=5).fit(noisy)
    assert found.inertia_ == pytest.approx(expected.inertia_)
    assert clustering_accuracy(expected.labels_, found.labels_) == 1


def test_kmeans_of_one_view_sees_that_view_alone(noisy):
    alone = KMeansViews(3, random_state=0).fit({"b": noisy["b"]})
    among = KMeansViews(3, view="b", random_state=0).fit(noisy)
    np.testing.assert_array_equal(among.labels_, alone.labels_)


def test_documents_without_the_view_get_no_cluster(gappy):
    model = KMeansViews(3, view="c", random_state=0).fit(gappy)
    absent = ~gappy.present[:, 2]
    np.testing.assert_array_equal(model.labels_ == -1, absent)
    np.testing.assert_array_equal(model.predict(gappy), model.labels_)
    model = OneView(PLSA(3, init="kmeans", random_state=0), view="c").fit(gappy)
    np.testing.assert_array_equal(model.labels_ == -1, absent)
    np.testing.assert_array_equal(model.predict(gappy) == -1, absent)


def test_an_unknown_view_is_refused_by_name(noisy):
    with pytest.raises(ValueError, match="'smell'; the views are 'a', 'b', 'c'"):
        KMeansViews(3, view="smell").fit(noisy)
    with pytest.raises(ValueError, match="'smell'; the views are 'a', 'b', 'c'"):
        OneView(PLSA(3), view="smell").fit(noisy)
    with pytest.raises(ValueError, match="needs `view` where there are several"):
        OneView(PLSA(3)).fit(noisy)


def test_one_view_and_concatenation_are_the_model_on_that_matrix(noisy):
    plain = PLSA(3, init="kmeans", random_state=0)
    one = OneView(plain, view="b").fit(noisy)
    np.testing.assert_array_equal(one.labels_, PLSA(**plain.get_params()).fit_predict(noisy["b"]))
    joined = Concatenated(plain).fit(noisy)
    expected = PLSA(**plain.get_params()).fit_predict(noisy.concat())
    np.testing.assert_array_equal(joined.labels_, expected)


def test_the_oracle_chooses_by_labels_and_says_so(noisy):
    best = BestView(KMeansViews(3, random_state=0), oracle=True).fit(noisy, noisy.labels)
    assert best.oracle_
    assert best.best_view_ == "b"
    expected = {n: clustering_accuracy(noisy.labels, y) for n, y in best.view_labels_.items()}
    assert best.view_scores_ == expected
    with pytest.raises(ValueError, match=r"fit\(views, y\)"):
        BestView(KMeansViews(3), oracle=True).fit(noisy)


def test_the_oracle_leaves_unlabeled_documents_out(noisy):
    few = np.where(np.arange(120) < 40, noisy.labels, -1)
    best = BestView(KMeansViews(3, random_state=0), oracle=True).fit(noisy, few)
    labels = best.view_labels_["c"]
    assert best.view_scores_["c"] == clustering_accuracy(few[:40], labels[:40])


@pytest.mark.parametrize("criterion", ["auto", "agreement"])
def test_agreement_finds_the_good_view_without_labels(noisy, criterion):
    best = BestView(KMeansViews(3, random_state=0), criterion=criterion).fit(noisy)
    assert not best.oracle_
    assert best.best_view_ in ("b", "c")
    assert min(best.view_scores_, key=best.view_scores_.get) == "a"


def test_silhouettes_are_those_of_the_points_of_each_view(noisy):
    from sklearn.metrics import silhouette_score

    from coview.em.starts import concatenated_tfidf

    best = BestView(KMeansViews(3, random_state=0), criterion="silhouette").fit(noisy)
    for name, labels in best.view_labels_.items():
        points = concatenated_tfidf([noisy[name].astype(float)])
        assert best.view_scores_[name] == pytest.approx(silhouette_score(points, labels))


def test_two_views_are_compared_by_silhouette(noisy):
    two = noisy.select("a", "b")
    auto = BestView(KMeansViews(3, random_state=0)).fit(two)
    silhouette = BestView(KMeansViews(3, random_state=0), criterion="silhouette").fit(two)
    assert auto.view_scores_ == silhouette.view_scores_


def test_the_registry_hands_parameters_to_where_they_belong():
    best = BASELINES["kmeans-best"](4, 7, oracle=True, n_init=3)
    assert best.oracle
    assert best.estimator.get_params()["n_init"] == 3
    assert best.estimator.n_components == 4
    assert best.estimator.random_state == 7
    assert BASELINES["coreg-centroid"](4, 7).kind == "centroid"
    assert BASELINES["nb"](4, 7, view="a").view == "a"


def test_columns_of_new_documents_side_by_side_are_matched_by_name(noisy):
    names = {view: [f"{view}{i}" for i in range(n)] for view, n in TERMS.items()}
    model = Concatenated(PLSA(3, random_state=0)).fit(Views(noisy, features=names))
    swapped = {**names, "a": [names["a"][1], names["a"][0], *names["a"][2:]]}
    with pytest.raises(ValueError, match="in another order"):
        model.predict(Views(noisy, features=swapped))
