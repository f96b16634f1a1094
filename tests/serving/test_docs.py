"""What docs/service.md says is so: its commands run, its tables are complete."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from coview.cli import app
from coview.serving.app import MEANINGS
from coview.serving.settings import ServiceSettings

PAGE = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
COMMANDS = re.search(r"```sh\n(.*?)```", PAGE, flags=re.S)[1].strip().splitlines()


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl here")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda text: text.split()[2].rpartition("/")[2])
def test_the_commands_run(service, command):
    words = shlex.split(command.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}"))
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    if "metrics" not in command:
        assert json.loads(ran.stdout)


def test_every_option_is_in_the_table():
    options = get_command(app).commands["serve"].params
    for option in options:
        if option.param_type_name == "option" and option.name != "help":
            assert f"`{option.opts[0]}`" in PAGE, option.name


def test_every_status_is_in_the_table():
    rows = " ".join(re.findall(r"^\| ([\d, ]+) \|", PAGE, flags=re.M))
    assert {str(status) for status in MEANINGS} - set(re.findall(r"\d+", rows)) <= {"501"}


@pytest.mark.parametrize(
    ("option", "name", "unit"),
    [
        ("port", "port", 1),
        ("max-documents", "max_documents", 1),
        ("timeout", "timeout", 1),
        ("read-timeout", "read_timeout", 1),
        ("workers", "workers", 1),
        ("max-requests", "max_requests", 1),
        ("max-connections", "max_connections", 1),
        ("rate", "rate", 1),
        ("drain", "drain", 1),
        ("max-body", "max_body", 1_000_000),
    ],
)
def test_the_defaults_are_those_of_the_table(option, name, unit):
    shown = re.search(rf"^\| `--{option}` \| ([\d.]+) \|", PAGE, flags=re.M)[1]
    command = next(p for p in get_command(app).commands["serve"].params if p.name == name)
    assert float(shown) == command.default
    assert float(shown) * unit == getattr(ServiceSettings(), name)
