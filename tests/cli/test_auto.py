"""`coview fit` without --model: the choice, its reasons, and the same by hand."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

import coview
from tests.cli.command import failing, inside, working
from tests.cli.test_journeys import rows_of, write_table


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(*row, "" if i % 3 else row[3]) for i, row in enumerate(rows_of())]
    write_table(tmp_path / "news table.csv", rows, ["id", "en", "de", "topic", "label"])
    return "news table.csv"


def assert_same_topics(one, other):
    one, other = (getattr(m, "estimator_", m) for m in map(coview.load, (one, other)))
    assert type(one) is type(other)
    np.testing.assert_array_equal(one.doc_topic_, other.doc_topic_)


@pytest.mark.parametrize(
    "given",
    [
        ["--text", "en", "--text", "de"],
        ["--text", "en", "--text", "de", "-k", 3, "--keep-stop-words", "--set", "n_init=2"],
        ["--text", "de", "--seed", 4, "--max-df", 1, "--seed-words", "sport=tor,liga"],
        ["--text", "en", "--text", "de", "--concat", "--tol", 1e-3],
        ["--text", "en", "--text", "de", "--label", "label", "--classify"],
    ],
)
def test_the_command_that_is_shown_fits_the_same_model(given, table):
    code, out, said = inside("fit", table, *given, "-o", "auto.coview")
    assert (code, out) == (0, "")
    line = next(
        line.removeprefix("The same by hand: ")
        for line in said.splitlines()
        if "by hand: coview fit" in line
    )
    words = shlex.split(line)[1:]
    assert "--model" in words
    working(*words, "-o", "hand.coview", "-q")
    assert_same_topics("auto.coview", "hand.coview")


def test_the_reasons_are_shown_and_kept(table):
    given = "--text", "en", "--text", "de", "-k", 3, "-o", "m.coview"
    short = inside("fit", table, *given)[2]
    assert "LinkPLSA with 3 topics, as you asked." in short
    assert "clustered in" not in short
    said = inside("fit", table, *given, "--why")[2]
    assert "- LinkPLSA: all views share" in said
    assert "'en' 1.00" in said or "'de' 1.00" in said
    assert "  coview.LinkPLSA(3, random_state=0).fit(views)" in said
    why = coview.load("m.coview").why_
    flat = " ".join(said.split())
    assert all(" ".join(sentence.split()) in flat for sentence in why.sentences[1:])
    assert why.command in said


@pytest.mark.slow
def test_the_name_of_the_file_is_no_part_of_it(table):
    for name in ("one.coview", "other.coview"):
        working("fit", table, "--text", "en", "--text", "de", "-o", name, "--every", 5, "-q")
    one, other = (Path(name).read_bytes() for name in ("one.coview", "other.coview"))
    assert one == other


def test_quiet_is_quiet_and_json_has_the_reasons(table):
    code, out, said = inside("fit", table, "--text", "en", "-k", 3, "-o", "m.coview", "-q")
    assert (code, out, said) == (0, "", "")
    why = json.loads(working("fit", table, "--text", "en", "-k", 3, "-o", "m.coview", "--json"))[
        "why"
    ]
    assert why["python"] == "coview.PLSA(3, random_state=0).fit(views)"
    assert why["numbers"]["views"]["en"]["kind"] == "counts"
    assert why["sentences"]


def test_a_named_model_has_no_reasons_and_twenty_topics(table):
    out = working("fit", table, "--text", "en", "--model", "link", "-o", "m.coview", "--json")
    assert json.loads(out)["topics"] == 20
    assert "why" not in json.loads(out)
    assert not hasattr(coview.load("m.coview"), "why_")


GIVEN = [["--strength", 2], ["--feature-topics", 5], ["--graph", "cites.csv"], ["--as-published"]]


def test_as_published_has_the_options_of_the_paper(table):
    given = ["--model", "mvplsa", "--as-published", "--feature-topics", 4, "--max-iter", 3]
    working("fit", table, "--text", "en", *given, "-k", 3, "-o", "m.coview")
    model = coview.load("m.coview")
    assert (model.init, model.view_weights, model.ensemble) == ("mvc", 1.0, 0)
    assert (model.n_feature_topics, model.max_iter) == (4, 3)


@pytest.mark.parametrize("given", GIVEN)
def test_parameters_of_some_models_need_a_model(given, table):
    said = failing(2, "fit", table, "--text", "en", *given)
    assert f"{given[0]} needs a model that is named, such as --model m" in said


def test_classes_without_a_label_are_refused(table):
    said = failing(2, "fit", table, "--text", "en", "--classify")
    assert "give their column with --label" in said
