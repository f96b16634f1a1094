"""Which documents are labeled: at least one a class, the exact share, the same for a seed."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coview.compare import draw_labeled, draw_test

LABELS = st.lists(st.integers(1, 30), min_size=2, max_size=6).map(
    lambda sizes: np.repeat(np.arange(len(sizes)), sizes)
)
RATES = st.floats(0.001, 1.0)
SAMPLINGS = ("uniform", "stratified")


@pytest.mark.parametrize("sampling", SAMPLINGS)
@given(labels=LABELS, rate=RATES, seed=st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_the_share_is_exact_and_every_class_has_one(sampling, labels, rate, seed):
    rows = draw_labeled(labels, rate, sampling=sampling, seed=seed)
    n_classes = len(np.unique(labels))
    assert len(np.unique(rows)) == len(rows) == max(n_classes, int(rate * len(labels) + 0.5))
    assert len(np.unique(labels[rows])) == n_classes


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_seed_fixes_the_draw_and_another_changes_it(sampling):
    labels = np.repeat([0, 1], 100)
    draws = [draw_labeled(labels, 0.1, sampling=sampling, seed=s).tolist() for s in (4, 4, 5)]
    assert draws[0] == draws[1] != draws[2]


def test_uniform_draws_every_set_that_has_all_classes_equally_often():
    labels = np.array([0, 0, 0, 1, 1])
    allowed = [s for s in combinations(range(5), 3) if len(set(labels[list(s)])) == 2]
    n_draws = 1000
    found = Counter(tuple(draw_labeled(labels, 0.6, seed=s).tolist()) for s in range(n_draws))
    assert set(found) == set(allowed)
    expected = n_draws / len(allowed)
    # five standard deviations of a binomial count
    assert all(abs(found[s] - expected) < 5 * np.sqrt(expected) for s in allowed)


def test_twenty_classes_and_twenty_labels_are_no_problem():
    labels = np.repeat(np.arange(20), 50)
    rows = draw_labeled(labels, 0.001)
    assert np.array_equal(np.sort(labels[rows]), np.arange(20))


def test_stratified_keeps_the_shares_of_the_classes():
    labels = np.repeat([0, 1, 2], [60, 30, 10])
    rows = draw_labeled(labels, 0.2, sampling="stratified")
    assert np.bincount(labels[rows]).tolist() == [12, 6, 2]


def test_documents_without_a_class_are_never_drawn():
    labels = np.array([0, -1, 1, -1, 0, 1])
    assert not set(draw_labeled(labels, 1.0)) & {1, 3}
    texts = np.array(["x", None, "y", None, "x", "y"], dtype=object)
    assert draw_labeled(texts, 1.0).tolist() == [0, 2, 4, 5]


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes"):
        draw_labeled([1, 1, -1], 0.5)


def test_a_test_split_has_its_share_and_is_fixed_by_the_seed():
    first, same, other = (draw_test(201, 0.25, seed=s) for s in (1, 1, 2))
    assert first.sum() == 50
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_a_split_without_training_or_test_documents_is_refused():
    with pytest.raises(ValueError, match="leaves no documents"):
        draw_test(3, 0.01)
