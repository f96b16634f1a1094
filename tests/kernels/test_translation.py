"""What query terms say about documents, against a naive loop, zeros among the numbers."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.kernels import translation


@pytest.fixture(params=["compiled", "bounds checked"])
def add_called(request):
    """The kernel, and the same as plain Python, where a write beyond an array is an error."""
    kernel = translation.add_called
    return kernel if request.param == "compiled" else getattr(kernel, "py_func", kernel)


def naive(terms, weights, shares, table, documents):
    score = np.zeros(documents.shape[0])
    for d in range(documents.shape[0]):
        for w, q, p in zip(terms, weights, shares, strict=True):
            score[d] += q * np.log1p(sum(table[:, w] * documents[d]) / p)
    return score


def parts(matrix):
    """The columns of a matrix with all its entries, zeros too, as (starts, rows, values)."""
    rows, columns = matrix.shape
    starts = np.arange(columns + 1) * rows
    return starts, np.tile(np.arange(rows), columns), matrix.T.ravel().copy()


def test_scores_equal_the_naive_loop_where_calls_and_shares_are_zero(add_called):
    rng = np.random.default_rng(0)
    table = rng.random((7, 5)) * (rng.random((7, 5)) < 0.5)
    documents = rng.random((4, 7)) * (rng.random((4, 7)) < 0.5)
    documents[1], table[:, 2] = 0, 0
    terms, weights, shares = np.array([0, 2, 4]), rng.random(3), rng.random(3) + 0.1
    score = np.zeros(4)
    add_called(terms, weights, shares, parts(table), parts(documents), score)
    np.testing.assert_allclose(score, naive(terms, weights, shares, table, documents))


def test_more_zeros_than_documents_do_no_harm(add_called):
    zeros = np.zeros((300, 3))
    score = np.zeros(2)
    terms, ones = np.arange(3), np.ones(3)
    add_called(terms, ones, ones, parts(zeros), parts(np.ones((2, 300))), score)
    assert (score == 0).all()


def test_the_columns_of_a_sparse_matrix_give_the_same_as_all_entries(add_called):
    rng = np.random.default_rng(1)
    table, documents = sp.random_array((6, 4), density=0.4, rng=rng), rng.random((3, 6))
    terms, weights, shares = np.arange(4), np.ones(4), np.full(4, 0.25)
    sparse, dense = np.zeros(3), np.zeros(3)
    columns = sp.csc_array(table)
    add_called(
        *(terms, weights, shares, (columns.indptr, columns.indices, columns.data)),
        *(parts(documents), sparse),
    )
    add_called(terms, weights, shares, parts(table.toarray()), parts(documents), dense)
    np.testing.assert_allclose(sparse, dense)
