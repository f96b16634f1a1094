"""The container of a page's data: one header in JSON, then arrays, in one run of bytes.

    uint32 little-endian     length of the header
    header                   UTF-8 JSON, padded with spaces to a multiple of 8
    arrays                   little-endian, each begins at a multiple of 8

The header is ``{"meta": {...}, "arrays": {name: {"dtype", "shape", "offset", "coding"}}}``; offsets
count from the end of the header. `coding` says what was done to the bytes so that gzip makes
them smaller: "delta", differences of neighbors modulo the type; "planes", the lowest bytes of
all values first, then the next ones. `frontend/src/core/decode.js` reads the same format.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

ALIGNMENT = 8
DTYPES = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "i4": "<i4", "f4": "<f4"}


@dataclass(frozen=True)
class Payload:
    """All that a page shows.

    Attributes
    ----------
    meta : dict
        Plain values for JSON.
    arrays : dict of ndarray
        Of the types `DTYPES`.
    evidence : SearchEvidence or None
        What the searches of the page are made with, for a server beside it; never packed.
    """

    meta: dict[str, Any]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    evidence: Any = None


def pack(payload: Payload) -> bytes:
    """Return a payload as one run of bytes.

    >>> import numpy as np
    >>> packed = pack(Payload({"title": "a"}, {"x": np.arange(3, dtype=np.uint32)}))
    >>> unpack(packed).arrays["x"].tolist()
    [0, 1, 2]
    """
    entries, parts, offset = {}, [], 0
    for name, array in payload.arrays.items():
        kind = f"{array.dtype.kind}{array.dtype.itemsize}"
        if kind not in DTYPES:
            raise ValueError(f"Array {name!r} is of the type {array.dtype}, not {list(DTYPES)}.")
        coding = _coding(name, kind)
        data = _encoded(np.ascontiguousarray(array).ravel().astype(DTYPES[kind]), coding)
        entries[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "offset": offset,
            "coding": coding,
        }
        parts.append(data + bytes(-len(data) % ALIGNMENT))
        offset += len(parts[-1])
    contents = {"meta": payload.meta, "arrays": entries}
    # names of documents may hold half a surrogate pair, which UTF-8 cannot: escape them all
    header = json.dumps(contents, allow_nan=False, separators=(",", ":")).encode("ascii")
    header += b" " * (-(len(header) + 4) % ALIGNMENT)
    return b"".join([len(header).to_bytes(4, "little"), header, *parts])


def unpack(data: bytes) -> Payload:
    """Return the payload that `pack` wrote."""
    end = 4 + int.from_bytes(data[:4], "little")
    contents = json.loads(data[4:end])
    arrays = {}
    for name, entry in contents["arrays"].items():
        size = int(np.prod(entry["shape"], dtype=np.int64))
        dtype = np.dtype(DTYPES[entry["dtype"]])
        begin = end + entry["offset"]
        raw = np.frombuffer(data[begin : begin + size * dtype.itemsize], np.uint8)
        arrays[name] = _decoded(raw, dtype, entry["coding"]).reshape(entry["shape"])
    return Payload(contents["meta"], arrays)


def compress(data: bytes) -> bytes:
    """Return bytes compressed with gzip: the same bytes give the same file."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def total_bytes(arrays: Mapping[str, np.ndarray]) -> int:
    """Return the bytes of arrays before compression."""
    return sum(array.nbytes for array in arrays.values())


def _coding(name: str, kind: str) -> str:
    """Return how an array is coded: numbers that grow within rows are closer to each other."""
    if name.endswith((".indptr", ".indices")):
        return "delta planes"
    return "" if kind == "u1" else "planes"


def _encoded(values: np.ndarray, coding: str) -> bytes:
    if "delta" in coding:
        values = np.diff(values, prepend=values.dtype.type(0))  # unsigned: wraps around
    if "planes" in coding:
        return values.view(np.uint8).reshape(-1, values.itemsize).T.tobytes()
    return values.tobytes()


def _decoded(raw: np.ndarray, dtype: np.dtype, coding: str) -> np.ndarray:
    if "planes" in coding:
        raw = np.ascontiguousarray(raw.reshape(dtype.itemsize, -1).T).ravel()
    values = raw.view(dtype)
    if "delta" in coding:
        values = np.cumsum(values, dtype=dtype)
    return values
