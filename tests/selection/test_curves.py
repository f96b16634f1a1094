"""What the curves say."""

import numpy as np
import pytest

from coview.selection.curves import Curve, smallest_within_error, suggest

TOPICS = np.arange(2, 10)
NOTHING = Curve(np.full((1, 8), np.nan))


def peak(at, *, height=0.8, noise=0.0, width=2.0):
    """A curve of three repetitions with its largest values around `at`."""
    shape = height * np.exp(-(((TOPICS - at) / width) ** 2))
    return Curve(shape + noise * np.random.default_rng(0).normal(size=(3, 8)))


def decide(
    *, features, documents=None, bits=NOTHING, perplexity=NOTHING, stability=NOTHING, cliff=None
):
    curves = {
        "features": features,
        "documents": documents or features,
        "bits": bits,
        "perplexity": perplexity,
        "stability": stability,
    }
    return suggest(TOPICS, curves, cliff)


def test_a_clear_peak_is_suggested_with_confidence():
    found = decide(features=peak(5, noise=0.01), stability=peak(5))
    assert (found.topics, found.confidence) == (5, "high")
    assert "agree most on 5 clusters" in found.reason


def test_flat_curves_do_not_decide_and_it_is_said():
    found = decide(features=peak(5, noise=0.2, width=20))
    assert found.confidence == "low"
    assert "do not decide between" in found.reason
    assert str(max(found.plausible)) in found.reason


def test_a_cliff_outweighs_the_agreement():
    found = decide(features=peak(3), cliff=7)
    assert (found.topics, found.confidence) == (7, "medium")
    assert "share 6 dimensions" in found.reason
    assert "3 clusters" in found.reason


def many(best, others=0.5):
    """Curves at 2 to 40 topics that agree most on one number."""
    topics = np.arange(2, 41)
    values = np.full((3, 39), others) + 0.01 * np.random.default_rng(0).normal(size=(3, 39))
    values[:, topics == best] = 0.9
    nothing = Curve(np.full((1, 39), np.nan))
    curves = dict.fromkeys(("bits", "perplexity", "stability"), nothing)
    return topics, {**curves, "features": Curve(values), "documents": Curve(values)}


@pytest.mark.parametrize(
    ("best", "cliff", "chosen"),
    [
        (20, 18, 20),  # two of nineteen dimensions are too weak to be seen
        (20, 22, 22),  # there are not too many
        (20, 12, 12),  # nor so few
    ],
)
def test_a_cliff_may_miss_a_tenth_of_the_topics(best, cliff, chosen):
    found = suggest(*many(best), cliff)
    assert (found.topics, found.votes["dimensions"]) == (chosen, cliff)


def test_where_halves_agree_no_better_on_more_the_cliff_counts():
    assert suggest(*many(20, others=0.9), 18).topics == 18


def test_of_numbers_that_agree_equally_the_one_that_tells_most_is_suggested():
    """A small cluster apart from the rest is found again by every half, but tells little."""
    flat = peak(8, noise=0.01).values
    flat[:, 0] = flat[:, 6]
    bits = Curve(np.tile([0.2, 1.0, 1.4, 1.7, 1.9, 2.1, 2.9, 2.6], (3, 1)))
    found = decide(features=Curve(flat), bits=bits)
    assert {2, 8} <= set(found.plausible)
    assert (found.topics, found.confidence) == (8, "low")


def test_a_cliff_outside_the_candidates_is_ignored():
    assert decide(features=peak(3), cliff=15).topics == 3


def test_two_peaks_that_disagree_are_not_sure():
    found = decide(features=peak(5), stability=peak(9), perplexity=Curve(-peak(2).values))
    assert (found.topics, found.confidence) == (5, "medium")
    assert found.votes == {"features": 5, "documents": 5, "stability": 9, "perplexity": 2}


def test_the_end_of_the_range_is_not_trusted():
    found = decide(features=peak(9))
    assert (found.topics, found.confidence) == (9, "low")
    assert "try more than 9" in found.reason


def test_where_nothing_replicates_it_is_said():
    found = decide(features=peak(5, height=0.02))
    assert found.confidence == "low"
    assert "hardly agree" in found.reason


def test_without_any_measurement_the_smallest_number_is_suggested():
    found = decide(features=NOTHING)
    assert (found.topics, found.confidence) == (2, "low")


def test_perplexity_chooses_the_smallest_within_a_standard_error():
    values = np.array([[9, 5.0, 4.1, 4.0], [9, 5.2, 4.2, 4.05], [9, 5.1, 4.1, 4.0]])
    assert smallest_within_error(np.array([2, 4, 6, 8]), Curve(values)) == 8
    values[2, 2] = 3.8
    assert smallest_within_error(np.array([2, 4, 6, 8]), Curve(values)) == 6


def test_a_curve_is_nan_where_nothing_was_measured():
    curve = Curve(np.array([[1.0, np.nan, 3.0], [3.0, np.nan, 3.0]]))
    np.testing.assert_array_equal(curve.mean, [2, np.nan, 3])
    assert curve.sd[0] == pytest.approx(np.sqrt(2))
