r"""Smoothness over graphs: the penalty of LTM and MGGM (Eq. 7 to 15 of Wang et al., 2017).

With H the mixtures p(z|d), graphs U_t over the documents with Laplacians L_t, and weights mu_t,

    value = lam Tr(H' L H),    L = sum_t mu_t L_t                                      (7, 11)
    Tr(H' L_t H) = 1/2 sum_ij U_t(i,j) |h_i - h_j|^2

M-step. With expected counts V = n(d,z) and Omega = diag(row sums of V),

    (Omega + lam L) H = V                                                               (15)

one linear system for all topics. In exact arithmetic its solution stays on the simplex (L 1 = 0,
and the inverse has no negative entry). It is solved by conjugate gradients on all topics at once,
with the diagonal as preconditioner, from the old mixtures; time is linear in the edges. Pinned
documents are boundary conditions: their rows move to the right-hand side. A part of the graph with
neither counts nor pins is left open by (15) and keeps its mixtures.

(15) is the stationary point of a quadratic around the plain estimate of EM, not of EM's bound

    sum_{d,z} V log H  -  value                                                         (13)

so the objective may fall. With `safeguard` the step goes from the old mixtures towards (15) only so
far that (13) does not fall: 1, 1/2, 1/4, ... of the way, or not at all.

Weights. With T_t = Tr(H' L_t H) and exponent l in (0, 1),

    mu_t = T_t^(1/(l-1)) / ( sum_s T_s^(l/(l-1)) )^(1/l)                                 (10)

worked out in logarithms, since exponents of -20 and traces of 1e-20 are normal. Weights sum to less
than one unless one graph takes all; `normalize_weights` makes them sum to one.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from coview.em.penalty import Penalty
from coview.em.simplex import limits

MAX_SOLVER_ITERATIONS = 2000
HALVINGS = 30


@dataclass(frozen=True)
class GraphSmoothness(Penalty):
    """Roughness of one slot of mixtures over a mix of graphs.

    Parameters
    ----------
    graphs : tuple of csr_array of shape (documents, documents)
        Symmetric, non-negative, no diagonal.
    strength : float
        lam of (15).
    exponent : float or None
        l of (10); None keeps the weights as they are.
    normalize_weights : bool
        Make the weights sum to one.
    safeguard : bool
        Take only steps that do not lower (13).
    weights : tuple of float
        mu; by default the same for each graph.
    """

    graphs: tuple[sp.csr_array, ...]
    strength: float
    exponent: float | None = None
    normalize_weights: bool = False
    safeguard: bool = False
    weights: tuple[float, ...] = ()

    row_local = False

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1 / len(self.graphs),) * len(self.graphs))

    @property
    def monotone(self) -> bool:  # type: ignore[override]
        return self.safeguard

    @cached_property
    def graph(self) -> sp.csr_array:
        """The mix of the graphs, Eq. 11."""
        parts = zip(self.weights, self.graphs, strict=True)
        return sp.csr_array(sum(weight * graph for weight, graph in parts))

    def value(self, thetas, present) -> float:
        return self.strength * roughness(thetas[0], self.graph) if self.strength else 0.0

    def m_step(self, counts, thetas, present, pinned):
        if self.strength == 0:
            return super().m_step(counts, thetas, present, pinned)
        target = smooth(counts[0], thetas[0], self.strength, self.graph, pinned)  # (15)
        return (self._search(counts[0], thetas[0], target) if self.safeguard else target,)

    def refresh(self, thetas) -> "GraphSmoothness":
        if self.exponent is None or len(self.graphs) == 1 or self.strength == 0:
            return self
        traces = np.array([roughness(thetas[0], graph) for graph in self.graphs])
        weights = graph_weights(traces, self.exponent, self.normalize_weights)
        return replace(self, weights=tuple(map(float, weights)))

    def _search(self, counts, old, target):
        """The first of 1, 1/2, 1/4, ... of the way to the target at which (13) does not fall."""
        old, target = old.astype(np.float64), target.astype(np.float64)
        before = self._bound(counts, old)
        for halving in range(HALVINGS):
            share = 0.5**halving
            candidate = (1 - share) * old + share * target
            if self._bound(counts, candidate) >= before:
                return candidate.astype(counts.dtype)
        return old.astype(counts.dtype)

    def _bound(self, counts, theta) -> float:
        with np.errstate(divide="ignore"):
            logs = np.log(theta, out=np.zeros_like(theta), where=(theta > 0) | (counts > 0))
        products = np.multiply(counts, logs, out=np.zeros_like(theta), where=counts > 0)
        return float(products.sum() - self.strength * roughness(theta, self.graph))


def roughness(theta: np.ndarray, graph: sp.csr_array) -> float:
    """Tr(H' L H), Eq. 7: half the sum over ordered pairs of U(i,j) |h_i - h_j|^2.

    >>> path = sp.csr_array(np.array([[0, 1.0], [1.0, 0]]))
    >>> roughness(np.array([[1.0, 0.0], [0.0, 1.0]]), path)
    2.0
    """
    theta = theta.astype(np.float64)
    degree = np.asarray(graph.sum(axis=1)).reshape(-1, 1)
    return max(float((theta * (degree * theta - graph @ theta)).sum()), 0.0)


def graph_weights(traces: np.ndarray, exponent: float, normalize: bool = False) -> np.ndarray:
    """mu of Eq. 10, in logarithms; graphs without roughness share all weight.

    >>> graph_weights(np.array([1.0, 1.0]), 0.5)
    array([0.25, 0.25])
    """
    flat = traces == 0
    if flat.any():
        weights = np.where(flat, flat.sum() ** (-1 / exponent), 0.0)
    else:
        logs = np.log(traces) / (exponent - 1)
        scaled = exponent * logs
        total = scaled.max() + np.log(np.exp(scaled - scaled.max()).sum())
        weights = np.exp(logs - total / exponent)
    return weights / weights.sum() if normalize else weights


def smooth(counts, old, strength, graph, pinned=None) -> np.ndarray:
    """The solution of (15), (documents, topics), in the precision of the counts."""
    new = old.astype(np.float64)
    mass = counts.sum(axis=1, dtype=np.float64)
    fixed = np.zeros(len(mass), bool) if pinned is None else pinned
    free = np.flatnonzero(_grounded(mass, graph, fixed) & ~fixed)
    if len(free):
        within = sp.csr_array(graph[free])
        pull = strength * (within[:, np.flatnonzero(fixed)] @ new[fixed]) if fixed.any() else 0.0
        degree = np.asarray(within.sum(axis=1)).ravel()
        system = _System(mass[free] + strength * degree, strength, within[:, free])
        right = counts[free].astype(np.float64) + pull
        tolerance = 1e-13 if counts.dtype == np.float64 else 1e-7
        new[free] = _on_simplex(system.solve(right, new[free], tolerance), tolerance)
    tiny = limits(counts.dtype).tiny
    new[new < tiny] = 0.0
    return new.astype(counts.dtype)


def _grounded(mass, graph, fixed):
    """Which documents are linked to one with counts or a pin: the others (15) leaves open."""
    n_parts, part = connected_components(graph, directed=False)
    held = np.zeros(n_parts, bool)
    held[part[(mass > 0) | fixed]] = True
    return held[part]


def _on_simplex(solution, tolerance):
    """Without what the solver's tolerance left below 0 or off the sum."""
    np.maximum(solution, 0.0, out=solution)
    sums = solution.sum(axis=1, keepdims=True)
    off = float(np.abs(sums - 1).max())
    if not off <= max(1e3 * tolerance, 1e-9) * len(solution):
        raise FloatingPointError(
            f"The graph system was not solved: a mixture sums to 1 ± {off:.1e}. "
            "Check the graph's weights, or lower strength."
        )
    return solution / sums


@dataclass(frozen=True)
class _System:
    """Omega + lam L on the free documents: a diagonal less lam times their links."""

    diagonal: np.ndarray
    strength: float
    links: sp.csr_array

    def times(self, x):
        return self.diagonal[:, None] * x - self.strength * (self.links @ x)

    def solve(self, right, guess, tolerance) -> np.ndarray:
        """Conjugate gradients for all columns, each until its residual is small enough."""
        x = guess.copy()
        residual = right - self.times(x)
        goal = tolerance * np.maximum(_norms(right), np.finfo(float).tiny)
        step = residual / self.diagonal[:, None]
        weight = _dots(residual, step)
        for _ in range(MAX_SOLVER_ITERATIONS):
            if (_norms(residual) <= goal).all():
                break
            image = self.times(step)
            length = _ratio(weight, _dots(step, image))
            x += length * step
            residual -= length * image
            scaled = residual / self.diagonal[:, None]
            before, weight = weight, _dots(residual, scaled)
            step = scaled + _ratio(weight, before) * step
        return x


def _dots(a, b):
    return np.einsum("ij,ij->j", a, b)


def _norms(a):
    return np.sqrt(_dots(a, a))


def _ratio(a, b):
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
