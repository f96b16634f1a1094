"""The container: what it takes, what it shows, what it gives back."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from coview import Views

TEXT = np.array([[1, 0, 2], [0, 3, 0], [0, 0, 0], [4, 4, 4]])
IMAGE = np.array([[5, 1], [0, 0], [2, 0], [0, 7]])


@pytest.fixture
def views():
    return Views(
        {"text": TEXT, "image": IMAGE},
        ids=["a", "b", "c", "d"],
        labels=[0, 1, -1, 1],
        label_names=["cat", "dog"],
        features={"text": ["w0", "w1", "w2"]},
    )


# -- what it takes --------------------------------------------------------------------------------


def test_a_dict_keeps_its_order():
    views = Views({"z": TEXT, "a": IMAGE})
    assert views.names == ("z", "a")
    assert views.widths == (3, 2)


@pytest.mark.parametrize("several", [list, tuple])
def test_matrices_without_names_are_numbered(several):
    assert Views(several([TEXT, sp.csc_array(IMAGE)])).names == ("view_0", "view_1")
    assert Views(several([TEXT, IMAGE]), names=["t", "i"]).names == ("t", "i")


@pytest.mark.parametrize(
    "one", [TEXT, TEXT.tolist(), [np.array(row) for row in TEXT], sp.coo_matrix(TEXT)]
)
def test_one_matrix_is_one_view(one):
    assert Views(one).names == ("X",)
    np.testing.assert_array_equal(Views(one, names=["words"])["words"].toarray(), TEXT)


def test_views_of_views_are_equal(views):
    again = Views(views)
    assert again.equals(views)
    assert np.shares_memory(again["text"].data, views["text"].data)


def test_views_of_views_take_new_names_and_labels(views):
    again = Views(
        views, ids=list("wxyz"), labels=["p", "q", None, "p"], features={"image": ["a", "b"]}
    )
    assert again.ids.tolist() == list("wxyz")
    assert again.labels.tolist() == ["p", "q", None, "p"]
    assert again.label_names is None
    assert again.features["image"].tolist() == ["a", "b"]
    assert again.features["text"].tolist() == ["w0", "w1", "w2"]
    assert views.ids.tolist() == list("abcd")


def test_label_names_can_be_given_to_labels_that_are_there(views):
    renamed = Views(views, label_names=["x", "y"])
    assert renamed.label_names == ["x", "y"]
    assert renamed.labels.tolist() == views.labels.tolist()


def test_names_are_for_data_without_names(views):
    for data in (views, {"a": TEXT}):
        with pytest.raises(TypeError, match="`names` is for matrices without names"):
            Views(data, names=["b", "c"])


def test_as_many_names_as_views():
    with pytest.raises(ValueError, match="Expected 2 names, one for each view, found 1: 'a'"):
        Views([TEXT, IMAGE], names=["a"])


def test_names_of_views_that_are_not_there_are_an_error():
    for argument in ("features", "ids", "present"):
        with pytest.raises(ValueError, match=f"`{argument}` names 'b'; the views are 'a'"):
            Views({"a": [[1]]}, **{argument: {"b": ["x"]}})


def test_features_of_several_views_need_a_dict():
    with pytest.raises(TypeError, match="dict"):
        Views([TEXT, IMAGE], features=["a", "b", "c"])


def test_label_names_go_with_integers():
    with pytest.raises(ValueError, match="0 to 0, found 1 at row 1"):
        Views([[1], [1]], labels=[0, 1], label_names=["a"])
    with pytest.raises(ValueError, match="texts"):
        Views([[1], [1]], labels=["a", "b"], label_names=["a", "b"])


def test_the_wrong_number_of_features_is_an_error():
    with pytest.raises(ValueError, match="Expected 2 names for features of view 'a', found 1"):
        Views({"a": [[1, 2]]}, features={"a": ["x"]})


# -- frames ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("narwhals", [True, False])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_a_frame_are_feature_names(frame, narwhals, monkeypatch):
    if not narwhals:
        monkeypatch.setitem(__import__("sys").modules, "narwhals.stable.v1", None)
    views = Views({"en": frame({"cat": [1, 0], "dog": [0.5, 2]})})
    assert views.features["en"].tolist() == ["cat", "dog"]
    assert views.ids is None
    np.testing.assert_array_equal(views["en"].toarray(), [[1, 0.5], [0, 2]])


def test_an_index_of_a_frame_is_the_ids():
    frame = pd.DataFrame({"cat": [1, 0]}, index=["x", "y"])
    views = Views({"en": frame, "image": IMAGE[:2]})
    assert views.ids.tolist() == ["x", "y"]
    assert Views(frame, ids=["p", "q"]).ids.tolist() == ["p", "q"]


def test_an_index_of_shuffled_numbers_is_the_ids():
    assert Views(pd.DataFrame({"cat": [1, 2, 3]}).iloc[[2, 0]]).ids.tolist() == ["2", "0"]


def test_an_index_that_counts_is_no_name():
    assert Views(pd.DataFrame({"cat": [1, 2]}, index=[0, 1])).ids is None


def test_numbered_columns_are_no_names_even_if_they_repeat():
    frame = pd.concat([pd.DataFrame(TEXT), pd.DataFrame(TEXT)], axis=1)
    views = Views(frame)
    assert views.features == {"X": None}
    assert views.widths == (6,)


def test_repeated_column_names_are_an_error():
    with pytest.raises(ValueError, match=r"columns of view 'X' must be unique.*'a'"):
        Views(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_texts_and_numbers_as_columns_are_an_error():
    with pytest.raises(TypeError, match="all be texts or all be numbers"):
        Views(pd.DataFrame([[1, 2]], columns=["a", 0]))


def test_a_sparse_frame_stays_sparse(monkeypatch):
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(TEXT), columns=["a", "b", "c"])
    monkeypatch.setattr(pd.DataFrame, "to_numpy", lambda *_, **__: pytest.fail("made dense"))
    views = Views({"en": frame})
    np.testing.assert_array_equal(views["en"].toarray(), TEXT)
    assert views.features["en"].tolist() == ["a", "b", "c"]


def test_given_features_win_over_columns():
    assert Views(pd.DataFrame({"a": [1]}), features=["b"]).features["X"].tolist() == ["b"]


# -- what is in it --------------------------------------------------------------------------------


def test_sizes(views):
    assert views.shape == (4, 5)
    assert len(views) == views.n_docs == 4
    assert views.n_views == 2
    assert views.widths == (3, 2)
    assert all(isinstance(size, int) for size in (*views.shape, *views.widths))


def test_contents(views):
    assert list(views.matrices) == ["text", "image"]
    np.testing.assert_array_equal(views["image"].toarray(), IMAGE)
    np.testing.assert_array_equal(views.matrices["image"].toarray(), IMAGE)
    np.testing.assert_array_equal(
        views.present, [[True, True], [True, False], [False, True], [True, True]]
    )
    assert views.ids.tolist() == ["a", "b", "c", "d"]
    assert views.features["image"] is None
    assert views.label_names == ["cat", "dog"]
    assert "text" in views
    assert "words" not in views


def test_an_unknown_view_is_a_key_error_with_the_known_ones(views):
    with pytest.raises(KeyError, match="no view 'words'; the views are 'text', 'image'"):
        views["words"]


def test_it_cannot_be_iterated(views):
    with pytest.raises(TypeError, match="not iterable"):
        iter(views)


def test_it_is_not_an_array(views):
    with pytest.raises(TypeError, match="concat"):
        np.asarray(views)


@pytest.mark.parametrize("name", ["iloc", "fit"])
def test_it_has_nothing_that_makes_scikit_learn_take_it_for_something_else(views, name):
    assert not hasattr(views, name)


@pytest.mark.parametrize(
    "name", ["names", "matrices", "present", "ids", "labels", "label_names", "features", "other"]
)
def test_attributes_cannot_be_set(views, name):
    with pytest.raises(AttributeError):
        setattr(views, name, None)


def test_arrays_are_read_only(views):
    matrix = views["text"]
    arrays = [matrix.data, matrix.indices, matrix.indptr, views.present, views.ids, views.labels]
    for array in [*arrays, views.features["text"]]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]


def test_writing_into_what_was_handed_out_does_not_change_it(views):
    views["text"].data = np.zeros(6)
    views.matrices["text"].indices = np.zeros(6)
    with pytest.raises(TypeError):
        views.matrices["text"] = None
    views.features.clear()
    views.label_names.clear()
    np.testing.assert_array_equal(views["text"].toarray(), TEXT)
    assert views.label_names == ["cat", "dog"]
    assert list(views.features) == ["text", "image"]


def test_the_callers_arrays_stay_writable():
    ids, present = np.array(["a", "b"]), np.ones((2, 1), bool)
    labels, matrix = np.array([0, 1]), sp.csr_array([[1.0], [2.0]])
    Views(matrix, ids=ids, present=present, labels=labels)
    for array in (ids, present, labels, matrix.data, matrix.indices, matrix.indptr):
        array[0] = array[0]


def test_the_mask_does_not_change_with_the_callers_array():
    present = np.ones((2, 1), bool)
    views = Views([[0], [1]], present=present)
    present[:] = False
    assert views.present.all()


# -- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        [3, 1],
        np.array([3, 1]),
        np.array([3, 1], dtype=np.uint8),
        ([3, 1], Ellipsis),
        ([3, 1], slice(None)),
        [-1, 1],
        (np.array([3, 1]), ...),
    ],
)
def test_rows_by_number(views, key):
    some = views[key]
    np.testing.assert_array_equal(some["text"].toarray(), TEXT[[3, 1]])
    np.testing.assert_array_equal(some["image"].toarray(), IMAGE[[3, 1]])
    np.testing.assert_array_equal(some.present, views.present[[3, 1]])
    assert some.ids.tolist() == ["d", "b"]
    assert some.labels.tolist() == [1, 1]
    assert some.label_names == ["cat", "dog"]
    assert some.features["text"].tolist() == ["w0", "w1", "w2"]


@pytest.mark.parametrize(
    "mask", [[True, False, True, False], pd.Series([True, False, True, False])]
)
def test_rows_by_mask(views, mask):
    assert views[mask].ids.tolist() == ["a", "c"]


@pytest.mark.parametrize(
    ("key", "ids"), [(slice(1, 3), "bc"), (slice(None, None, -1), "dcba"), (slice(0, 9, 2), "ac")]
)
def test_rows_by_slice(views, key, ids):
    assert views[key].ids.tolist() == list(ids)
    assert views[key, ...].ids.tolist() == list(ids)


def test_a_present_but_empty_row_stays_so(views):
    full = views.with_present(np.ones((4, 2), bool))
    assert full[[1, 2]].present.all()


def test_rows_may_repeat(views):
    twice = views[[1, 1, 0]]
    assert twice.ids.tolist() == ["b", "b", "a"]
    assert Views(twice).equals(twice)


def test_rows_are_read_only_too(views):
    some = views[1:]
    assert not some["text"].data.flags.writeable
    assert not some.ids.flags.writeable


@pytest.mark.parametrize("key", [3, np.int64(3), np.array(3), True])
def test_a_single_row_is_a_type_error_with_advice(views, key):
    with pytest.raises(TypeError, match=r"write views\[\["):
        views[key]


@pytest.mark.parametrize(
    ("key", "error", "words"),
    [
        ([4], IndexError, "Row 4 is out of range for 4 documents"),
        ([-5], IndexError, "Row -5"),
        ([True, False], IndexError, "mask has 2 entries for 4 documents"),
        ([0.5], TypeError, "float64"),
        ([[0, 1]], TypeError, "shape"),
        (["text"], TypeError, "select"),
        (([0], [1]), TypeError, "rows only"),
        ((slice(None), [0, 1]), TypeError, "rows only"),
        ([], ValueError, "at least one document"),
        ([False] * 4, ValueError, "at least one document"),
        (slice(2, 2), ValueError, "at least one document"),
    ],
)
def test_bad_keys_are_errors(views, key, error, words):
    with pytest.raises(error, match=words):
        views[key]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-4, 3), min_size=1, max_size=8), st.integers(0, 2**31))
def test_rows_are_those_of_the_dense_matrix(rows, seed):
    rng = np.random.default_rng(seed)
    dense = {name: rng.poisson(0.7, (4, width)) for name, width in (("a", 3), ("b", 5))}
    some = Views(dense)[rows]
    for name, matrix in dense.items():
        np.testing.assert_array_equal(some[name].toarray(), matrix[rows])
    expected = np.column_stack([m[rows].any(axis=1) for m in dense.values()])
    np.testing.assert_array_equal(some.present, expected)


# -- views ----------------------------------------------------------------------------------------


def test_select_keeps_the_order_asked_for(views):
    swapped = views.select("image", "text")
    assert swapped.names == ("image", "text")
    np.testing.assert_array_equal(swapped.present, views.present[:, ::-1])
    assert swapped.features["image"] is None
    assert swapped.features["text"].tolist() == ["w0", "w1", "w2"]
    assert swapped.labels.tolist() == views.labels.tolist()


def test_drop_is_the_rest(views):
    assert views.drop("text").equals(views.select("image"))


@pytest.mark.parametrize("method", ["select", "drop"])
def test_unknown_views_cannot_be_selected(views, method):
    with pytest.raises(ValueError, match="'words'; the views are 'text', 'image'"):
        getattr(views, method)("words")


def test_at_least_one_view_is_left(views):
    with pytest.raises(ValueError, match="At least one view"):
        views.drop("text", "image")
    with pytest.raises(ValueError, match="At least one view"):
        views.select()
    with pytest.raises(ValueError, match="unique"):
        views.select("text", "text")


def test_concat_puts_the_views_side_by_side(views):
    joined = views.concat("both")
    assert joined.names == ("both",)
    np.testing.assert_array_equal(joined["both"].toarray(), np.hstack([TEXT, IMAGE]))
    assert joined.features["both"].tolist() == [
        "text:w0",
        "text:w1",
        "text:w2",
        "image:0",
        "image:1",
    ]
    assert joined.present.tolist() == [[True]] * 4
    assert joined.ids.tolist() == views.ids.tolist()
    fresh = sp.csr_array(joined["both"].toarray())
    np.testing.assert_array_equal(joined["both"].indices, fresh.indices)


def test_concat_without_any_names_has_none():
    joined = Views([TEXT, IMAGE]).concat()
    assert joined.features == {"all": None}


def test_concat_has_a_document_that_any_view_has():
    views = Views({"a": [[1], [0], [0]], "b": [[0], [2], [0]]})
    assert views.concat().present.ravel().tolist() == [True, True, False]


def test_concat_of_two_precisions_keeps_the_finer():
    views = Views([np.ones((2, 1), np.float32), np.full((2, 1), 1 / 3)])
    assert views.concat()["all"].dtype == np.float64
    assert views.concat()["all"].toarray()[0, 1] == 1 / 3


def test_with_labels(views):
    other = views.with_labels([1, 1, 0, 0], ["x", "y"])
    assert other.labels.tolist() == [1, 1, 0, 0]
    assert other.label_names == ["x", "y"]
    assert views.labels.tolist() == [0, 1, -1, 1]
    assert views.with_labels(None).labels is None
    with pytest.raises(ValueError, match="4 documents"):
        views.with_labels([0])


def test_with_present(views):
    full = views.with_present({"image": [True] * 4})
    assert full.present[:, 1].all()
    assert not full.present[2, 0]
    assert full.with_present(None).equals(views)


# -- align ----------------------------------------------------------------------------------------


DATA = {"en": np.array([[1], [2], [3]]), "fr": np.array([[40], [30], [10]])}
ON = {"en": ["a", "b", "c"], "fr": ["d", "c", "a"]}


def test_align_keeps_the_common_documents_in_order_of_appearance():
    views = Views.align(DATA, on=ON)
    assert views.ids.tolist() == ["a", "c"]
    np.testing.assert_array_equal(views["en"].toarray(), [[1], [3]])
    np.testing.assert_array_equal(views["fr"].toarray(), [[10], [30]])


def test_align_outer_marks_what_is_missing():
    views = Views.align(DATA, on=ON, how="outer", features={"en": ["cat"]})
    assert views.ids.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(views["en"].toarray().ravel(), [1, 2, 3, 0])
    np.testing.assert_array_equal(views["fr"].toarray().ravel(), [10, 0, 30, 40])
    np.testing.assert_array_equal(
        views.present, [[True, True], [True, False], [True, True], [False, True]]
    )
    assert views.features["en"].tolist() == ["cat"]


def test_align_takes_the_index_of_frames():
    frames = {name: pd.DataFrame(DATA[name], index=ON[name], columns=["w"]) for name in DATA}
    views = Views.align(frames)
    assert views.equals(Views.align(DATA, on=ON, features={"en": ["w"], "fr": ["w"]}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"on": None}, "view 'en' have no ids to align by"),
        ({"on": {"en": ["a", "b", "c"]}}, "view 'fr' have no ids"),
        ({"on": ON | {"fr": ["d", "c"]}}, "Expected 3 names for ids, found 2"),
        ({"on": ON | {"fr": ["d", "c", "c"]}}, "unique"),
        ({"on": ON | {"it": ["a"]}}, "`on` names 'it'"),
        ({"on": ON | {"fr": ["x", "y", "z"]}}, "no document in common.*'a', 'b'.*outer"),
        ({"how": "left"}, "'inner' or 'outer'"),
    ],
)
def test_what_cannot_be_aligned_is_an_error(changes, words):
    with pytest.raises(ValueError, match=words):
        Views.align(DATA, **{"on": ON} | changes)


# -- showing --------------------------------------------------------------------------------------


def test_repr_says_what_is_in_it(views):
    assert repr(views) == (
        "Views: 4 documents, 2 views\n"
        "  text   3 terms  6 non-zeros (50.0 %)  3 documents (1 lacks it)\n"
        "  image  2 terms  4 non-zeros (50.0 %)  3 documents (1 lacks it)\n"
        "  labels: 2 classes (cat, dog), 1 unlabeled; ids: yes; feature names: text"
    )


def test_repr_shows_large_numbers_with_separators_and_few_classes():
    views = Views(np.ones((1200, 2)), labels=np.arange(1200) % 5, features=["a", "b"])
    assert "1,200 documents, 1 view\n" in repr(views)
    assert "labels: 5 classes (0, 1, 2, ...), 0 unlabeled" in repr(views)
    assert "feature names: all views" in repr(views)


def test_repr_of_text_labels():
    assert "2 classes (a, b), 1 unlabeled" in repr(Views([[1]] * 3, labels=["b", "a", None]))
    assert "0 classes, 3 unlabeled" in repr(Views([[1]] * 3, labels=[-1] * 3))


def test_repr_escapes_control_characters():
    views = Views({"a\x1b[31m\nb": [[1]]}, labels=["\x07"])
    assert "a\\x1b[31m\\nb" in repr(views)
    assert "\x1b" not in repr(views)
    assert "\x07" not in repr(views)


def test_html_is_escaped():
    html = Views({"<script>": [[1]]}, labels=["<b>"])._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
    assert "<b>" not in html


# -- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, *(lambda v, p=p: pickle.loads(pickle.dumps(v, p)) for p in (2, 5))],
)
def test_copies_are_equal_and_read_only(views, duplicate):
    again = duplicate(views)
    assert again.equals(views)
    assert not again["text"].data.flags.writeable
    assert not again.labels.flags.writeable
    assert not again.features["text"].flags.writeable


def test_equals_sees_every_difference(views):
    others = [
        Views(views, ids=list("wxyz")),
        Views(views, features={"text": ["w0", "w1", "other"]}),
        Views(views, features={"image": ["a", "b"]}),
        views.with_labels(views.labels),
        views.with_labels([0, 0, 0, 0], ["cat", "dog"]),
        views.with_present(np.ones((4, 2), bool)),
        views.select("image", "text"),
        views[:3],
        Views({"text": TEXT.astype(np.float32), "image": IMAGE}, ids=views.ids),
        Views(TEXT),
    ]
    assert views.equals(views)
    assert not any(views.equals(other) for other in others)
    assert not views.equals("views")


def test_equals_compares_values_and_precision():
    a = Views(TEXT.astype(float))
    assert a.equals(Views(sp.csc_matrix(TEXT.astype(float))))
    assert not a.equals(Views(TEXT * 2.0))
    assert not a.equals(Views(TEXT[:, [1, 0, 2]].astype(float)))
    assert not a.equals(Views(TEXT.astype(np.float32)))


def test_splitting_deals_out_every_term_once():
    views = Views(
        {"a": np.arange(12.0).reshape(2, 6), "b": [[1, 0], [0, 0]]},
        features={"a": list("uvwxyz")},
    )
    parts = views.split("a", 3, random_state=1)
    assert parts.names == ("a_0", "a_1", "a_2", "b")
    names = np.concatenate([parts.features[n] for n in parts.names[:3]])
    assert sorted(names) == list("uvwxyz")
    for part in parts.names[:3]:
        columns = ["uvwxyz".index(f) for f in parts.features[part]]
        np.testing.assert_array_equal(parts[part].toarray(), views["a"].toarray()[:, columns])
    assert parts.present[:, :3].all()
    assert parts.equals(views.split("a", 3, random_state=1))
    assert not parts.equals(views.split("a", 3, random_state=2))


@pytest.mark.parametrize(("name", "n_parts"), [("c", 2), ("a", 0), ("a", 7)])
def test_a_split_that_cannot_be_is_refused(name, n_parts):
    with pytest.raises(ValueError, match=r"split|n_parts"):
        Views({"a": np.ones((2, 6))}).split(name, n_parts)
