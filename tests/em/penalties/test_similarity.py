"""The similarity penalty and its steps against loops written from the paper."""

import itertools
import tracemalloc

import numpy as np
import pytest

from coview.em.penalties.base import Penalty
from coview.em.penalties.similarity import (
    SimilarityAgreement,
    all_pairs_fraction,
    n_all_pairs,
    sample_pairs,
)
from coview.em.simplex import pad_topics
from coview.em.step import em_step
from coview.runners.threads import ThreadRunner
from tests.planted import make_case, serial, stochastic
from tests.reference import pairwise_coplsa as reference

N_DOCS, N_TOPICS, SIGMA = 14, 3, 0.7
WIDTHS = (9, 7, 8)

n_views = pytest.mark.parametrize("n_views", [2, 3])
options = pytest.mark.parametrize(
    ("pins", "absent"), [(False, False), (True, False), (False, True), (True, True)]
)
steps = pytest.mark.parametrize("step", ["safe", "paper"])
strengths = pytest.mark.parametrize("strength", [1e-3, 0.1, 1.0, 30.0, 1e3])


class Setting:
    """A case with a mixture for each view, sampled pairs, and counts that m_step could get."""

    def __init__(self, rng, n_views=2, pins=False, absent=False):
        self.case = make_case(rng, WIDTHS[:n_views], pins=pins, absent=absent)
        self.thetas = tuple(stochastic(rng, N_DOCS, N_TOPICS) for _ in range(n_views))
        self.pairs = sample_pairs(N_DOCS, 40, rng)
        self.present, self.pinned = self.case.present, self.case.pinned
        self.counts = tuple(
            5 * X.sum(axis=1, keepdims=True) * stochastic(rng, N_DOCS, N_TOPICS)
            for X in self.case.Xs
        )

    def m_step(self, penalty):
        counts = tuple(c.copy() for c in self.counts)
        return penalty.m_step(counts, self.thetas, self.present, self.pinned)

    def reference_m_step(self, update, strength):
        """The cycle over the views, each step of which sees the others at their latest."""
        thetas = list(self.thetas)
        for v, n in enumerate(self.counts):
            known = strength, self.pairs, SIGMA, self.present, self.pinned
            thetas[v] = update(n, thetas, v, *known)
        return thetas

    def problem(self, penalty, nonzeros=None, dtype=np.float64):
        return self.case.problem(
            nonzeros,
            dtype,
            thetas=tuple(pad_topics(t, dtype) for t in self.thetas),
            slots=tuple(range(len(self.thetas))),
            penalty=penalty,
        )


def objectives(problem, n_iter):
    for _ in range(n_iter):
        step = em_step(problem, serial)
        yield step.values.objective
        problem = step.problem


def rises(values):
    values = np.array(list(values))
    return np.all(np.diff(values) >= -1e-11 * np.abs(values[:-1]))


# --- value and gradient ----------------------------------------------------------------------


@n_views
@pytest.mark.parametrize("absent", [False, True])
def test_the_value_is_the_references(rng, n_views, absent):
    at = Setting(rng, n_views, absent=absent)
    penalty = SimilarityAgreement(at.pairs, 2.5, SIGMA)
    expected = 2.5 * reference.penalty(at.thetas, at.pairs, SIGMA, at.present)
    assert penalty.value(at.thetas, at.present) == pytest.approx(expected, rel=1e-13)


@n_views
@pytest.mark.parametrize("absent", [False, True])
def test_the_gradient_is_the_references(rng, n_views, absent):
    at = Setting(rng, n_views, absent=absent)
    penalty = SimilarityAgreement(at.pairs, 2.5, SIGMA)
    for v in range(n_views):
        expected = 2.5 * reference.penalty_gradient(at.thetas, v, at.pairs, SIGMA, at.present)
        gradient = penalty.gradient(at.thetas, at.present, v)
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-13)


def test_the_gradient_is_the_derivative_of_the_value(rng):
    at = Setting(rng, n_views=3, absent=True)
    penalty = SimilarityAgreement(at.pairs, 2.5, SIGMA)
    gradient = penalty.gradient(at.thetas, at.present, 1)
    for d, k in itertools.product(range(N_DOCS), range(N_TOPICS)):
        ends = []
        for h in (1e-6, -1e-6):
            moved = [t.copy() for t in at.thetas]
            moved[1][d, k] += h
            ends.append(penalty.value(tuple(moved), at.present))
        assert gradient[d, k] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


def test_permuting_the_topics_of_one_view_leaves_the_value_alone(rng):
    at = Setting(rng, n_views=3)
    penalty = SimilarityAgreement(at.pairs, 1.0, SIGMA)
    permuted = (at.thetas[0], at.thetas[1][:, [2, 0, 1]], at.thetas[2])
    expected = penalty.value(at.thetas, at.present)
    assert penalty.value(permuted, at.present) == pytest.approx(expected, rel=1e-13)


def test_the_sampled_sum_rescaled_is_near_that_of_all_pairs(rng):
    thetas = tuple(stochastic(rng, 200, 4) for _ in range(2))
    present = np.ones((200, 2), bool)
    all_pairs = SimilarityAgreement(sample_pairs(200, 10**6, rng), 1.0)
    sampled = SimilarityAgreement(sample_pairs(200, 4000, rng), n_all_pairs(200) / 4000)
    expected = all_pairs.value(thetas, present)
    assert sampled.value(thetas, present) == pytest.approx(expected, rel=0.05)


# --- one step --------------------------------------------------------------------------------


@n_views
@options
@strengths
@pytest.mark.parametrize(
    ("step", "update"), [("safe", reference.safe_step), ("paper", reference.literal_step)]
)
def test_a_step_is_the_references(rng, n_views, pins, absent, strength, step, update):
    at = Setting(rng, n_views, pins, absent)
    new = at.m_step(SimilarityAgreement(at.pairs, strength, SIGMA, step))
    for theta, expected in zip(new, at.reference_m_step(update, strength), strict=True):
        np.testing.assert_allclose(theta, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("step", "strength"), [("safe", 1.0), ("safe", 1e3), ("paper", 0.1)])
def test_a_step_keeps_pins_and_mixtures_of_absent_views_to_the_bit(rng, step, strength):
    at = Setting(rng, n_views=3, pins=True, absent=True)
    at.thetas[0][0] = 1e-200, 0.25, 0.75
    new = at.m_step(SimilarityAgreement(at.pairs, strength, SIGMA, step))
    for v, (theta, old) in enumerate(zip(new, at.thetas, strict=True)):
        kept = at.pinned | ~at.present[:, v]
        assert np.array_equal(theta[kept], old[kept])
        assert not np.any(np.all(theta[~kept] == old[~kept], axis=1))


def test_an_empty_document_that_has_the_view_is_moved_by_its_pairs_alone(rng):
    at = Setting(rng)
    assert at.counts[0][1].sum() == 0
    new = at.m_step(SimilarityAgreement(at.pairs, 0.1, SIGMA))
    assert not np.allclose(new[0][1], at.thetas[0][1])


@steps
@pytest.mark.parametrize("without", ["strength", "pairs", "views"])
def test_without_anything_to_couple_the_step_is_that_of_plain_em(rng, step, without):
    at = Setting(rng, pins=True)
    pairs = at.pairs[:0] if without == "pairs" else at.pairs
    if without == "views":
        at.thetas, at.counts, at.present = at.thetas[:1], at.counts[:1], at.present[:, :1]
    penalty = SimilarityAgreement(pairs, 0.0 if without == "strength" else 5.0, SIGMA, step)
    assert penalty.value(at.thetas, at.present) == 0.0
    assert not penalty.gradient(at.thetas, at.present, 0).any()
    for theta, expected in zip(at.m_step(penalty), at.m_step(Penalty()), strict=True):
        assert np.array_equal(theta, expected)


@steps
@pytest.mark.parametrize("rare", [1.0, 1e-25])
def test_a_vanishing_strength_leads_to_plain_em(rng, step, rare):
    at = Setting(rng, pins=True)
    at.counts = tuple((c + 1e-3) * (rare, 1, 1) for c in at.counts)
    new = at.m_step(SimilarityAgreement(at.pairs, 1e-60, SIGMA, step))
    for theta, expected in zip(new, at.m_step(Penalty()), strict=True):
        np.testing.assert_allclose(theta, expected, rtol=1e-12)


@steps
def test_single_precision_with_padding_is_stepped_in_double_precision(rng, step):
    at = Setting(rng, n_views=3, pins=True, absent=True)
    penalty = SimilarityAgreement(at.pairs, 0.3, SIGMA, step)
    expected = at.m_step(penalty)
    counts = tuple(pad_topics(c, np.float32)[:, :N_TOPICS] for c in at.counts)
    thetas = tuple(pad_topics(t, np.float32)[:, :N_TOPICS] for t in at.thetas)
    new = penalty.m_step(counts, thetas, at.present, at.pinned)
    for theta, into, other in zip(new, counts, expected, strict=True):
        assert theta is into
        assert theta.dtype == np.float32
        np.testing.assert_allclose(theta, other, rtol=0, atol=1e-5)


@steps
def test_a_share_that_falls_below_what_the_precision_holds_becomes_zero(rng, step):
    at = Setting(rng)
    at.counts = tuple((c + 1e-3) * (1e-200, 1, 1) for c in at.counts)
    for theta in at.m_step(SimilarityAgreement(at.pairs, 1e-300, SIGMA, step)):
        assert np.all(theta[:, 0] == 0)
        assert np.all(theta[:, 1:] > 0)


def test_documents_too_far_apart_for_the_bandwidth_can_still_meet(rng):
    apart, together = np.array([[0.999, 0.001], [0.001, 0.999]]), np.full((2, 2), 0.5)
    penalty = SimilarityAgreement(np.array([[0, 1]]), 1.0, bandwidth=1e-3)
    counts = 9.0 * together, 9.0 * together
    new = penalty.m_step(counts, (apart, together), np.ones((2, 2), bool), None)
    np.testing.assert_allclose(new, [together, together])


@pytest.mark.parametrize("sigma", [1e-4, 1e-2, 1e2])
def test_any_bandwidth_gives_probabilities_and_ascends(rng, sigma):
    at = Setting(rng, n_views=3)
    problem = at.problem(SimilarityAgreement(at.pairs, 3.0, sigma))
    assert rises(objectives(problem, 20))
    for theta in at.m_step(SimilarityAgreement(at.pairs, 3.0, sigma)):
        np.testing.assert_allclose(theta.sum(axis=1), 1)
        assert np.all(theta >= 0)


# --- a shorter reach -------------------------------------------------------------------------


def reference_step_with_reach(reach):
    """`safe_step`, except that documents whose target needed a shift go `reach` of their way."""

    def update(counts, thetas, v, lam, pairs, sigma, present, pinned):
        known = lam, pairs, sigma, present
        target = reference.safe_candidate(counts, thetas, v, *known, pinned)
        shifted = np.any((target == 0) & (thetas[v] > 0), axis=1, keepdims=True)
        way = np.where(shifted, reach, 1.0) * (target - thetas[v])
        before = reference.m_step_value(counts, thetas, v, *known)
        for halving in range(reference.MAX_HALVINGS + 1):
            trial = list(thetas)
            trial[v] = thetas[v] + 0.5**halving * way
            if reference.m_step_value(counts, trial, v, *known) >= before:
                return trial[v]
        return thetas[v]

    return update


@n_views
@options
@strengths
def test_a_step_with_a_shorter_reach_is_the_references(rng, n_views, pins, absent, strength):
    at = Setting(rng, n_views, pins, absent)
    new = at.m_step(SimilarityAgreement(at.pairs, strength, SIGMA, reach=0.5))
    expected = at.reference_m_step(reference_step_with_reach(0.5), strength)
    for theta, other in zip(new, expected, strict=True):
        np.testing.assert_allclose(theta, other, rtol=0, atol=1e-12)


@strengths
def test_with_a_shorter_reach_no_share_of_an_empty_document_is_lost(rng, strength):
    at = Setting(rng, n_views=3)
    for n in at.counts:
        n[::2] = 0
    if strength == 1e-3:  # small enough for a whole step
        new = at.m_step(SimilarityAgreement(at.pairs, strength, SIGMA))
        assert min(theta.min() for theta in new) == 0
    new = at.m_step(SimilarityAgreement(at.pairs, strength, SIGMA, reach=0.5))
    assert min(theta.min() for theta in new) > 0


# --- iterations of EM ------------------------------------------------------------------------


@n_views
@options
@pytest.mark.parametrize("strength", [0.05, 2.0])
@pytest.mark.parametrize(("step", "name"), [("safe", "safe"), ("paper", "literal")])
def test_ten_iterations_are_the_references(rng, n_views, pins, absent, strength, step, name):
    at = Setting(rng, n_views, pins, absent)
    known = {"pairs": at.pairs, "present": at.present, "pinned": at.pinned, "step": name}
    weights, p_w_zs = at.case.weights, at.case.p_w_zs
    states, values = reference.pairwise_coplsa(
        at.case.Xs, at.thetas, p_w_zs, 10, weights, strength, SIGMA, **known
    )
    problem = at.problem(SimilarityAgreement(at.pairs, strength, SIGMA, step), nonzeros=6)
    for (thetas, topics), before in zip(states, values[:-1], strict=True):
        taken = em_step(problem, serial)
        problem = taken.problem
        assert taken.values.objective == pytest.approx(before, rel=1e-10)
        for v, emission in enumerate(problem.emissions):
            np.testing.assert_allclose(problem.mixtures[v], thetas[v], rtol=0, atol=1e-9)
            p_w_z = emission.by_term[:, :N_TOPICS].T
            np.testing.assert_allclose(p_w_z, topics[v], rtol=0, atol=1e-9)


@strengths
@options
@pytest.mark.parametrize("reach", [1.0, 0.5])
def test_the_objective_never_falls(rng, strength, pins, absent, reach):
    at = Setting(rng, 3, pins, absent)
    penalty = SimilarityAgreement(at.pairs, strength, SIGMA, reach=reach)
    assert penalty.monotone
    assert rises(objectives(at.problem(penalty), 60))


def test_the_papers_step_promises_nothing_and_may_fall(rng):
    at = Setting(rng, n_views=3)
    penalty = SimilarityAgreement(at.pairs, 30.0, SIGMA, "paper")
    assert not penalty.monotone
    assert not rises(objectives(at.problem(penalty), 20))


def test_agreement_grows_with_the_strength(rng):
    at = Setting(rng)
    left = []
    for strength in (0.0, 1.0, 100.0):
        problem = at.problem(SimilarityAgreement(at.pairs, strength, SIGMA, reach=0.5))
        for _ in range(60):
            problem = em_step(problem, serial).problem
        unit = SimilarityAgreement(at.pairs, 1.0, SIGMA)
        left.append(unit.value(problem.mixtures, at.present))
    assert left[0] > left[1] > left[2]


def test_blocks_and_threads_leave_the_bits_alone(rng):
    at = Setting(rng, n_views=3)
    ends = []
    for n_jobs in (1, 3):
        problem = at.problem(SimilarityAgreement(at.pairs, 0.3, SIGMA), nonzeros=5)
        with ThreadRunner(n_jobs) as run:
            for _ in range(5):
                problem = em_step(problem, run).problem
        ends.append(problem.mixtures)
    for a, b in zip(*ends, strict=True):
        assert np.array_equal(a, b)


# --- pairs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_docs", [0, 1, 2, 3, 4, 7, 8])
def test_pairs_are_different_ordered_sorted_and_as_many_as_asked(rng, n_docs):
    total = n_all_pairs(n_docs)
    for n_pairs in range(total + 3):
        pairs = sample_pairs(n_docs, n_pairs, rng)
        rows = [tuple(pair) for pair in pairs.tolist()]
        assert rows == sorted(set(rows))
        assert len(rows) == min(n_pairs, total)
        assert set(rows) <= set(reference.all_pairs(n_docs))


@pytest.mark.parametrize("n_pairs", [3, 8])
def test_every_pair_is_equally_likely(rng, n_pairs):
    seen = np.zeros((5, 5))
    for _ in range(3000):
        seen[tuple(sample_pairs(5, n_pairs, rng).T)] += 1
    shares = seen[np.triu_indices(5, 1)] / 3000
    np.testing.assert_allclose(shares, n_pairs / 10, atol=0.04)


def test_the_same_generator_draws_the_same_pairs():
    draws = [sample_pairs(1000, 500, np.random.default_rng(seed)) for seed in (3, 3, 4)]
    assert np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


def test_a_fraction_is_of_all_pairs(rng):
    assert len(all_pairs_fraction(200, 0.05, rng)) == 995
    assert len(all_pairs_fraction(200, 1.0, rng)) == n_all_pairs(200)
    assert len(all_pairs_fraction(3, 1e-6, rng)) == 1


def test_pairs_of_a_million_documents_take_memory_for_the_pairs_alone(rng):
    tracemalloc.start()
    pairs = sample_pairs(10**6, 10**5, rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert pairs.shape == (10**5, 2)
    assert peak < 20 * pairs.nbytes


def test_pairs_may_be_given_in_any_order(rng):
    at = Setting(rng)
    shuffled = rng.permutation(at.pairs)[:, ::-1]
    assert np.array_equal(SimilarityAgreement(shuffled, 1.0).pairs, at.pairs)


def test_impossible_settings_are_refused(rng):
    at = Setting(rng)
    for pair in ([2, 2], [-1, 2]):
        with pytest.raises(ValueError, match="two different documents"):
            SimilarityAgreement(np.array([pair]), 1.0)
    with pytest.raises(ValueError, match="step must be one of 'paper', 'safe'"):
        SimilarityAgreement(at.pairs, 1.0, step="fast")
    with pytest.raises(ValueError, match="document 14, but there are 14"):
        SimilarityAgreement(np.array([[0, 14]]), 1.0).value(at.thetas, at.present)
    with pytest.raises(ValueError, match="2 views need a mixture each"):
        SimilarityAgreement(at.pairs, 1.0).value(at.thetas[:1], at.present)


# --- strengths of pairs of views (4.2) -------------------------------------------------------


@options
@pytest.mark.parametrize(
    ("step", "update"), [("safe", reference.safe_step), ("paper", reference.literal_step)]
)
@pytest.mark.parametrize("strength", [0.1, 2.0, 100.0])
def test_a_step_with_strengths_of_pairs_is_the_references(
    rng, pins, absent, step, update, strength
):
    at = Setting(rng, 3, pins, absent)
    factors = np.array([[0, 1.0, 0.3], [1.0, 0, 0], [0.3, 0, 0]])
    penalty = SimilarityAgreement(at.pairs, strength, SIGMA, step, factors=factors)
    lam = strength * factors
    value = reference.penalty(at.thetas, at.pairs, SIGMA, at.present, lam)
    assert penalty.value(at.thetas, at.present) == pytest.approx(value, rel=1e-12)
    for v in range(3):
        slope = reference.penalty_gradient(at.thetas, v, at.pairs, SIGMA, at.present, lam)
        found = penalty.gradient(at.thetas, at.present, v)
        np.testing.assert_allclose(found, slope, rtol=0, atol=1e-10 * strength)
    for theta, expected in zip(at.m_step(penalty), at.reference_m_step(update, lam), strict=True):
        np.testing.assert_allclose(theta, expected, rtol=0, atol=1e-12)


def test_the_objective_never_falls_with_strengths_of_pairs(rng):
    at = Setting(rng, 3, absent=True)
    factors = np.array([[0, 1.0, 0.01], [1.0, 0, 0.2], [0.01, 0.2, 0]])
    penalty = SimilarityAgreement(at.pairs, 20.0, SIGMA, factors=factors)
    assert rises(list(objectives(at.problem(penalty), 20)))
