"""One cell, from plain data to plain data. This is what runs in the worker processes."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Any

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
_state: dict[str, Any] = {"data": {}, "models": {}, "warm": set()}


def set_up(data: Mapping[str, Any], models: Mapping[str, Any]) -> None:
    """What the caller of `run` gave by name; once in each process."""
    from coview.compare.loading import forget

    forget()
    _state.update(data=data, models=models)


def ignore_interrupts(data: Mapping[str, Any], models: Mapping[str, Any]) -> None:
    """As `set_up`, in a worker process: Ctrl-C is the business of the parent."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_up(data, models)


def run_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    """What came out of a cell, or the error that it ended with."""
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        try:
            outcome = asdict(_measured(cell))
        except Exception as error:
            outcome = {"error": _short(error), "traceback": traceback.format_exc()}
    notes = list(dict.fromkeys(str(w.message) for w in caught))
    return {**outcome, "warnings": notes[:5], "versions": versions()}


def _measured(cell):
    from coview.compare.classify import classify
    from coview.compare.cluster import cluster
    from coview.compare.loading import load
    from coview.compare.retrieve import retrieve

    split = cell["settings"].get("split") == "publisher"
    views, is_test = load(cell["data"], _state["data"], split=split)
    if cell["settings"].get("warm_up"):
        _warm_up(cell)
    task = {"cluster": cluster, "classify": classify, "retrieve": retrieve}[cell["task"]]
    return task(cell, views, is_test, _state["models"])


def _warm_up(cell):
    """Compile what the model compiles, once in a process, on a few documents."""
    from coview.compare.cluster import cluster
    from coview.datasets import make_views

    name = cell["entry"]["name"]
    if name not in _state["warm"]:
        _state["warm"].add(name)
        entry = {**cell["entry"], "views": (), "n_components": 2}
        data = {**cell["data"], "steps": ()}
        few = make_views(60, 2, [30, 30], random_state=0)
        cluster({**cell, "entry": entry, "data": data}, few, None, _state["models"])


def _short(error: Exception) -> str:
    """The kind of the error and the first line of what it says."""
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def versions() -> str:
    """The versions that a result depends on, as one text."""
    from coview import __version__

    found = [f"coview {__version__}", f"python {python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:  # built from source without metadata
            continue
    return ", ".join(found)
