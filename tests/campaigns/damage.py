"""Damage to files: flipped bits, cut ends, moved blocks; and sealing anew what was changed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np


def damaged(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    """Return bytes that differ from `data`, and what was done to them."""
    if not data:
        return b"\0", "a byte added"
    ways = [_flip, _flip, _cut, _overwrite, _insert, _remove, _swap, _number]
    while True:
        changed, what = ways[rng.integers(len(ways))](bytearray(data), rng)
        if changed != data:
            return changed, what


def damage_file(path: Path, rng: np.random.Generator) -> str:
    """Damage a file in place; return what was done."""
    changed, what = damaged(path.read_bytes(), rng)
    path.write_bytes(changed)
    return what


def _flip(data: bytearray, rng: np.random.Generator) -> tuple[bytes, str]:
    n_bits = int(rng.choice([1, 1, 1, 4, 32]))
    for _ in range(n_bits):
        data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return bytes(data), f"{n_bits} bits flipped"


def _cut(data: bytearray, rng: np.random.Generator) -> tuple[bytes, str]:
    at = int(rng.integers(len(data)))
    return bytes(data[:at]), f"cut to {at} bytes"


def _overwrite(data: bytearray, rng: np.random.Generator) -> tuple[bytes, str]:
    at, size = int(rng.integers(len(data))), int(rng.integers(1, 65))
    filler = rng.bytes(size) if rng.random() < 0.5 else bytes([int(rng.choice([0, 255]))]) * size
    data[at : at + size] = filler
    return bytes(data[: max(len(data), at + size)]), f"{size} bytes overwritten"


def _insert(data: bytearray, rng: np.random.Generator) -> tuple[bytes, str]:
    at, size = int(rng.integers(len(data) + 1)), int(rng.integers(1, 33))
    data[at:at] = rng.bytes(size)
    return bytes(data), f"{size} bytes inserted"


def _remove(data: bytearray, rng: np.random.Generator) -> tuple[bytes, str]:
    at, size = int(rng.integers(len(data))), int(rng.integers(1, 33))
    del data[at : at + size]
    return bytes(data), f"{size} bytes removed"


def _swap(data: bytearray, rng: np.random.Generator) -> tuple[bytes, str]:
    size = int(rng.integers(1, max(2, len(data) // 4)))
    one, two = sorted(int(n) for n in rng.integers(0, len(data), 2))
    if two - one >= size and two + size <= len(data):
        first, second = data[one : one + size], data[two : two + size]
        data[one : one + size], data[two : two + size] = second, first
    return bytes(data), f"two blocks of {size} bytes exchanged"


def _number(data: bytearray, rng: np.random.Generator) -> tuple[bytes, str]:
    """Overwrite four or eight bytes by a number that sizes and offsets trip over."""
    size = int(rng.choice([4, 8]))
    number = int(rng.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1]))
    at = int(rng.integers(max(1, len(data) - size + 1)))
    data[at : at + size] = number.to_bytes(size, "little")
    return bytes(data), f"the number {number} written over {size} bytes"


# -- sealed files ----------------------------------------------------------------------------------


def open_seal(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the sealed header and the tensors of a file of coview."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        text = file.metadata()["coview"].partition(" ")[2]
        return json.loads(text), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def seal_again(path: Path, sealed: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Write a sealed file whose checksums are right, whatever is in it."""
    from safetensors.numpy import save_file

    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    if isinstance(sealed.get("sha256"), dict):
        sealed = {**sealed, "sha256": {name: tensor_sha256(a) for name, a in arrays.items()}}
    text = json.dumps(sealed, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    save_file(arrays, path, {"coview": f"{digest} {text}"})


def tensor_sha256(array: np.ndarray) -> str:
    """Return the checksum of an array's type, shape and bytes."""
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    digest.update(array.tobytes())
    return digest.hexdigest()


def replace_digest(folder: Path, before: bytes, after: bytes) -> bool:
    """Put size and SHA-256 of a changed file in place of the old ones that a folder keeps."""
    old, new = (hashlib.sha256(data).hexdigest() for data in (before, after))
    found = False
    for path in folder.glob("*.json"):
        text = path.read_text(errors="replace")
        if old in text:
            entries = _with_entry(json.loads(text), {old: new}, {len(before): len(after)})
            path.write_text(json.dumps(entries))
            found = True
    return found


def _with_entry(value: Any, digests: dict[str, str], sizes: dict[int, int]) -> Any:
    """Replace a digest, and the size beside it."""
    if not isinstance(value, dict):
        return digests.get(value, value) if isinstance(value, str) else value
    beside = any(part in digests for part in value.values() if isinstance(part, str))
    return {
        key: sizes.get(part, part)
        if beside and isinstance(part, int)
        else _with_entry(part, digests, sizes)
        for key, part in value.items()
    }


# -- crafted values --------------------------------------------------------------------------------


def craft_tensor(array: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, str]:
    """Return an array that does not fit: another shape, type or values."""
    ways = ["half", "empty", "nan", "negative", "zero", "type", "transposed", "flat", "longer"]
    way = ways[rng.integers(len(ways))]
    new = np.array(array)
    if way == "half":
        return new[: len(new) // 2] if new.ndim else new, "half of it"
    if way == "empty":
        return new.reshape(-1)[:0], "empty"
    if way == "longer":
        return np.concatenate([new, new]) if new.ndim else new, "twice as long"
    if way == "transposed":
        return new.T, way
    if way == "flat":
        return new.reshape(-1), way
    if way == "type":
        return new.astype(rng.choice(["float64", "int8", "int64", "float16", "uint8"])), "retyped"
    if new.size:
        place = int(rng.integers(new.size))
        value = {"nan": np.nan, "negative": -5.0, "zero": 0.0}[way]
        if way == "nan" and new.dtype.kind != "f":
            value = 10**6
        with np.errstate(invalid="ignore"):
            new.reshape(-1)[place if rng.random() < 0.5 else slice(None)] = np.asarray(
                value
            ).astype(new.dtype)
    return new, way


ODD_JSON: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 10**30, 0.5, -0.5, 1e308, "", "x", "nan", "0x1p2000", "zz"),
    *([], {}, [[]], ["x"], {"$": "x"}, {"$": "array", "tensor": "t000"}, [None], "\x1b[31m"),
)


# regular expressions that take for ever, or are none
PATTERNS = ("(x+x+)+y", "(x|x)*y", "(x*)*y", "[", "(?P<n>.)" * 200, "x{1000000}", "(?:")
LONG_WORD = "x" * 60  # what they take for ever on


def craft_json(value: Any, rng: np.random.Generator) -> tuple[Any, str]:
    """Return JSON with one part removed or replaced, and which."""
    places = list(_places(value, ()))
    path = places[rng.integers(len(places))]
    copy = json.loads(json.dumps(value))
    parent = copy
    for key in path[:-1]:
        parent = parent[key]
    where = ".".join(map(str, path))[:80]
    if rng.random() < 0.4:
        del parent[path[-1]]
        return copy, f"{where} removed"
    odd = ODD_JSON[rng.integers(len(ODD_JSON))]
    parent[path[-1]] = odd
    return copy, f"{where} = {str(odd)[:30]!r}"


def _places(value: Any, path: tuple[Any, ...]) -> Any:
    """Yield the paths of all parts of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in items:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from _places(part, (*path, key))
