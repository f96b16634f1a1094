"""Labels: which documents are unlabeled, and what labels may be; the same everywhere."""

import decimal
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from coview import PLSA, LinkPLSA, TopicClassifier, Views, metrics, search, suggest_labels
from coview.baselines import NaiveBayesViews
from coview.compare import evaluate
from coview.compare.cell_inputs import has_label
from coview.datasets import make_views
from coview.reading.columns import LabelColumn
from coview.views.labels import check_labels, is_unlabeled

UNLABELED = [
    -1, -1.0, np.int8(-1), np.float32(-1), None, float("nan"), np.float32("nan"), np.nan, pd.NA,
    pd.NaT, np.datetime64("NaT"), decimal.Decimal("nan"), "", "  ", np.str_(""), "-1", " -1 ",
]  # fmt: skip
LABELED = [0, 1, 7.0, "a", "0", "nan", True, False, np.bool_(True), b"a"]


def raises(*words):
    """The message holds all the words, in this order."""
    return pytest.raises(ValueError, match="(?s)" + ".*".join(map(re.escape, words)))


@pytest.mark.parametrize("label", UNLABELED, ids=repr)
def test_one_rule_says_what_is_unlabeled(label):
    assert is_unlabeled([label]).tolist() == [True]
    assert is_unlabeled(["a", label, "b"]).tolist() == [False, True, False]
    assert is_unlabeled(np.array([label, "a"], dtype=object)).tolist() == [True, False]


@pytest.mark.parametrize("label", LABELED, ids=repr)
def test_everything_else_is_a_class(label):
    assert is_unlabeled([label]).tolist() == [False]


def test_another_number_can_stand_for_unlabeled_and_no_number():
    assert is_unlabeled([-1, 99, None], 99).tolist() == [False, True, True]
    assert is_unlabeled([-1, 99, None], None).tolist() == [False, False, True]
    assert is_unlabeled([True, False], 1).tolist() == [False, False]


TEXTS = ["a", "b", None]
ARRAYS = {
    "list": TEXTS,
    "empty text": np.array(["a", "b", ""]),
    "minus one that NumPy made a text": np.array(["a", "b", -1]),
    "objects": np.array(TEXTS, dtype=object),
    "masked": np.ma.masked_array(["a", "b", "c"], [False, False, True]),
    "pandas objects": pd.Series(TEXTS),
    "pandas texts": pd.Series(TEXTS, dtype="string"),
    "pandas categories": pd.Series(TEXTS, dtype="category"),
    "pandas filled": pd.Series(TEXTS).fillna(""),
    "polars": pl.Series(TEXTS),
    "pyarrow": pa.array(TEXTS),
}
NUMBERS = {
    "list": [0, 1, None],
    "NaN": [0.0, 1.0, np.nan],
    "NA": [0, 1, pd.NA],
    "masked": np.ma.masked_array([0, 1, 0], [False, False, True]),
    "pandas integers": pd.Series([0, 1, None], dtype="Int64"),
    "polars": pl.Series([0, 1, None]),
    "pyarrow": pa.array([0, 1, None]),
    "with an empty text": [0, 1, ""],
}


@pytest.mark.parametrize("labels", ARRAYS.values(), ids=ARRAYS)
def test_texts_of_any_library(labels):
    assert check_labels(labels, 3).tolist() == ["a", "b", None]


@pytest.mark.parametrize("labels", NUMBERS.values(), ids=NUMBERS)
def test_numbers_of_any_library(labels):
    assert check_labels(labels, 3).tolist() == [0, 1, -1]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([0, 1, -1], "i"),
        (np.array([0, 1, 1], np.uint8), "u"),
        ([0.0, 2.0, -1.0], "i"),
        ([True, False, True], "i"),
        (["a", "b", "a"], "O"),
        (np.array(["a", "b", "a"]), "U"),
        (["a", None, "b"], "O"),
        (pd.Series([0, 1, 0]), "i"),
        (pd.Series(["a", "b", "a"], dtype="category"), "O"),
    ],
)
def test_labels_are_integers_or_texts(labels, kind):  # 36
    checked = check_labels(labels, 3)
    assert checked.dtype.kind == kind
    assert checked.tolist() == list(labels)
    assert not checked.flags.writeable


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0, 1, -2], "found -2 at row 2"),
        ([0, 3, 1], "0 to 2, found 3 at row 1"),
        ([0, 0.5, 1], "found 0.5 at row 1"),
        ([0, 1, np.inf], "found inf"),
        ([0, 1, 1e300], "found 1e+300 at row 2"),
        ([0, 1, 10**400], "integers"),
        (["a", 3, "b"], "found both: 3 at row 1, counting from 0, and 'a' at row 0"),
        (["a", ["b"], "c"], "found list (['b']) at row 1"),
        ([0, 1], "one entry for each of 3 documents"),
        ([[0], [1], [2]], "shape (3, 1)"),
        (np.array([b"a", b"b", b"c"]), "integers or texts"),
        (np.array([1j, 0, 0]), "integers or texts"),
    ],
)
def test_bad_labels_are_an_error(labels, words):  # 36
    with raises(words):
        check_labels(labels, 3, n_classes=3)


def test_labels_do_not_change_with_the_callers_array():
    labels = np.array([0, 1])
    views = Views(np.ones((2, 1)), labels=labels)
    labels[:] = 5
    assert views.labels.tolist() == [0, 1]


# -- everything that takes labels follows the rule -------------------------------------------------

MARKS = {"minus one": -1, "None": None, "NaN": float("nan"), "NA": pd.NA, "empty": "", "blank": " "}


@pytest.fixture(scope="module")
def views():
    made = make_views(60, 3, [30, 20], doc_length=30, view_noise=0.2, random_state=1)
    return Views(made.matrices, labels=made.labels)


@pytest.fixture(params=MARKS.values(), ids=MARKS)
def mark(request):
    return request.param


def few(views, mark, names=None):
    """Labels of the first twelve documents; the others have the mark."""
    known = views.labels[:12].tolist() if names is None else [names[k] for k in views.labels[:12]]
    return [*known, *[mark] * (len(views) - 12)]


@pytest.mark.parametrize("names", [None, ["cat", "dog", "owl"]], ids=["numbers", "texts"])
def test_classifiers(views, mark, names):
    model = TopicClassifier(LinkPLSA(random_state=0, max_iter=3, tol=0))
    found = model.fit(views, few(views, mark, names))
    assert found.classes_.tolist() == (names or [0, 1, 2])
    assert found.n_unlabeled_ == 48
    np.testing.assert_array_equal(found.labels_, model.fit(views, few(views, None, names)).labels_)
    baseline = NaiveBayesViews().fit(views, few(views, mark, names))
    assert baseline.classes_.tolist() == (names or [0, 1, 2])


def test_pins(views, mark):
    model = LinkPLSA(3, random_state=0, max_iter=3, tol=0)
    pinned = model.fit(views, labels=few(views, mark)).doc_topic_
    again = model.fit(views, labels=few(views, -1)).doc_topic_
    np.testing.assert_array_equal(pinned, again)


def test_views_show_how_many_are_unlabeled(views, mark):
    labeled = views.with_labels(few(views, mark))
    assert labeled.labels.tolist() == few(views, -1)
    assert "3 classes (0, 1, 2), 48 unlabeled" in repr(labeled)
    texts = views.with_labels(few(views, mark, ["cat", "dog", "owl"]))
    assert texts.labels.tolist() == few(views, None, ["cat", "dog", "owl"])
    assert "3 classes (cat, dog, owl), 48 unlabeled" in repr(texts)


def test_comparisons(views, mark):
    assert has_label(few(views, mark)).sum() == 12
    assert has_label(few(views, mark, ["cat", "dog", "owl"])).sum() == 12
    model = LinkPLSA(3, random_state=0, max_iter=3, tol=0).fit(views)
    found = evaluate(model, views, few(views, mark))
    assert found["clusters"] == evaluate(model, views, few(views, -1))["clusters"]
    assert found["unlabeled"] == 48


def test_suggestions(views, mark):
    model = LinkPLSA(3, random_state=0, max_iter=3, tol=0).fit(views)
    rows = {s.row for s in suggest_labels(model, views, 60, labels=few(views, mark))}
    assert rows == set(range(12, 60))


def test_semantic_search(views, mark):
    model = LinkPLSA(3, random_state=0, max_iter=3, tol=0).fit(views)
    options = {"in_view": "view_1", "space": "semantic"}
    for names in (None, ["cat", "dog", "owl"]):
        search(model, views[[0]], labels=few(views, mark, names), **options)


def test_columns_of_tables(mark):
    for cells, labels, names in (
        (["b", "a", mark], [1, 0, -1], ["a", "b"]),
        ([3, 0, mark], [3, 0, -1], None),
        (["3", "0", mark], [3, 0, -1], None),
    ):
        reader = LabelColumn()
        for cell in cells:
            reader.add(cell)
        codes, found = reader.finish()
        assert (codes.tolist(), found) == (labels, names)


def test_numbers_too_long_for_a_label_are_names():
    reader = LabelColumn()
    for cell in ("9" * 30, 10**400, "-1"):
        reader.add(cell)
    codes, names = reader.finish()
    assert codes.tolist() == [1, 0, -1]
    assert len(names) == 2


def test_a_text_file_of_labels(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    (tmp_path / "y.txt").write_text("cat\n-1\n\n")
    read = Views.from_files({"x": tmp_path / "x.npy"}, labels=tmp_path / "y.txt")
    assert read.labels.tolist() == ["cat", None, None]


def test_obs_of_cells(mark):
    pytest.importorskip("mudata")
    from coview.reading.mudata import _labels

    obs = pd.DataFrame({"kind": pd.Series(["b", "a", mark], dtype=object)})
    read = _labels(obs, "kind")
    assert (read["labels"].tolist(), read["label_names"]) == ([1, 0, -1], ["a", "b"])


def test_a_views_folder_keeps_texts_with_unlabeled_documents(tmp_path):
    views = Views([[1], [2], [3]], labels=["cat", None, "dog"])
    views.save(tmp_path / "views")
    assert Views.load(tmp_path / "views").equals(views)


def test_measures_refuse_documents_without_a_class(mark):
    for labels in (["cat", mark], [0, mark]):
        with raises("labels_true must not lack a label", "row 1", "1 of 2 documents is unlabeled"):
            metrics.nmi_max(labels, [0, 1])
        with raises("gallery_labels must not lack a label"):
            metrics.mean_average_precision([[0.1, 0.2]], labels[:1], labels)


def test_all_documents_without_a_label_are_told(views):
    with raises("at least one document"):
        TopicClassifier(PLSA()).fit(views.select("view_0"), [pd.NA] * 60)
