"""Ctrl-C, callbacks and progress."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from coview import LinkPLSA
from coview.callbacks import FitCallbacks
from coview.datasets import make_views
from coview.names import MODEL_NAMES, ONE_VIEW, model_class

SCRIPT = textwrap.dedent(
    """
    import sys
    from coview import LinkPLSA
    from coview.datasets import make_views

    views = make_views(3000, 5, [2000, 1500], doc_length=120, random_state=0)
    options = {"tol": 0.0, "random_state": 0, "init": "random", "n_jobs": int(sys.argv[1])}
    model = LinkPLSA(40, max_iter=100_000, **options)
    LinkPLSA(2, max_iter=2, tol=0.0).fit(views[:50])  # compile
    print("begin", flush=True)
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
        time.sleep(3)
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

        def hear(self, problem):
            if next(left, None) is None:
                raise KeyboardInterrupt

        monkeypatch.setattr(FitCallbacks, "after_iteration", hear)

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
    for view in data.names:
        np.testing.assert_array_equal(model.components_[view], undisturbed.components_[view])
        mixtures = (m.view_doc_topic_[view] for m in (model, undisturbed))
        np.testing.assert_array_equal(*mixtures)


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
