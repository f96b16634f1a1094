"""The command, run as a person would."""

import re
import subprocess
import sys

import pytest

from coview import __version__


def run(*args):
    return subprocess.run(
        [sys.executable, "-m", "coview", *args], capture_output=True, text=True, timeout=300
    )


def test_help_names_the_commands():
    out = run("--help")
    assert out.returncode == 0
    assert "demo" in out.stdout


def test_no_arguments_show_the_help():
    assert "demo" in (run().stdout + run().stderr)


def test_version():
    assert run("--version").stdout.strip() == f"coview {__version__}"


def test_an_unknown_command_fails():
    assert run("frobnicate").returncode == 2


@pytest.fixture(scope="module")
def demo():
    return run("demo")


def test_the_demo_shows_topics_clusters_and_search(demo):
    assert demo.returncode == 0, demo.stderr
    assert "largest topics" in demo.stdout
    assert "scipy.stats" in demo.stdout
    assert "NMI" in demo.stdout
    assert "doc searches code" in demo.stdout
    assert "code searches doc" in demo.stdout


def test_the_demo_finds_the_right_item_within_the_first_one_and_a_half_per_cent(demo):
    medians = re.findall(r"(\d+) of (\d+)\s+\(", demo.stdout)
    assert len(medians) == 2
    for rank, size in medians:
        assert int(rank) <= 0.015 * int(size)


@pytest.mark.parametrize("model", ["mggm", "divergence"])
def test_the_demo_lets_one_choose_the_model(model):
    out = run("demo", "--model", model)
    assert out.returncode == 0, out.stderr
    for rank, size in re.findall(r"(\d+) of (\d+)\s+\(", out.stdout):
        assert int(rank) <= 0.1 * int(size)


def test_an_unknown_model_is_refused_with_the_names():
    out = run("demo", "--model", "magic")
    assert out.returncode == 2
    assert "divergence" in out.stderr


def test_the_demo_shows_its_progress_on_standard_error(demo):
    assert "LinkPLSA" in demo.stderr


def commands(*path):
    """Names of the commands of the help page."""
    from typer.main import get_command

    from coview.cli import app

    group = get_command(app)
    for name in path:
        group = group.commands[name]
    return group.commands


ALL = [*(n for n in commands() if n != "data"), *(f"data {n}" for n in commands("data"))]


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_a_help_page_with_an_example(name):
    out = run(*name.split(), "--help")
    assert out.returncode == 0, out.stderr
    _, _, example = out.stdout.partition("Example")
    assert f"coview {name}" in example


def test_every_command_of_the_help_page_is_run_by_a_test():
    """By its name, in a test file that runs the real command."""
    from pathlib import Path

    folder = Path(__file__).parents[1]
    texts = "".join(p.read_text() for p in folder.rglob("test_*.py") if p != Path(__file__))
    texts += Path(__file__).read_text().split("def commands(")[0]
    for name in ALL:
        words = r",\s*".join(f'"{word}"' for word in name.split())
        assert re.search(rf"(coview|run)\(\s*{words}", texts), name


def test_the_shell_can_complete_commands_and_models():
    import os

    shell = {
        "_COVIEW_COMPLETE": "complete_bash",
        "COMP_WORDS": "coview fit --model m",
        "COMP_CWORD": "3",
    }
    out = subprocess.run(
        [sys.executable, "-m", "coview"], env=os.environ | shell, capture_output=True, text=True
    )
    assert "mvplsa" in out.stdout
    assert "mggm" in out.stdout
