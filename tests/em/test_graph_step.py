"""Ten iterations of LTM and MGGM against the references; the safeguarded step; limits of the solve."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.em.simplex import row_normalize
from coview.em.smoothness import GraphSmoothness
from coview.em.step import em_step
from tests.planted import make_case, serial
from tests.reference import ltm, mggm

LAMS = [1e-3, 1.0, 1e3, 1e5]


def random_graph(rng, n, density=0.1):
    upper = np.triu(rng.random((n, n)) < density, 1).astype(float)
    return upper + upper.T


def one_step(penalty, counts, old):
    return penalty.m_step((counts.copy(),), (old,), np.ones((len(old), 1), bool), None)


@pytest.mark.parametrize("lam", LAMS)
@pytest.mark.parametrize("pins", [False, True])
def test_ltm(rng, lam, pins):
    case = make_case(rng, widths=(11,), n_docs=30, pins=pins)
    U = random_graph(rng, 30)
    expected, values = ltm.ltm(case.Xs[0], case.theta, case.p_w_zs[0], 10, U, lam, case.pinned)
    problem = case.problem(penalty=GraphSmoothness((sp.csr_array(U),), lam))
    for (theta, p_w_z), value in zip(expected, values[1:], strict=True):
        problem = em_step(problem, serial).problem
        np.testing.assert_allclose(problem.mixtures[0], theta, atol=1e-9)
        np.testing.assert_allclose(problem.emissions[0].by_term[:, :3].T, p_w_z, atol=1e-9)
        found = em_step(problem, serial, "nothing").values.objective
        assert found == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("lam", LAMS)
@pytest.mark.parametrize("normalize", [False, True])
def test_mggm(rng, lam, normalize):
    case = make_case(rng, n_docs=30, pins=True, absent=True)
    graphs = [random_graph(rng, 30), random_graph(rng, 30, 0.2)]
    expected, _ = mggm.mggm(
        case.Xs, case.theta, case.p_y_zs, case.p_w_ys, 10, graphs, lam, 0.8, normalize,
        case.weights, case.present, case.pinned,
    )  # fmt: skip
    penalty = GraphSmoothness(
        tuple(map(sp.csr_array, graphs)), lam, exponent=0.8, normalize_weights=normalize
    )
    problem = case.factored(penalty=penalty)
    for theta, p_y_zs, _, mu in expected:
        problem = em_step(problem, serial).problem
        np.testing.assert_allclose(problem.mixtures[0], theta, atol=1e-9)
        np.testing.assert_allclose(problem.emissions[0].p_y_z, p_y_zs[0], atol=1e-9)
        np.testing.assert_allclose(problem.penalty.weights, mu, rtol=1e-6)


def test_the_solve_is_that_of_the_dense_system_with_empty_parts(rng):
    n = 25
    U = random_graph(rng, n)
    U[20:], U[:, 20:] = 0, 0  # a part of the graph of its own ...
    U[20, 21] = U[21, 20] = 1
    counts = rng.gamma(1.0, size=(n, 4))
    counts[[3, 20, 21, 22]] = 0  # ... without counts
    old = rng.dirichlet(np.ones(4), n)
    (found,) = one_step(GraphSmoothness((sp.csr_array(U),), 2.0), counts, old)
    np.testing.assert_allclose(found, ltm.graph_solve(counts, U, 2.0, old), atol=1e-10)
    np.testing.assert_array_equal(found[[20, 21]], old[[20, 21]])


def test_without_strength_the_step_is_the_plain_one_to_the_bit(rng):
    counts, old = rng.gamma(1.0, size=(9, 4)), rng.dirichlet(np.ones(4), 9)
    penalty = GraphSmoothness((sp.csr_array(random_graph(rng, 9)),), 0.0)
    (found,) = one_step(penalty, counts, old)
    np.testing.assert_array_equal(found, row_normalize(counts, old))


@pytest.mark.parametrize("lam", [0.1, 10.0, 1e4])
def test_the_safeguarded_step_never_lowers_the_bound(rng, lam):
    graph = sp.csr_array(random_graph(rng, 40))
    penalty = GraphSmoothness((graph,), lam, safeguard=True)
    assert penalty.monotone
    old = rng.dirichlet(np.ones(3), 40)
    for _ in range(20):
        counts = rng.gamma(0.5, size=(40, 3)) * old

        def bound(theta, counts=counts):
            return (counts * np.log(theta)).sum() - lam * ltm.roughness(theta, graph.toarray())

        (new,) = one_step(penalty, counts, old)
        assert bound(new) >= bound(old) - 1e-9
        old = new


def test_single_precision_is_close(rng):
    counts, old = rng.gamma(1.0, size=(50, 4)), rng.dirichlet(np.ones(4), 50)
    penalty = GraphSmoothness((sp.csr_array(random_graph(rng, 50)),), 5.0)
    (double,) = one_step(penalty, counts, old)
    (single,) = one_step(penalty, counts.astype(np.float32), old.astype(np.float32))
    np.testing.assert_allclose(single, double, atol=1e-5)
