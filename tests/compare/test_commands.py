"""`coview compare` and `coview evaluate`, run as commands."""

import json

import pytest

from coview.compare import Plan, Results, write_plan
from tests.command import coview, failing, working
from tests.compare.helpers import small_views


@pytest.fixture
def folder(tmp_path):
    small_views().save(tmp_path / "mine")
    return tmp_path / "mine"


QUICK = ("--models", "kmeans,nb", "--task", "classify", "--rates", "0.2,0.4", "--seeds", 2)


def compare(*args):
    return working("compare", *args, "--jobs", 1)


def test_models_are_compared_on_a_users_own_data(folder, tmp_path):
    csv = tmp_path / "r.csv"
    ran = coview("compare", folder, "--models", "kmeans,cca", "--seeds", 2, "--jobs", 2, "-o", csv)
    assert "mine: accuracy" in ran.stdout
    assert "4 runs written" in ran.stderr
    assert Results.from_csv(csv).labels == ("cca", "kmeans")


def test_a_table_of_texts_with_a_column_of_classes(tmp_path):
    words = {"sport": "goal team match", "food": "soup bread salt"}
    rows = [f"{i},{words[k]},{words[k]} x{i % 4},{k}" for i in range(20) for k in words]
    table = tmp_path / "news.csv"
    table.write_text("\n".join(["id,en,de,topic", *rows]) + "\n")
    source = (table, "--text", "en", "--text", "de", "--label", "topic")
    out = compare(*source, "--models", "kmeans", "--seeds", 1)
    assert "100.00" in out


def test_a_plan_is_run_from_its_file(folder, tmp_path):
    plan = Plan([{"name": str(folder), "label": "Mine"}], ["kmeans"], seeds=1, metrics=["purity"])
    write_plan(plan, tmp_path / "plan.toml")
    out = compare(tmp_path / "plan.toml", "--table", "md")
    assert out.startswith("### Mine: purity\n\n| model | Mine |\n")


def test_classification_has_a_column_for_each_share(folder):
    out = working("compare", folder, *QUICK[2:], "--models", "nb", "--jobs", 1, "--table", "latex")
    assert r"model & 0.2 & 0.4 \\" in out


def test_a_search_has_a_column_for_each_direction(folder):
    out = compare(folder, "--task", "retrieve", "--models", "scm", "--seeds", 1)
    assert "text->image" in out


def test_what_failed_is_in_the_table(folder):
    out = compare(folder, *QUICK)
    assert "not measured: ValueError: kmeans takes no labels" in out


def test_if_all_fails_so_does_the_command(folder):
    said = failing(1, "compare", folder, "--models", "nb", "--seeds", 1, "--jobs", 1)
    assert "Every run failed" in said


def test_the_runs_as_json(folder):
    found = json.loads(compare(folder, "--models", "kmeans", "--seeds", 1, "--json"))
    assert found[0]["values"][""]["accuracy"] > 0.3


def test_earlier_runs_are_neither_lost_nor_repeated(folder, tmp_path):
    csv = tmp_path / "r.csv"
    compare(folder, "--models", "kmeans", "--seeds", 1, "-o", csv)
    cells = tmp_path / "r.csv.cells.jsonl"
    before = cells.read_bytes()
    said = failing(2, "compare", folder, "--models", "kmeans", "--seeds", 2, "-o", csv)
    assert "--resume" in said
    compare(folder, "--models", "kmeans", "--seeds", 2, "-o", csv, "--resume")
    assert cells.read_bytes().startswith(before)
    assert len(Results.from_csv(csv)) == 2
    compare(folder, "--models", "kmeans", "--seeds", 1, "-o", csv, "--fresh")
    assert len(Results.from_csv(csv)) == 1


def test_models_of_one_view_get_all_views_side_by_side(folder):
    out = compare(folder, "--models", "plsa", "--seeds", 1)
    assert "plsa, views side by side" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--models", "magic"), "does not know magic. Models: plsa"),
        (("--task", "classify", "--rates", "x"), "--rates must be shares"),
        (("--resume",), "need the output"),
        (("-o", "r.txt"), "written as CSV: -o r.csv"),
    ],
)
def test_a_wrong_command_is_refused_in_words(folder, options, words):
    assert words in failing(2, "compare", folder, *options)


def test_data_without_classes_are_compared_by_what_needs_none(tmp_path):
    small_views().with_labels(None).save(tmp_path / "plain")
    assert "--topics" in failing(2, "compare", tmp_path / "plain")
    out = compare(tmp_path / "plain", "--topics", 3, "--models", "plsa", "--seeds", 1)
    assert "coherence" in out
    assert "accuracy" not in out


# -- evaluate --------------------------------------------------------------------------------------


@pytest.fixture
def model(folder, tmp_path):
    path = tmp_path / "m.coview"
    working("fit", folder, "--topics", 3, "-o", path, "-q")
    return path


def test_a_model_is_measured_on_a_folder_with_labels(model, folder):
    ran = coview("evaluate", model, folder)
    for words in ("accuracy", "perplexity", "agreement", "coherence (NPMI)", "diversity"):
        assert words in ran.stdout


def test_the_measures_as_json_and_as_csv(model, folder, tmp_path):
    found = json.loads(working("evaluate", model, folder, "--json"))
    assert set(found) == {"documents", "clusters", "perplexity", "agreement", "views"}
    working("evaluate", model, folder, "-o", tmp_path / "e.csv")
    lines = (tmp_path / "e.csv").read_text().splitlines()
    assert lines[0] == "measure,of,value"
    assert lines[1] == f"accuracy,clusters,{found['clusters']['accuracy']}"


def test_a_model_of_texts_reads_a_table_and_its_classes(tmp_path, monkeypatch):
    words = {"sport": "goal team match", "food": "soup bread salt"}
    rows = [f"{words[k]},{k}" for _ in range(15) for k in words]
    table = tmp_path / "news.csv"
    table.write_text("\n".join(["en,topic", *rows, "goal team,"]) + "\n")
    working("fit", table, "--text", "en", "--topics", 2, "-o", tmp_path / "m.coview", "-q")
    monkeypatch.setattr("coview.cli.source.CHUNK", 10)  # so that pieces are put together
    found = working("evaluate", tmp_path / "m.coview", table, "--label", "topic", "--json")
    assert json.loads(found)["clusters"]["accuracy"] == 1.0
    assert json.loads(found)["documents"] == 31


def test_a_column_that_is_not_there_is_named(model, tmp_path):
    (tmp_path / "t.csv").write_text("a\nx\n")
    assert "matrices" in failing(1, "evaluate", model, tmp_path / "t.csv")
