"""One cell, from plain data to plain data. This is what runs in the worker processes."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Mapping
from contextlib import suppress
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
        _warm_up(cell, views)
    task = {"cluster": cluster, "classify": classify, "retrieve": retrieve}[cell["task"]]
    return task(cell, views, is_test, _state["models"])


def _warm_up(cell, views):
    """Compile what the model compiles, once in a process, on a few of the documents."""
    import numpy as np

    from coview.compare.classify import classify
    from coview.compare.cluster import cluster

    name = cell["entry"]["name"]
    if name in _state["warm"]:
        return
    _state["warm"].add(name)
    few = np.random.default_rng(0).choice(len(views), min(60, len(views)), replace=False)
    entry = {**cell["entry"], "n_components": 2}
    task = classify if cell["task"] == "classify" else cluster
    with suppress(Exception):  # what fails here has only not been warmed up
        task({**cell, "entry": entry, "rate": 0.5}, views[np.sort(few)], None, _state["models"])


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
