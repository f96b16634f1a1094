"""Inner products of sparse rows, and the largest scores of each row, in one pass over them."""

import numpy as np
from numba import njit

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}


@njit(**_OPTIONS)
def largest_of_rows(scores, own, same, found):
    """Put the places of the largest scores (rows, points) of each row into `found`, largest first.

    Scores that are the same multiple of `same` are equal: of these the first places are taken.
    `own` (rows,) is a place that does not count, -1 for none. No score is NaN.
    """
    n_points, k = scores.shape[1], found.shape[1]
    best = np.empty(k)
    for i in range(scores.shape[0]):
        for place in range(k):
            best[place] = -np.inf
            found[i, place] = -1
        enough = -np.inf  # less than this is too little, rounded or not
        for j in range(n_points):
            if scores[i, j] < enough:
                continue
            score = np.rint(scores[i, j] / same)
            if score > best[k - 1] and j != own[i]:
                place = k - 1
                while place > 0 and score > best[place - 1]:
                    best[place] = best[place - 1]
                    found[i, place] = found[i, place - 1]
                    place -= 1
                best[place] = score
                found[i, place] = j
                enough = best[k - 1] * same


@njit(**_OPTIONS)
def sparse_products(indptr, indices, data, colptr, places, values, out):
    """Add the inner products of sparse rows with all points to `out` (rows, points).

    Rows come as the arrays of a CSR matrix, points as those of a CSC matrix: the entries of a
    feature together, in the order of the points.
    """
    for i in range(out.shape[0]):
        products = out[i]
        for entry in range(indptr[i], indptr[i + 1]):
            term, value = indices[entry], data[entry]
            for place in range(colptr[term], colptr[term + 1]):
                products[places[place]] += value * values[place]
