"""Fingerprints: one hash of values of many kinds, equal only if all of them are.

Every value is encoded with its kind and its length, so that no two different values have the same
bytes: 1, 1.0, True and "1" differ, and so do ["ab"] and ["a", "b"]. Arrays go in by type, shape and
bytes, numbers by their bits, dicts in the order of their keys. `repr` is never used: it shortens
long arrays, and shows an address for most objects. A value of a kind that is not known here is an
error, not a guess.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import scipy.sparse as sp

Buffer = bytes | memoryview

IRRELEVANT = ("n_jobs", "verbose")  # parameters that change no result


def fingerprint_of(value: Any) -> str:
    """Return the SHA-256 of a value: plain data, arrays, matrices, estimators, and all of these.

    Raises
    ------
    TypeError
        If something in it is of a kind that cannot be told from others of its kind.

    Examples
    --------
    >>> fingerprint_of([1, "a"]) == fingerprint_of([1, "a"])
    True
    >>> len({fingerprint_of(v) for v in (1, 1.0, True, "1", b"1", None, [1], (1,), {"a": 1})})
    9
    """
    digest = hashlib.sha256()
    for part in _encoded(value):
        digest.update(part)
    return digest.hexdigest()


def _encoded(value: Any) -> Iterator[Buffer]:
    """Yield the bytes of a value, which begin with its kind and its length."""
    if value is None or isinstance(value, bool | np.bool_):
        yield f"[{value}]".encode()
    elif isinstance(value, int | np.integer):
        yield from _text("int", str(int(value)))
    elif isinstance(value, float | np.floating):
        yield b"[float]" + struct.pack("<d", float(value))
    elif isinstance(value, str):
        yield from _text("str", value)
    elif isinstance(value, bytes):
        yield b"[bytes %d]" % len(value) + value
    elif isinstance(value, PurePath):
        yield from _text("path", str(value))
    elif isinstance(value, np.ndarray):
        yield from _array(value)
    elif sp.issparse(value):
        yield from _sparse(value)
    else:
        yield from _several(value)


def _several(value: Any) -> Iterator[Buffer]:
    """Yield the bytes of a value that is made of others."""
    if isinstance(value, Mapping):
        yield from _unordered("dict", [(key, value[key]) for key in value])
    elif isinstance(value, Set):
        yield from _unordered("set", list(value))
    elif isinstance(value, Sequence):
        kind = "tuple" if isinstance(value, tuple) else "list"
        yield f"[{kind} {len(value)}]".encode()
        for item in value:
            yield from _encoded(item)
    else:
        yield from _object(value)


def _text(kind: str, text: str) -> Iterator[Buffer]:
    data = text.encode("utf-8", "surrogatepass")
    yield f"[{kind} {len(data)}]".encode() + data


def _array(array: np.ndarray) -> Iterator[Buffer]:
    """Yield type, shape and bytes; of objects (texts, labels) one after the other."""
    yield from _text("array", f"{array.dtype.str} {array.shape}")
    if array.dtype.hasobject:
        for item in array.ravel().tolist():
            yield from _encoded(item)
    elif array.size:
        yield np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _sparse(matrix: Any) -> Iterator[Buffer]:
    """Yield the shape, and the entries in the order of rows and columns."""
    csr = sp.csr_array(matrix, copy=True)
    csr.sum_duplicates()
    yield b"[sparse]"
    # places in one type: the same matrix may have indices of 32 or of 64 bits
    places = csr.indptr.astype(np.int64), csr.indices.astype(np.int64)
    yield from _encoded([csr.shape, *places, csr.data])


def _unordered(kind: str, items: list[Any]) -> Iterator[Buffer]:
    """Yield items in the order of their bytes."""
    yield f"[{kind} {len(items)}]".encode()
    yield from sorted(b"".join(_encoded(item)) for item in items)


def _object(value: Any) -> Iterator[Buffer]:
    """Yield the class of an object and what it consists of."""
    cls = type(value)
    yield from _text("object", f"{cls.__module__}.{cls.__qualname__}")
    if is_dataclass(value) and not isinstance(value, type):
        yield from _encoded({f.name: getattr(value, f.name) for f in fields(value)})
    elif isinstance(value, np.random.Generator):
        yield from _encoded(value.bit_generator.state)
    elif isinstance(value, np.random.RandomState):
        yield from _encoded(value.get_state(legacy=False))
    elif hasattr(value, "get_params") and not isinstance(value, type):  # an estimator
        params = {n: v for n, v in value.get_params(deep=False).items() if n not in IRRELEVANT}
        fitted = {n: v for n, v in vars(value).items() if n.endswith("_")}
        yield from _encoded([params, fitted])
    elif callable(value) and hasattr(value, "__code__"):
        yield from _function(value)
    elif hasattr(value, "to_numpy"):  # a column or a table of pandas or polars
        yield from _encoded([list(getattr(value, "columns", ())), value.to_numpy()])
    elif isinstance(value, np.dtype | type):
        yield from _text("type", str(np.dtype(value)))
    elif cls.__name__ not in ("NAType", "NaTType"):  # missing values are alike
        raise TypeError(
            f"A value of the type {cls.__name__} cannot be told from others of its type, which a "
            "checkpoint must do: give plain data, arrays or estimators, or fit without it."
        )


def _function(function: Any) -> Iterator[Buffer]:
    """Yield the name of a function and its code; what it closes over must be plain data."""
    code, cells = function.__code__, function.__closure__ or ()
    yield from _text("function", f"{function.__module__}.{function.__qualname__}")
    constants = [c for c in code.co_consts if not hasattr(c, "co_code")]
    yield from _encoded([code.co_code, constants, [cell.cell_contents for cell in cells]])
