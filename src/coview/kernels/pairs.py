r"""Similarities of pairs of documents in several views, their disagreement, and steps that lessen it.

For a pair p = (i, j) and a view v, with u = h_i - h_j the difference of the two mixtures of the view,

    s_v(p) = exp(-|u|^2 / sigma)                                                       (000, Eq. 7)

is kept for all pairs (views, pairs), computed once and used for every two views; ABSENT stands for a
pair of which a document lacks the view. Sums over pairs go by document, each over its own pairs in a
fixed order, so no two documents write to the same place and the bits do not depend on who computes.
"""

import numpy as np
from numba import njit

ABSENT = -1.0  # no similarity is negative

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
_SUMS = {**_OPTIONS, "fastmath": {"reassoc", "contract"}}

# Counts come with or without padding, hence with any stride: compiled once for all of them.
_SAFE = [f"void({t}[:, :], f8[:, ::1], b1[:], f8[:, ::1])" for t in ("f4", "f8")]
_LOG = [f"f8({t}[:, :], f8[:, ::1], f8[:, ::1], f8)" for t in ("f4", "f8")]
_BLEND = [f"void(f8[:, ::1], f8[:, ::1], f8, f8, {t}[:, :])" for t in ("f4", "f8")]


@njit(**_SUMS)
def similarities(pairs, theta, has_view, sigma, out):
    """out (pairs,) = s(p) for theta (documents, topics); ABSENT where has_view lacks a document."""
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        if not (has_view[i] and has_view[j]):
            out[p] = ABSENT
            continue
        a, b = theta[i], theta[j]
        square = 0.0
        for k in range(theta.shape[1]):
            square += (a[k] - b[k]) * (a[k] - b[k])
        out[p] = np.exp(-square / sigma)  # Eq. 7


@njit(**_OPTIONS)
def disagreement(sims):
    """Sum over v < w of |S^v - S^w|^2 for sims (views, pairs): each pair stands for (i,j) and (j,i)."""
    total = 0.0
    for v in range(sims.shape[0]):
        for w in range(v):
            here = 0.0
            for p in range(sims.shape[1]):
                if sims[v, p] >= 0.0 and sims[w, p] >= 0.0:
                    here += 2.0 * (sims[v, p] - sims[w, p]) ** 2  # Eq. 6
            total += here
    return total


@njit(**_OPTIONS)
def pulls(sims, v, factor, out):
    """out (pairs,) = factor s_v sum_w (s_v - s_w), over the views w that share the pair with v."""
    for p in range(sims.shape[1]):
        own = sims[v, p]
        total = 0.0
        if own >= 0.0:
            for w in range(sims.shape[0]):
                if sims[w, p] >= 0.0:
                    total += own - sims[w, p]
        out[p] = factor * own * total


@njit(**_SUMS)
def gather(pairs, first, second, into_second, pull, theta, out):
    """out (documents, topics): row d is the sum of pull(p) (h_d - h_other) over the pairs of d.

    Pairs are sorted: those that begin with d are first[d] to first[d + 1]; those that end with d are
    into_second[second[d]] to into_second[second[d + 1]]. Both pointers may end before the documents.
    """
    out[:] = 0.0
    for d in range(first.shape[0] - 1):
        own, total = theta[d], out[d]
        for p in range(first[d], first[d + 1]):
            other = theta[pairs[p, 1]]
            for k in range(theta.shape[1]):
                total[k] += pull[p] * (own[k] - other[k])
        for q in range(second[d], second[d + 1]):
            p = into_second[q]
            other = theta[pairs[p, 0]]
            for k in range(theta.shape[1]):
                total[k] += pull[p] * (own[k] - other[k])


@njit(**_OPTIONS)
def _onto_simplex(row, old):
    """row to sum 1, in place; without mass it becomes old."""
    mass = 0.0
    for k in range(row.shape[0]):
        mass += row[k]
    for k in range(row.shape[0]):
        row[k] = row[k] / mass if mass > 0.0 else old[k]


@njit(_SAFE, **_OPTIONS)
def literal_target(counts, theta, keep, slope):
    """slope (documents, topics), in place: counts - slope theta, without its negative part, normalised.

    slope is lam dR/dp. Rows in `keep` and rows without mass become those of theta.
    """
    for d in range(theta.shape[0]):
        for k in range(theta.shape[1]):
            target = counts[d, k] - slope[d, k] * theta[d, k]  # Eq. 13 / 17
            slope[d, k] = target if target > 0.0 and not keep[d] else 0.0
        _onto_simplex(slope[d], theta[d])


@njit(_SAFE, **_OPTIONS)
def safe_target(counts, theta, keep, slope):
    """slope (documents, topics), in place: theta (g + c) normalised; g = counts / theta - slope.

    c is the least number for which g + c has no negative entry; an entry of theta that is 0 stays so.
    Rows in `keep` and rows without mass become those of theta.
    """
    for d in range(theta.shape[0]):
        least = 0.0
        for k in range(theta.shape[1]):
            if theta[d, k] > 0.0:
                slope[d, k] = counts[d, k] / theta[d, k] - slope[d, k]
                least = min(least, slope[d, k])
        for k in range(theta.shape[1]):
            moves = theta[d, k] > 0.0 and not keep[d]
            slope[d, k] = theta[d, k] * (slope[d, k] - least) if moves else 0.0
        _onto_simplex(slope[d], theta[d])


@njit(**_SUMS)
def directions(pairs, theta, target, along, square):
    """Fill along = u'du and square = |du|^2 (pairs,), du being how u changes from theta to target.

    After a share t of the way |u|^2 has grown by t (2 along + t square): no step size tried after
    this needs the mixtures again.
    """
    for p in range(pairs.shape[0]):
        a, b = theta[pairs[p, 0]], theta[pairs[p, 1]]
        c, d = target[pairs[p, 0]], target[pairs[p, 1]]
        x, y = 0.0, 0.0
        for k in range(theta.shape[1]):
            u = a[k] - b[k]
            du = c[k] - d[k] - u
            x += u * du
            y += du * du
        along[p] = x
        square[p] = y


@njit(**_OPTIONS)
def disagreement_growth(sims, v, along, square, share, sigma, moved):
    """By how much `disagreement` grows when view v goes `share` of its way; fills moved (pairs,) = s_v.

    As a sum of differences, not a difference of sums: near a maximum the rounding of the sums would hide it.
    """
    total = 0.0
    for p in range(sims.shape[1]):
        own = sims[v, p]
        change = 0.0
        if own >= 0.0:
            change = own * np.expm1(-share * (2.0 * along[p] + share * square[p]) / sigma)
        moved[p] = own + change
        if change != 0.0:
            lever = 0.0
            for w in range(sims.shape[0]):
                if w != v and sims[w, p] >= 0.0:
                    lever += 2.0 * (own - sims[w, p]) + change
            total += 2.0 * change * lever
    return total


@njit(_LOG, **_OPTIONS)
def expected_log_growth(counts, theta, target, share):
    """By how much sum counts log(theta) grows on `share` of the way; -inf where a counted entry ends at 0."""
    total = 0.0
    for d in range(theta.shape[0]):
        here = 0.0
        for k in range(theta.shape[1]):
            old = theta[d, k]
            if counts[d, k] > 0.0 and old > 0.0 and target[d, k] != old:
                growth = share * (target[d, k] - old) / old
                # below, 1 + growth has lost the digits of a small target
                if growth < -0.5:
                    here += counts[d, k] * np.log(
                        ((1.0 - share) * old + share * target[d, k]) / old
                    )
                else:
                    here += counts[d, k] * np.log1p(growth)
        total += here
        if total == -np.inf:
            break
    return total


@njit(_BLEND, **_OPTIONS)
def blend(theta, target, share, tiny, out):
    """out (documents, topics) = `share` of the way from theta to target; what did not move keeps its bits.

    Entries that fell below `tiny` become 0, as in `normalize_rows`.
    """
    for d in range(theta.shape[0]):
        for k in range(theta.shape[1]):
            if target[d, k] == theta[d, k]:
                out[d, k] = theta[d, k]
                continue
            value = (1.0 - share) * theta[d, k] + share * target[d, k]
            out[d, k] = value if value >= tiny else 0.0
