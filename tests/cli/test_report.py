"""`coview report`: a page, JSON, files, and what it refuses."""

import json
from pathlib import Path

import pytest

from tests.cli.command import failing, working

NEWS = Path(__file__).parents[2] / "examples" / "news.csv"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "news.coview"
    options = ["--text", "en", "--text", "de", "--id", "id", "--topics", "6"]
    working("fit", NEWS, *options, "--set", "init=random", "--set", "max_iter=20", "-q", "-o", path)
    return path


def test_a_page_for_people(model):
    page = working("report", model, "--data", NEWS, "--id", "id", "--label", "topic", "--top", "3")
    assert page.startswith("LinkPLSA: 6 topics, 120 documents (the documents of the fit), 2 views")
    for part in ("Is it any good?", "Views\n", "Search of one view", "and 3 more", "No topic fits"):
        assert part in page
    assert "is the document itself found?" in page
    assert "same label  by chance" in page
    assert "same label" not in working("report", model, NEWS, "--id", "id", "--top", "3")
    assert max(map(len, page.splitlines())) < 140


def test_json_for_programs(model):
    found = json.loads(working("report", model, NEWS, "--json"))
    assert found["model"]["n_topics"] == 6
    assert "mixtures" not in found
    own, labels = (found["search"][0][name] for name in ("ten", "same_label"))
    assert 0 < own <= 1
    assert labels is None
    documents = json.loads(working("report", model, NEWS, "--json", "--documents"))
    assert len(documents["mixtures"]) == 120


def test_files(model, tmp_path):
    assert working("report", model, NEWS, "-o", tmp_path / "r.json") == ""
    assert json.loads((tmp_path / "r.json").read_text())["model"]["n_docs"] == 120
    working("report", model, NEWS, "--use", "en", "-o", tmp_path / "r.txt")
    assert "1 view\n" in (tmp_path / "r.txt").read_text()


def test_wrong_usage_is_named(model, tmp_path):
    assert "Give the documents once" in failing(2, "report", model, NEWS, "--data", NEWS)
    assert "must be .json or .txt" in failing(2, "report", model, NEWS, "-o", tmp_path / "r.csv")
    assert "--documents is for JSON" in failing(2, "report", model, NEWS, "--documents")
    assert "--use fr" in failing(2, "report", model, NEWS, "--use", "fr")
    assert "Give the data" in failing(2, "report", model)
