"""Every check of input: the right answer, or an error that says what, where and what to do.

A number in a comment is the row of the catalogue of bad input that the test belongs to.
"""

import re
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from coview import DataWarning, Views
from coview import memory as memory_module
from coview.memory import available_memory, check_memory
from coview.views.checks import (
    check_aligned,
    check_names,
    check_not_all_empty,
    check_present,
    check_topics,
    check_view_names,
)
from coview.views.matrix_checks import check_matrix
from coview.views.vocabulary import match_features

X = np.array([[0, 2, 0], [1, 0, 3]])
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


def raises(*words, error=ValueError):
    """The message holds all the words, in this order."""
    return pytest.raises(error, match="(?s)" + ".*".join(map(re.escape, words)))


def is_canonical(csr):
    fresh = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
    return fresh.has_canonical_format and np.all(csr.data != 0)


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, *(getattr(sp, f"{f}_array") for f in FORMATS)])
def test_nan_is_an_error_with_view_row_and_column(make):  # 1
    bad = X.astype(float)
    bad[1, 2] = np.nan
    with raises("NaN", "view 'en'", "row 1, column 2"):
        check_matrix(make(bad), "en")


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_an_error(value):  # 2
    bad = X.astype(np.float32)
    bad[0, 1] = value
    with raises("inf", "row 0, column 1"):
        check_matrix(bad)


@pytest.mark.parametrize("make", [np.asarray, *(getattr(sp, f"{f}_matrix") for f in FORMATS)])
def test_a_negative_count_is_an_error_with_the_value(make):  # 3
    with raises("Negative values in data passed to", "'fr'", "-5", "row 1, column 0", "leave it"):
        check_matrix(make([[0, 2.0], [-5, 1]]), "fr")


@pytest.mark.parametrize("make", [np.asarray, *(getattr(sp, f"{f}_matrix") for f in FORMATS)])
def test_dense_measurements_may_be_negative(make):
    values = [[-1.5, 2.0, 0.25], [0.5, 0.0, -3.0], [0.0, 0.0, 0.0]]  # the last lacks the view
    np.testing.assert_array_equal(check_matrix(make(values)).toarray(), values)
    assert check_matrix(make(values)).nnz == 5
    views = Views({"pca": make(values)})
    assert views.present[:, 0].tolist() == [True, True, False]
    assert "2 documents (1 lacks it), real numbers from -3 to 2" in repr(views)


@pytest.mark.parametrize("make", [np.asarray, *(getattr(sp, f"{f}_matrix") for f in FORMATS)])
@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([[-1.0, 2.0], [3.0, -4.0]], "here all values are whole numbers"),
        ([[-1.5, 0.0], [0.0, 0.5]], "here 50 % of the cells are not zero"),
    ],
)
def test_counts_and_sparse_weights_may_not_be_negative(make, values, why):
    with raises("Negative values in data passed to", "row 0, column 0", "MinMaxScaler", why):
        check_matrix(make(values))


def test_explicit_zeros_do_not_make_a_matrix_dense():
    indices = [0, 1, 2] * 2
    matrix = sp.csr_array(([-1.5, 0, 0, 0.5, 0, 0], indices, [0, 3, 6]), shape=(2, 3))
    with raises("33 % of the cells"):
        check_matrix(matrix)
    assert matrix.nnz == 6
    kept = sp.csr_array(([-1.5, 2, 0, 0.5, 0, 1], indices, [0, 3, 6]), shape=(2, 3))
    assert check_matrix(kept).nnz == 4
    assert kept.nnz == 6


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_measurements_must_be_finite(value):
    with raises("Input contains", "row 1, column 1"):
        check_matrix([[-1.5, 2.0], [0.5, value]])


def test_views_with_negative_values_are_selected_aligned_and_saved(tmp_path, rng):
    matrix = rng.normal(size=(4, 3))
    views = Views.align(
        {"a": matrix, "b": [[1], [2]]}, on={"a": list("wxyz"), "b": ["x", "q"]}, how="outer"
    )
    np.testing.assert_array_equal(views["a"].toarray()[:4], matrix)
    assert views.present[:, 0].tolist() == [True] * 4 + [False]
    views.save(tmp_path / "v")
    assert Views.load(tmp_path / "v").equals(views)


def test_the_message_names_document_and_feature():  # 1
    with raises("row 1, column 0", "document 'd1'", "feature 'cat'"):
        Views({"en": [[1.0], [np.nan]]}, ids=["d0", "d1"], features={"en": ["cat"]})


def test_the_first_bad_entry_is_the_one_reported(rng):
    matrix = sp.csr_array(rng.poisson(0.4, (50, 40)))
    matrix.data[[100, 400]] = -1
    row = np.searchsorted(matrix.indptr, 100, side="right") - 1
    with raises(f"row {row}, column {matrix.indices[100]},"):
        check_matrix(matrix)


def test_rows_before_the_bad_entry_may_be_empty():
    with raises("row 3, column 1"):
        check_matrix(sp.csr_array(([-1.0], [1], [0, 0, 0, 0, 1, 1]), shape=(5, 2)))


# -- shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "what"), [((0, 3), "sample"), ((3, 0), "feature")])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_zero_rows_and_zero_columns_are_errors(make, shape, what):  # 8
    with raises(f"0 {what}(s) (shape={shape}) while a minimum of 1 is required."):
        check_matrix(make(np.empty(shape)))


@pytest.mark.parametrize("bad", [np.ones(3), [1, 2, 3], []])
def test_one_dimension_is_an_error_with_advice(bad):
    with raises("Expected 2D array, got 1D array instead", "Reshape your data"):
        check_matrix(bad)


@pytest.mark.skipif(sp.coo_array(np.ones(3)).ndim == 2, reason="this scipy has only matrices")
def test_one_sparse_dimension_is_an_error():
    with raises("Expected 2D array, got 1D array instead"):
        check_matrix(sp.coo_array(np.ones(3)))


def test_three_dimensions_are_an_error_with_advice():
    with raises("dim 3", "dict"):
        check_matrix(np.ones((2, 3, 4)))


def test_rows_of_different_lengths_are_an_error():
    with raises("View 'X'", "cannot be read as a matrix"):
        check_matrix([[1, 2], [3]])


@pytest.mark.parametrize("thing", [None, object(), {1, 2}])
def test_things_that_are_no_matrix_are_named(thing):
    with raises("View 'X' must be a matrix", type(thing).__name__, error=TypeError):
        check_matrix(thing)


def test_no_view_at_all_is_an_error():
    with raises("At least one view"):
        Views({})


# -- damaged sparse matrices ----------------------------------------------------------------------


def damaged(format, **changes):
    """A sparse matrix whose arrays were exchanged after scipy had looked at them."""
    matrix = getattr(sp, f"{format}_array")(np.ones((3, 4)))
    for name, array in changes.items():
        setattr(matrix, name, array)
    return matrix


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("index", [12, 10**8, -7, -1])
def test_an_index_out_of_range_is_an_error(format, index):  # 24
    matrix = damaged(format)
    matrix.indices[5] = index
    with raises("View 'en' is a damaged sparse matrix", " must be "):
        check_matrix(matrix, "en")


@pytest.mark.parametrize("index", [3, 10**8, -1])
def test_a_coordinate_out_of_range_is_an_error(index):  # 24
    matrix = damaged("coo")
    matrix.row[5] = index
    with raises("damaged sparse matrix (coo)"):
        check_matrix(matrix)


def test_a_block_index_out_of_range_is_an_error():  # 24
    matrix = sp.bsr_array(np.ones((4, 4)), blocksize=(2, 2))
    matrix.indices[0] = 9
    with raises("damaged sparse matrix (bsr)"):
        check_matrix(matrix)


@pytest.mark.parametrize(
    "indptr",
    [
        [0, 8, 4, 12],
        [0, -4, 8, 12],
        [0, 4, 4, 0],  # ends in 0, where scipy does not look
        [0, 2_000_000_000, -2_000_000_000, 12],  # the differences wrap around to positive ones
    ],
)
def test_a_pointer_that_falls_is_an_error(indptr):  # 25
    with raises("damaged", "non-decreasing"):
        check_matrix(damaged("csr", indptr=np.array(indptr, dtype=np.int32)))


@pytest.mark.parametrize(
    "changes",
    [
        {"indptr": np.array([0, 4, 8, 13])},
        {"indptr": np.array([1, 4, 8, 12])},
        {"indptr": np.array([0, 4, 12])},
        {"indices": np.zeros(5, dtype=int)},
        {"indices": np.full(12, 1.5)},
        {"data": np.ones(11)},
    ],
    ids=["past the end", "start", "too short", "indices lack", "not integers", "data lack"],
)
def test_arrays_that_do_not_fit_together_are_an_error(changes):  # 25
    with raises("damaged sparse matrix (csr)"):
        check_matrix(damaged("csr", **changes))


# -- kinds of matrices ----------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_sparse_format_gives_the_same(format, kind):  # 31
    csr = check_matrix(getattr(sp, f"{format}_{kind}")(X))
    assert isinstance(csr, sp.csr_array)
    assert is_canonical(csr)
    np.testing.assert_array_equal(csr.toarray(), X)


@pytest.mark.parametrize(
    "make",
    [
        np.asfortranarray,
        np.ndarray.tolist,
        lambda x: [tuple(row) for row in x],
        lambda x: np.hstack([x, x])[:, :3],
        lambda x: x[::-1][::-1],
        lambda x: x.astype(">i4"),
        lambda x: x.astype(np.longdouble),
    ],
    ids=["fortran", "lists", "tuples", "strided", "reversed", "byte order", "longdouble"],
)
def test_every_dense_form_gives_the_same(make):  # 31
    csr = check_matrix(make(X))
    assert csr.dtype.isnative
    np.testing.assert_array_equal(csr.toarray(), X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_matrices(frame):  # 31
    views = Views({"en": frame({"a": [0, 1], "b": [2, 0]})})
    np.testing.assert_array_equal(views["en"].toarray(), [[0, 2], [1, 0]])


def test_np_matrix_is_refused_with_advice():  # 31
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(X)
    with raises("np.matrix", "np.asarray", error=TypeError):
        check_matrix(matrix)


def test_a_masked_array_is_refused_because_its_mask_would_be_lost():
    with raises("masked array", "filled", error=TypeError):
        check_matrix(np.ma.masked_equal(X, 2))


def test_a_read_only_memory_map_is_taken_without_copy(tmp_path):  # 30
    csr = sp.csr_array(X.astype(np.float32))
    mapped = []
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / name, getattr(csr, name))
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    checked = check_matrix(sp.csr_array(tuple(mapped), shape=csr.shape))
    assert np.shares_memory(checked.data, mapped[0])
    assert np.shares_memory(checked.indices, mapped[1])


def test_a_read_only_dense_memory_map_is_taken(tmp_path):  # 30
    np.save(tmp_path / "x.npy", X)
    checked = check_matrix(np.load(tmp_path / "x.npy", mmap_mode="r"))
    np.testing.assert_array_equal(checked.toarray(), X)


# -- element types --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (bool, np.float32),
        (np.int8, np.float32),
        (np.uint8, np.float32),
        (np.uint16, np.float32),
        (np.int32, np.float32),
        (np.int64, np.float32),
        (np.uint64, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.longdouble, np.float64),
        (object, np.float64),
    ],
)
def test_float32_if_it_is_exact_else_float64(given, kept):
    csr = check_matrix(X.astype(given))
    assert csr.dtype == kept
    np.testing.assert_array_equal(csr.toarray(), X.astype(given).astype(float))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32])
@pytest.mark.parametrize(("value", "kept"), [(2**24 - 1, np.float32), (2**24, np.float64)])
def test_integers_are_kept_in_float32_only_if_it_holds_them(dtype, value, kept):
    csr = check_matrix(np.array([[1, 0], [0, value]], dtype=dtype))
    assert csr.dtype == kept
    assert csr[1, 1] == value


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
@pytest.mark.parametrize("value", [2**53 + 1, 2**60])
def test_integers_that_a_float_cannot_keep_are_an_error(dtype, value):  # 19
    with raises("integer 9," if value < 2**54 else "integer 1,", "row 0, column 1", "exactly"):
        check_matrix(np.array([[1, value]], dtype=dtype))


def test_the_largest_exact_integer_is_kept():  # 19
    csr = check_matrix(np.array([[2**53 - 1]]))
    assert int(csr.data[0]) == 2**53 - 1


def test_large_floats_are_not_taken_for_integers():  # 19
    assert check_matrix([[1e300]]).data[0] == 1e300


def test_large_integers_in_a_frame_with_a_float_column_are_an_error():  # 19
    frame = pd.DataFrame({"a": [2**53 + 1], "b": [0.5]})
    with raises("Column 'a' of view 'en'", "2**53"):
        Views({"en": frame})


def test_half_precision_gives_a_warning():  # 26
    with pytest.warns(DataWarning, match="float16"):
        csr = check_matrix(X.astype(np.float16))
    assert csr.dtype == np.float32


def test_half_precision_that_overflowed_is_an_error():  # 26
    with np.errstate(over="ignore"):
        bad = np.array([[65_520.0]]).astype(np.float16)
    with pytest.warns(DataWarning, match="65,504"), raises("inf"):
        check_matrix(bad)


def test_objects_that_are_numbers_are_cast():  # 27
    csr = check_matrix(np.array([[0, 1.5], [np.float32(2), True]], dtype=object))
    np.testing.assert_array_equal(csr.toarray(), [[0, 1.5], [2, 1]])


@pytest.mark.parametrize("text", ["cat", "3", b"3"])
def test_objects_that_are_texts_are_an_error(text):  # 27
    with raises("text", "view 'en'", "row 1, column 0", "CountVectorizer"):
        check_matrix(np.array([[0, 1], [text, 2]], dtype=object), "en")


@pytest.mark.parametrize("texts", [["a cat", "a dog"], [["a", "b"]]])
def test_texts_are_an_error_with_advice(texts):  # 27
    with raises("holds text", "CountVectorizer"):
        check_matrix(texts)


def test_other_objects_are_a_type_error_in_the_usual_words():  # 27
    bad = X.astype(object)
    bad[0, 0] = {"foo": "bar"}
    with pytest.raises(TypeError, match=r"argument must be .* string.* number.*row 0, column 0"):
        check_matrix(bad)


def test_bools_are_zeros_and_ones():  # 28
    np.testing.assert_array_equal(check_matrix(X > 0).toarray(), X > 0)


def test_bools_given_twice_are_still_one():  # 28
    twice = sp.coo_array(([True, True], ([0, 0], [1, 1])), shape=(1, 2))
    np.testing.assert_array_equal(check_matrix(twice).toarray(), [[0, 1]])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_complex_numbers_are_an_error(make):  # 29
    with raises("Complex data not supported"):
        check_matrix(make(X + 1j))


def test_dates_are_an_error():
    with raises("must hold numbers", "datetime64"):
        check_matrix(np.array([["2020-01-01"]], dtype="datetime64[D]"))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, np.nan]}),
        pd.DataFrame({"a": [1, None]}, dtype="Int64"),
        pd.DataFrame({"a": [1, None]}, dtype="Float64"),
        pd.DataFrame({"a": [True, None]}, dtype="boolean"),
        pd.DataFrame({"a": [1, None]}, dtype=object),
        pl.DataFrame({"a": [1, None]}),
        pl.DataFrame({"a": [1.0, float("nan")]}),
    ],
    ids=["nan", "Int64", "Float64", "boolean", "object", "polars null", "polars nan"],
)
@pytest.mark.parametrize("narwhals", [True, False])
def test_missing_values_in_a_frame_are_an_error(frame, narwhals, monkeypatch):  # 33
    if not narwhals:
        monkeypatch.setitem(__import__("sys").modules, "narwhals.stable.v1", None)
    with raises("NaN", "view 'en'", "row 1, column 0"):
        Views({"en": frame})


def test_nullable_integers_without_gaps_are_fine():  # 33
    views = Views({"en": pd.DataFrame({"a": [1, 2]}, dtype="Int64")})
    np.testing.assert_array_equal(views["en"].toarray(), [[1], [2]])


# -- canonical form -------------------------------------------------------------------------------


def copies(matrix):
    return [getattr(matrix, name).copy() for name in ("data", "indices", "indptr")]


def assert_untouched(matrix, before):
    for now, then in zip(copies(matrix), before, strict=True):
        np.testing.assert_array_equal(now, then)
    matrix.data[0] = matrix.data[0]  # and still the caller's to write to


def short(*arrays):
    """Index arrays as scipy would make them, so that nothing is copied on the way."""
    return tuple(np.array(array, dtype=np.int32) for array in arrays)


@pytest.mark.parametrize("dtype", [float, np.float32, bool, np.uint8])
def test_duplicates_are_summed_and_the_callers_matrix_is_left_alone(dtype):  # 22
    given = sp.csr_array((np.ones(3, dtype), *short([1, 0, 1], [0, 3])), shape=(1, 2))
    before = copies(given)
    csr = check_matrix(given)
    np.testing.assert_array_equal(csr.toarray(), [[1, 1 if dtype is bool else 2]])
    assert is_canonical(csr)
    assert_untouched(given, before)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr"])
def test_sums_of_duplicates_do_not_overflow_small_integers(format):  # 20
    data = np.array([200, 100], dtype=np.uint8)
    if format == "coo":
        twice = sp.coo_array((data, ([0, 0], [0, 0])), shape=(1, 1))
    else:
        data = data.reshape(2, 1, 1) if format == "bsr" else data
        twice = getattr(sp, f"{format}_array")((data, [0, 0], [0, 2]), shape=(1, 1))
    assert check_matrix(twice).toarray() == 300


def test_duplicates_are_summed_in_float64():  # 20
    data = np.array([2.0**24, 1, 1], dtype=np.float32)
    csr = check_matrix(sp.csr_array((data, [0, 0, 0], [0, 3]), shape=(1, 1)))
    assert csr.dtype == np.float32
    assert csr.data[0] == 2**24 + 2


def test_a_sum_of_small_integers_beyond_float32_is_an_error():  # 20
    data = np.full(600, 60_000, dtype=np.uint16)
    with raises("36,000,000", "exactly"):
        check_matrix(sp.coo_array((data, (np.zeros(600, int),) * 2), shape=(1, 1)))


def test_a_sum_of_duplicates_that_overflows_is_an_error():  # 2
    data = np.full(2, 3e38, dtype=np.float32)
    with raises("inf", "row 0, column 0"):
        check_matrix(sp.csr_array((data, [0, 0], [0, 2]), shape=(1, 1)))


def test_explicit_zeros_disappear_and_the_callers_stay():  # 23
    given = sp.csr_array((np.array([0.0, 1, -0.0]), *short([0, 1, 0], [0, 2, 3])), shape=(2, 2))
    before = copies(given)
    csr = check_matrix(given)
    assert csr.nnz == 1
    np.testing.assert_array_equal(csr.toarray(), [[0, 1], [0, 0]])
    assert_untouched(given, before)


def test_a_stale_flag_of_the_caller_is_not_believed():  # 22
    given = sp.csr_array(([1.0, 2.0], [1, 0], [0, 2]), shape=(1, 2))
    given.has_sorted_indices = given.has_canonical_format = True
    assert is_canonical(check_matrix(given))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_a_canonical_float_csr_is_not_copied(kind, dtype):
    given = kind(X.astype(dtype))
    csr = check_matrix(given)
    assert np.shares_memory(csr.data, given.data)
    assert np.shares_memory(csr.indices, given.indices)
    assert given.data.flags.writeable
    assert not csr.data.flags.writeable
    assert not csr.indices.flags.writeable
    assert not csr.indptr.flags.writeable


def test_long_indices_that_fit_become_short_and_the_data_are_shared():  # 21
    given = sp.csr_array(X.astype(float))
    given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    csr = check_matrix(given)
    assert csr.indices.dtype == csr.indptr.dtype == np.int32
    assert np.shares_memory(csr.data, given.data)
    assert given.indices.dtype == np.int64


def test_long_indices_that_are_needed_are_kept():  # 21
    width = 2**31 + 10
    indices, indptr = np.array([3, 2**31 + 3]), np.array([0, 1, 2])
    given = sp.csr_array((np.ones(2), indices, indptr), shape=(2, width))
    csr = check_matrix(given)
    assert csr.shape == (2, width)
    assert csr.indices.dtype == np.int64
    assert Views(given)[[1]]["X"].indices[0] == 2**31 + 3


def test_unused_room_in_the_arrays_is_ignored():
    given = sp.csr_array(X.astype(float))
    given.data, given.indices = np.append(given.data, -9), np.append(given.indices, 2)
    np.testing.assert_array_equal(check_matrix(given).toarray(), X)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 255)), max_size=30),
    st.sampled_from(["coo", "csr", "csc"]),
    st.sampled_from([np.uint8, np.int64, np.float32]),
)
def test_any_entries_give_the_canonical_sum(entries, format, dtype):  # 22, 23
    rows, columns, values = np.array(entries, dtype=int).reshape(-1, 3).T
    expected = np.zeros((4, 5))
    np.add.at(expected, (rows, columns), values)
    coo = sp.coo_array((values.astype(dtype), (rows, columns)), shape=(4, 5))
    if format != "coo":  # by hand: scipy would sum the duplicates on the way
        major, minor = (rows, columns) if format == "csr" else (columns, rows)
        order = np.argsort(major, kind="stable")
        size = 4 if format == "csr" else 5
        indptr = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=size))])
        parts = values[order].astype(dtype), minor[order], indptr
        coo = getattr(sp, f"{format}_array")(parts, shape=(4, 5))
    csr = check_matrix(coo)
    np.testing.assert_array_equal(csr.toarray(), expected)
    assert is_canonical(csr)


# -- documents ------------------------------------------------------------------------------------


def test_different_numbers_of_documents_list_every_count():  # 13
    with raises(
        "View 'en' has 1,200 documents but view 'fr' has 1,198",
        "Views.align",
        "en 1,200, fr 1,198, it 3",
    ):
        check_aligned({"en": 1200, "fr": 1198, "it": 3})
    with raises("View 'a' has 2 documents but view 'b' has 3"):
        Views({"a": np.ones((2, 1)), "b": np.ones((3, 1))})


def test_ids_that_differ_between_views_show_up_to_five():  # 14
    first, second = [f"d{i}" for i in range(9)], [f"e{i}" for i in range(9)]
    with raises("Views 'a' and 'b' have different ids in 9 rows", "row 4", "Views.align") as error:
        Views({"a": np.ones((9, 1)), "b": np.ones((9, 1))}, ids={"a": first, "b": second})
    assert "row 5" not in str(error.value)


def test_indexes_of_frames_that_differ_are_an_error():  # 14
    a = pd.DataFrame({"x": [1, 2]}, index=["d1", "d2"])
    with raises("different ids", "row 0: 'd1' and 'd2'"):
        Views({"a": a, "b": a[::-1]})


def test_repeated_ids_are_an_error_with_their_rows():  # 15
    with raises("ids must be unique", "'a' (rows 0, 2)", "1 name repeated"):
        Views(np.ones((3, 1)), ids=["a", "b", "a"])


def test_a_wrong_number_of_ids_is_an_error():
    with raises("Expected 3 names for ids, found 2"):
        Views(np.ones((3, 1)), ids=["a", "b"])


def test_a_document_may_lack_a_view():  # 16
    views = Views({"a": [[1], [1]], "b": [[0], [1]]})
    np.testing.assert_array_equal(views.present, [[True, False], [True, True]])


def test_a_view_may_be_there_and_empty():  # 16
    views = Views({"a": [[1], [1]], "b": [[0], [1]]}, present=np.ones((2, 2), bool))
    assert views.present.all()


def test_a_document_may_lack_every_view():  # 17
    views = Views({"a": [[1], [0]], "b": [[1], [0]]})
    assert not views.present[1].any()
    assert len(views) == 2


def test_an_absent_document_with_counts_is_an_error():  # 16
    with raises("lacks view 'b'", "row 1", "document 'y'"):
        Views({"a": [[1], [1]], "b": [[0], [1]]}, ids=["x", "y"], present={"b": [False, False]})


@pytest.mark.parametrize(
    ("present", "words"),
    [
        (np.ones((3, 1), bool), "shape (2, 2)"),
        (np.full((2, 2), 0.5), "True and False"),
        (np.full((2, 2), 2), "True and False"),
        ({"c": [True, True]}, "'c'"),
        ({"a": [True]}, "`present` of view 'a'"),
    ],
)
def test_a_mask_that_does_not_fit_is_an_error(present, words):  # 16
    matrices = Views({"a": [[1], [1]], "b": [[0], [1]]}).matrices
    with raises(words):
        check_present(present, matrices)


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["é", "e\u0301", "\u202eabc", "👩‍👩‍👧", "nul\0", "a\nb", "", " a ", "x" * 1_000_000]
)
def test_names_are_kept_to_the_letter(name):  # 81, 82
    (kept,) = check_names([name], "features")
    assert kept == name
    assert type(kept) is str


def test_composed_and_decomposed_letters_are_two_names():  # 81
    assert len(check_names(["é", "e\u0301"], "features")) == 2


def test_a_lone_surrogate_is_an_error():  # 81
    with raises("features of view 'X'", "position 1", "lone surrogate") as error:
        Views([[1, 2]], features=["a", "b\ud800"])
    str(error.value).encode()  # the message itself can be printed


@pytest.mark.parametrize("name", [None, 1.5, b"a", True])
def test_names_must_be_texts(name):
    with raises("ids must be a text", type(name).__name__, error=TypeError):
        check_names([name], "ids")


def test_integers_are_names_too():
    assert check_names(np.array([3, 1]), "ids").tolist() == ["3", "1"]


def test_one_text_is_not_a_sequence_of_names():
    with raises("one text 'abc'", error=TypeError):
        check_names("abc", "ids")


@pytest.mark.parametrize("names", [[""], [3], [None]])
def test_view_names_must_be_texts_with_something_in_them(names):
    with raises("non-empty text", error=TypeError):
        check_view_names(names)


def test_control_characters_are_escaped_in_messages():  # 85, 86
    with raises("evil") as error:
        check_matrix([[np.nan]], "evil\x1b[31m\n\u202e")
    assert "evil\\x1b[31m\\n\\u202e" in str(error.value)
    assert not re.search(r"[\x1b\n\u202e]", str(error.value))


# -- before a fit ---------------------------------------------------------------------------------


def test_data_without_a_single_count_is_an_error():  # 6
    with raises("All documents are empty", "'a', 'b'"):
        check_not_all_empty(Views({"a": np.zeros((2, 2)), "b": np.zeros((2, 3))}).matrices)


def test_a_view_without_a_single_count_is_a_warning():  # 6
    with pytest.warns(DataWarning, match="'b'"):
        check_not_all_empty(Views({"a": np.ones((2, 2)), "b": np.zeros((2, 3))}).matrices)


@pytest.mark.parametrize(("n_docs", "words"), [(5, "6 topics for 5 documents"), (9, "b has 5")])
def test_more_topics_than_documents_or_terms_is_a_warning(n_docs, words):  # 9
    with pytest.warns(DataWarning, match=words):
        check_topics(6, n_docs, {"a": 20, "b": 5 if n_docs == 9 else 6})


def test_as_many_topics_as_documents_and_terms_is_fine():  # 9
    check_topics(5, 5, {"a": 5})


def test_an_estimate_above_the_limit_is_refused_before_it_is_allocated():  # 11
    with raises("5,000 topics", "8,000.0 GB", "16.0 GB", error=MemoryError):
        check_memory(8e12, "5,000 topics", limit=16e9)
    check_memory(16e9, "topics", limit=16e9)


def test_without_a_limit_the_machine_decides():  # 11
    left = available_memory()
    assert left is None or left > 0
    check_memory(1, "nothing")
    with raises("available", error=MemoryError):
        check_memory(1e18, "everything")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 8 GB left, in a control group that is written by the test."""
    (tmp_path / "meminfo").write_text("MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n")
    (tmp_path / "self").write_text("0::/job\n")
    (tmp_path / "job").mkdir()
    monkeypatch.setattr(memory_module, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory_module, "_OWN_CGROUP", tmp_path / "self")
    monkeypatch.setattr(memory_module, "_CGROUP", tmp_path)
    return tmp_path


def test_the_memory_of_the_machine_is_read(machine):  # 11
    assert available_memory() == 8_000_000 * 1024


def test_without_proc_psutil_is_asked(machine, monkeypatch):
    """As on macOS and Windows; where it is not installed, the size of the memory is known."""
    monkeypatch.setattr(memory_module, "_MEMINFO", machine / "none")
    asked = SimpleNamespace(virtual_memory=lambda: SimpleNamespace(available=5000))
    monkeypatch.setitem(sys.modules, "psutil", asked)
    assert available_memory() == 5000
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert available_memory() > 5000


def test_a_container_may_leave_less(machine):  # 11
    (machine / "job" / "memory.max").write_text("1000\n")
    (machine / "job" / "memory.current").write_text("900\n")
    (machine / "job" / "memory.stat").write_text("anon 500\ninactive_file 300\n")
    assert available_memory() == 400


def test_a_container_without_a_limit_changes_nothing(machine):  # 11
    (machine / "job" / "memory.max").write_text("max\n")
    assert available_memory() == 8_000_000 * 1024


def write_group(folder, limit, used, cached, version=2):
    names = ("memory.max", "memory.current", "inactive_file")
    if version == 1:
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"cache 5\n{names[2]} {cached}\n")


@pytest.mark.parametrize("folder", ["memory/docker/ab12", "memory/docker", "memory"])
def test_control_groups_of_version_1_are_read_too(machine, folder):  # 11
    (machine / "self").write_text("9:cpu,cpuacct:/docker/ab12\n4:memory:/docker/ab12\n0::/\n")
    write_group(machine / folder, 1000, 900, 300, version=1)
    assert available_memory() == 400


def test_a_group_of_version_1_without_a_limit_changes_nothing(machine):  # 11
    (machine / "self").write_text("4:memory:/\n")
    write_group(machine / "memory", 9223372036854771712, 900, 300, version=1)
    assert available_memory() == 8_000_000 * 1024


def test_the_tightest_of_nested_groups_counts(machine):  # 11
    (machine / "self").write_text("0::/outer/inner\n")
    write_group(machine / "outer" / "inner", "max", 10, 0)
    write_group(machine / "outer", 2000, 500, 100)
    assert available_memory() == 1600
    write_group(machine / "outer" / "inner", 700, 800, 50)
    assert available_memory() == 0


def test_without_proc_the_size_of_the_machine_is_used(machine):  # 11
    (machine / "meminfo").unlink()
    assert available_memory() is None or available_memory() > 0


# -- new documents --------------------------------------------------------------------------------


def names(*texts):
    return check_names(texts, "features")


NEW = check_matrix([[1.0, 2.0, 0.0], [0.0, 4.0, 3.0]])


def test_the_same_vocabulary_changes_nothing():  # 34
    assert match_features(NEW, names("a", "b", "c"), names("a", "b", "c"), "en") is NEW


def test_another_order_of_names_is_an_error_with_the_first_differences():  # 34
    with raises("should match", "'en'", "column 0: 'b', at fit 'a'; column 1: 'a', at fit 'b'"):
        match_features(NEW, names("b", "a", "c"), names("a", "b", "c"), "en")


def test_unknown_words_are_dropped_with_their_share_and_missing_ones_are_zero():  # 35
    with pytest.warns(DataWarning, match=r"1 of 3 features \('c'\).*30.0% of the mass.*1 fitted"):
        matched = match_features(NEW, names("b", "a", "c"), names("a", "x", "b"), "en")
    np.testing.assert_array_equal(matched.toarray(), [[2, 0, 1], [4, 0, 0]])
    assert is_canonical(matched)


def test_mostly_unknown_words_are_an_error():  # 35
    with raises("60.0% of the mass", "at most 50%"):
        match_features(NEW, names("a", "b", "c"), names("a", "c", "d"), "en")


def test_the_limit_on_unknown_words_can_be_set():  # 35
    with pytest.warns(DataWarning, match="60"):
        match_features(NEW, names("a", "b", "c"), names("a", "c", "d"), "en", limit=0.7)


def test_half_of_the_mass_unknown_is_still_accepted():  # 35
    even = check_matrix([[1.0, 1.0]])
    with pytest.warns(DataWarning, match="50.0%"):
        match_features(even, names("a", "b"), names("a", "c"), "en")


def test_words_that_are_merely_missing_give_a_warning():  # 35
    with pytest.warns(DataWarning, match="0 of 3 .* 0.0% .* 1 fitted feature"):
        matched = match_features(NEW, names("a", "b", "c"), names("c", "b", "a", "d"), "en")
    np.testing.assert_array_equal(matched.toarray(), [[0, 2, 1, 0], [3, 4, 0, 0]])


def test_empty_documents_have_no_mass_to_lose():  # 35
    empty = check_matrix(np.zeros((2, 2)))
    with pytest.warns(DataWarning, match="0.0%"):
        assert match_features(empty, names("a", "b"), names("a"), "en").shape == (2, 1)


def test_without_names_only_the_width_must_match():  # 34
    assert match_features(NEW, None, names("a", "b", "c"), "en") is NEW
    assert match_features(NEW, names("a", "b", "c"), None, "en", width=3) is NEW
    with raises("'en'", "X has 3 features, but PLSA is expecting 2 features as input"):
        match_features(NEW, None, None, "en", width=2, owner="PLSA")


def test_good_data_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Views({"a": X, "b": sp.csr_array(X)}, ids=["a", "b"], labels=[0, 1])


@pytest.mark.skipif(np.finfo(np.longdouble).tiny == np.finfo(float).tiny, reason="no long double")
def test_long_doubles_that_would_become_zero_are_refused():
    tiny = np.array([[1, np.longdouble(10) ** -400]], dtype=np.longdouble)
    with raises("View 'en' holds", "0 as a number of 64 bits"):
        check_matrix(tiny, "en")
