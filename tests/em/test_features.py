"""From views to points."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview import Views
from coview.datasets import make_views
from coview.em.features import Features
from coview.em.starts import concatenated_tfidf


def test_counts_are_weighted_as_for_the_starts_of_the_models():
    views = make_views(40, 3, [30, 20], random_state=0)
    found = Features.learn(views).side_by_side(views)
    expected = concatenated_tfidf([m.astype(float) for m in views.matrices.values()])
    np.testing.assert_allclose(found.toarray(), expected.toarray())


def test_dense_measurements_go_to_the_unit_interval_then_to_length_one(rng):
    X = rng.random((20, 4)) * [1, 10, 100, 1000] + 5
    found = Features.learn(Views({"a": X})).side_by_side(Views({"a": X})).toarray()
    scaled = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    expected = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected)


def test_raw_points_are_the_values_themselves(rng):
    views = Views({"a": rng.random((6, 3)) * 50, "b": sp.csr_array(np.eye(6) * 7)})
    found = Features.learn(views, "raw").side_by_side(views).toarray()
    np.testing.assert_array_equal(found, np.hstack([views["a"].toarray(), views["b"].toarray()]))


def test_new_documents_are_weighted_as_the_training_ones():
    views = make_views(60, 3, [30, 20], random_state=0)
    features = Features.learn(views)
    np.testing.assert_array_equal(
        features.side_by_side(views[:7]).toarray(), features.side_by_side(views).toarray()[:7]
    )


def test_documents_without_a_view_have_no_say_in_it_and_stay_at_the_origin():
    whole = make_views(40, 3, {"a": 30, "b": 20}, random_state=0)
    present = np.ones((40, 2), bool)
    present[25:, 1] = False
    matrices = {"a": whole["a"], "b": sp.diags_array(present[:, 1].astype(float)) @ whole["b"]}
    found = Features.learn(Views(matrices, present=present)).points(Views(matrices))["b"].toarray()
    assert (found[25:] == 0).all()
    np.testing.assert_allclose(
        found[:25], concatenated_tfidf([whole["b"][:25]]).toarray(), rtol=1e-6
    )


def test_a_view_that_is_not_given_is_all_zeros():
    views = make_views(20, 2, {"a": 10, "b": 5}, random_state=0)
    found = Features.learn(views).points(Views({"a": views["a"]}))
    assert found["b"].shape == (20, 5)
    assert found["b"].nnz == 0


def test_another_number_of_columns_is_refused_by_view():
    views = make_views(20, 2, {"a": 10, "b": 5}, random_state=0)
    with pytest.raises(ValueError, match="View 'b': X has 4 features, but CCA is expecting 5"):
        Features.learn(views).points(Views({"b": views["b"][:, :4]}), "CCA")
