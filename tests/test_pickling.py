"""Pickled models tell when another version reads them."""

import copy
import pickle

import numpy as np
import pytest

from coview import PLSA, DataWarning, TopicClassifier, pickling
from coview.baselines import KMeansViews

X = [[5, 1, 0], [0, 1, 4], [4, 2, 0]]


@pytest.fixture(params=["model", "classifier", "baseline"])
def fitted(request):
    if request.param == "model":
        return PLSA(2, random_state=0).fit(X)
    if request.param == "classifier":
        return TopicClassifier(PLSA(2, random_state=0)).fit(X, [0, 1, 0])
    return KMeansViews(2, random_state=0).fit(X)


def test_the_same_version_reads_without_a_word(fitted):
    for again in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert vars(again).keys() == vars(fitted).keys()


def test_another_version_warns(fitted, monkeypatch):
    data = pickle.dumps(fitted)
    monkeypatch.setattr(pickling, "__version__", "9.0")
    with pytest.warns(DataWarning, match=r"pickled by coview 0\..* read by 9\.0.*model\.save"):
        again = pickle.loads(data)
    assert vars(again).keys() == vars(fitted).keys()


def test_a_pickle_without_a_version_warns():
    model = PLSA(2, random_state=0).fit(X)
    again = PLSA()
    with pytest.warns(DataWarning, match="pickled by an early version"):
        again.__setstate__(vars(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
