"""Features of documents: against naive loops and numpy's SVD."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.ensemble.features import (
    are_placed,
    directions,
    embed,
    fuse,
    n_dimensions,
    placed,
    project,
    tfidf,
    unit_rows,
    unplaced,
    view_features,
)
from tests.ensemble.planted import same_span
from tests.reference import ensemble as naive

formats = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


@pytest.fixture
def counts(rng):
    X = rng.poisson(0.6, (25, 14)).astype(float)
    X[3] = 0
    X[:, 5] = 0
    return X


def decaying(rng, n_docs=60, n_features=25):
    """A matrix whose singular values fall by a half each time."""
    left, right = (np.linalg.qr(rng.normal(size=(n, n_features)))[0] for n in (n_docs, n_features))
    return (left * 0.5 ** np.arange(n_features)) @ right.T


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tfidf_is_that_of_the_naive_loop(counts, dtype):
    found = tfidf(sp.csr_array(counts.astype(dtype)))
    assert found.dtype == dtype
    np.testing.assert_allclose(found.toarray(), naive.tfidf(counts), rtol=1e-5)


def test_tfidf_leaves_the_counts_alone(counts):
    matrix = sp.csr_array(counts)
    tfidf(matrix)
    np.testing.assert_array_equal(matrix.toarray(), counts)


def test_measurements_have_places_and_counts_directions(counts, rng):
    measured = rng.random((25, 14))
    found = view_features(sp.csr_array(measured))
    np.testing.assert_allclose(found, naive.placed(measured))
    assert are_placed(found)
    found = view_features(sp.csr_array(counts))
    np.testing.assert_allclose(found.toarray(), naive.tfidf(counts))
    assert not are_placed(found)
    dense = counts + 1
    found = view_features(sp.csr_array(dense))
    np.testing.assert_allclose(found, np.pad(naive.tfidf(dense), [(0, 0), (0, 1)]))
    assert not are_placed(found)


def test_places_depend_neither_on_a_shift_nor_on_the_basis_nor_on_the_unit(rng):
    X, has = rng.normal(size=(30, 5)), np.arange(30) % 4 > 0
    rows = placed(X, has)
    assert not rows[~has].any()
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    for other in (X + 100, X @ turn, 3 * X, 7 * X @ turn - 1):
        np.testing.assert_allclose(placed(other, has) @ placed(other, has).T, rows @ rows.T)
    np.testing.assert_allclose(rows[has], naive.placed(X[has]))


def test_values_come_back_from_their_places(rng):
    X = rng.normal(size=(30, 5))
    has = np.ones(30, bool)
    centered = X - X.mean(axis=0)
    size = np.sqrt((centered**2).sum(axis=1).mean())
    np.testing.assert_allclose(unplaced(placed(X, has)), centered / size)
    assert not unplaced(placed(X, ~has)).any()
    np.testing.assert_array_equal(placed(np.ones((2, 3)), has[:2]), [[0, 0, 0, 1]] * 2)


def test_rows_have_length_one_or_are_zeros(rng):
    rows = np.vstack([rng.normal(size=(5, 3)), np.zeros((1, 3))])
    np.testing.assert_allclose(unit_rows(rows), [naive.unit(row) for row in rows])


@formats
def test_directions_are_leading_singular_vectors(rng, form):
    X = decaying(rng)
    found = directions(form(X), 4, rng)
    np.testing.assert_allclose(found.T @ found, np.eye(4), atol=1e-12)
    assert same_span(found, np.linalg.svd(X)[2][:4].T) < 1e-3
    # in their order, too
    assert np.abs(np.diag(np.linalg.svd(X)[2][:4] @ found)).min() > 0.999


@formats
def test_directions_of_few_rows_or_columns_are_all_there_are(rng, form):
    for shape in [(3, 20), (20, 3), (1, 4), (4, 1)]:
        X = rng.normal(size=shape)
        found = directions(form(X), 30, rng)
        assert found.shape == (shape[1], min(shape))
        assert same_span(found, np.linalg.svd(X, full_matrices=False)[2].T) < 1e-6


def test_an_embedding_keeps_the_angles_of_rows_of_low_rank(rng):
    X = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 12))
    points = embed(X, np.ones(30, bool), 3, rng)
    unit = np.array([naive.unit(row) for row in X])
    np.testing.assert_allclose(points @ points.T, unit @ unit.T, atol=1e-10)


@formats
def test_documents_that_lack_the_view_have_no_place_in_it_and_no_say(rng, form):
    X, has = decaying(rng), np.arange(60) % 3 > 0
    X[~has] = 100 * rng.normal(size=(20, 25))
    points = embed(form(X), has, 4, np.random.default_rng(0))
    assert not points[~has].any()
    np.testing.assert_allclose(np.linalg.norm(points[has], axis=1), 1)
    alone = embed(form(X[has]), np.ones(40, bool), 4, np.random.default_rng(0))
    np.testing.assert_allclose(points[has], alone, atol=1e-12)


def test_a_view_that_no_document_has_is_a_column_of_zeros(rng):
    assert not embed(np.ones((5, 3)), np.zeros(5, bool), 4, rng).any()


def test_other_documents_are_projected_to_the_same_places(rng):
    X, has = decaying(rng), np.ones(60, bool)
    points = embed(X, has, 4, np.random.default_rng(0))
    right = directions(X, 4, np.random.default_rng(0))
    np.testing.assert_allclose(project(X[50:], has[50:], right), points[50:], atol=1e-12)


def test_fused_views_have_the_weights_of_the_views(rng):
    parts = [unit_rows(rng.normal(size=(6, n))) for n in (3, 2)]
    parts[1][0] = 0  # lacks the second view, and is where its mean is
    parts[0][5] = parts[1][5] = 0  # lacks both
    fused = fuse(parts, [1.0, 0.5])
    for i in range(5):
        second = parts[1][1:5].mean(axis=0) if i == 0 else parts[1][i]
        expected = naive.unit([*parts[0][i], *(0.5 * second)])
        np.testing.assert_allclose(fused[i], expected)
    assert not fused[5].any()


def test_documents_that_lack_the_same_views_are_not_near_for_that(rng):
    dense = [unit_rows(1 + 0.1 * rng.normal(size=(40, 5))) for _ in range(2)]
    dense[1][:20] = 0  # half of the documents lack the second view
    fused = fuse(dense, [1.0, 1.0])
    similar = fused @ fused.T
    assert abs(similar[:20, :20].mean() - similar[:20, 20:].mean()) < 0.02


def test_the_number_of_dimensions_is_bounded():
    assert [n_dimensions(k) for k in (1, 15, 20, 50, 500)] == [30, 30, 40, 100, 100]
