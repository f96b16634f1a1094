"""Dirichlet priors of mixtures and topics: against naive loops, and in every model."""

import numpy as np
import pytest

from coview import Checkpoint, DivergenceCoPLSA, LinkPLSA, load
from coview.datasets import make_views
from coview.em.emissions import Topics
from coview.em.loop import fold_in
from coview.em.penalties.divergence import DivergenceAgreement
from coview.em.prior import Prior
from coview.em.simplex import limits, pad_topics
from coview.em.step import em_step
from tests.contracts.models import MODELS
from tests.planted import make_case, serial
from tests.reference import divergence_coplsa, link_plsa, plsa
from tests.reference import prior as reference

N_ITER = 10
TINY = limits(np.float64).tiny
priors = pytest.mark.parametrize(
    ("a", "b"), [(1.7, 1.0), (1.0, 1.3), (2.0, 1.5), (0.6, 1.0), (1.0, 0.5), (0.3, 0.4), (0.5, 2.0)]
)
options = pytest.mark.parametrize(("pins", "absent"), [(False, False), (True, True)])


def prior_of(case, a, b):
    return Prior(a, b, tuple(X.sum(axis=0) > 0 for X in case.Xs))


def states(problem, n_iter=N_ITER):
    for _ in range(n_iter):
        problem = em_step(problem, serial).problem
        yield problem, em_step(problem, serial, "nothing").values.objective


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-10)


@priors
@options
@pytest.mark.parametrize("nonzeros", [None, 5])
def test_link_plsa(rng, a, b, pins, absent, nonzeros):
    case = make_case(rng, pins=pins, absent=absent)
    for p in case.p_w_zs:  # the last term never occurs: starts give it the probability 0
        p[:, -1] = 0
        p /= p.sum(axis=1, keepdims=True)
    given = case.weights, case.present, case.pinned, TINY
    expected, values = reference.link_plsa_map(
        case.Xs, case.theta, case.p_w_zs, N_ITER, a, b, *given
    )
    first = case.problem(nonzeros, prior=prior_of(case, a, b))
    for (problem, objective), (theta, topics), value in zip(
        states(first), expected, values[1:], strict=True
    ):
        close(problem.mixtures[0], theta)
        for emission, p in zip(problem.emissions, topics, strict=True):
            close(emission.by_term[:, :3].T, p)
            assert not emission.by_term[:, 3:].any()
        if np.isfinite(value):  # otherwise a word has lost its last topic
            assert objective == pytest.approx(value, rel=1e-12)


@priors
@options
def test_feature_topics(rng, a, b, pins, absent):
    case = make_case(rng, pins=pins, absent=absent)
    start = case.Xs, case.theta, case.p_y_zs, case.p_w_ys, N_ITER, a, b
    given = case.weights, case.present, case.pinned, TINY
    expected, values = reference.mvplsa_map(*start, *given)
    first = case.factored(prior=prior_of(case, a, b))
    for (problem, objective), (theta, p_y_zs, p_w_ys), value in zip(
        states(first), expected, values[1:], strict=True
    ):
        close(problem.mixtures[0], theta)
        for emission, p_y_z, p_w_y in zip(problem.emissions, p_y_zs, p_w_ys, strict=True):
            close(emission.p_y_z, p_y_z)
            close(emission.p_w_y_by_term.T, p_w_y)
        if np.isfinite(value):
            assert objective == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("b", [1.3, 0.5])
def test_concatenated_topics(rng, b):
    case = make_case(rng)
    together = [p * share for p, share in zip(case.p_w_zs, (0.3, 0.7), strict=True)]
    problem = case.problem(
        emissions=tuple(Topics.from_rows(p, np.float64) for p in together),
        concatenated=True,
        prior=prior_of(case, 1.0, b),
    )
    X = np.hstack([w * X for w, X in zip(case.weights, case.Xs, strict=True)])
    counts = plsa.expected_counts(X, case.theta, np.hstack(together)).sum(axis=0).T
    weights = np.repeat(case.weights, [X.shape[1] for X in case.Xs])
    excess = np.where(X.sum(axis=0) > 0, (b - 1) * weights, 0)
    new = np.array([reference.add(row, excess) for row in counts])
    step = em_step(problem, serial).problem
    found = np.hstack([e.by_term[:, :3].T for e in step.emissions])
    close(found, new / new.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("a", [1.7, 0.5])
def test_folding_in(rng, a):
    case = make_case(rng, absent=True)
    theta = case.theta
    for _ in range(N_ITER):
        counts = link_plsa.expected_counts(case.Xs, theta, case.p_w_zs, case.present)
        total = sum(w * c.sum(axis=1) for w, c in zip(case.weights, counts, strict=True))
        theta = reference.normalize_rows(reference.add_to_documents(total, a), theta)
    done = fold_in(case.problem(6, prior=Prior(a)), serial, max_iter=N_ITER, tol=0.0)
    close(done.mixtures[0], theta)


@pytest.mark.parametrize("divergence", ["skl", "l2", "l1"])
def test_a_penalty_sees_counts_with_the_prior(rng, divergence):
    case, lam, a = make_case(rng, absent=True), 2.5, 1.8
    thetas = tuple(pad_topics(case.theta, np.float64) for _ in case.Xs)
    problem = case.problem(
        slots=(0, 1),
        thetas=thetas,
        penalty=DivergenceAgreement(divergence, np.full(len(case.theta), lam)),
        prior=Prior(a),
    )
    new = em_step(problem, serial, "thetas").problem.mixtures
    counts = [
        reference.add_to_documents(w * plsa.theta_counts(X, case.theta, p), a)
        for w, X, p in zip(case.weights, case.Xs, case.p_w_zs, strict=True)
    ]
    for d in np.flatnonzero((case.Xs[0].sum(axis=1) > 0) & (case.Xs[1].sum(axis=1) > 0)):
        rows = divergence_coplsa.joint_step(np.array([c[d] for c in counts]), lam, divergence)
        np.testing.assert_allclose([theta[d] for theta in new], rows, atol=1e-6)


@pytest.mark.parametrize("entry", MODELS, ids=str)
@pytest.mark.parametrize(("a", "b"), [(1.5, 1.2), (4.0, 1.01)])
def test_smoothing_leaves_no_zero_and_the_objective_does_not_fall(entry, a, b):
    views = make_views(60, 3, [30, 20], missing=0 if entry.one_view else 0.2, random_state=1)
    data = views.concat() if entry.one_view else views
    model = entry(doc_topic_prior=a, topic_word_prior=b, max_iter=30).fit(data)
    for name, topics in model.components_.items():
        assert (topics[:, model.term_counts_[name] > 0] > 0).all()
        assert not topics[:, model.unseen_terms_[name]].any()
        np.testing.assert_allclose(topics.sum(axis=1), 1)
    pinned = getattr(model, "preassigned_", np.full(60, -1)) >= 0
    assert (model.doc_topic_[~pinned] > 0).all()
    trace = model.trace_
    by_parts = trace.log_likelihood.sum(axis=1) - trace.penalty + trace.log_prior
    np.testing.assert_allclose(trace.objective, by_parts)
    if entry.monotone:
        gain = np.diff(trace.objective)
        assert gain.min() >= -1e-9 * abs(trace.objective[-1])


@pytest.mark.parametrize("entry", MODELS, ids=str)
def test_parameters_below_one_make_sparse(entry):
    views = make_views(60, 3, [30, 20], missing=0 if entry.one_view else 0.2, random_state=1)
    data = views.concat() if entry.one_view else views
    plain = entry(max_iter=30).fit(data)
    sparse = entry(doc_topic_prior=0.2, topic_word_prior=0.3, max_iter=30).fit(data)
    name = plain.view_names_[0]
    assert (sparse.components_[name] == 0).mean() > (plain.components_[name] == 0).mean()
    np.testing.assert_allclose(sparse.components_[name].sum(axis=1), 1)
    np.testing.assert_allclose(sparse.doc_topic_.sum(axis=1), 1)


def test_new_documents_have_the_prior_of_mixtures(tmp_path):
    views = make_views(80, 3, [30, 20], missing=0.2, random_state=1)
    settings = {"random_state": 0, "tol": 1e-8, "max_iter": 2000}
    # new documents lack the ensemble's view, which training documents have
    model = LinkPLSA(3, doc_topic_prior=3.0, ensemble=0, **settings).fit(views)
    np.testing.assert_allclose(model.transform(views), model.doc_topic_, atol=5e-3)
    model.save(tmp_path / "model.coview")
    again = load(tmp_path / "model.coview")
    assert again.doc_topic_prior == 3.0
    np.testing.assert_array_equal(again.transform(views), model.transform(views))
    np.testing.assert_array_equal(again.trace_.log_prior, model.trace_.log_prior)


def test_the_bits_do_not_depend_on_threads_and_a_checkpoint_continues_to_them(tmp_path):
    views = make_views(300, 3, [60, 50], missing=0.2, random_state=1)
    model = DivergenceCoPLSA(
        3, doc_topic_prior=0.7, topic_word_prior=1.1, random_state=0, tol=0.0, max_iter=8
    )
    a = model.set_params(n_jobs=1).fit(views)
    expected, objective = a.doc_topic_, a.objective_
    stop = iter([False, False, False, True])
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        model.fit(views, checkpoint=path, on_iteration=lambda _: next(stop) and _interrupt())
    b = model.set_params(n_jobs=3).fit(views, checkpoint=Checkpoint(path, resume=True))
    np.testing.assert_array_equal(b.doc_topic_, expected)
    assert b.objective_ == objective


def _interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["doc_topic_prior", "topic_word_prior"])
@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "sparse", True, None])
def test_bad_priors(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a finite number above 0"):
        LinkPLSA(2, **{name: value}).fit({"a": np.ones((4, 3))})
