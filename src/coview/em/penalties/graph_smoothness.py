r"""GraphSmoothness: documents that a graph joins have similar mixtures (Wang et al., 2017; LTM).

Let U^t be graphs over the documents with Laplacians L^t, and mu_t their weights. With

    E = sum_t mu_t U^t,    L = sum_t mu_t L^t                                                 (11)

the penalty of mixtures P (documents, topics) is lambda R, as in Eq. 4 with the quadratic

    R = 1/2 sum_is E_is |P_i - P_s|^2 = Tr(P' L P) = sum_t mu_t Tr(P' L^t P).                 (7)

R of Eq. 3, with symmetric Kullback-Leibler divergences, is infinite as soon as one of two
neighbors has a zero; it is only reported, in `trace_.roughness`.

Steps. With expected counts V (documents, topics) and Omega = diag(row sums of V),

    P     <-  (Omega + lambda L)^-1 V                                                         (15)
    mu_t  <-  alpha_t^(1/lambda_2),  alpha_t ~ Tr(P' L^t P)^(lambda_2 / (lambda_2 - 1))       (10)

Eq. 15 is taken literally. In exact arithmetic its rows are non-negative and sum to one. It is
the EM estimate smoothed, the minimizer of

    1/2 sum_i rho_i |P_i - V_i / rho_i|^2 + lambda/2 Tr(P' L P),    rho = diag(Omega),

and not the maximizer of the M-step function sum V log P - lambda R, so the objective may fall.
With `safeguard` it is only taken where that function rises, as in generalized EM (LapPLSI).
Elsewhere the step goes toward P (g + c), normalized, with the gradient g = V / P - 2 lambda L P and
the smallest c >= 0 of a document for which no share is negative; where c > 0 only half of the way,
so that no share becomes 0. That is an ascent direction, as in `penalties.similarity`, so the step
comes to rest at stationary points only. Equation numbers are those of Wang et al. (2017).

Eq. 10 gives weights with sum alpha = 1, hence sum mu < 1, against Eq. 6, unless one graph takes
all; `normalize_weights` divides by their sum.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from coview.em.penalties.base import Penalty
from coview.em.simplex import row_normalize
from coview.graphs.adjacency import sum_graphs
from coview.params import check_real

MAX_ITER = 5000
ATTEMPTS = 3  # at the solve, each with a tenth of the tolerance of the one before
MAX_HALVINGS = 20
SLACK = 100.0  # times the tolerance: the most that clipping and renormalizing may correct
TOLERANCE = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-12}


@dataclass(frozen=True, eq=False)
class GraphSmoothness(Penalty):
    """Smoothness over one graph, or over a mixture of graphs, of a single slot of mixtures.

    Attributes
    ----------
    graphs : tuple of csr_array of shape (documents, documents)
        Symmetric, non-negative, without a diagonal: see `knn_graph` and `check_graph`.
    strength : float
        lambda (the paper's lambda_1), on the scale of a document's weighted counts.
    weights : tuple of float, optional
        mu, one for each graph; 1 / number of graphs by default.
    exponent : float in (0, 1), optional
        lambda_2: `refresh` learns the weights. None leaves them as they are.
    normalize_weights : bool, default=False
        Whether learned weights are made to sum to one.
    safeguard : bool, default=False
        Whether a step that lowers the objective is shortened.
    tol : float, optional
        Maximum error of a share p(z|d) from the iterative solver: 1e-6 by default for mixtures in
        single precision, 1e-12 in double.
    n_threads : int, default=1
        For the solver; the result does not depend on it.
    names : tuple of str, optional
        Names of the graphs.

    Examples
    --------
    >>> pair = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> penalty = GraphSmoothness((pair,), strength=1.0)
    >>> theta, present = np.eye(2), np.ones((2, 1), bool)
    >>> penalty.value((theta,), present)
    2.0
    >>> penalty.m_step((np.eye(2),), (theta,), present, None)[0].round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]])
    """

    graphs: tuple[sp.csr_array, ...] = field(repr=False)
    strength: float
    weights: tuple[float, ...] = ()
    exponent: float | None = None
    normalize_weights: bool = False
    safeguard: bool = False
    tol: float | None = None
    n_threads: int = 1
    names: tuple[str, ...] = ()
    row_local: bool = field(init=False, default=False)
    monotone: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        check_real("strength", self.strength)
        if self.exponent is not None and not 0 < self.exponent < 1:
            raise ValueError(
                f"exponent must lie between 0 and 1, both excluded; got {self.exponent}."
            )
        weights = self.weights or (1 / len(self.graphs),) * len(self.graphs)
        object.__setattr__(self, "weights", tuple(map(float, weights)))
        object.__setattr__(self, "monotone", self.safeguard)  # at fixed weights

    @property
    def graph(self) -> sp.csr_array:
        """E, the weighted sum of the graphs."""
        return sum_graphs(self.graphs, self.weights)  # (11)

    def traces(self, theta: np.ndarray) -> np.ndarray:
        """Return Tr(P' L^t P) of each graph."""
        return np.array([roughness(theta, graph) for graph in self.graphs])

    def kl_roughness(self, thetas: tuple[np.ndarray, ...]) -> float:
        """Return R of Eq. 3 under the current weights; infinite where a share meets a zero."""
        from coview.kernels.graph import kl_roughness

        theta = np.ascontiguousarray(thetas[0], dtype=np.float64)
        with np.errstate(divide="ignore"):
            logs = np.log(theta)
        parts = zip(self.graphs, self.weights, strict=True)
        return sum((w * kl_roughness(*_arrays(g), theta, logs) for g, w in parts if w > 0), 0.0)

    def value(self, thetas: tuple[np.ndarray, ...], present: np.ndarray) -> float:
        """Return lambda R, with the quadratic R of (7)."""
        if self.strength == 0:
            return 0.0
        return float(self.strength * np.dot(self.weights, self.traces(thetas[0])))  # (7)

    def m_step(
        self,
        counts: tuple[np.ndarray, ...],
        thetas: tuple[np.ndarray, ...],
        present: np.ndarray,
        pinned: np.ndarray | None,
    ) -> tuple[np.ndarray, ...]:
        """Return the solution of (15), or a safeguarded step toward it."""
        if self.strength == 0:
            return super().m_step(counts, thetas, present, pinned)
        (expected,), (old,) = counts, thetas
        new = smooth(  # (15)
            expected, old, self.strength, self.graph, pinned, tol=self.tol, n_threads=self.n_threads
        )
        return (self._safe(expected, old, new, present, pinned) if self.safeguard else new,)

    @property
    def parameters(self) -> tuple[float, ...]:
        """The weights mu of the graphs."""
        return self.weights

    def with_parameters(self, parameters: tuple[float, ...]) -> "GraphSmoothness":
        """Return the penalty with other weights of the graphs."""
        return replace(self, weights=tuple(parameters))

    def refresh(self, thetas: tuple[np.ndarray, ...]) -> "GraphSmoothness":
        """Return the penalty with weights (10) from these mixtures, if they are learned."""
        if self.exponent is None or len(self.graphs) == 1:
            return self
        # (10)
        weights = graph_weights(self.traces(thetas[0]), self.exponent, self.normalize_weights)
        return replace(self, weights=tuple(weights))

    def _safe(
        self,
        counts: np.ndarray,
        old: np.ndarray,
        new: np.ndarray,
        present: np.ndarray,
        pinned: np.ndarray | None,
    ) -> np.ndarray:
        """Return (15) if it is better than old, or a point on a way up that is not worse."""
        from scipy.special import xlogy

        def gain(theta: np.ndarray) -> float:  # the M-step function sum V log P - lambda R
            return xlogy(counts, theta, dtype=np.float64).sum() - self.value((theta,), present)

        least = gain(old)
        if gain(new) > least:
            return new
        way = self._way_up(counts, old, pinned)
        for halvings in range(MAX_HALVINGS):
            new = old + way * way.dtype.type(0.5**halvings)
            if gain(new) >= least:
                return new
        return old

    def _way_up(self, counts: np.ndarray, old: np.ndarray, pinned: np.ndarray | None) -> np.ndarray:
        """Return an ascent direction of the M-step function on the simplex."""
        graph = self.graph
        slope = graph.sum(axis=1)[:, None] * old - graph @ old
        g = np.divide(counts, old, out=np.zeros_like(old), where=old > 0)
        g -= (2 * self.strength) * slope
        shift = np.maximum(-np.where(old > 0, g, np.inf).min(axis=1, keepdims=True), 0)
        way = row_normalize(old * (g + shift), old, pinned) - old
        way[shift[:, 0] > 0] *= 0.5
        return way


def roughness(theta: np.ndarray, graph: sp.csr_array) -> float:
    """Return Tr(P' L P), Eq. 7: the sum over edges of weight times squared distance.

    >>> roughness(np.eye(2), sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])))
    2.0
    """
    from coview.kernels.graph import roughness

    return roughness(*_arrays(graph), theta)


def graph_weights(traces: np.ndarray, exponent: float, normalize: bool = False) -> np.ndarray:
    """Return mu of Eq. 10 from T_t = Tr(P' L^t P), by logarithms: traces may be 1e-300.

    Graphs with a trace of zero share all the weight, which is the limit.

    >>> graph_weights(np.array([1.0, 1.0]), exponent=0.5)
    array([0.25, 0.25])
    >>> graph_weights(np.array([1.0, 0.0]), exponent=0.5)
    array([0., 1.])
    """
    from scipy.special import log_softmax

    with np.errstate(divide="ignore"):
        score = np.log(traces) * (exponent / (exponent - 1))  # log alpha, up to a constant
    score = np.where(traces == 0, 0.0, -np.inf) if (traces == 0).any() else score
    log_weights = log_softmax(score) / exponent  # (10): mu = alpha^(1/lambda_2)
    return np.exp(log_softmax(log_weights) if normalize else log_weights)


# -- the linear system of Eq. 15 -------------------------------------------------------------------


@dataclass(frozen=True)
class _System:
    """(Omega + L) X = B on the rows that it determines; edges to pins are part of Omega and B."""

    rows: np.ndarray  # the numbers of these documents
    edges: sp.csr_array  # among them
    to_pins: sp.csr_array  # edges to pinned documents
    mass: np.ndarray  # diagonal of Omega
    component: np.ndarray  # the connected component of each document

    def take(self, rows: np.ndarray) -> "_System":
        """Return the system of some of the rows."""
        inner = self.edges[rows][:, rows]
        others = self.rows[rows], inner, self.to_pins[rows], self.mass[rows]
        return _System(*others, _components(inner))


def smooth(
    counts: np.ndarray,
    old: np.ndarray,
    strength: float,
    graph: sp.csr_array,
    pinned: np.ndarray | None = None,
    *,
    tol: float | None = None,
    n_threads: int = 1,
) -> np.ndarray:
    """Return the solution of Eq. 15, a new array (documents, topics) as precise as the counts.

    Pinned rows are boundary conditions: with A = Omega + lambda L, free rows F and pinned rows P,
    Y_F = A_FF^-1 (V_F - A_FP old_P). Documents without an edge get the estimate of plain EM. A part
    of the graph without mass and without pins keeps its old rows: there the system is singular.
    """
    pinned = np.zeros(len(counts), bool) if pinned is None else pinned
    new = row_normalize(counts.copy(), old, pinned)
    system = _system(counts, strength * graph, pinned)
    if len(system.rows):
        tol = TOLERANCE[counts.dtype] if tol is None else tol
        solution = _solution(system, counts, old, pinned, tol, n_threads)
        new[system.rows] = row_normalize(np.maximum(solution, 0), old[system.rows])
    return new


def _solution(
    system: _System,
    counts: np.ndarray,
    old: np.ndarray,
    pinned: np.ndarray,
    tol: float,
    n_threads: int,
) -> np.ndarray:
    """Solve from the old rows, until what clipping and renormalizing correct is small enough."""
    solution = old[system.rows]
    for attempt in range(ATTEMPTS):
        goal = tol * 0.1**attempt
        solution, off = _solve(system, counts, old[pinned], solution, goal, n_threads)
        if off <= SLACK * tol:
            return solution
    _warn(off)
    return solution


def _warn(off: float) -> None:
    from sklearn.exceptions import ConvergenceWarning

    message = (
        f"Mixtures smoothed over the graph were off by {off:.1e} before they were normalized to "
        "sum 1: the strength, or some weight of the graph, is extreme for these counts."
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=5)


def _system(counts: np.ndarray, edges: sp.csr_array, pinned: np.ndarray) -> _System:
    """Set up the system of the free documents that have an edge."""
    edges.eliminate_zeros()
    linked = np.flatnonzero((np.diff(edges.indptr) > 0) & ~pinned)
    inner = edges[linked]
    to_pins = inner[:, np.flatnonzero(pinned)]
    inner = inner[:, linked]
    mass = counts.sum(axis=1, dtype=np.float64)[linked] + to_pins.sum(axis=1)
    system = _System(linked, inner, to_pins, mass, _components(inner))
    # a component without any mass has a singular system
    regular = np.bincount(system.component, mass)[system.component] > 0
    return system if regular.all() else system.take(np.flatnonzero(regular))


def _components(graph: sp.csr_array) -> np.ndarray:
    from scipy.sparse.csgraph import connected_components

    return connected_components(graph, directed=False)[1].astype(np.uint32)


def _solve(
    system: _System,
    counts: np.ndarray,
    pins: np.ndarray,
    start: np.ndarray,
    tol: float,
    n_threads: int,
) -> tuple[np.ndarray, float]:
    """Return the solution from a start, and how far it is off the simplex."""
    from coview.kernels.graph import LANES, conjugate_gradients

    arrays = *_arrays(system.edges), system.mass, system.component
    solution = np.empty_like(start)

    def work(first: int) -> tuple[np.ndarray, float]:
        """Solve for LANES topics: the columns of the right side are independent."""
        group = slice(first, min(first + LANES, start.shape[1]))
        width = group.stop - group.start
        right, x = np.zeros((2, len(start), LANES))
        right[:, :width] = counts[system.rows, group] + system.to_pins @ pins[:, group]
        x[:, :width] = start[:, group]
        conjugate_gradients(*arrays, right, x, tol, MAX_ITER)
        solution[:, group] = x[:, :width]
        return x.sum(axis=1), x.min()

    sums, lowest = np.zeros(len(start)), 0.0
    for part, low in _in_threads(work, range(0, start.shape[1], LANES), n_threads):
        sums += part
        lowest = min(lowest, low)
    return solution, max(np.abs(sums - 1).max(), -lowest)


def _in_threads(function: Callable, items: Sequence, n_threads: int) -> Iterator:
    """Yield results in order. Kernels never run in the main thread, where Ctrl-C must arrive."""
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="coview-graph")
    try:
        yield from pool.map(function, items)
    finally:
        pool.shutdown(cancel_futures=True)


def _arrays(graph: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a graph as the arrays that the kernels take."""
    unsigned = graph.indptr.astype(np.uint64), graph.indices.astype(np.uint32)
    return *unsigned, np.array(graph.data, dtype=np.float64)
