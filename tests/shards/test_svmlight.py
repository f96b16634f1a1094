"""Files in svmlight's format converted in a stream: the bits of a reading in memory."""

import os

import numpy as np
import pytest

from coview import Views
from coview.shards import svmlight
from coview.shards.svmlight import convert_svmlight
from coview.views import blocks


@pytest.fixture(params=[1 << 24, 700, 60], ids=["one piece", "pieces", "many pieces"])
def pieces(request, monkeypatch):
    monkeypatch.setattr(svmlight, "PIECE", request.param)
    monkeypatch.setattr(blocks, "MIN_NONZEROS", 80)


def write(path, n_docs=90, start=1, seed=0, negative=False):
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        file.write("# a comment\n")
        for _ in range(n_docs):
            columns = np.sort(rng.choice(12, int(rng.integers(0, 9)), replace=False)) + start
            values = rng.integers(0, 4, len(columns)) - 2.5 * negative
            pairs = " ".join(f"{c}:{v:g}" for c, v in zip(columns, values, strict=True))
            file.write(f"{rng.integers(3)} {pairs}\n")
    return path


@pytest.mark.parametrize("start", [0, 1])
def test_a_stream_gives_the_bits_of_a_reading_in_memory(tmp_path, pieces, start):
    files = {"a": write(tmp_path / "a.svm", start=start)}
    sharded = convert_svmlight(files, tmp_path / "x.shards")
    assert sharded.to_views().equals(Views.from_files(files))
    sharded.check()


def test_several_views_with_ids_and_labels(tmp_path, pieces):
    files = {
        "a": write(tmp_path / "a.svmlight"),
        "b": write(tmp_path / "b.libsvm", start=3, seed=1),
    }
    ids = [f"d{i}" for i in range(90)]
    (tmp_path / "labels.txt").write_text("\n".join("xyz"[i % 3] for i in range(90)) + "\n")
    given = {"ids": ids, "labels": tmp_path / "labels.txt"}
    sharded = convert_svmlight(files, tmp_path / "x.shards", **given)
    assert sharded.to_views().equals(Views.from_files(files, **given))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("1 \n0 \n", "it has no entries"),
        ("1 1:2\n0 word\n", "need more than 1 value"),
        ("1 1:nan\n", "NaN in view 'a'"),
        ("1 1:-2 9:1\n", "Negative values in data passed to view 'a'"),
    ],
)
def test_errors_name_the_file_and_leave_nothing(tmp_path, text, message):
    path = tmp_path / "a.svm"
    path.write_text(text)
    for read in (
        lambda: Views.from_files({"a": path}),
        lambda: convert_svmlight({"a": path}, tmp_path / "x.shards"),
    ):
        with pytest.raises(ValueError, match=rf"a\.svm.*({message})"):
            read()
    assert os.listdir(tmp_path) == ["a.svm"]


def test_views_of_other_lengths_and_missing_files_are_refused(tmp_path):
    files = {"a": write(tmp_path / "a.svm"), "b": write(tmp_path / "b.svm", n_docs=7)}
    with pytest.raises(ValueError, match="'a' has 90 documents but view 'b' has 7"):
        convert_svmlight(files, tmp_path / "x.shards")
    with pytest.raises(FileNotFoundError, match=r"c\.svm"):
        convert_svmlight({"a": tmp_path / "c.svm"}, tmp_path / "x.shards")
    with pytest.raises(ValueError, match="Expected 90 names for ids, found 1"):
        convert_svmlight({"a": files["a"]}, tmp_path / "x.shards", ids=["a"])
