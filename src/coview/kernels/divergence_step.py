r"""Kernel of `em.penalties.divergence`: the joint M-step of the mixtures of a document's views.

What is solved. For a document with counts Q (views, topics) and strength lam, the maximizer of the
concave function

    F(h) = sum_v sum_k Q_vk log h_vk - lam sum_{v<w} D(h_v, h_w),    sum_k h_vk = 1,  h >= 0,   (10)

that is, h and multipliers eta_v with Q_vk / h_vk = eta_v + lam sum_w dD(h_v, h_w)/dh_vk     (10').
Equation numbers are those of `em.penalties.divergence`, which derives the method.

How. For skl, by Newton's method in log h (`divergence_newton`). For l2 and l1, where h_vk = 0 is
possible, by a primal-dual interior-point method (`_interior`, Mehrotra's). Its variables are
primal >= 0, which is h, and dual >= 0, the right side of (10'); their products are driven to
target = Q. For l1, |h_v - h_w| = above_vw + above_wv, and the parts above_vw = max(h_v - h_w, 0)
are further primal variables, one for each ordered pair of views, with target 0; they are eliminated
topic by topic, and leave a spring between h_v and h_w in the system.

The system. In all cases a Newton step x solves, for each topic k,

    M_k x_k + scale_k multiplier = rhs_k,    M_k = diag(excess_k) + Laplacian(weight_k),

one row for each view, with sum_k scale_vk x_vk given for each view v: the topics meet only in the
multipliers. `divergence_system.factor` eliminates each M_k (V x V) and then the Schur complement of
the multipliers (V x V): O(K V^3) for V views and K topics.

Why it is stable. The diagonal of M_k is never formed: its excess over the sum of the weights is
kept, and elimination updates excess and weights by sums of positive numbers only. No digits cancel,
so lam may be a million times the counts. For l1, x_v - x_w comes from the same recursion.

Layout. Views come first and topics last in every array: the innermost loops run over topics and
become vector instructions. They index whole arrays, because taking a row of an array costs as much
as computing with it. n and m are the numbers of views and topics; flat arrays have view v and topic
k at v * m + k, and the part of h_v above h_w at ((w - v) % n * n + v) * m + k.
"""

import numpy as np
from numba import njit

from coview.kernels.divergence_newton import newton
from coview.kernels.divergence_system import (
    L1,
    L2,
    MAX_ITER,
    OPTIONS,
    SKL,
    factor,
    solve_system,
    work_arrays,
)

__all__ = ["L1", "L2", "SKL", "solve"]


@njit(**OPTIONS)
def solve(kind, counts, strengths, present, infinite, near, tol, rows):
    """Write the maximizer of F into the rows of each document's present views; others stay.

    counts and rows (documents, views, topics), the counts with mass 1 in the present views of each
    document and 0 in the others; strengths (documents,); present (documents, views). All views get
    the same from a strength of `infinite` on, at most 1e9, and for l1 where that is the maximum,
    which is judged with the strength times `near`. tol: of log h for skl, of F otherwise.
    """
    n_docs, n_views, m = counts.shape
    q, h, share = np.zeros((n_views, m)), np.zeros((n_views, m)), np.zeros(m)
    t = work_arrays(n_views, m)
    for d in range(n_docs):
        n, lam = 0, strengths[d]
        share[:] = 0.0
        for v in range(n_views):
            if present[d, v]:
                for k in range(m):
                    q[n, k] = counts[d, v, k]
                    share[k] += q[n, k]
                n += 1
        if not lam < infinite or (kind == L1 and _agrees(n, m, q, share, lam * near, t)):
            for v in range(n):
                for k in range(m):
                    h[v, k] = share[k]
        else:
            _guess(n, m, q, lam, 0.0 if kind == SKL else 1.0 / (n * m), share, h)
            if kind == SKL:
                newton(kind, n, m, q, lam, tol, h, t)
            else:
                _interior(kind, n, m, q, lam, tol, h, t)
        n = 0
        for v in range(n_views):
            if present[d, v]:
                for k in range(m):
                    rows[d, v, k] = h[n, k]
                n += 1


@njit(**OPTIONS)
def _agrees(n, m, q, share, lam, t):
    """Return whether h_v = sum_w Q_w in all views is surely the maximum for l1.

    (10') asks for y_vw = -y_wv in [-lam, lam] with sum_w y_vw = Q_v/h_v - eta_v in each topic. One
    choice is 1/n of the differences of the right sides, which eta_v in the middle keeps small. In a
    topic without counts the left side may be any number from -eta_v on: 0, or one that makes all
    sums equal.
    """
    ratio, eta, mean = t.rhs, t.eta, 1.0
    for v in range(n):
        low, high = 1.0, 0.0
        for k in range(m):
            ratio[v, k] = q[v, k] / share[k] if share[k] > 0.0 else 0.0
            low = min(low, ratio[v, k] if share[k] > 0.0 else 1.0)
            high = max(high, ratio[v, k])
        eta[v] = (low + high) / 2.0
        mean -= eta[v]
    least, most = np.inf, -np.inf
    for v in range(n):
        eta[v] += mean / n
        least, most = min(least, eta[v]), max(most, eta[v])
    if least < 0.0 and not most - least <= n * lam:
        return False
    for k in range(m):
        low, high = np.inf, -np.inf
        for v in range(n):
            right = ratio[v, k] - eta[v] if share[k] > 0.0 else 0.0
            low, high = min(low, right), max(high, right)
        if not high - low <= n * lam:
            return False
    return True


@njit(**OPTIONS)
def _guess(n, m, q, lam, least, share, h):
    """Fill h with a guess between the solutions without coupling and with infinite coupling."""
    for v in range(n):
        total = 0.0
        for k in range(m):
            h[v, k] = q[v, k] + least + n * lam * (share[k] + least)
            total += h[v, k]
        for k in range(m):
            h[v, k] /= total


# -- l2 and l1: primal-dual interior points --------------------------------------------------------
# In the flat arrays the views' h come first; for l1 then the parts of h_v above h_w, for all
# w = v + 1, for all w = v + 2, ... (modulo n).


@njit(**OPTIONS)
def _interior(kind, n, m, counts, lam, tol, h, t):
    """Turn h (n, m), a positive guess, into the maximizer."""
    size, best = n * m * (n if kind == L1 else 1), np.inf
    primal, dual, eta = t.primal, t.dual, t.eta
    _start(kind, n, m, counts, lam, h, t)
    for _ in range(MAX_ITER):
        gap, error = _gap(size, 0.0, t), _system(kind, n, m, lam, t)
        if gap + error < best:
            best = gap + error
            for v in range(n):
                for k in range(m):  # negligible shares from (10'): exactly 0 without counts
                    share, exact = primal[v * m + k], counts[v, k] / dual[v * m + k]
                    h[v, k] = exact if max(exact, share) < 1e-12 else share
        if gap <= tol and error <= max(tol, 1e-11) * (1.0 + lam):
            break
        factor(n, m, t)
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


@njit(**OPTIONS)
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


@njit(**OPTIONS)
def _gap(size, step, t):
    """Return sum |primal dual - target| a step ahead."""
    primal, dual, target, total = t.primal, t.dual, t.target, 0.0
    primal_step, dual_step = t.primal_step, t.dual_step
    for i in range(size):
        ahead = (primal[i] + step * primal_step[i]) * (dual[i] + step * dual_step[i])
        total += abs(ahead - target[i])
    return total


@njit(**OPTIONS)
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


@njit(**OPTIONS)
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
    solve_system(kind, n, m, t)
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
