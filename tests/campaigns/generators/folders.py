"""Views folders: damaged, changed by other tools, and sealed anew."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case
from tests.campaigns.damage import (
    LONG_WORD,
    PATTERNS,
    craft_json,
    craft_tensor,
    damaged,
    replace_digest,
)
from tests.campaigns.dense import Unreadable, difference, read_npy, read_npz, sparse_npz

VIEW = "body"


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return a views folder of one text view, with ids, labels and a recipe."""
    place = folder / "kept"
    place.mkdir()
    for name, data in _files().items():
        (place / name).write_bytes(data)
    way, name = rng.random(), sorted(_files())[rng.integers(len(_files()))]
    if way < 0.05:
        return _case("as it was written", place, "right")
    if way < 0.1:
        (place / name).unlink()
        return _case(f"{name} removed", place)
    if way < 0.55:
        changed, how = damaged((place / name).read_bytes(), rng)
        (place / name).write_bytes(changed)
        if _sealed_names(place) and name in _sealed_names(place):
            return _case(f"{name}: {how}", place, "refused")
        return _case(f"{name}: {how}", place)
    return _changed(place, name, rng)


def _changed(place: Path, name: str, rng: np.random.Generator) -> Case:
    """Change a file so that it can be read, and seal the folder anew."""
    before = (place / name).read_bytes()
    how = _rewrite(place / name, rng)
    replace_digest(place, before, (place / name).read_bytes())
    return _case(f"{name}: {how}, re-sealed", place)


def _sealed_names(place: Path) -> set[str]:
    """Return the files whose checksums the folder keeps, by their occurrence in it."""
    import hashlib

    kept = b"".join(path.read_bytes() for path in place.iterdir() if path.suffix == ".json")
    digests = {n: hashlib.sha256(data).hexdigest().encode() for n, data in _files().items()}
    return {name for name, digest in digests.items() if digest in kept}


@cache
def _files() -> dict[str, bytes]:
    import tempfile

    from coview import Views

    texts = ["bread oven flour", "rocket orbit moon bread", "moon moon star", None, "flour oven"]
    views = Views.from_texts(
        {VIEW: texts}, ids=[f"d{i}" for i in range(5)], labels=[0, 1, 1, -1, 0],
        label_names=["food", "space"], languages=None, min_df=1, max_df=1.0,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        views.save(Path(folder, "kept"))
        return {path.name: path.read_bytes() for path in Path(folder, "kept").iterdir()}


def _case(what: str, place: Path, expect: Any = "either") -> Case:
    def act() -> Any:
        from coview import Views

        views = Views.load(place)
        recipe = views.recipes[VIEW]
        if recipe is not None:
            recipe.counts([f"moon {LONG_WORD}", None])
        return views

    def judge(views: Any) -> str | None:
        if expect == "refused":
            return "damage was accepted"
        return _wrong(views, place)

    return Case(what, act, judge, ("kept", VIEW), expect)


def _wrong(views: Any, place: Path) -> str | None:
    """Compare with the files, read without coview; a file that is gone is no part of it."""
    try:
        wrong = difference(views[VIEW], sparse_npz(read_npz(place / f"view_{VIEW}.npz")), 1e-6)
        if wrong:
            return wrong
        for what, found, name in (
            ("ids", views.ids, "ids.txt.gz"),
            ("features", views.features[VIEW], f"features_{VIEW}.txt.gz"),
            ("names of labels", views.label_names, "label_names.txt"),
        ):
            kept = _lines(place / name)
            if kept != (None if found is None else list(found)):
                return f"other {what}: {found} instead of {kept}"
        labels = place / "labels.npy"
        kept = read_npy(labels.read_bytes()).tolist() if labels.exists() else None
        got = None if views.labels is None else [-1 if v is None else v for v in views.labels]
        return None if got == kept else f"the labels {got} instead of {kept}"
    except (Unreadable, KeyError, ValueError, OSError) as error:
        return f"accepted, though unreadable: {error}"


def _lines(path: Path) -> list[str] | None:
    if not path.exists():
        return None
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return text.removesuffix("\n").replace("\r\n", "\n").removesuffix("\r").split("\n")


# -- changes ---------------------------------------------------------------------------------------


def _rewrite(path: Path, rng: np.random.Generator) -> str:
    for suffix, change in _CHANGES.items():
        if path.name.endswith(suffix):
            return change(path, rng)
    return "as it was"


def _change_array(path: Path, rng: np.random.Generator) -> str:
    array, how = craft_tensor(read_npy(path.read_bytes()), rng)
    np.save(path, array)
    return how


def _change_arrays(path: Path, rng: np.random.Generator) -> str:
    arrays = read_npz(path)
    name = sorted(arrays)[rng.integers(len(arrays))]
    if arrays[name].dtype.kind == "S":
        arrays[name], how = np.array(b"csc"), "another format"
    else:
        arrays[name], how = craft_tensor(arrays[name], rng)
    np.savez(path, **arrays)
    return f"{name} {how}"


def _change_json(path: Path, rng: np.random.Generator) -> str:
    value = json.loads(path.read_text())
    if "settings" in value and rng.random() < 0.3:
        pattern = str(rng.choice(PATTERNS))
        value["settings"]["parameters"] |= {"token_pattern": pattern, "tokenizer": None}
        how = f"token_pattern = {pattern[:20]}"
    else:
        value, how = craft_json(value, rng)
    path.write_text(json.dumps(value))
    return how


def _change_lines(path: Path, rng: np.random.Generator) -> str:
    lines = _lines(path) or []
    ways: dict[str, list[str]] = {
        "one twice": lines[:-1] + lines[:1],
        "one more": [*lines, "more"],
        "one less": lines[:-1],
        "one empty": ["", *lines[1:]],
        "one of control characters": ["\x1b[31m\x07", *lines[1:]],
        "one of a megabyte": ["x" * 10**6, *lines[1:]],
        "unfolding a thousandfold": ["x" * (150 << 20)] if path.suffix == ".gz" else lines,
    }
    how = str(rng.choice(sorted(ways)))
    data = "".join(f"{line}\n" for line in ways[how]).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return how


_CHANGES: dict[str, Callable[[Path, np.random.Generator], str]] = {
    ".npy": _change_array,
    ".npz": _change_arrays,
    ".json": _change_json,
    ".txt.gz": _change_lines,
    ".txt": _change_lines,
}
