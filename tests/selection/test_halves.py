"""What two halves of the documents tell about each other."""

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

from coview.datasets import make_views
from coview.selection.halves import Documents, agreement, confirmed


@pytest.mark.parametrize("seed", range(5))
def test_bits_are_mutual_information_beyond_chance(seed):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(4, size=(2, 60))
    other[:40] = one[:40]
    by_chance = expected_mutual_information(contingency_matrix(one, other), 60)
    wanted = (mutual_info_score(one, other) - by_chance) / np.log(2)
    assert agreement(one, other).bits == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_topics_come_back_by_more_than_half_of_their_documents(seed):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(4, size=(2, 60))
    other[:35] = one[:35]
    naive = 0
    for a in range(4):
        for b in range(4):
            both, either = np.sum((one == a) & (other == b)), np.sum((one == a) | (other == b))
            expected = np.sum(one == a) * np.sum(other == b) / 60
            chance = expected / (np.sum(one == a) + np.sum(other == b) - expected)
            naive += (both / either - chance) / (1 - chance) > 0.5
    assert agreement(one, other).back == naive


def test_one_topic_confirms_nothing():
    assert agreement(np.zeros(5, int), np.zeros(5, int)).bits == 0


def test_both_halves_name_a_topic_for_every_document():
    views = make_views(120, 3, [60, 40], missing=0.2, random_state=0)
    rng = np.random.default_rng(0)
    halves = Documents.of(views, rng).deal(5, rng)
    assert sorted([*halves[0].docs, *halves[1].docs]) == list(range(120))
    np.testing.assert_array_equal(halves[0].docs, halves[1].rest)
    for half in halves:
        topics = half.topics_of_all(3, rng)
        assert topics.shape == (120,)
        assert set(topics) == {0, 1, 2}
    assert confirmed(halves, 3, rng).back == 3
