"""Data sets in MATLAB files: a cell array with a matrix for each view, and a vector of labels."""

import os
import zlib
from io import BytesIO
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reading.matlab import MatFile
from coview.wording import listing
from experiments.importers.archives import ArchiveError, ArchiveLimits, read_members

MOST_BYTES = 1 << 30


def read_mat(data: bytes, label: str, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Return the variables of a MATLAB file.

    Parameters
    ----------
    data : bytes
    label : str
        Name of the file, for the messages.
    most_bytes : int
        The variables may not be larger after decompression.

    Returns
    -------
    variables : dict name -> value
        As in :meth:`coview.reading.matlab.MatFile.read_all`.
    """
    try:
        return MatFile(BytesIO(data), len(data)).read_all(most_bytes)
    except (ValueError, zlib.error) as error:
        raise ArchiveError(f"{label} cannot be read as a MATLAB file: {error}.") from error


def read_views_and_labels(
    archive: str | os.PathLike[str], limits: ArchiveLimits | None = None
) -> tuple[list[sp.csr_array], np.ndarray]:
    """Return matrices and labels of the one MATLAB file of an archive: `views_and_labels`."""
    files = dict(read_members(archive, lambda name: name.lower().endswith(".mat"), limits=limits))
    if len(files) != 1:
        raise ArchiveError(f"{archive} must hold one .mat file; it has {len(files)}.")
    ((name, content),) = files.items()
    return views_and_labels(read_mat(content, name), name)


def labels_from_zero(y: np.ndarray, n_classes: int, archive: str | os.PathLike[str]) -> np.ndarray:
    """Return labels that count from 0, from labels that count from 0 or, as in MATLAB, from 1.

    >>> labels_from_zero(np.array([1, 3, 2]), 3, "a.mat")
    array([0, 2, 1])
    """
    low, high = (int(y.min()), int(y.max())) if len(y) else (-1, -1)
    if low < 0 or high - min(low, 1) >= n_classes:
        raise ArchiveError(
            f"{archive} must have labels from 1 to {n_classes}; found {low} to {high}."
        )
    return y - min(low, 1)


def views_and_labels(
    variables: dict[str, Any], label: str
) -> tuple[list[sp.csr_array], np.ndarray]:
    """Return matrices (documents x columns) and labels of a file with a cell `X` and a vector `y`.

    Copies of a data set differ in the names of the two variables, and in whether documents are
    rows or columns; the number of labels tells.
    """
    X = _pick(variables, ("X", "x", "data", "fea"), label)
    y = _pick(variables, ("y", "Y", "gt", "truth", "label", "labels"), label)
    if not isinstance(y, np.ndarray) or not np.isfinite(y).all() or (y != np.round(y)).any():
        raise ArchiveError(f"{label} must have whole numbers as labels.")
    if not isinstance(X, list):
        raise ArchiveError(f"{label} must have its views in a cell array.")
    return [_matrix(view, y.size, label) for view in X], y.ravel().astype(np.int64)


def _pick(variables: dict[str, Any], names: tuple[str, ...], label: str) -> Any:
    found = [name for name in names if name in variables]
    if len(found) != 1:
        raise ArchiveError(
            f"{label} must have one variable of {listing(names, 9)}; it has "
            f"{listing(sorted(variables), 9)}."
        )
    return variables[found[0]]


def _matrix(view: Any, n_docs: int, label: str) -> sp.csr_array:
    if not isinstance(view, np.ndarray | sp.sparray):
        raise ArchiveError(f"{label} must have numbers in the cells of X.")
    if len(view.shape) != 2 or n_docs not in view.shape:
        raise ArchiveError(f"{label} has {n_docs:,} labels but a view of shape {view.shape}.")
    return sp.csr_array(view if view.shape[0] == n_docs else view.T)
