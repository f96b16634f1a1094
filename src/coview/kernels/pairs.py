r"""Kernels of `em.penalties.similarity`: similarities of pairs, and steps toward agreement.

For a pair p = (i, j) and a view v, with u = h_i - h_j the difference of the two mixtures,

    s_v(p) = exp(-|u|^2 / sigma)                                                            (7)

is computed once for all pairs (views, pairs) and used for every two views; ABSENT stands for a pair
of which a document lacks the view. Each document sums over its own pairs in a fixed order, so that
no two documents write to the same place. The mixtures of pairs are all over the memory, so those of
pairs to come are asked for ahead: without that, time would grow faster than the documents as soon
as the mixtures leave the caches. Equation numbers are those of Jiang et al. (2012).
"""

import numpy as np
from numba import njit

from coview.kernels.prefetch import prefetch_row

ABSENT = -1.0  # no similarity is negative

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
_SUMS = {**_OPTIONS, "fastmath": {"reassoc", "contract"}}
_u = np.uint64
_AHEAD = 12  # pairs between one whose mixtures are asked for and the one that is worked on

# Counts come with or without padding, hence with any stride: compiled once for all of them.
_PAPER = [f"void({t}[:, :], f8[:, ::1], b1[:], f8[:, ::1])" for t in ("f4", "f8")]
_SAFE = [f"void({t}[:, :], f8[:, ::1], b1[:], f8, f8[:, ::1])" for t in ("f4", "f8")]
_GROWTH = [f"f8({t}[:, :], f8[:, ::1], f8[:, ::1], f8)" for t in ("f4", "f8")]
_BLEND = [f"void(f8[:, ::1], f8[:, ::1], f8, f8, {t}[:, :])" for t in ("f4", "f8")]


@njit(**_SUMS)
def similarities(pairs, theta, has_view, sigma, out):
    """out (pairs,) = s(p) for theta (documents, topics); ABSENT if a document lacks the view."""
    for p in range(pairs.shape[0]):
        if p + _AHEAD < pairs.shape[0]:  # pairs are sorted: the first documents come in sequence
            prefetch_row(theta, pairs[p + _AHEAD, 1])
        i, j = pairs[p, 0], pairs[p, 1]
        if not (has_view[i] and has_view[j]):
            out[p] = ABSENT
            continue
        a, b = theta[i], theta[j]
        square = 0.0
        for k in range(theta.shape[1]):
            square += (a[k] - b[k]) * (a[k] - b[k])
        out[p] = np.exp(-square / sigma)  # (7)


@njit(**_OPTIONS)
def disagreement(sims, factors):
    """Return the sum over v < w of factors[v, w] |S^v - S^w|^2, sims being (views, pairs).

    A pair stands for (i, j) and (j, i), hence the 2.
    """
    total = 0.0
    for v in range(sims.shape[0]):
        for w in range(v):
            here = 0.0
            for p in range(sims.shape[1]):
                if sims[v, p] >= 0.0 and sims[w, p] >= 0.0:
                    here += 2.0 * (sims[v, p] - sims[w, p]) ** 2  # (6)
            total += factors[v, w] * here
    return total


@njit(**_OPTIONS)
def pulls(sims, v, factors, factor, out):
    """out (pairs,) = factor s_v sum_w factors[v, w] (s_v - s_w), over views w with the pair."""
    for p in range(sims.shape[1]):
        own = sims[v, p]
        total = 0.0
        if own >= 0.0:
            for w in range(sims.shape[0]):
                if sims[w, p] >= 0.0:
                    total += factors[v, w] * (own - sims[w, p])
        out[p] = factor * own * total  # (14), but for the difference of the mixtures


@njit(**_SUMS)
def gather(indptr, others, index, pull, theta, out):
    """out (documents, topics): row d is the sum of pull(p) (h_d - h_other) over the pairs p of d.

    The pairs of d are index[indptr[d]:indptr[d + 1]], their other documents the same part of
    others; indptr may end before the documents do. Four pairs at a time, since their rows come from
    the outer caches. Differences are taken first, so that equal mixtures contribute exactly 0.
    """
    n_topics, n_all = _u(theta.shape[1]), _u(others.shape[0])
    pull_rows = pull.reshape((pull.shape[0], 1))
    out[:] = 0.0
    for d in range(_u(indptr.shape[0] - 1)):
        own, total = theta[d], out[d]
        q, end = _u(indptr[d]), _u(indptr[d + _u(1)])
        while q + _u(4) <= end:
            q1, q2, q3 = q + _u(1), q + _u(2), q + _u(3)
            if q + _u(_AHEAD + 4) <= n_all:  # also those of the next document
                for ahead in range(_u(_AHEAD), _u(_AHEAD + 4)):
                    prefetch_row(theta, others[q + ahead])
                    prefetch_row(pull_rows, index[q + ahead])
            a, b, c, e = theta[others[q]], theta[others[q1]], theta[others[q2]], theta[others[q3]]
            pa, pb, pc, pe = pull[index[q]], pull[index[q1]], pull[index[q2]], pull[index[q3]]
            for k in range(n_topics):
                x = own[k]
                total[k] += (pa * (x - a[k]) + pb * (x - b[k])) + (
                    pc * (x - c[k]) + pe * (x - e[k])
                )
            q += _u(4)
        while q < end:
            a, pa = theta[others[q]], pull[index[q]]
            for k in range(n_topics):
                total[k] += pa * (own[k] - a[k])
            q += _u(1)


@njit(_PAPER, **_OPTIONS)
def paper_target(counts, theta, keep, slope):
    """Turn slope (documents, topics), in place, into counts - slope theta, cut at 0, normalized.

    slope is lam dR/dp. Rows in `keep` and rows without mass become those of theta.
    """
    for d in range(theta.shape[0]):
        mass = 0.0
        for k in range(theta.shape[1]):
            slope[d, k] = max(0.0, counts[d, k] - slope[d, k] * theta[d, k])  # (13), (17)
            mass += slope[d, k]
        moves = mass > 0.0 and not keep[d]
        for k in range(theta.shape[1]):
            slope[d, k] = slope[d, k] / mass if moves else theta[d, k]


@njit(_SAFE, **_OPTIONS)
def safe_target(counts, theta, keep, reach, slope):
    """Turn slope (documents, topics), in place, into the target of the safe step.

    The target is theta (g + c) normalized, with g = counts / theta - slope and the least c >= 0 for
    which g + c has no negative entry. If c > 0, the document goes `reach` of the way. An entry of
    theta that is 0 stays 0. Rows in `keep` and rows without mass become those of theta.
    """
    for d in range(theta.shape[0]):
        least, mass = 0.0, 0.0
        for k in range(theta.shape[1]):
            if theta[d, k] > 0.0:
                slope[d, k] = counts[d, k] / theta[d, k] - slope[d, k]
                least = min(least, slope[d, k])
        for k in range(theta.shape[1]):
            slope[d, k] = theta[d, k] * (slope[d, k] - least) if theta[d, k] > 0.0 else 0.0
            mass += slope[d, k]
        moves = mass > 0.0 and not keep[d]
        far = reach if least < 0.0 else 1.0
        for k in range(theta.shape[1]):
            share = slope[d, k] / mass
            slope[d, k] = (1.0 - far) * theta[d, k] + far * share if moves else theta[d, k]


@njit(**_SUMS)
def directions(pairs, theta, target, square, along, change):
    """Fill square = |u|^2, along = u'du, change = |du|^2 (pairs,); du is u at target less u.

    After a share t of the way |u|^2 has become square + t (2 along + t change), so that no step
    size tried later needs the mixtures again.
    """
    for p in range(pairs.shape[0]):
        if p + _AHEAD < pairs.shape[0]:
            prefetch_row(theta, pairs[p + _AHEAD, 1])
            prefetch_row(target, pairs[p + _AHEAD, 1])
        a, b = theta[pairs[p, 0]], theta[pairs[p, 1]]
        c, d = target[pairs[p, 0]], target[pairs[p, 1]]
        x, y, z = 0.0, 0.0, 0.0
        for k in range(theta.shape[1]):
            u = a[k] - b[k]
            du = (c[k] - d[k]) - u
            x += u * u
            y += u * du
            z += du * du
        square[p], along[p], change[p] = x, y, z


@njit(**_OPTIONS)
def disagreement_growth(sims, v, factors, way, share, sigma, moved):
    """Return the growth of `disagreement` when view v goes `share` of its way; fill moved with s_v.

    way (3, pairs) is what `directions` found. A sum of differences, not a difference of sums: near
    a maximum the rounding of the sums would be larger than what is left to gain.
    """
    total = 0.0
    for p in range(sims.shape[1]):
        own = sims[v, p]
        if own < 0.0:
            moved[p] = own
            continue
        farther = share * (2.0 * way[1, p] + share * way[2, p])
        if farther > -sigma:
            growth = own * np.expm1(-farther / sigma)
        else:  # a small sigma may have let own underflow
            growth = np.exp(-(way[0, p] + farther) / sigma) - own
        moved[p] = own + growth
        for w in range(sims.shape[0]):
            if w != v and sims[w, p] >= 0.0:
                change = 2.0 * growth * (2.0 * (own - sims[w, p]) + growth)
                total += factors[v, w] * change
    return total


@njit(_GROWTH, **_OPTIONS)
def expected_log_growth(counts, theta, target, share):
    """Return the growth of sum counts log(theta); -inf if an entry with counts becomes 0."""
    total = 0.0
    for d in range(theta.shape[0]):
        here = 0.0
        for k in range(theta.shape[1]):
            old = theta[d, k]
            if counts[d, k] > 0.0 and old > 0.0:
                growth = share * (target[d, k] - old) / old
                if growth > -0.5:
                    here += counts[d, k] * np.log1p(growth)
                else:  # 1 + growth would have lost the digits of a small target
                    new = (1.0 - share) * old + share * target[d, k]
                    here += counts[d, k] * np.log(new / old)
        total += here
        if total == -np.inf:
            break
    return total


@njit(_BLEND, **_OPTIONS)
def blend(theta, target, share, tiny, out):
    """out (documents, topics) = `share` of the way to target; what does not move keeps its bits.

    Entries that fall below `tiny` become 0, as in `normalize_rows`.
    """
    for d in range(theta.shape[0]):
        for k in range(theta.shape[1]):
            value = (1.0 - share) * theta[d, k] + share * target[d, k]
            if target[d, k] == theta[d, k]:
                out[d, k] = theta[d, k]
            else:
                out[d, k] = value if value >= tiny else 0.0
