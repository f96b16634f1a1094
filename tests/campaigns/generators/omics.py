"""`.h5mu` files: sound, damaged as bytes, and changed inside by h5py."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tests.campaigns.cases import Case, Expected
from tests.campaigns.damage import damage_file
from tests.campaigns.dense import Unreadable, dense_of, difference, in_child
from tests.campaigns.forked_reader import forked_reader

CELLS = np.array([f"cell{i}" for i in range(12)])
FORKED = 0.95  # the share of files for which no new interpreter is started
KINDS = ("sparse", "dense", "logarithms")


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return a file of two modalities; the cells of the second are not all of them."""
    kind = str(rng.choice(KINDS))
    path = folder / "cells.h5mu"
    path.write_bytes(_template(kind))
    way = rng.random()
    forked = rng.random() < FORKED
    if way < 0.15:
        return _case(f"{kind}, as it was written", path, kind, forked, "right")
    if way < 0.6:
        return _case(f"{kind}, {damage_file(path, rng)}", path, kind, forked)
    what = str(rng.choice(sorted(CHANGES)))
    _change(path, what, rng)
    return _case(f"{kind}, {what}", path, kind, forked)


def _case(what: str, path: Path, kind: str, forked: bool, expect: Expected = "either") -> Case:
    def act() -> Any:
        from coview import Views

        with forked_reader() if forked else nullcontext():
            return Views.from_mudata(path)

    def judge(views: Any) -> str | None:
        if _wrong(views, _written(kind)) is None:
            return None
        try:
            read = in_child(lambda: _read(path))
        except Unreadable as error:
            return f"accepted, though unreadable: {error}"
        return _wrong(views, read)

    # a view of the file: its modalities and the library's own words name it as well
    return Case(what, act, judge, (path.name, "modality", "'rna'", "'prot'", "obs"), expect)


def _wrong(views: Any, read: dict[str, Any]) -> str | None:
    if list(views.ids) != list(read["cells"]):
        return "other cells"
    if set(views.names) != set(read) - {"cells"}:
        return f"the modalities {views.names}"
    for name in views.names:
        wrong = difference(views[name], read[name], rtol=1e-6)
        if wrong:
            return f"{name}: {wrong}"
    return None


@cache
def _counts() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    there = np.arange(12) % 5 != 0
    return rng.poisson(1.0, (12, 7)) + np.eye(12, 7), rng.poisson(3.0, (12, 4)) + 1.0, there


def _written(kind: str) -> dict[str, Any]:
    """Return what a file holds; of logarithms, the layer of counts is what is wanted."""
    rna, protein, there = _counts()
    return {"cells": CELLS, "rna": rna, "prot": protein * there[:, np.newaxis]}


@cache
def _template(kind: str) -> bytes:
    import anndata
    import mudata

    rna, protein, there = _counts()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = np.log1p(rna) if kind == "logarithms" else rna
        one = anndata.AnnData(X if kind == "dense" else sp.csr_matrix(X))
        if kind == "logarithms":
            one.layers["counts"] = sp.csr_matrix(rna)
        two = anndata.AnnData(protein[there])
        one.obs_names, two.obs_names = CELLS, CELLS[there]
        one.var_names, two.var_names = [f"g{i}" for i in range(7)], [f"p{i}" for i in range(4)]
        return _as_bytes(mudata.MuData({"rna": one, "prot": two}))


def _as_bytes(data: Any) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        data.write(f"{folder}/cells.h5mu")
        return Path(folder, "cells.h5mu").read_bytes()


# -- an independent reading ------------------------------------------------------------------------


def _read(path: Path) -> dict[str, Any]:
    import h5py

    with h5py.File(BytesIO(path.read_bytes()), "r") as file:
        cells = _names(file["obs"])
        found: dict[str, Any] = {"cells": cells}
        for name, part in file["mod"].items():
            X = _matrix(part["X"])
            if not _whole(X) and "counts" in part.get("layers", {}):
                counts = _matrix(part["layers"]["counts"])
                X = counts if _whole(counts) else X  # of which coview warns
            row_of = {cell: row for row, cell in enumerate(_names(part["obs"]))}
            if len(row_of) < len(X) or not set(row_of) <= set(cells):
                raise Unreadable("cells")
            empty = np.zeros(X.shape[1])
            found[name] = np.array([X[row_of[c]] if c in row_of else empty for c in cells])
        return found


def _whole(X: np.ndarray) -> bool:
    return bool(((np.rint(X) == X) & (X >= 0)).all())


def _names(group: Any) -> list[str]:
    index = group.attrs.get("_index", "_index")
    return [name.decode() if isinstance(name, bytes) else str(name) for name in group[index][:]]


def _matrix(part: Any) -> np.ndarray:
    if not hasattr(part, "keys"):
        return np.asarray(part[:], dtype=float)
    ends, columns, values = (part[name][:].tolist() for name in ("indptr", "indices", "data"))
    if sorted(ends) != ends or ends[0] != 0 or ends[-1] != len(columns):
        raise Unreadable("indptr")
    rows = [i for i in range(len(ends) - 1) for _ in range(ends[i + 1] - ends[i])]
    shape = tuple(int(n) for n in part.attrs["shape"])
    return dense_of(zip(rows, columns, values, strict=True), shape)  # type: ignore[arg-type]


# -- changes inside --------------------------------------------------------------------------------


def _change(path: Path, what: str, rng: np.random.Generator) -> None:
    import h5py

    with h5py.File(path, "r+") as file:
        CHANGES[what](file, rng)


def _rewrite(group: Any, name: str, change: Callable[[np.ndarray], Any]) -> None:
    data = np.array(group[name][:])
    attributes = dict(group[name].attrs)
    del group[name]
    made = group.create_dataset(name, data=change(data))
    made.attrs.update(attributes)


def _of_rna(file: Any, name: str, change: Callable[[np.ndarray], Any]) -> None:
    """Change a part of the first modality's matrix; of a dense one, the matrix."""
    part = file["mod/rna/X"]
    if hasattr(part, "keys"):
        _rewrite(part, name, change)
    else:
        _rewrite(file["mod/rna"], "X", change)


def _with(data: np.ndarray, value: Any) -> np.ndarray:
    new = data.copy().reshape(-1)
    new[len(new) // 2] = value
    return new.reshape(data.shape)


def _delete(*paths: str) -> Callable[[Any, np.random.Generator], None]:
    def change(file: Any, rng: np.random.Generator) -> None:
        del file[str(rng.choice(paths))]

    return change


def _shape(file: Any, rng: np.random.Generator) -> None:
    part = file["mod/rna/X"]
    if "shape" in part.attrs:
        part.attrs["shape"] = np.array([2**40, 7]) if rng.random() < 0.5 else np.array([12, 3])
    else:
        del file["mod/rna/X"]


def _repeat(file: Any, rng: np.random.Generator) -> None:
    _rewrite(file["mod/prot/obs"], "_index", lambda names: [names[0]] * len(names))


CHANGES: dict[str, Callable[[Any, np.random.Generator], None]] = {
    "an index outside": lambda f, r: _of_rna(f, "indices", lambda d: _with(d, 10**6)),
    "a negative index": lambda f, r: _of_rna(f, "indices", lambda d: _with(d, -3)),
    "ends that go back": lambda f, r: _of_rna(f, "indptr", lambda d: _with(d, 0)),
    "a value missing": lambda f, r: _of_rna(f, "data", lambda d: d[:-1]),
    "NaN": lambda f, r: _of_rna(f, "data", lambda d: _with(d.astype(float), np.nan)),
    "a negative value": lambda f, r: _of_rna(f, "data", lambda d: _with(d.astype(float), -1.0)),
    "numbers as text": lambda f, r: _of_rna(f, "data", lambda d: d.astype("S8")),
    "another shape": _shape,
    "a cell twice": _repeat,
    "a part removed": _delete("obs", "mod", "mod/rna/X", "mod/rna/var", "mod/prot/obs", "obsmap"),
}
