"""The example of a plan runs and has every key; so has its page."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from coview.compare import Data, Entry, Plan, Results, read_plan
from coview.compare.example_plan import EXAMPLE_PLAN
from coview.compare.metric_info import TASK_METRICS
from tests.cli.command import failing, inside, working

PAGE = Path(__file__).parents[2] / "docs" / "plans.md"
KEYS = {
    "plan": {field.name for field in fields(Plan)},
    "data set": {field.name for field in fields(Data)},
    "model": {field.name for field in fields(Entry)} | {"none"},
}


def test_the_example_runs(tmp_path):
    path = tmp_path / "plan.toml"
    assert working("compare", "--example-plan") == EXAMPLE_PLAN
    code, out, said = inside("compare", "--example-plan", "-o", path)
    assert (code, out) == (0, "")
    assert f"coview compare {path}" in said
    assert path.read_text() == EXAMPLE_PLAN
    out = working("compare", path, "--jobs", 1, "-o", tmp_path / "r.csv")
    assert "planted: accuracy" in out
    found = Results.from_csv(tmp_path / "r.csv")
    assert len(found) == 12
    assert not found.failures


def test_the_example_is_not_written_over_anything(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("mine")
    assert "already" in failing(2, "compare", "--example-plan", "-o", path)
    assert path.read_text() == "mine"
    assert ".toml" in failing(2, "compare", "--example-plan", "-o", tmp_path / "plan.csv")
    assert "--seeds" in failing(2, "compare", "--example-plan", "--seeds", 3)


def test_the_example_has_every_key():
    """Also in what is commented out, which is TOML as soon as the # is gone."""
    tables = {"plan": "", "data set": "", "model": ""}
    where = "plan"
    for line in EXAMPLE_PLAN.splitlines():
        shown = line.removeprefix("#") if re.match(r"#[\w\[]", line) else line
        where = {"[[datasets]]": "data set", "[[models]]": "model"}.get(shown, where)
        if not shown.startswith("[["):
            tables[where] += shown + "\n"
    for what, text in tables.items():
        found = {line.partition(" = ")[0] for line in text.splitlines() if " = " in line}
        found = {key for key in found if key.isidentifier()}
        assert found == KEYS[what] - {"datasets", "models"} | (found & {"datasets"}), what


def test_what_is_commented_out_is_valid_toml():
    for line in EXAMPLE_PLAN.splitlines():
        if re.match(r"#\w+ = ", line):
            tomllib.loads(line.removeprefix("#"))


def test_the_page_has_every_key_and_metric():
    page = PAGE.read_text()
    parts = dict(zip(KEYS, re.split(r"^## ", page, flags=re.MULTILINE)[1:], strict=True))
    for what, keys in KEYS.items():
        rows = set(re.findall(r"^\| `(\w+)` \|", parts[what], flags=re.MULTILINE))
        assert rows == keys, what
    for metrics in TASK_METRICS.values():
        assert all(metric in page for metric in metrics)


# -- mistakes are found before the first run --

GOOD = """
seeds = 1
[[datasets]]
name = "news.csv"
options = {text = ["en", "de"], label = "topic"}
[[models]]
name = "kmeans"
"""


@pytest.fixture
def folder(tmp_path):
    words = {"sport": "goal team match", "food": "soup bread salt"}
    rows = [f"{words[k]},{words[k]} x{i % 4},{k}" for i in range(10) for k in words]
    (tmp_path / "news.csv").write_text("\n".join(["en,de,topic", *rows]) + "\n")
    (tmp_path / "plan.toml").write_text(GOOD)
    return tmp_path


def test_a_table_is_data_of_a_plan_found_beside_it(folder):
    out = working("compare", folder / "plan.toml", "--jobs", 1)
    assert "news.csv: accuracy" in out
    assert "100.00" in out


def test_a_changed_table_is_run_again(folder):
    plan, out = folder / "plan.toml", folder / "r.csv"
    working("compare", plan, "--jobs", 1, "-o", out)
    journal = folder / "r.csv.cells.jsonl"
    assert len(journal.read_text().splitlines()) == 1
    working("compare", plan, "--jobs", 1, "-o", out, "--resume")
    assert len(journal.read_text().splitlines()) == 1
    with (folder / "news.csv").open("a") as file:
        file.write("goal soup,goal soup,food\n")
    working("compare", plan, "--jobs", 1, "-o", out, "--resume")
    assert len(journal.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("seeds = 1", "seed = 1", "no key 'seed'. Did you mean 'seeds'?"),
        ('name = "kmeans"', 'nane = "kmeans"', "no key 'nane'. Did you mean 'name'?"),
        ('name = "news.csv"', 'name = "mfaet"', "Did you mean 'mfeat'?"),
        ("options =", "option =", "Did you mean 'options'?"),
        ('name = "kmeans"', 'name = "kmean"', "There is no model 'kmean'. Did you mean 'kmeans'?"),
        ('name = "kmeans"', 'name = "nb"', "cannot do the task 'cluster'"),
        (
            'name = "kmeans"',
            'name = "ltm"\nconcat = true\nparams = {strngth = 2.0}',
            "ltm has no parameter 'strngth'. Did you mean 'strength'?",
        ),
        (
            'name = "kmeans"',
            'name = "mggm"\ngrid = {strngth = [2.0]}',
            "In grid of the model 'mggm'",
        ),
        ('name = "kmeans"', 'name = "mggm"\ngrid = {strength = 2.0}', "must be a list of values"),
        ('name = "kmeans"', 'name = "link"\nparams = {max_iter = 0}', "max_iter must be"),
        ('name = "kmeans"', 'name = "link"\nviews = ["fr"]', "there is no view 'fr'"),
        ('name = "kmeans"', 'name = "link"\nviews = "en"', "views must be a list"),
        ('["en", "de"]', '["en", "dee"]', "Did you mean 'de'?"),
        ('text = ["en", "de"], ', "", "Say which columns"),
        (', label = "topic"', "", "no labels"),
        ("seeds = 1", 'seeds = 1\nmetrics = "accuracy"', "metrics must be a list"),
        ("seeds = 1", 'seeds = 1\ntask = "retrieve"\npairs = [["en", "fr"]]', "no view 'fr'"),
        ("seeds = 1", "seeds = 1\nn_components = 0", "n_components must be"),
    ],
)
def test_a_mistake_is_found_before_the_first_run(folder, monkeypatch, old, new, words):
    assert old in GOOD
    (folder / "plan.toml").write_text(
        GOOD.replace(old, new).replace("kmeans", "scm" if "retrieve" in new else "kmeans")
    )
    monkeypatch.setattr("coview.compare.run", None)  # nothing is run
    out = folder / "r.csv"
    code, shown, said = inside("compare", folder / "plan.toml", "-o", out)
    assert code in (1, 2)
    assert words in said
    assert not shown
    assert not list(folder.glob("r.csv*"))


def test_options_of_a_data_set_are_checked(tmp_path):
    (tmp_path / "plan.toml").write_text(
        'models = ["kmeans"]\n[[datasets]]\nname = "make_views"\noptions = {n_doc = 5}\n'
    )
    said = failing(1, "compare", tmp_path / "plan.toml")
    assert "takes no option 'n_doc'. Did you mean 'n_docs'?" in said


def test_the_plan_of_the_page_is_one(tmp_path):
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    (tmp_path / "plan.toml").write_text(block)
    plan = read_plan(tmp_path / "plan.toml")
    assert [entry.name for entry in plan.models] == ["link", "mggm"]
