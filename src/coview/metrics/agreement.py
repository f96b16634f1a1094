"""Agreement of the views of a model about the documents."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import rel_entr

from coview.metrics.clustering import clustering_accuracy
from coview.params import check_choice


def view_agreement(
    mixtures: Mapping[str, np.ndarray], *, kind: str = "jensen_shannon", present: Any = None
) -> np.ndarray:
    """Return the agreement of each pair of views on the documents that have both; at most 1.

    Parameters
    ----------
    mixtures : dict of ndarray of shape (documents, topics)
        The mixture of each view, as in `view_doc_topic_`.
    kind : {"jensen_shannon", "argmax", "aligned"}, default="jensen_shannon"
        One minus the mean Jensen-Shannon divergence (in bits, so between 0 and 1); the share of
        documents with the same largest topic; or that share after the best one-to-one matching
        of the topics of the two views, for models whose views number their topics independently.
    present : ndarray of bool of shape (documents, views), optional
        Which document has which view, in the order of `mixtures`. By default every document has
        all views.

    Returns
    -------
    ndarray of shape (views, views)
        Symmetric, ones on the diagonal; NaN for two views that no document has together.

    Examples
    --------
    >>> mixtures = {"en": np.array([[0.9, 0.1], [0.2, 0.8]]), "fr": np.array([[1.0, 0], [1.0, 0]])}
    >>> view_agreement(mixtures, kind="argmax")
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    check_choice("kind", kind, ["jensen_shannon", "argmax", "aligned"])
    rows = [np.asarray(m, float) for m in mixtures.values()]
    _check_shapes(dict(zip(mixtures, rows, strict=True)))
    has = _check_present(present, (len(rows[0]), len(rows)))
    for name, matrix, own in zip(mixtures, rows, has.T, strict=True):
        _check_mixtures(name, matrix[own])
    measure = {"jensen_shannon": _jensen_shannon, "argmax": _argmax, "aligned": _aligned}[kind]
    agreement = np.eye(len(rows))
    for v, w in combinations(range(len(rows)), 2):
        both = np.flatnonzero(has[:, v] & has[:, w])
        value = measure(rows[v][both], rows[w][both]) if len(both) else np.nan
        agreement[v, w] = agreement[w, v] = value
    return agreement


def mean_view_agreement(
    mixtures: Mapping[str, np.ndarray], *, kind: str = "jensen_shannon", present: Any = None
) -> float:
    """Return the mean of `view_agreement` over the pairs of views with documents in common.

    Parameters
    ----------
    mixtures, kind, present
        As in `view_agreement`.

    Returns
    -------
    float
        NaN if no two views have a document in common.

    Examples
    --------
    >>> mixtures = {"en": np.array([[0.5, 0.5]]), "fr": np.array([[0.5, 0.5]])}
    >>> mean_view_agreement(mixtures)
    1.0
    """
    agreement = view_agreement(mixtures, kind=kind, present=present)
    pairs = agreement[np.triu_indices(len(agreement), 1)]
    known = pairs[~np.isnan(pairs)]
    return float(known.mean()) if len(known) else np.nan


def _check_shapes(rows: Mapping[str, np.ndarray]) -> None:
    shapes = {name: r.shape for name, r in rows.items()}
    if len(set(shapes.values())) != 1 or any(r.ndim != 2 for r in rows.values()):
        raise ValueError(
            "mixtures must be matrices (documents, topics) of one shape for all views; found "
            f"{', '.join(f'{n} {s}' for n, s in shapes.items())}."
        )


def _check_present(present: Any, shape: tuple[int, int]) -> np.ndarray:
    if present is None:
        return np.ones(shape, bool)
    has = np.asarray(present)
    if has.shape != shape or has.dtype != bool:
        raise ValueError(
            f"`present` must be booleans of shape {shape}, (documents, views); found {has.dtype} "
            f"of shape {has.shape}."
        )
    return has


def _check_mixtures(name: str, rows: np.ndarray) -> None:
    if len(rows) and not ((rows >= 0).all() and np.allclose(rows.sum(axis=1), 1, atol=1e-3)):
        raise ValueError(
            "Mixtures must be shares of topics that sum to one for each document; those of the "
            f"view {name!r} are not."
        )


def _jensen_shannon(a: np.ndarray, b: np.ndarray) -> float:
    middle = (a + b) / 2
    divergence = (rel_entr(a, middle) + rel_entr(b, middle)).sum(axis=1) / 2
    return 1 - divergence.mean() / np.log(2)


def _argmax(a: np.ndarray, b: np.ndarray) -> float:
    return (a.argmax(axis=1) == b.argmax(axis=1)).mean()


def _aligned(a: np.ndarray, b: np.ndarray) -> float:
    return clustering_accuracy(a.argmax(axis=1), b.argmax(axis=1))
