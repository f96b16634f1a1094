"""Sharded folders on the command line: convert, info, and as the input of other commands."""

import csv
import json

import numpy as np
import pytest

from coview import Views, open_shards, write_shards
from tests.cli.command import inside


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "pets.csv"
    rng = np.random.default_rng(0)
    words = [*(f"word{i}" for i in range(25)), "the", "and", "of", "is", "to", "in"]
    rows = [
        (i, " ".join(rng.choice(words, 8)), f"a{i % 3} b{i % 5}", "xy"[i % 2]) for i in range(40)
    ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("name", "en", "tags", "kind"), *rows])
    return path


@pytest.fixture
def shards(table, tmp_path):
    folder = tmp_path / "pets.shards"
    write_shards(Views.from_table(table, text="en", tokens="tags"), folder)
    return folder


def test_a_table_is_converted_in_a_stream(table, tmp_path):
    folder = tmp_path / "p.shards"
    given = ("--text", "en", "--tokens", "tags", "--id", "name", "--label", "kind")
    code, out, err = inside("convert", table, *given, "--shards", folder, "--memory", "512MB")
    assert (code, out) == (0, "")
    assert err.startswith("ShardedViews: 40 documents, 2 views, in 1 shard")
    assert f"Saved in {folder}." in err
    assert "in memory" not in err
    views = Views.from_table(table, text="en", tokens="tags", id="name", label="kind")
    assert open_shards(folder).to_views().equals(views)


def test_options_of_texts_are_used(table, tmp_path):
    folder = tmp_path / "p.shards"
    options = ("--keep-stop-words", "--max-df", "1.0", "--max-features", 3, "--use", "words")
    code, _, err = inside(
        "convert",
        table,
        "--text",
        "words=en",
        "--tokens",
        "tags",
        *options,
        "--shards",
        folder,
        "-q",
    )
    assert (code, err) == (0, "")
    views = Views.from_table(
        table, text={"words": "en"}, stop_words=None, max_df=1.0, max_features=3
    )
    assert open_shards(folder).to_views().equals(views)


def test_what_is_read_in_memory_is_said(table, shards, tmp_path):
    matrix = tmp_path / "m.npy"
    np.save(matrix, np.eye(4))
    for number, given in enumerate([("--view", f"m={matrix}"), (shards,), (shards, "--use", "en")]):
        folder = tmp_path / f"{number}.shards"
        code, _, err = inside("convert", *given, "--shards", folder)
        assert code == 0
        assert "are read in memory, not in a stream" in err
        assert open_shards(folder).n_docs in (4, 40)
    assert open_shards(folder).names == ("en",)


def test_svmlight_files_are_read_in_a_stream(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2 3:1\n0 2:5\n")
    folder = tmp_path / "p.shards"
    code, _, err = inside("convert", "--view", f"a={tmp_path}/a.svm", "--shards", folder)
    assert code == 0
    assert "in memory" not in err
    assert open_shards(folder).to_views().equals(Views.from_files({"a": tmp_path / "a.svm"}))


def test_shards_become_a_views_folder_again(shards, tmp_path):
    code, _, _ = inside("convert", shards, "-o", tmp_path / "views", "-q")
    assert code == 0
    assert Views.load(tmp_path / "views").equals(open_shards(shards).to_views())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "Give the folder to write to: -o FOLDER, or --shards FOLDER"),
        (("-o", "a", "--shards", "b"), "Give the folder to write to"),
        (("--shards", "{new}", "--memory", "lots"), "--memory must be an amount of memory"),
        (("--shards", "{old}"), "is not empty: give another folder, or --overwrite"),
        (("--shards", "{new}", "--text", "nothing"), "has no column 'nothing'"),
    ],
)
def test_wrong_options_are_refused(table, shards, tmp_path, options, message):
    places = {"new": tmp_path / "new", "old": shards}
    given = [option.format(**places) for option in options]
    code, _, err = inside("convert", table, "--text", "en", *given)
    assert code in (1, 2)
    assert message in err
    assert not (tmp_path / "new").exists()


def test_an_input_is_not_overwritten(shards):
    code, _, err = inside("convert", shards, "--shards", shards, "--overwrite")
    assert code == 2
    assert "is an input of this command" in err
    assert open_shards(shards).n_docs == 40


@pytest.mark.parametrize("check", [(), ("--check",)])
def test_info_shows_what_a_folder_is(shards, check):
    code, out, _ = inside("info", shards, "--json", *check)
    found = json.loads(out)
    assert code == 0
    assert found["kind"] == "sharded views"
    assert (found["documents"], found["shards"], found["ids"]) == (40, 1, False)
    assert set(found["views"]) == {"en", "tags"}


def test_info_finds_damage(shards):
    path = shards / "shard-00000" / "v0.data.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert inside("info", shards)[0] == 0  # only sizes are compared
    code, _, err = inside("info", shards, "--check")
    assert code == 1
    assert "v0.data.npy is damaged: its checksum is wrong" in err
    path.unlink()
    code, _, err = inside("info", shards)
    assert code == 1
    assert "v0.data.npy is missing" in err
