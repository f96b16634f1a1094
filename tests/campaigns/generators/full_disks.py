"""Writing where there is no room: an OSError that names the place, and the old file untouched."""

from __future__ import annotations

import os
import pickle
import resource
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case

NAME = "kept"
Writer = Callable[[Path], None]


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return something to write where files must not grow beyond a limit."""
    kind = str(rng.choice(sorted(WRITERS)))
    limit = int(rng.choice([0, 1, 100, int(rng.integers(1, 20_000)), 1 << 30]))
    old = rng.random() < 0.5
    path = folder / NAME / f"x{SUFFIXES.get(kind, '')}"
    path.parent.mkdir()
    before = _old_file(kind, path) if old else {}

    def act() -> Any:
        return limited(lambda: WRITERS[kind](path), limit)

    def judge(_: Any) -> str | None:
        return _left(path) or (None if path.exists() or kind == "checkpoint" else "no file")

    def judged_act() -> Any:
        try:
            return act()
        except OSError as error:
            if before and _contents(path) != before:
                raise AssertionError("the old file is gone or altered") from error
            if _left(path):
                raise AssertionError(_left(path)) from error
            raise

    what = f"{kind}, at most {limit:,} bytes{', over an old file' if old else ''}"
    expect: Any = "right" if limit == 1 << 30 else "either"
    return Case(what, judged_act, judge, (NAME,), expect)


def _left(path: Path) -> str | None:
    left = [p.name for p in path.parent.iterdir() if p.name.startswith(".")]
    return f"left behind: {left}" if left else None


def _old_file(kind: str, path: Path) -> dict[str, bytes]:
    if kind == "checkpoint":
        return {}
    WRITERS[kind](path)
    return _contents(path)


def _contents(path: Path) -> dict[str, bytes]:
    paths = sorted(path.rglob("*")) if path.is_dir() else [path] if path.exists() else []
    return {str(p.relative_to(path.parent)): p.read_bytes() for p in paths if p.is_file()}


def limited(write: Callable[[], None], limit: int) -> None:
    """Write in a forked process whose files cannot grow beyond a limit; raise what it raised."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _write_limited(write, limit, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        answer = file.read()
    _, status = os.waitpid(child, 0)
    if not answer:
        raise SystemError(f"the writer died: {os.waitstatus_to_exitcode(status)}")
    error = pickle.loads(answer)
    if error is not None:
        raise error


def _write_limited(write: Callable[[], None], limit: int, writer: int) -> None:
    error: BaseException | None = None
    try:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as a full disk: an error, not a signal
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            write()
        except BaseException as raised:
            error = raised
        os.write(writer, _pickled(error))
    finally:
        os._exit(0)


def _pickled(error: BaseException | None) -> bytes:
    try:
        return pickle.dumps(error)
    except Exception:
        return pickle.dumps(SystemError(f"{type(error).__name__}: {error}"))


# -- what is written -------------------------------------------------------------------------------


@cache
def _views() -> Any:
    from coview.datasets import make_views

    return make_views(60, 3, [40, 30], random_state=0)


@cache
def _model() -> Any:
    from coview import LinkPLSA

    return LinkPLSA(3, random_state=0, max_iter=4, init="random").fit(_views())


@cache
def _index() -> Any:
    from coview import SearchIndex

    return SearchIndex(_model(), in_view="view_1")


def _state(path: Path) -> None:
    from coview import Checkpoint, LinkPLSA

    model = LinkPLSA(3, random_state=0, max_iter=4, init="random")
    model.fit(_views(), checkpoint=Checkpoint(path, every=1))


def _omics(path: Path) -> None:
    import coview

    coview.to_mudata(_model(), _views(), path)


def _shards(path: Path) -> None:
    from coview import write_shards

    write_shards(_views(), path, overwrite=True)


WRITERS: dict[str, Writer] = {
    "model": lambda path: _model().save(path),
    "views": lambda path: _views().save(path, overwrite=True),
    "shards": _shards,
    "index": lambda path: _index().save(path),
    "checkpoint": _state,
    "omics": _omics,
}
SUFFIXES = {"omics": ".h5mu", "model": ".coview"}
