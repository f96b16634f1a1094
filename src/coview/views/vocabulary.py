"""Match the columns of new documents to the vocabulary of a fitted model."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from coview.views.checks import DataWarning
from coview.wording import listing, quoted


def match_features(
    matrix: sp.csr_array,
    names: np.ndarray | None,
    fitted_names: np.ndarray | None,
    view: str,
    *,
    width: int | None = None,
    limit: float = 0.5,
    owner: str = "model",
) -> sp.csr_array:
    """Return the columns of new documents in the order of the fitted vocabulary.

    Without names on both sides, only the number of columns is compared. Unknown terms are dropped,
    fitted terms that are missing become columns of zeros, and a warning says how much of the mass
    was lost. The same names in another order raise an error: they are usually a mistake.

    Parameters
    ----------
    matrix : csr_array of shape (n_docs, n_terms)
    names, fitted_names : array of str or None
        Unique names of the columns, here and at fit.
    view : str
        For the messages.
    width : int or None
        Number of columns at fit; not needed where there are `fitted_names`.
    limit : float, default=0.5
        Share of the mass that may be unknown.
    owner : str, default="model"
        Name of the model's class, for the messages.

    Returns
    -------
    csr_array of shape (n_docs, width)

    Examples
    --------
    >>> import pytest
    >>> new, fitted = np.array(["dog", "cat", "emu"]), np.array(["cat", "dog"])
    >>> with pytest.warns(DataWarning, match="are unknown to the model, with 12.5% of the mass"):
    ...     match_features(sp.csr_array([[3, 4, 1]]), new, fitted, "en").toarray()
    array([[4, 3]])
    """
    width = len(fitted_names) if fitted_names is not None else width
    if names is None or fitted_names is None:
        _check_width(matrix.shape[1], width, view, owner)
        return matrix
    if np.array_equal(names, fitted_names):
        return matrix
    columns = {name: column for column, name in enumerate(fitted_names)}
    target = np.array([columns.get(name, -1) for name in names])
    if len(names) == len(fitted_names) and (target >= 0).all():
        raise ValueError(_other_order(names, fitted_names, view))
    _report_unknown(matrix, names, target, len(fitted_names), view, limit)
    return _reordered(matrix, target, len(fitted_names))


def _check_width(found: int, width: int | None, view: str, owner: str) -> None:
    if width is not None and found != width:
        raise ValueError(
            f"View {quoted(view)}: X has {found} features, but {owner} is expecting {width} "
            "features as input. Give feature names at fit and here to match them by name."
        )


def _other_order(names: np.ndarray, fitted_names: np.ndarray, view: str) -> str:
    columns = np.flatnonzero(names != fitted_names)[:5]
    shown = "; ".join(
        f"column {c}: {quoted(names[c])}, at fit {quoted(fitted_names[c])}" for c in columns
    )
    return (
        "The feature names should match those that were passed during fit. "
        f"View {quoted(view)} has them in another order: {shown}. Reorder its columns."
    )


def _report_unknown(
    matrix: sp.csr_array, names: np.ndarray, target: np.ndarray, width: int, view: str, limit: float
) -> None:
    unknown = target < 0
    total = matrix.sum(dtype=np.float64)
    lost = matrix[:, unknown].sum(dtype=np.float64) / total if total else 0.0
    message = (
        f"View {quoted(view)}: {np.count_nonzero(unknown):,} of {unknown.size:,} features "
        f"({listing(names[unknown], 3)}) are unknown to the model, with {lost:.1%} of the mass"
    )
    if lost > limit:
        raise ValueError(f"{message}; at most {limit:.0%} is accepted. Is this the right view?")
    missing = width - np.count_nonzero(~unknown)
    message += f"; they are dropped. {missing:,} fitted features are absent and count as zero."
    warnings.warn(message, DataWarning, stacklevel=3)


def _reordered(matrix: sp.csr_array, target: np.ndarray, width: int) -> sp.csr_array:
    kept = sp.csr_array(matrix[:, np.flatnonzero(target >= 0)])
    columns = target[target >= 0].astype(kept.indices.dtype)
    reordered = sp.csr_array(
        (kept.data, columns[kept.indices], kept.indptr), (matrix.shape[0], width)
    )
    reordered.sort_indices()
    return reordered
