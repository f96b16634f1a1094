"""The engine against naive loops written from the papers, in double precision."""

import numpy as np
import pytest

from coview.em.loop import fold_in, run_em
from coview.em.step import em_step
from tests.planted import make_case, serial
from tests.reference import dual_plsa, link_plsa, mvplsa, plsa

N_ITER = 10
options = pytest.mark.parametrize(
    ("pins", "absent"), [(False, False), (True, False), (False, True), (True, True)]
)


def states(problem, n_iter=N_ITER, schedule=("both",)):
    """(problem, objective) after each iteration, walking step by step."""
    for _ in range(n_iter):
        for update in schedule:
            problem = em_step(problem, serial, update).problem
        yield problem, em_step(problem, serial, "nothing").values.objective


def p_w_z(problem, v=0):
    return problem.emissions[v].by_term[:, : problem.n_topics].T


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-10)


@pytest.mark.parametrize("pins", [False, True])
@pytest.mark.parametrize("nonzeros", [None, 5])
def test_plsa(rng, pins, nonzeros):
    case = make_case(rng, widths=(11,), pins=pins)
    expected, values = plsa.plsa(case.Xs[0], case.theta, case.p_w_zs[0], N_ITER, case.pinned)
    for (problem, objective), (theta, topics), value in zip(
        states(case.problem(nonzeros)), expected, values[1:], strict=True
    ):
        close(problem.mixtures[0], theta)
        close(p_w_z(problem), topics)
        assert objective == pytest.approx(value, rel=1e-12)


def test_plsa_alternating(rng):
    case = make_case(rng, widths=(11,))
    expected, _ = plsa.plsa_alternating(case.Xs[0], case.theta, case.p_w_zs[0], N_ITER)
    walk = states(case.problem(), schedule=("emissions", "thetas"))
    for (problem, _), (theta, topics) in zip(walk, expected, strict=True):
        close(problem.mixtures[0], theta)
        close(p_w_z(problem), topics)


@pytest.mark.parametrize("pins", [False, True])
@pytest.mark.parametrize("n_feature_topics", [2, 3, 5])
def test_dual_plsa(rng, pins, n_feature_topics):
    case = make_case(rng, widths=(11,), pins=pins, n_feature_topics=n_feature_topics)
    start = case.Xs[0], case.theta, case.p_y_zs[0], case.p_w_ys[0]
    expected, values = dual_plsa.dual_plsa(*start, N_ITER, case.pinned)
    for (problem, objective), (theta, p_y_z, p_w_y), value in zip(
        states(case.factored()), expected, values[1:], strict=True
    ):
        close(problem.mixtures[0], theta)
        close(problem.emissions[0].p_y_z, p_y_z)
        close(problem.emissions[0].p_w_y_by_term.T, p_w_y)
        assert objective == pytest.approx(value, rel=1e-12)


@options
@pytest.mark.parametrize("nonzeros", [None, 5])
def test_link_plsa(rng, pins, absent, nonzeros):
    case = make_case(rng, widths=(9, 7, 8), pins=pins, absent=absent)
    expected, values = link_plsa.link_plsa(
        case.Xs, case.theta, case.p_w_zs, N_ITER, case.weights, case.present, case.pinned
    )
    for (problem, objective), (theta, topics), value in zip(
        states(case.problem(nonzeros)), expected, values[1:], strict=True
    ):
        close(problem.mixtures[0], theta)
        for v in range(3):
            close(p_w_z(problem, v), topics[v])
        assert objective == pytest.approx(value, rel=1e-12)


@options
def test_three_factors_with_a_shared_mixture(rng, pins, absent):
    case = make_case(rng, pins=pins, absent=absent)
    start = case.Xs, case.theta, case.p_y_zs, case.p_w_ys, N_ITER
    expected, values = mvplsa.mvplsa(*start, case.weights, case.present, case.pinned)
    for (problem, objective), (theta, p_y_zs, p_w_ys), value in zip(
        states(case.factored()), expected, values[1:], strict=True
    ):
        close(problem.mixtures[0], theta)
        for emission, p_y_z, p_w_y in zip(problem.emissions, p_y_zs, p_w_ys, strict=True):
            close(emission.p_y_z, p_y_z)
            close(emission.p_w_y_by_term.T, p_w_y)
        assert objective == pytest.approx(value, rel=1e-12)


def test_folding_in(rng):
    case = make_case(rng, absent=True)
    expected, _ = link_plsa.fold_in(
        case.Xs, case.theta, case.p_w_zs, N_ITER, case.weights, case.present
    )
    done = fold_in(case.problem(nonzeros=6), serial, max_iter=N_ITER, tol=0.0)
    close(done.mixtures[0], expected[-1])


def test_identity_links_make_dual_plsa_plsa(rng):
    case = make_case(rng, widths=(11,), n_feature_topics=3)
    case.p_y_zs, case.p_w_ys = [np.eye(3)], case.p_w_zs
    for (dual, _), (plain, _) in zip(states(case.factored()), states(case.problem()), strict=True):
        close(dual.mixtures[0], plain.mixtures[0])
        close(p_w_z(dual), p_w_z(plain))


def test_the_objective_of_a_run_is_that_of_its_last_state(rng):
    case = make_case(rng)
    for max_iter, tol in [(5, 0.0), (500, 1e-4)]:
        fit = run_em(case.problem(), serial, max_iter=max_iter, tol=tol)
        assert fit.objective == em_step(fit.problem, serial, "nothing").values.objective
        assert len(fit.trace.objective) == fit.n_iter
        assert fit.trace.objective[-1] == fit.objective
        assert fit.converged(tol) == (tol > 0)
