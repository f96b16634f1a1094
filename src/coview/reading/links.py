"""Links between documents (citations, hyperlinks) as counts.

A document counts the documents it links to, each of which is a term: the links of Cohn & Hofmann
(2001). A link from a document to itself is dropped, and repeated links are summed. Graphs that
smooth mixtures are made from the same links by `coview.graphs.adjacency.edge_graph`.
"""

from __future__ import annotations

import csv
import math
import warnings
from array import array
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.params import check_choice
from coview.reading.recipes import Recipe
from coview.views.checks import DataWarning, check_ids
from coview.views.matrix_checks import check_matrix
from coview.views.named_matrices import read_named_matrix
from coview.wording import listing, plural, printable

Edge = tuple[str, str, float]

HEADERS = (("source", "target"), ("from", "to"), ("src", "dst"), ("citing", "cited"))


def read_links(graph: Any, ids: Any, name: str, both: bool, unknown: str) -> dict[str, Any]:
    """Read links as keyword arguments of `Views`; see `Views.from_graph`."""
    if hasattr(graph, "shape"):
        links, names = _adjacency(graph, ids, name)
    else:
        links, names = directed_links(graph, ids, unknown=unknown)
    matrices = {name: links}
    if both:
        matrices[f"{name}_in"] = sp.csr_array(links.T)
    if names is None:
        return {"data": matrices}
    return {
        "data": matrices,
        "ids": names,
        "features": dict.fromkeys(matrices, names),
        "recipes": {view: _recipe(view, names) for view in matrices},
    }


def _recipe(view: str, names: np.ndarray) -> Recipe:
    # not at the top: scikit-learn's text tools are slow to import
    from coview.reading.text import TokensRecipe

    return TokensRecipe(view, names)


def _adjacency(graph: Any, ids: Any, name: str) -> tuple[sp.csr_array, np.ndarray | None]:
    given = read_named_matrix(graph, name)
    matrix = check_matrix(given.matrix, name, negatives="never")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"A matrix of links must have a row and a column for each document, found the shape "
            f"{matrix.shape}. Edges as an array of two columns: give them as a list of pairs, "
            "edges.tolist()."
        )
    names = given.ids if ids is None else ids
    names = None if names is None else check_ids(names)
    if names is not None and len(names) != matrix.shape[0]:
        raise ValueError(
            f"There are {plural(len(names), 'id')} for the {matrix.shape[0]:,} documents of the "
            "matrix of links."
        )
    return _without_loops(matrix), names


def _without_loops(links: sp.csr_array) -> sp.csr_array:
    entries = links.tocoo()
    kept = entries.row != entries.col
    if not kept.any():
        raise ValueError("No link joins two documents.")
    ends = entries.row[kept], entries.col[kept]
    return sp.csr_array((entries.data[kept], ends), shape=links.shape)


def directed_links(
    edges: Any, ids: Iterable[Any] | None, *, unknown: str = "error"
) -> tuple[sp.csr_array, np.ndarray]:
    """Return links from rows to columns, and the names of both.

    Parameters
    ----------
    edges : path, or iterable of (source, target) or (source, target, weight)
        As in `Views.from_graph`.
    ids : sequence of str or None
        The documents; None: those that occur, in order of first appearance.
    unknown : {"error", "ignore"}, default="error"
        What to do with links from or to documents that `ids` does not list.

    Returns
    -------
    links : csr_array of shape (n_docs, n_docs)
    names : array of str of shape (n_docs,)
    """
    check_choice("unknown", unknown, ["error", "ignore"])
    number = {} if ids is None else {name: i for i, name in enumerate(check_ids(ids))}
    rows, columns, weights = array("q"), array("q"), array("d")
    unlisted: dict[str, None] = {}
    n_dropped = 0
    for source, target, weight in _edges(edges):
        if ids is None:
            for end in (source, target):
                number.setdefault(end, len(number))
        missing = [end for end in (source, target) if end not in number]
        if missing:
            unlisted |= dict.fromkeys(missing)
            n_dropped += 1
            continue
        rows.append(number[source])
        columns.append(number[target])
        weights.append(weight)
    if unlisted:
        _report_unlisted(list(unlisted), n_dropped, unknown)
    shape = (len(number),) * 2
    links = sp.coo_array((np.array(weights), (np.array(rows), np.array(columns))), shape=shape)
    return _without_loops(check_matrix(links, "links", negatives="never")), check_ids(list(number))


def _report_unlisted(unlisted: list[str], n_dropped: int, unknown: str) -> None:
    message = (
        f"{plural(n_dropped, 'link')} from or to {plural(len(unlisted), 'document')} that ids "
        f"does not list: {listing(unlisted)}"
    )
    if unknown == "error":
        raise ValueError(
            f"{message}. Are the ids written alike? unknown='ignore' drops such links."
        )
    warnings.warn(f"{message}; dropped.", DataWarning, stacklevel=5)


def _edges(edges: Any) -> Iterator[Edge]:
    if isinstance(edges, str | PathLike):
        yield from _edges_of_file(Path(edges))
    elif isinstance(edges, Iterable):
        for position, edge in enumerate(edges):
            yield _edge(edge, f"Link number {position:,}")
    else:
        raise TypeError(
            "Links must be a matrix (documents x documents), a path, or a list of (source, target) "
            f"or (source, target, weight); found {type(edges).__name__}."
        )


def _edge(fields: Any, where: str) -> Edge:
    parts = [] if isinstance(fields, str) or not isinstance(fields, Iterable) else list(fields)
    if len(parts) not in (2, 3):
        raise ValueError(
            f"{where} must be (source, target) or (source, target, weight); found "
            f"{printable(repr(fields))}."
        )
    source, target = (_end(part, where) for part in parts[:2])
    return source, target, _weight(parts[2], where) if len(parts) == 3 else 1.0


def _end(name: Any, where: str) -> str:
    if isinstance(name, str | int | np.integer) and not isinstance(name, bool):
        return str(name)
    raise ValueError(
        f"{where} must join two ids, texts or integers; found {printable(repr(name))}."
    )


def _weight(value: Any, where: str) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise ValueError(f"{where} must have a finite weight >= 0; found {printable(repr(value))}.")
    return weight


def _edges_of_file(path: Path) -> Iterator[Edge]:
    """Yield the link of each line; the first line tells what separates the fields."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no file of links at {printable(path, 500)}.")
    with path.open(encoding="utf-8-sig") as file:
        try:
            for number, fields in _lines(file):
                yield _edge(fields, f"Line {number:,} of {path}")
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"Cannot read {path}: {error}.") from error


def _lines(file: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield number and fields of each line; skip comments (#, %), blank lines and a header."""
    delimiter = None
    first = True
    for number, line in enumerate(file, start=1):
        if not line.strip() or line.startswith(("#", "%")):
            continue
        if first:
            delimiter = next((mark for mark in "\t,;" if mark in line), None)
        fields = _fields(line, delimiter)
        if not (first and _is_header(fields)):
            yield number, fields
        first = False


def _is_header(fields: list[str]) -> bool:
    names = tuple(field.lower() for field in fields[:2])
    if names[::-1] in HEADERS:
        raise csv.Error(f"its columns are {listing(names)}, but the source must come first")
    return names in HEADERS


def _fields(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter))]
