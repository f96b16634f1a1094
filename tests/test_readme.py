"""The examples of the README run, and print what it shows."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.command import coview

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.fixture
def in_a_copy(tmp_path, monkeypatch):
    """Work in a folder that has only the examples, as in a fresh clone."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def test_the_first_python_example_runs(in_a_copy, capsys):
    names: dict = {}
    exec(compile(blocks("python")[0], "README.md", "exec"), names)
    assert names["model"].labels_.shape == (120,)
    said = capsys.readouterr().out
    assert "weather" in said
    assert "regen" in said


def test_the_second_python_example_runs():
    names: dict = {}
    exec(compile(blocks("python")[1], "README.md", "exec"), names)
    model, views = names["model"], names["views"]
    assert model.components_["pixels"].shape == (10, 64)
    assert model.doc_topic_.shape == (len(views), 10) == (1797, 10)


def test_it_opens_with_the_two_commands():
    first = README.split("```")[1]
    assert [line.split("#")[0].strip() for line in first.strip().splitlines()] == [
        "make demo",
        "make test",
    ]


def test_the_three_commands_show_what_the_readme_shows(in_a_copy):
    commands = [shlex.split(line)[1:] for line in blocks("sh")[0].strip().splitlines()]
    assert [command[0] for command in commands] == ["fit", "topics", "search"]
    said = [coview(*command).stdout for command in commands]
    shown = README.split("```sh")[1].split("```")[2]
    for line in shown.strip().splitlines()[2:]:
        assert " ".join(line.split()) in " ".join(said[1].split())
    assert said[2].count("weather-") == 3
