"""The step of Wang et al. (2016), one view at a time: against an interior-point method."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from coview import DivergenceCoPLSA
from coview.datasets import make_views
from coview.em.penalties.divergence import DivergenceAgreement
from coview.em.penalties.divergence_by_view import cycle, h_step
from coview.em.simplex import pad_topics
from coview.em.step import em_step
from tests.planted import make_case, serial
from tests.reference import divergence_coplsa as reference

divergences = pytest.mark.parametrize("divergence", ["skl", "l2", "l1"])


def pair_strengths(rng, n_views):
    lam = rng.gamma(1.0, 2.0, (n_views, n_views))
    return np.triu(lam, 1) + np.triu(lam, 1).T


@divergences
@pytest.mark.parametrize("scale", [1e-4, 0.3, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("n_others", [1, 3])
@pytest.mark.parametrize("zeros", [False, True])
def test_one_view_is_the_maximum_given_the_others(rng, divergence, scale, n_others, zeros):
    n_docs, n_topics = 6, 5
    q = rng.gamma(0.5, 4.0, (n_docs, n_topics))
    if zeros:
        q[:, :2] = 0
        q[0] = 0  # follows the others
    others = rng.dirichlet(np.ones(n_topics), (n_docs, n_others))
    lam = scale * rng.uniform(0.5, 2, (n_docs, n_others))
    old = np.full((n_docs, n_topics), 1 / n_topics)
    found = h_step(q, others, lam, divergence, old)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    assert (found >= 0).all()
    for d in range(n_docs):
        matrix = np.zeros((n_others + 1, n_others + 1))
        matrix[0, 1:] = matrix[1:, 0] = lam[d]
        counts = np.vstack([q[d], np.zeros((n_others, n_topics))])
        best = reference.h_step(q[d], others[d], lam[d], divergence)
        ours, theirs = (
            reference.document_value(counts, np.vstack([h, others[d]]), matrix, divergence)
            for h in (found[d], best)
        )
        assert ours >= theirs - 1e-8 * (1 + q[d].sum() + lam[d].sum())
        if divergence != "l1" and (q[d] > 0).all():
            np.testing.assert_allclose(found[d], best, atol=1e-5)


@divergences
def test_a_document_does_not_depend_on_the_others(rng, divergence):
    q, old = rng.gamma(0.5, 4.0, (20, 3, 4)), rng.dirichlet(np.ones(4), (20, 3))
    lam = np.broadcast_to(pair_strengths(rng, 3), (20, 3, 3))
    present = rng.random((20, 3)) < 0.8
    together = cycle(q, lam, old, present, divergence)
    for d in range(20):
        alone = cycle(q[[d]], lam[[d]], old[[d]], present[[d]], divergence)
        np.testing.assert_array_equal(alone[0], together[d])


@divergences
@pytest.mark.parametrize("by_pairs", [False, True])
def test_a_fit_is_that_of_the_naive_loops(rng, divergence, by_pairs):
    case = make_case(rng, widths=(9, 7, 8), absent=True, pins=True)
    n_docs, n_views, n_iter = len(case.theta), 3, 3
    pairs = pair_strengths(rng, n_views) if by_pairs else np.ones((n_views, n_views))
    thetas = [rng.dirichlet(np.ones(3), n_docs) for _ in case.Xs]
    given = n_iter, 1.7 * pairs, divergence, case.weights, case.present, case.pinned, "view"
    expected, values = reference.divergence_coplsa(case.Xs, thetas, case.p_w_zs, *given)
    penalty = DivergenceAgreement(divergence, np.full(n_docs, 1.7), "paper", pairs)
    problem = case.problem(
        slots=(0, 1, 2),
        thetas=tuple(pad_topics(t, np.float64) for t in thetas),
        penalty=penalty,
    )
    for (rows, topics), value in zip(expected, values[1:], strict=True):
        for update in ("emissions", "thetas"):
            problem = em_step(problem, serial, update).problem
        for v in range(n_views):
            has = case.present[:, v] & (case.Xs[v].sum(axis=1) > 0)
            np.testing.assert_allclose(problem.mixtures[v][has], rows[v][has], atol=2e-4)
            np.testing.assert_allclose(problem.emissions[v].by_term[:, :3].T, topics[v], atol=2e-4)
        objective = em_step(problem, serial, "nothing").values.objective
        assert objective == pytest.approx(value, rel=1e-6)


@divergences
@pytest.mark.parametrize("strength", [0.1, 1.0, 100.0])
def test_the_objective_never_falls(divergence, strength):
    views = make_views(60, 3, [40, 30, 20], missing=0.2, view_noise=0.3, random_state=4)
    options = {"strength": strength, "tol": 0.0, "max_iter": 40, "dtype": "float64"}
    options |= {"init": views.labels, "divergence": divergence, "view_weights": "balanced"}
    paper = DivergenceCoPLSA(3, step="literal", **options).fit(views)
    joint = DivergenceCoPLSA(3, **options).fit(views)
    objective = paper.trace_.objective
    assert np.diff(objective).min() >= -1e-9 * abs(objective[-1])
    assert objective[-1] <= joint.objective_ + 1e-3 * abs(joint.objective_)
    if strength == 0.1:  # with more it is slow, or stops where no view can improve alone
        assert objective[-1] == pytest.approx(joint.objective_, rel=1e-3)
    np.testing.assert_allclose(paper.transform(views).sum(axis=1), 1, atol=1e-9)


def test_a_step_for_l1_that_cannot_move_goes_on_with_the_joint_one():
    views = make_views(60, 3, [40, 30], random_state=4)
    options = {"divergence": "l1", "init": "random", "tol": 1e-5, "view_weights": 1.0}
    options |= {"ensemble": 0, "random_state": 0}
    literal = DivergenceCoPLSA(3, step="literal", **options).fit(views)
    np.testing.assert_allclose(literal.doc_topic_, 1 / 3, atol=1e-6)  # where it began
    with pytest.warns(ConvergenceWarning, match=r"cannot leave mixtures.*step='literal' nowhere"):
        paper = DivergenceCoPLSA(3, step="paper", **options).fit(views)
    joint = DivergenceCoPLSA(3, **options).fit(views)
    lost = joint.objective_ - literal.objective_
    assert joint.objective_ - paper.objective_ < 0.05 * lost
    assert np.diff(paper.trace_.objective).min() >= -1e-6 * abs(paper.objective_)


def test_inner_steps_are_steps_in_a_row():
    views = make_views(40, 3, [20, 15], random_state=4)
    options = {"dtype": "float64", "tol": 0.0, "init": views.labels, "view_weights": 1.0}
    once = DivergenceCoPLSA(3, inner_steps=2, max_iter=1, **options)
    assert once._schedule == ("emissions", "emissions", "thetas", "thetas")
    few, many = (
        DivergenceCoPLSA(3, inner_steps=n, max_iter=300, **options).fit(views) for n in (1, 4)
    )
    assert many.objective_ == pytest.approx(few.objective_, rel=1e-6)
    assert many.trace_.objective[0] > few.trace_.objective[0]
    with pytest.raises(ValueError, match="inner_steps must be an integer of at least 1"):
        once.set_params(inner_steps=0).fit(views)


def test_a_bad_step_is_named():
    with pytest.raises(ValueError, match="step must be one of 'joint', 'paper'"):
        DivergenceCoPLSA(2, step="safe").fit({"a": np.ones((4, 3)), "b": np.ones((4, 2))})
