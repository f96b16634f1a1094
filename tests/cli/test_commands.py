"""The command as a program: version, help pages, completion, and a test for every command."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from coview import __version__
from coview.cli import app
from tests.cli.command import failing, inside, run_process, working


def test_the_program_tells_its_version():
    assert run_process("--version").stdout.strip() == f"coview {__version__}"


def test_no_arguments_show_the_help():
    ran = run_process()
    assert "demo" in ran.stdout + ran.stderr


def test_help_names_the_commands():
    assert "demo" in working("--help")


def test_an_unknown_command_fails():
    assert run_process("frobnicate").returncode == 2


def test_an_unknown_model_is_refused_with_the_names():
    assert "divergence" in failing(2, "demo", "--model", "magic")


def commands(*path):
    """Commands of the program, or of a group of commands, by name."""
    group = get_command(app)
    for name in path:
        group = group.commands[name]
    return group.commands


ALL = [*(n for n in commands() if n != "data"), *(f"data {n}" for n in commands("data"))]


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_a_help_page_with_an_example(name):
    code, out, said = inside(*name.split(), "--help")
    assert code == 0, said
    _, _, example = out.partition("Example")
    assert f"coview {name}" in example


def test_every_command_of_the_help_page_is_run_by_a_test():
    tests = Path(__file__).parents[1].rglob("test_*.py")
    texts = "".join(path.read_text() for path in tests)
    for name in ALL:
        words = r",\s*".join(f'"{word}"' for word in name.split())
        assert re.search(rf"(coview|working|inside|run)\(\s*{words}", texts), name


def test_the_shell_can_complete_commands_and_models():
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
