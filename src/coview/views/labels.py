"""Labels of documents: which documents are unlabeled, the checks of labels, the names of classes.

The one rule of this package: a document is unlabeled if its label is -1, None, NaN, NA, or a text
without a visible character. Among texts "-1" is -1: NumPy, and every file of texts, make texts of
numbers. All that take labels ask `is_unlabeled`.

The other labels are all numbers or all texts, and whatever answers with labels answers in what was
given: numbers for numbers, texts for texts. 1, 1.0 and True are the same number; 1 and "1" together
are an error. Numbers may have names (`Views.label_names`): `Views.named_labels` has them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from coview.params import check_choice
from coview.views.checks import DataWarning, frozen
from coview.wording import listing, location, plural, printable, quoted

UNLABELED = -1  # the number; None among texts
LARGEST = 2**53  # floats hold smaller integers exactly
_ABSENT = "NAType", "NaTType"  # of pandas, which need not be installed


# -- unlabeled documents ---------------------------------------------------------------------------


def is_missing(item: Any) -> bool:
    """Return whether a cell is missing: None, NaN, NA, or a text without visible characters.

    >>> [is_missing(item) for item in (None, float("nan"), "  ", "", "text", ["a"], [])]
    [True, True, True, True, False, False, False]
    """
    if item is None:
        return True
    if isinstance(item, str | bytes):
        return not item.strip()
    if isinstance(item, float | np.floating | np.datetime64 | np.timedelta64 | Decimal):
        return bool(item != item)
    return type(item).__name__ in _ABSENT


def is_unlabeled_item(label: Any, marker: int | None = UNLABELED) -> bool:
    """Return whether one label says that a document is unlabeled; see `is_unlabeled`."""
    return is_missing(label) or _is_marker(label, marker)


def is_unlabeled(labels: Any, marker: int | None = UNLABELED) -> np.ndarray:
    """Return which documents are unlabeled, a bool array of shape (documents,).

    Parameters
    ----------
    labels : array-like of shape (documents,)
    marker : int or None, default=-1
        The number that stands for an unlabeled document, besides what is missing; None: no number.

    Examples
    --------
    >>> is_unlabeled([0, -1, None, float("nan")]).tolist()
    [False, True, True, True]
    >>> is_unlabeled(["cat", "", "-1", None]).tolist()
    [False, True, True, True]
    """
    array = label_array(labels)
    if array.dtype.kind in "biuf":
        missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
        numbers = marker is not None and array.dtype.kind != "b"
        return missing | (array == marker) if numbers else missing
    return np.array([is_unlabeled_item(label, marker) for label in array.ravel().tolist()], bool)


def _is_marker(label: Any, marker: int | None) -> bool:
    if marker is None:
        return False
    if isinstance(label, str):
        return label.strip() == str(marker)
    number = isinstance(label, int | float | np.number) and not isinstance(label, bool)
    return bool(number and label == marker)


def label_array(labels: Any) -> np.ndarray:
    """Return labels as an array in which each is what it was.

    NumPy alone makes texts of numbers and NaN among texts, and forgets a mask.
    """
    if isinstance(labels, np.ma.MaskedArray):
        array = labels.data.astype(object)
        array[np.ma.getmaskarray(labels)] = None
        return array
    if hasattr(labels, "__array__") or isinstance(labels, str | bytes):
        return np.asarray(labels)
    listed = list(labels) if isinstance(labels, Iterable) else labels
    array = np.array(listed, dtype=object)
    if array.ndim == 1 and len(array) and all(type(x) in (bool, int, float) for x in listed):
        return np.array(listed)
    return array


def count_unlabeled(labels: Any) -> str:
    """Return in words how many documents are unlabeled.

    >>> count_unlabeled(["cat", None, "dog"])
    '1 of 3 documents is unlabeled'
    """
    missing = is_unlabeled(labels)
    verb = "is" if missing.sum() == 1 else "are"
    return f"{missing.sum():,} of {plural(len(missing), 'document')} {verb} unlabeled"


# -- checks ----------------------------------------------------------------------------------------


def refuse_unlabeled(name: str, labels: Any, marker: int | None = UNLABELED) -> np.ndarray:
    """Return labels as an array; refuse documents without one, which would be one more class."""
    array = label_array(labels)
    missing = is_unlabeled(array, marker) if array.ndim == 1 else np.zeros(1, bool)
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"{name} must not lack a label, found {array[row]!r} at {location(row)}: "
            f"{count_unlabeled(array)}. Leave out such documents."
        )
    return array


def check_labels(labels: Any, n_docs: int, n_classes: int | None = None) -> np.ndarray:
    """Return class labels of the documents as a read-only array.

    Parameters
    ----------
    labels : array-like of shape (n_docs,)
        Integers (floats and bools that are integers become integers) or texts. -1, None, NaN, NA
        and empty texts stand for unlabeled documents, which are -1 in the result, None among texts.
    n_docs : int
    n_classes : int or None
        If given, integers must be below it.

    Examples
    --------
    >>> check_labels([0, 1, None], 3)
    array([ 0,  1, -1])
    >>> check_labels(["cat", "", "dog"], 3)
    array(['cat', None, 'dog'], dtype=object)
    >>> check_labels([0, 1, 2], 3, n_classes=2)
    Traceback (most recent call last):
        ...
    ValueError: Labels must be -1 (unlabeled) or 0 to 1, found 2 at row 2, counting from 0.
    """
    array = label_array(labels)
    if array.shape != (n_docs,):
        raise ValueError(
            f"Labels must have one entry for each of {plural(n_docs, 'document')}, found the "
            f"shape {array.shape}."
        )
    known = ~is_unlabeled(array)
    if _are_texts(array, known):
        return frozen(_with_none(array, known))
    if array.dtype.kind in "iu":
        return frozen(_check_codes(array.copy(), n_classes))
    codes = np.full(n_docs, UNLABELED)
    codes[known] = _as_integers(array, np.flatnonzero(known))
    return frozen(_check_codes(codes, n_classes))


def _are_texts(array: np.ndarray, known: np.ndarray) -> bool:
    """Return whether labels are texts rather than numbers; refuse a mixture and other things."""
    if array.dtype.kind != "O":
        return array.dtype.kind in "UT"
    first: dict[bool, int] = {}
    for row in np.flatnonzero(known).tolist():
        label = array[row]
        if not isinstance(label, str | int | float | np.number | np.bool_):
            raise ValueError(
                "Labels must be numbers or texts, found "
                f"{type(label).__name__} ({printable(label)}) at {location(row)}."
            )
        first.setdefault(isinstance(label, str), row)
    if len(first) == 2:
        number, text = first[False], first[True]
        raise ValueError(
            f"Labels must be all numbers or all texts, found both: {array[number]!r} at "
            f"{location(number)}, and {quoted(str(array[text]))} at {location(text)}. Give all of "
            "them as texts, or all as numbers; -1, None, NaN and empty texts are unlabeled in "
            "either case."
        )
    return True in first


def _of_one_type(array: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the labels of the known documents, as numbers or as an array of texts."""
    _are_texts(array, known)
    labels = array[known] if array.dtype.kind in "biufU" else np.array(array[known].tolist())
    if labels.dtype.kind not in "biufU":
        raise ValueError(f"Labels must be numbers or texts, found the type {array.dtype}.")
    return labels


def class_codes(labels: Any, marker: int | None = UNLABELED) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, and the number of each document's class, -1 if it is unlabeled.

    Parameters
    ----------
    labels : array-like of shape (documents,)
        Numbers or texts; see the top of this module.
    marker : int or None, default=-1
        As in `is_unlabeled`.

    Returns
    -------
    classes : ndarray of shape (classes,)
        Sorted, of the type of the labels.
    codes : ndarray of int of shape (documents,)

    Examples
    --------
    >>> class_codes([7, None, 3, 7])
    (array([3, 7]), array([ 1, -1,  0,  1]))
    >>> class_codes(["b", None, "a", "b"])[1]
    array([ 1, -1,  0,  1])
    >>> class_codes([1, "1"])
    Traceback (most recent call last):
        ...
    ValueError: Labels must be all numbers or all texts, found both: 1 at row 0, ...
    """
    array = label_array(labels)
    known = ~is_unlabeled(array, marker)
    codes = np.full(len(array), UNLABELED)
    classes, codes[known] = np.unique(_of_one_type(array, known), return_inverse=True)
    return classes, codes


def _with_none(array: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return a copy of texts with None for unlabeled documents."""
    if known.all():
        return array.copy()
    texts = array.astype(object)
    texts[~known] = None
    return texts


def _as_integers(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return some labels, which are numbers, as integers."""
    values = array[rows]
    if array.dtype == object:
        values = np.array(values.tolist() or [0])[: len(rows)]
    if values.dtype.kind not in "biuf":
        raise ValueError(f"Labels must be integers or texts, found the type {values.dtype}.")
    numbers = values.astype(np.float64)
    fine = np.isfinite(numbers) & (numbers == np.floor(numbers)) & (np.abs(numbers) < LARGEST)
    if not fine.all():
        row = int(rows[np.argmin(fine)])
        raise ValueError(
            f"Labels must be integers, found {array[row]} at {location(row)}. Use -1 for a "
            "document without a label."
        )
    return values.astype(np.int64)


def _check_codes(codes: np.ndarray, n_classes: int | None) -> np.ndarray:
    wrong = codes < UNLABELED
    if n_classes is not None:
        wrong |= codes >= n_classes
    if wrong.any():
        row = int(np.argmax(wrong))
        upper = "more" if n_classes is None else f"{n_classes - 1}"
        allowed = f"-1 (unlabeled) or 0 to {upper}"
        if n_classes == 0:
            allowed = "-1 (unlabeled), since no class is named in label_names"
        raise ValueError(f"Labels must be {allowed}, found {codes[row]} at {location(row)}.")
    return codes


def check_topic_labels(labels: Any, n_docs: int, n_topics: int) -> np.ndarray:
    """Return known topics of documents: integers below the number of topics, -1 if unknown.

    >>> check_topic_labels([0, -1], 2, n_topics=3)
    array([ 0, -1])
    """
    checked = check_labels(labels, n_docs, n_topics)
    if checked.dtype.kind in "iu":
        return checked
    example = checked[np.flatnonzero(~is_unlabeled(checked))[0]]
    raise ValueError(
        f"Labels of documents must be numbers of topics, 0 to {n_topics - 1}, or -1 for unknown; "
        f"found {quoted(str(example))}. TopicClassifier takes class labels of any type."
    )


# -- names of classes ------------------------------------------------------------------------------


def named_labels(labels: np.ndarray, names: Sequence[str] | None) -> np.ndarray:
    """Return the class of each document by its name, None if it is unlabeled.

    Labels without names, numbers of other classes than the names are of, and texts are returned as
    they are.

    >>> named_labels(np.array([1, -1, 0]), ["cat", "dog"])
    array(['dog', None, 'cat'], dtype=object)
    """
    if names is None or labels.dtype.kind not in "iu" or labels.max(initial=-1) >= len(names):
        return labels
    return np.array([*names, None], dtype=object)[labels]  # -1 picks the last


def class_names(classes: np.ndarray, codes: np.ndarray, X: Any) -> list[str]:
    """Return the name of each class: what X calls it, where X are views that name these classes.

    They do if the classes are numbers and are those that the views have; a document that is
    unlabeled in the views may have any. Otherwise the numbers may be of other classes, and a class
    is called what it is.

    Parameters
    ----------
    classes : ndarray of shape (classes,)
    codes : ndarray of int of shape (documents,)
        The number of each document's class, -1 if it is unlabeled: see `class_codes`.
    X : Views, or anything else

    Examples
    --------
    >>> from coview import Views
    >>> views = Views([[1], [2], [3]], labels=[1, -1, 0], label_names=["cat", "dog"])
    >>> class_names(np.array([0, 1]), np.array([1, 1, 0]), views)
    ['cat', 'dog']
    """
    own, names = getattr(X, "labels", None), getattr(X, "label_names", None)
    known = np.flatnonzero(codes >= 0)
    if own is None or names is None or classes.dtype.kind not in "iuf" or len(own) != len(codes):
        return list(map(str, classes.tolist()))
    same = (own[known] == classes[codes[known]]) | is_unlabeled(own[known])
    if not same.all() or not np.isin(classes, np.arange(len(names))).all():
        return list(map(str, classes.tolist()))
    return [names[int(number)] for number in classes]


def labeled_accuracy(
    classifier: Any, X: Any, y: Any, sample_weight: Any, marker: int | None = UNLABELED
) -> float:
    """Return the share of labeled documents that a fitted classifier puts into their class.

    A document of which nothing is known is in none: the score says so, and no warning.
    """
    given = label_array(y)
    known = ~is_unlabeled(given, marker)
    if given.ndim != 1 or not known.any():
        raise ValueError("y must have the class of at least one document to compare with.")
    truth = _of_one_type(given, known)
    if (classifier.classes_.dtype.kind == "U") != (truth.dtype.kind == "U"):
        raise ValueError(
            f"y has {listing(np.unique(truth), 3)}, the classes of the classifier are "
            f"{listing(classifier.classes_, 3)}: give names or numbers as in fit (`labels` of "
            "views are numbers, `named_labels` their names)."
        )
    predicted, unknown = classifier._found(X)
    if len(predicted) != len(given):
        raise ValueError(
            f"y has {plural(len(given), 'label')} for {plural(len(predicted), 'document')}."
        )
    weights = None if sample_weight is None else np.asarray(sample_weight)[known]
    right = (predicted[known] == truth) & ~unknown[known]
    return float(np.average(right, weights=weights))


# -- documents of which nothing is known -----------------------------------------------------------


def mark_unknown(
    labels: np.ndarray,
    unknown: np.ndarray,
    how: str,
    what: str = "topic",
    marker: int = UNLABELED,
    why: str = "",
) -> np.ndarray:
    """Return predicted labels with those of documents that a model knows nothing of marked.

    Parameters
    ----------
    labels : ndarray of shape (documents,)
    unknown : ndarray of bool of shape (documents,)
    how : {"mark", "guess"}
        "mark": they become the marker, with a warning that tells how many. "guess": they stay as
        they are.
    what : str
        What the labels are, for the warning.
    marker : int
        What they become among numbers; among texts it is an empty text.
    why : str
        What is known of the first of them, for the warning.
    """
    check_choice("unknown", how, ["mark", "guess"])
    count = int(unknown.sum())
    if how == "guess" or not count:
        return labels
    texts = labels.dtype.kind in "UO"
    warnings.warn(
        f"{count:,} of {plural(len(labels), 'document')} {'has' if count == 1 else 'have'} no "
        f"feature that the model knows{why and f' (the first: {why})'}: their {what} is "
        f"{'an empty text' if texts else marker} "
        "(unknown='guess' gives the most likely one in general).",
        DataWarning,
        stacklevel=3,
    )
    marked = labels.copy() if labels.dtype.kind in "UOif" else labels.astype(np.int64)
    marked[unknown] = "" if texts else marker
    return marked
