"""Known faults of data: rows 1 to 35 of the catalogue."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from coview import PLSA, DataWarning, LinkPLSA, Views
from coview.datasets import make_views

QUICK = {"init": "random", "max_iter": 5, "tol": 0.0, "random_state": 0, "dtype": "float64"}
COUNTS = np.array([[3, 0, 1, 0], [0, 2, 0, 4], [1, 1, 0, 0], [0, 0, 5, 1], [2, 0, 0, 3]])


def fitted(X=COUNTS, n_topics=2, **options):
    return PLSA(n_topics, **{**QUICK, **options}).fit(X)


def with_value(value):
    X = COUNTS.astype(float)
    X[1, 3] = value
    return {"words": X}


def is_read_as(X, expected=COUNTS):
    np.testing.assert_array_equal(Views(X)["X"].toarray(), expected)


def test_row_1_a_count_that_is_nan():
    with pytest.raises(ValueError, match=r"NaN in view 'words' at row 1, column 3"):
        Views(with_value(np.nan))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_row_2_an_infinite_count(value):
    with pytest.raises(ValueError, match=r"inf in view 'words' at row 1, column 3"):
        Views(with_value(value))


def test_row_3_a_negative_count():
    with pytest.raises(ValueError, match=r"'words': -2 at row 1, column 3"):
        Views(with_value(-2))


def test_row_4_an_empty_document():
    model = fitted(np.vstack([COUNTS, np.zeros(4)]))
    assert model.empty_rows_.tolist() == [5]
    np.testing.assert_allclose(model.doc_topic_[5], 0.5)
    np.testing.assert_allclose(model.components_["X"].sum(axis=1), 1)


def test_row_5_an_empty_column():
    model = fitted(np.column_stack([COUNTS, np.zeros(5)]))
    assert (model.components_["X"][:, 4] == 0).all()
    assert model.unseen_terms_["X"].tolist() == [4]


def test_row_6_all_documents_empty():
    with pytest.raises(ValueError, match="All documents are empty"):
        fitted(np.zeros((5, 4)))


def test_row_7_one_document():
    assert fitted(COUNTS[:1], 1).doc_topic_.tolist() == [[1.0]]


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
def test_row_8_no_rows_or_no_columns(shape):
    with pytest.raises(ValueError, match=r"'words': Found array with 0 (sample|feature)\(s\)"):
        Views({"words": np.zeros(shape)})


def test_row_9_more_topics_than_documents_and_terms():
    with pytest.warns(DataWarning, match="9 topics"):
        assert fitted(n_topics=9).doc_topic_.shape == (5, 9)


def test_row_10_one_topic_is_the_relative_frequencies():
    expected = COUNTS.sum(axis=0) / COUNTS.sum()
    np.testing.assert_allclose(fitted(n_topics=1).components_["X"][0], expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::coview.DataWarning")
def test_row_11_more_topics_than_memory_holds():
    with pytest.raises(MemoryError, match=r"10,000,000,000,000 topics.*GB"):
        PLSA(10**13).fit(COUNTS)


def test_row_12_duplicate_documents():
    mixtures = fitted(np.vstack([COUNTS, COUNTS])).transform(np.vstack([COUNTS, COUNTS]))
    np.testing.assert_array_equal(mixtures[:5], mixtures[5:])


def test_row_13_views_of_different_lengths():
    with pytest.raises(ValueError, match=r"'a' has 5 documents but view 'b' has 4.*a 5, b 4"):
        Views({"a": COUNTS, "b": COUNTS[:4]})


def test_row_14_ids_in_different_orders():
    ids = {"a": list("vwxyz"), "b": list("vwxzy")}
    with pytest.raises(ValueError, match=r"different ids in 2 rows: row 3: 'y' and 'z'.*align"):
        Views({"a": COUNTS, "b": COUNTS}, ids=ids)
    aligned = Views.align({"a": COUNTS, "b": COUNTS}, on=ids)
    np.testing.assert_array_equal(aligned["b"].toarray(), COUNTS[[0, 1, 2, 4, 3]])


def test_row_15_an_id_twice():
    with pytest.raises(ValueError, match=r"unique.*'v' \(rows 0, 4\)"):
        Views(COUNTS, ids=list("vwxyv"))


def test_row_16_a_view_that_some_documents_lack():
    present = np.ones((5, 2), bool)
    present[2, 1] = False
    lacking = COUNTS * present[:, [1]]
    views = Views({"a": COUNTS, "b": lacking}, present=present)
    there = Views({"a": COUNTS, "b": lacking}, present=np.ones((5, 2), bool))  # there, but empty
    assert not views.equals(there)
    assert np.isfinite(LinkPLSA(2, **QUICK).fit(views).doc_topic_).all()


def test_row_17_a_document_that_lacks_every_view():
    model = LinkPLSA(2, **QUICK).fit({"a": np.vstack([COUNTS, np.zeros(4)])})
    np.testing.assert_allclose(model.doc_topic_[5], 0.5)


def test_row_18_new_documents_with_other_views():
    model = LinkPLSA(2, **QUICK).fit({"a": COUNTS, "b": COUNTS})
    assert model.transform({"b": COUNTS}).shape == (5, 2)
    with pytest.raises(ValueError, match="'c'"):
        model.transform({"c": COUNTS})


def test_row_19_an_integer_that_a_double_rounds():
    X = COUNTS.astype(np.int64)
    X[0, 0] = 2**53 + 1
    with pytest.raises(ValueError, match=r"9,007,199,254,740,99\d.*row 0, column 0"):
        Views(X)


def test_row_20_sums_beyond_single_precision():
    n = 2**24 + 10
    many = sp.coo_array(
        (np.ones(n, np.float32), (np.zeros(n, int), np.zeros(n, int))), shape=(1, 1)
    )
    assert Views(many)["X"].sum(dtype=float) == pytest.approx(n, abs=2)  # not stuck at 2**24
    wide = PLSA(1, init="random", max_iter=2, tol=0.0).fit(np.ones((5000, 4000), np.float32))
    np.testing.assert_allclose(wide.components_["X"], 1 / 4000, rtol=1e-4)


def test_row_21_indices_of_64_bits():
    X = sp.csr_array(COUNTS)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    is_read_as(X)
    long = sp.csr_array((np.ones(1), np.array([2**33]), np.array([0, 1])), shape=(1, 2**33 + 1))
    assert Views(long)["X"].indices.tolist() == [2**33]


def test_row_22_unsorted_and_repeated_indices():
    X = sp.csr_array((np.array([1, 2, 3.0]), np.array([3, 0, 3]), np.array([0, 3])), shape=(1, 4))
    is_read_as(X, [[2, 0, 0, 4]])
    assert X.indices.tolist() == [3, 0, 3]  # the caller's matrix stays as it was


def test_row_23_explicit_zeros():
    rows, columns = np.divmod(np.arange(20), 4)
    X = sp.coo_array((COUNTS.ravel().astype(float), (rows, columns)), shape=(5, 4)).tocsr()
    assert X.nnz == 20
    is_read_as(X)
    np.testing.assert_array_equal(fitted(X).doc_topic_, fitted().doc_topic_)


@pytest.mark.parametrize("index", [4, 10**8, -7])
@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil", "dok"])
def test_row_24_index_out_of_range(kind, index):
    X = sp.csr_array(COUNTS.astype(float)).asformat(kind)
    if kind == "coo":
        X.coords[1][0] = index
    elif kind == "lil":
        X.rows[0][-1] = index
    elif kind == "dok":
        X._dict[(0, index)] = 1.0
    else:
        X.indices[0] = index + (kind == "csc")
    with pytest.raises(ValueError, match="'words'"):
        Views({"words": X})


@pytest.mark.parametrize("ends", [[0, 9, 4, 6, 8, 10], [0, 2, 4, 6, 8, 99], [-1, 2, 4, 6, 8, 10]])
def test_row_25_rows_that_end_before_they_begin(ends):
    X = sp.csr_array(COUNTS)
    X.indptr = np.array(ends, np.int32)
    with pytest.raises(ValueError, match="'words' is a damaged sparse matrix"):
        Views({"words": X})


def test_row_26_half_precision():
    with pytest.warns(DataWarning, match="float16.*2,048"):
        is_read_as(COUNTS.astype(np.float16))
    with pytest.warns(DataWarning), pytest.raises(ValueError, match="inf"):
        Views(np.array([[np.inf, 1.0]], dtype=np.float16))  # as 70,000 becomes


def test_row_27_objects():
    is_read_as(COUNTS.astype(object))
    with pytest.raises(ValueError, match="text 'three' in view 'words' at row 0, column 1"):
        Views({"words": np.array([[1, "three"]], dtype=object)})


def test_row_28_truth_values():
    is_read_as(COUNTS > 0, (COUNTS > 0).astype(float))


def test_row_29_complex_numbers():
    with pytest.raises(ValueError, match="Complex data not supported: view 'words'"):
        Views({"words": COUNTS + 1j})


def test_row_30_a_read_only_memory_map(tmp_path):
    np.save(tmp_path / "x.npy", COUNTS.astype(np.float32))
    before = (tmp_path / "x.npy").read_bytes()
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.isfinite(fitted(X).doc_topic_).all()
    assert (tmp_path / "x.npy").read_bytes() == before


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"])
def test_row_31_sparse_layouts(kind):
    is_read_as(sp.coo_array(COUNTS).asformat(kind))
    is_read_as(sp.coo_matrix(COUNTS).asformat(kind))


def test_row_31_dense_layouts():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = list("abcd")
    for X in (np.asfortranarray(COUNTS), COUNTS.tolist(), pl.DataFrame(COUNTS, schema=names)):
        is_read_as(X)
    for columns in (names, None, range(1990, 1994)):
        is_read_as(pd.DataFrame(COUNTS, columns=columns))
        is_read_as(pd.DataFrame(COUNTS / 2, columns=columns), COUNTS / 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # numpy's, of what is refused
        old = np.matrix(COUNTS)
    with pytest.raises(TypeError, match=r"np\.asarray"):
        Views(old)


def test_row_32_fractional_counts():
    model = fitted(COUNTS / 3)
    np.testing.assert_allclose(model.doc_topic_, fitted().doc_topic_, atol=1e-9)


def test_row_33_frames_with_missing_values():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for frame in (
        pd.DataFrame({"a": [1.0, None], "b": [1, 2]}),
        pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": [1, 2]}),
        pl.DataFrame({"a": [1, None], "b": [1, 2]}),
    ):
        with pytest.raises(ValueError, match=r"NaN.*'words'"):
            Views({"words": frame})


def test_row_34_terms_in_another_order():
    model = fitted(Views(COUNTS, features=list("abcd")))
    with pytest.raises(ValueError, match="order"):
        model.transform(Views(COUNTS, features=list("abdc")))


def test_row_35_unknown_terms():
    model = fitted(Views(COUNTS, features=list("abcd")))
    with pytest.warns(DataWarning, match=r"\d.*%"):
        mixtures = model.transform(Views([[1, 1, 1]], features=["a", "b", "new"]))
    np.testing.assert_allclose(mixtures, model.transform([[1, 1, 0, 0]]))


def test_row_35_unknown_terms_alone():
    made = make_views(20, 2, [8, 6], random_state=0)
    known = LinkPLSA(2, **QUICK).fit(Views(made.matrices, features={"view_0": list("abcdefgh")}))
    with pytest.raises(ValueError, match=r"view_0.*100"):
        known.transform(Views({"view_0": [[3, 4]]}, features={"view_0": ["x", "y"]}))
