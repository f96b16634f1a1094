"""`coview annotate`: words of one view, predicted from another."""

import json

import numpy as np
import pytest

from coview import LinkPLSA, Views
from tests.cli.command import failing, working
from tests.retrieval.stories import TOPICS, sentences


@pytest.fixture(scope="module")
def model():
    texts = {lang: sentences(np.random.default_rng(n), n) for n, lang in enumerate(("en", "de"))}
    views = Views.from_texts(texts, ids=[f"d{i}" for i in range(24)])
    return LinkPLSA(3, init=np.repeat([0, 1, 2], 8), random_state=0).fit(views)


@pytest.fixture(scope="module")
def files(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("annotate")
    model.save(folder / "m.coview")
    (folder / "new.csv").write_text("id,en\nx,moon rocket\ny,salt\n")
    return folder


def test_the_command_annotates_a_text(files, model):
    args = ("moon rocket", "--view", "en", "--in", "de", "--top", 3, "--json")
    rows = json.loads(working("annotate", files / "m.coview", *args))
    expected = model.predict_terms({"en": "moon rocket"}, in_view="de", top=3)
    assert [row["term"] for row in rows] == expected.terms
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert "probability" in working(
        "annotate", files / "m.coview", "--like", "d20", "--in-view", "de"
    )


def test_the_command_annotates_a_table(files):
    out = files / "words.csv"
    args = ("--data", files / "new.csv", "--id", "id", "--in", "de", "--top", 2, "-o", out)
    working("annotate", files / "m.coview", *args)
    lines = out.read_text().splitlines()
    assert lines[0] == "document,rank,term,probability"
    assert [line.split(",")[:2] for line in lines[1:]] == [
        ["x", "1"],
        ["x", "2"],
        ["y", "1"],
        ["y", "2"],
    ]
    assert lines[3].split(",")[2] in TOPICS["food"][1]


def test_the_command_says_what_is_wrong(files):
    path = files / "m.coview"
    assert "--in en | de" in failing(2, "annotate", path, "moon", "--view", "en")
    assert "--in fr" in failing(2, "annotate", path, "moon", "--view", "en", "--in", "fr")
    assert "query" in failing(2, "annotate", path, "--in", "de")
    data = ("--data", files / "new.csv", "--in", "de")
    assert "--data" in failing(2, "annotate", path, "moon", *data)
    assert "zebra" in failing(1, "annotate", path, "zebra", "--view", "en", "--in", "de")
