"""Dimensions that halves of the features share."""

import numpy as np
import pytest
from experiments.defaults.planted import texts

from coview import Views
from coview.datasets import make_views
from coview.selection.dimensions import SharedDimensions, related_views, shared_dimensions
from coview.selection.features import view_features


def dimensions_of(views, n_dims=15):
    features = view_features(views)
    return shared_dimensions(features, [1.0] * len(features), n_dims, seed=0)


@pytest.mark.parametrize("n_topics", [2, 4, 7])
@pytest.mark.parametrize("mixed", [None, 0.2])
def test_there_is_one_dimension_less_than_topics(n_topics, mixed):
    """Whether documents have one topic or several."""
    views = texts(n_topics, 0, n_docs=400, own=0.7, mixed=mixed)
    assert dimensions_of(views).topics == n_topics


def test_missing_views_add_no_dimension():
    assert dimensions_of(make_views(400, 4, 80, 2, missing=0.3, random_state=0)).topics == 4


def test_noise_has_no_dimension():
    rng = np.random.default_rng(0)
    found = dimensions_of(Views(rng.poisson(1.0, size=(300, 60))))
    assert found.topics is None
    assert np.abs(found.strength).max() < 3


@pytest.mark.parametrize(
    ("strength", "edge"),
    [
        ([20, 15, 12, 0.3, -0.5, 0.6, 0.1, 0.2], 3),  # a cliff
        ([20, 15, 12, 9, 7, 5, 4, 3], None),  # it goes on
        ([9, 7, 5, 4, 3, 2.2, 1.4, 0.9, 0.5, 0.2, 0.0], None),  # it fades away
        ([0.5, -0.2, 0.1, 0.4, 0.3], None),  # nothing
    ],
)
def test_a_cliff_is_told_from_a_slope(strength, edge):
    assert SharedDimensions(np.array(strength, float)).edge == edge


def test_a_view_of_other_things_gets_no_weight():
    views = make_views(400, 4, 80, 3, view_noise={"view_1": 1.0}, random_state=0)
    weights = related_views(view_features(views), seed=0)
    assert weights[1] < 0.05
    assert min(weights[0], weights[2]) > 0.8


def test_of_two_unrelated_views_both_count():
    views = make_views(300, 4, 80, 2, view_noise=1.0, random_state=0)
    np.testing.assert_array_equal(related_views(view_features(views), seed=0), [1, 1])
