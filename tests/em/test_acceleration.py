"""SQUAREM: against a naive loop, never falling, in fewer passes, resumed to the same bits."""

import weakref
from dataclasses import replace

import numpy as np
import pytest

from coview import LTM, MGGM, Checkpoint, LinkPLSA, PairwiseCoPLSA, open_shards, write_shards
from coview.datasets import make_views
from coview.em import prepared
from coview.em.acceleration import FLOOR, GENERATIONS, extrapolated, step_length
from coview.em.loop import run_em
from coview.em.penalties.base import Penalty
from coview.em.prepared import fit_bytes
from coview.em.step import em_step
from coview.runners.threads import ThreadRunner
from tests.contracts.models import MODELS
from tests.planted import make_case, serial
from tests.reference import link_plsa, mvplsa, squarem

SAFE = [entry for entry in MODELS if entry.monotone]
RANDOM = {"init": "random", "ensemble": 0, "random_state": 0}


@pytest.fixture(scope="module")
def views():
    return make_views(150, 4, [40, 30], doc_length=20, random_state=0, missing=0.1)


def data_of(entry, views):
    return views.concat() if entry.one_view else views


def safe_mggm(k, **params):
    return MGGM(k, 6, step="safe", **params)


def fast(problem, max_iter, tol=0.0, **options):
    return run_em(problem, serial, ("both",), max_iter, tol, acceleration="squarem", **options)


# -- the same numbers as naive loops -----------------------------------------------------------


@pytest.mark.parametrize(("pins", "absent"), [(False, False), (True, True)])
@pytest.mark.parametrize("n_passes", [3, 4, 5, 24])
def test_the_naive_loop_around_link_plsa(rng, pins, absent, n_passes):
    case = make_case(rng, widths=(9, 7), pins=pins, absent=absent)

    def step(point):
        theta, *topics = point
        settings = case.weights, case.present
        value = link_plsa.log_likelihood(case.Xs, theta, topics, *settings)
        after, _ = link_plsa.link_plsa(case.Xs, theta, topics, 1, *settings, case.pinned)
        return value, [after[0][0], *after[0][1]]

    found = fast(case.problem(nonzeros=5), n_passes)
    objectives, points = squarem.squarem([case.theta, *case.p_w_zs], step, n_passes, FLOOR)
    np.testing.assert_allclose([v.objective for v in found.history], objectives, rtol=1e-9)
    theta, *topics = points[-1]
    np.testing.assert_allclose(found.problem.mixtures[0], theta, atol=1e-7)
    for emission, p_w_z in zip(found.problem.emissions, topics, strict=True):
        np.testing.assert_allclose(emission.over_terms.T, p_w_z, atol=1e-7)


def test_the_naive_loop_around_feature_topics(rng):
    case = make_case(rng)

    def step(point):
        theta, *factors = point
        state = case.Xs, theta, factors[:2], factors[2:]
        after, values = mvplsa.mvplsa(*state, 1, case.weights, case.present, case.pinned)
        return values[0], [after[0][0], *after[0][1], *after[0][2]]

    found = fast(case.factored(), 12)
    start = [case.theta, *case.p_y_zs, *case.p_w_ys]
    objectives, _ = squarem.squarem(start, step, 12, FLOOR)
    np.testing.assert_allclose([v.objective for v in found.history], objectives, rtol=1e-9)


def points_of(problem):
    x1 = em_step(problem, serial).problem
    return problem, x1, em_step(x1, serial).problem


def test_an_extrapolated_point_is_on_the_simplex_and_leaves_pins_zeros_and_padding(rng):
    case = make_case(rng, pins=True, n_docs=40)
    problem = case.problem()
    problem.thetas[0][5, 1] = 0.0  # EM keeps it
    problem.thetas[0][5] /= problem.thetas[0][5].sum()
    x0, x1, x2 = points_of(problem)
    first, last = x0.mixtures[0].copy(), x2.mixtures[0].copy()
    ahead = extrapolated(x0, x1, x2)
    theta = ahead.mixtures[0]
    np.testing.assert_allclose(theta.sum(axis=1), 1)
    for emission in ahead.emissions:
        np.testing.assert_allclose(emission.over_terms.sum(axis=0), 1)
        assert (emission.over_terms[-1] == 0).all()  # a term that never occurs
    np.testing.assert_array_equal(theta[case.pinned], first[case.pinned])
    np.testing.assert_array_equal(theta[1], first[1])  # a document without counts
    assert theta[5, 1] == 0
    assert ((theta == 0) == (last == 0)).all()
    assert not ahead.thetas[0][:, ahead.n_topics :].any()
    np.testing.assert_array_equal(x0.mixtures[0], first)  # for Ctrl-C, and x2 to fall back to
    np.testing.assert_array_equal(x2.mixtures[0], last)


def test_topics_of_concatenated_views_sum_to_one_together(rng):
    problem = make_case(rng).problem(concatenated=True)
    ahead = extrapolated(*points_of(em_step(problem, serial).problem))
    total = sum(e.over_terms.sum(axis=0) for e in ahead.emissions)
    np.testing.assert_allclose(total, 1)
    shares = [e.over_terms.sum(axis=0) for e in ahead.emissions]
    assert not np.allclose(shares[0], shares[1])


def test_nothing_is_extrapolated_where_em_stands_still_or_slows_down(rng):
    problem = make_case(rng).problem()
    assert step_length(problem, problem, problem, serial) is None
    far = replace(problem, thetas=(problem.thetas[0] * 2,))
    assert step_length(problem, far, problem, serial) is None  # |v| = 2 |r|


# -- the loop ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
@pytest.mark.parametrize("entry", SAFE, ids=str)
def test_the_objective_never_falls(entry, views, dtype):
    model = entry(acceleration="squarem", dtype=dtype, max_iter=30).fit(data_of(entry, views))
    trace = model.trace_
    steps = np.diff([trace.start_objective, *trace.objective])
    slack = 1e-12 if dtype == "float64" else 1e-6
    assert steps.min() >= -slack * abs(trace.objective[-1])
    assert model.n_iter_ == len(trace) == 30


def test_graph_weights_that_are_learned_are_held_while_states_are_compared(views):
    common = {"step": "safe", "dtype": "float64", "tol": 0.0, "max_iter": 60, **RANDOM}
    trace = MGGM(4, 6, acceleration="squarem", **common).fit(views).trace_
    carried = trace.log_likelihood.sum(axis=1) - trace.carried_penalty
    before = [trace.start_objective, *trace.objective[:-1]]
    assert (carried - before).min() >= -1e-12 * abs(carried[-1])
    assert (trace.carried_penalty != trace.penalty).any()  # there was something to hold


@pytest.mark.parametrize("schedule", [("both",), ("emissions", "thetas")])
def test_it_reaches_the_objective_of_plain_em_in_fewer_passes(rng, schedule):
    case = make_case(rng, n_docs=60, widths=(20, 15), n_topics=4)
    # near one optimum: from far away each may find its own
    problem = run_em(case.problem(), serial, schedule, 60, 0.0).problem
    plain = run_em(problem, serial, schedule, 150, 0.0)
    quick = run_em(problem, serial, schedule, 60, 0.0, acceleration="squarem")
    assert quick.objective >= plain.objective


class Steep(Penalty):
    """A penalty that EM does not see: whatever is extrapolated is worse than all before."""

    def __init__(self):
        self.swept = []

    def value(self, thetas, present):
        self.swept.append(thetas[0].copy())
        return 1e6 * float(len(self.swept) % 3 == 0)


def test_a_refused_state_repeats_the_values_and_falls_back_to_the_last_point_of_em(rng):
    problem = make_case(rng).problem(penalty=Steep())
    found = fast(problem, 9, tol=1e-30)  # equal values are no convergence
    plain = run_em(make_case(np.random.default_rng(20240)).problem(), serial, ("both",), 6, 0.0)
    objectives = [v.objective for v in found.history]
    expected = [v.objective for v in plain.history]
    repeated = [expected[i] for i in (0, 1, 1, 2, 3, 3, 4, 5, 5, 6)]
    np.testing.assert_array_equal(objectives, repeated)
    np.testing.assert_array_equal(found.problem.mixtures[0], plain.problem.mixtures[0])


def test_convergence_is_that_of_a_step_of_em(rng):
    problem = make_case(rng, n_docs=60, widths=(20, 15), n_topics=4).problem()
    found = fast(problem, 500, tol=1e-7)
    assert found.n_iter < 500
    assert found.converged(1e-7)
    after = em_step(found.problem, serial).problem
    gain = em_step(after, serial, "nothing").values.objective - found.objective
    assert 0 <= gain <= 2e-7 * abs(found.objective)


@pytest.mark.parametrize("max_iter", [1, 2, 3, 4, 5, 6, 7])
def test_max_iter_is_the_number_of_passes_and_the_objective_that_of_the_last_state(rng, max_iter):
    swept = []

    def counted(work, items):
        swept.append(work)
        return map(work, items)

    found = run_em(
        make_case(rng).problem(), counted, ("both",), max_iter, 0.0, acceleration="squarem"
    )
    assert found.n_iter == max_iter
    assert found.objective == em_step(found.problem, serial, "nothing").values.objective


def test_steps_that_may_lower_the_objective_are_refused(views):
    for model in [
        LTM(3, acceleration="squarem"),
        MGGM(3, acceleration="squarem"),
        PairwiseCoPLSA(3, step="paper", acceleration="squarem"),
    ]:
        with pytest.raises(ValueError, match=r"step='paper'.*acceleration=None"):
            model.fit(views)
    for prior in ("doc_topic_prior", "topic_word_prior"):
        with pytest.raises(ValueError, match=f"{prior} below 1"):
            LinkPLSA(3, acceleration="squarem", **{prior: 0.9}).fit(views)
    with pytest.raises(ValueError, match="acceleration must be one of 'squarem', None"):
        LinkPLSA(3, acceleration="anderson").fit(views)


def test_views_on_disk_are_refused_before_anything_is_read(views, tmp_path, monkeypatch):
    write_shards(views, tmp_path / "x.shards")
    sharded = open_shards(tmp_path / "x.shards")
    monkeypatch.setattr(type(sharded), "read", lambda *a, **k: pytest.fail("read"))
    with pytest.raises(ValueError, match=r"in memory.*acceleration=None"):
        LinkPLSA(3, acceleration="squarem").fit(sharded)


# -- the same bits -----------------------------------------------------------------------------


def test_the_number_of_threads_does_not_matter(views):
    options = {"acceleration": "squarem", "max_iter": 30, "tol": 0.0, **RANDOM}
    one, two = (LinkPLSA(4, n_jobs=n, **options).fit(views) for n in (1, 2))
    np.testing.assert_array_equal(one.doc_topic_, two.doc_topic_)
    np.testing.assert_array_equal(one.trace_.objective, two.trace_.objective)


def test_the_step_length_is_the_same_with_threads(rng):
    points = points_of(make_case(rng, n_docs=60).problem(nonzeros=5))
    with ThreadRunner(3) as runner:
        assert step_length(*points, runner) == step_length(*points, serial)


@pytest.mark.parametrize(
    ("make", "n_steps"),
    [*((LinkPLSA, n) for n in (2, 4, 5, 11, 18)), (safe_mggm, 5)],
)
def test_a_fit_broken_off_anywhere_goes_on_to_the_same_bits(
    make, n_steps, views, tmp_path, broken_off
):
    common = {"acceleration": "squarem", "max_iter": 11, "tol": 0.0, "n_init": 2, **RANDOM}
    undisturbed = make(3, **common).fit(views)
    broken_off(n_steps)
    try:
        make(3, **common).fit(views, checkpoint=Checkpoint(tmp_path / "run", every=2))
    except KeyboardInterrupt:
        broken_off(10_000)
    resumed = make(3, **common).fit(views, checkpoint=Checkpoint(tmp_path / "run", resume=True))
    np.testing.assert_array_equal(resumed.doc_topic_, undisturbed.doc_topic_)
    np.testing.assert_array_equal(resumed.trace_.objective, undisturbed.trace_.objective)
    np.testing.assert_array_equal(resumed.trace_.restarts, undisturbed.trace_.restarts)


def test_a_state_is_written_where_a_cycle_ends(views, tmp_path):
    seen = []
    LinkPLSA(3, acceleration="squarem", max_iter=20, tol=0.0, **RANDOM).fit(
        views, checkpoint=Checkpoint(tmp_path / "run", every=5), on_iteration=seen.append
    )
    assert len(seen) <= 20 / 2
    assert all(file.exists() for file in Checkpoint(tmp_path / "run").files)


# -- memory ------------------------------------------------------------------------------------


def test_the_estimate_of_memory_counts_all_generations(views, monkeypatch):
    asked = []
    monkeypatch.setattr(prepared, "check_memory", lambda estimate, what: asked.append(estimate))
    LinkPLSA(3, acceleration="squarem", max_iter=1, tol=0.0, **RANDOM).fit(views)
    matrices = list(views.matrices.values())
    assert asked == [fit_bytes(matrices, 3, 1, 4, generations=GENERATIONS)]
    assert asked[0] > fit_bytes(matrices, 3, 1, 4)


def test_no_more_generations_are_alive_than_the_estimate_counts(rng, monkeypatch):
    made, alive = [], []

    def watched(*args):
        step = em_step(*args)
        made.append(weakref.ref(step.problem.thetas[0]))
        alive.append(sum(theta() is not None for theta in made))
        return step

    monkeypatch.setattr("coview.em.loop.em_step", watched)
    fast(make_case(rng).problem(), 20)
    assert max(alive) == GENERATIONS
