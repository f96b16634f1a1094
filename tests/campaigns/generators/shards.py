"""Sharded folders: damaged, changed, and sealed anew."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case
from tests.campaigns.damage import craft_json, craft_tensor, damaged

MANIFEST = "manifest.json"


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return a sharded folder of two views in several shards."""
    place = folder / "kept"
    for name, data in _files().items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    way, name = rng.random(), sorted(_files())[rng.integers(len(_files()))]
    if way < 0.05:
        return _case("as it was written", place, "right")
    if way < 0.1:
        (place / name).unlink()
        return _case(f"{name} removed", place, "refused")
    if way < 0.4:
        changed, how = damaged((place / name).read_bytes(), rng)
        (place / name).write_bytes(changed)
        # white space in a manifest means nothing
        return _case(f"{name}: {how}", place, "either" if name == MANIFEST else "refused")
    if way < 0.6 or name == MANIFEST:
        body, how = craft_json(json.loads((place / MANIFEST).read_text()), rng)
        _write_manifest(place, body)
        return _case(f"{MANIFEST}: {how}, re-sealed", place)
    how = _change(place / name, rng)
    _seal_again(place)
    return _case(f"{name}: {how}, re-sealed", place)


def _change(path: Path, rng: np.random.Generator) -> str:
    if path.suffix != ".npy" or rng.random() < 0.2:
        changed, how = damaged(path.read_bytes(), rng)
        path.write_bytes(changed)
        return how
    array, how = craft_tensor(np.load(path), rng)
    _write_array(path, array)
    return how


def _write_array(path: Path, array: np.ndarray) -> None:
    """Write an array with a header of 128 bytes, as the format wants it."""
    text = f"{{'descr': {array.dtype.str!r}, 'fortran_order': False, 'shape': {array.shape!r}, }}"
    header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + text.ljust(117).encode() + b"\n"
    path.write_bytes(header + np.ascontiguousarray(array).tobytes())


def _seal_again(place: Path) -> None:
    body = json.loads((place / MANIFEST).read_text())
    for name in body["files"]:
        data = (place / name).read_bytes()
        body["files"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    _write_manifest(place, body)


def _write_manifest(place: Path, body: Any) -> None:
    if isinstance(body, dict):
        body.pop("seal", None)
        text = json.dumps(body, sort_keys=True, separators=(",", ":"))
        body["seal"] = hashlib.sha256(text.encode()).hexdigest()
    (place / MANIFEST).write_text(json.dumps(body))


@cache
def _files() -> dict[str, bytes]:
    import tempfile

    from coview import Views, write_shards
    from coview.views import blocks

    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["bread", "oven", "moon", "star"], 6)) for _ in range(40)]
    made = Views.from_texts({"body": texts}, languages=None, max_df=1.0)
    views = Views(
        {"body": made["body"], "size": rng.normal(size=(40, 3))},
        features=made.features, recipes=made.recipes, ids=[f"d{i}" for i in range(40)],
        labels=rng.choice(["food", "space"], 40),
    )  # fmt: skip
    before = blocks.MIN_NONZEROS
    blocks.MIN_NONZEROS = 60
    try:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "kept")
            write_shards(views, root)
            files = [path for path in root.rglob("*") if path.is_file()]
            return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    finally:
        blocks.MIN_NONZEROS = before


def _case(what: str, place: Path, expect: Any = "either") -> Case:
    def act() -> Any:
        from coview import open_shards

        sharded = open_shards(place)
        for name in sharded.manifest.files:
            sharded.files.verify(name)
        sharded.term_counts()
        views = sharded.to_views()
        for recipe in views.recipes.values():
            if recipe is not None:
                recipe.counts(["moon", None])
        return views

    def judge(views: Any) -> str | None:
        if expect == "refused":
            return "damage was accepted"
        return _wrong(views)

    return Case(what, act, judge, ("kept", MANIFEST), expect)


def _wrong(views: Any) -> str | None:
    """Return what kernels could trip over; whatever is in bounds may have been written so."""
    for name, matrix in views.matrices.items():
        rows, width = matrix.shape
        if rows != len(views.present) or len(matrix.indptr) != rows + 1:
            return f"view {name} has not a row for each document"
        if matrix.nnz and not 0 <= matrix.indices.min() <= matrix.indices.max() < width:
            return f"view {name} has columns out of bounds"
        if not np.isfinite(matrix.data).all():
            return f"view {name} is not finite"
    return None
