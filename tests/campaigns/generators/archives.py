"""Archives as publishers pack their data: zip and tar files, sound, damaged and hostile."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case, must_be_refused
from tests.campaigns.damage import damage_file

KINDS = [".zip", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz"]


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return an archive of a few text files."""
    path = folder / f"data{rng.choice(KINDS)}"
    members = {
        f"set/part{i}.txt": rng.bytes(int(rng.integers(0, 400))) for i in range(rng.integers(1, 5))
    }
    if rng.random() < 0.3:
        return _hostile(rng, path, members)
    _pack(path, members)
    if rng.random() < 0.25:
        inner, path = path, folder / "outer.zip"
        _pack(path, {inner.name: inner.read_bytes()})
    if rng.random() < 0.6:
        return _case(f"{path.name}, {damage_file(path, rng)}", path, members, True)
    return _case(path.name, path, members, False)


def _case(what: str, path: Path, members: dict[str, bytes], damaged: bool) -> Case:
    outside = sorted(p.name for p in path.parent.iterdir())

    def act() -> Any:
        from experiments.importers.archives import collect

        return collect(path, lambda name: name.endswith(".txt"))

    def judge(found: Any) -> str | None:
        if sorted(p.name for p in path.parent.iterdir()) != outside:
            return "files were written"
        got = {Path(name).name: data for name, data in found.items()}
        expected = {Path(name).name: data for name, data in members.items()}
        if got == expected:
            return None
        # plain tar files and names have no checksums, and a cut tar file may end at a member
        return None if damaged and _is_known(got, path) else f"other members: {sorted(got)}"

    names = (path.name, *[name for name in ("archive",) if damaged])
    return Case(what, act, judge, names, "either" if damaged else "right", 500 << 20)


def _is_known(got: dict[str, bytes], path: Path) -> bool:
    """Return whether the standard library reads the same from a damaged archive."""
    try:
        return got == dict(_members(path.read_bytes(), path.name))
    except Exception:
        return False


def _members(data: bytes, name: str) -> Any:
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                content = archive.read(member)
                yield from _inner(member, content)
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for entry in archive.getmembers():
                file = archive.extractfile(entry)
                if file is not None:
                    yield from _inner(entry.name, file.read())


def _inner(name: str, content: bytes) -> Any:
    if name.endswith(".txt"):
        yield Path(name).name, content
    elif any(name.endswith(kind) for kind in KINDS):
        yield from _members(content, name)


def _pack(path: Path, members: dict[str, bytes]) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return
    mode: Any = {".tar": "w", ".gz": "w:gz", ".bz2": "w:bz2", ".xz": "w:xz"}[path.suffix]
    with tarfile.open(path, mode) as tar:
        for name, data in members.items():
            _add(tar, name, data)


def _add(tar: tarfile.TarFile, name: str, data: bytes = b"", kind: bytes = b"0") -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.type = len(data), kind
    entry.linkname = "/etc/hostname" if kind != b"0" else ""
    tar.addfile(entry, io.BytesIO(data))


# -- hostile archives ------------------------------------------------------------------------------


def _hostile(rng: np.random.Generator, path: Path, members: dict[str, bytes]) -> Case:
    what = str(rng.choice(sorted(HOSTILE)))
    path = path.with_name("data.tar" if what in TAR_ONLY else path.name)
    HOSTILE[what](path, members)
    case = _case(f"{path.name}: {what}", path, members, True)
    if what == DEEP:  # what lies too deep is not looked at
        return Case(case.what, case.act, lambda found: str(found) if found else None, case.names)
    return Case(case.what, case.act, must_be_refused(what), case.names, "refused", 500 << 20)


def _with_name(name: str) -> Callable[[Path, dict[str, bytes]], None]:
    return lambda path, members: _pack(path, {**members, name: b"out"})


def _special(kind: bytes) -> Callable[[Path, dict[str, bytes]], None]:
    def write(path: Path, members: dict[str, bytes]) -> None:
        with tarfile.open(path, "w") as tar:
            _add(tar, "set/a.txt", b"fine")
            _add(tar, "set/link.txt", kind=kind)

    return write


def _bomb(path: Path, members: dict[str, bytes]) -> None:
    _pack(path.with_name("data.zip"), {"set/zeros.txt": bytes(120 << 20)})
    if path.suffix != ".zip":
        _pack(path.with_name("data.tar.gz"), {"set/zeros.txt": bytes(120 << 20)})
        path.with_name("data.tar.gz").rename(path)


def _too_deep(path: Path, members: dict[str, bytes]) -> None:
    data, name = b"", "x.txt"
    for level in range(5):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr(name, data)
        data, name = out.getvalue(), f"level{level}.zip"
    path.write_bytes(data)


DEEP = "archives in archives in archives"
HOSTILE: dict[str, Callable[[Path, dict[str, bytes]], None]] = {
    "a way out of the folder": _with_name("../../escaped.txt"),
    "a way out in the midst": _with_name("set/../../escaped.txt"),
    "an absolute path": _with_name("/tmp/escaped.txt"),
    "a symbolic link": _special(tarfile.SYMTYPE),
    "a hard link": _special(tarfile.LNKTYPE),
    "a device": _special(tarfile.CHRTYPE),
    "a thousandfold unfolding": _bomb,
    DEEP: _too_deep,
}
TAR_ONLY = ("a symbolic link", "a hard link", "a device")
