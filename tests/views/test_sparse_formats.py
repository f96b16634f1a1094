"""Damaged sparse matrices of every format are refused; scipy itself would end the interpreter."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview import PLSA, Views
from tests.crafted_files import outcomes_in_a_child

ONES = np.ones((4, 4))


def damaged(format, part, value):
    """Return a matrix of ones, one part of which is replaced; a function changes it."""
    matrix = sp.coo_array(ONES).asformat(format)
    if format == "bsr":
        matrix = sp.bsr_array(ONES, blocksize=(2, 2))
    setattr(matrix, part, value(getattr(matrix, part)) if callable(value) else value)
    return matrix


def with_row(row):
    def change(rows):
        rows[1] = row
        return rows

    return change


def with_key(key, value=1.0):
    return lambda entries: {**entries, key: value}


def with_first(value):
    def change(array):
        array[0] = value
        return array

    return change


DAMAGE = {
    "lil: more values than columns": ("lil", "data", with_row([1.0] * 100_000)),
    "lil: more columns than values": ("lil", "rows", with_row([0] * 100_000)),
    "lil: a column beyond the last": ("lil", "rows", with_row([0, 1, 2, 10**8])),
    "lil: a negative column": ("lil", "rows", with_row([-(10**8), 1, 2, 3])),
    "lil: a column beyond any integer": ("lil", "rows", with_row([2**70, 1, 2, 3])),
    "lil: a column that is a fraction": ("lil", "rows", with_row([0.5, 1, 2, 3])),
    "lil: a row of nothing": ("lil", "rows", with_row(None)),
    "lil: too few rows": ("lil", "rows", lambda rows: rows[:1]),
    "lil: too few values": ("lil", "data", lambda rows: rows[:1]),
    "lil: texts": ("lil", "data", with_row(["a"] * 4)),
    "lil: lists": ("lil", "data", with_row([[1], 2, 3, 4])),
    "lil: no rows": ("lil", "rows", None),
    "dok: a row beyond the last": ("dok", "_dict", with_key((10**8, 0))),
    "dok: a negative column": ("dok", "_dict", with_key((0, -(10**8)))),
    "dok: a place beyond any integer": ("dok", "_dict", with_key((2**70, 0))),
    "dok: a place of one number": ("dok", "_dict", with_key((0,))),
    "dok: a text": ("dok", "_dict", with_key("x")),
    "dok: a fraction": ("dok", "_dict", with_key((0.5, 1))),
    "dok: a value that is a text": ("dok", "_dict", with_key((0, 1), "x")),
    "dia: equal offsets": ("dia", "offsets", lambda a: 0 * a),
    "dia: too few offsets": ("dia", "offsets", lambda a: a[:1]),
    "dia: fractions": ("dia", "offsets", lambda a: a + 0.5),
    "dia: flat": ("dia", "data", lambda a: a.ravel()),
    "dia: no offsets": ("dia", "offsets", None),
    "bsr: a column beyond the last": ("bsr", "indices", with_first(10**8)),
    "bsr: a negative column": ("bsr", "indices", with_first(-5)),
    "bsr: rows beyond the last": ("bsr", "indptr", lambda a: a * 10**6),
    "bsr: too few blocks": ("bsr", "data", lambda a: a[:1]),
    "bsr: too large blocks": ("bsr", "data", np.ones((4, 200, 200))),
    "bsr: empty blocks": ("bsr", "data", np.ones((4, 0, 0))),
    "bsr: flat": ("bsr", "data", lambda a: a.ravel()),
    "bsr: fractions": ("bsr", "indices", lambda a: a + 0.5),
    "bsr: no columns": ("bsr", "indices", None),
    "coo: no values": ("coo", "data", None),
    "csr: a list": ("csr", "data", list),
    "csr: no columns": ("csr", "indices", None),
}

CHILD = """
import warnings
from coview import Views
from tests.views.test_sparse_formats import DAMAGE, damaged
for parts in DAMAGE.values():
    try:
        print("accepted", Views(damaged(*parts)).matrices["X"].toarray().tolist(), flush=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace("\\n", " "), flush=True)
"""


@pytest.fixture(scope="module")
def outcomes():
    return outcomes_in_a_child(CHILD, [], DAMAGE)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_sparse_matrix_is_refused(damage, outcomes):
    kind = damage.split(":")[0]
    expected = f"ValueError: View 'X' is a damaged sparse matrix ({kind}):"
    assert outcomes[damage].startswith(expected), outcomes[damage]


@pytest.mark.parametrize("make", [sp.coo_array, sp.coo_matrix])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool])
def test_every_format_is_read_as_it_is(make, format, dtype):
    dense = np.random.default_rng(0).poisson(0.7, (6, 8)).astype(dtype)
    matrix = make(dense).asformat(format)
    expected = Views(dense)["X"]
    for given in (matrix, {"X": matrix}):
        found = Views(given)["X"]
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.toarray(), expected.toarray())


def test_diagonals_beyond_the_matrix_hold_nothing():
    data = np.arange(1.0, 26).reshape(5, 5)
    matrix = sp.dia_array((data, [-9, -1, 0, 2, 9]), shape=(4, 3))
    np.testing.assert_array_equal(Views(matrix)["X"].toarray(), matrix.toarray())


def test_a_model_takes_a_dok_matrix():
    model = PLSA(2, random_state=0, max_iter=3, tol=0, init="random").fit(ONES + np.eye(4))
    found = model.transform(sp.dok_matrix(ONES))
    np.testing.assert_array_equal(found, model.transform(ONES))
