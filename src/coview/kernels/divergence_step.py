r"""Kernel of `em.penalties.divergence`: the joint M-step of the mixtures of a document's views.

What is solved. For a document with counts Q (views, topics) and strength lam, the maximizer of the
concave function

    F(h) = sum_v sum_k Q_vk log h_vk - lam sum_{v<w} D(h_v, h_w),    sum_k h_vk = 1,  h >= 0,   (10)

that is, h and multipliers eta_v with Q_vk / h_vk = eta_v + lam sum_w dD(h_v, h_w)/dh_vk     (10').
Equation numbers are those of `em.penalties.divergence`, which derives the method.

How. For skl, by Newton's method in log h (`_newton`). For l2 and l1, where h_vk = 0 is possible, by
a primal-dual interior-point method (`_interior`, Mehrotra's predictor-corrector). Its variables are
primal >= 0, which is h, and dual >= 0, the right side of (10'); their products are driven to
target = Q. For l1, |h_v - h_w| = above_vw + above_wv, and the parts above_vw = max(h_v - h_w, 0)
are further primal variables, one for each ordered pair of views, with target 0; they are eliminated
topic by topic, and leave a spring between h_v and h_w in the system.

The system. In all cases a Newton step x solves, for each topic k,

    M_k x_k + scale_k multiplier = rhs_k,    M_k = diag(excess_k) + Laplacian(weight_k),

one row for each view, with sum_k scale_vk x_vk given for each view v: the topics meet only in the
multipliers. `_factor` eliminates each M_k (V x V) and then the Schur complement of the multipliers
(V x V): O(K V^3) for V views and K topics.

Why it is stable. The diagonal of M_k is never formed: its excess over the sum of the weights is
kept, and elimination updates excess and weights by sums of positive numbers only. No digits cancel,
so lam may be a million times the counts. For l1, x_v - x_w comes from the same recursion.

Layout. Views come first and topics last in every array: the innermost loops run over topics and
become vector instructions. They index whole arrays, because taking a row of an array costs as much
as computing with it. n and m are the numbers of views and topics; flat arrays have view v and topic
k at v * m + k, and the part of h_v above h_w at ((w - v) % n * n + v) * m + k.
"""

import math
from collections import namedtuple

import numpy as np
from numba import njit

SKL, L2, L1 = 0, 1, 2  # kinds of divergence

_FAST = {"reassoc", "contract"}
_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": _FAST}
_MAX_ITER = 60

_BY_VIEW = (
    "excess",  # diagonal of M less its off-diagonal row sums
    "inverse",  # 1 / pivot of the elimination
    "scale",  # coefficients of the multipliers
    "rhs",  # right side of the Newton system; the solution after `_solve`
    "slack",  # residual of (10') in the dual variables; the pull of the other views for skl
    "log",  # log h, for skl
)
_BY_PAIR = (
    "weight",  # off-diagonal of -M: how strongly two views are tied together
    "factor",  # multipliers of the elimination
    "lower",  # L^-1 scale
    "apart",  # x_v - x_w of the solution, for l1; room for a trial step, for skl
)
_FLAT = (
    "primal",  # h, and for l1 the parts of h_v above h_w
    "dual",  # their dual variables
    "primal_step",
    "dual_step",
    "primal_inverse",  # 1 / primal
    "dual_inverse",  # 1 / dual
    "target",  # what primal * dual shall be: counts, and 0 for the parts
    "spring",  # weight between two views that the parts leave behind
    "lag",  # right side that the parts leave behind
)
_Work = namedtuple("_Work", (*_BY_VIEW, *_BY_PAIR, *_FLAT, "schur", "multiplier", "eta"))


@njit(**_OPTIONS)
def solve(kind, counts, strengths, views, n_present, tol, rows):
    """Write the maximizer of F into the rows of each document's present views; others stay.

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
    """Fill h with a guess between the solutions without coupling and with infinite coupling."""
    for v in range(n):
        total = 0.0
        for k in range(m):
            h[v, k] = q[v, k] + least + n * lam * share[k]
            total += h[v, k]
        for k in range(m):
            h[v, k] /= total


@njit(**_OPTIONS)
def _work(n, m):
    """Allocate the arrays that all documents use in turn."""
    a, b, c = np.zeros((6, n, m)), np.zeros((4, n, n, m)), np.zeros((9, n * n * m))
    one, two = (a[0], a[1], a[2], a[3], a[4], a[5]), (b[0], b[1], b[2], b[3])
    flat = (c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8])
    return _Work(*one, *two, *flat, np.zeros((n, n)), np.zeros(n), np.zeros(n))


# -- Newton systems: M x + scale multiplier = rhs in each topic, sum_k scale x given for each view


@njit(**_OPTIONS)
def _factor(n, m, t):
    """Factor M = diag(excess) + Laplacian(weight) of n views for each of m topics.

    lower becomes L^-1 scale, and schur the Cholesky factor of sum_k scale M^-1 scale, the matrix of
    the equations for the multipliers.
    """
    excess, inverse, weight, factor, lower = t.excess, t.inverse, t.weight, t.factor, t.lower
    scale, schur = t.scale, t.schur
    for v in range(n):  # eliminate view v: sums of positive numbers only
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
            least = 1e-16 * total  # rounding must not leave a negative pivot
            for u in range(w):
                total -= schur[v, u] * schur[w, u]
            schur[v, w] = total / schur[w, w] if w < v else math.sqrt(max(total, least))


@njit(**_OPTIONS)
def _solve(kind, n, m, t):
    """Turn rhs into x, and multiplier, which holds -sum_k scale x, into the multiplier.

    For l1 also fill apart with x_v - x_w of all pairs, without the cancellation of a subtraction.
    """
    x, multiplier, schur, factor, lower = t.rhs, t.multiplier, t.schur, t.factor, t.lower
    excess, inverse, between = t.excess, t.inverse, t.apart
    for v in range(n):  # forward elimination
        for w in range(v + 1, n):
            for k in range(m):
                x[w, k] += factor[v, w, k] * x[v, k]
    for v in range(n):  # the multipliers, by the Cholesky factor
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
    for v in range(n - 1, -1, -1):  # back substitution
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


# -- symmetric Kullback-Leibler: Newton's method in log h ------------------------------------------


@njit(**_OPTIONS)
def _newton(kind, n, m, counts, lam, tol, h, t):
    """Turn h (n, m), a guess, into the maximizer."""
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
        whole = step = min(1.0, 30.0 / far)  # a share changes by a factor of exp(30) at most
        value = _log_step(n, m, counts, lam, log, step, t.rhs, new, new_log)
        while value < best - 1e-14 * (1.0 + lam) and step > 1e-9:  # (11a) next, see `_log_system`
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
    """Set up the Newton system of (11b) at h; if `plain` of (11a), whose step always ascends."""
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
            left, right = counts[v, k], h[v, k] * eta + pull[v, k]  # the sides of (11a)
            a, b = right + lam * others, left + lam * others  # those of (11b), without log
            excess[v, k] = max(left, right, 1e-300)
            rhs[v, k] = left - right
            if a > 0.0 and not plain:
                near = abs(left - right) < 0.1 * a
                growth = math.log1p((left - right) / a) if near else math.log(b / a)
                rhs[v, k] = max(a, b) * growth


@njit(**_OPTIONS)
def _log_step(n, m, counts, lam, log, step, x, new, new_log):
    """Fill new and new_log with the rows a step away, normalized; return F (10) there."""
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


# -- l2 and l1: primal-dual interior points --------------------------------------------------------
# In the flat arrays the views' h come first; for l1 then the parts of h_v above h_w, for all
# w = v + 1, for all w = v + 2, ... (modulo n).


@njit(**_OPTIONS)
def _interior(kind, n, m, counts, lam, tol, h, t):
    """Turn h (n, m), a positive guess, into the maximizer."""
    size, best = n * m * (n if kind == L1 else 1), np.inf
    primal, dual, eta = t.primal, t.dual, t.eta
    _start(kind, n, m, counts, lam, h, t)
    for _ in range(_MAX_ITER):
        gap, error = _gap(size, 0.0, t), _system(kind, n, m, lam, t)
        if gap + error < best:
            best = gap + error
            for v in range(n):
                for k in range(m):  # negligible shares from (10'): exactly 0 without counts
                    share, exact = primal[v * m + k], counts[v, k] / dual[v * m + k]
                    h[v, k] = exact if max(exact, share) < 1e-12 else share
        if gap <= tol and error <= max(tol, 1e-11) * (1.0 + lam):
            break
        _factor(n, m, t)
        # predictor: how much of the gap would a step straight to the target close?
        step = _direction(kind, n, m, 0.0, 0.0, t)
        center = min(1.0, (_gap(size, step, t) / gap) ** 3) * gap / size
        # corrector: toward the central path, with the predictor's second-order term
        step = _direction(kind, n, m, center, 1.0, t)
        if step < 0.1:  # close to a boundary: back to the central path first
            step = _direction(kind, n, m, gap / size, 0.0, t)
        if step < 1e-3 and gap < 1e-8:  # as far as rounding allows
            break
        step = min(1.0, max(0.9, 1.0 - gap) * step)  # stay off the boundary
        for v in range(n):
            eta[v] += step * t.multiplier[v]
        for i in range(size):
            primal[i] += step * t.primal_step[i]
            dual[i] += step * t.dual_step[i]


@njit(**_OPTIONS)
def _start(kind, n, m, counts, lam, h, t):
    """Fill primal, dual and eta with positive values from the guess h, and target."""
    primal, dual, target, mean = t.primal, t.dual, t.target, 1.0 / (n * m)
    room = min(mean / lam, 1.0)
    t.primal_step[:] = 0.0
    t.dual_step[:] = 0.0
    for v in range(n):
        t.eta[v] = m * mean
        for k in range(m):
            i = v * m + k
            primal[i], dual[i] = h[v, k], (counts[v, k] + mean) / h[v, k]
            target[i] = counts[v, k]
            t.eta[v] += counts[v, k]
            t.scale[v, k] = 1.0
        for j in range(1, n if kind == L1 else 1):
            w, a = (v + j) % n, (j * n + v) * m
            for k in range(m):
                above = max(h[v, k] - h[w, k], 0.0) + room
                below = max(h[w, k] - h[v, k], 0.0) + room
                primal[a + k], dual[a + k] = above, 2.0 * lam * below / (above + below)
                target[a + k] = 0.0


@njit(**_OPTIONS)
def _gap(size, step, t):
    """Return sum |primal dual - target| a step ahead."""
    primal, dual, target, total = t.primal, t.dual, t.target, 0.0
    primal_step, dual_step = t.primal_step, t.dual_step
    for i in range(size):
        ahead = (primal[i] + step * primal_step[i]) * (dual[i] + step * dual_step[i])
        total += abs(ahead - target[i])
    return total


@njit(**_OPTIONS)
def _system(kind, n, m, lam, t):
    """Set up the matrix, and slack, the residual of (10'); return the error of all equations."""
    primal, dual, slack, excess, weight = t.primal, t.dual, t.slack, t.excess, t.weight
    primal_inverse, dual_inverse, spring, error = t.primal_inverse, t.dual_inverse, t.spring, 0.0
    for i in range(n * m * (n if kind == L1 else 1)):
        primal_inverse[i], dual_inverse[i] = 1.0 / primal[i], 1.0 / dual[i]
    for v in range(n):
        total = -1.0
        for k in range(m):
            slack[v, k] = dual[v * m + k] - t.eta[v]
            excess[v, k] = dual[v * m + k] * primal_inverse[v * m + k]
            total += primal[v * m + k]
        for j in range(1, n):
            w = (v + j) % n
            a, b = (j * n + v) * m, ((n - j) * n + w) * m  # h_v above h_w, and h_w above h_v
            if kind == L1:
                for k in range(m):
                    slack[v, k] -= 0.5 * (dual[b + k] - dual[a + k])
                    give = primal[a + k] * dual_inverse[a + k] + primal[b + k] * dual_inverse[b + k]
                    spring[a + k] = 1.0 / give
                    weight[v, w, k] = spring[a + k]
            else:
                for k in range(m):
                    slack[v, k] -= lam * (primal[v * m + k] - primal[w * m + k])
                    weight[v, w, k] = lam
        error += abs(total)
        for k in range(m):
            error += primal[v * m + k] * abs(slack[v, k])
    return error


@njit(**_OPTIONS)
def _direction(kind, n, m, center, second_order, t):
    """Fill primal_step and dual_step with Newton's step toward primal dual = target + center.

    second_order=1.0 takes the products of the steps found before into account (the corrector).
    Return the largest part of the step, at most 1, that leaves all variables non-negative.
    """
    primal, dual, target, lag = t.primal, t.dual, t.target, t.lag
    primal_step, dual_step = t.primal_step, t.dual_step
    primal_inverse, dual_inverse = t.primal_inverse, t.dual_inverse
    rhs, spring, far, layers = t.rhs, t.spring, 1.0, n if kind == L1 else 1
    for i in range(n * m * layers):  # dual_step holds the wanted change of the product at first
        products = second_order * primal_step[i] * dual_step[i]
        dual_step[i] = target[i] + center - primal[i] * dual[i] - products
    for v in range(n):
        t.multiplier[v] = -1.0
        for k in range(m):
            t.multiplier[v] += primal[v * m + k]
            rhs[v, k] = dual_step[v * m + k] * primal_inverse[v * m + k] + t.slack[v, k]
        for j in range(1, layers):
            a, b = (j * n + v) * m, ((n - j) * n + (v + j) % n) * m
            for k in range(m):
                above, below = dual_step[a + k], dual_step[b + k]
                lag[a + k] = above * dual_inverse[a + k] - below * dual_inverse[b + k]
                rhs[v, k] += spring[a + k] * lag[a + k]
    _solve(kind, n, m, t)
    for v in range(n):
        for k in range(m):
            i = v * m + k
            primal_step[i] = rhs[v, k]
            dual_step[i] = (dual_step[i] - dual[i] * rhs[v, k]) * primal_inverse[i]
        for j in range(1, layers):
            w, a = (v + j) % n, (j * n + v) * m
            for k in range(m):
                flow = spring[a + k] * (t.apart[v, w, k] - lag[a + k])
                primal_step[a + k] = (dual_step[a + k] + primal[a + k] * flow) * dual_inverse[a + k]
                dual_step[a + k] = -flow
    for i in range(n * m * layers):
        far = max(far, -primal_step[i] * primal_inverse[i], -dual_step[i] * dual_inverse[i])
    return 1.0 / far
