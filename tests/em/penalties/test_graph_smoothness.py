"""Smoothing over graphs against dense references; its corners, its limits, its precision."""

import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

from coview.em.loop import run_em
from coview.em.penalties import graph_smoothness as smoothness
from coview.em.penalties.base import Penalty
from coview.em.penalties.graph_smoothness import GraphSmoothness, graph_weights, roughness, smooth
from coview.em.step import em_step
from coview.graphs.neighbors import knn_graph
from tests.planted import make_case, serial
from tests.reference import ltm, mggm

STRENGTHS = [1e-3, 0.1, 1.0, 30.0, 1e3, 1e5]
strengths = pytest.mark.parametrize("lam", STRENGTHS)
PRESENT = np.ones((1, 1), bool)  # the penalty does not look at it


def random_graph(rng, n, density=0.08, weighted=False):
    """Symmetric; at this density some documents have no edge and there are several parts."""
    U = np.triu(rng.random((n, n)) < density, 1) * (
        rng.gamma(1.0, size=(n, n)) if weighted else 1.0
    )
    return U + U.T


def random_counts(rng, n, k):
    """Counts of which a fifth of the documents have none, and others a hundred times as many."""
    return rng.gamma(0.5, size=(n, k)) * rng.choice([0.0, 1.0, 1.0, 1.0, 100.0], (n, 1))


def step(penalty, counts, theta, pinned=None):
    (new,) = penalty.m_step((counts.copy(),), (theta,), PRESENT, pinned)
    return new


# -- the solve of Eq. 15 --------------------------------------------------------------------------


@strengths
@pytest.mark.parametrize("pins", [False, True])
@pytest.mark.parametrize("k", [1, 3, 8, 11])
def test_the_step_solves_the_dense_system(rng, lam, pins, k):
    for _ in range(5):
        n = 40
        U, counts = random_graph(rng, n, weighted=True), random_counts(rng, n, k)
        theta = rng.dirichlet(np.ones(k), n)
        pinned = rng.random(n) < 0.2 if pins else None
        new = step(GraphSmoothness((sp.csr_array(U),), lam), counts, theta, pinned)
        np.testing.assert_allclose(new, ltm.graph_solve(counts, U, lam, theta, pinned), atol=1e-9)
        np.testing.assert_allclose(new.sum(axis=1), 1, atol=1e-14)
        assert (new >= 0).all()


def test_a_part_without_mass_and_without_pins_keeps_its_rows(rng):
    U = np.zeros((7, 7))
    for i, s in [(0, 1), (1, 2), (3, 4), (5, 6)]:
        U[i, s] = U[s, i] = 1
    counts, theta = rng.random((7, 3)), rng.dirichlet(np.ones(3), 7)
    counts[[1, 3, 4, 5, 6]] = 0
    pinned = np.arange(7) == 5
    new = step(GraphSmoothness((sp.csr_array(U),), 2.0), counts, theta, pinned)
    np.testing.assert_array_equal(new[[3, 4, 5]], theta[[3, 4, 5]])
    np.testing.assert_allclose(new[6], theta[5], atol=1e-12)  # hangs on a pin only
    np.testing.assert_allclose(new[1], (new[0] + new[2]) / 2, atol=1e-12)


@pytest.mark.parametrize("pinned", [None, np.arange(6) < 6])
def test_without_counts_nothing_moves(rng, pinned):
    theta = rng.dirichlet(np.ones(3), 6)
    new = step(GraphSmoothness((sp.csr_array(random_graph(rng, 6, 0.5)),), 2.0), 0 * theta, theta)
    np.testing.assert_array_equal(new, theta)


def test_documents_without_an_edge_get_the_plain_estimate_to_the_bit(rng):
    counts, theta = random_counts(rng, 12, 3), rng.dirichlet(np.ones(3), 12)
    U = np.zeros((12, 12))
    U[0, 1] = U[1, 0] = 1
    new = step(GraphSmoothness((sp.csr_array(U),), 2.0), counts, theta)
    (plain,) = Penalty().m_step((counts,), (theta,), PRESENT, None)
    np.testing.assert_array_equal(new[2:], plain[2:])


@pytest.mark.parametrize(("strength", "weights"), [(0.0, (1.0,)), (2.0, (0.0,))])
def test_without_strength_or_weight_the_step_is_the_plain_one_to_the_bit(rng, strength, weights):
    counts, theta = random_counts(rng, 12, 3), rng.dirichlet(np.ones(3), 12)
    penalty = GraphSmoothness((sp.csr_array(random_graph(rng, 12)),), strength, weights)
    pinned = np.arange(12) < 3
    (plain,) = Penalty().m_step((counts.copy(),), (theta,), PRESENT, pinned)
    np.testing.assert_array_equal(step(penalty, counts, theta, pinned), plain)
    assert penalty.value((theta,), PRESENT) == 0


def test_strength_without_end_makes_rows_the_mean_of_their_part(rng):
    U = random_graph(rng, 30, 0.5)
    counts, theta = rng.gamma(1.0, size=(30, 3)), rng.dirichlet(np.ones(3), 30)
    new = step(GraphSmoothness((sp.csr_array(U),), 1e12), counts, theta)
    np.testing.assert_allclose(new, np.tile(counts.sum(axis=0) / counts.sum(), (30, 1)), atol=1e-9)


@strengths
def test_scaling_counts_and_strength_together_changes_nothing(rng, lam):
    graph = sp.csr_array(random_graph(rng, 40))
    counts, theta = random_counts(rng, 40, 5), rng.dirichlet(np.ones(5), 40)
    one = step(GraphSmoothness((graph,), lam), counts, theta)
    other = step(GraphSmoothness((graph,), 1024 * lam), 1024 * counts, theta)
    np.testing.assert_array_equal(one, other)


@strengths
def test_single_precision_is_close(rng, lam):
    graph = sp.csr_array(random_graph(rng, 60))
    counts, theta = random_counts(rng, 60, 5), rng.dirichlet(np.ones(5), 60)
    double = step(GraphSmoothness((graph,), lam), counts, theta)
    single = step(GraphSmoothness((graph,), lam), counts.astype("f4"), theta.astype("f4"))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=3e-6)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_padded_views_are_as_good_as_arrays_and_counts_are_not_altered(rng, dtype):
    graph = sp.csr_array(random_graph(rng, 30))
    counts, theta = random_counts(rng, 30, 5).astype(dtype), rng.dirichlet(np.ones(5), 30)
    penalty = GraphSmoothness((graph,), 2.0)
    padded = np.zeros((2, 30, 16), dtype)
    padded[0, :, :5], padded[1, :, :5] = counts, theta
    views = padded[0, :, :5], padded[1, :, :5]
    (found,) = penalty.m_step(views[:1], views[1:], PRESENT, None)
    np.testing.assert_array_equal(found, step(penalty, counts, theta.astype(dtype)))
    np.testing.assert_array_equal(views[0], counts)
    assert penalty.value(views[1:], PRESENT) == penalty.value((theta.astype(dtype),), PRESENT)


def large_case(rng, n=3000, k=20):
    graph = knn_graph(rng.normal(size=(n, 3)), 5)
    counts = rng.gamma(0.3, size=(n, k)) * rng.lognormal(3.0, 1.0, (n, 1))
    counts[rng.random(n) < 0.02] = 0
    return graph, counts, rng.dirichlet(np.ones(k), n)


@pytest.mark.parametrize("lam", [1e-2, 10.0, 1e4])
def test_a_large_solve_meets_its_tolerance(rng, lam):
    graph, counts, theta = large_case(rng)
    laplacian = sp.diags_array(graph.sum(axis=1)) - graph
    system = sp.csc_array(sp.diags_array(counts.sum(axis=1)) + lam * laplacian)
    expected = sp.linalg.splu(system).solve(counts)
    np.testing.assert_allclose(smooth(counts, theta, lam, graph), expected, atol=1e-10)
    rough = smooth(counts, theta, lam, graph, tol=1e-5)
    assert 0 < np.abs(rough - expected).max() < 1e-4


def test_threads_do_not_change_a_bit(rng):
    graph, counts, theta = large_case(rng)
    one, three = (GraphSmoothness((graph,), 9.0, n_threads=n) for n in (1, 3))
    np.testing.assert_array_equal(step(one, counts, theta), step(three, counts, theta))


def test_iterations_do_not_grow_with_the_strength_nor_with_the_parts(rng, monkeypatch):
    n = 3000
    graph = knn_graph(rng.normal(size=(n, 20)), 1)
    n_parts, part = connected_components(graph)
    assert n_parts > 300
    counts, theta = rng.gamma(0.3, size=(n, 8)), rng.dirichlet(np.ones(8), n)
    monkeypatch.setattr(smoothness, "MAX_ITER", 200)
    monkeypatch.setattr(smoothness, "ATTEMPTS", 1)  # more would be a warning, hence an error
    found = smooth(counts, theta, 1e8, graph)
    sums = np.array([counts[part == c].sum(axis=0) for c in range(n_parts)])
    np.testing.assert_allclose(found, (sums / sums.sum(axis=1, keepdims=True))[part], atol=1e-5)


def test_a_solve_that_does_not_get_there_says_so_and_stays_on_the_simplex(rng, monkeypatch):
    monkeypatch.setattr(smoothness, "MAX_ITER", 1)
    graph, counts, theta = large_case(rng, n=300)
    with pytest.warns(ConvergenceWarning, match="off by"):
        new = smooth(counts, theta, 1e4, graph)
    np.testing.assert_allclose(new.sum(axis=1), 1)
    assert (new >= 0).all()


def test_a_solve_off_the_simplex_is_carried_on(rng, monkeypatch):
    graph, counts, theta = large_case(rng, n=300)
    expected = smooth(counts, theta, 1e3, graph)
    monkeypatch.setattr(smoothness, "MAX_ITER", 40)
    monkeypatch.setattr(smoothness, "ATTEMPTS", 50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = smooth(counts, theta, 1e3, graph)
    np.testing.assert_allclose(found, expected, atol=1e-9)


SCRIPT = """
import numpy as np
from coview.graphs.neighbors import knn_graph
from coview.em.penalties.graph_smoothness import smooth

rng = np.random.default_rng(0)
graph = knn_graph(rng.normal(size=(3000, 3)), 5)
counts, theta = rng.gamma(0.3, size=(3000, 20)), rng.dirichlet(np.ones(20), 3000)
smooth(counts, theta, 1.0, graph)  # compile
print("begin", flush=True)
try:
    while True:
        smooth(counts, theta, 1e6, graph)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_during_a_solve_is_a_keyboard_interrupt():
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().strip() == "begin"
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out.strip() == "interrupted"


# -- values and weights ---------------------------------------------------------------------------


def test_the_value_is_that_of_the_reference_on_the_mixed_graph(rng):
    n, weights = 30, (0.2, 0.7)
    arrays = [random_graph(rng, n, weighted=True) for _ in weights]
    theta = rng.dirichlet(np.ones(4), n)
    penalty = GraphSmoothness(tuple(map(sp.csr_array, arrays)), 3.0, weights)
    mixed = mggm.mixed_graph(arrays, weights)
    np.testing.assert_allclose(penalty.graph.toarray(), mixed)
    np.testing.assert_allclose(penalty.traces(theta), [ltm.roughness(theta, U) for U in arrays])
    expected = 3.0 * ltm.roughness(theta, mixed)
    assert penalty.value((theta,), PRESENT) == pytest.approx(expected, rel=1e-12)
    assert penalty.value((theta.astype("f4"),), PRESENT) == pytest.approx(expected, rel=1e-5)
    expected = ltm.symmetric_kl_roughness(theta, mixed)
    assert penalty.kl_roughness((theta,)) == pytest.approx(expected, rel=1e-12)


def test_roughness_vanishes_at_agreement_exactly(rng):
    graph = sp.csr_array(random_graph(rng, 20, weighted=True))
    theta = np.tile(rng.dirichlet(np.ones(7)), (20, 1))
    assert roughness(theta, graph) == 0
    assert GraphSmoothness((graph,), 1.0).kl_roughness((theta,)) == 0


@pytest.mark.parametrize(
    ("rows", "expected"),
    [([[1, 0], [0, 1]], np.inf), ([[1, 0], [1, 0]], 0.0), ([[1, 0], [0.5, 0.5]], np.inf)],
)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_divergence_is_infinite_where_a_share_meets_a_zero(rows, expected, dtype):
    pair = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert GraphSmoothness((pair,), 1.0).kl_roughness((np.array(rows, dtype),)) == expected


def test_a_graph_without_weight_adds_no_divergence():
    pair = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    penalty = GraphSmoothness((pair, pair), 1.0, weights=(0.0, 0.0))
    assert penalty.kl_roughness((np.eye(2),)) == 0


@pytest.mark.parametrize("exponent", [0.05, 0.2, 0.5, 0.8, 0.95, 0.98])
@pytest.mark.parametrize("normalize", [False, True])
def test_weights_are_those_of_the_paper(rng, exponent, normalize):
    cases = [rng.gamma(1.0, size=4) + 0.3, np.ones(5), np.array([3.0]), np.array([0.0, 1.0, 0.0])]
    for traces in cases:
        expected = mggm.graph_weights(traces, exponent, normalize)
        np.testing.assert_allclose(graph_weights(traces, exponent, normalize), expected, rtol=1e-9)


@pytest.mark.parametrize("exponent", [1e-3, 0.5, 0.999])
@pytest.mark.parametrize("traces", [[1e-300, 1e-290], [1e300, 1e290], [0.0, 1e-300], [0.0, 0.0]])
def test_extreme_traces_and_exponents_give_finite_weights(traces, exponent):
    literal = graph_weights(np.array(traces), exponent)
    shares = graph_weights(np.array(traces), exponent, normalize=True)
    assert np.isfinite(literal).all()
    assert (literal <= 1).all()
    assert shares.sum() == pytest.approx(1)
    assert np.argmax(shares) == np.argmin(traces)


def test_weights_of_the_paper_lower_the_penalty_and_never_raise_it_again(rng):
    graphs = tuple(sp.csr_array(random_graph(rng, 30)) for _ in range(3))
    penalty = GraphSmoothness(graphs, 1.0, exponent=0.7)
    for _ in range(5):
        theta = rng.dirichlet(np.ones(4), 30)
        fresh = penalty.refresh((theta,))
        assert fresh.value((theta,), PRESENT) <= penalty.value((theta,), PRESENT) * (1 + 1e-12)
        penalty = fresh


def test_refresh_makes_a_new_penalty_or_none(rng):
    graph, theta = sp.csr_array(random_graph(rng, 9)), rng.dirichlet(np.ones(3), 9)
    fixed = GraphSmoothness((graph, graph), 1.0)
    assert fixed.weights == (0.5, 0.5)
    assert fixed.refresh((theta,)) is fixed
    single = GraphSmoothness((graph,), 1.0, exponent=0.5)
    assert single.refresh((theta,)).weights == (1.0,)
    learned = GraphSmoothness((graph, graph), 1.0, exponent=0.5, safeguard=True, n_threads=2)
    fresh = learned.refresh((theta,))
    assert learned.weights == (0.5, 0.5)
    assert fresh.weights == pytest.approx((0.25, 0.25))
    assert (fresh.strength, fresh.safeguard, fresh.n_threads) == (1.0, True, 2)
    with pytest.raises(FrozenInstanceError):
        fresh.strength = 2.0


@pytest.mark.parametrize(
    "options", [{"strength": -1.0}, {"strength": np.nan}, {"exponent": 0.0}, {"exponent": 1.0}]
)
def test_wrong_parameters_are_refused(rng, options):
    with pytest.raises(ValueError, match="must"):
        GraphSmoothness((sp.csr_array(np.eye(2)),), **{"strength": 1.0, **options})


# -- in the engine --------------------------------------------------------------------------------


def walk(problem, n_iter=10):
    for _ in range(n_iter):
        problem = em_step(problem, serial).problem
        yield problem, em_step(problem, serial, "nothing").values.objective


@strengths
@pytest.mark.parametrize("pins", [False, True])
def test_ten_iterations_of_ltm(rng, lam, pins):
    case = make_case(rng, widths=(11,), n_docs=30, pins=pins)
    U = random_graph(rng, 30, 0.1, weighted=True)
    start = case.Xs[0], case.theta, case.p_w_zs[0]
    expected, values = ltm.ltm(*start, 10, U, lam, case.pinned)
    problem = case.problem(nonzeros=20, penalty=GraphSmoothness((sp.csr_array(U),), lam))
    for (found, objective), (theta, p_w_z), value in zip(
        walk(problem), expected, values[1:], strict=True
    ):
        np.testing.assert_allclose(found.mixtures[0], theta, atol=1e-9)
        np.testing.assert_allclose(found.emissions[0].by_term[:, :3].T, p_w_z, atol=1e-9)
        assert objective == pytest.approx(value, rel=1e-9)


def test_the_trace_reports_the_divergences_between_neighbors(rng):
    case = make_case(rng, n_docs=30)
    arrays = [random_graph(rng, 30, 0.2) for _ in range(2)]
    penalty = GraphSmoothness(tuple(map(sp.csr_array, arrays)), 1.0, exponent=0.5)
    problem = case.factored(penalty=penalty)
    expected = [
        ltm.symmetric_kl_roughness(
            found.mixtures[0], mggm.mixed_graph(arrays, found.penalty.weights)
        )
        for found, _ in walk(problem, 5)
    ]
    trace = run_em(problem, serial, max_iter=5, tol=0.0).trace
    np.testing.assert_allclose(trace.roughness, expected, rtol=1e-9)


@strengths
@pytest.mark.parametrize("exponent", [0.5, 0.95])
@pytest.mark.parametrize("normalize", [False, True])
def test_ten_iterations_of_mggm_with_weights_a_step_behind(rng, lam, exponent, normalize):
    """p(c|x) is solved with the old weights; the new weights are those of the new p(c|x)."""
    case = make_case(rng, n_docs=30, pins=True, absent=True)
    graphs = [random_graph(rng, 30, density) for density in (0.1, 0.2)]
    expected, values = mggm.mggm(
        case.Xs, case.theta, case.p_y_zs, case.p_w_ys, 10, graphs, lam, exponent, normalize,
        case.weights, case.present, case.pinned,
    )  # fmt: skip
    options = {"exponent": exponent, "normalize_weights": normalize}
    penalty = GraphSmoothness(tuple(map(sp.csr_array, graphs)), lam, **options)
    for (found, objective), (theta, p_y_zs, p_w_ys, mu), value in zip(
        walk(case.factored(penalty=penalty)), expected, values[1:], strict=True
    ):
        np.testing.assert_allclose(found.mixtures[0], theta, atol=1e-9)
        np.testing.assert_allclose(found.penalty.weights, mu, rtol=1e-6, atol=1e-12)
        for emission, p_y_z, p_w_y in zip(found.emissions, p_y_zs, p_w_ys, strict=True):
            np.testing.assert_allclose(emission.p_y_z, p_y_z, atol=1e-9)
            np.testing.assert_allclose(emission.p_w_y_by_term.T, p_w_y, atol=1e-9)
        assert objective == pytest.approx(value, rel=1e-8)


# -- the safeguarded step -------------------------------------------------------------------------


@strengths
@pytest.mark.parametrize("pins", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_safeguarded_step_never_lowers_the_objective(rng, lam, pins, dtype):
    case = make_case(rng, widths=(11,), n_docs=40, pins=pins)
    graph = sp.csr_array(random_graph(rng, 40, 0.1))
    penalty = GraphSmoothness((graph,), lam, safeguard=True)
    assert penalty.monotone
    values = [objective for _, objective in walk(case.problem(dtype=dtype, penalty=penalty), 30)]
    rounding = (1e-12 if dtype == "f8" else 1e-6) * np.abs(values).max()
    assert (np.diff(values) >= -rounding).all()


def test_the_safeguarded_step_is_the_plain_one_where_that_does_no_harm(rng):
    graph, counts, theta = large_case(rng, n=200)
    literal, safe = (GraphSmoothness((graph,), 0.1, safeguard=s) for s in (False, True))
    assert not literal.monotone
    np.testing.assert_array_equal(step(literal, counts, theta), step(safe, counts, theta))


def test_a_step_that_would_lower_the_objective_is_shortened_or_not_taken(rng):
    """At the maximizer of the M-step function the solve of Eq. 15 leads away from it."""
    pair = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    safe, literal = (GraphSmoothness((pair,), 5.0, safeguard=s) for s in (True, False))
    counts = np.array([[9.0, 1.0], [1.0, 3.0]])

    def gain(theta):
        return (counts * np.log(theta)).sum() - safe.value((theta,), PRESENT)

    shares = np.linspace(0.01, 0.99, 197)
    grid = [np.array([[a, 1 - a], [b, 1 - b]]) for a in shares for b in shares]
    best = max(grid, key=gain)
    assert gain(step(literal, counts, best)) < gain(best)
    assert gain(step(safe, counts, best)) >= gain(best)


def test_a_candidate_with_a_zero_where_there_are_counts_is_not_taken(rng, monkeypatch):
    theta = rng.dirichlet(np.ones(3), 5)
    graph = sp.csr_array(random_graph(rng, 5, 0.9))
    monkeypatch.setattr(smoothness, "smooth", lambda *_, **__: np.tile([1.0, 0.0, 0.0], (5, 1)))
    new = step(GraphSmoothness((graph,), 1e-9, safeguard=True), theta * 0.5, theta)
    assert (new > 0).all()
