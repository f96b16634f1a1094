"""The kernels of the search of neighbors against naive loops."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.kernels.nearest import largest_of_rows, sparse_products
from tests.reference import ensemble as naive

both = pytest.mark.parametrize("dtype", [np.float32, np.float64])
SAME = 1e-6


def largest(scores, number, own=None):
    found = np.empty((len(scores), number), np.int32)
    own = np.full(len(scores), -1) if own is None else own
    largest_of_rows(scores, own, SAME, found)
    return found


@both
@pytest.mark.parametrize("number", [1, 3, 20])
def test_largest_scores_are_those_of_the_naive_loop(rng, dtype, number):
    scores = rng.normal(size=(12, 20)).astype(dtype)
    expected = [naive.largest(row.tolist(), number, SAME) for row in scores]
    np.testing.assert_array_equal(largest(scores, number), expected)


@both
def test_of_equal_scores_the_first_are_taken(rng, dtype):
    scores = rng.integers(-2, 3, (30, 40)) * 0.1  # many ties
    scores = (scores + rng.uniform(-2e-8, 2e-8, scores.shape)).astype(dtype)  # up to rounding
    expected = [naive.largest(row.tolist(), 7, SAME) for row in scores]
    np.testing.assert_array_equal(largest(scores, 7), expected)
    assert largest(np.zeros((2, 5), dtype), 3).tolist() == [[0, 1, 2]] * 2


def test_a_place_that_does_not_count_is_left_out(rng):
    scores = rng.random((6, 6))
    found = largest(scores, 5, np.arange(6))
    for i, row in enumerate(found.tolist()):
        assert sorted(row) == [j for j in range(6) if j != i]
        assert scores[i, row].tolist() == sorted(scores[i, row], reverse=True)


@both
def test_products_are_those_of_dense_rows(rng, dtype):
    rows, points = (
        sp.random_array((n, 15), density=0.3, rng=rng, format="csr", dtype=dtype) for n in (8, 11)
    )
    columns, out = points.tocsc(), np.zeros((8, 11), dtype)
    arrays = columns.indptr, columns.indices, columns.data
    sparse_products(rows.indptr, rows.indices, rows.data, *arrays, out)
    np.testing.assert_allclose(out, rows.toarray() @ points.toarray().T, rtol=1e-5, atol=1e-7)
