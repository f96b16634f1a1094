"""`python -m experiments import`: data sets from their publishers' archives."""

from dataclasses import dataclass

import pytest
from experiments.__main__ import main

from coview.datasets import load_webkb
from tests.experiments.importers.packing import webkb


@dataclass
class Output:
    code: int
    stdout: str
    stderr: str

    @property
    def output(self):
        return self.stdout + self.stderr


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder of data sets."""
    folder = tmp_path / "home"
    monkeypatch.setenv("COVIEW_DATA", str(folder))
    return folder


@pytest.fixture
def run(capsys):
    def run(*args):
        code = main([str(arg) for arg in args])
        return Output(code, *capsys.readouterr())

    return run


def test_an_unknown_name_is_a_wrong_command(home, run):
    out = run("import", "mfeet", "x.zip")
    assert out.code == 2
    assert "no data set 'mfeet'" in out.stderr
    assert not out.stdout


def test_an_archive_is_imported_to_where_the_loader_looks(home, run, tmp_path):
    out = run("import", "webkb_texas", webkb(tmp_path))
    assert out.code == 0
    assert "3 documents, 2 views" in out.stdout
    assert str(home / "webkb_texas") in out.stdout
    assert load_webkb("texas").n_docs == 3


def test_an_import_that_is_not_as_published_says_so(home, run, tmp_path):
    out = run("import", "webkb_texas", webkb(tmp_path))
    assert "Not as published: 3 documents, expected 187" in out.output


def test_an_archive_is_imported_to_a_folder_of_choice(home, run, tmp_path):
    run("import", "webkb_texas", webkb(tmp_path), "--out", tmp_path / "mine/webkb_texas")
    assert load_webkb("texas", data_home=tmp_path / "mine").n_docs == 3
    assert not home.exists()


def test_what_is_there_is_replaced_only_if_told(home, run, tmp_path):
    path = webkb(tmp_path)
    assert run("import", "webkb_texas", path).code == 0
    again = run("import", "webkb_texas", path)
    assert again.code == 1
    assert "--overwrite" in again.output
    assert run("import", "webkb_texas", path, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nothing.tgz", None, "There is no archive"),
        ("WebKB.tgz", b"<html>not found</html>", "no zip or tar archive"),
        ("WebKB.tgz", b"\x1f\x8b\x08 cut", "damaged or incomplete"),
    ],
)
def test_a_wrong_archive_is_an_error_without_a_traceback(home, run, tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    out = run("import", "webkb_texas", tmp_path / name)
    assert out.code == 1
    assert words in out.output
    assert "Traceback" not in out.output
    assert not home.exists()
