"""k-means: against naive loops and scikit-learn, on data that are easy, large or degenerate."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from coview.ensemble import kmeans as module
from coview.ensemble.kmeans import fit_kmeans, kmeans
from tests.reference import kmeans as naive

formats = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
both = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def planted(rng, n_rows=300, n_features=12, n_clusters=5, noise=0.3, dtype=np.float64):
    """Rows around centers that are far from each other, some of their values zero."""
    labels = np.arange(n_rows) % n_clusters
    centers = np.eye(n_clusters, n_features) * 6
    X = centers[labels] + noise * rng.normal(size=(n_rows, n_features))
    return np.where(rng.random(X.shape) < 0.3, 0, X).astype(dtype), labels


def blobs(rng, n_rows=300, n_clusters=5):
    labels = np.arange(n_rows) % n_clusters
    return 10 * np.eye(n_clusters, 12)[labels] + rng.normal(size=(n_rows, 12)), labels


def inertia_of(X, found):
    return naive.nearest(X, found.centers)[1].sum()


@formats
@both
def test_rounds_are_those_of_the_naive_loop(rng, form, dtype):
    X, _ = planted(rng, dtype=dtype)
    centers = X[:4].astype(float)
    tol = 1e-4 if dtype == np.float32 else 1e-10
    last = np.inf
    for n_rounds in range(6):
        found = fit_kmeans(form(X), 4, rng, max_iter=n_rounds, centers=X[:4])
        np.testing.assert_allclose(found.centers, centers, rtol=tol, atol=tol)
        np.testing.assert_array_equal(found.labels, naive.nearest(X, centers)[0])
        centers, inertia = naive.lloyd_round(X, centers)
        assert found.inertia == pytest.approx(inertia, rel=1e-5)
        assert found.inertia <= last * (1 + 1e-6)
        last = found.inertia


@formats
@both
def test_planted_clusters_are_found(rng, form, dtype):
    X, labels = blobs(rng)
    found = kmeans(form(X.astype(dtype)), 5, rng)
    assert found.shape == (300,)
    assert adjusted_rand_score(labels, found) == 1


@formats
def test_a_sample_determines_the_centers_and_all_rows_move_them(rng, form):
    X, labels = blobs(rng, n_rows=2_000)
    found = fit_kmeans(form(X), 5, rng, sample=100)
    assert adjusted_rand_score(labels, found.labels) == 1
    np.testing.assert_allclose(found.centers, naive.means(X, found.labels, found.centers))


def test_many_rows_are_sampled_unless_told_otherwise(rng, monkeypatch):
    X, labels = blobs(rng, n_rows=1_000)
    visited = []
    assign = module._DenseRows.assign

    def counted(self, *args):
        visited.append(self.n_rows)
        return assign(self, *args)

    monkeypatch.setattr(module._DenseRows, "assign", counted)
    monkeypatch.setattr(module, "SAMPLE", 400)
    assert adjusted_rand_score(labels, kmeans(X, 5, rng)) == 1
    assert set(visited) == {400, 1_000}
    visited.clear()
    kmeans(X[:800], 5, rng)
    assert set(visited) == {800}


def test_rounds_on_many_rows_are_few(rng, monkeypatch):
    monkeypatch.setattr(module, "ROW_VISITS", 0)
    X = rng.normal(size=(2_000, 6))
    all_of_them = fit_kmeans(X, 20, np.random.default_rng(1), sample=100)
    start = fit_kmeans(X[:0:-1], 20, np.random.default_rng(1), sample=100, max_iter=0)
    assert all_of_them.inertia < start.inertia
    limit = fit_kmeans(X, 20, rng, sample=2_000, max_iter=50, centers=all_of_them.centers)
    assert limit.inertia < all_of_them.inertia  # three rounds have not converged


@formats
def test_sparse_and_dense_rows_give_one_answer(rng, form):
    X, _ = planted(rng)
    dense = fit_kmeans(X, 5, np.random.default_rng(3), centers=X[:5])
    found = fit_kmeans(form(X), 5, np.random.default_rng(3), centers=X[:5])
    np.testing.assert_array_equal(found.labels, dense.labels)
    np.testing.assert_allclose(found.centers, dense.centers, atol=1e-12)
    assert found.inertia == pytest.approx(dense.inertia)


def test_chosen_centers_of_sparse_and_dense_rows_are_the_same(rng):
    X, _ = planted(rng)
    dense, sparse = (
        fit_kmeans(form(X), 5, np.random.default_rng(3), max_iter=0)
        for form in (np.asarray, sp.csr_array)
    )
    np.testing.assert_allclose(dense.centers, sparse.centers, atol=1e-12)


@formats
@both
def test_equal_generators_give_equal_bits(rng, form, dtype):
    X, _ = planted(rng, n_rows=900, dtype=dtype)
    first, second, other = (
        fit_kmeans(form(X), 7, np.random.default_rng(s), n_init=2, sample=500) for s in (4, 4, 5)
    )
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.centers, second.centers)
    assert first.inertia == second.inertia
    assert (first.labels != other.labels).any()


@formats
def test_the_best_of_several_runs_is_kept(rng, form):
    X = form(rng.normal(size=(200, 4)))
    seeds = range(8)
    one = [fit_kmeans(X, 12, np.random.default_rng(s)).inertia for s in seeds]
    best = [fit_kmeans(X, 12, np.random.default_rng(s), n_init=6).inertia for s in seeds]
    assert all(b <= o for b, o in zip(best, one, strict=True))  # the first run is the same
    assert np.mean(best) < np.mean(one)


def test_on_average_it_is_as_good_as_scikit_learn(rng):
    X = rng.normal(size=(400, 8)) + 3 * rng.normal(size=(10, 8))[rng.integers(0, 10, 400)]
    ours = [fit_kmeans(X, 15, np.random.default_rng(s)).inertia for s in range(20)]
    theirs = [KMeans(15, n_init=1, random_state=s).fit(X).inertia_ for s in range(20)]
    assert np.mean(ours) < 1.02 * np.mean(theirs)


@formats
def test_inertia_and_labels_belong_to_the_centers(rng, form):
    X, _ = planted(rng)
    found = fit_kmeans(form(X), 6, rng, max_iter=2)
    labels, distances = naive.nearest(X, found.centers)
    np.testing.assert_array_equal(found.labels, labels)
    assert found.inertia == pytest.approx(distances.sum())


def test_rows_far_from_the_origin_are_told_apart(rng):
    X, labels = blobs(rng)
    assert adjusted_rand_score(labels, kmeans((X + 3_000).astype(np.float32), 5, rng)) == 1


@formats
@both
def test_fewer_distinct_rows_than_clusters_leave_clusters_empty(rng, form, dtype):
    few = rng.random((3, 40)).astype(dtype)
    which = rng.integers(0, 3, 50)
    found = fit_kmeans(form(few[which]), 6, rng, n_init=2)
    assert len(found.centers) == 3
    assert adjusted_rand_score(which, found.labels) == 1
    assert found.inertia == pytest.approx(0, abs=1e-4)


@formats
@both
def test_identical_rows_are_one_cluster(rng, form, dtype):
    X = np.repeat(rng.random((1, 30)).astype(dtype), 25, axis=0)
    found = fit_kmeans(form(X), 3, rng)
    assert not found.labels.any()
    assert found.inertia == pytest.approx(0, abs=1e-5)


@formats
def test_rows_of_zeros_are_a_cluster_like_others(rng, form):
    X = np.zeros((20, 6))
    assert not kmeans(form(X), 3, rng).any()
    X[:10, 2] = 1
    labels = kmeans(form(X), 3, rng)
    assert set(labels[:10]) != set(labels[10:])
    assert len(set(labels)) == 2


@formats
@pytest.mark.parametrize("n_clusters", [7, 12])
def test_as_many_clusters_as_rows_or_more(rng, form, n_clusters):
    X = rng.random((7, 5))
    found = fit_kmeans(form(X), n_clusters, rng)
    assert sorted(found.labels) == list(range(7))
    assert found.inertia == pytest.approx(0, abs=1e-9)


@formats
def test_one_cluster_is_the_mean(rng, form):
    X = rng.random((30, 5))
    found = fit_kmeans(form(X), 1, rng)
    np.testing.assert_allclose(found.centers, X.mean(axis=0)[np.newaxis])


@formats
def test_given_centers_keep_their_numbers(rng, form):
    X, labels = blobs(rng)
    start = naive.means(X, labels, np.zeros((5, 12))) + 0.5
    np.testing.assert_array_equal(kmeans(form(X), 5, rng, centers=start), labels)
    np.testing.assert_array_equal(kmeans(form(X), 5, rng, centers=start, sample=80), labels)


@formats
def test_a_given_center_far_from_all_rows_is_moved_to_one(rng, form):
    X, _ = blobs(rng)
    start = np.vstack([X[:4], np.full((1, 12), 500.0)])
    found = fit_kmeans(form(X), 5, rng, centers=start)
    assert len(set(found.labels)) == 5
    assert found.centers.max() < 20


@formats
def test_more_given_centers_than_rows_are_no_matter(rng, form):
    X = rng.random((4, 5))
    found = fit_kmeans(form(X), 6, rng, centers=rng.random((6, 5)))
    assert len(set(found.labels)) == 4
    assert found.centers.shape == (6, 5)


@pytest.mark.parametrize("dtype", [int, bool, np.float16])
def test_other_numbers_become_double_precision(rng, dtype):
    X = np.repeat(np.eye(3), 5, axis=0).astype(dtype)
    found = fit_kmeans(X, 3, rng)
    assert found.centers.dtype == np.float64
    assert len(set(found.labels)) == 3


def test_sparse_rows_with_long_indices(rng):
    X, labels = blobs(rng)
    rows = sp.csr_array(X)
    rows.indptr, rows.indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    assert adjusted_rand_score(labels, kmeans(rows, 5, rng)) == 1
