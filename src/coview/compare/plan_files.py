"""A plan as a TOML file: an experiment is one file that a person can read and change.

    task = "cluster"
    seeds = 10                      # or a list
    metrics = ["accuracy", "nmi_max"]

    [[datasets]]
    name = "mfeat"

    [[models]]
    name = "mggm"
    label = "MGGM"
    params = {n_feature_topics = 100, strength_scale = "absolute"}
    grid = {strength = [5000, 15000]}
    none = ["scaling"]              # parameters that are None, which TOML has no word for

Keys are those of `Plan`, `Data` and `Entry`. Data sets and models without parameters can be given
by name alone: ``models = ["link", "spectral"]``.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

from coview.compare.plan import Data, Entry, Plan
from coview.store import replacing


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """The plan in a TOML file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "plan.toml")
    ...     _ = path.write_text('datasets = ["mfeat"]\\nmodels = ["link", "spectral"]\\nseeds = 3')
    ...     len(read_plan(path).cells())
    6
    """
    try:
        with Path(path).open("rb") as file:
            content = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not a TOML file: {error}.") from error
    known = [field.name for field in fields(Plan)]
    unknown = [name for name in content if name not in known]
    if unknown:
        raise ValueError(
            f"{path} has {', '.join(unknown)}, which a plan does not know. It knows "
            f"{', '.join(known)}."
        )
    lacking = [name for name in ("datasets", "models") if not content.get(name)]
    if lacking:
        raise ValueError(f"{path} has no {' and no '.join(lacking)}: give at least one of each.")
    content["models"] = [_with_none(entry) for entry in content["models"]]
    try:
        return Plan(**content)
    except (TypeError, ValueError) as error:
        raise ValueError(f"In {path}: {error}") from error


def _with_none(entry: Any) -> Any:
    if not isinstance(entry, Mapping) or "none" not in entry:
        return entry
    others = {name: value for name, value in entry.items() if name != "none"}
    return {**others, "params": {**entry.get("params", {}), **dict.fromkeys(entry["none"])}}


def write_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan that `read_plan` reads; what is as by default is left out.

    >>> import tempfile
    >>> plan = Plan(["mfeat"], [{"name": "mggm", "grid": {"strength": [1, 2]}}], seeds=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_plan(plan, f"{folder}/plan.toml")
    ...     read_plan(f"{folder}/plan.toml") == plan
    True
    """
    with replacing(path) as beside:
        beside.write_text(plan_text(plan), encoding="utf-8")


def plan_text(plan: Plan) -> str:
    """The plan as TOML.

    >>> print(plan_text(Plan(["mfeat"], ["link"], seeds=[0, 1])))
    seeds = [0, 1]
    <BLANKLINE>
    [[datasets]]
    name = "mfeat"
    <BLANKLINE>
    [[models]]
    name = "link"
    <BLANKLINE>
    """
    tables = {
        "datasets": [_changed(data) for data in plan.datasets],
        "models": [_nameable(_changed(entry)) for entry in plan.models],
    }
    top = {n: v for n, v in _changed(plan).items() if n not in tables}
    lines = [f"{name} = {_value(value)}" for name, value in top.items()]
    for name, entries in tables.items():
        for entry in entries:
            lines += ["", f"[[{name}]]", *(f"{_key(n)} = {_value(v)}" for n, v in entry.items())]
    return "\n".join(lines).lstrip("\n") + "\n"


def _changed(thing: Plan | Data | Entry) -> dict[str, Any]:
    """The fields that are not as by default; a label that is the name says nothing."""
    values = asdict(thing)
    found = {}
    for field in fields(thing):
        factory = field.default_factory
        default = field.default if factory is MISSING else factory()
        if values[field.name] != default:
            found[field.name] = values[field.name]
    if found.get("label") == found.get("name"):
        found.pop("label", None)
    return found


def _nameable(entry: dict[str, Any]) -> dict[str, Any]:
    none = [name for name, value in entry.get("params", {}).items() if value is None]
    if not none:
        return entry
    params = {n: v for n, v in entry["params"].items() if v is not None}
    rest = {n: v for n, v in entry.items() if n != "params"}
    return {**rest, **({"params": params} if params else {}), "none": none}


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(n)} = {_value(v)}" for n, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    raise TypeError(f"TOML has no word for {value!r}: give another value, or leave it out.")


def _key(name: str) -> str:
    bare = name.replace("_", "").replace("-", "")
    return name if bare.isascii() and bare.isalnum() else json.dumps(name)
