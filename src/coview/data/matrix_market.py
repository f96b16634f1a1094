"""Matrix Market files: matrices of real numbers, by coordinates or as arrays.

scipy's reader is faster, but some damaged files crash the interpreter in it. Here numpy splits the
lines, and everything else is checked.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import scipy.sparse as sp

from coview.data.readers import MOST_DEFLATED, check_room
from coview.data.show import quoted

MOST_LINE = 1 << 14  # characters; a line is a few numbers, or a comment
VALUES = {"real": "f8", "double": "f8", "integer": "i8", "unsigned-integer": "u8", "pattern": ""}


class Claims(NamedTuple):
    """What the head of a file says about the rest."""

    by_coordinates: bool
    value: str  # type of the numbers, "" for a pattern of ones
    symmetric: bool
    shape: tuple[int, int]
    entries: int


def read_matrix_market(path: Path) -> Any:
    """The matrix: sparse if its entries have coordinates, an array otherwise.

    Parameters
    ----------
    path : path
        Compressed if it ends in .gz.

    Raises
    ------
    ValueError
        If the file is damaged, or its matrix is complex, Hermitian or skew-symmetric.
    """
    packed = path.suffix == ".gz"
    # any bytes are letters in this encoding; only comments may hold others than ASCII
    with (gzip.open if packed else open)(path, "rt", encoding="latin-1") as file:
        lines = _lines(file)
        claims = _claims(lines)
        _check_size(claims, path.stat().st_size * (MOST_DEFLATED if packed else 1))
        table = _table(lines, claims)
    return _sparse(table, claims) if claims.by_coordinates else _dense(table, claims)


def _lines(file: TextIO) -> Iterator[str]:
    """Lines with something in them, none of them longer than it can be."""
    while line := file.readline(MOST_LINE):
        if len(line) == MOST_LINE:
            raise ValueError(f"it has a line of more than {MOST_LINE:,} characters")
        if not line.isspace():
            yield line


# -- the head -------------------------------------------------------------------------------------


def _claims(lines: Iterator[str]) -> Claims:
    banner = next(lines, "").lower().split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("it does not begin like a Matrix Market file")
    layout, field, symmetry = banner[2:]
    if layout not in ("coordinate", "array") or field not in VALUES:
        raise ValueError(f"matrices of the kind {quoted(f'{layout} {field}')} are not read")
    if symmetry != "general" and (symmetry, layout) != ("symmetric", "coordinate"):
        raise ValueError(f"matrices of the kind {quoted(f'{layout} {symmetry}')} are not read")
    sizes = next((line.split() for line in lines if not line.startswith("%")), [])
    by_coordinates = layout == "coordinate"
    if len(sizes) != 2 + by_coordinates or not all(size.isdecimal() for size in sizes):
        raise ValueError(f"its size is given as {quoted(' '.join(sizes))}")
    rows, columns, *rest = (int(size) for size in sizes)
    entries = rest[0] if rest else rows * columns
    return Claims(by_coordinates, VALUES[field], symmetry != "general", (rows, columns), entries)


def _check_size(claims: Claims, held: int) -> None:
    """Refuse a head that claims more than can be there, or than there is room for."""
    shortest = 4 if claims.by_coordinates else 2  # "1 1\n" and "0\n"
    if claims.entries * shortest > held:
        raise ValueError(f"its header claims {claims.entries:,} entries, more than it can hold")
    check_room(60.0 * claims.entries + 8.0 * sum(claims.shape))


# -- the numbers ----------------------------------------------------------------------------------


def _table(lines: Iterator[str], claims: Claims) -> np.ndarray:
    """A record for each entry: row, column and value, where there are these."""
    fields = [("row", "i8"), ("column", "i8")] if claims.by_coordinates else []
    if claims.value:
        fields.append(("value", claims.value))
    # one line more than there should be, which is then found
    wanted = islice((line for line in lines if not line.startswith("%")), claims.entries + 1)
    first = next(wanted, None)
    if first is None:
        table = np.empty(0, dtype=fields)
    else:
        table = np.loadtxt(_chain(first, wanted), dtype=fields, comments=None, ndmin=1)
    if len(table) != claims.entries:
        found = "more" if len(table) > claims.entries else f"{len(table):,}"
        raise ValueError(f"its header claims {claims.entries:,} entries, but it has {found}")
    return table


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _sparse(table: np.ndarray, claims: Claims) -> sp.coo_array:
    rows, columns = table["row"] - 1, table["column"] - 1
    values = table["value"] if claims.value else np.ones(len(table))
    for index, size, what in zip((rows, columns), claims.shape, ("row", "column"), strict=True):
        outside = (index < 0) | (index >= size)
        if outside.any():
            entry = int(np.argmax(outside))
            raise ValueError(f"entry {entry + 1:,} is in {what} {index[entry] + 1:,} of {size:,}")
    if claims.symmetric:
        below = rows != columns  # each entry but those of the diagonal stands for two
        ends = np.append(rows, columns[below]), np.append(columns, rows[below])
        rows, columns, values = *ends, np.append(values, values[below])
    return sp.coo_array((values, (rows, columns)), shape=claims.shape)


def _dense(table: np.ndarray, claims: Claims) -> np.ndarray:
    return table["value"].reshape(claims.shape, order="F")
