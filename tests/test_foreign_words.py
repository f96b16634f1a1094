"""Errors speak of what the user gave: no words of other libraries, and options in commands."""

import datetime
import decimal
import fractions
import inspect

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.exceptions import NotFittedError

import coview
import coview.baselines
import coview.io
import coview.reporting
from coview import LTM, PLSA, LinkPLSA, TopicClassifier, Views
from coview.models import MODEL_NAMES, model_class
from coview.params import check_int, check_real, shown
from coview.wording import argument
from tests.cli.command import inside

X = np.random.default_rng(0).poisson(2.0, (20, 12))
TWO = {"a": X, "b": X[:, :5]}

# -- parameters ------------------------------------------------------------------------------------

VALUES = {
    "huge": 10**400, "2**63": 2**63, "-2**63": -(2**63) - 1, "int8": np.int8(2),
    "float16": np.float16(0.5), "float32": np.float32(2), "text": "nonsense", "empty": "",
    "None": None, "dict": {}, "list": [], "set": set(), "tuple": (1, 2), "object": object(),
    "NaN": float("nan"), "inf": float("inf"), "array": np.array([1, 2]), "scalar": np.array(2),
    "bytes": b"x", "NA": pd.NA, "True": True, "bool_": np.bool_(True), "complex": 1j, "type": int,
    "fraction": fractions.Fraction(1, 2), "huge fraction": fractions.Fraction(10**400),
    "decimal": decimal.Decimal("0.5"), "function": len,
}  # fmt: skip
COMMON = list(inspect.signature(LinkPLSA).parameters)
ONE_VIEW = ("plsa", "dual", "ltm")
QUICK = {"n_components": 2, "max_iter": 2, "tol": 0.0, "random_state": 0}


def cases():
    """Every parameter of every model (the common ones of one), baseline and classifier."""
    for short in MODEL_NAMES:
        cls = model_class(short)
        for name in inspect.signature(cls).parameters:
            if short == "link" or name not in COMMON:
                yield cls, name, QUICK, X if short in ONE_VIEW else TWO, None
    for cls in sorted({type(b(2, 0)) for b in coview.baselines.BASELINES.values()}, key=str):
        if not cls.__module__.startswith("coview.baselines"):
            continue
        for name in inspect.signature(cls).parameters:
            own = {n: v for n, v in QUICK.items() if n in inspect.signature(cls).parameters}
            if "estimator" in inspect.signature(cls).parameters:
                own["estimator"] = PLSA(**QUICK)
            yield cls, name, own, TWO, np.arange(20) % 2
    for name in inspect.signature(TopicClassifier).parameters:
        yield TopicClassifier, name, {"estimator": PLSA(**QUICK)}, X, np.arange(20) % 2


CASES = {f"{cls.__name__}-{name}": (cls, name, *rest) for cls, name, *rest in cases()}


def why_refused(model, data, y):
    """The message of the error of a fit, of the kinds that are for users; None if it worked."""
    try:
        model.fit(data) if y is None else model.fit(data, y)
    except (ValueError, TypeError, MemoryError) as error:
        return str(error)
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_strange_parameter_works_or_is_named(case):
    cls, name, given, data, y = case
    for value in VALUES.values():
        model = cls(**{**given, name: value})
        said = why_refused(model, data, y)
        assert said is None or name in said, f"{name}={shown(value)}: {said}"
        assert getattr(model, name) is value  # what scikit-learn's clone expects


@pytest.mark.parametrize("number", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
def test_numbers_of_numpy_are_numbers(number):
    plain = PLSA(2, random_state=0, max_iter=3, tol=0).fit(X)
    same = PLSA(number(2), random_state=number(0), max_iter=number(3), tol=number(0)).fit(X)
    np.testing.assert_array_equal(plain.doc_topic_, same.doc_topic_)
    np.testing.assert_array_equal(plain.transform(X), same.transform(X))
    assert isinstance(same.n_components, number)


def test_fractions_of_numpy_are_numbers():
    half = PLSA(2, random_state=0, doc_topic_prior=np.float16(1.5), max_iter=3, tol=0).fit(X)
    plain = PLSA(2, random_state=0, doc_topic_prior=1.5, max_iter=3, tol=0).fit(X)
    np.testing.assert_array_equal(plain.transform(X), half.transform(X))


def test_numbers_that_nothing_can_count_to_are_refused_in_short():
    for value in (2**63, 10**400, 10**5000):
        with pytest.raises(ValueError, match=r"n_neighbors must be an integer.* got an integer of"):
            LTM(2, n_neighbors=value).fit(X)
    with pytest.raises(ValueError, match="tol must be a finite number"):
        check_real("tol", 10**400)
    with pytest.raises(ValueError, match=r"k must be an integer .* got \[0, 0, .*\.\.\."):
        check_int("k", [0] * 1000, 1)


def test_many_restarts_need_no_memory_before_they_run():
    model = PLSA(2, n_init=2**40, random_state=0, max_iter=1, tol=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, on_iteration=interrupt)


def interrupt(state):
    raise KeyboardInterrupt


@pytest.mark.parametrize("init", [{}, object(), b"x", 1j, 3, None, [], [[1, "a"]] * 20])
def test_a_start_that_is_none_is_named(init):
    with pytest.raises(ValueError, match=r"^init"):
        PLSA(2, init=init).fit(X)


def test_numbers_that_no_memory_holds_are_refused_before():
    with pytest.raises(MemoryError, match=r"\(n_components\) .* GB are available"):
        coview.view_reliability(TWO, 2**31)
    assert coview.view_reliability(TWO, np.int8(2)).names == ("a", "b")


@pytest.mark.parametrize("dtype", ["2:3", "f4,f4", "{", "", b"x", [], {"a": 1}, 3, "M8"])
def test_a_precision_that_is_none_is_named(dtype):
    with pytest.raises(ValueError, match="dtype must be float32 or float64"):
        PLSA(2, dtype=dtype).fit(X)


@pytest.mark.parametrize("name", [np.array([1, 2]), 3, None, ["a"], "z"], ids=str)
def test_a_view_that_is_none_is_named(name):
    with pytest.raises(ValueError, match="split names"):
        Views(TWO).split(name, 2)


def test_directions_and_links_are_named():
    with pytest.raises(ValueError, match="n_directions"):
        coview.baselines.CCAClustering(3, n_directions=255).fit(TWO)
    for nowhere in ("", "\0", "no/where"):
        with pytest.raises(FileNotFoundError, match="no file of links"):
            coview.edge_graph(nowhere, ids=["a", "b"])


NO_MODELS = [(), None, 3, "x", LinkPLSA, object()]


@pytest.mark.parametrize("model", NO_MODELS, ids=lambda model: type(model).__name__)
def test_what_is_no_fitted_model_is_named(model, tmp_path):
    """Everything that takes a model; an estimator that is not fitted has scikit-learn's error."""
    views = Views(TWO)
    for use in (
        lambda one: coview.SearchIndex(one),
        lambda one: coview.search(one, {"a": X[:1]}, in_view="b"),
        lambda one: coview.top_terms(one),
        lambda one: coview.suggest_labels(one, views, 1),
        lambda one: coview.reporting.summarize_topics(one),
        lambda one: coview.io.save(one, tmp_path / "m.coview"),
    ):
        with pytest.raises(TypeError, match=r"^model must be a fitted model"):
            use(model)
        with pytest.raises(NotFittedError):
            use(LinkPLSA(2))


@pytest.mark.parametrize("argument", ["ids", "features", "label_names"])
@pytest.mark.parametrize(
    "names", [0, 1.5, True, len, {"a", "b"}, np.array(2)], ids=lambda names: type(names).__name__
)
def test_what_is_no_sequence_of_names_is_named(argument, names):
    # the order of a set is nobody's: names would go to other classes
    with pytest.raises(
        TypeError, match=f"sequence of names for {argument}.*found {type(names).__name__}"
    ):
        Views(np.ones((2, 2)), **{"labels": [0, 1], argument: names})


def test_no_names_of_classes_at_all():
    with pytest.raises(TypeError, match="sequence of names for label_names"):
        Views(np.ones((2, 2)), labels=[0, 1], label_names={"cat": 0, "dog": 1})
    with pytest.raises(ValueError, match="no class is named in label_names"):
        Views(np.ones((2, 2)), labels=[0, 1], label_names=[])


# -- frames ----------------------------------------------------------------------------------------

ROWS = [[0.5, 1.0], [2.0, 0.0], [1.0, 3.5]]
FRAMES = {
    "pandas": pd.DataFrame(ROWS),
    "pandas, other numbers": pd.DataFrame(ROWS, columns=[7, 3]),
    "pandas, the same number": pd.DataFrame(ROWS, columns=[1, 1]),
    "pandas, negative numbers": pd.DataFrame(ROWS, columns=[-1, -2]),
    "pandas, floats": pd.DataFrame(ROWS, columns=[0.5, 1.5]),
    "pandas, pairs": pd.DataFrame(ROWS, columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])),
    "pandas, texts": pd.DataFrame(ROWS, columns=["a", "b"]),
    "pandas, nullable": pd.DataFrame(ROWS).astype("Float64"),
    "pandas, float32": pd.DataFrame(ROWS).astype("float32"),
    "pandas, sparse": pd.DataFrame(ROWS).astype(pd.SparseDtype(float, 0.0)),
    "pandas, arrow": pd.DataFrame(ROWS).astype("float64[pyarrow]"),
    "pandas, Fortran order": pd.DataFrame(np.asfortranarray(ROWS)),
    "polars": pl.DataFrame(ROWS, orient="row"),
    "polars, texts": pl.DataFrame(ROWS, schema=["a", "b"], orient="row"),
    "polars, numbers as texts": pl.DataFrame(ROWS, schema=["1", "0"], orient="row"),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames_of_floats_are_matrices(frame):
    views = Views(frame)
    assert views["X"].toarray().tolist() == ROWS
    assert Views({"a": frame, "b": frame}).widths == (2, 2)
    named = not hasattr(frame, "iloc") or isinstance(frame.columns[0], str)
    assert (views.features["X"] is not None) == named
    model = PLSA(2, random_state=0, max_iter=3, tol=0).fit(frame)
    np.testing.assert_array_equal(model.transform(frame), model.transform(views))


@pytest.mark.parametrize("columns", [[0, 1], ["a", "b"]])
def test_whole_numbers_beside_floats_are_checked(columns):
    frame = pd.DataFrame({columns[0]: [0.5, 1.0], columns[1]: [2**53 + 1, 0]})
    with pytest.raises(ValueError, match=r"Column '[1b]' of view 'X' holds integers of 2\*\*53"):
        Views(frame)


TIMES = {
    "date": [datetime.date(2020, 1, 1)] * 2,
    "datetime": [datetime.datetime(2020, 1, 1)] * 2,
    "time": [datetime.time(1)] * 2,
    "duration": [datetime.timedelta(1)] * 2,
}


@pytest.mark.parametrize("beside", [[0.5, 1.5], [1, 2]], ids=["floats", "integers"])
@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_dates_and_times_are_no_counts(times, beside):
    """polars makes numbers of them where they stand beside numbers: days or microseconds."""
    data = {"a": beside, "when": times}
    for make in (pl.DataFrame, pd.DataFrame):
        with pytest.raises((ValueError, TypeError), match=r"when|not 'datetime"):
            Views(make(data))
    with pytest.raises(ValueError, match=r"Column 'when' of view 'X' must hold numbers.*\(D|\(T"):
        Views(pl.DataFrame(data))
    for make in (pl.DataFrame, pd.DataFrame, pa.table):
        with pytest.raises((ValueError, TypeError), match=r"when|not 'datetime|numbers"):
            Views.from_dataframe(make(data), counts={"n": ["a", "when"]})


@pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000], ids=["+", "-", "long"])
def test_an_object_beyond_all_floats_is_a_value_of_a_view(value):
    with pytest.raises(ValueError, match=r"bits.*view 'X' at row 1, column 0"):
        Views(np.array([[1], [value]], dtype=object))


def test_views_are_selected_by_names_or_a_list_of_them():
    views = Views({"a": [[1]], "b": [[2]], "c": [[3]]})
    assert views.select(["c", "a"]).names == views.select("c", "a").names == ("c", "a")
    assert views.select(("c",)).names == views.select(np.array(["c"])).names == ("c",)
    assert views.drop(["c", "a"]).names == views.drop("c", "a").names == ("b",)
    for wrong in ([], [1], ["a", "z"]):
        with pytest.raises((ValueError, TypeError), match="view"):
            views.select(wrong)


# -- raw documents in frames -----------------------------------------------------------------------

TEXTS = ["goal coach team", "team goal match", "butter garlic pan", "garlic salt butter"]


@pytest.fixture(scope="module")
def one_column():
    return PLSA(2, random_state=0).fit(Views.from_texts({"en": TEXTS}))


@pytest.fixture(scope="module")
def two_columns():
    views = Views.from_texts({"en": TEXTS, "de": TEXTS[::-1]})
    return LinkPLSA(2, random_state=0).fit(views)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, lambda d: pl.LazyFrame(d)])
def test_a_frame_is_read_by_the_recipes_of_the_model(one_column, two_columns, make):
    raw = {"en": TEXTS[:2], "number": [1, 2]}
    expected = one_column.transform({"en": TEXTS[:2]})
    np.testing.assert_array_equal(one_column.transform(make(raw)), expected)
    both = {"en": [TEXTS[0], None], "de": [None, TEXTS[1]]}
    np.testing.assert_array_equal(two_columns.predict(make(both)), two_columns.predict(both))
    np.testing.assert_array_equal(
        two_columns.transform(make(raw)), two_columns.transform({"en": TEXTS[:2]})
    )


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series, pl.Series])
def test_texts_alone_are_read_where_the_model_reads_one_column(one_column, two_columns, make):
    expected = one_column.transform({"en": TEXTS})
    np.testing.assert_array_equal(one_column.transform(make(TEXTS)), expected)
    np.testing.assert_array_equal(one_column.transform({"en": make(TEXTS)}), expected)
    with pytest.raises(ValueError, match=r"it reads 'en', 'de'. Say which it is"):
        two_columns.predict(make(TEXTS))


def test_a_frame_that_the_model_cannot_read_is_told_how(one_column, two_columns):
    with pytest.raises(ValueError, match=r"reads the columns 'en'.*'fr'.*Views\.from_dataframe"):
        one_column.predict(pd.DataFrame({"fr": TEXTS}))
    with pytest.raises(ValueError, match=r"the views 'en', 'de'.*Views\.from_dataframe"):
        two_columns.predict(pd.DataFrame(np.ones((2, 5))))
    counts = LinkPLSA(2, random_state=0, max_iter=3, tol=0).fit(TWO)
    with pytest.raises(ValueError, match=r"the views 'a', 'b'.*Views\.from_dataframe"):
        counts.transform(pd.DataFrame(X))
    with pytest.raises(ValueError, match=r"text 'goal coach team'.*Views\.from_dataframe"):
        PLSA(2).fit(pd.DataFrame({"en": TEXTS, "n": range(len(TEXTS))}))


# -- files -----------------------------------------------------------------------------------------


def test_damaged_parquet_is_a_value_error_wherever_it_is_found(tmp_path):
    path = tmp_path / "t.parquet"
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(["goal", "pan", "moon", "team"], 6)) for _ in range(500)]
    pq.write_table(pa.table({"en": words}), path)
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), max(1, len(whole) // 200)):
        damaged = bytearray(whole)
        damaged[place : place + 8] = rng.bytes(8)
        path.write_bytes(bytes(damaged))
        try:
            Views.from_table(path, text="en")
        except ValueError as error:
            refused += "cannot be read as Parquet" in str(error)
    assert refused > 10


def test_commands_name_options_and_python_names_arguments(tmp_path):
    latin, semicolons = tmp_path / "latin.csv", tmp_path / "semicolons.csv"
    latin.write_bytes("en\nein schöner Tag\n".encode("latin-1"))
    semicolons.write_text("en;de\na b;c d\n")
    with pytest.raises(ValueError, match=r"encoding='cp1252' or 'latin-1'"):
        Views.from_table(latin, text="en")
    with pytest.raises(ValueError, match=r"Perhaps delimiter=';' is needed"):
        Views.from_table(semicolons, text="en")
    for args, words in (
        ([latin, "--text", "en"], "for example --encoding cp1252 or latin-1."),
        ([semicolons, "--text", "en"], "Perhaps --delimiter ';' is needed."),
        ([semicolons, "--text", "en", "--delimiter", "ab"], "--delimiter must be one character"),
        ([semicolons, "--text", "en", "--encoding", "x"], "for example --encoding cp1252"),
    ):
        code, _, said = inside("fit", *args, "-o", tmp_path / "m.coview")
        assert code != 0
        assert words in said
        assert "delimiter=" not in said
        assert "encoding=" not in said


def test_the_words_of_a_command_do_not_stay():
    inside("info", "nothing.coview")
    assert argument("encoding", "cp1252") == "encoding='cp1252'"
