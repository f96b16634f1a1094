"""Align new documents with what a fitted model knows: its views, their order and their columns."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from coview.views.checks import DataWarning
from coview.views.contents import assemble
from coview.views.density import has_negatives
from coview.views.named_matrices import read_named_matrices
from coview.wording import listing, quoted

if TYPE_CHECKING:
    from coview.views.container import Views


def read_known(
    data: Any,
    real: Collection[str],
    *,
    ids: Any = None,
    features: Any = None,
    present: Any = None,
) -> Views:
    """Return new documents as `Views`; the views in `real` may be negative, however few they are.

    Whether a view is dense and real was decided by the documents of the fit.

    Examples
    --------
    >>> read_known({"pca": [[-1, 0, 0]]}, ["pca"])["pca"].toarray()
    array([[-1.,  0.,  0.]], dtype=float32)
    """
    from coview.views.container import Views  # not above: it imports the checks, and they this

    contents = assemble(read_named_matrices(data), ids, features, real)
    return Views._from_contents(contents if present is None else contents.with_present(present))


def known_views(views: Views, fitted_names: Sequence[str], owner: str) -> Views:
    """Return the views in the order of the fit; refuse views that were not in the fit.

    Parameters
    ----------
    views : Views
        Some or all of the fitted views.
    fitted_names : sequence of str
        Names of the views at fit.
    owner : str
        Name of the estimator's class, for the message.

    Examples
    --------
    >>> from coview import Views
    >>> known_views(Views({"fr": [[1]], "en": [[2]]}), ["en", "de", "fr"], "PLSA").names
    ('en', 'fr')
    """
    unknown = [name for name in views.names if name not in fitted_names]
    if unknown:
        raise ValueError(
            f"{owner} was fitted on the views {listing(fitted_names, 20)}; got "
            f"{listing(unknown)} as well. Leave out what the model does not know "
            "(views.select(...)), or name the matrices as in fit."
        )
    ordered = tuple(name for name in fitted_names if name in views.names)
    return views if ordered == views.names else views.select(*ordered)


def match_views(
    views: Views,
    fitted_features: Mapping[str, np.ndarray | None],
    widths: Mapping[str, int],
    owner: str,
) -> Views:
    """Return the views with the columns of the fit; see `match_features`.

    Views whose columns are all in place are returned as they are, so aligning twice costs nothing.

    Parameters
    ----------
    views : Views
        Views of the fit, as `known_views` returns them.
    fitted_features : mapping of view to array of str or None
        Names of the columns at fit.
    widths : mapping of view to int
        Number of columns at fit.
    owner : str
        Name of the estimator's class, for the messages.
    """
    given = views.matrices
    matched = {
        name: match_features(
            matrix,
            views.features[name],
            fitted_features[name],
            name,
            width=widths[name],
            owner=owner,
        )
        for name, matrix in given.items()
    }
    if all(matched[name] is given[name] for name in given):
        return views
    features = {n: f for n, f in fitted_features.items() if n in matched and f is not None}
    real = [name for name, matrix in given.items() if has_negatives(matrix)]
    return read_known(matched, real, ids=views.ids, features=features, present=views.present)


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
    """Return one view's columns in the order of the fitted vocabulary.

    Without names on both sides only the number of columns can be compared. Unknown terms are
    dropped, missing fitted terms become columns of zeros, and a warning says how much of the mass
    was lost. The same names in another order raise an error: that is more often a mistake than
    intended.

    Parameters
    ----------
    matrix : csr_array of shape (documents, terms)
    names, fitted_names : array of str or None
        Unique names of the columns, here and at fit.
    view : str
        Name of the view, for the messages.
    width : int or None, default=None
        Number of columns at fit; not needed with `fitted_names`.
    limit : float, default=0.5
        Largest share of the mass that may be unknown.
    owner : str, default="model"
        Name of the estimator's class, for the messages.

    Returns
    -------
    csr_array of shape (documents, fitted terms)
        `matrix` itself if its columns are in place.
    """
    width = len(fitted_names) if fitted_names is not None else width
    if names is None or fitted_names is None:
        _check_width(matrix.shape[1], width, view, owner)
        return matrix
    if names is fitted_names or np.array_equal(names, fitted_names):
        return matrix
    columns = {name: column for column, name in enumerate(fitted_names)}
    target = np.array([columns.get(name, -1) for name in names])
    if len(names) == len(fitted_names) and (target >= 0).all():
        raise ValueError(_other_order(names, fitted_names, view))
    _report_unknown(matrix, names, target, len(fitted_names), view, limit)
    return _move_columns(matrix, target, len(fitted_names))


def grown_names(fitted_names: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Return the fitted names, and after them those that are new, in their order.

    >>> grown_names(np.array(["b", "a"]), np.array(["c", "a", "d"])).tolist()
    ['b', 'a', 'c', 'd']
    """
    known = set(fitted_names.tolist())
    new = [name for name in names.tolist() if name not in known]
    if not new:
        return fitted_names
    return np.array([*fitted_names.tolist(), *new], dtype=fitted_names.dtype.char)


def _check_width(found: int, width: int | None, view: str, owner: str) -> None:
    if width is not None and found != width:
        raise ValueError(
            f"View {quoted(view)}: X has {found} features, but {owner} is expecting {width} "
            "features as input. Give feature names at fit and here to match them by name."
        )


def _other_order(names: np.ndarray, fitted_names: np.ndarray, view: str) -> str:
    """Return the message for the same names in another order."""
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
    """Warn of unknown terms; raise an error if more than `limit` of the mass is unknown."""
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


def _move_columns(matrix: sp.csr_array, target: np.ndarray, width: int) -> sp.csr_array:
    """Move column c to target[c]; drop it where that is -1."""
    kept = sp.csr_array(matrix[:, np.flatnonzero(target >= 0)])
    columns = target[target >= 0].astype(kept.indices.dtype)
    reordered = sp.csr_array(
        (kept.data, columns[kept.indices], kept.indptr), (matrix.shape[0], width)
    )
    reordered.sort_indices()
    return reordered
