"""Kernels of `ensemble.kmeans`: k-means++, and the rounds of Lloyd on dense and on sparse rows.

The squared distance of a row x to a center c is |x|^2 + |c|^2 - 2 x c. Only |c|^2 - 2 x c matters
for which center is nearest; |x|^2 is added to the smallest of them. What is left below `slack`
times |x|^2 is rounding: such a row is a copy of its center, and the distance is set to zero.

Layout: dense centers are (clusters, features). With sparse rows they are (terms, clusters), padded
with zeros, so that a non-zero reads one contiguous run.

Dense products come from the caller (BLAS). Only reassociation and contraction are allowed to the
compiler, so NaN and infinity keep their meaning.
"""

import numpy as np
from numba import njit

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
_SUMS = {**_OPTIONS, "fastmath": {"reassoc", "contract"}}
_u = np.uint64
_BLOCK = 512  # dense rows whose distances to a trial are summed together

MAX_TRIALS = 8  # candidates that k-means++ compares at most: with sparse rows they go side by side


@njit(**_SUMS)
def squared_lengths(X):
    """Return |x|^2 of dense rows, in double precision."""
    out = np.empty(X.shape[0])
    for i in range(_u(X.shape[0])):
        row, total = X[i], 0.0
        for d in range(_u(X.shape[1])):
            total += np.float64(row[d]) * np.float64(row[d])
        out[i] = total
    return out


@njit(**_OPTIONS)
def draw_rows(closest, total, shares):
    """Return rows drawn in proportion to closest (rows,), whose sum is total.

    shares (trials,) are uniform in [0, 1), in ascending order.
    """
    rows = np.empty(shares.shape[0], np.int64)
    reached, last, t = 0.0, 0, 0
    for i in range(_u(closest.shape[0])):
        if closest[i] <= 0.0:
            continue
        reached, last = reached + closest[i], i
        while t < rows.shape[0] and shares[t] * total < reached:
            rows[t] = i
            t += 1
    rows[t:] = last  # where rounding left the sum below the total
    return rows


@njit(**_SUMS)
def closer_dense(by_feature, trials, closest, out):
    """Fill out (trials, rows) with the smaller of closest and the distance to each trial.

    by_feature (features, rows) are the rows, so that many distances grow side by side.
    """
    n_features, n_rows = by_feature.shape
    sums = np.empty(_BLOCK, by_feature.dtype)
    for start in range(0, n_rows, _BLOCK):
        stop = min(start + _BLOCK, n_rows)
        size = _u(stop - start)
        for t in range(trials.shape[0]):
            center, d = by_feature[:, trials[t]], 0
            sums[:] = 0
            while d + 4 <= n_features:  # four features at a time: sums are read and written less
                # slices of one row: numba knows that these are contiguous
                a, b = by_feature[d, start:stop], by_feature[d + 1, start:stop]
                c, e = by_feature[d + 2, start:stop], by_feature[d + 3, start:stop]
                ca, cb, cc, ce = center[d], center[d + 1], center[d + 2], center[d + 3]
                for i in range(size):
                    da, db, dc, de = a[i] - ca, b[i] - cb, c[i] - cc, e[i] - ce
                    sums[i] += (da * da + db * db) + (dc * dc + de * de)
                d += 4
            while d < n_features:
                a, ca = by_feature[d, start:stop], center[d]
                for i in range(size):
                    sums[i] += (a[i] - ca) * (a[i] - ca)
                d += 1
            near, found = closest[start:stop], out[t, start:stop]
            for i in range(size):
                found[i] = min(near[i], np.float64(sums[i]))


@njit(**_SUMS)
def closer_sparse(indptr, indices, data, lengths, slack, trials, closest, by_term, out):
    """Fill out (trials, rows) with the smaller of closest and the distance to each trial.

    by_term (terms, MAX_TRIALS) is all zeros, and is so again in the end.
    """
    _scatter(indptr, indices, data, trials, False, by_term)
    products = np.empty(MAX_TRIALS, data.dtype)
    for i in range(_u(lengths.shape[0])):
        products[:] = 0
        for j in range(_u(indptr[i]), _u(indptr[i + _u(1)])):
            term, value = by_term[indices[j]], data[j]
            for t in range(MAX_TRIALS):
                products[t] += value * term[t]
        for t in range(trials.shape[0]):
            both = lengths[i] + lengths[trials[t]]
            distance = both - 2.0 * np.float64(products[t])
            out[t, i] = min(closest[i], distance if distance > slack * both else 0.0)
    _scatter(indptr, indices, data, trials, True, by_term)


@njit(**_OPTIONS)
def _scatter(indptr, indices, data, rows, clear, by_term):
    """Write sparse rows into the columns of by_term, or zeros in their place."""
    for t in range(rows.shape[0]):
        for j in range(indptr[rows[t]], indptr[rows[t] + 1]):
            by_term[indices[j], t] = by_term.dtype.type(0) if clear else data[j]


@njit(**_SUMS)
def best_trial(found):
    """Return which of found (trials, rows) has the smallest sum, and that sum."""
    best, smallest = 0, np.inf
    for t in range(found.shape[0]):
        row, total = found[t], 0.0
        for i in range(_u(row.shape[0])):
            total += row[i]
        if total < smallest:
            best, smallest = t, total
    return best, smallest


@njit(**_OPTIONS)
def nearest_by_scores(scores, lengths, slack, labels, distances):
    """Fill labels and squared distances (rows,) of the nearest centers; return how many changed.

    scores (clusters, rows) are |c|^2 - 2 x c, and lengths (rows,) |x|^2.
    """
    best, where = scores[0].copy(), np.zeros(scores.shape[1], np.int32)
    for k in range(1, scores.shape[0]):
        row = scores[k]
        for i in range(_u(best.shape[0])):
            closer = row[i] < best[i]
            best[i] = row[i] if closer else best[i]
            where[i] = k if closer else where[i]
    n_changed = 0
    for i in range(_u(best.shape[0])):
        n_changed += labels[i] != where[i]
        labels[i] = where[i]
        distance = lengths[i] + np.float64(best[i])
        distances[i] = distance if distance > slack * lengths[i] else 0.0
    return n_changed


@njit(**_SUMS)
def nearest_sparse(indptr, indices, data, lengths, slack, by_term, bias, labels, distances):
    """Fill labels and squared distances (rows,) of the nearest centers; return how many changed.

    by_term (terms, clusters) are the centers, bias (clusters,) their |c|^2, infinite where padded.
    """
    n_clusters = _u(by_term.shape[1])
    scores = np.empty(n_clusters, by_term.dtype)
    two = by_term.dtype.type(2)
    n_changed = 0
    for i in range(_u(lengths.shape[0])):
        for k in range(n_clusters):  # assigning arrays to arrays takes seconds to compile
            scores[k] = bias[k]
        j, end = _u(indptr[i]), _u(indptr[i + _u(1)])
        while j + _u(4) <= end:  # four non-zeros at a time
            j1, j2, j3 = j + _u(1), j + _u(2), j + _u(3)
            a, b = by_term[indices[j]], by_term[indices[j1]]
            c, d = by_term[indices[j2]], by_term[indices[j3]]
            va, vb, vc, vd = two * data[j], two * data[j1], two * data[j2], two * data[j3]
            for k in range(n_clusters):
                scores[k] -= (va * a[k] + vb * b[k]) + (vc * c[k] + vd * d[k])
            j += _u(4)
        while j < end:
            a, va = by_term[indices[j]], two * data[j]
            for k in range(n_clusters):
                scores[k] -= va * a[k]
            j += _u(1)
        where = np.argmin(scores)
        n_changed += labels[i] != where
        labels[i] = where
        distance = lengths[i] + np.float64(scores[where])
        distances[i] = distance if distance > slack * lengths[i] else 0.0
    return n_changed


@njit(**_OPTIONS)
def refill(counts, labels, distances):
    """Give each empty cluster the row farthest from its center; changes all three arrays.

    A row that is alone in its cluster or sits on its center stays, so some may remain empty.
    """
    for k in range(counts.shape[0]):
        if counts[k] > 0:
            continue
        farthest, distance = -1, 0.0
        for i in range(distances.shape[0]):
            if distances[i] > distance and counts[labels[i]] > 1:
                farthest, distance = i, distances[i]
        if farthest < 0:
            return
        counts[labels[farthest]] -= 1
        counts[k], labels[farthest], distances[farthest] = 1, k, 0.0


@njit(**_OPTIONS)
def means_dense(X, labels, counts, centers):
    """Fill the centers (clusters, features) with means of rows; empty ones stay as they were."""
    sums = np.zeros(centers.shape)
    for i in range(_u(X.shape[0])):
        row, total = X[i], sums[labels[i]]
        for d in range(_u(X.shape[1])):
            total[d] += row[d]
    for k in range(_u(centers.shape[0])):
        if counts[k] > 0:
            for d in range(_u(X.shape[1])):
                centers[k, d] = sums[k, d] / counts[k]


@njit(**_OPTIONS)
def means_sparse(indptr, indices, data, labels, counts, sums, by_term):
    """Fill by_term (terms, clusters) with the means of rows; empty clusters stay as they were.

    sums is a buffer of the same shape, in double precision.
    """
    sums[:] = 0.0
    for i in range(_u(labels.shape[0])):
        k = _u(labels[i])
        for j in range(_u(indptr[i]), _u(indptr[i + _u(1)])):
            sums[indices[j], k] += data[j]
    n_clusters = _u(counts.shape[0])
    share, old = np.zeros(n_clusters), np.ones(n_clusters)
    for k in range(n_clusters):
        if counts[k] > 0:
            share[k], old[k] = 1.0 / counts[k], 0.0
    for w in range(_u(by_term.shape[0])):
        into, total = by_term[w], sums[w]
        for k in range(n_clusters):
            into[k] = share[k] * total[k] + old[k] * into[k]


@njit(**_SUMS)
def squared_columns(by_term, n_clusters):
    """Return |c|^2 of centers (terms, clusters) in their precision, infinite where padded."""
    total = np.zeros(by_term.shape[1])
    for w in range(_u(by_term.shape[0])):
        row = by_term[w]
        for k in range(_u(by_term.shape[1])):
            total[k] += np.float64(row[k]) * np.float64(row[k])
    total[n_clusters:] = np.inf
    return total.astype(by_term.dtype)
