"""The command line: odd options and odd files, in the process of the worker."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from tests.campaigns.cases import Case
from tests.campaigns.damage import damage_file

ODD = ["", "x", "-1", "0", "1e400", "nan", "\x1b[31m", "\0".replace("\0", "null"), "../../x", "a=b"]
ODD += ["2:1", "=", "en=", "=en", "a:b:c", "99999999999999999999", "é", "*", "/", "--help-me", "٣"]
BUG = "bug in coview"


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return a command with one option, or one of its files, that is odd."""
    for name, data in _files().items():
        (folder / name).write_bytes(data)
    (folder / "empty").mkdir()
    words = list(COMMANDS[rng.integers(len(COMMANDS))])
    what = ""
    if rng.random() < 0.45:
        name = str(rng.choice(sorted(_files())))
        what = f"; {name} {damage_file(folder / name, rng)}"
    elif rng.random() < 0.5:
        words += [OPTIONS[rng.integers(len(OPTIONS))], ODD[rng.integers(len(ODD))]]
    else:
        at = int(rng.integers(1, len(words)))
        words[at] = ODD[rng.integers(len(ODD))]
    arguments = [word.format(folder=folder) for word in words]
    shown = " ".join(words).replace("{folder}/", "")

    def act() -> Any:
        return run_inside(arguments, folder)

    return Case(f"{shown[:120]}{what}", act, _judge, ("",))


class _Refused(ValueError):
    """The command ended with an error of its own words."""


_Refused.__module__ = "coview.cli"  # it stands for what the command has said


def run_inside(arguments: list[str], folder: Path) -> tuple[str, str]:
    """Return standard output and standard error of a command that succeeds."""
    from coview.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["coview", *arguments]),
        mock.patch.object(warnings, "showwarning"),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    if code in (1, 2) and not _is_bug(err.getvalue()):
        raise _Refused(err.getvalue()[-300:])
    if code:
        raise RuntimeError(f"exit code {code}: {err.getvalue()[-300:]}")
    return out.getvalue(), err.getvalue()


def _is_bug(said: str) -> bool:
    return (
        not said.strip() or BUG in said or "error of coview itself" in said or "Traceback" in said
    )


def _judge(result: Any) -> str | None:
    out, said = result
    if any(c in out + said for c in "\x1b\x07\x00"):
        return "control characters were printed"
    if out.lstrip()[:1] in ("{", "[") and not out.lstrip().startswith("[bold"):
        try:
            json.loads(out)
        except ValueError:
            return f"not JSON: {out[:80]!r}"
    return None


@cache
def _files() -> dict[str, bytes]:
    import tempfile

    from coview import LinkPLSA, Views

    rng = np.random.default_rng(0)
    words = ["goal match team player", "bread oven flour butter", "rocket orbit moon star"]
    rows = ["id,en,kind\n"]
    for i in range(18):
        text = " ".join(rng.choice(words[i % 3].split(), 6))
        rows.append(f"d{i},{text},{'abc'[i % 3]}\n")
    table = "".join(rows).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "news.csv")
        path.write_bytes(table)
        views = Views.from_table(path, text="en", id="id", min_df=1, max_df=1.0)
        model = LinkPLSA(3, random_state=0, max_iter=5, init="random").fit(views)
        model.save(Path(folder, "m.coview"))
        return {"news.csv": table, "m.coview": Path(folder, "m.coview").read_bytes()}


FIT = ("fit", "{folder}/news.csv", "--text", "en", "--id", "id", "--model", "link", "-k", "3")
FIT += ("--max-iter", "3", "-o", "{folder}/new.coview", "--quiet")
MODEL, TABLE = "{folder}/m.coview", "{folder}/news.csv"
COMMANDS: list[tuple[str, ...]] = [
    FIT,
    (*FIT, "--json"),
    ("info", MODEL),
    ("info", MODEL, "--json"),
    ("info", "{folder}/empty"),
    ("topics", MODEL, "--terms", "3"),
    ("topics", MODEL, "--json"),
    ("predict", MODEL, TABLE, "--id", "id", "--json"),
    ("transform", MODEL, TABLE, "--id", "id", "-o", "{folder}/out.csv"),
    ("search", MODEL, "--view", "en", "--in", "en", "moon rocket", "--top", "2"),
    ("search", MODEL, "--like", "d3", "--in", "en", "--json"),
    ("convert", TABLE, "--text", "en", "--id", "id", "-o", "{folder}/views"),
    ("evaluate", MODEL, TABLE, "--id", "id", "--label", "kind"),
    ("data", "info", "newsgroups"),
]
OPTIONS = [
    *("--text", "--id", "--label", "--encoding", "--delimiter", "--topics", "--model", "--set"),
    *("--view", "--in", "--top", "--terms", "-o", "--max-iter", "--seed", "--strength", "--links"),
    *("--graph", "--view-weight", "--language", "--layer", "--threads", "--metric", "--like"),
]
