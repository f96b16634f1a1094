"""Numbers of topics on the command line: `fit --topics 5:40` and `compare -k 5,10,20`."""

import json

import numpy as np
import pytest

import coview
from coview.cli.topics import parse_number_or_range, parse_numbers
from coview.datasets import make_views
from tests.cli.command import failing, inside, working


@pytest.fixture
def folder(tmp_path):
    make_views(150, 3, [40, 30], random_state=0).save(tmp_path / "mine")
    return tmp_path / "mine"


@pytest.fixture
def unlabeled(tmp_path):
    make_views(150, 3, [40, 30], random_state=0).with_labels(None).save(tmp_path / "plain")
    return tmp_path / "plain"


def test_numbers_are_read():
    assert parse_number_or_range("7") == 7
    assert parse_number_or_range("5:7") == [5, 6, 7]
    assert parse_numbers("5,10,5") == [5, 10]
    assert parse_numbers("5:15:5") == [5, 10, 15]


def test_a_range_is_compared_and_the_suggestion_fitted(folder, tmp_path):
    path = tmp_path / "m.coview"
    code, _, said = inside("fit", folder, "--topics", "2:6", "-o", path)
    assert code == 0
    assert "LinkPLSA with 3 topics, the number that the data support." in said
    assert "--topics 3" in said
    assert "Fitted LinkPLSA with 3 topics" in said
    assert coview.load(path).n_components == 3


def test_the_choice_can_be_repeated_by_its_number(folder, tmp_path):
    chosen, given = tmp_path / "a.coview", tmp_path / "b.coview"
    working("fit", folder, "--topics", "2:5", "-o", chosen, "-q")
    working("fit", folder, "--topics", 3, "-o", given, "-q")
    one, other = coview.load(chosen), coview.load(given)
    np.testing.assert_array_equal(one.doc_topic_, other.doc_topic_)


def test_the_comparison_is_part_of_the_report_for_programs(folder, tmp_path):
    out = working("fit", folder, "-k", "2:5", "-o", tmp_path / "m.coview", "--json", "-q")
    found = json.loads(out)["topic_selection"]
    assert found["suggestion"] == 3
    assert [row["topics"] for row in found["table"]] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("topics", "words"),
    [
        ("9:2", "reversed"),
        ("many", "5:40"),
        ("0", "5:40"),
        ("1:5", "at least 2"),
        ("2:5:0", "LOW:HIGH:STEP"),
    ],
)
def test_a_wrong_number_of_topics_is_refused_in_words(folder, tmp_path, topics, words):
    said = failing(2, "fit", folder, "--topics", topics, "-o", tmp_path / "m.coview")
    assert words in " ".join(said.split())


def test_more_topics_than_documents_are_refused(folder, tmp_path):
    code, _, said = inside("fit", folder, "--topics", "2:400", "-o", tmp_path / "m.coview")
    assert code != 0
    assert "at most half as many topics as documents: got 400 topics" in said


def test_several_numbers_have_a_column_each(folder):
    out = working("compare", folder, "-k", "2,3", "--model", "kmeans", "--seeds", 2, "--jobs", 1)
    assert "NMI (max), by the number of topics" in out
    assert out.splitlines()[2].split("|")[-1].split()[-2:] == ["2", "3"]
    assert "the data support" not in out


def test_without_labels_numbers_are_compared_by_what_replicates(unlabeled):
    args = ("-k", "2,3,5", "--model", "plsa", "--seeds", 1, "--jobs", 1)
    out = working("compare", unlabeled, *args)
    assert "coherence (NPMI), by the number of topics" in out
    assert "3.0 of 3" in out
    assert "3 topics, the number that the data support" in out


def test_a_classification_takes_one_number(folder):
    said = failing(2, "compare", folder, "-k", "2,3", "--task", "classify")
    assert "one number of topics" in said


def test_the_numbers_are_the_axis_of_the_plot(folder, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "p.png"
    args = ("-k", "2,3", "--model", "kmeans", "--seeds", 1, "--jobs", 1, "--plot", path)
    working("compare", folder, *args)
    assert path.exists()
