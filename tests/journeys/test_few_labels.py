"""A large table of which two documents in a hundred have a label."""

import csv
import json
import re
import warnings

import numpy as np
import pytest

from coview import PLSA, TopicClassifier, Views
from tests.cli.command import coview
from tests.journeys.words import rows, write_table

N_DOCS, N_LABELED = 300, 6


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table with a label for the first documents, and the true kinds of all."""
    path = tmp_path_factory.mktemp("labels") / "news.csv"
    documents = list(rows(N_DOCS, columns=("title",)))
    kinds = [document["kind"] for document in documents]
    for document in documents[N_LABELED:]:
        document["kind"] = ""
    write_table(path, documents)
    return path, np.array(kinds)


@pytest.mark.slow  # real processes
def test_the_command_says_how_many_are_unlabeled_and_finds_their_classes(table, tmp_path):
    path, kinds = table
    model, out = tmp_path / "m.coview", tmp_path / "out.csv"
    given = ("--text", "title", "--id", "id", "--label", "kind", "--classify")
    said = coview("fit", path, *given, "-o", model).stderr
    assert re.search(rf"\b{N_DOCS - N_LABELED} unlabeled", said), said
    assert f"{N_LABELED} of {N_DOCS} documents have a label" in " ".join(said.split())
    coview("predict", model, path, "--id", "id", "-o", out)
    with out.open(newline="") as file:
        found = [row["class"] for row in csv.DictReader(file)]
    assert np.mean(np.array(found) == kinds) > 0.95


@pytest.mark.slow
def test_documents_that_the_model_knows_nothing_of_are_told(table, tmp_path):
    path, _ = table
    model, new = tmp_path / "m.coview", tmp_path / "new.csv"
    given = ("--text", "title", "--label", "kind", "--classify", "--model", "plsa")
    coview("fit", path, *given, "-o", model)
    write_table(new, [{"title": t} for t in ("zzzz qqqq", "a match of the league", "")])
    ran = coview("predict", model, new, "--json")
    classes = [row["class"] for row in json.loads(ran.stdout)]
    assert classes[1] == "sport"
    assert classes[0] in (None, "", -1)
    assert classes[2] in (None, "", -1)
    assert re.search(r"\b2\b", ran.stderr), ran.stderr


@pytest.mark.parametrize("empty", ["", None, np.nan, "NA"])
def test_in_python_every_way_to_have_no_label_is_the_same(table, empty):
    pd = pytest.importorskip("pandas")
    path, kinds = table
    frame = pd.read_csv(path)
    y = frame["kind"]
    y = y.astype("string") if empty == "NA" else y.astype(object).where(y.notna(), empty)
    views = Views.from_table(path, text="title", languages="en")
    model = TopicClassifier(PLSA(random_state=0)).fit(views, y.values)
    assert set(model.classes_) == set(kinds)
    assert np.mean(model.predict(views) == kinds) > 0.95


def test_in_python_classes_come_back_as_they_were_given(table):
    path, kinds = table
    views = Views.from_table(path, text="title", label="kind", languages="en")
    model = TopicClassifier(PLSA(random_state=0)).fit(views, views.named_labels)
    assert np.mean(model.predict(views) == kinds) > 0.95
    model.fit(views, views.labels)
    assert np.mean(np.array(views.label_names)[model.predict(views)] == kinds) > 0.95


def test_in_python_unknown_documents_are_told(table):
    path, _ = table
    views = Views.from_table(path, text="title", label="kind", languages="en")
    model = TopicClassifier(PLSA(random_state=0)).fit(views, views.named_labels)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = model.predict({"title": ["zzzz qqqq", "a match of the league", ""]})
    assert found[1] == "sport"
    assert found[0] == found[2]
    assert str(found[0]) in ("-1", "", "None", "--")
    assert any(re.search(r"\b2\b", str(one.message)) for one in said)
