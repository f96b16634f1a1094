"""Exponentials and logarithms by their bits, against those of NumPy."""

import numpy as np
import pytest
from numba import njit

from coview.kernels import elementary

# callers may reassociate: what they call must not
CALLER = {"error_model": "numpy", "fastmath": {"reassoc", "contract"}}


@njit(**CALLER)
def all_exp(x, out):
    for k in range(len(x)):
        out[k] = elementary.exp(x[k])


@njit(**CALLER)
def all_log(x, out):
    for k in range(len(x)):
        out[k] = elementary.log(x[k])


@njit(**CALLER)
def all_log_ratio(b, a, difference, out):
    for k in range(len(a)):
        out[k] = elementary.log_ratio(b[k], a[k], difference[k])


def applied(function, *arrays):
    out = np.empty_like(arrays[0])
    function(*arrays, out)
    return out


@pytest.mark.parametrize("width", [1e-12, 1.0, 30.0, 690.0])
def test_exp_is_right_to_the_last_bits(rng, width):
    x = rng.uniform(-width, width, 1003)
    np.testing.assert_allclose(applied(all_exp, x), np.exp(x), rtol=1e-15)


def test_exp_of_what_is_far_below_is_zero():
    x = np.array([-1e300, -701.0, -np.inf, 0.0, -0.0])
    np.testing.assert_array_equal(applied(all_exp, x), [0, 0, 0, 1, 1])


@pytest.mark.parametrize("exponents", [(-290, 290), (-1, 1), (-1e-9, 1e-9)])
def test_log_is_right_to_the_last_bits(rng, exponents):
    x = 10.0 ** rng.uniform(*exponents, 1003)
    np.testing.assert_allclose(applied(all_log, x), np.log(x), rtol=1e-15, atol=1e-17)


@pytest.mark.parametrize("size", [1e-14, 1e-3, 0.099, 0.101, 1e3, 1e200])
def test_the_log_of_a_ratio_keeps_small_differences(rng, size):
    a = rng.uniform(0.5, 2.0, 1003)
    difference = size * a * rng.uniform(0.5, 1.0, 1003)
    expected = np.log1p(difference / a)
    found = applied(all_log_ratio, a + difference, a, difference)
    np.testing.assert_allclose(found, expected, rtol=5e-15)  # the sum is rounded
    back = applied(all_log_ratio, a, a + difference, -difference)
    np.testing.assert_allclose(back, -expected, rtol=1e-14)
