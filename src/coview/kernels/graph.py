r"""Kernels of `em.penalties.graph_smoothness`: smoothing over a graph of documents, and roughness.

And `spread`, for labels that are carried along a graph (`coview.label_guess`).

A graph comes as the arrays of a symmetric CSR matrix with weights w. Smoothing solves the system
(Omega + L) X = B, Eq. 15 of Wang et al. (2017), with Omega = diag(mass) and the Laplacian L, by
conjugate gradients. The product of the matrix with a vector is formed from differences,

    ((Omega + L) x)_i = mass_i x_i + sum_s w_is (x_i - x_s),

which loses no digits where x hardly varies, as when the weights are large. Columns of B are
independent; LANES of them are solved at a time, each with its own steps, so that an edge reads one
cache line and the vectors stay in the cache. Those of larger graphs do not: the rows of neighbors
to come are asked for ahead, so that time still grows with the edges.

The preconditioner is the diagonal and the constants. If a component C of the graph is shifted as a
whole, the edges cancel, which the diagonal does not account for: with the diagonal alone the number
of iterations grows with the weights and the number of components. So the residual r is turned into

    z_i = r_i / diagonal_i + sum_{s in C} r_s / sum_{s in C} mass_s,    i in C.

Every component needs some mass. The roughness of mixtures is a sum over the edges, each of which
counts once, by squares (7) or by divergences (3).
"""

import numpy as np
from numba import njit

from coview.kernels.prefetch import prefetch_row

LANES = 8
DELAY = 4  # the error is estimated by what this many iterations gained

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_u = np.uint64
_AHEAD = 12  # edges between one whose row is asked for and the one that is worked on


@njit(**_OPTIONS)
def conjugate_gradients(indptr, indices, weights, mass, component, right, x, tol, max_iter):
    """Improve x (rows, LANES) toward the solution for right (rows, LANES); count the iterations.

    Stop when, in every lane, the error is below tol in the norm of the system for one row of
    average diagonal (estimated by the gains of the last DELAY iterations, Hestenes & Stiefel), and
    neither solving for one row nor shifting one component would change it by more than tol; or
    after max_iter iterations.
    """
    diagonal, average = _diagonal(indptr, weights, mass)
    component_mass = np.zeros(int(component.max()) + 1)
    for i in range(_u(x.shape[0])):
        component_mass[component[i]] += mass[i]
    shifts = np.empty((component_mass.shape[0], LANES))
    r, p, q = np.empty_like(x), np.zeros_like(x), np.empty_like(x)
    alpha, gamma, before, largest = np.zeros((4, LANES))
    gains = np.full((DELAY, LANES), np.inf)
    _apply(indptr, indices, weights, mass, x, q, alpha)
    for i in range(_u(x.shape[0])):
        for k in range(LANES):  # assigning arrays to arrays takes seconds to compile
            r[i, k] = right[i, k] - q[i, k]
    alpha[:] = 0.0
    _advance(alpha, p, q, diagonal, component, component_mass, x, r, gamma, largest, shifts)
    for iteration in range(max_iter):
        _turn(gamma, before, diagonal, component, shifts, r, p)
        _apply(indptr, indices, weights, mass, p, q, alpha)
        for k in range(LANES):
            alpha[k] = gamma[k] / alpha[k] if alpha[k] > 0.0 else 0.0
            before[k], gains[iteration % DELAY, k] = gamma[k], alpha[k] * gamma[k]
        _advance(alpha, p, q, diagonal, component, component_mass, x, r, gamma, largest, shifts)
        if gains.sum(axis=0).max() <= tol * tol * average and largest.max() <= tol:
            max_iter = iteration + 1
            break
    _balance(component, component_mass, mass, right, x, shifts)
    return max_iter


@njit(**_OPTIONS)
def _diagonal(indptr, weights, mass):
    """Return the diagonal of the system, and its mean."""
    diagonal = mass.copy()
    total = 0.0
    for i in range(_u(mass.shape[0])):
        for j in range(_u(indptr[i]), _u(indptr[i + _u(1)])):
            diagonal[i] += weights[j]
        total += diagonal[i]
    return diagonal, total / mass.shape[0]


@njit(**_OPTIONS)
def _apply(indptr, indices, weights, mass, x, out, curvature):
    """Fill out = (Omega + L) x and curvature = x . out, lane by lane."""
    acc, n_edges = np.empty(LANES), _u(indices.shape[0])
    curvature[:] = 0.0
    for i in range(_u(x.shape[0])):
        for k in range(LANES):
            acc[k] = mass[i] * x[i, k]
        for j in range(_u(indptr[i]), _u(indptr[i + _u(1)])):
            if j + _u(_AHEAD) < n_edges:  # also of the next documents
                prefetch_row(x, indices[j + _u(_AHEAD)])
            s, w = indices[j], weights[j]
            for k in range(LANES):
                acc[k] += w * (x[i, k] - x[s, k])
        for k in range(LANES):
            out[i, k] = acc[k]
            curvature[k] += x[i, k] * acc[k]


@njit(**_OPTIONS)
def _advance(alpha, p, q, diagonal, component, component_mass, x, r, gamma, largest, shifts):
    """Advance x and r by a step; fill the components' shifts, gamma = r . z, and the largest z."""
    gamma[:] = 0.0
    largest[:] = 0.0
    shifts[:] = 0.0
    for i in range(_u(x.shape[0])):
        inverse = 1.0 / diagonal[i]
        for k in range(LANES):
            x[i, k] += alpha[k] * p[i, k]
            r[i, k] -= alpha[k] * q[i, k]
            z = r[i, k] * inverse
            gamma[k] += r[i, k] * z
            largest[k] = max(largest[k], abs(z))
            shifts[component[i], k] += r[i, k]
    for c in range(_u(shifts.shape[0])):
        for k in range(LANES):
            total = shifts[c, k]
            shifts[c, k] = total / component_mass[c]
            gamma[k] += total * shifts[c, k]
            largest[k] = max(largest[k], abs(shifts[c, k]))


@njit(**_OPTIONS)
def _balance(component, component_mass, mass, right, x, shifts):
    """Shift each component so that the sum of its equations holds, in which the edges cancel."""
    shifts[:] = 0.0
    for i in range(_u(x.shape[0])):
        for k in range(LANES):
            shifts[component[i], k] += right[i, k] - mass[i] * x[i, k]
    for i in range(_u(x.shape[0])):
        for k in range(LANES):
            x[i, k] += shifts[component[i], k] / component_mass[component[i]]


@njit(**_OPTIONS)
def _turn(gamma, before, diagonal, component, shifts, r, p):
    """Turn p into the next direction: z, made conjugate to the one before."""
    beta = np.zeros(LANES)
    for k in range(LANES):
        beta[k] = gamma[k] / before[k] if before[k] > 0.0 else 0.0
    for i in range(_u(p.shape[0])):
        inverse = 1.0 / diagonal[i]
        for k in range(LANES):
            p[i, k] = r[i, k] * inverse + shifts[component[i], k] + beta[k] * p[i, k]


# -- labels ----------------------------------------------------------------------------------------


@njit(nogil=True, cache=True, error_model="numpy")  # no contraction: the bits are those of scipy
def spread(indptr, indices, weights, x, share, rest, out):
    """Fill out = share * (graph @ x) + rest, all (documents, columns) but the graph."""
    n_columns, n_edges = _u(x.shape[1]), _u(indices.shape[0])
    acc = np.empty(n_columns)
    for i in range(_u(out.shape[0])):
        for k in range(n_columns):
            acc[k] = 0.0
        for j in range(_u(indptr[i]), _u(indptr[i + _u(1)])):
            if j + _u(_AHEAD) < n_edges:
                prefetch_row(x, indices[j + _u(_AHEAD)])
            row, w = x[indices[j]], weights[j]
            for k in range(n_columns):
                acc[k] += w * row[k]
        for k in range(n_columns):
            out[i, k] = share * acc[k] + rest[i, k]


# -- roughness -------------------------------------------------------------------------------------

_SUMS = {**_OPTIONS, "fastmath": {"reassoc", "contract"}}
_EDGES = "u8[::1], u4[::1], f8[::1]"
# Mixtures come with or without padding, hence with any stride: compiled once for all of them.
_SQUARES = [f"f8({_EDGES}, {t}[:, :])" for t in ("f4", "f8")]


@njit(_SQUARES, **_OPTIONS)
def roughness(indptr, indices, weights, theta):
    """Return the sum over edges of weight * |theta_i - theta_s|^2 (7)."""
    total, n_edges = 0.0, _u(indices.shape[0])
    for i in range(_u(theta.shape[0])):
        for j in range(indptr[i], indptr[i + _u(1)]):
            if j + _u(_AHEAD) < n_edges and _u(indices[j + _u(_AHEAD)]) > i:
                prefetch_row(theta, indices[j + _u(_AHEAD)])
            s = _u(indices[j])
            if s > i:
                distance = 0.0
                for k in range(theta.shape[1]):
                    difference = np.float64(theta[i, k]) - np.float64(theta[s, k])
                    distance += difference * difference
                total += weights[j] * distance
    return total


@njit(f"f8({_EDGES}, f8[:, ::1], f8[:, ::1])", **_SUMS)
def kl_roughness(indptr, indices, weights, theta, logs):
    """Return the same with KL(theta_i | theta_s) + KL(theta_s | theta_i) (3).

    That is sum_k (p - q) (log p - log q): 0 for two zeros, infinite for a share and a zero. logs
    (documents, topics) is the logarithm of theta, which edge by edge would be most of the work.
    """
    total, n_edges = 0.0, _u(indices.shape[0])
    for i in range(_u(theta.shape[0])):
        for j in range(indptr[i], indptr[i + _u(1)]):
            if j + _u(_AHEAD) < n_edges and _u(indices[j + _u(_AHEAD)]) > i:
                prefetch_row(theta, indices[j + _u(_AHEAD)])
                prefetch_row(logs, indices[j + _u(_AHEAD)])
            s = _u(indices[j])
            if s > i:
                here = 0.0
                for k in range(_u(theta.shape[1])):
                    gap = theta[i, k] - theta[s, k]
                    here += gap * (logs[i, k] - logs[s, k]) if gap != 0.0 else 0.0
                total += weights[j] * here
    return total
