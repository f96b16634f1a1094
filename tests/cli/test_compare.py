"""`coview compare` and `coview evaluate`, run as commands."""

import json

import pytest

from coview.compare import Plan, Results, write_plan
from tests.cli.command import failing, inside, working
from tests.compare.helpers import small_views


@pytest.fixture
def folder(tmp_path):
    small_views().save(tmp_path / "mine")
    return tmp_path / "mine"


QUICK = ("--model", "nb", "--task", "classify", "--rates", "0.2,0.4", "--seeds", 2)


def compare(*args):
    return working("compare", *args, "--jobs", 1)


def test_models_are_compared_on_a_users_own_data(folder, tmp_path):
    csv = tmp_path / "r.csv"
    args = (folder, "--model", "kmeans", "--model", "cca", "--seeds", 2, "--jobs", 2, "-o", csv)
    code, out, said = inside("compare", *args)
    assert code == 0
    assert "mine: accuracy" in out
    assert "Wrote 4 runs" in said
    assert Results.from_csv(csv).labels == ("cca", "kmeans")


def test_a_table_of_texts_with_a_column_of_classes(tmp_path):
    words = {"sport": "goal team match", "food": "soup bread salt"}
    rows = [f"{i},{words[k]},{words[k]} x{i % 4},{k}" for i in range(20) for k in words]
    table = tmp_path / "news.csv"
    table.write_text("\n".join(["id,en,de,topic", *rows]) + "\n")
    source = (table, "--text", "en", "--text", "de", "--label", "topic")
    out = compare(*source, "--model", "kmeans", "--seeds", 1)
    assert "100.00" in out


def test_a_plan_is_run_from_its_file(folder, tmp_path):
    plan = Plan([{"name": str(folder), "label": "Mine"}], ["kmeans"], seeds=1, metrics=["purity"])
    write_plan(plan, tmp_path / "plan.toml")
    out = compare(tmp_path / "plan.toml", "--table", "md")
    assert out.startswith("### Mine: purity\n\n| model | Mine |\n")


def test_classification_has_a_column_for_each_share(folder):
    out = compare(folder, *QUICK, "--table", "latex")
    assert r"model & 0.2 & 0.4 \\" in out


def test_a_search_has_a_column_for_each_direction(folder):
    out = compare(folder, "--task", "retrieve", "--model", "scm", "--seeds", 1)
    assert "text->image" in out


def test_what_failed_is_in_the_table(folder):
    args = (
        folder,
        "--use",
        "text",
        "--model",
        "kmeans",
        "--model",
        "cca",
        "--seeds",
        1,
        "--jobs",
        1,
    )
    code, out, said = inside("compare", *args)
    assert code == 0
    assert "not measured: ValueError: CCAClustering relates views" in out
    # in full, for which the table has no room, and once
    assert said.count("cca failed on mine: ValueError: CCAClustering relates views") == 1
    assert "got 'text'" in said
    assert not inside("compare", *args, "--quiet")[2]


def test_if_all_fails_so_does_the_command(folder):
    cca = ("--use", "text", "--model", "cca", "--seeds", 1, "--jobs", 1)
    said = failing(1, "compare", folder, *cca)
    assert "Every run failed" in said


def test_a_plot_of_nothing_is_refused_before_the_data_are_read(tmp_path):
    pytest.importorskip("matplotlib")
    for more in ((), ("-k", 5), ("--task", "retrieve")):
        said = failing(2, "compare", "nowhere.csv", "--plot", tmp_path / "r.png", *more)
        assert "here nothing varies" in said
        assert "-k 5,10,20" in said


def test_resuming_without_finished_runs_says_so(folder, tmp_path):
    args = (folder, "--model", "kmeans", "--seeds", 1, "--jobs", 1, "-o", tmp_path / "r.csv")
    assert "starting from the beginning" in inside("compare", *args, "--resume")[2]
    assert "starting" not in inside("compare", *args, "--resume")[2]


def test_the_runs_as_json(folder):
    found = json.loads(compare(folder, "--model", "kmeans", "--seeds", 1, "--json"))
    assert found[0]["values"][""]["accuracy"] > 0.3


def test_earlier_runs_are_neither_lost_nor_repeated(folder, tmp_path):
    csv = tmp_path / "r.csv"
    compare(folder, "--model", "kmeans", "--seeds", 1, "-o", csv)
    cells = tmp_path / "r.csv.cells.jsonl"
    before = cells.read_bytes()
    said = failing(2, "compare", folder, "--model", "kmeans", "--seeds", 2, "-o", csv)
    assert "--resume" in said
    compare(folder, "--model", "kmeans", "--seeds", 2, "-o", csv, "--resume")
    assert cells.read_bytes().startswith(before)
    assert len(Results.from_csv(csv)) == 2
    compare(folder, "--model", "kmeans", "--seeds", 1, "-o", csv, "--fresh")
    assert len(Results.from_csv(csv)) == 1


def test_models_of_one_view_get_all_views_side_by_side(folder):
    out = compare(folder, "--model", "plsa", "--seeds", 1)
    assert "plsa, views side by side" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "magic"), "--model magic: there is none of this name. Models: plsa"),
        (("--task", "classify", "--rates", "x"), "--rates must be fractions"),
        (("--resume",), "need the output"),
        (("-o", "r.txt"), "written as CSV: -o r.csv"),
        (("--rates", "0.1"), "not in cluster: leave out --rates"),
        (("--task", "retrieve", "--sampling", "uniform"), "leave out --sampling"),
        (("--model", "nb"), "nb cannot be compared in --task cluster, which takes plsa"),
        (
            ("--model", "kmeans", "--model", "link", "--task", "classify"),
            "kmeans cannot be compared",
        ),
        (("--model", "plsa", "--task", "retrieve"), "which takes link, voted"),
        (("--plot", "r.png"), "here nothing varies"),
        (("--plot", "r.txt"), "writes .png, .svg, .pdf files; got r.txt"),
    ],
)
def test_a_wrong_command_is_refused_in_words(folder, options, words):
    assert words in failing(2, "compare", folder, *options)


def test_the_data_are_not_overwritten_by_the_results(tmp_path):
    table = tmp_path / "news.csv"
    table.write_text("en,topic\nred,a\nblue,b\n")
    said = failing(2, "compare", table, "--text", "en", "--label", "topic", "-o", table)
    assert "is an input" in said
    assert table.read_text().startswith("en,topic")


LABELS = [("--label", "topic", "column of a table"), ("--labels", "x.npy", "for matrices (--view)")]


@pytest.mark.parametrize(("option", "value", "words"), LABELS)
def test_classes_that_would_not_be_read_are_refused(folder, model, option, value, words):
    assert words in failing(2, "compare", folder, option, value)
    assert words in failing(2, "evaluate", model, folder, option, value)


def test_a_metric_that_the_task_has_not_is_refused_before_the_run(folder, tmp_path):
    said = failing(1, "compare", folder, "--metric", "acuracy", "-o", tmp_path / "r.csv")
    assert "no metric 'acuracy'. It has accuracy" in said
    assert not (tmp_path / "r.csv.cells.jsonl").exists()


def test_options_that_a_plan_would_ignore_are_refused(folder, tmp_path):
    write_plan(Plan([str(folder)], ["kmeans"], seeds=1), tmp_path / "plan.toml")
    options = ("--seeds", 3, "--model", "link", "--min-df", 2)
    said = failing(2, "compare", tmp_path / "plan.toml", *options)
    assert "leave out --seeds, --model, --min-df" in said
    assert "no metric 'x'" in failing(1, "compare", tmp_path / "plan.toml", "--metric", "x")


def test_labels_are_drawn_as_asked(folder):
    rare = [0] * 56 + [1] * 4
    small_views().with_labels(rare).save(folder.parent / "rare")
    args = (folder.parent / "rare", *QUICK[:4], "--rates", 0.5, "--seeds", 1, "--json")
    for sampling in ("uniform", "stratified"):
        found = json.loads(compare(*args, "--sampling", sampling))
        assert found[0]["settings"]["label_sampling"] == sampling


def test_accuracy_is_drawn_against_the_share_of_labels(folder, tmp_path):
    pytest.importorskip("matplotlib")
    compare(folder, *QUICK, "--plot", tmp_path / "r.svg")
    assert "labeled documents in %" in (tmp_path / "r.svg").read_text()


def test_a_measure_is_drawn_against_what_the_plan_varies(folder, tmp_path):
    pytest.importorskip("matplotlib")
    entry = {"name": "kmeans", "grid": {"n_init": [1, 2]}}
    write_plan(Plan([str(folder)], [entry, "mvc"], seeds=2), tmp_path / "plan.toml")
    compare(tmp_path / "plan.toml", "--metric", "purity", "--plot", tmp_path / "r.svg")
    drawn = (tmp_path / "r.svg").read_text()
    assert "n init" in drawn
    assert "purity in %" in drawn


def test_only_cells_of_the_plan_count_as_finished(folder, tmp_path):
    from coview.compare import run
    from coview.compare.runner import finished_cells

    views, journal = small_views(), tmp_path / "cells.jsonl"
    run(Plan(["mine"], ["kmeans"], seeds=2), journal, n_jobs=1, data={"mine": views})
    other = Plan(["mine"], ["kmeans", "cca"], seeds=[1, 2])
    assert finished_cells(other, journal, {"mine": views}) == (1, 4)
    assert finished_cells(other, journal, {"mine": views[:50]}) == (0, 4)


def test_data_without_classes_are_compared_by_what_needs_none(tmp_path):
    small_views().with_labels(None).save(tmp_path / "plain")
    assert "--topics" in failing(2, "compare", tmp_path / "plain")
    out = compare(tmp_path / "plain", "--topics", 3, "--model", "plsa", "--seeds", 1)
    assert "coherence" in out
    assert "accuracy" not in out


# -- evaluate --------------------------------------------------------------------------------------


@pytest.fixture
def model(folder, tmp_path):
    path = tmp_path / "m.coview"
    working("fit", folder, "--topics", 3, "-o", path, "-q")
    return path


def test_a_model_is_measured_on_a_folder_with_labels(model, folder):
    out = working("evaluate", model, folder)
    for words in ("accuracy", "perplexity", "agreement", "coherence (NPMI)", "diversity"):
        assert words in out


def test_the_measures_as_json_and_as_csv(model, folder, tmp_path):
    found = json.loads(working("evaluate", model, folder, "--json"))
    assert set(found) == {"documents", "unlabeled", "clusters", "perplexity", "agreement", "views"}
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
    monkeypatch.setattr("coview.cli.inputs.CHUNK_ROWS", 10)  # so that pieces are put together
    found = working("evaluate", tmp_path / "m.coview", table, "--label", "topic", "--json")
    assert json.loads(found)["clusters"]["accuracy"] == 1.0
    assert json.loads(found)["documents"] == 31


def test_a_column_that_is_not_there_is_named(model, tmp_path):
    (tmp_path / "t.csv").write_text("a\nx\n")
    assert "matrices" in failing(1, "evaluate", model, tmp_path / "t.csv")


# -- parameters, as in `coview fit` ----------------------------------------------------------------


def test_parameters_go_to_the_models_that_have_them(folder):
    models = ("--model", "link", "--model", "kmeans", "--seeds", 1, "--jobs", 1)
    given = ("--set", "max_iter=3", "--set", "link.n_init=2", "--set", "kmeans.n_init=1")
    runs = json.loads(compare(folder, *models, *given, "--json"))
    params = {run["model"]: run["params"] for run in runs}
    assert params["link"] == {"max_iter": 3, "n_init": 2}
    assert params["kmeans"]["n_init"] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--set", "max_itr=3"), "no such parameter. Did you mean 'max_iter'?"),
        (("--set", "mggm.strength=1"), "mggm is not compared; --model mggm adds it"),
        (("--set", "link"), "--set link"),
        (("--model", "link"), "--model link is given twice"),
        (("--model", "plsa,mvplsa"), "Give --model once for each."),
    ],
)
def test_wrong_parameters_are_refused(folder, options, words):
    assert words in failing(2, "compare", folder, "--model", "link", *options)
