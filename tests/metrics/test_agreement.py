"""Agreement between views."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from coview.metrics import mean_view_agreement, view_agreement


@pytest.fixture
def mixtures(rng):
    return {name: rng.dirichlet(np.full(4, 0.5), 30) for name in "abc"}


def test_jensen_shannon_is_the_square_of_the_distance_of_scipy(mixtures):
    found = view_agreement(mixtures)
    a, b, c = mixtures.values()
    assert found[0, 1] == pytest.approx(1 - np.mean(jensenshannon(a, b, base=2, axis=1) ** 2))
    assert found[2, 1] == pytest.approx(1 - np.mean(jensenshannon(c, b, base=2, axis=1) ** 2))
    np.testing.assert_array_equal(found, found.T)


def test_disjoint_mixtures_agree_in_nothing():
    mixtures = {"a": np.array([[1.0, 0], [0, 1.0]]), "b": np.array([[0, 1.0], [1.0, 0]])}
    assert mean_view_agreement(mixtures) == pytest.approx(0)
    assert mean_view_agreement(mixtures, kind="argmax") == 0
    assert mean_view_agreement(mixtures, kind="aligned") == 1  # the same up to names of topics


def test_renumbered_topics_are_aligned(mixtures, rng):
    views = {"a": mixtures["a"], "b": mixtures["a"][:, rng.permutation(4)]}
    assert mean_view_agreement(views, kind="aligned") == 1


def test_only_documents_with_both_views_count(mixtures):
    present = np.ones((30, 3), bool)
    present[5:, 1] = False
    found = view_agreement(mixtures, kind="argmax", present=present)
    first = {name: m[:5] for name, m in mixtures.items()}
    assert found[0, 1] == view_agreement(first, kind="argmax")[0, 1]
    assert found[0, 2] == view_agreement(mixtures, kind="argmax")[0, 2]


def test_views_without_common_documents_are_left_out(mixtures):
    present = np.ones((30, 3), bool)
    present[:15, 0], present[15:, 1] = False, False
    found = view_agreement(mixtures, present=present)
    assert np.isnan(found[0, 1])
    expected = (found[0, 2] + found[1, 2]) / 2
    assert mean_view_agreement(mixtures, present=present) == pytest.approx(expected)


def test_mixtures_of_different_shapes_are_refused(mixtures):
    with pytest.raises(ValueError, match=r"a \(30, 4\), b \(30, 3\)"):
        view_agreement({"a": mixtures["a"], "b": mixtures["b"][:, :3]})


def test_what_is_no_mixture_is_refused_where_it_counts(mixtures):
    present = np.ones((30, 3), bool)
    present[0, 1] = False
    mixtures["b"][0] = np.nan
    assert np.isfinite(view_agreement(mixtures, present=present)).all()
    with pytest.raises(ValueError, match="those of the view 'b' are not"):
        view_agreement(mixtures)
    with pytest.raises(ValueError, match="sum to one"):
        view_agreement({"a": mixtures["a"] * 5, "c": mixtures["c"]})


@pytest.mark.parametrize("present", [np.ones((1, 3), bool), np.ones((30, 3), int)])
def test_a_mask_of_another_shape_or_kind_is_refused(mixtures, present):
    with pytest.raises(ValueError, match=r"booleans of shape \(30, 3\)"):
        view_agreement(mixtures, present=present)
