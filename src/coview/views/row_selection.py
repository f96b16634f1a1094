"""Choosing rows: by a key as arrays take it, or by the documents that several views list."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.wording import listing, plural, quoted


def as_rows(key: Any, n_docs: int) -> np.ndarray | slice:
    """Rows from what stands between the brackets: integers, a bool mask, a slice.

    Examples
    --------
    >>> as_rows([True, False, True], 3)
    array([0, 2])
    >>> as_rows(2, 3)
    Traceback (most recent call last):
        ...
    TypeError: Views take several rows: write views[[2]] for one document, or ...
    """
    if isinstance(key, tuple):
        key = _first_axis(key)
    if isinstance(key, slice):
        _check_some(len(range(n_docs)[key]))
        return key
    rows = np.asarray(key)
    if rows.ndim == 0:
        raise TypeError(
            f"Views take several rows: write views[[{key}]] for one document, or views['name'] "
            "for the matrix of one view."
        )
    _check_some(len(rows))
    if rows.ndim > 1 or rows.dtype.kind not in "biu":
        raise TypeError(
            "Rows are selected by a slice, integers or a bool mask, found an array of type "
            f"{rows.dtype} and shape {rows.shape}. To select views by name: views.select(...)."
        )
    return _from_mask(rows, n_docs) if rows.dtype.kind == "b" else _from_integers(rows, n_docs)


def _first_axis(key: tuple[Any, ...]) -> Any:
    # scikit-learn writes X[rows, ...]
    if len(key) == 2 and (key[1] is Ellipsis or key[1] == slice(None)):
        return key[0]
    raise TypeError(
        "Views are indexed by rows only; take columns from one matrix: views['name'][:, columns]."
    )


def _from_mask(mask: np.ndarray, n_docs: int) -> np.ndarray:
    if len(mask) != n_docs:
        raise IndexError(
            f"The bool mask has {len(mask):,} entries for {plural(n_docs, 'document')}."
        )
    rows = np.flatnonzero(mask)
    _check_some(len(rows))
    return rows


def _from_integers(rows: np.ndarray, n_docs: int) -> np.ndarray:
    outside = (rows >= n_docs) | (rows < -n_docs)
    if outside.any():
        raise IndexError(
            f"Row {rows[np.argmax(outside)]} is out of range for {plural(n_docs, 'document')}."
        )
    return rows.astype(np.intp)


def _check_some(count: int) -> None:
    if count == 0:
        raise ValueError("No row is selected; Views hold at least one document.")


def common_documents(ids: Mapping[str, np.ndarray], how: str) -> list[str]:
    """Documents that all views list ("inner") or any ("outer"), in order of first appearance."""
    if how not in ("inner", "outer"):
        raise ValueError(f"how must be 'inner' or 'outer', found {quoted(how)}.")
    documents = list(dict.fromkeys(chain.from_iterable(ids.values())))
    if how == "outer":
        return documents
    listed = [set(view_ids) for view_ids in ids.values()]
    common = [document for document in documents if all(document in view for view in listed)]
    if not common:
        some = "; ".join(f"{quoted(name)}: {listing(each, 3)}" for name, each in ids.items())
        raise ValueError(
            f"The views have no document in common. Are the ids written alike? {some}. "
            "how='outer' keeps documents that lack some views."
        )
    return common


def take_documents(matrix: sp.csr_array, ids: np.ndarray, documents: list[str]) -> sp.csr_array:
    """The rows of `documents`, empty where `ids` does not list them."""
    row_of = {document: row for row, document in enumerate(ids)}
    rows = np.array([row_of.get(document, -1) for document in documents])
    if (rows >= 0).all():
        return matrix[rows]
    # one empty row at the end, which is where the index -1 points to
    nothing = sp.csr_array((1, matrix.shape[1]), dtype=matrix.dtype)
    return sp.vstack([matrix, nothing], format="csr")[rows]
