"""Checks of names, ids and masks, and the checks that a model makes before it fits.

Every message says what was expected, what was found, where, and what to do about it. Other checks:

    views.labels          labels: which are unlabeled, whether all are of one kind
    views.matrix_checks   the values of one matrix: NaN, infinite, negative, too large, not a number
    views.vocabulary      the columns of new documents against those of a fitted model
    memory                whether an allocation fits
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, KeysView, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from coview.wording import listing, location, plural, printable, quoted

if TYPE_CHECKING:
    pass


class DataWarning(UserWarning):
    """The data are usable, but probably not what was meant."""


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array; the array itself keeps its flags."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


# -- names ----------------------------------------------------------------------------------------


def check_names(names: Iterable[Any], what: str) -> np.ndarray:
    r"""Return names as a read-only array of str objects, if they are unique.

    The array holds objects because numpy's own strings drop a NUL at the end and give each name the
    width of the longest. Integers become text; nothing else is changed.

    Parameters
    ----------
    names : iterable of str or int
    what : str
        What is named, for the messages: ``"ids"``, ``"features of view 'en'"``.

    Examples
    --------
    >>> check_names(["a", "b"], "ids")
    array(['a', 'b'], dtype=object)
    >>> check_names(["a", "b", "a"], "ids")
    Traceback (most recent call last):
        ...
    ValueError: Each of ids must be unique, found twice or more: 'a' (rows 0, 2). ...
    """
    _check_sequence(names, what)
    texts = [_name_text(name, what, index) for index, name in enumerate(names)]
    _check_encodable(texts, what)
    _check_unique(texts, what)
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return frozen(array)


def _check_sequence(names: Any, what: str) -> None:
    """Refuse what has no order, or is one name or none."""
    if isinstance(names, str | bytes):
        raise TypeError(f"Expected a sequence of names for {what}, found one text {quoted(names)}.")
    unordered = isinstance(names, Set | Mapping) and not isinstance(names, KeysView)
    if unordered or not hasattr(names, "__iter__") or getattr(names, "shape", None) == ():
        raise TypeError(
            f"Expected a sequence of names for {what}, found {type(names).__name__} "
            f"({printable(repr(names))})."
        )


def check_size(names: np.ndarray | None, size: int, what: str) -> None:
    """Check that there is one name for each row or column, if there are names at all."""
    if names is not None and len(names) != size:
        raise ValueError(f"Expected {size:,} names for {what}, found {len(names):,}.")


def _name_text(name: Any, what: str, index: int) -> str:
    if isinstance(name, str | int | np.integer) and not isinstance(name, bool):
        return str(name)  # also makes a plain str of numpy's subclass
    raise TypeError(
        f"Each of {what} must be a text, found {type(name).__name__} ({printable(name)}) "
        f"at position {index:,}."
    )


def _check_encodable(texts: list[str], what: str) -> None:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        index = next(i for i, text in enumerate(texts) if not _is_encodable(text))
        raise ValueError(
            f"Each of {what} must be valid Unicode; {quoted(texts[index])} at position "
            f"{index:,} holds a lone surrogate. Read the text with its right encoding."
        ) from None


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _check_unique(texts: Sequence[str], what: str) -> None:
    if len(set(texts)) == len(texts):
        return
    rows: dict[str, list[int]] = {}
    for index, text in enumerate(texts):
        rows.setdefault(text, []).append(index)
    repeated = [(text, at) for text, at in rows.items() if len(at) > 1]
    shown = "; ".join(
        f"{quoted(text)} (rows {', '.join(map(str, at[:3]))})" for text, at in repeated[:5]
    )
    raise ValueError(
        f"Each of {what} must be unique, found twice or more: {shown}. "
        f"{plural(len(repeated), 'name')} repeated: drop the repeats or make the names differ."
    )


def one_or_many(names: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the names of a call ``f("a", "b")`` or ``f(["a", "b"])``."""
    several = len(names) == 1 and isinstance(names[0], Iterable) and not isinstance(names[0], str)
    return tuple(names[0]) if several else names


def check_view_names(names: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of views, if they are non-empty, unique texts and at least one."""
    names = tuple(names)
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError(
                f"A view's name must be a non-empty text, found {type(name).__name__} "
                f"({printable(name)})."
            )
    if not names:
        raise ValueError("At least one view is needed, found none.")
    return tuple(check_names(names, "the view names").tolist())


# -- documents ------------------------------------------------------------------------------------


def check_aligned(counts: Mapping[str, int]) -> int:
    """Return the number of documents, which must be the same in every view.

    Examples
    --------
    >>> check_aligned({"en": 1200, "fr": 1198})
    Traceback (most recent call last):
        ...
    ValueError: View 'en' has 1,200 documents but view 'fr' has 1,198. All views must ...
    """
    (first, expected), *rest = counts.items()
    other = next(((name, count) for name, count in rest if count != expected), None)
    if other is None:
        return expected
    every = ", ".join(f"{printable(name)} {count:,}" for name, count in counts.items())
    raise ValueError(
        f"View {quoted(first)} has {expected:,} documents but view {quoted(other[0])} has "
        f"{other[1]:,}. All views must describe the same documents in the same order; use "
        f"Views.align(...) to keep the common ones. Documents of each view: {every}."
    )


def check_ids(ids: Iterable[Any]) -> np.ndarray:
    """Return ids of documents, if they are unique texts."""
    return check_names(ids, "ids")


def check_same_ids(ids: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return the ids that all views agree on, or None if no view has any."""
    if not ids:
        return None
    first, *others = ids
    for other in others:
        _compare_ids(first, ids[first], other, ids[other])
    return ids[first]


def _compare_ids(first: str, ids: np.ndarray, other: str, other_ids: np.ndarray) -> None:
    if len(ids) != len(other_ids):
        check_aligned({first: len(ids), other: len(other_ids)})
    rows = np.flatnonzero(ids != other_ids)
    if not rows.size:
        return
    shown = "; ".join(f"row {r}: {quoted(ids[r])} and {quoted(other_ids[r])}" for r in rows[:5])
    raise ValueError(
        f"Views {quoted(first)} and {quoted(other)} have different ids in "
        f"{plural(rows.size, 'row')}: {shown}. All views must describe the same documents in the "
        "same order; use Views.align(...) to bring them into one order."
    )


def check_present(
    present: Any, matrices: Mapping[str, sp.csr_array], ids: np.ndarray | None = None
) -> np.ndarray:
    """Return which document has which view, a read-only bool array of shape (n_docs, n_views).

    Parameters
    ----------
    present : None, bool array of shape (n_docs, n_views), or dict name -> bool array
        None, and a view that the dict leaves out: a document has the view if its row is not empty.
    matrices : dict name -> canonical csr_array
    ids : array of str or None
        For the messages.
    """
    filled = np.column_stack([np.diff(matrix.indptr) > 0 for matrix in matrices.values()])
    if present is None:
        return frozen(filled)
    mask = _as_mask(present, filled, list(matrices))
    rows, columns = np.nonzero(filled & ~mask)
    if rows.size:
        raise ValueError(
            f"`present` says that a document lacks view {quoted(list(matrices)[columns[0]])}, but "
            f"it has counts there: {location(int(rows[0]), ids=ids)}; {rows.size:,} such in all. "
            "Mark it as present, or set its row to zero."
        )
    return frozen(mask)


def _as_mask(present: Any, filled: np.ndarray, names: list[str]) -> np.ndarray:
    if not isinstance(present, Mapping):
        return _as_bool(present, filled.shape, "`present`")
    check_known(present, names, "`present`")
    columns = [
        _as_bool(present[name], (len(filled),), f"`present` of view {quoted(name)}")
        if name in present
        else filled[:, v]
        for v, name in enumerate(names)
    ]
    return np.column_stack(columns)


def _as_bool(mask: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    mask = np.asarray(mask)
    if mask.shape != shape:
        raise ValueError(f"{what} must have the shape {shape}, found {mask.shape}.")
    if mask.dtype.kind not in "biu" or not np.isin(mask, (0, 1)).all():
        raise ValueError(f"{what} must hold True and False, found the type {mask.dtype}.")
    return mask.astype(bool)


def check_known(given: Iterable[str], names: Iterable[str], what: str) -> None:
    """Refuse names of views that do not exist."""
    names = list(names)
    # an array, which is no name, is not compared with names
    unknown = [name for name in given if not isinstance(name, str) or name not in names]
    if unknown:
        raise ValueError(f"{what} names {listing(unknown)}; the views are {listing(names, 20)}.")


# -- before a fit ---------------------------------------------------------------------------------


def check_not_all_empty(matrices: Mapping[str, Any]) -> None:
    """Refuse data without a single count, and warn about views without one."""
    empty = [name for name, matrix in matrices.items() if matrix.nnz == 0]
    if len(empty) == len(matrices):
        raise ValueError(
            f"All documents are empty: {listing(empty)} hold no count at all. Check how the "
            "matrices were built."
        )
    if empty:
        _warn(f"No document has a count in {listing(empty)}; such a view teaches nothing.")


def check_training_views(model: str, one_view: bool, n_topics: int, views: Any) -> None:
    """Refuse views that a model cannot be fitted to: too many, all empty, or fewer than topics.

    These are `Views`, or views on disk.
    """
    if one_view and views.n_views > 1:
        raise ValueError(
            f"{model} models one view; got {views.n_views} ({', '.join(views.names)}). Use "
            "views.concat() to put them side by side, views.select(name) for one of them, or a "
            "model of several views such as LinkPLSA."
        )
    check_not_all_empty(views.matrices if hasattr(views, "matrices") else views.views)
    check_topics(n_topics, views.n_docs, dict(zip(views.names, views.widths, strict=True)))


def check_topics(n_components: int, n_docs: int, widths: Mapping[str, int]) -> None:
    """Warn if there are more topics than documents, or than terms of some view."""
    if n_components > n_docs:
        _warn(f"{n_components:,} topics for {plural(n_docs, 'document')}: some can only be copies.")
    narrow = [
        f"{printable(name)} has {width:,}" for name, width in widths.items() if width < n_components
    ]
    if narrow:
        _warn(f"{n_components:,} topics, but fewer terms: {', '.join(narrow[:5])}.")


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=3)


def check_mixtures(mixtures: Any, n_docs: int, n_topics: int, what: str = "Mixtures") -> np.ndarray:
    """Return mixtures (n_docs, n_topics), non-negative and finite, with rows that sum to one."""
    array = np.asarray(mixtures, dtype=float)
    if array.shape != (n_docs, n_topics):
        raise ValueError(
            f"{what} must have the shape (documents, topics) = ({n_docs}, {n_topics}), found "
            f"{array.shape}."
        )
    sums = array.sum(axis=1, keepdims=True)
    if not np.isfinite(array).all() or (array < 0).any() or (sums <= 0).any():
        row = int(np.argmin((np.isfinite(array) & (array >= 0)).all(axis=1) & (sums[:, 0] > 0)))
        raise ValueError(
            f"{what} must be finite and non-negative with a positive sum; row {row} is "
            f"{array[row][:5]}."
        )
    return array / sums
