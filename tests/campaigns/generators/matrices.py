"""Matrices in memory, of every format and type that numpy and scipy have, sound and damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tests.campaigns.cases import Case, Expected
from tests.campaigns.dense import Entry, dense_of, difference

VIEW = "wide"
TYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "float64", "float64", "longdouble", "complex64"),
    *("object", "str", ">i4", ">f8", "datetime64[s]"),
]
DENSE = ["rows", "array", "fortran", "read-only", "memmap", "np.matrix", "masked"]
SPARSE = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
EXACT = 2**53


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return a matrix of some format and type, perhaps with a fault."""
    kind, name = str(rng.choice(DENSE + SPARSE * 2)), str(rng.choice(TYPES))
    if kind in SPARSE and name in ("float16", "object", "str", "datetime64[s]", ">i4", ">f8"):
        name = "float64"  # scipy has no such matrices
    shape = (int(rng.integers(1, 12)), int(rng.integers(1, 9)))
    entries = _cast(_entries(rng, shape), np.dtype(name))
    damage = str(rng.choice(sorted(DAMAGE))) if kind in SPARSE and rng.random() < 0.3 else ""
    X = _build(kind, entries, shape, np.dtype(name), folder)
    if damage:
        damage = DAMAGE[damage](X, rng) or ""
    if not damage and kind in ("rows", "array") and rng.random() < 0.08:
        X, damage = _reshaped(np.asarray(X), rng)
    what = f"{kind} of {name} {shape}{', ' + damage if damage else ''}"
    return _case(what, X, entries, shape, _expected(entries, shape, kind, name, damage))


def _case(what: str, X: Any, entries: list[Entry], shape: tuple[int, int], e: Expected) -> Case:
    before = _bytes_of(X)
    view = X

    def act() -> Any:
        from coview import Views

        return Views({VIEW: view})

    def judge(views: Any) -> str | None:
        if e == "refused":
            return "it was accepted"
        if _bytes_of(X) != before:
            return "the caller's matrix was altered"
        logical = getattr(getattr(X, "dtype", None), "kind", "") == "b"
        found = views[VIEW]
        rtol = 1e-6 if found.dtype == np.float32 else 1e-12
        return difference(found, dense_of(entries, shape, logical), rtol)

    return Case(what, act, judge, (VIEW,), e)


def _bytes_of(X: Any) -> list[bytes]:
    """Return the bytes of the arrays that a matrix of the caller consists of."""
    if isinstance(X, np.ndarray) and X.dtype != object:
        return [X.tobytes()]
    names = ("data", "indices", "indptr", "row", "col", "offsets")
    parts = [getattr(X, name, None) for name in names] if sp.issparse(X) else []
    return [part.tobytes() for part in parts if isinstance(part, np.ndarray)]


# -- values ----------------------------------------------------------------------------------------


def _entries(rng: np.random.Generator, shape: tuple[int, int]) -> list[Entry]:
    """Return some cells of a matrix with values of one flavor, and perhaps one odd value."""
    flavor = rng.choice(["counts", "counts", "weights", "real", "huge", "tiny", "integers"])
    full = rng.choice([0.1, 0.3, 1.0]) if flavor != "real" else 1.0
    cells = [(i, j) for i in range(shape[0]) for j in range(shape[1]) if rng.random() < full]
    entries = [(i, j, _value(flavor, rng)) for i, j in cells]
    if entries and rng.random() < 0.15:  # the same cell again, and a zero that is stored
        entries += [entries[rng.integers(len(entries))], (*entries[0][:2], 0)]
    if entries and rng.random() < 0.25:
        at = int(rng.integers(len(entries)))
        odd = [np.nan, np.inf, -np.inf, -1, -0.5, -0.0, EXACT, EXACT - 1, 70000, 1e-45, 0]
        entries[at] = (*entries[at][:2], odd[rng.integers(len(odd))])
    return entries


def _value(flavor: str, rng: np.random.Generator) -> float | int:
    if flavor == "counts":
        return int(rng.integers(0, 250))
    if flavor == "integers":
        return int(rng.integers(0, 2**60) >> int(rng.integers(60)))
    if flavor == "real":
        return float(rng.normal())
    low, high = {"weights": (0, 1), "huge": (30, 300), "tiny": (-319, -30)}[flavor]
    return float(rng.random() * 10.0 ** int(rng.integers(low, high)))


def _cast(entries: list[Entry], dtype: np.dtype) -> list[Entry]:
    """Return entries as the type holds them; integers are clipped to its range."""
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return [
            (i, j, int(min(max(int(v), low), high)) if np.isfinite(v) else 0) for i, j, v in entries
        ]
    if dtype.kind in "US":
        return [(i, j, str(v)) for i, j, v in entries]
    if dtype.kind == "M":
        return [(i, j, int(min(v, 2**31)) if v >= 0 else 0) for i, j, v in entries]
    if dtype.kind == "O":
        return entries
    with np.errstate(all="ignore"):
        return [(i, j, np.asarray(v).astype(dtype)[()]) for i, j, v in entries]


def _expected(
    entries: list[Entry], shape: tuple[int, int], kind: str, name: str, damage: str
) -> Expected:
    if damage or kind in ("np.matrix", "masked") or name in ("complex64", "str", "datetime64[s]"):
        return "refused"
    values = np.array([float(v) for _, _, v in entries])
    repeated = len({e[:2] for e in entries}) < len(entries)
    if not np.isfinite(values).all() or not np.isfinite([float(abs(v)) for v in values]).all():
        return "refused"
    if any(isinstance(v, int) and abs(v) >= EXACT for _, _, v in entries):
        return "refused" if not repeated else "either"
    dense = dense_of(entries, shape)
    if not np.isfinite(dense).all() or repeated:
        return "either"
    return _expected_negatives(dense) if (dense < 0).any() else "right"


def _expected_negatives(dense: np.ndarray) -> Expected:
    """Dense measurements may be negative, counts and sparse weights may not."""
    rows = dense[(dense != 0).any(axis=1)]
    filled = np.count_nonzero(rows) / rows.size
    if (dense == np.rint(dense)).all() or filled < 0.45:
        return "refused"
    return "right" if filled > 0.55 and np.abs(dense).max() < 1e15 else "either"


# -- formats ---------------------------------------------------------------------------------------


def _build(
    kind: str, entries: list[Entry], shape: tuple[int, int], dtype: np.dtype, folder: Path
) -> Any:
    if kind in SPARSE:
        return _sparse(kind, entries, shape, dtype)
    array = _array(entries, shape, dtype)
    if kind == "rows":
        return array.tolist() if dtype.kind in "biufOU" and dtype.name != "float16" else array
    if kind == "fortran":
        return np.asfortranarray(array)
    if kind == "read-only":
        array.flags.writeable = False
    if kind == "memmap" and dtype.kind not in "OUM":
        np.save(folder / "map.npy", array)
        return np.load(folder / "map.npy", mmap_mode="r")
    if kind == "np.matrix":
        return np.matrix(array)
    return np.ma.masked_array(array, mask=False) if kind == "masked" else array


def _array(entries: list[Entry], shape: tuple[int, int], dtype: np.dtype) -> np.ndarray:
    """Return a dense array; a repeated cell holds the sum, which the entries are replaced by."""
    array = np.zeros(shape, dtype="<U40" if dtype.kind == "U" else dtype)
    if dtype.kind == "O":
        array[:] = 0
    seen: dict[tuple[int, int], Any] = {}
    for i, j, value in entries:
        seen.setdefault((i, j), value)  # a dense cell is there once
    entries[:] = [(i, j, value) for (i, j), value in seen.items()]
    for i, j, value in entries:
        array[i, j] = value
    return array


def _sparse(kind: str, entries: list[Entry], shape: tuple[int, int], dtype: np.dtype) -> Any:
    rows, columns = ([e[axis] for e in entries] for axis in (0, 1))
    if kind in ("dia", "lil", "dok", "bsr"):  # these hold a cell once
        array = _array(entries, shape, dtype)
        made = sp.coo_array(array)
        return made.asformat(kind) if kind != "bsr" else sp.bsr_array(array, blocksize=(1, 1))
    values = np.array([e[2] for e in entries], dtype=dtype)
    coo = sp.coo_array((values, (np.array(rows, int), np.array(columns, int))), shape=shape)
    if kind == "coo":
        return coo
    return _compressed(kind, values, rows, columns, shape)


def _compressed(kind: str, values: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    """Return a compressed matrix without summing: its duplicates stay, in any order."""
    major, minor = (rows, columns) if kind == "csr" else (columns, rows)
    order = np.argsort(major, kind="stable") if len(major) else np.empty(0, int)
    size = shape[0] if kind == "csr" else shape[1]
    ends = np.concatenate([[0], np.cumsum(np.bincount(np.array(major, int), minlength=size))])
    parts = values[order], np.array(minor, np.int32)[order], ends.astype(np.int32)
    return (sp.csr_array if kind == "csr" else sp.csc_array)(parts, shape=shape)


def _reshaped(array: np.ndarray, rng: np.random.Generator) -> tuple[Any, str]:
    ways = {
        "no rows": array[:0],
        "no columns": array[:, :0],
        "one dimension": array.reshape(-1),
        "three dimensions": array[np.newaxis],
        "rows of different lengths": [[1, 2], [3]],
        "a number": 5,
        "a text": "matrix",
        "nothing": None,
    }
    what = str(rng.choice(sorted(ways)))
    return ways[what], what


# -- damage: each returns what it did, or nothing if the matrix cannot have it ---------------------


def _outside(X: Any, rng: np.random.Generator) -> str | None:
    value = int(rng.choice([10**8, X.shape[1] + X.shape[0], -7, -1, 2**31 - 1]))
    if X.format in ("csr", "csc", "bsr") and len(X.indices):
        X.indices[rng.integers(len(X.indices))] = value
    elif X.format == "coo" and X.nnz:
        X.coords[int(rng.integers(2))][rng.integers(X.nnz)] = value
    elif X.format == "lil" and any(X.rows):
        filled = [i for i, row in enumerate(X.rows) if row]
        X.rows[filled[rng.integers(len(filled))]][-1] = value
    elif X.format == "dok":
        X._dict[(value, 0)] = 1
    else:
        return None
    return f"an index {value}"


def _unordered_ends(X: Any, rng: np.random.Generator) -> str | None:
    if X.format not in ("csr", "csc", "bsr") or not len(X.indices) or len(X.indptr) < 3:
        return None
    X.indptr[int(rng.integers(1, len(X.indptr) - 1))] = len(X.indices) + int(rng.integers(1, 50))
    return "ends of rows that go back"


def _wrong_end(X: Any, rng: np.random.Generator) -> str | None:
    if X.format not in ("csr", "csc", "bsr"):
        return None
    X.indptr[-1] = len(X.indices) + int(rng.choice([1, 1000, 2**30]))
    return "a last end beyond the entries"


def _wrong_start(X: Any, rng: np.random.Generator) -> str | None:
    if X.format not in ("csr", "csc", "bsr"):
        return None
    X.indptr[0] = int(rng.choice([-1, -(10**6)]))
    return "a first row that begins before 0"


def _short_data(X: Any, rng: np.random.Generator) -> str | None:
    if X.format in ("csr", "csc", "coo") and len(X.data) > 1:
        X.data = X.data[: len(X.data) // 2]
    elif X.format == "lil" and any(X.rows):
        row = next(i for i, columns in enumerate(X.rows) if columns)
        X.data[row] = [1.0] * int(rng.choice([0, 50, 100_000]))
    elif X.format == "dia" and len(X.offsets):
        X.offsets = np.arange(len(X.offsets) + 2, dtype=X.offsets.dtype)
    else:
        return None
    return "another number of values than of indices"


DAMAGE: dict[str, Callable[[Any, np.random.Generator], str | None]] = {
    "outside": _outside,
    "unordered": _unordered_ends,
    "end": _wrong_end,
    "start": _wrong_start,
    "short": _short_data,
}
