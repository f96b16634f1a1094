"""Fits and saves that are killed: they resume to the same bytes, or leave what was there."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case

COMMON = {"random_state": 0, "n_init": 2, "max_iter": 40, "tol": 0.0}
MOST_KILLS = 200


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return a fit to kill and resume, or a save to kill."""
    delays = [float(d) for d in rng.random(MOST_KILLS)]
    if rng.random() < 0.3:
        return _killed_save(str(rng.choice(["model", "views", "index"])), delays, folder)
    name = str(rng.choice(["LinkPLSA", "MGGM", "DivergenceCoPLSA", "VotedPLSA", "MVPLSA"]))
    return _killed_fit(name, str(rng.choice(["random", "auto"])), delays, folder)


@cache
def _views() -> Any:
    from coview.datasets import make_views

    return make_views(150, 4, [80, 60], random_state=0, missing=0.1)


def _model(name: str, init: str) -> Any:
    import coview

    return getattr(coview, name)(4, init=init, **COMMON)


@cache
def _undisturbed(name: str, init: str) -> tuple[bytes, float]:
    """Return the bytes of a fit that nobody disturbs, and how long it takes."""
    _model(name, init).fit(_views())  # compiles what is not compiled yet
    began = time.perf_counter()
    bits = _bits(_model(name, init).fit(_views()))
    return bits, time.perf_counter() - began


def _bits(model: Any) -> bytes:
    arrays = (model.doc_topic_, *model.components_.values(), model.trace_.objective)
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)


def in_forked(work: Callable[[], None]) -> int:
    """Return the id of a child process that does some work and ends."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    finally:
        os._exit(0)


def _kill(child: int, after: float) -> None:
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _killed_fit(name: str, init: str, delays: list[float], folder: Path) -> Case:
    out = folder / "out"

    def resume() -> None:
        from coview import Checkpoint

        state = Checkpoint(folder / "run", every=2, resume=True)
        part = folder / "part"
        part.write_bytes(_bits(_model(name, init).fit(_views(), checkpoint=state)))
        part.rename(out)

    def act() -> Any:
        _, seconds = _undisturbed(name, init)
        for kills, delay in enumerate(delays):
            # later kills wait longer: a fit that is killed too early every time never ends
            _kill(in_forked(resume), delay * seconds * (1 + kills / 10))
            if out.exists():
                return kills, out.read_bytes()
        return len(delays), b""

    def judge(result: Any) -> str | None:
        kills, bits = result
        same = bits == _undisturbed(name, init)[0]
        return None if same else f"other bytes after {kills} kills"

    return Case(f"{name} from {init}, killed and resumed", act, judge, ("run",), "right")


def _killed_save(kind: str, delays: list[float], folder: Path) -> Case:
    old, new = _small_model(0), _small_model(1)
    path = folder / "kept"

    def save_again_and_again() -> None:
        for turn in range(10**6):
            _save(kind, (old, new)[turn % 2], path)

    def act() -> Any:
        _save(kind, old, path)
        for delay in delays[:10]:
            _kill(in_forked(save_again_and_again), 0.02 + delay / 10)
        _save(kind, old, path)  # puts back what a kill had moved aside
        return _bytes_of(path)

    def judge(found: Any) -> str | None:
        left = [p.name for p in folder.iterdir() if p != path and _is_old(p)]
        if left:
            return f"left behind: {left[:3]}"
        _save(kind, old, folder / "again")
        return None if found == _bytes_of(folder / "again") else "a mixture of two files"

    return Case(f"{kind} killed while it is saved", act, judge, ("kept",), "right")


def _is_old(path: Path) -> bool:
    """Return whether a leftover is so old that a later writer should have removed it."""
    return time.time() - path.stat().st_mtime > 3600


@cache
def _small_model(seed: int) -> Any:
    from coview import LinkPLSA

    views = _views()[np.arange(seed, 60 + seed)]
    return LinkPLSA(3, random_state=seed, max_iter=3, init="random").fit(views), views


def _save(kind: str, pair: Any, path: Path) -> None:
    from coview import SearchIndex

    model, views = pair
    if kind == "views":
        views.save(path, overwrite=True)
    elif kind == "index":
        SearchIndex(model, in_view="view_1").save(path)
    else:
        model.save(path)


def _bytes_of(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        return {p.name: p.read_bytes() for p in path.iterdir() if p.suffix != ".npz"}
    return {"": path.read_bytes()}
