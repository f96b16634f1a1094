"""LTM (Cai, Wang and He 2009, as in 001) and LapPLSI (Cai et al. 2008): PLSA on a graph.

001 Eq. 15 is kept literally: it is the minimizer of

    1/2 sum_i rho_i |y_i - v_i / rho_i|^2 + lam/2 Tr(Y' L Y),

not the maximizer of Eq. 13, so no objective is promised to rise.
"""

import math

import numpy as np

from tests.reference import plsa
from tests.reference.simplex import count_log, keep_pinned, normalize_rows


def squared_distance(a, b):
    """sum_j (a_j - b_j)^2."""
    return float(np.sum((np.asarray(a, dtype=float) - np.asarray(b, dtype=float)) ** 2))


def knn_graph(points, p, present=None):
    """001 Eq. 5: U_is = 1 if x_i is among the p nearest of x_s or x_s among those of x_i, else 0.

    Euclidean, a point is not its own neighbor, ties by index. Documents without the view
    (`present` False) have no neighbors and are nobody's.
    """
    n = len(points)
    present = np.ones(n, dtype=bool) if present is None else np.asarray(present, dtype=bool)
    U = np.zeros((n, n))
    for i in range(n):
        others = [s for s in range(n) if s != i and present[s] and present[i]]
        nearest = sorted(others, key=lambda s: (squared_distance(points[i], points[s]), s))
        for s in nearest[:p]:
            U[i, s] = U[s, i] = 1.0
    return U


def new_neighbors(points, new, p, present=None):
    """001 Eq. 5 for documents that join a graph one at a time: an array (new, points) of 0 and 1.

    A new document i and a document s are neighbors if s is among the p nearest of i, or i would be
    among the p nearest of s, being the last of those at the same distance. Documents that share no
    feature are no neighbors, and not counted among the p nearest of i.
    """
    n = len(points)
    present = np.ones(n, dtype=bool) if present is None else np.asarray(present, dtype=bool)
    between = [[squared_distance(a, b) for b in points] for a in points]
    U = np.zeros((len(new), n))
    for i, x in enumerate(new):
        away = [squared_distance(x, a) for a in points]
        sharing = [s for s in range(n) if present[s] and np.any((points[s] != 0) & (x != 0))]
        nearest = sorted(sharing, key=lambda s: (away[s], s))
        for s in sharing:
            others = [r for r in range(n) if r != s and present[r]]
            nearer = [r for r in others if between[s][r] <= away[s]]
            if s in nearest[:p] or len(nearer) < p:
                U[i, s] = 1.0
    return U


def laplacian(U):
    """L = D - U with D_ii = sum_s U_is (001, Section 3.2)."""
    return np.diag(np.asarray(U, dtype=float).sum(axis=1)) - U


def roughness(theta, U):
    """001 Eq. 7: 1/2 sum_k sum_is (p(k|i) - p(k|s))^2 U_is = Tr(P' L P)."""
    return float(np.trace(theta.T @ laplacian(U) @ theta))


def kl(p, q):
    """sum_k p_k log(p_k / q_k), 0 log 0 = 0, infinite if q_k = 0 < p_k (001, before Eq. 3)."""
    total = 0.0
    for a, b in zip(p, q, strict=True):
        if a > 0:
            total += a * math.log(a / b) if b > 0 else math.inf
    return total


def symmetric_kl_roughness(theta, U):
    """001 Eq. 3: R = sum_i sum_s D(P_i, P_s) U_is, D = (KL(P_i|P_s) + KL(P_s|P_i)) / 2."""
    total = 0.0
    for i in range(len(theta)):
        for s in range(len(theta)):
            if U[i, s] > 0:
                total += U[i, s] * (kl(theta[i], theta[s]) + kl(theta[s], theta[i])) / 2
    return total


def grounded(mass, U, lam, pinned):
    """Which rows Eq. 15 determines: those linked by edges to a document with mass or a pin."""
    determined = [bool(m > 0 or pin) for m, pin in zip(mass, pinned, strict=True)]
    frontier = [i for i, known in enumerate(determined) if known]
    while frontier and lam > 0:
        i = frontier.pop()
        for s in range(len(mass)):
            if U[i, s] > 0 and not determined[s]:
                determined[s] = True
                frontier.append(s)
    return np.array(determined)


def graph_solve(counts, U, lam, theta, pinned=None):
    """001 Eq. 15: Y = (Omega + lam L)^-1 V, Omega = diag(row sums of V), by a dense inverse.

    Pinned rows P are boundary conditions. With A = Omega + lam L and free rows F,

        Y_P = theta_P,    Y_F = A_FF^-1 (V_F - A_FP theta_P),    A_FP = lam L_FP.

    Rows the system leaves open (a part of the graph without mass and without pins; any constant
    is a solution there, and at lam = 0 any row) keep their old values.
    """
    n = len(theta)
    pinned = np.zeros(n, dtype=bool) if pinned is None else np.asarray(pinned, dtype=bool)
    mass = counts.sum(axis=1)
    system = np.diag(mass) + lam * laplacian(U)
    free = np.flatnonzero(grounded(mass, U, lam, pinned) & ~pinned)
    fixed = np.flatnonzero(pinned)
    new = np.array(theta, dtype=float)
    if len(free):
        right = counts[free] - system[np.ix_(free, fixed)] @ theta[fixed]
        new[free] = np.linalg.inv(system[np.ix_(free, free)]) @ right
    return new


def objective(X, theta, p_w_z, U, lam, measure="quadratic"):
    """001 Eq. 4: L - lam R, with R of Eq. 7 ("quadratic") or of Eq. 3 ("skl")."""
    R = roughness(theta, U) if measure == "quadratic" else symmetric_kl_roughness(theta, U)
    penalty = lam * R if lam > 0 else 0.0
    return plsa.log_likelihood(X, theta, p_w_z) - penalty


def ltm(X, theta, p_w_z, n_iter, U, lam, pinned=None, measure="quadratic"):
    """E-step (000 Eq. 9), p(w|z) (000 Eq. 12) and p(z|d) (001 Eq. 15) from the same E-step.

    States (theta, p_w_z). The values need not rise.
    """
    states, values = [], [objective(X, theta, p_w_z, U, lam, measure)]
    for _ in range(n_iter):
        counts = plsa.expected_counts(X, theta, p_w_z)
        theta = graph_solve(counts.sum(axis=1), U, lam, theta, pinned)
        p_w_z = plsa.m_step_emissions(counts, p_w_z)
        states.append((theta, p_w_z))
        values.append(objective(X, theta, p_w_z, U, lam, measure))
    return states, values


def fold_in_step(x, p_w_z, edges, mixtures, lam, theta):
    """One E-step of a new document, and its row of 001 Eq. 15 with all other mixtures fixed.

    x are its counts, edges (documents,) its edges in the graph, theta (topics,) its old mixture.
    """
    n = len(mixtures)
    U = np.zeros((n + 1, n + 1))
    U[n, :n] = U[:n, n] = edges
    counts = np.zeros((n + 1, len(theta)))
    counts[n] = plsa.theta_counts(x[None], theta[None], p_w_z)[0]
    return graph_solve(counts, U, lam, np.vstack([mixtures, theta]), np.arange(n + 1) < n)[n]


def smooth(theta, U, gamma, pinned=None):
    """LapPLSI's step: p(z|i) <- (1-gamma) p(z|i) + gamma sum_s U_is p(z|s) / sum_s U_is.

    A document without neighbors keeps its row.
    """
    averaged = normalize_rows(np.asarray(U, dtype=float) @ theta, theta)
    return keep_pinned((1 - gamma) * theta + gamma * averaged, theta, pinned)


def lapplsi_m_step(counts, theta, U, lam, gamma, max_smooth=100, pinned=None):
    """The generalized M-step of LapPLSI for p(z|d), Q(theta) = sum n(d,z) log theta - lam R.

    R is 001 Eq. 7. From the EM estimate, smooth while Q does not fall (at most `max_smooth`
    times); take the result if its Q is not below that of the old theta, else keep the old theta.
    """

    def q(t):
        return count_log(counts, t) - lam * roughness(t, U)

    best = keep_pinned(normalize_rows(counts, theta), theta, pinned)
    for _ in range(max_smooth):
        candidate = smooth(best, U, gamma, pinned)
        if not q(candidate) >= q(best):
            break
        best = candidate
    return best if q(best) >= q(theta) else np.array(theta, dtype=float)


def lapplsi(X, theta, p_w_z, n_iter, U, lam, gamma, max_smooth=100, pinned=None):
    """LapPLSI: EM with the generalized M-step; monotone in L - lam Tr(P'LP); (theta, p_w_z)."""
    states, values = [], [objective(X, theta, p_w_z, U, lam)]
    for _ in range(n_iter):
        counts = plsa.expected_counts(X, theta, p_w_z)
        theta = lapplsi_m_step(counts.sum(axis=1), theta, U, lam, gamma, max_smooth, pinned)
        p_w_z = plsa.m_step_emissions(counts, p_w_z)
        states.append((theta, p_w_z))
        values.append(objective(X, theta, p_w_z, U, lam))
    return states, values
