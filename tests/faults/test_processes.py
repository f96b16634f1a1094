"""Known faults of processes, threads and signals: rows 50 to 58 of the catalogue."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from coview import Checkpoint, DataWarning, LinkPLSA
from coview.datasets import make_views
from coview.em.restarts import FitCallbacks
from tests.campaigns.dense import in_child

VIEWS = make_views(120, 3, [40, 30], doc_length=30, random_state=0)
QUICK = {"init": "random", "max_iter": 8, "tol": 0.0, "random_state": 0}


def model(**options):
    return LinkPLSA(3, **{**QUICK, **options})


def test_row_50_ctrl_c_during_a_fit(monkeypatch):
    n_done = 0

    def interrupt(self, problem):
        nonlocal n_done
        n_done += 1
        if n_done == 4:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(FitCallbacks, "after_iteration", interrupt)
    stopped = model()
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(VIEWS)
    monkeypatch.undo()
    shorter = model(max_iter=4).fit(VIEWS)
    np.testing.assert_array_equal(stopped.doc_topic_, shorter.doc_topic_)


def test_row_51_many_threads_predict():
    fitted = model().fit(VIEWS)
    expected = fitted.transform(VIEWS)
    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(lambda _: fitted.transform(VIEWS), range(12)):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_row_52_a_fork_after_a_fit():
    fitted = model(n_jobs=2).fit(VIEWS)
    np.testing.assert_array_equal(
        in_child(lambda: fitted.transform(VIEWS)), fitted.transform(VIEWS)
    )


def test_row_53_another_number_of_threads():
    expected = model(n_jobs=1).fit(VIEWS).doc_topic_
    for n_jobs in (2, 3):
        np.testing.assert_array_equal(model(n_jobs=n_jobs).fit(VIEWS).doc_topic_, expected)


def test_row_54_another_number_of_blocks(rng):
    from coview.em.loop import run_em
    from tests.planted import make_case, serial

    case = make_case(rng)
    one = run_em(case.problem(), serial, max_iter=6, tol=0.0).problem.mixtures[0]
    many = run_em(case.problem(nonzeros=5), serial, max_iter=6, tol=0.0).problem.mixtures[0]
    np.testing.assert_allclose(one, many, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::coview.DataWarning")
def test_row_55_no_memory_left():
    estimator = LinkPLSA(10**12)
    with pytest.raises(MemoryError, match="topics"):
        estimator.fit(VIEWS)
    assert not hasattr(estimator, "doc_topic_")


def test_row_56_a_fit_that_fails_half_way(monkeypatch):
    fitted = model().fit(VIEWS)
    before = fitted.doc_topic_.copy()

    def fail(self, problem):
        raise OSError("no more")

    monkeypatch.setattr(FitCallbacks, "after_iteration", fail)
    with pytest.raises(OSError, match="no more"):
        fitted.fit(VIEWS[:50])
    np.testing.assert_array_equal(fitted.doc_topic_, before)
    assert len(fitted.labels_) == len(VIEWS)


def test_row_57_two_fits_of_one_estimator_at_once():
    started, go_on = threading.Event(), threading.Event()

    class Slow(LinkPLSA):
        def _check_parameters(self):
            started.set()
            go_on.wait(30)

    shared = Slow(3, **QUICK)
    thread = threading.Thread(target=shared.fit, args=(VIEWS,))
    thread.start()
    assert started.wait(30)
    with pytest.raises(RuntimeError, match="being fitted already"):
        shared.fit(VIEWS)
    go_on.set()
    thread.join(60)
    assert shared.n_iter_ == 8


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_row_58_a_process_killed_during_a_fit(tmp_path):
    expected = model().fit(VIEWS).doc_topic_
    child = os.fork()
    if not child:
        try:
            FitCallbacks.after_iteration = _die_at_the_fifth
            model().fit(VIEWS, checkpoint=Checkpoint(tmp_path / "run", every=1))
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    resumed = model().fit(VIEWS, checkpoint=Checkpoint(tmp_path / "run", resume=True))
    np.testing.assert_array_equal(resumed.doc_topic_, expected)


def _die_at_the_fifth(self, problem, seen=[]):  # noqa: B006
    seen.append(1)
    if len(seen) == 5:
        os.kill(os.getpid(), signal.SIGKILL)


def test_row_61_a_damaged_newest_state(tmp_path):
    state = Checkpoint(tmp_path / "run", every=1)
    expected = model().fit(VIEWS, checkpoint=state).doc_topic_
    newest = max(state.files, key=lambda file: file.stat().st_mtime_ns)
    newest.write_bytes(newest.read_bytes()[:-20])
    resume = Checkpoint(tmp_path / "run", resume=True)
    with pytest.warns(DataWarning, match="state before it is used"):
        np.testing.assert_array_equal(model().fit(VIEWS, checkpoint=resume).doc_topic_, expected)
    for file in state.files:
        file.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="No state can be read"):
        model().fit(VIEWS, checkpoint=resume)
