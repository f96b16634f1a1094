"""The kernels of k-means against naive loops."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.kernels import kmeans as kernels
from tests.reference import kmeans as naive

both = pytest.mark.parametrize("dtype", [np.float32, np.float64])
SLACK = 1e-5


def sparse_rows(rng, dtype, n_rows=60, n_terms=90):
    X = sp.random_array((n_rows, n_terms), density=0.2, rng=rng, format="csr", dtype=dtype)
    return X, (X.indptr, X.indices, X.data), (X.toarray().astype(float) ** 2).sum(axis=1)


def tolerance(dtype):
    return {"rtol": 1e-4 if dtype == np.float32 else 1e-10, "atol": 1e-6}


@both
def test_lengths_are_sums_of_squares(rng, dtype):
    X = rng.normal(size=(30, 17)).astype(dtype)
    expected = (X.astype(float) ** 2).sum(axis=1)
    np.testing.assert_allclose(kernels.squared_lengths(X), expected, rtol=1e-12)


def test_rows_are_drawn_in_proportion_to_their_distances():
    closest = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    shares = np.array([0.0, 0.24, 0.26, 0.99])
    np.testing.assert_array_equal(kernels.draw_rows(closest, 4.0, shares), [1, 1, 3, 3])


def test_a_total_that_is_rounded_up_draws_the_last_row_with_a_distance():
    closest = np.array([1.0, 1.0, 0.0])
    np.testing.assert_array_equal(kernels.draw_rows(closest, 2.1, np.array([0.1, 0.99])), [0, 1])


@both
@pytest.mark.parametrize("n_features", [1, 6, 16])
def test_distances_of_dense_rows_to_trials(rng, dtype, n_features):
    X = rng.normal(size=(600, n_features)).astype(dtype)  # more than one block
    closest, trials = rng.uniform(0, 2 * n_features, 600), np.array([7, 40, 590])
    found = np.empty((3, 600))
    kernels.closer_dense(np.ascontiguousarray(X.T), trials, closest, found)
    for t, trial in enumerate(trials):
        to_trial = naive.nearest(X, X[[trial]])[1]
        np.testing.assert_allclose(found[t], np.minimum(closest, to_trial), **tolerance(dtype))
        assert found[t, trial] == 0


@both
def test_distances_of_sparse_rows_to_trials(rng, dtype):
    X, parts, lengths = sparse_rows(rng, dtype)
    closest, trials = rng.uniform(1, 8, 60), np.array([7, 40, 7])
    table, found = np.zeros((90, kernels.MAX_TRIALS), dtype), np.empty((3, 60))
    kernels.closer_sparse(*parts, lengths, SLACK, trials, closest, table, found)
    for t, trial in enumerate(trials):
        to_trial = naive.nearest(X.toarray(), X[[trial]].toarray())[1]
        np.testing.assert_allclose(found[t], np.minimum(closest, to_trial), **tolerance(dtype))
    assert (found[:, [7, 40]][[0, 1], [0, 1]] == 0).all()
    assert not table.any()


def test_the_best_trial_leaves_the_smallest_sum():
    found = np.array([[1.0, 5.0, 2.0], [4.0, 1.0, 2.0], [3.0, 3.0, 3.0]])
    assert kernels.best_trial(found) == (1, 7.0)


@both
def test_the_nearest_centers_by_scores(rng, dtype):
    X, centers = rng.normal(size=(50, 6)).astype(dtype), rng.normal(size=(7, 6)).astype(dtype)
    scores = (centers**2).sum(axis=1)[:, np.newaxis] - 2 * centers @ X.T
    labels, distances = np.full(50, -1, np.int32), np.empty(50)
    lengths = kernels.squared_lengths(X)
    assert kernels.nearest_by_scores(scores, lengths, SLACK, labels, distances) == 50
    assert kernels.nearest_by_scores(scores, lengths, SLACK, labels, distances) == 0
    expected, expected_distances = naive.nearest(X, centers)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_allclose(distances, expected_distances, **tolerance(dtype))


@both
def test_the_nearest_centers_of_sparse_rows(rng, dtype):
    X, parts, lengths = sparse_rows(rng, dtype)
    by_term = np.zeros((90, 8), dtype)
    by_term[:, :5] = 0.4 * rng.random((90, 5))
    bias = kernels.squared_columns(by_term, 5)
    assert np.isinf(bias[5:]).all()
    labels, distances = np.full(60, -1, np.int32), np.empty(60)
    n_changed = kernels.nearest_sparse(*parts, lengths, SLACK, by_term, bias, labels, distances)
    assert n_changed == 60
    expected, expected_distances = naive.nearest(X.toarray(), by_term[:, :5].T)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_allclose(distances, expected_distances, **tolerance(dtype))


@both
def test_means_of_dense_and_of_sparse_rows(rng, dtype):
    X, parts, _ = sparse_rows(rng, dtype)
    labels = rng.integers(0, 4, 60).astype(np.int32)
    labels[labels == 2] = 3  # an empty cluster
    counts, old = np.bincount(labels, minlength=4), rng.random((4, 90)).astype(dtype)
    expected = naive.means(X.toarray(), labels, old)
    dense = old.copy()
    kernels.means_dense(X.toarray(), labels, counts, dense)
    np.testing.assert_allclose(dense, expected, **tolerance(dtype))
    by_term = np.zeros((90, 8), dtype)
    by_term[:, :4] = old.T
    kernels.means_sparse(*parts, labels, counts, np.empty((90, 8)), by_term)
    np.testing.assert_allclose(by_term[:, :4].T, expected, **tolerance(dtype))
    assert not by_term[:, 4:].any()


def test_empty_clusters_get_the_farthest_rows():
    counts, labels = np.array([3, 0, 1, 0]), np.array([0, 0, 2, 0], np.int32)
    distances = np.array([1.0, 5.0, 9.0, 2.0])
    kernels.refill(counts, labels, distances)
    np.testing.assert_array_equal(labels, [0, 1, 2, 3])  # the third is alone and stays
    np.testing.assert_array_equal(counts, [1, 1, 1, 1])
    np.testing.assert_array_equal(distances, [1, 0, 9, 0])


def test_a_cluster_stays_empty_when_all_rows_sit_on_their_centers():
    counts, labels, distances = np.array([3, 0]), np.zeros(3, np.int32), np.zeros(3)
    kernels.refill(counts, labels, distances)
    np.testing.assert_array_equal(counts, [3, 0])
