"""The loop: stopping, tracing, folding in document by document, interruption."""

from dataclasses import replace

import numpy as np
import pytest

from coview import PLSA, Views
from coview.em.loop import fold_in, run_em
from coview.em.penalties.base import Penalty
from coview.em.problem import Problem
from coview.em.step import em_step
from tests.planted import make_case, serial


def test_a_positive_tolerance_stops_early_and_zero_never(rng):
    case = make_case(rng)
    assert run_em(case.problem(), serial, max_iter=400, tol=1e-3).n_iter < 400
    assert run_em(case.problem(), serial, max_iter=60, tol=0.0).n_iter == 60


def test_on_iteration_is_told_of_each_iteration_and_can_stop_the_run(rng):
    seen = []

    def on_iteration(problem, values):
        assert isinstance(problem, Problem)
        seen.append(len(values))
        return len(values) == 4

    fit = run_em(make_case(rng).problem(), serial, max_iter=50, tol=0.0, on_iteration=on_iteration)
    assert seen == [1, 2, 3, 4]
    assert fit.n_iter == 4


def test_an_interrupted_run_hands_over_its_last_complete_state(rng):
    def on_iteration(problem, values):
        if len(values) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        run_em(make_case(rng).problem(), serial, max_iter=50, tol=0.0, on_iteration=on_iteration)
    undisturbed = run_em(
        make_case(np.random.default_rng(20240)).problem(), serial, max_iter=2, tol=0.0
    )
    assert caught.value.run.objective == undisturbed.objective


@pytest.mark.parametrize("one_shard", [False, True])
def test_gradients_in_the_memory_of_the_last_ones_are_the_same_to_the_bit(rng, one_shard):
    problem = make_case(rng).problem(nonzeros=20)
    assert len(problem.blocks) > 2
    if one_shard:
        last = len(problem.blocks) - 1
        blocks = (replace(b, ends_shard=i == last) for i, b in enumerate(problem.blocks))
        problem = replace(problem, blocks=tuple(blocks))
    fresh, kept = problem, replace(problem, spare=[])
    memory = set()
    for _ in range(4):
        fresh, kept = em_step(fresh, serial).problem, em_step(kept, serial).problem
        memory.add(kept.spare[0].total[0].ctypes.data)
        for a, b in zip(fresh.emissions, kept.emissions, strict=True):
            np.testing.assert_array_equal(a.by_term, b.by_term)
    assert len(memory) == 1
    assert fresh.spare is None


def test_a_finished_run_keeps_no_gradients(rng):
    assert run_em(make_case(rng).problem(), serial, max_iter=3, tol=0.0).problem.spare is None


def test_a_fall_of_the_objective_is_reported(rng):
    class Wrong(Penalty):
        def m_step(self, counts, thetas, present, pinned):
            return tuple(np.roll(t, 1, axis=1) for t in thetas)

    problem = make_case(rng).problem(penalty=Wrong())
    with pytest.warns(RuntimeWarning, match="objective fell"):
        run_em(problem, serial, max_iter=4, tol=0.0)


def test_the_trace_has_the_parts_of_the_objective(rng):
    trace = run_em(make_case(rng).problem(), serial, max_iter=7, tol=0.0).trace
    assert trace.log_likelihood.shape == (7, 2)
    np.testing.assert_array_equal(trace.objective, trace.log_likelihood.sum(axis=1) - trace.penalty)
    assert trace.start_objective < trace.objective[0]
    assert (trace.n_floored == 0).all()
    assert trace.roughness is None  # there is no graph


def test_a_word_that_no_topic_has_is_floored_and_counted(rng):
    case = make_case(rng, widths=(6,))
    case.p_w_zs[0][:, 2] = 0
    expected = (case.Xs[0][:, 2] > 0).sum()
    assert expected > 0
    trace = run_em(case.problem(), serial, max_iter=1, tol=0.0).trace
    assert trace.n_floored[0] == expected
    assert np.isfinite(trace.objective[0])


def test_each_folded_document_stops_on_its_own(rng):
    case = make_case(rng, absent=True)
    together = fold_in(case.problem(), serial, max_iter=50, tol=1e-3).mixtures[0]
    for d in range(len(case.theta)):
        alone = make_case(np.random.default_rng(20240), absent=True)
        alone.Xs = [X[[d]] for X in alone.Xs]
        alone.theta, alone.present = alone.theta[[d]], alone.present[[d]]
        done = fold_in(alone.problem(), serial, max_iter=50, tol=1e-3)
        np.testing.assert_array_equal(done.mixtures[0][0], together[d])


def test_an_update_of_nothing_changes_nothing(rng):
    from coview.em.step import em_step

    problem = make_case(rng).problem()
    after = em_step(problem, serial, "nothing").problem
    assert after.thetas is problem.thetas
    assert after.emissions is problem.emissions


@pytest.mark.filterwarnings("ignore::coview.DataWarning")
@pytest.mark.parametrize("counts", [[[6_000_000, 0, 1]], [[6_000_000, 3]]])
def test_rounding_of_millions_of_tokens_is_no_fall(counts, recwarn):
    """Their logarithms are near 0, and so is the sum; not so its error in single precision."""
    for seed in range(3):
        PLSA(2, random_state=seed, max_iter=60, tol=0.0).fit(Views(counts))
    assert not [one for one in recwarn if "fell" in str(one.message)]
