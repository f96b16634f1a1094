"""Readings of matrices and of text formats that use no code of coview.

Everything becomes a dense array of doubles, entry by entry: slow, and easy to check by eye.
"""

from __future__ import annotations

import ast
import gzip
import math
import os
import pickle
import re
import struct
import zipfile
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

Entry = tuple[int, int, Any]
Shape = tuple[int, int]

LARGEST_CELLS = 1_000_000  # of a dense reading


class Unreadable(ValueError):
    """The independent reading finds a fault."""


# -- comparison ------------------------------------------------------------------------------------


def dense_of(entries: Iterable[Entry], shape: Shape, logical: bool = False) -> np.ndarray:
    """Return entries as a dense array; repeated ones are summed (`logical`: are one)."""
    array = np.zeros(shape)
    for row, column, value in entries:
        if not (0 <= row < shape[0] and 0 <= column < shape[1]):
            raise Unreadable(f"entry ({row}, {column}) outside {shape}")
        array[row, column] = 1.0 if logical and value else array[row, column] + float(value)
    return array


def difference(found: Any, expected: np.ndarray, rtol: float = 0.0) -> str | None:
    """Return how a sparse matrix of coview differs from a dense one, None if it does not.

    A matrix of single precision is compared with the rounded values.
    """
    if found.shape != expected.shape:
        return f"the shape is {found.shape}, not {expected.shape}"
    if found.dtype == np.float32:
        expected = expected.astype(np.float32).astype(float)
    got = np.zeros(found.shape)
    for row in range(found.shape[0]):
        for at in range(found.indptr[row], found.indptr[row + 1]):
            got[row, found.indices[at]] += float(found.data[at])
    wrong = ~np.isclose(got, expected, rtol=rtol, atol=0.0, equal_nan=False)
    if not wrong.any():
        return None
    row, column = np.argwhere(wrong)[0]
    return f"({row}, {column}) is {got[row, column]!r}, not {expected[row, column]!r}"


def not_shares(rows: Any, shape: Shape | None = None, or_zero: bool = False) -> str | None:
    """Return why rows are not probabilities, None if they are."""
    rows = np.asarray(rows)
    if rows.ndim != 2 or (shape is not None and rows.shape != shape):
        return f"the shape of mixtures is {rows.shape}, not {shape}"
    if rows.dtype.kind != "f" or not np.isfinite(rows).all() or (rows < 0).any():
        return "mixtures that are not finite numbers of at least 0"
    sums = rows.sum(axis=1, dtype=float)
    fine = (np.abs(sums - 1) < 1e-3) | (or_zero & (sums == 0))
    return None if fine.all() else f"a mixture sums to {sums[~fine][0]!r}"


# -- foreign readers, which may crash --------------------------------------------------------------


def in_child(read: Callable[[], Any]) -> Any:
    """Return what a function returns, run in a forked process; Unreadable if it fails there."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _answer(read, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        answer = file.read()
    os.waitpid(child, 0)
    if not answer:
        raise Unreadable("the foreign reader failed")
    return pickle.loads(answer)


def _answer(read: Callable[[], Any], writer: int) -> None:
    try:
        data = pickle.dumps(read())
        with os.fdopen(writer, "wb") as file:
            file.write(data)
    finally:
        os._exit(0)


# -- numpy and scipy -------------------------------------------------------------------------------


def read_npy(data: bytes) -> np.ndarray:
    """Return the array of the bytes of an .npy file."""
    if data[:6] != b"\x93NUMPY" or data[6:8] not in (b"\x01\x00", b"\x02\x00"):
        raise Unreadable("no .npy")
    wide = data[6] == 2
    size = struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    start = 8 + (4 if wide else 2)
    try:
        header = ast.literal_eval(data[start : start + size].decode("latin-1"))
        dtype, shape = np.dtype(header["descr"]), tuple(header["shape"])
        order = "F" if header["fortran_order"] else "C"
        body = data[start + size :]
        count = math.prod(shape)
        if dtype.hasobject or len(body) < count * dtype.itemsize:
            raise Unreadable("too short")
        array = np.frombuffer(body, dtype, count)
        return array.reshape(shape, order=order)  # type: ignore[call-overload]
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"header: {error}") from error


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz file; zipfile compares the checksums."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [n for n in archive.namelist() if n.endswith(".npy")]
            return {name.removesuffix(".npy"): read_npy(archive.read(name)) for name in names}
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(str(error)) from error


def sparse_npz(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Return the matrix of the arrays that scipy.sparse.save_npz writes."""
    kind = arrays["format"].item()
    kind = kind.decode() if isinstance(kind, bytes) else kind
    shape = tuple(int(n) for n in arrays["shape"])
    if len(shape) != 2 or min(shape) < 0 or math.prod(shape) > LARGEST_CELLS:
        raise Unreadable(f"shape {shape}")
    logical = arrays["data"].dtype.kind == "b"
    return dense_of(_SPARSE[kind](arrays), shape, logical)


def _compressed(arrays: dict[str, np.ndarray]) -> list[Entry]:
    ends, at = [int(end) for end in arrays["indptr"]], arrays["indices"].tolist()
    if (
        ends != arrays["indptr"].tolist()
        or ends[0] != 0
        or ends[-1] > len(at)
        or sorted(ends) != ends
    ):
        raise Unreadable("indptr")
    major = [i for i, (a, b) in enumerate(pairwise(ends)) for _ in range(b - a)]
    return list(zip(major, at, arrays["data"].tolist(), strict=False))


def _by_columns(arrays: dict[str, np.ndarray]) -> list[Entry]:
    return [(row, column, value) for column, row, value in _compressed(arrays)]


def _coordinates(arrays: dict[str, np.ndarray]) -> list[Entry]:
    row, column = arrays.get("row"), arrays.get("col")
    if row is None or column is None:
        row, column = arrays["coords"]
    parts = row.tolist(), column.tolist(), arrays["data"].tolist()
    return list(zip(*parts, strict=True))


def _blocks(arrays: dict[str, np.ndarray]) -> list[Entry]:
    found: list[Entry] = []
    for i, j, block in _compressed({**arrays, "data": np.arange(len(arrays["data"]))}):
        values = arrays["data"][block]
        height, width = values.shape
        found += [
            (i * height + a, j * width + b, values[a, b].item())
            for a in range(height)
            for b in range(width)
        ]
    return found


def _diagonals(arrays: dict[str, np.ndarray]) -> list[Entry]:
    n_rows, n_columns = (int(n) for n in arrays["shape"])
    return [
        (column - int(offset), column, value)
        for offset, line in zip(arrays["offsets"], arrays["data"].tolist(), strict=True)
        for column, value in enumerate(line)
        if column < n_columns and 0 <= column - int(offset) < n_rows
    ]


_SPARSE: dict[str, Callable[[dict[str, np.ndarray]], list[Entry]]] = {
    "csr": _compressed,
    "csc": _by_columns,
    "coo": _coordinates,
    "bsr": _blocks,
    "dia": _diagonals,
}


# -- text formats ----------------------------------------------------------------------------------


def file_bytes(path: Path) -> bytes:
    """Return the bytes of a file, decompressed if its name ends in .gz."""
    data = path.read_bytes()
    if path.suffix != ".gz":
        return data
    try:
        with gzip.open(BytesIO(data)) as file:
            return file.read(1 << 26)
    except Exception as error:
        raise Unreadable(str(error)) from error


def read_mtx(path: Path) -> np.ndarray:
    """Return the matrix of a Matrix Market file."""
    lines = [line for line in file_bytes(path).decode("latin-1").split("\n") if line.strip()]
    banner = lines[0].lower().split() if lines else []
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
        raise Unreadable("no banner")
    layout, field, symmetry = banner[2:]
    body = [line.split() for line in lines[1:] if not line.startswith("%")]
    try:
        sizes = [int(size) for size in body[0]]
        shape = (sizes[0], sizes[1])
        if math.prod(shape) > LARGEST_CELLS:
            raise Unreadable("too large")
        if layout == "array":
            numbers = [float(value) for (value,) in body[1:]]
            return np.array(numbers).reshape(shape, order="F")
        entries = _market_entries(body[1:], field, symmetry == "symmetric")
        if len(body) - 1 != sizes[2]:
            raise Unreadable("number of entries")
        return dense_of(entries, shape)
    except (ValueError, IndexError) as error:
        raise Unreadable(str(error)) from error


def _market_entries(body: Sequence[list[str]], field: str, symmetric: bool) -> list[Entry]:
    entries: list[Entry] = []
    for fields in body:
        value = 1.0 if field == "pattern" else float(fields[2])
        if field != "pattern" and len(fields) != 3:
            raise Unreadable("fields")
        row, column = int(fields[0]) - 1, int(fields[1]) - 1
        entries.append((row, column, value))
        if symmetric and row != column:
            entries.append((column, row, value))
    return entries


def read_svmlight(path: Path) -> tuple[np.ndarray, list[float]]:
    """Return the matrix and the labels of an svmlight file; columns count from 1, or from 0."""
    rows: list[list[tuple[int, float]]] = []
    labels = []
    try:
        for line in path.read_bytes().decode("ascii").split("\n"):
            fields = line.split("#")[0].split()
            if fields:
                labels.append(float(fields[0]))
                pairs = [part.split(":") for part in fields[1:] if not part.startswith("qid:")]
                rows.append([(int(column), float(value)) for column, value in pairs])
    except ValueError as error:
        raise Unreadable(str(error)) from error
    columns = [column for row in rows for column, _ in row]
    first = 0 if 0 in columns else 1
    width = max(columns, default=0) - first + 1
    if width < 1 or width * len(rows) > LARGEST_CELLS or min(columns) < 0:
        raise Unreadable("columns")
    entries = [(i, column - first, value) for i, row in enumerate(rows) for column, value in row]
    return dense_of(entries, (len(rows), width)), labels


# -- words -----------------------------------------------------------------------------------------

_SIMPLE = re.compile(r"[\x00-\u024f\u0370-\u0482\u048a-\u052f]*")
_WORD = re.compile(r"[^\W_]{2,}")
_HARD = set("\u00ad\u0130\u0345")


def is_simple(text: str) -> bool:
    """Return whether a text is of Latin, Greek or Cyrillic letters that need no normalization."""
    return _SIMPLE.fullmatch(text) is not None and not _HARD & set(text) and "i̇" not in text


def words_of(text: str) -> list[str]:
    """Return the words of a simple text in lower case: two or more letters or digits."""
    return _WORD.findall(text.lower())
