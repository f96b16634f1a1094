"""Newton systems of `kernels.divergence_step`, and the arrays that all documents use in turn.

In each topic M x + scale multiplier = rhs, with sum_k scale x given for each view.
"""

import math
from collections import namedtuple

import numpy as np
from numba import njit

SKL, L2, L1 = 0, 1, 2  # kinds of divergence

_FAST = {"reassoc", "contract"}
OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": _FAST}
MAX_ITER = 60  # of each document

_BY_VIEW = (
    "excess",  # diagonal of M less its off-diagonal row sums
    "inverse",  # 1 / pivot of the elimination
    "scale",  # coefficients of the multipliers
    "rhs",  # right side of the Newton system; the solution after `solve_system`
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


@njit(**OPTIONS)
def work_arrays(n, m):
    """Allocate the arrays that all documents use in turn."""
    a, b, c = np.zeros((6, n, m)), np.zeros((4, n, n, m)), np.zeros((9, n * n * m))
    one, two = (a[0], a[1], a[2], a[3], a[4], a[5]), (b[0], b[1], b[2], b[3])
    flat = (c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8])
    return _Work(*one, *two, *flat, np.zeros((n, n)), np.zeros(n), np.zeros(n))


@njit(**OPTIONS)
def factor(n, m, t):
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


@njit(**OPTIONS)
def solve_system(kind, n, m, t):
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
