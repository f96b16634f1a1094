"""Fits along numbers of topics."""

import numpy as np
import pytest

from coview.datasets import make_views
from coview.selection.features import view_features
from coview.selection.fits import Folds, matched_similarity
from coview.selection.halves import whole_points


@pytest.fixture(scope="module")
def folds():
    views = make_views(240, 4, [60, 40], random_state=0)
    rng = np.random.default_rng(0)
    points = whole_points(view_features(views), [1.0, 1.0], 10, rng)
    return Folds.deal(views, points, n_topics=4, seed=0)


def test_matching_ignores_the_order_of_topics():
    topics = np.random.default_rng(0).dirichlet(np.ones(8), 3)
    roots = np.sqrt(topics)
    assert matched_similarity(roots, roots[[2, 0, 1]]) == pytest.approx(1)
    assert matched_similarity(np.eye(4)[:2], np.eye(4)[2:]) == 0


def test_perplexity_and_stability_speak_for_the_planted_topics(folds):
    right, few, many = (folds.fit(k, n_jobs=1) for k in (4, 2, 8))
    assert (right.perplexity < few.perplexity).all()
    assert right.stability.mean() > max(few.stability.mean(), many.stability.mean())
    assert right.perplexity.shape == right.stability.shape == (3,)


def test_the_fits_are_the_same_for_any_number_of_threads(folds):
    one, two = folds.fit(3, n_jobs=1), folds.fit(3, n_jobs=2)
    np.testing.assert_array_equal(one.perplexity, two.perplexity)


def test_too_few_documents_are_not_fitted(folds):
    assert folds.possible(160)
    assert not folds.possible(161)
    few = Folds.deal(folds.views[:19], folds.points[:19], n_topics=2, seed=0)
    assert not few.possible(2)
