"""Files of rows and DataFrames to views: formats, columns, cells, errors with their lines."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from coview import LinkPLSA, Views
from coview.metrics import match_ranks, purity, similarity
from coview.reading.columns import LabelColumn
from coview.reading.tables import open_table, text_columns
from coview.views.checks import DataWarning

ROWS = [
    {"id": "a", "en": "the red cat sleeps", "de": "die rote Katze", "kind": "cat", "n": 3},
    {"id": "b", "en": "a dog, a big dog\nruns", "de": "", "kind": "dog", "n": 0},
    {"id": "c", "en": "", "de": 'Hund "und" Katze', "kind": "", "n": 7},
]


def write_csv(path, rows=ROWS, delimiter=",", **options):
    pd.DataFrame(rows).to_csv(path, index=False, sep=delimiter, **options)
    return path


def write_jsonl(path, rows=ROWS):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as file:
        for row in rows:
            kept = {key: value for key, value in row.items() if value != ""}
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")
    return path


def write_parquet(path, rows=ROWS):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def by_file(path):
    return Views.from_table(path, text=["en", "de"], id="id", label="kind")


@pytest.fixture
def expected():
    columns = {name: [row[name] for row in ROWS] for name in ("en", "de")}
    return Views.from_texts(
        columns, ids=["a", "b", "c"], labels=[0, 1, -1], label_names=["cat", "dog"]
    )


# -- formats --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.csv", write_csv),
        ("t.CSV", write_csv),
        ("t.csv.gz", write_csv),
        ("t.tsv", lambda path: write_csv(path, delimiter="\t")),
        ("t.jsonl", write_jsonl),
        ("t.ndjson.gz", write_jsonl),
        ("t.parquet", write_parquet),
    ],
)
def test_every_format_gives_the_same_views(tmp_path, expected, name, write):
    assert by_file(write(tmp_path / name)).equals(expected)


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, lambda rows: pa.Table.from_pylist(rows)]
)
def test_every_kind_of_frame_gives_the_same_views(expected, make):
    views = Views.from_dataframe(make(ROWS), text=["en", "de"], id="id", label="kind")
    assert views.equals(expected)


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path, expected):
    assert by_file(write_csv(tmp_path / "t.csv", encoding="utf-8-sig")).equals(expected)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "latin-1"])
def test_other_encodings_are_read(tmp_path, encoding):
    path = write_csv(tmp_path / "t.csv", [{"fr": "déjà vu"}], encoding=encoding)
    views = Views.from_table(path, text="fr", encoding=encoding, stop_words=None)
    assert views.features["fr"].tolist() == ["déjà", "vu"]


def test_any_suffix_is_read_with_a_delimiter(tmp_path, expected):
    path = write_csv(tmp_path / "t.dat", delimiter=";")
    views = Views.from_table(path, text=["en", "de"], id="id", label="kind", delimiter=";")
    assert views.equals(expected)


def test_quotes_can_be_plain_characters(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text('en\tn\n"so called cat\t1\ndog"\t2\n')
    views = Views.from_table(path, text="en", quotechar=None)
    assert views.features["en"].tolist() == ["called", "cat", "dog"]


def test_long_cells_and_blank_lines_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "cat " * 60_000 + ",1\n\n\ndog,2\n\n")
    assert Views.from_table(path, text="x", languages=None)["x"].toarray().tolist() == [
        [60_000, 0],
        [0, 1],
    ]


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=12)


@given(st.lists(st.fixed_dictionaries({"a": cells, "b": cells}), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_rows_come_back_as_they_were_written(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")
    expected = [(row["a"], row["b"]) for row in rows]
    write_csv(folder / "t.csv", rows)
    pl.DataFrame(rows).write_ndjson(folder / "t.jsonl")
    write_parquet(folder / "t.parquet", rows)
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        read = [cells for _, cells in open_table(folder / name).rows(["a", "b"])]
        assert read == expected, name


def test_progress_is_told_in_bytes(tmp_path):
    rows = [{"en": f"word{i % 7} cat"} for i in range(2500)]
    for path in (
        write_csv(tmp_path / "t.csv", rows),
        write_csv(tmp_path / "t.csv.gz", rows),
        write_jsonl(tmp_path / "t.jsonl", rows),
        write_parquet(tmp_path / "t.parquet", rows),
    ):
        told = []
        Views.from_table(
            path,
            text="en",
            max_df=1.0,
            on_bytes=lambda done, total, told=told: told.append((done, total)),
        )
        size = path.stat().st_size
        assert len(told) > 2
        assert told == sorted(told)
        assert told[-1] == (size, size)
        assert {total for _, total in told} == {size}


# -- damaged files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("t.csv", b"a,b\n1,2\n1,2,3\n", r"line 3: 3 cells, but the first row names 2 columns"),
        ("t.csv", b'a,b\n"x\ny",2\n1\n', r"line 4: 1 cell,"),
        ("t.csv", b'a,b\n1,2\n"open,2\n3,4\n', r"begins at line 3: unexpected end of data"),
        ("t.csv", b"a,a\n1,2\n", r"found more than once: 'a'"),
        ("t.csv", b"", r"is empty"),
        ("t.csv", b"a,b\n", r"has no rows"),
        ("t.csv", b"a,b\nx,1\ncaf\xe9,2\n", r"line 3: not text in the encoding utf-8.*cp1252"),
        ("t.csv", "a,b\nx,1\n".encode("utf-16"), r"line 1: not text.*encoding='utf-16'"),
        ("t.csv.gz", b"a,b\n", r"cannot be unpacked"),
        ("t.jsonl", b'{"a": "x"}\n{"a": }\n', r"line 2: expected one whole JSON object"),
        ("t.jsonl", b'{"a": "x"}\n[1, 2]\n', r"line 2: .*found list \[1, 2\]"),
        ("t.jsonl", b'{"a": "x"}\n\n{"a": NaN}\n', r"line 3: .*NaN is not JSON; use null"),
        ("t.jsonl", b'{"a": "x"}\n{"a": "\xff"}\n', r"line 2: not text"),
        ("t.json", b'[\n{"a": "x"}\n]\n', r"line 1: expected one whole JSON object"),
        ("t.parquet", b"PAR1 nonsense", r"cannot be read as Parquet"),
    ],
)
def test_damaged_files_are_refused_with_the_line(tmp_path, name, content, match):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=match):
        Views.from_table(path, text="a")


def test_a_damaged_archive_is_refused(tmp_path):
    path = write_csv(tmp_path / "t.csv.gz", [{"a": "cat dog"}] * 5000)
    whole = path.read_bytes()
    for damaged in (whole[:-20], whole[:30] + b"\xff" * 20 + whole[50:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="cannot be unpacked"):
            Views.from_table(path, text="a")


def test_undecodable_bytes_of_a_wide_encoding_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\nx,1\n".encode("utf-16") + b"\x00\xd8")
    with pytest.raises(ValueError, match="some line: not text in the encoding utf-16"):
        Views.from_table(path, text="a", encoding="utf-16")


@pytest.mark.parametrize(
    ("options", "match"),
    [({"encoding": "klingon"}, "no encoding 'klingon'"), ({"delimiter": "::"}, "one character")],
)
def test_options_without_a_meaning_are_refused(tmp_path, options, match):
    with pytest.raises(ValueError, match=match):
        Views.from_table(write_csv(tmp_path / "t.csv"), text="en", **options)


def test_files_that_are_no_tables_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is none"):
        Views.from_table(tmp_path / "none.csv", text="en")
    with pytest.raises(FileNotFoundError, match="it is a folder"):
        Views.from_table(tmp_path, text="en")
    with pytest.raises(ValueError, match=r"t\.xls has none of '\.csv'.*delimiter="):
        Views.from_table(write_csv(tmp_path / "t.xls"), text="en")


# -- columns --------------------------------------------------------------------------------------


def test_without_columns_the_error_says_which_look_like_text(tmp_path):
    path = write_csv(tmp_path / "t.csv")
    with pytest.raises(
        ValueError, match=r"'id', 'en', 'de', 'kind', 'n'; 'en', 'de' look like text"
    ):
        Views.from_table(path)
    with pytest.raises(ValueError, match="none looks like text"):
        Views.from_dataframe(pd.DataFrame({"x": [1, 2]}))
    assert text_columns(open_table(path)) == ["en", "de"]


def test_an_unknown_column_is_refused_with_the_columns_and_a_close_one(tmp_path):
    for path in (write_csv(tmp_path / "t.csv"), write_jsonl(tmp_path / "t.jsonl")):
        with pytest.raises(ValueError, match=r"no column 'kin'; .*'kind'.* Did you mean 'kind'\?"):
            Views.from_table(path, text="en", label="kin")


def test_another_delimiter_is_recognized_in_the_header(tmp_path):
    path = write_csv(tmp_path / "t.csv", [{"x": "cat", "y": "dog"}], delimiter=";")
    with pytest.raises(ValueError, match=r"no column 'x'.* Perhaps delimiter=';' is needed"):
        Views.from_table(path, text="x")


def test_a_key_that_comes_late_is_a_column(tmp_path):
    rows = [{"a": f"cat{i % 5}"} for i in range(150)] + [{"b": "dog"}]
    path = write_jsonl(tmp_path / "t.jsonl", rows)
    views = Views.from_table(path, text=["a", "b"], languages=None)
    assert views.present.sum(axis=0).tolist() == [150, 1]


def test_a_dict_names_the_views_and_recipes_know_their_column(tmp_path):
    path = write_csv(tmp_path / "t.csv")
    views = Views.from_table(path, text={"english": "en", "words": "en"}, tokens={"german": "de"})
    assert views.names == ("english", "words", "german")
    assert [views.recipes[name].source for name in views.names] == ["en", "en", "de"]
    assert "the" in views.features["words"]
    assert "the" not in views.features["english"]


def test_two_views_of_one_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match="view names must be unique"):
        Views.from_table(write_csv(tmp_path / "t.csv"), text="en", tokens="en")


def test_columns_are_named_by_texts(tmp_path):
    with pytest.raises(TypeError, match="text must be a column's name"):
        Views.from_table(write_csv(tmp_path / "t.csv"), text=[3])


def test_unknown_options_are_refused(tmp_path):
    with pytest.raises(TypeError, match="min_dif"):
        Views.from_table(write_csv(tmp_path / "t.csv"), text="en", min_dif=3)


# -- cells ----------------------------------------------------------------------------------------


def test_tokens_are_parted_by_white_space_or_a_separator_or_are_lists(tmp_path):
    rows = [{"a": "x  y", "b": "New York; x"}, {"a": '["New York", "x", 3]', "b": ""}]
    path = write_csv(tmp_path / "t.csv", rows)
    views = Views.from_table(path, tokens="a")
    assert views.features["a"].tolist() == ["3", "New York", "x", "y"]
    views = Views.from_table(path, tokens="b", separator=";")
    assert views.features["b"].tolist() == ["New York", "x"]
    assert views.recipes["b"].counts(["x;New York;x"])[0].toarray().tolist() == [[1, 2]]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_lists_are_tokens(make):
    views = Views.from_dataframe(make({"tags": [["x", "y"], [], None]}), tokens="tags")
    assert views["tags"].toarray().tolist() == [[1, 1], [0, 0], [0, 0]]
    assert views.present[:, 0].tolist() == [True, True, False]


def test_lists_in_json_lines_are_tokens(tmp_path):
    path = write_jsonl(tmp_path / "t.jsonl", [{"tags": ["x", "y"]}, {"tags": []}, {"z": 1}])
    views = Views.from_table(path, tokens="tags")
    assert views.present[:, 0].tolist() == [True, True, False]


def test_a_cell_of_a_wrong_kind_is_refused_with_its_line_and_column(tmp_path):
    path = write_jsonl(tmp_path / "t.jsonl", [{"a": "cat"}, {"a": 3}])
    with pytest.raises(
        TypeError, match=r"t\.jsonl, line 2, column 'a': Expected a text, found int"
    ):
        Views.from_table(path, text="a")
    with pytest.raises(TypeError, match=r"line 2, column 'a': Expected a list of tokens"):
        Views.from_table(path, tokens="a")
    with pytest.raises(TypeError, match="The frame, row 1, counting from 0, column 'a'"):
        Views.from_dataframe(pd.DataFrame({"a": ["cat", 3]}), text="a")


def test_ids_that_repeat_or_are_empty_are_refused_with_their_lines(tmp_path):
    path = write_csv(tmp_path / "t.csv", [{"id": i, "x": "cat"} for i in ("p", "q\nr", "s", "p")])
    with pytest.raises(
        ValueError, match=r"the id 'p' is in line 2 and line 6.*Each of ids must be unique"
    ):
        Views.from_table(path, text="x", id="id")
    path = write_csv(tmp_path / "t.csv", [{"id": "p", "x": "cat"}, {"id": " ", "x": "dog"}])
    with pytest.raises(ValueError, match="line 3, column 'id': the id is empty"):
        Views.from_table(path, text="x", id="id")


def test_whole_numbers_are_ids():
    frame = pd.DataFrame({"x": ["cat", "dog"], "i": [7, 8], "f": [7.0, 8.0], "g": [0.5, 1.5]})
    for column in ("i", "f"):
        assert Views.from_dataframe(frame, text="x", id=column).ids.tolist() == ["7", "8"]
    with pytest.raises(TypeError, match="an id must be a text or an integer"):
        Views.from_dataframe(frame, text="x", id="g")


def test_the_index_of_a_pandas_frame_names_the_documents():
    frame = pd.DataFrame({"x": ["cat", "dog"]}, index=["p", "q"])
    assert Views.from_dataframe(frame, text="x").ids.tolist() == ["p", "q"]
    assert Views.from_dataframe(frame.reset_index(drop=True), text="x").ids is None


@pytest.mark.parametrize(
    ("cells", "labels", "names"),
    [
        (["b", " a", "", "b "], [1, 0, -1, 1], ["a", "b"]),
        (["10", "2", "", "-1"], [10, 2, -1, -1], None),
        (["01", "1"], [0, 1], ["01", "1"]),
        ([3, None, 5], [3, -1, 5], None),
        ([3.0, float("nan")], [3, -1], None),
        ([True, False], [1, 0], ["False", "True"]),
        (["x", 3], [1, 0], ["3", "x"]),
        ([None, ""], [-1, -1], None),
    ],
)
def test_labels_are_integers_or_numbers_of_their_sorted_names(cells, labels, names):
    column = LabelColumn()
    for cell in cells:
        column.add(cell)
    found, found_names = column.finish()
    assert found.tolist() == labels
    assert found_names == names


def test_labels_of_other_kinds_are_refused():
    with pytest.raises(TypeError, match="column 'y': a label must be a text or an integer"):
        Views.from_dataframe(pd.DataFrame({"x": ["cat"], "y": [0.5]}), text="x", label="y")


# -- pictures and numbers -------------------------------------------------------------------------


def stub_images(monkeypatch, made):
    """A stand-in for the module of pictures, which keeps what it was asked for."""
    asked = []
    module = ModuleType("coview.reading.images")

    def image_views(paths, name, **options):
        asked.append((paths, name, options))
        return made(paths, name)

    module.image_views = image_views
    monkeypatch.setitem(sys.modules, "coview.reading.images", module)
    return asked


def two_words(paths, name):
    present = np.array([path is not None for path in paths])
    return {
        "data": {name: sp.csr_array(np.outer(present, [1, 2]))},
        "features": {name: ["w0", "w1"]},
        "present": {name: present},
        "recipes": {},
    }


def test_pictures_are_found_beside_the_table(tmp_path, monkeypatch):
    asked = stub_images(monkeypatch, two_words)
    rows = [{"x": "cat", "file": "pics/a.png"}, {"x": "dog", "file": ""}]
    path = write_csv(tmp_path / "t.csv", rows)
    views = Views.from_table(path, text="x", image={"photo": "file"}, image_options={"n_words": 2})
    assert asked == [([str(tmp_path / "pics" / "a.png"), None], "photo", {"n_words": 2})]
    assert views.names == ("x", "photo")
    assert views.present.tolist() == [[True, True], [True, False]]


def test_a_picture_view_must_not_take_the_name_of_another(tmp_path, monkeypatch):
    stub_images(monkeypatch, lambda paths, name: two_words(paths, "x"))
    path = write_csv(tmp_path / "t.csv", [{"x": "cat", "file": "a.png"}])
    with pytest.raises(ValueError, match="Two views would be called 'x'"):
        Views.from_table(path, text="x", image="file")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_numbers_are_views_of_counts(make):
    frame = make(
        {"x": ["cat", None, "dog"], "g_a": [1, 0, None], "g_b": [2, 0, None], "n": [1, 2, 3]}
    )
    views = Views.from_dataframe(frame, text="x", counts={"genes": "g_*", "n": ["n"]})
    assert views.names == ("x", "genes", "n")
    assert views["genes"].toarray().tolist() == [[1, 2], [0, 0], [0, 0]]
    assert views.features["genes"].tolist() == ["g_a", "g_b"]
    assert views.present[:, 1].tolist() == [True, True, False]
    assert views.recipes["genes"] is None


def test_numbers_need_no_text():
    frame = pd.DataFrame({"a": [1, 2], "b": [0, 1]}, index=["p", "q"])
    views = Views.from_dataframe(frame, counts=["a", "b"])
    assert views.names == ("counts",)
    assert views.ids.tolist() == ["p", "q"]
    assert views.present.all()


def test_a_number_that_is_missing_in_a_row_of_numbers_is_refused():
    frame = pd.DataFrame({"a": [1, 2], "b": [None, 1]})
    with pytest.raises(ValueError, match="NaN in view 'counts' at row 0, column 1"):
        Views.from_dataframe(frame, counts=["a", "b"])


def test_columns_of_numbers_must_be_there():
    frame = pd.DataFrame({"alpha": [1]})
    with pytest.raises(ValueError, match=r"no column 'alphas'.*Did you mean 'alpha'"):
        Views.from_dataframe(frame, counts=["alphas"])
    with pytest.raises(ValueError, match="View 'v' has no columns"):
        Views.from_dataframe(frame, counts={"v": []})


def test_only_frames_are_frames():
    with pytest.raises(TypeError, match=r"Expected a DataFrame .* found list"):
        Views.from_dataframe([["cat"]], text="x")


def test_parquet_needs_pyarrow(tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"coview\[parquet\]"):
        Views.from_table(path, text="en")


NEWS = Path(__file__).parents[2] / "examples" / "news.csv"


@pytest.mark.skipif(not NEWS.exists(), reason="the examples are not part of the package")
def test_the_topics_of_the_example_are_found_and_one_language_finds_the_other():
    views = Views.from_table(NEWS, text=["en", "de"], id="id", label="topic")
    model = LinkPLSA(6, random_state=0).fit(views)
    assert purity(views.labels, model.labels_) > 0.9
    both = views[views.present.all(axis=1)]
    mixtures = [model.transform(both.select(language)) for language in ("en", "de")]
    assert np.median(match_ranks(similarity(*mixtures))) < 10


def test_views_from_a_table_can_be_used_by_the_container(tmp_path):
    views = by_file(write_csv(tmp_path / "t.csv"))
    part = views[[0, 2]].select("de")
    assert part.recipes["de"].counts(["Katze"])[0].nnz == 1
    with pytest.warns(DataWarning, match="No list of stop words"):
        Views.from_table(tmp_path / "t.csv", text="en", languages="tlh")


def test_a_compressed_text_that_is_damaged_twice_is_named(tmp_path):
    """The line that is no text is looked for in a second reading, which meets the other damage."""
    path = tmp_path / "a.csv.gz"
    lines = b"text\n" + b"".join(b"%d words and more\n" % i for i in range(5000))
    whole = gzip.compress(lines + b"\xff\xfe broken\n" * 3000)
    for cut in range(2, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match=r"a\.csv\.gz"):
            list(open_table(path).rows(["text"]))


def test_an_error_of_pyarrow_of_any_type_names_the_file(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["a b c"]}), path)
    for kind, expected in (
        (pa.lib.ArrowCapacityError, ValueError),
        (OverflowError, ValueError),
        (pa.lib.ArrowMemoryError, MemoryError),
    ):

        def fail(*arguments, kind=kind, **options):
            raise kind("of its own")

        monkeypatch.setattr(parquet, "ParquetFile", fail)
        with pytest.raises(expected, match=r"a\.parquet cannot be read.*of its own") as caught:
            open_table(path).columns()
        assert type(caught.value) is expected


FLIPS = """
import sys
from pathlib import Path
from coview.reading.tables import open_table

path = Path(sys.argv[1])
whole = path.read_bytes()
footer = int.from_bytes(whole[-8:-4], "little")
for place in range(len(whole) - 8 - footer, len(whole) - 8):
    for bit in range(0, 8, 2):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << bit
        path.write_bytes(bytes(damaged))
        try:
            list(open_table(path).rows(["text"]))
        except (ValueError, MemoryError) as error:
            assert path.name in str(error), error
print("alive")
"""


def test_a_damaged_footer_of_parquet_does_not_end_the_process(tmp_path):
    """pyarrow does, where it is asked about a column of a damaged part."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a b", "c d"]}), path, store_schema=False)
    command = [sys.executable, "-c", FLIPS, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.stdout == "alive\n", ran.stderr[-500:]
