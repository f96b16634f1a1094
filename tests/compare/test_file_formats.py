"""Finished cells survive kills; files that are not ours are left alone."""

import pytest

from coview.compare import Results, Run
from coview.compare.file_formats import Journal


def filled(path, keys="ab"):
    journal = Journal(path)
    for key in keys:
        journal.add(key, {"seed": 1}, {"values": {"": {"accuracy": 0.5}}})
    return journal


def test_what_is_added_is_there_after_reading_again(tmp_path):
    filled(tmp_path / "r.jsonl")
    again = Journal(tmp_path / "r.jsonl")
    assert "a" in again
    assert again["b"]["values"] == {"": {"accuracy": 0.5}}


def test_a_torn_last_line_is_dropped_at_every_length(tmp_path):
    path = tmp_path / "r.jsonl"
    filled(path)
    content = path.read_bytes()
    start = content.index(b"\n") + 1
    for end in range(start, len(content)):
        path.write_bytes(content[:end])
        journal = Journal(path)
        assert "a" in journal
        assert "b" not in journal
        journal.add("b", {}, {"values": {}})
        assert list(Journal(path)._records) == ["a", "b"]


def test_the_last_record_of_a_cell_counts(tmp_path):
    journal = filled(tmp_path / "r.jsonl", "a")
    journal.add("a", {}, {"error": "no"})
    assert Journal(tmp_path / "r.jsonl").failed("a")


def test_a_file_of_something_else_is_refused_and_kept(tmp_path):
    for content in (b"name,age\nx,3\n", b"precious, without a line break", b'{"a": 1}\n'):
        path = tmp_path / "mine.csv"
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a"):
            Journal(path)
        assert path.read_bytes() == content


def test_a_missing_folder_is_said_before_the_work(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        Journal(tmp_path / "no" / "r.jsonl")


def test_without_a_path_nothing_is_written():
    assert len(filled(None)) == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[1]", "it is no object"),
        ('{"key": "k"}', "it lacks cell and values"),
        ('{"cell": {}, "values": {}}', "it lacks key"),
        ("{", "Expecting"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, line, words):
    path = tmp_path / "cells.jsonl"
    Journal(path).add("k", {}, {"values": {}})
    with path.open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(ValueError, match=f"Line 2 of .*{words}"):
        Journal(path)


def test_a_journal_with_the_earlier_spelling_of_a_metric_is_read(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"key":"a","cell":{},"values":{"":{"accuracy":0.5,"labelled":7}}}\n')
    assert Journal(path)["a"]["values"] == {"": {"accuracy": 0.5, "labeled": 7}}


def test_results_with_the_earlier_spelling_of_a_metric_are_read(tmp_path):
    path = tmp_path / "results.csv"
    run = Run("a", "nb", "NB", {}, 0, rate=0.1, values={"": {"labelled": 7}})
    Results([run]).to_csv(path)
    assert ",labelled," in path.read_text()
    assert Results.from_csv(path).runs[0].values == {"": {"labeled": 7}}


def test_values_of_another_shape_are_refused_with_their_line(tmp_path):
    path = tmp_path / "r.jsonl"
    filled(path, "a")
    path.write_text(
        path.read_text().replace('{"accuracy":0.5}', "[]").replace('{"accuracy": 0.5}', "[]")
    )
    with pytest.raises(ValueError, match=r"Line 1 .*no object of objects"):
        Journal(path)
