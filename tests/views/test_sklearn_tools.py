"""scikit-learn's and joblib's tools for data take a container as it is."""

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    train_test_split,
)
from sklearn.utils import check_array, resample, shuffle
from sklearn.utils.validation import check_consistent_length, indexable

from coview import Views


@pytest.fixture
def views(rng):
    """The first column of each view is the document's number, so rows can be recognized."""
    numbers = np.arange(1, 21)
    return Views(
        {
            "a": np.column_stack([numbers, rng.poisson(1, (20, 3))]),
            "b": np.column_stack([numbers, rng.poisson(1, (20, 5))]),
        },
        ids=[f"d{number}" for number in numbers],
        labels=numbers % 2,
    )


def numbers(views):
    """The documents, if views, ids and labels agree on which they are."""
    found = [views[name].toarray()[:, 0].astype(int).tolist() for name in views.names]
    assert found[0] == found[1] == [int(i[1:]) for i in views.ids]
    assert views.labels.tolist() == [number % 2 for number in found[0]]
    return found[0]


def test_train_test_split(views):
    train, test, y_train, y_test = train_test_split(
        views, views.labels, test_size=0.25, random_state=0
    )
    assert isinstance(train, Views)
    assert len(test) == 5
    assert sorted(numbers(train) + numbers(test)) == list(range(1, 21))
    np.testing.assert_array_equal(train.labels, y_train)
    np.testing.assert_array_equal(test.labels, y_test)


def test_train_test_split_without_shuffle(views):
    train, test = train_test_split(views, shuffle=False, test_size=5)
    assert numbers(train) == list(range(1, 16))
    assert numbers(test) == list(range(16, 21))


def test_stratified_split(views):
    _, test = train_test_split(views, test_size=0.4, stratify=views.labels, random_state=0)
    assert np.bincount(test.labels).tolist() == [4, 4]
    numbers(test)


@pytest.mark.parametrize(
    "splitter",
    [KFold(4), KFold(4, shuffle=True, random_state=0), StratifiedKFold(4), ShuffleSplit(2)],
    ids=lambda splitter: type(splitter).__name__,
)
def test_splitters(views, splitter):
    for train, test in splitter.split(views, views.labels):
        assert len(numbers(views[train])) == len(train)
        assert not set(numbers(views[train])) & set(numbers(views[test]))


def test_shuffle(views):
    shuffled = shuffle(views, random_state=0)
    assert numbers(shuffled) != numbers(views)
    assert sorted(numbers(shuffled)) == numbers(views)


def test_resample_with_replacement_repeats_documents(views):
    drawn = resample(views, n_samples=30, random_state=0)
    assert len(set(numbers(drawn))) < 30
    assert len(drawn) == 30


def test_it_is_indexable_with_labels_and_of_consistent_length(views):
    assert indexable(views, views.labels)[0] is views
    check_consistent_length(views, views.labels)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        check_consistent_length(views, views.labels[:-1])


def test_a_tool_that_wants_one_array_gets_advice(views):
    with pytest.raises(TypeError, match="concat"):
        check_array(views)


def test_joblib_sends_it_to_other_processes(views):
    halves = Parallel(n_jobs=2, max_nbytes=1)(
        delayed(numbers)(views[half]) for half in (slice(0, 10), slice(10, 20))
    )
    assert halves[0] + halves[1] == numbers(views)
