"""The search of nearest neighbors among points of length one, by cosine."""

from __future__ import annotations

import numpy as np

SCORES_AT_ONCE = 1 << 19  # cosines that are held at a time
SAME = (
    1e-6  # cosines that differ by less are equal: the last bits depend on how many rows there are
)


def nearest_points(
    rows: np.ndarray, points: np.ndarray, n_neighbors: int, own: np.ndarray | None = None
) -> np.ndarray:
    """Return the nearest points (rows, n_neighbors) of each row, nearest first.

    Of points that are equally near, up to errors of rounding, the first are taken: so what is found
    for a row does not depend on the other rows.

    Parameters
    ----------
    rows, points : ndarray of shape (rows, dimensions) and (points, dimensions)
        Of length one.
    n_neighbors : int
        There are fewer where there are fewer points.
    own : ndarray of int of shape (rows,), optional
        Which of the points each row is itself, -1 for none. It is not its own neighbor.

    Examples
    --------
    >>> axes = np.eye(3)
    >>> nearest_points(np.array([[0.6, 0.8, 0.0]]), axes, 2)
    array([[1, 0]], dtype=int32)
    >>> nearest_points(axes[:1], axes, 2, own=np.array([0]))
    array([[1, 2]], dtype=int32)
    """
    k = max(min(n_neighbors, len(points) - (own is not None)), 0)
    found = np.empty((len(rows), k), np.int32)
    size = max(SCORES_AT_ONCE // max(len(points), 1), 1)
    for start in range(0, len(rows) if k else 0, size):
        here = slice(start, start + size)
        far = -(rows[here] @ points.T)
        if own is not None:
            known = np.flatnonzero(own[here] >= 0)
            far[known, own[here][known]] = np.inf
        found[here] = _smallest(far, k)
    return found


def _smallest(far: np.ndarray, k: int) -> np.ndarray:
    """Return the places of the k smallest values of each row, ascending, the first of equals."""
    best = np.argpartition(far, k - 1, axis=1)[:, :k]
    last = np.take_along_axis(far, best, axis=1).max(axis=1, keepdims=True)
    near = far <= last + SAME
    for i in np.flatnonzero(near.sum(axis=1) > k):  # others are as near as the last
        sure = far[i] < last[i] - SAME
        best[i] = np.concatenate([np.flatnonzero(sure), np.flatnonzero(near[i] & ~sure)])[:k]
    best.sort(axis=1)
    order = np.argsort(np.take_along_axis(far, best, axis=1).round(6), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)
