"""What docs/service.md says is so: its commands run, its tables are complete."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from coview.cli import app
from coview.serving.description import MEANINGS
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


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, flags=re.S)[1]


@pytest.mark.parametrize(
    ("language", "command"), [("python", [sys.executable, "-c"]), ("js", ["node", "-e"])]
)
def test_the_clients_run(service, language, command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    text = block(language).replace("127.0.0.1:8000", f"127.0.0.1:{service.port}")
    if language == "js":
        text = f"(async () => {{ {text} }})()"
    ran = subprocess.run([*command, text], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) == 3


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_takes_the_unit(tmp_path):
    unit = tmp_path / "coview.service"
    unit.write_text(block("ini").replace("/opt/coview/bin/coview", sys.executable))
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "coview.service" not in ran.stderr, ran.stderr


def test_the_commands_of_the_deployments_are_taken(tmp_path):
    """Options of the unit and of the image are options of the command, and probes its routes."""
    known = {option for p in get_command(app).commands["serve"].params for option in p.opts}
    given = re.findall(r"--[a-z-]+", re.search(r"ExecStart=.*", block("ini"))[0])
    given += json.loads(re.search(r"CMD (\[.*\])", block("dockerfile"))[1])
    options = [word for word in given if word.startswith("--")]
    assert len(options) >= 8
    assert set(options) <= known
    probes = dict(re.findall(r"(\w+)Probe:.*\n\s+httpGet: {path: (/\w+), ", block("yaml")))
    assert probes == {"startup": "/readyz", "readiness": "/readyz", "liveness": "/healthz"}


def test_every_option_is_in_the_table():
    options = get_command(app).commands["serve"].params
    for option in options:
        if option.param_type_name == "option" and option.name != "help":
            assert f"`{option.opts[0]}`" in PAGE, option.name


def test_every_status_is_in_the_table():
    rows = " ".join(re.findall(r"^\| ([\d, ]+) \|", PAGE, flags=re.M))
    assert {str(status) for status in MEANINGS} - set(re.findall(r"\d+", rows)) == set()


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
