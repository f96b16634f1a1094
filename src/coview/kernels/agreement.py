r"""The M-step of mixtures that are to agree across the views of a document.

For a document with counts Q (views, topics) and strength lam it is the maximizer of the concave

    F(h) = sum_v sum_k Q_vk log h_vk - lam sum_{v<w} D(h_v, h_w),    sum_k h_vk = 1,  h >= 0.

`coview.em.penalties.divergence` tells how it is found, and why that way. Views come first and
topics last in every array: the innermost loops run over topics and become vector instructions. They
index whole arrays, because taking a row of an array costs as much as computing with it.
"""

import math
from collections import namedtuple

import numpy as np
from numba import njit

SKL, L2, L1 = 0, 1, 2

_FAST = {"reassoc", "contract"}
_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": _FAST}
_MAX_ITER = 60

_Work = namedtuple(
    "_Work",
    "excess inverse scale rhs slack log "  # (views, topics)
    "weight factor lower apart "  # (views, views, topics)
    "x s dx ds ix js q spring lag "  # the same, flat
    "schur multiplier eta",  # (views, views) and (views,)
)


@njit(**_OPTIONS)
def solve(kind, counts, strengths, views, n_present, tol, rows):
    """The maximizer of F for each document, into the rows of its present views; others stay.

    counts and rows (documents, views, topics), the counts with mass 1 in the present views of each
    document; strengths (documents,), up to 1e9; views (documents, views): first the present ones,
    n_present (documents,) of them. tol: of log h for skl, of F otherwise.
    """
    n_docs, n_views, m = counts.shape
    q, h, share = np.zeros((n_views, m)), np.zeros((n_views, m)), np.zeros(m)
    t = _work(n_views, m)
    for d in range(n_docs):
        n, lam = n_present[d], strengths[d]
        share[:] = 0.0 if kind == SKL else 1.0 / (n * m)
        for v in range(n):
            for k in range(m):
                q[v, k] = counts[d, views[d, v], k]
                share[k] += q[v, k]
        _guess(n, m, q, lam, 0.0 if kind == SKL else 1.0 / (n * m), share, h)
        if kind == SKL:
            _newton(kind, n, m, q, lam, tol, h, t)
        else:
            _interior(kind, n, m, q, lam, tol, h, t)
        for v in range(n):
            for k in range(m):
                rows[d, views[d, v], k] = h[v, k]


@njit(**_OPTIONS)
def _guess(n, m, q, lam, least, share, h):
    """Rows between those without coupling and those that agree."""
    for v in range(n):
        total = 0.0
        for k in range(m):
            h[v, k] = q[v, k] + least + n * lam * share[k]
            total += h[v, k]
        for k in range(m):
            h[v, k] /= total


@njit(**_OPTIONS)
def _work(n, m):
    a, b, c = np.zeros((6, n, m)), np.zeros((4, n, n, m)), np.zeros((9, n * n * m))
    one, two = (a[0], a[1], a[2], a[3], a[4], a[5]), (b[0], b[1], b[2], b[3])
    flat = (c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8])
    return _Work(*one, *two, *flat, np.zeros((n, n)), np.zeros(n), np.zeros(n))


# --- Newton systems: M x + scale multiplier = rhs in each topic, sum_k scale x given for each view


@njit(**_OPTIONS)
def _factor(n, m, t):
    """Factor M = diag(excess) + Laplacian(weight) of n views for each of m topics.

    Eliminating with the excess of the diagonal over the rest adds positive numbers only, so that
    weights a million times the excess do no harm. lower becomes L^-1 scale, and schur the
    Cholesky factor of sum_k scale M^-1 scale.
    """
    excess, inverse, weight, factor, lower = t.excess, t.inverse, t.weight, t.factor, t.lower
    scale, schur = t.scale, t.schur
    for v in range(n):
        for k in range(m):
            inverse[v, k] = excess[v, k]
        for w in range(v + 1, n):
            for k in range(m):
                inverse[v, k] += weight[v, w, k]
        for k in range(m):
            inverse[v, k] = 1.0 / inverse[v, k]
        for w in range(v + 1, n):
            for k in range(m):
                factor[v, w, k] = weight[v, w, k] * inverse[v, k]
                excess[w, k] += factor[v, w, k] * excess[v, k]
            for u in range(w + 1, n):
                for k in range(m):
                    weight[w, u, k] += factor[v, w, k] * weight[v, u, k]
    for v in range(n):
        for k in range(m):
            lower[v, v, k] = scale[v, k]
        for w in range(v + 1, n):
            for k in range(m):
                lower[v, w, k] = factor[v, w, k] * lower[v, v, k]
            for u in range(v + 1, w):
                for k in range(m):
                    lower[v, w, k] += factor[u, w, k] * lower[v, u, k]
        for w in range(v + 1):
            total = 0.0
            for u in range(v, n):
                for k in range(m):
                    total += lower[v, u, k] * lower[w, u, k] * inverse[u, k]
            least = 1e-16 * total
            for u in range(w):
                total -= schur[v, u] * schur[w, u]
            schur[v, w] = total / schur[w, w] if w < v else math.sqrt(max(total, least))


@njit(**_OPTIONS)
def _solve(kind, n, m, t):
    """Turn rhs into x, and multiplier, which holds -sum_k scale x, into the multiplier.

    For l1 also x_v - x_w of all pairs, free of the cancellation that large weights bring.
    """
    x, multiplier, schur, factor, lower = t.rhs, t.multiplier, t.schur, t.factor, t.lower
    excess, inverse, between = t.excess, t.inverse, t.apart
    for v in range(n):
        for w in range(v + 1, n):
            for k in range(m):
                x[w, k] += factor[v, w, k] * x[v, k]
    for v in range(n):
        total = multiplier[v]
        for w in range(v, n):
            for k in range(m):
                total += lower[v, w, k] * inverse[w, k] * x[w, k]
        for u in range(v):
            total -= schur[v, u] * multiplier[u]
        multiplier[v] = total / schur[v, v]
    for v in range(n - 1, -1, -1):
        for u in range(v + 1, n):
            multiplier[v] -= schur[u, v] * multiplier[u]
        multiplier[v] /= schur[v, v]
        for w in range(v, n):
            for k in range(m):
                x[w, k] -= lower[v, w, k] * multiplier[v]
    for v in range(n - 1, -1, -1):
        for k in range(m):
            x[v, k] *= inverse[v, k]
        for w in range(v + 1, n if kind == L1 else 0):
            for k in range(m):
                between[v, w, k] = x[v, k] - excess[v, k] * inverse[v, k] * x[w, k]
            for u in range(v + 1, n):
                if u != w:
                    for k in range(m):
                        between[v, w, k] += factor[v, u, k] * between[u, w, k]
            for k in range(m):
                between[w, v, k] = -between[v, w, k]
        for w in range(v + 1, n):
            for k in range(m):
                x[v, k] += factor[v, w, k] * x[w, k]


# --- symmetric Kullback-Leibler: Newton's method in log h ------------------------------------


@njit(**_OPTIONS)
def _newton(kind, n, m, counts, lam, tol, h, t):
    """h (n, m), a guess, becomes the maximizer."""
    log, new, new_log = t.log, t.apart[0], t.apart[1]
    for v in range(n):
        for k in range(m):
            log[v, k] = math.log(h[v, k]) if h[v, k] > 0.0 else -1e300  # a topic without counts
    t.rhs[:] = 0.0
    best = _log_step(n, m, counts, lam, log, 0.0, t.rhs, new, new_log)
    whole = step = 1.0
    for _ in range(_MAX_ITER):
        _log_system(n, m, counts, lam, h, log, step < whole, t)
        _factor(n, m, t)
        t.multiplier[:n] = 0.0
        _solve(kind, n, m, t)
        far = 0.0
        for v in range(n):
            for k in range(m):
                far = max(far, abs(t.rhs[v, k]))
        whole = step = min(1.0, 30.0 / far)
        value = _log_step(n, m, counts, lam, log, step, t.rhs, new, new_log)
        while value < best - 1e-14 * (1.0 + lam) and step > 1e-9:
            step *= 0.25
            value = _log_step(n, m, counts, lam, log, step, t.rhs, new, new_log)
        best = value
        for v in range(n):
            for k in range(m):
                h[v, k], log[v, k] = new[v, k], new_log[v, k]
        if far <= tol and step == 1.0:
            break


@njit(**_OPTIONS)
def _log_system(n, m, counts, lam, h, log, plain, t):
    """The equations (11b) at h, linear in log h; `plain`: (11a), whose step always ascends."""
    excess, scale, rhs, weight, pull = t.excess, t.scale, t.rhs, t.weight, t.slack
    for v in range(n):
        for k in range(m):
            pull[v, k] = 0.0
            scale[v, k] = h[v, k]
    for v in range(n):
        for w in range(v + 1, n):
            for k in range(m):
                ratio, over = log[v, k] - log[w, k], h[v, k] - h[w, k]
                pull[v, k] += lam * (h[v, k] * ratio + over)
                pull[w, k] -= lam * (h[w, k] * ratio + over)
                weight[v, w, k] = lam * (h[v, k] + h[w, k])
    for v in range(n):
        eta = 0.0
        for k in range(m):
            eta += counts[v, k] - pull[v, k]
        for k in range(m):
            others = 0.0
            for w in range(n):
                others += h[w, k] if w != v else 0.0
            q, z = counts[v, k], h[v, k] * eta + pull[v, k]
            a, b = z + lam * others, q + lam * others
            excess[v, k] = max(q, z, 1e-300)
            rhs[v, k] = q - z
            if a > 0.0 and not plain:
                near = abs(q - z) < 0.1 * a
                rhs[v, k] = max(a, b) * (math.log1p((q - z) / a) if near else math.log(b / a))


@njit(**_OPTIONS)
def _log_step(n, m, counts, lam, log, step, x, new, new_log):
    """The rows a step away, back on the simplex, and their value."""
    value = 0.0
    for v in range(n):
        total = 0.0
        for k in range(m):
            new_log[v, k] = log[v, k] + step * x[v, k]
            new[v, k] = math.exp(new_log[v, k])
            total += new[v, k]
        shift = math.log(total)
        for k in range(m):
            new_log[v, k] -= shift
            new[v, k] /= total
            value += counts[v, k] * new_log[v, k]
        for w in range(v):
            for k in range(m):
                value -= lam * (new[v, k] - new[w, k]) * (new_log[v, k] - new_log[w, k])
    return value


# --- l2 and l1: primal-dual interior points --------------------------------------------------
# Flat arrays of x >= 0, its dual s >= 0 and q, where x s = q: first the views' h with their counts;
# for l1 then the part of h_v above h_w with q = 0, for all w = v + 1, for all w = v + 2, ...


@njit(**_OPTIONS)
def _interior(kind, n, m, counts, lam, tol, h, t):
    """h (n, m), a positive guess, becomes the maximizer."""
    size, best = n * m * (n if kind == L1 else 1), np.inf
    x, s, dx, ds, eta = t.x, t.s, t.dx, t.ds, t.eta
    _start(kind, n, m, counts, lam, h, t)
    for _ in range(_MAX_ITER):
        gap, error = _gap(size, 0.0, t), _system(kind, n, m, lam, t)
        if gap + error < best:
            best = gap + error
            for v in range(n):
                for k in range(m):  # what is negligible as (10') has it: exactly 0 without counts
                    share, exact = x[v * m + k], counts[v, k] / s[v * m + k]
                    h[v, k] = exact if max(exact, share) < 1e-12 else share
        if gap <= tol and error <= max(tol, 1e-11) * (1.0 + lam):
            break
        _factor(n, m, t)
        step = _direction(kind, n, m, 0.0, 0.0, t)
        target = min(1.0, (_gap(size, step, t) / gap) ** 3) * gap / size
        step = _direction(kind, n, m, target, 1.0, t)
        if step < 0.1:  # close to a boundary: back to the middle first
            step = _direction(kind, n, m, gap / size, 0.0, t)
        if step < 1e-3 and gap < 1e-8:  # as far as rounding allows
            break
        step = min(1.0, max(0.9, 1.0 - gap) * step)
        for v in range(n):
            eta[v] += step * t.multiplier[v]
        for i in range(size):
            x[i] += step * dx[i]
            s[i] += step * ds[i]


@njit(**_OPTIONS)
def _start(kind, n, m, counts, lam, h, t):
    x, s, q, mean = t.x, t.s, t.q, 1.0 / (n * m)
    room = min(mean / lam, 1.0)
    t.dx[:] = 0.0
    t.ds[:] = 0.0
    for v in range(n):
        t.eta[v] = m * mean
        for k in range(m):
            i = v * m + k
            x[i], s[i], q[i] = h[v, k], (counts[v, k] + mean) / h[v, k], counts[v, k]
            t.eta[v] += counts[v, k]
            t.scale[v, k] = 1.0
        for j in range(1, n if kind == L1 else 1):
            w, a = (v + j) % n, (j * n + v) * m
            for k in range(m):
                above = max(h[v, k] - h[w, k], 0.0) + room
                below = max(h[w, k] - h[v, k], 0.0) + room
                x[a + k], s[a + k], q[a + k] = above, 2.0 * lam * below / (above + below), 0.0


@njit(**_OPTIONS)
def _gap(size, step, t):
    """sum |x s - q| a step ahead."""
    x, s, dx, ds, q, total = t.x, t.s, t.dx, t.ds, t.q, 0.0
    for i in range(size):
        total += abs((x[i] + step * dx[i]) * (s[i] + step * ds[i]) - q[i])
    return total


@njit(**_OPTIONS)
def _system(kind, n, m, lam, t):
    """The matrix at x and s; how far s is from (10') goes into slack, and its size is returned."""
    x, s, ix, js, slack, excess, weight = t.x, t.s, t.ix, t.js, t.slack, t.excess, t.weight
    spring, error = t.spring, 0.0
    for i in range(n * m * (n if kind == L1 else 1)):
        ix[i], js[i] = 1.0 / x[i], 1.0 / s[i]
    for v in range(n):
        total = -1.0
        for k in range(m):
            slack[v, k] = s[v * m + k] - t.eta[v]
            excess[v, k] = s[v * m + k] * ix[v * m + k]
            total += x[v * m + k]
        for j in range(1, n):
            w = (v + j) % n
            a, b = (j * n + v) * m, ((n - j) * n + w) * m
            if kind == L1:
                for k in range(m):
                    slack[v, k] -= 0.5 * (s[b + k] - s[a + k])
                    spring[a + k] = 1.0 / (x[a + k] * js[a + k] + x[b + k] * js[b + k])
                    weight[v, w, k] = spring[a + k]
            else:
                for k in range(m):
                    slack[v, k] -= lam * (x[v * m + k] - x[w * m + k])
                    weight[v, w, k] = lam
        error += abs(total)
        for k in range(m):
            error += x[v * m + k] * abs(slack[v, k])
    return error


@njit(**_OPTIONS)
def _direction(kind, n, m, target, again, t):
    """Newton's step dx, ds towards x s = q + target, and how far it can be followed, at most 1.

    again=1.0 takes the products of the steps that were found before into account.
    """
    x, s, dx, ds, ix, js, q, lag = t.x, t.s, t.dx, t.ds, t.ix, t.js, t.q, t.lag
    rhs, spring, far, layers = t.rhs, t.spring, 1.0, n if kind == L1 else 1
    for i in range(n * m * layers):
        ds[i] = q[i] + target - x[i] * s[i] - again * dx[i] * ds[i]
    for v in range(n):
        t.multiplier[v] = -1.0
        for k in range(m):
            t.multiplier[v] += x[v * m + k]
            rhs[v, k] = ds[v * m + k] * ix[v * m + k] + t.slack[v, k]
        for j in range(1, layers):
            a, b = (j * n + v) * m, ((n - j) * n + (v + j) % n) * m
            for k in range(m):
                lag[a + k] = ds[a + k] * js[a + k] - ds[b + k] * js[b + k]
                rhs[v, k] += spring[a + k] * lag[a + k]
    _solve(kind, n, m, t)
    for v in range(n):
        for k in range(m):
            i = v * m + k
            dx[i], ds[i] = rhs[v, k], (ds[i] - s[i] * rhs[v, k]) * ix[i]
        for j in range(1, layers):
            w, a = (v + j) % n, (j * n + v) * m
            for k in range(m):
                flow = spring[a + k] * (t.apart[v, w, k] - lag[a + k])
                dx[a + k], ds[a + k] = (ds[a + k] + x[a + k] * flow) * js[a + k], -flow
    for i in range(n * m * layers):
        far = max(far, -dx[i] * ix[i], -ds[i] * js[i])
    return 1.0 / far
