"""Tests against worked examples and scipy."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from coview.compare import bootstrap_interval, holm, paired_test
from coview.compare.aggregate import Group
from coview.compare.stats import compare_with, least_p, rank

# depression scores of nine patients before and after a drug (Hollander & Wolfe, 1973, p. 29)
BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]


def test_the_signed_rank_test_on_a_textbook_example():
    # V = 40 of 45: 10 of the 512 sign patterns are at least as extreme on one side
    assert paired_test(BEFORE, AFTER) == pytest.approx(2 * 10 / 512)


def test_the_signed_rank_test_by_listing_all_signs():
    a, b = np.array([5.0, 3.1, 4.4, 2.0, 6.3, 1.0]), np.array([4.0, 3.3, 2.1, 1.5, 3.0, 0.2])
    ranks = scipy.stats.rankdata(abs(a - b))
    observed = ranks[a > b].sum()
    signs = np.array(np.meshgrid(*[[0, 1]] * 6)).reshape(6, -1).T
    sums = signs @ ranks
    extreme = min((sums >= observed).mean(), (sums <= observed).mean())
    assert paired_test(a, b) == pytest.approx(2 * extreme)


def test_the_t_test_is_that_of_scipy():
    expected = scipy.stats.ttest_rel(BEFORE, AFTER).pvalue
    assert paired_test(BEFORE, AFTER, test="t") == pytest.approx(expected)


@pytest.mark.parametrize("test", ["wilcoxon", "t"])
def test_equal_measurements_do_not_differ(test):
    assert paired_test([0.5, 0.6, 0.7], [0.5, 0.6, 0.7], test=test) == 1.0


def test_rounding_noise_is_no_difference():
    assert paired_test([0.1 + 0.2] * 8, [0.3] * 8) == 1.0


def test_a_constant_difference_is_certain_for_the_t_test():
    assert paired_test([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], test="t") == 0.0


def test_one_pair_says_nothing():
    assert np.isnan(paired_test([1.0], [2.0]))


def test_numbers_that_are_no_pairs_are_refused():
    with pytest.raises(ValueError, match="Pairs are needed"):
        paired_test([1.0, 2.0], [1.0])


@pytest.mark.parametrize("n", range(2, 9))
def test_the_least_p_value_is_reached_when_all_differences_have_one_sign(n):
    assert paired_test(np.arange(n) + 1.5, np.zeros(n)) == pytest.approx(least_p(n))


def test_a_single_pair_can_show_nothing():
    assert least_p(1, test="t") == least_p(1) == 1


def test_holm_worked_by_hand():
    # sorted .005 .011 .02 .04 .13 times 5 4 3 2 1: .025 .044 .06 .08 .13
    p = [0.04, 0.005, 0.13, 0.011, 0.02]
    assert holm(p) == pytest.approx([0.08, 0.025, 0.13, 0.044, 0.06])


def test_holm_never_orders_p_values_anew_and_stops_at_one():
    # 3 * .02 = .06 is larger than 2 * .025 = .05, which is raised to it
    assert holm([0.02, 0.025, 0.9]) == pytest.approx([0.06, 0.06, 0.9])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]


def test_holm_does_not_count_comparisons_that_could_not_be_made():
    assert holm([0.01, np.nan, 0.03]) == pytest.approx([0.02, np.nan, 0.03], nan_ok=True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
@settings(deadline=None)
def test_holm_as_it_is_defined(p):
    ordered = sorted(range(len(p)), key=lambda i: p[i])
    for place, i in enumerate(ordered):
        steps = [min(1, (len(p) - j) * p[ordered[j]]) for j in range(place + 1)]
        assert holm(p)[i] == pytest.approx(max(steps))


def test_p_values_outside_of_their_range_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.2])


def test_the_bootstrap_interval_agrees_with_that_of_scipy():
    values = np.random.default_rng(1).normal(0.8, 0.05, 30)
    ours = bootstrap_interval(values)
    peer = scipy.stats.bootstrap((values,), np.mean, method="percentile", rng=2)
    assert ours == pytest.approx(tuple(peer.confidence_interval), abs=0.002)


def test_the_bootstrap_interval_is_the_same_each_time():
    values = [0.1, 0.5, 0.3]
    assert bootstrap_interval(values) == bootstrap_interval(values)


def group(values):
    return Group(dict(enumerate(values)), len(values), 0, "", False)


def test_a_rival_with_too_few_runs_does_not_keep_the_others_from_being_tested():
    steady = [0.8, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86]
    close = [v + d for v, d in zip(steady, [-0.02, 0.01] * 3 + [-0.02], strict=True)]
    found = rank(
        {"best": group(steady), "close": group(close), "few": group([0.5, 0.5])},
        *("accuracy", "wilcoxon", 0.05),
    )
    assert found.best == {"best", "close"}
    assert (found.n_compared, found.n_tested, found.n_pairs, found.needed) == (2, 1, 2, 7)


def test_comparisons_that_too_few_runs_cannot_decide_are_not_made():
    p_values = compare_with(group([1.0] * 7), [group([0.9, 0.8]), group([0.5] * 7)])
    assert np.isnan(p_values[0])
    assert p_values[1] == pytest.approx(2 / 2**7)


def test_the_rank_sum_test_forgets_which_values_belong_together():
    a = [0.50, 0.60, 0.70, 0.80, 0.90, 1.00]
    b = [value - 0.01 for value in a]
    assert paired_test(a, b) < 0.05
    assert paired_test(a, b, test="rank_sum") > 0.5
    assert paired_test(a, b[::-1], test="rank_sum") == paired_test(a, b, test="rank_sum")
    for n in (3, 4, 6):  # all of one above all of the other
        least = paired_test(range(n), range(n, 2 * n), test="rank_sum")
        assert least == pytest.approx(least_p(n, test="rank_sum"))
