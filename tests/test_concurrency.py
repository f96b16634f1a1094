"""Threads, forks and shared estimators."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from coview import DataWarning, LinkPLSA
from coview.datasets import make_views

VIEWS = make_views(200, 3, [40, 30], doc_length=40, random_state=0)


def fitted():
    return LinkPLSA(3, random_state=0, init="random", tol=1e-4).fit(VIEWS)


def test_many_threads_may_predict_at_once():
    model = fitted()
    expected = model.transform(VIEWS)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: model.transform(VIEWS), range(24)):
            np.testing.assert_array_equal(found, expected)


def test_many_threads_may_fit_estimators_of_their_own():
    expected = fitted().doc_topic_
    with ThreadPoolExecutor(4) as pool:
        for model in pool.map(lambda _: fitted(), range(8)):
            np.testing.assert_array_equal(model.doc_topic_, expected)


def test_one_estimator_is_fitted_by_one_thread_at_a_time():
    started, go_on = threading.Event(), threading.Event()

    class Slow(LinkPLSA):
        def _check_parameters(self):
            started.set()
            go_on.wait(30)

    model = Slow(3, tol=0.0, max_iter=3, random_state=0, init="random")
    thread = threading.Thread(target=model.fit, args=(VIEWS,))
    thread.start()
    assert started.wait(30)
    with pytest.raises(RuntimeError, match="being fitted already"):
        model.fit(VIEWS)
    go_on.set()
    thread.join(60)
    assert model.n_iter_ == 3
    model.fit(VIEWS)  # and again, once it is free


def _transform_in_child(model, queue):
    queue.put(model.transform(VIEWS))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_forked_child_can_go_on():
    model = fitted()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_transform_in_child, args=(model, queue))
    child.start()
    np.testing.assert_array_equal(queue.get(timeout=120), model.transform(VIEWS))
    child.join(30)
    assert child.exitcode == 0


def test_pins_on_empty_documents_alone_draw_a_warning():
    X = np.vstack([np.eye(4), np.zeros((1, 4))])
    with pytest.warns(DataWarning, match="labeled 1 are empty"):
        model = LinkPLSA(2, random_state=0, tol=1e-3).fit(X, labels=[0, -1, -1, -1, 1])
    assert np.isfinite(model.components_["X"]).all()
