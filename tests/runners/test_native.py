"""One thread for native libraries."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from coview.runners import native
from coview.runners.native import one_native_thread

np.ones((2, 2)) @ np.ones((2, 2))  # BLAS is loaded


def n_threads(user_api="blas"):
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == user_api}


def test_blas_has_one_thread_inside_and_as_many_as_before_after_it():
    with threadpool_limits(3):
        before = n_threads()
        with one_native_thread("blas"):
            assert n_threads() == {1}
        assert n_threads() == before != {1}


def test_limits_may_be_nested():
    with threadpool_limits(3):
        before = n_threads()
        with one_native_thread():
            with one_native_thread("blas"):
                pass
            assert n_threads() == {1}
        assert n_threads() == before


def test_libraries_are_searched_again_after_an_import(monkeypatch):
    with one_native_thread():
        pass
    searched = native._controller.cache_info().misses
    with one_native_thread():
        pass
    assert native._controller.cache_info().misses == searched
    monkeypatch.setitem(native.sys.modules, "coview_tests_new_module", native)
    with one_native_thread():
        pass
    assert native._controller.cache_info().misses == searched + 1
