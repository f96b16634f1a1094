"""`coview data`: list and info."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from coview.cli.data import data_app
from coview.datasets import DATASETS


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder of data sets."""
    folder = tmp_path / "home"
    monkeypatch.setenv("COVIEW_DATA", str(folder))
    return folder


def run(*args):
    return CliRunner().invoke(data_app, [str(arg) for arg in args])


def put(home, name):
    (home / name).mkdir(parents=True)
    np.save(home / name / "view_x.npy", np.ones((1, 1)))


def test_all_data_sets_are_listed(home):
    out = run("list")
    assert out.exit_code == 0
    for name, data in DATASETS.items():
        assert name in out.stdout
        assert f"{data.n_docs:,}" in out.stdout
    assert str(home) in out.stdout


def test_the_list_says_which_are_here(home):
    put(home, "20newsgroups")
    found = {entry["name"]: entry["folder"] for entry in json.loads(run("list", "--json").stdout)}
    here = {name for name, folder in found.items() if folder}
    assert here == {"20newsgroups", "newsgv2", "newsgv4"}
    lines = {line.split()[0]: line for line in run("list").stdout.splitlines() if line.strip()}
    assert " yes " in lines["newsgv2"]
    assert " no " in lines["mfeat"]


@pytest.mark.parametrize("name", DATASETS)
def test_all_about_a_data_set(home, name):
    out, data = run("info", name), DATASETS[name]
    assert out.exit_code == 0
    words = " ".join(out.stdout.split())
    assert data.import_command in words
    assert data.citation in words
    assert all(view in words for view in data.views)


def test_long_addresses_are_not_cut(home):
    lines = run("info", "reuters").stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("publisher"))
    text = "".join(line.removeprefix("publisher").strip() for line in lines[start : start + 3])
    assert text.startswith(DATASETS["reuters"].publisher)


def test_facts_as_json(home):
    put(home, "cora")
    facts = json.loads(run("info", "cora", "--json").stdout)
    assert facts["n_docs"] == 2708
    assert facts["views"]["content"] == 1433
    assert facts["folder"] == str(home / "cora")


def test_an_unknown_name_is_a_wrong_command(home):
    out = run("info", "mfeet")
    assert out.exit_code == 2
    assert "no data set 'mfeet'" in out.output
    assert "Traceback" not in out.output


def command(*args):
    code = (
        "import sys; from coview.cli.data import data_app; "
        "data_app(standalone_mode=False); print(*sys.modules)"
    )
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True)


def test_the_list_loads_nothing_heavy():
    out = command("list")
    assert out.returncode == 0
    assert not set(out.stdout.splitlines()[-1].split()) & {"numpy", "scipy", "sklearn", "numba"}


def test_errors_go_to_standard_error():
    out = command("info", "mfeet")
    assert "mfeet" in out.stderr
    assert "mfeet" not in out.stdout
