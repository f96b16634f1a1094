"""Ctrl-C, callbacks and progress."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from itertools import count
from unittest import mock

import numpy as np
import pytest

from coview import MGGM, LinkPLSA
from coview.datasets import make_views
from coview.em.restarts import FitCallbacks
from coview.em.step import em_step
from coview.models import MODEL_NAMES, ONE_VIEW, model_class

SCRIPT = textwrap.dedent(
    """
    import sys
    from coview import LinkPLSA
    from coview.datasets import make_views
    from coview.em.restarts import FitCallbacks

    views = make_views(1000, 5, [1000, 800], doc_length=100, random_state=0)
    options = {"tol": 0.0, "random_state": 0, "init": "random", "n_jobs": int(sys.argv[1])}
    model = LinkPLSA(40, max_iter=100_000, **options)
    LinkPLSA(2, max_iter=2, tol=0.0, init="random").fit(views[:50])  # compile
    n_done = 0

    def after_iteration(self, problem):
        global n_done
        n_done += 1
        if n_done == 3:
            print("begin", flush=True)

    FitCallbacks.after_iteration = after_iteration
    try:
        model.fit(views)
    except KeyboardInterrupt:
        print("n_iter", model.n_iter_, "score", model.score(views), flush=True)
    """
)


@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_ctrl_c_leaves_the_last_complete_state(n_jobs):
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, n_jobs], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline().strip() == "begin"
        time.sleep(0.2)  # into the midst of some later iteration
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    words = out.split()
    assert words[0] == "n_iter"
    assert int(words[1]) > 1
    assert float(words[3]) < 0


@pytest.fixture
def ctrl_c(monkeypatch):
    """Makes the n-th iteration from now on end in Ctrl-C, whichever restart it belongs to."""

    def after(n_iterations):
        left = iter(range(n_iterations - 1))

        def interrupt(self, attributes):
            if next(left, None) is None:
                raise KeyboardInterrupt

        monkeypatch.setattr(FitCallbacks, "after_iteration", interrupt)

    return after


@pytest.mark.parametrize("name", sorted(set(MODEL_NAMES) - {"voted"}))  # whose voters iterate too
def test_what_ctrl_c_leaves_is_the_model_of_that_many_iterations(name, ctrl_c):
    views = make_views(80, 3, [30, 25], random_state=0, missing=0.1)
    data = views.concat() if name in ONE_VIEW else views
    options = {"random_state": 0, "tol": 0.0, "init": "random"}
    undisturbed = model_class(name)(3, max_iter=5, **options).fit(data)
    model = model_class(name)(3, max_iter=50, **options)
    ctrl_c(5)
    with pytest.raises(KeyboardInterrupt):
        model.fit(data)
    np.testing.assert_array_equal(model.doc_topic_, undisturbed.doc_topic_)
    np.testing.assert_array_equal(model.labels_, undisturbed.labels_)
    assert model.n_iter_ == undisturbed.n_iter_ == 5
    # one less: to know the objective of the last state takes one more sweep
    np.testing.assert_array_equal(model.trace_.objective, undisturbed.trace_.objective[:4])
    for view in data.names:
        np.testing.assert_array_equal(model.components_[view], undisturbed.components_[view])
        mixtures = (m.view_doc_topic_[view] for m in (model, undisturbed))
        np.testing.assert_array_equal(*mixtures)


RANDOM = {"tol": 0.0, "init": "random", "max_iter": 20}


@pytest.fixture(scope="module")
def views():
    return make_views(80, 3, [30, 25], random_state=0, missing=0.1)


def test_ctrl_c_in_a_later_restart_keeps_a_better_one_that_is_finished(views, ctrl_c):
    first = LinkPLSA(3, random_state=0, **RANDOM).fit(views)
    model = LinkPLSA(3, random_state=0, n_init=3, **RANDOM)
    ctrl_c(20 + 2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(views)
    np.testing.assert_array_equal(model.doc_topic_, first.doc_topic_)
    assert model.trace_.restarts.tolist() == [first.objective_] == [model.objective_]
    assert model.n_iter_ == 20


def test_ctrl_c_in_a_later_restart_keeps_that_one_if_it_is_better(views, ctrl_c):
    fits = (LinkPLSA(3, random_state=seed, n_init=2, **RANDOM).fit(views) for seed in range(20))
    both = next(fit for fit in fits if np.diff(fit.trace_.restarts) > 1)
    model = LinkPLSA(3, random_state=both.random_state_used_, n_init=2, **RANDOM)
    ctrl_c(20 + 20)
    with pytest.raises(KeyboardInterrupt):
        model.fit(views)
    np.testing.assert_array_equal(model.doc_topic_, both.doc_topic_)
    assert model.trace_.restarts.tolist() == both.trace_.restarts[:1].tolist()


def test_ctrl_c_before_a_later_restart_has_begun_keeps_what_is_finished(views):
    class Halted(LinkPLSA):
        def _starts(self, data, views, rng, restart):
            if hasattr(self, "begun"):
                raise KeyboardInterrupt
            self.begun = True
            return super()._starts(data, views, rng, restart)

    first = LinkPLSA(3, random_state=0, **RANDOM).fit(views)
    model = Halted(3, random_state=0, n_init=3, **RANDOM)
    with pytest.raises(KeyboardInterrupt):
        model.fit(views)
    np.testing.assert_array_equal(model.doc_topic_, first.doc_topic_)


def test_ctrl_c_while_starts_are_tried_keeps_the_best_of_them(views, monkeypatch):
    trial = {"init": "trial", "random_state": 0, "tol": 0.0}
    tried = LinkPLSA(3, max_iter=20, **trial).fit(views).trace_.candidates
    steps = count()
    into_the_last = (len(tried) - 1) * 21 + 2  # with one iteration of it done

    def step(*args):
        if next(steps) == into_the_last:
            raise KeyboardInterrupt
        return em_step(*args)

    monkeypatch.setattr("coview.em.loop.em_step", step)
    model = LinkPLSA(3, max_iter=30, **trial)
    with pytest.raises(KeyboardInterrupt):
        model.fit(views)
    assert model.objective_ == max(objective for _, objective in tried[:-1])


def test_ctrl_c_in_the_model_that_makes_a_start_leaves_nothing_of_that_model(views, ctrl_c):
    model = MGGM(3, 5, init="ltm", random_state=0)
    ctrl_c(3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(views)
    assert not hasattr(model, "doc_topic_")


def test_on_iteration_gets_the_fitted_attributes_after_each_iteration(views):
    states = []
    model = LinkPLSA(3, random_state=0, tol=0.0, max_iter=4).fit(views, on_iteration=states.append)
    assert len(states) == 4
    np.testing.assert_array_equal(states[-1]["doc_topic_"], model.doc_topic_)
    np.testing.assert_array_equal(states[-1]["components_"]["view_0"], model.components_["view_0"])


def test_on_iteration_can_stop_a_run(views):
    options = {"random_state": 0, "tol": 0.0, "init": "random"}
    told = iter([False, None, True])
    stopped = LinkPLSA(3, max_iter=50, **options).fit(views, on_iteration=lambda state: next(told))
    whole = LinkPLSA(3, max_iter=3, **options).fit(views)
    np.testing.assert_array_equal(stopped.doc_topic_, whole.doc_topic_)
    assert stopped.n_iter_ == 3


def test_a_callback_hears_of_every_iteration_and_gets_a_model_that_transforms():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    views = make_views(40, 2, [8, 6], doc_length=60, term_concentration=2.0, random_state=0)

    class Recorder:
        required_estimator_states = ()

        def __init__(self):
            self.events = []

        def setup(self, estimator, context):
            self.events.append("setup")

        def on_fit_task_begin(self, estimator, context, **kwargs):
            pass

        def on_fit_task_end(self, estimator, context, **kwargs):
            self.events.append(context.task_name)

        def teardown(self, estimator, context):
            self.events.append("teardown")

    recorder = Recorder()
    model = LinkPLSA(2, random_state=0, max_iter=6, tol=0.0).set_callbacks(recorder).fit(views)
    assert recorder.events == ["setup", *["iteration"] * 6, "fit", "teardown"]
    plain = LinkPLSA(2, random_state=0, max_iter=6, tol=0.0).fit(views)
    np.testing.assert_array_equal(model.doc_topic_, plain.doc_topic_)


def test_scikit_learns_own_progress_bar_runs():
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    views = make_views(40, 2, [8, 6], doc_length=60, term_concentration=2.0, random_state=0)
    LinkPLSA(2, random_state=0, max_iter=3, tol=0.0).set_callbacks(callback.ProgressBar()).fit(
        views
    )


def test_verbose_shows_a_bar_on_standard_error_and_quiet_shows_nothing(capfd):
    views = make_views(40, 2, [8, 6], doc_length=60, term_concentration=2.0, random_state=0)
    LinkPLSA(2, random_state=0, max_iter=3, tol=0.0).fit(views)
    assert capfd.readouterr() == ("", "")
    LinkPLSA(2, random_state=0, max_iter=3, tol=0.0, verbose=1).fit(views)
    out, err = capfd.readouterr()
    assert out == ""
    assert "LinkPLSA" in err


def test_the_bar_tells_of_the_ensemble_and_of_each_start_that_is_tried(capfd, views):
    LinkPLSA(3, random_state=0, max_iter=3, tol=0.0, verbose=1).fit(views)
    told = capfd.readouterr().err
    assert "LinkPLSA, ensemble" in told
    assert "clustering in several ways" in told
    quiet = LinkPLSA(3, init="trial", view_weights="balanced", max_iter=3, tol=0.0, verbose=1)
    notes = []
    with mock.patch("coview.em.restarts.progress_bar", _recording(notes)):
        quiet.set_params(random_state=0).fit(views)
    assert "ensemble" not in capfd.readouterr().err
    tried = [note for note in notes if note.startswith("start ")]
    assert tried[0] == "start kmeans, 1 of 7"
    assert tried[-1] == "start random, 7 of 7"


def _recording(notes):
    @contextmanager
    def bar(*args, **kwargs):
        yield lambda done, note="": notes.append(note)

    return bar
