"""Tables converted in a stream: the bits of a reading in memory, whatever the parts."""

import csv
import json
import os
import warnings

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from coview import DataWarning, Views, convert_table, open_shards, write_shards
from coview.reading import counting, number_file, spilled_counts, spilled_terms
from coview.reading.number_file import NumberFile
from coview.views import blocks

COLUMNS = ("name", "en", "tags", "kind")


def make_rows(n_rows=200, seed=0):
    """Rows of texts with rare and common words, missing cells, and classes."""
    rng = np.random.default_rng(seed)
    words = [f"w{i:03d}" for i in range(120)] + [
        "the",
        "of",
        "and",
        "die",
        "straße",
        "日本語",
        "ＡＢ",
    ]
    shares = 1 / np.arange(1, len(words) + 1) ** 1.1
    rows = []
    for i in range(n_rows):
        size = int(rng.integers(0, 25))
        text = " ".join(rng.choice(words, size, p=shares / shares.sum()))
        tags = list(rng.choice(["x", "y", "z", f"only{i}"], int(rng.integers(0, 4))))
        kind = ["news", "sport", "", "-1"][int(rng.integers(4))]
        rows.append((f"doc {i}", text, json.dumps(tags) if i % 7 else "", kind))
    return rows


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The same table as a CSV, a TSV, a JSON Lines and a Parquet file."""
    folder, rows = tmp_path_factory.mktemp("tables"), make_rows()
    for suffix, delimiter in ((".csv", ","), (".tsv", "\t")):
        with (folder / f"t{suffix}").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=delimiter).writerows([COLUMNS, *rows])
    with (folder / "t.jsonl").open("w", encoding="utf-8") as file:
        for row in rows:
            record = dict(zip(COLUMNS, row, strict=True))
            file.write(json.dumps({**record, "tags": json.loads(row[2] or "null")}) + "\n")
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    parquet.write_table(
        pyarrow.table({n: list(c) for n, c in columns.items()}), folder / "t.parquet"
    )
    return folder


ROLES = {"text": {"english": "en"}, "tokens": "tags", "id": "name", "label": "kind"}


@pytest.fixture(params=["one part", "many parts"])
def sizes(request, monkeypatch):
    """How much is counted, kept, merged and written at a time."""
    if request.param == "one part":
        return
    monkeypatch.setattr(counting, "BUFFER", 150)
    monkeypatch.setattr(spilled_counts, "TERM_BYTES", 10**9)
    monkeypatch.setattr(spilled_terms, "WINDOW", 3)
    monkeypatch.setattr(number_file, "WAITING", 5)
    monkeypatch.setattr(blocks, "MIN_NONZEROS", 150)


def assert_same(sharded, views):
    """Everything is the same: bits of matrices, names, masks, labels, recipes."""
    assert sharded.to_views().equals(views)
    for name, recipe in views.recipes.items():
        assert sharded.recipes[name].as_data()[0] == recipe.as_data()[0]
        assert sharded.recipes[name].terms.tolist() == recipe.terms.tolist()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_a_stream_gives_the_bits_of_a_reading_in_memory(tables, tmp_path, sizes, suffix):
    path = tables / f"t{suffix}"
    views = Views.from_table(path, **ROLES)
    sharded = convert_table(path, tmp_path / "a.shards", **ROLES)
    assert_same(sharded, views)
    # to the byte, manifest included
    written = write_shards(views, tmp_path / "b.shards")
    assert sharded.manifest == written.manifest


@pytest.mark.parametrize(
    "options",
    [
        {"min_df": 1, "max_df": 1.0},
        {"min_df": 0.02, "max_df": 150},
        {"max_features": 17},
        {"ngram_range": (1, 2), "min_df": 3},
        {"languages": None},
        {"stop_words": ["w001"], "max_features": 40},
        {"vectorizer": {"english": CountVectorizer(binary=True, max_features=30)}},
        {"vectorizer": {"english": CountVectorizer(vocabulary=["w003", "the", "zz"])}},
    ],
    ids=str,
)
def test_every_option_is_as_in_memory(tables, tmp_path, sizes, options):
    path = tables / "t.csv"
    sharded = convert_table(path, tmp_path / "a.shards", **ROLES, **options)
    assert_same(sharded, Views.from_table(path, **ROLES, **options))


def test_terms_that_went_to_disk_are_found_again(tables, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(spilled_counts, "TERM_BYTES", 10**9)
    monkeypatch.setattr(counting, "BUFFER", 100)
    write = spilled_counts.write_run
    monkeypatch.setattr(spilled_counts, "write_run", lambda *a: made.append(a) or write(*a))
    convert_table(tables / "t.csv", tmp_path / "a.shards", **ROLES)
    assert len(made) > 9


def test_views_can_be_chosen_and_ordered(tables, tmp_path):
    path = tables / "t.csv"
    sharded = convert_table(path, tmp_path / "a.shards", **ROLES, use=["tags", "english"])
    assert_same(sharded, Views.from_table(path, **ROLES).select("tags", "english"))
    sharded = convert_table(path, tmp_path / "b.shards", **ROLES, use=["tags"])
    assert sharded.names == ("tags",)
    with pytest.raises(ValueError, match=r"names 'french'; the views are"):
        convert_table(path, tmp_path / "c.shards", **ROLES, use=["french"])


def test_the_same_warnings_of_languages(tmp_path):
    path = tmp_path / "t.csv"
    german = "der die das und nicht ein eine zu mit auf für wir " * 3
    english = "the and of to in is that it was for on are with " * 30
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(
            [["t"], *[[english]] * 400, *[[german + f" w{i % 50}"] for i in range(600)]]
        )
    found = []
    for read in (
        lambda: Views.from_table(path, text="t"),
        lambda: convert_table(path, tmp_path / "a.shards", text="t"),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            read()
        found.append([str(w.message) for w in caught if w.category is DataWarning])
    assert found[0] == found[1]
    assert "in several languages" in found[0][0]


def test_progress_goes_from_the_start_to_the_end(tables, tmp_path):
    seen = []
    convert_table(
        tables / "t.csv", tmp_path / "a.shards", **ROLES, progress=lambda d, t: seen.append(d / t)
    )
    assert seen == sorted(seen)
    assert seen[-1] == 1


# -- bad input --


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.mark.parametrize(
    ("rows", "roles", "message"),
    [
        (
            [["a", "t"], ["1", "xx yy"], ["2", "yy"], ["1", "zz"]],
            {"text": "t", "id": "a"},
            "'1' is in line 2 and line 4",
        ),
        (
            [["a", "t"], ["", "xx yy"]],
            {"text": "t", "id": "a"},
            "line 2, column 'a': the id is empty",
        ),
        ([["t"], [" "], [""]], {"text": "t"}, "has no rows|missing in all of"),
        ([["t"]], {"text": "t"}, "has no rows"),
        ([["t"], ["the of"]], {"text": "t", "languages": "en"}, "No words were found"),
        (
            [["t"], ["xx yy"]],
            {"text": "t", "min_df": 2},
            r"No term of view 't' is left.*2 of them in fewer",
        ),
        ([["t"], ["xx yy"], ["zz", "ww"]], {"text": "t"}, "line 3: 2 cells"),
        ([["t"], ["xx"]], {"text": "u"}, "has no column 'u'"),
        ([["t"], ["xx"]], {}, "Say which columns are views"),
    ],
)
def test_errors_are_those_of_a_reading_in_memory(tmp_path, rows, roles, message):
    path = write_csv(tmp_path / "t.csv", rows)
    with pytest.raises(ValueError, match=message):
        Views.from_table(path, **roles)
    with pytest.raises(ValueError, match=message):
        convert_table(path, tmp_path / "a.shards", **roles)
    assert os.listdir(tmp_path) == ["t.csv"]


def test_lone_surrogates_are_refused_in_names_only(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"i": "a", "t": ["x\\ud800", "y"]}\n{"i": "b", "t": ["y"]}\n')
    kept = convert_table(path, tmp_path / "a.shards", tokens="t", min_df=2)
    assert kept.features["t"].tolist() == ["y"]
    with pytest.raises(ValueError, match="lone surrogate"):
        convert_table(path, tmp_path / "b.shards", tokens="t")
    path.write_text('{"i": "a\\ud800", "t": ["y"]}\n')
    with pytest.raises(ValueError, match=r"line 1, column 'i': .*lone surrogate"):
        convert_table(path, tmp_path / "b.shards", tokens="t", id="i")


def test_weights_of_all_counts_are_refused(tables, tmp_path):
    with pytest.raises(ValueError, match="is a TfidfVectorizer, whose weights need all counts"):
        convert_table(tables / "t.csv", tmp_path / "x", text="en", vectorizer=TfidfVectorizer())


def test_ids_with_one_hash_are_compared(tmp_path, monkeypatch):
    from coview.shards import row_names

    class Same:
        def __init__(self, data, digest_size):
            pass

        def digest(self):
            return bytes(8)

    monkeypatch.setattr(row_names, "blake2b", Same)
    path = write_csv(tmp_path / "t.csv", [["a", "t"], ["é", "xx"], ["b", "xx"], ["", "xx"]][:3])
    assert convert_table(path, tmp_path / "s", text="t", id="a").ids.tolist() == ["é", "b"]
    path = write_csv(tmp_path / "t.csv", [["a", "t"], ["c", "xx"], ["b", "xx"], ["b", "xx"]])
    with pytest.raises(ValueError, match="the id 'b' is in line 3 and line 4"):
        convert_table(path, tmp_path / "r", text="t", id="a")


def test_many_ids_are_compared_in_parts(tmp_path, monkeypatch):
    from coview.shards import row_names, tables

    monkeypatch.setattr(row_names, "PIECE", 7)
    monkeypatch.setattr(number_file, "WAITING", 9)
    monkeypatch.setattr(NumberFile.pieces, "__defaults__", (11,))
    monkeypatch.setattr(tables, "LEAST_SPARE", 2000)
    rows = [["a", "t"], *([f"n{i}", "xx yy"] for i in range(500))]
    given = {"tokens": "t", "id": "a", "max_df": 1.0, "memory": "1MB"}
    path = write_csv(tmp_path / "t.csv", rows)
    sharded = convert_table(path, tmp_path / "s", **given)
    assert sharded.ids.tolist() == [f"n{i}" for i in range(500)]
    write_csv(path, [*rows, ["n321", "xx"]])
    with pytest.raises(ValueError, match="the id 'n321' is in line 323 and line 502"):
        convert_table(path, tmp_path / "r", **given)


def test_an_existing_folder_is_replaced_only_when_asked(tables, tmp_path):
    target = tmp_path / "a.shards"
    convert_table(tables / "t.csv", target, text="en")
    with pytest.raises(FileExistsError, match="is a sharded folder already"):
        convert_table(tables / "t.csv", target, tokens="tags")
    with pytest.raises(ValueError, match="no column"):
        convert_table(tables / "t.csv", target, tokens="nothing", overwrite=True)
    assert open_shards(target).names == ("en",)
    convert_table(tables / "t.csv", target, tokens="tags", overwrite=True)
    assert open_shards(target).names == ("tags",)
    assert os.listdir(tmp_path) == ["a.shards"]


def test_large_parts_of_a_parquet_file_are_read_page_by_page(tables, tmp_path, monkeypatch):
    from coview.reading import parquet

    path = tables / "t.parquet"
    views = Views.from_table(path, **ROLES)
    monkeypatch.setattr(parquet, "LARGE_GROUP", 0)
    for room in (0, 1e9):
        monkeypatch.setattr(parquet, "available_memory", lambda room=room: room)
        assert Views.from_table(path, **ROLES).equals(views)
    assert_same(convert_table(path, tmp_path / "a.shards", **ROLES), views)
