"""load_digits_views: five descriptions of the same images."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from coview.datasets import load_digits_views
from coview.datasets.digits import _contour, _fourier, _gradients

SIZES = {"pixels": 64, "profiles": 16, "fourier": 24, "gradients": 32, "contour": 32}


@pytest.fixture(scope="module")
def views():
    return load_digits_views()


def one_image(rows):
    """A single 8 x 8 image from a dict {(row, column): darkness}."""
    image = np.zeros((1, 8, 8))
    for place, darkness in rows.items():
        image[(0, *place)] = darkness
    return image


def described(describe, image):
    X, names = describe(image)
    return dict(zip(names, X[0], strict=True))


def test_all_views_have_all_images(views):
    assert {name: views[name].shape for name in views.names} == {
        name: (1797, size) for name, size in SIZES.items()
    }


def test_labels_are_the_digits(views):
    np.testing.assert_array_equal(views.labels, load_digits().target)
    assert list(views.label_names) == list("0123456789")


@pytest.mark.parametrize("name", SIZES)
def test_every_column_has_a_name_of_its_own(views, name):
    assert len(set(views.features[name])) == SIZES[name]


@pytest.mark.parametrize("name", SIZES)
def test_no_value_is_negative(views, name):
    assert views[name].toarray().min() >= 0


@pytest.mark.parametrize("name", SIZES)
def test_every_view_knows_the_digits_by_itself(views, name):
    X, y = views[name].toarray(), views.labels
    right = KNeighborsClassifier(3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert right > 0.75  # chance is 0.1


def test_profiles_are_sums_of_pixels(views):
    images = views["pixels"].toarray().reshape(-1, 8, 8)
    profiles = views["profiles"].toarray()
    np.testing.assert_array_equal(profiles[:, :8], images.sum(axis=2))
    np.testing.assert_array_equal(profiles[:, 8:], images.sum(axis=1))


def test_fourier_does_not_see_where_the_digit_stands():
    image = load_digits().images[:5]
    moved = np.roll(image, (2, 1), axis=(1, 2))
    np.testing.assert_allclose(_fourier(image)[0], _fourier(moved)[0])


def test_fourier_of_a_striped_image_is_one_frequency():
    stripes = np.tile([16.0, 16.0, 0.0, 0.0, 16.0, 16.0, 0.0, 0.0], (1, 8, 1))
    found = described(_fourier, stripes)
    assert [name for name, size in found.items() if size > 1e-9] == ["frequency_0_2"]


def test_gradients_of_an_edge_point_towards_the_ink():
    image = one_image({(row, column): 16 for row in range(8) for column in range(2, 8)})
    found = described(_gradients, image)
    strong = [name for name, size in found.items() if size > 0]
    assert strong == ["top_left_to_right", "bottom_left_to_right"]


def test_contour_counts_the_empty_pixels_before_the_ink():
    found = described(_contour, one_image({(1, 2): 16}))
    assert [found[name] for name in ("left_1", "right_1", "top_2", "bottom_2")] == [2, 5, 1, 6]


def test_contour_of_an_empty_line_is_its_length():
    assert described(_contour, one_image({(1, 2): 16}))["left_0"] == 8
