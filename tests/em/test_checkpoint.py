"""Checkpoints: a fit that was interrupted, killed or damaged goes on to the same bits."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from coview import Checkpoint, DamagedFile, DataWarning, LinkPLSA, TopicClassifier
from coview.datasets import make_views
from coview.em.checkpoint import describe
from coview.em.loop import Interrupted
from coview.em.step import em_step
from coview.models import MODEL_NAMES, ONE_VIEW, model_class


@pytest.fixture(scope="module")
def views():
    return make_views(80, 3, [30, 25], random_state=0, missing=0.1)


def make(name, **params):
    common = {"random_state": 0, "max_iter": 20, "tol": 0, "init": "kmeans"}
    return model_class(name)(3, **{**common, **params})


def data_of(name, views):
    return views.concat() if name in ONE_VIEW else views


def assert_same(a, b):
    np.testing.assert_array_equal(a.doc_topic_, b.doc_topic_)
    for view, topics in a.components_.items():
        np.testing.assert_array_equal(topics, b.components_[view])
    np.testing.assert_array_equal(a.trace_.objective, b.trace_.objective)
    np.testing.assert_array_equal(a.trace_.restarts, b.trace_.restarts)
    assert a.trace_.candidates == b.trace_.candidates
    np.testing.assert_array_equal(a.topic_stability_, b.topic_stability_)
    np.testing.assert_array_equal(a.doc_confidence_, b.doc_confidence_)
    assert (a.n_iter_, a.objective_) == (b.n_iter_, b.objective_)


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_a_fit_that_was_interrupted_goes_on_to_the_same_bits(name, views, tmp_path, broken_off):
    data = data_of(name, views)
    undisturbed = make(name).fit(data)
    # the steps before the run at hand are those of the voters
    before = sum(v.n_iter_ + 1 for v in getattr(undisturbed, "voters_", {}).values())
    broken_off(before + 17 * len(undisturbed._schedule))
    with pytest.raises(KeyboardInterrupt):
        make(name).fit(data, checkpoint=tmp_path / "run")
    broken_off(10_000)
    resumed = make(name).fit(data, checkpoint=Checkpoint(tmp_path / "run", resume=True))
    assert_same(resumed, undisturbed)


@pytest.mark.parametrize("n_steps", [0, 5, 25, 41, 42, 43, 70, 83, 84, 90])
def test_restarts_and_trials_go_on_wherever_they_were(n_steps, views, tmp_path, broken_off):
    params = {"n_init": 3, "init": "random"}
    undisturbed = make("link", **params).fit(views)
    broken_off(n_steps)
    with suppress(KeyboardInterrupt):
        make("link", **params).fit(views, checkpoint=Checkpoint(tmp_path / "run", every=4))
    broken_off(10_000)
    resumed = make("link", **params).fit(
        views, checkpoint=Checkpoint(tmp_path / "run", resume=True)
    )
    assert_same(resumed, undisturbed)


def test_a_state_is_written_every_n_iterations(views, tmp_path):
    written = []

    class Spy(Checkpoint):
        @property
        def files(self):
            written.append(True)
            return super().files

    make("link").fit(views, checkpoint=Spy(tmp_path / "run", every=5))
    # once for the lock, once to look whether there is a state, then after 5, 10, 15 and 20
    # iterations, and at the end
    assert len(written) == 2 + 4 + 1


def test_a_state_is_written_when_the_time_has_come(views, tmp_path, monkeypatch):
    clock = iter(range(10_000))
    monkeypatch.setattr("coview.em.checkpoint.time.monotonic", lambda: next(clock) * 3.0)
    make("link").fit(views, checkpoint=Checkpoint(tmp_path / "run", seconds=10))
    assert all(file.exists() for file in Checkpoint(tmp_path / "run").files)


def test_a_finished_fit_is_resumed_to_its_end_at_once(views, tmp_path, monkeypatch):
    first = make("link").fit(views, checkpoint=tmp_path / "run")
    steps = []
    monkeypatch.setattr("coview.em.loop.em_step", lambda *a: steps.append(a) or em_step(*a))
    assert_same(
        make("link").fit(views, checkpoint=Checkpoint(tmp_path / "run", resume=True)), first
    )
    assert [step[0].once for step in steps] == [(True, True)]  # it counts documents, no EM


def test_a_state_is_not_overwritten_by_accident(views, tmp_path):
    make("link").fit(views, checkpoint=tmp_path / "run")
    with pytest.raises(FileExistsError, match="resume=True"):
        make("link").fit(views, checkpoint=tmp_path / "run")
    Checkpoint(tmp_path / "run").delete()
    assert not list(tmp_path.iterdir())
    make("link").fit(views, checkpoint=tmp_path / "run")


def test_two_fits_cannot_use_one_checkpoint_at_the_same_time(views, tmp_path):
    """Their states would replace each other."""
    again = Checkpoint(tmp_path / "run", resume=True)

    def second_fit(_):
        with pytest.raises(BlockingIOError, match="another fit"):
            make("link").fit(views, checkpoint=again)
        return True

    make("link").fit(views, checkpoint=tmp_path / "run", on_iteration=second_fit)
    make("link").fit(views, checkpoint=again)
    assert not list(tmp_path.glob(".*"))


def test_a_lock_ends_with_the_process_that_held_it(views, tmp_path):
    script = (
        "import os, sys; from coview.outputs import locked\n"
        "with locked(sys.argv[1]): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, tmp_path / "run.0"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError):
            make("link").fit(views, checkpoint=tmp_path / "run")
        holder.kill()
    make("link").fit(views, checkpoint=tmp_path / "run")


def test_resuming_where_nothing_was_begun_begins(views, tmp_path):
    resumed = make("link").fit(views, checkpoint=Checkpoint(tmp_path / "run", resume=True))
    assert_same(resumed, make("link").fit(views))


@pytest.mark.parametrize(
    "other", [{"tol": 1e-9}, {"max_iter": 21}, {"init": "random"}, {"random_state": 1}]
)
def test_another_fit_cannot_be_resumed(other, views, tmp_path):
    make("link").fit(views, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="other data or with other parameters"):
        make("link", **other).fit(views, checkpoint=Checkpoint(tmp_path / "run", resume=True))


def test_other_data_or_labels_cannot_be_resumed(views, tmp_path):
    make("link").fit(views, checkpoint=tmp_path / "run")
    again = Checkpoint(tmp_path / "run", resume=True)
    with pytest.raises(ValueError, match="other data"):
        make("link").fit(views[:79], checkpoint=again)
    with pytest.raises(ValueError, match="other data"):
        make("link").fit(views, labels=views.labels, checkpoint=again)


def test_the_number_of_threads_may_change(views, tmp_path, broken_off):
    broken_off(7)
    with pytest.raises(Interrupted):
        make("link", n_jobs=1).fit(views, checkpoint=tmp_path / "run")
    broken_off(10_000)
    again = Checkpoint(tmp_path / "run", resume=True)
    assert_same(make("link", n_jobs=2).fit(views, checkpoint=again), make("link").fit(views))


def test_without_a_seed_the_fit_goes_on_with_the_one_it_had(views, tmp_path, broken_off):
    broken_off(7)
    with pytest.raises(Interrupted):
        make("link", random_state=None).fit(views, checkpoint=tmp_path / "run")
    broken_off(10_000)
    again = Checkpoint(tmp_path / "run", resume=True)
    resumed = make("link", random_state=None).fit(views, checkpoint=again)
    assert_same(resumed, make("link", random_state=resumed.random_state_used_).fit(views))


def newest_and_oldest(path):
    files = sorted(Checkpoint(path).files, key=lambda file: file.stat().st_mtime_ns)
    return files[1], files[0]


@pytest.mark.parametrize("damage", [lambda b: b[:100], lambda b: b[:-1], lambda b: b""])
def test_a_damaged_newest_state_falls_back_to_the_one_before(damage, views, tmp_path, broken_off):
    broken_off(18)
    with pytest.raises(Interrupted):
        make("link").fit(views, checkpoint=Checkpoint(tmp_path / "run", every=5))
    broken_off(10_000)
    newest, _ = newest_and_oldest(tmp_path / "run")
    newest.write_bytes(damage(newest.read_bytes()))
    with pytest.warns(DataWarning, match="The state before it is used"):
        resumed = make("link").fit(views, checkpoint=Checkpoint(tmp_path / "run", resume=True))
    assert_same(resumed, make("link").fit(views))


def test_two_damaged_states_are_an_error(views, tmp_path):
    make("link").fit(views, checkpoint=Checkpoint(tmp_path / "run", every=5))
    for file in Checkpoint(tmp_path / "run").files:
        file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(DamagedFile, match="No state can be read"):
        make("link").fit(views, checkpoint=Checkpoint(tmp_path / "run", resume=True))


def test_a_classifier_can_be_resumed(views, tmp_path, broken_off):
    broken_off(7)
    with pytest.raises(Interrupted):
        TopicClassifier(make("link")).fit(views, views.labels, checkpoint=tmp_path / "run")
    broken_off(10_000)
    again = Checkpoint(tmp_path / "run", resume=True)
    resumed = TopicClassifier(make("link")).fit(views, views.labels, checkpoint=again)
    assert_same(
        resumed.estimator_, TopicClassifier(make("link")).fit(views, views.labels).estimator_
    )


def test_a_checkpoint_tells_how_far_it_has_come(views, tmp_path, broken_off):
    assert describe(Checkpoint(tmp_path / "run")) is None
    broken_off(12)
    with pytest.raises(Interrupted):
        LinkPLSA(3, init="random", tol=0).fit(views, checkpoint=tmp_path / "run")
    assert describe(Checkpoint(tmp_path / "run")) == {"restarts_done": 0, "iterations": 12}


def test_nonsense_is_refused(views):
    with pytest.raises(TypeError, match="must be a path or"):
        LinkPLSA(3).fit(views, checkpoint=3)
    with pytest.raises(ValueError, match="every"):
        Checkpoint("x", every=0)


@pytest.mark.slow
def test_100_kills_at_random_moments_change_nothing(tmp_path):
    script = Path(__file__).parents[1] / "campaigns" / "kill_campaign.py"
    ran = subprocess.run(
        [sys.executable, script, tmp_path, "100", "0"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["kills"] >= 100
    assert found["fits"] >= 4
    assert found["wrong"] == 0
