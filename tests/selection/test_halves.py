"""Agreement of halves."""

import numpy as np
import pytest
from experiments.defaults.planted import clouds
from scipy.cluster.hierarchy import cut_tree, linkage
from sklearn.metrics import adjusted_mutual_info_score

from coview.selection.features import view_features
from coview.selection.halves import agreement, cluster_path, cut, document_halves, feature_halves


def test_agreement_is_adjusted_mutual_information():
    rng = np.random.default_rng(0)
    first = rng.integers(4, size=100)
    second = np.where(rng.random(100) < 0.6, first, rng.integers(5, size=100))
    found = agreement(first, second)
    assert found.adjusted == pytest.approx(adjusted_mutual_info_score(first, second))


def test_equal_halves_of_equal_size_share_the_bits_of_the_clusters():
    labels = np.repeat(np.arange(8), 200)
    assert agreement(labels, labels).bits == pytest.approx(3, abs=0.05)


def test_one_cluster_agrees_with_nothing():
    """Not even with itself: scikit-learn's measure would be 1."""
    ones = np.zeros(10, int)
    assert agreement(ones, ones).adjusted == 0


def test_clusters_are_found_at_every_number():
    points = np.repeat(np.eye(4), 10, axis=0) + 0.01 * np.random.default_rng(0).random((40, 4))
    path = cluster_path(points, [2, 4], np.random.default_rng(0))
    assert len(np.unique(path[2])) == 2
    assert agreement(path[4], np.repeat(np.arange(4), 10)).adjusted == pytest.approx(1)


def test_a_tree_is_cut_as_scipy_cuts_it(rng):
    tree = linkage(rng.normal(size=(50, 3)), "ward")
    expected = cut_tree(tree, n_clusters=range(1, 50))
    np.testing.assert_array_equal(np.column_stack([cut(tree, k) for k in range(1, 50)]), expected)


def test_halves_agree_most_on_the_planted_number():
    features = view_features(clouds(5, 0, n_docs=300))
    by_features = feature_halves(features, [1, 1], range(2, 9), 10, np.random.default_rng(0))
    points = np.hstack([f.points for f in features])
    by_documents = document_halves(points, range(2, 9), np.random.default_rng(0))
    for found in (by_features, by_documents):
        assert max(found, key=lambda k: found[k].adjusted) == 5


def test_numbers_above_half_of_the_documents_are_left_out():
    points = np.random.default_rng(0).random((9, 3))
    assert list(document_halves(points, [2, 4, 5], np.random.default_rng(0))) == [2, 4]
