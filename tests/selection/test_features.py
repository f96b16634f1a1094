"""Views as features."""

import numpy as np
import pytest

from coview import Views
from coview.selection.features import deal_halves, embedding, view_features


def test_shares_of_words_are_linear_in_the_mixture():
    """A document that is half of one topic and half of another lies between the two."""
    first, second = np.array([8, 0, 4, 0]), np.array([0, 6, 0, 6])
    rows = view_features(Views([first, second, first + second]))[0].linear.toarray()
    np.testing.assert_allclose(rows[2], (rows[0] + rows[1]) / 2)


def test_measurements_are_standardized_over_the_documents_that_have_them():
    rng = np.random.default_rng(0)
    values = rng.normal(5, 3, size=(30, 4))
    values[:10] = 0
    present = np.ones((30, 1), bool)
    present[:10] = False
    view = view_features(Views({"x": values}, present=present))[0]
    np.testing.assert_allclose(view.points[10:].mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(view.points[10:].std(axis=0), 1)
    assert not view.points[:10].any()


@pytest.mark.parametrize("widths", [[10], [7, 4], [1, 1, 1]])
def test_halves_are_equal_up_to_one(widths):
    halves = np.concatenate(deal_halves(widths, np.random.default_rng(0)))
    assert abs((halves == 0).sum() - (halves == 1).sum()) <= len(widths) % 2 + sum(widths) % 2


def test_absent_views_do_not_tell_documents_apart():
    """Two clusters, seen in both views; with either view missing they are still two."""
    rng = np.random.default_rng(0)
    z = np.repeat([0, 1], 60)
    views = [np.eye(2)[z] @ rng.random((2, 8)) + 0.01 * rng.random((120, 8)) for _ in range(2)]
    present = [np.arange(120) % 3 != 0, np.arange(120) % 3 != 1]
    for rows, has in zip(views, present, strict=True):
        rows[~has] = 0
    points = embedding(views, present, [1.0, 1.0], 4, rng)
    near = points @ points.T
    same = z[:, None] == z[None, :]
    assert near[same].min() > near[~same].max()
