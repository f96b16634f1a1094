"""`coview data`: list, info and import."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from coview.cli.data import data_app
from coview.datasets import DATASETS, load_webkb
from tests.experiments.importers.packing import webkb


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


@pytest.mark.parametrize("command", [["info"], ["import", "x.zip"]])
def test_an_unknown_name_is_a_wrong_command(home, command):
    out = run(command[0], "mfeet", *command[1:])
    assert out.exit_code == 2
    assert "no data set 'mfeet'" in out.output
    assert "Traceback" not in out.output


def test_an_archive_is_imported_to_where_the_loader_looks(home, tmp_path):
    out = run("import", "webkb_texas", webkb(tmp_path))
    assert out.exit_code == 0
    assert "3 documents, 2 views" in out.stdout
    assert str(home / "webkb_texas") in out.stdout
    assert load_webkb("texas").n_docs == 3


def test_an_import_that_is_not_as_published_says_so(home, tmp_path):
    out = run("import", "webkb_texas", webkb(tmp_path))
    assert "Not as published: 3 documents, expected 187" in out.output


def test_an_archive_is_imported_to_a_folder_of_choice(home, tmp_path):
    run("import", "webkb_texas", webkb(tmp_path), "--out", tmp_path / "mine/webkb_texas")
    assert load_webkb("texas", data_home=tmp_path / "mine").n_docs == 3
    assert not home.exists()


def test_what_is_there_is_replaced_only_if_told(home, tmp_path):
    path = webkb(tmp_path)
    assert run("import", "webkb_texas", path).exit_code == 0
    again = run("import", "webkb_texas", path)
    assert again.exit_code == 1
    assert "--overwrite" in again.output
    assert run("import", "webkb_texas", path, "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nothing.tgz", None, "There is no archive"),
        ("WebKB.tgz", b"<html>not found</html>", "no zip or tar archive"),
        ("WebKB.tgz", b"\x1f\x8b\x08 cut", "damaged or incomplete"),
    ],
)
def test_a_wrong_archive_is_an_error_without_a_traceback(home, tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    out = run("import", "webkb_texas", tmp_path / name)
    assert out.exit_code == 1
    assert words in out.output
    assert "Traceback" not in out.output
    assert not home.exists()


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
