"""Fits from disk: steps, what they leave behind, and what can go wrong on the way."""

import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

import coview
from coview import (
    MVPLSA,
    Checkpoint,
    DivergenceCoPLSA,
    LinkPLSA,
    Views,
    open_shards,
    write_shards,
)
from coview.datasets import make_views
from coview.em import loop
from coview.em.shard_step import ShardJob, add_gradient, at_work, step_shard, write_documents
from coview.em.shard_step import write_parameters as write_shared
from coview.em.step import Gradients, conclude, em_step
from coview.runners.disk import DiskRunner
from coview.shards import storage
from coview.shards.writing import ViewHead, finish_folder, new_folder
from coview.store import DamagedFile
from coview.views import blocks
from tests.planted import serial
from tests.same import assert_same, assert_same_fit

pytestmark = pytest.mark.filterwarnings("ignore:.*has not converged")


@pytest.fixture
def views():
    return make_views(150, 3, [50, 40], missing=0.2, random_state=0)


@pytest.fixture
def sharded(views, monkeypatch, tmp_path):
    """Six shards of two blocks and more."""
    monkeypatch.setattr(blocks, "MIN_NONZEROS", 150)
    monkeypatch.setattr(blocks, "MAX_NONZEROS", 200)
    monkeypatch.setattr(blocks, "MOST_SHARDS", 7)
    found = write_shards(views, tmp_path / "x.shards")
    assert len(found.blocks) > len(found.shards) > 3
    return found


def model(cls=LinkPLSA, **params):
    common = {"init": "random", "random_state": 0, "tol": 0.0, "max_iter": 6}
    return cls(3, **{**common, **params})


def files_in(folder):
    return sorted(os.listdir(folder))


# -- steps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [LinkPLSA, DivergenceCoPLSA])
def test_step_shard_adds_up_to_the_step_in_memory(cls, views, sharded, monkeypatch, tmp_path):
    """The jobs of a cluster, one after the other."""
    steps, in_memory = [], []
    labels = np.where(np.arange(len(views)) % 5 == 0, views.labels, -1)
    step_of = _steps_by_jobs(tmp_path, labels)
    monkeypatch.setattr(loop, "em_step", lambda problem, *rest: in_memory.append(problem))
    with pytest.raises(AttributeError):
        model(cls).fit(views, labels=labels)
    monkeypatch.setattr(
        DiskRunner, "step", lambda run, problem, update: steps.append(step_of(run, problem, update))
    )
    with pytest.raises(AttributeError):  # of a step that is None
        model(cls).fit(sharded, labels=labels)
    (found,) = steps
    schedule = "both" if cls is LinkPLSA else "emissions"
    wanted = em_step(in_memory[0], serial, schedule)
    assert_same(found.values, wanted.values, "values")
    for one, other in zip(found.problem.emissions, wanted.problem.emissions, strict=True):
        assert_same(one.by_term, other.by_term, "topics")
    for i, shard in enumerate(sharded.shards) if schedule == "both" else ():
        rows = np.load(tmp_path / f"mixtures{i}", allow_pickle=False)
        assert_same(rows, wanted.problem.thetas[0][shard.start : shard.stop], "mixtures")


def _steps_by_jobs(folder, labels):
    def step(run, problem, update):
        sharded, before = run._sharded, problem.thetas[0].generation
        write_shared(f"{folder}/parameters", problem, run._recipe)
        grads, values = Gradients.zeros(problem), []
        for i, shard in enumerate(sharded.shards):
            docs = f"{folder}/documents{i}"
            write_documents(docs, problem, slice(shard.start, shard.stop), labels, run._internal)
            job = ShardJob(
                f"{sharded.path}/{shard.name}",
                f"{folder}/parameters",
                docs,
                before.path(i),
                f"{folder}/mixtures{i}",
                f"{folder}/gradient{i}",
                update,
                type(at_work(problem.penalty)),
            )
            values += step_shard(job, n_threads=2).values
            add_gradient(grads, job.gradient)
        return conclude(problem, values, grads, None)

    return step


def test_dense_measurements_are_scaled_block_by_block(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 5)) + 3 * (np.arange(60) % 3 == 0)[:, None]
    counts = rng.poisson(1.0, (60, 20))
    views = Views({"a": dense, "b": sp.csr_array(counts)})
    monkeypatch.setattr(blocks, "MIN_NONZEROS", 100)
    monkeypatch.setattr(blocks, "MAX_NONZEROS", 100)
    sharded = write_shards(views, tmp_path / "x.shards")
    assert_same_fit(model().fit(sharded), model().fit(views))


def test_new_documents_from_disk(views, sharded):
    fitted = model().fit(views)
    assert_same(fitted.transform(sharded), fitted.transform(views), "transform")
    assert_same(fitted.predict(sharded), fitted.predict(views), "predict")
    guess = np.full((150, 3), 1 / 3)
    found, wanted = fitted.fold_in(sharded, guess=guess), fitted.fold_in(views, guess=guess)
    assert_same(found, wanted, "fold_in")


def test_callbacks_see_the_state_and_end_the_run(views, sharded):
    seen = []

    def on_iteration(state):
        seen.append(state["doc_topic_"].copy())
        return len(seen) == 3

    found = model().fit(sharded, on_iteration=on_iteration)
    assert found.n_iter_ == 3
    assert_same(seen[-1], found.doc_topic_, "doc_topic_")


@pytest.mark.parametrize(
    "cls",
    [LinkPLSA, *(pytest.param(c, marks=pytest.mark.slow) for c in (MVPLSA, DivergenceCoPLSA))],
)
def test_other_starts_come_from_a_sample(cls, views, sharded, small_sample):
    found = cls(3, random_state=0, max_iter=20).fit(sharded)
    np.testing.assert_allclose(found.doc_topic_.sum(axis=1), 1, rtol=1e-5)
    assert normalized_mutual_info_score(views.labels, found.labels_) > 0.6
    # terms that the sample lacks are not impossible
    for name, topics in found.components_.items():
        assert (topics.sum(axis=0) > 0)[found.term_counts_[name] > 0].all()
    assert np.isnan(found.doc_confidence_).sum() == 100  # those that are not in the sample
    if cls is LinkPLSA:
        again = cls(3, random_state=0, max_iter=20, n_jobs=1).fit(sharded)
        assert_same_fit(again, found)


def test_given_starts_and_models_with_a_sample(views, sharded, small_sample):
    given = model(init=views.labels).fit(sharded)
    assert normalized_mutual_info_score(views.labels, given.labels_) > 0.8
    mixtures = model(init=given.doc_topic_).fit(sharded)
    assert normalized_mutual_info_score(views.labels, mixtures.labels_) > 0.8
    assert (model(init=given).fit(sharded).labels_ == given.labels_).mean() > 0.9


# -- what is left behind ---------------------------------------------------------------------------


def test_at_most_two_generations_are_on_disk_and_none_is_left(sharded, tmp_path, monkeypatch):
    counts, step = [], DiskRunner.step

    def spy(self, *args):
        taken = step(self, *args)
        counts.append(len(files_in(self._store.folder)))
        return taken

    monkeypatch.setattr(DiskRunner, "step", spy)
    model().fit(sharded)
    assert max(counts) == 2
    assert files_in(tmp_path) == ["x.shards"]


@pytest.mark.parametrize("stop", [3, 9])
def test_a_fit_that_fails_is_resumed_to_the_same_bits(stop, views, sharded, tmp_path):
    path, count = tmp_path / "state", []

    def fail(state):
        count.append(1)
        if len(count) == stop:
            raise RuntimeError

    wanted = model(DivergenceCoPLSA, n_init=2).fit(views)
    with pytest.raises(RuntimeError):
        model(DivergenceCoPLSA, n_init=2).fit(
            sharded, checkpoint=Checkpoint(path, every=1), on_iteration=fail
        )
    assert files_in(tmp_path) == ["state.0", "state.1", "state.mixtures", "x.shards"]
    count.clear()
    again = Checkpoint(path, resume=True)
    found = model(DivergenceCoPLSA, n_init=2).fit(
        sharded, checkpoint=again, on_iteration=lambda state: count.append(1)
    )
    assert_same_fit(found, wanted)
    assert len(count) == 12 - stop
    again.delete()
    assert files_in(tmp_path) == ["x.shards"]


KILLED = """
import os, signal, sys
from coview import Checkpoint, LinkPLSA, open_shards
from coview.views import blocks
blocks.MIN_NONZEROS, blocks.MAX_NONZEROS, blocks.MOST_SHARDS = 150, 200, 7
left = [4]
def kill(state):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
LinkPLSA(3, init="random", random_state=0, tol=0.0, max_iter=6).fit(
    open_shards(sys.argv[1]), checkpoint=Checkpoint(sys.argv[2], every=1), on_iteration=kill
)
"""


def test_a_killed_fit_is_resumed_and_leaves_nothing(views, sharded, tmp_path):
    path = tmp_path / "state"
    ran = subprocess.run([sys.executable, "-c", KILLED, sharded.path, str(path)], timeout=300)
    assert ran.returncode == -signal.SIGKILL
    found = model().fit(sharded, checkpoint=Checkpoint(path, resume=True))
    assert_same_fit(found, model().fit(views))
    Checkpoint(path).delete()
    assert files_in(tmp_path) == ["x.shards"]  # not what the killed process was working on


def test_damaged_mixtures_of_a_state_are_not_used(views, sharded, tmp_path):
    path = tmp_path / "state"
    model(max_iter=3).fit(sharded, checkpoint=Checkpoint(path, every=1))
    for file in (tmp_path / "state.mixtures").rglob("*.npy"):
        raw = bytearray(file.read_bytes())
        raw[-1] ^= 1
        file.unlink()
        file.write_bytes(raw)
    with pytest.raises(DamagedFile, match=r"No state can be read.*state\.mixtures"):
        model(max_iter=3).fit(sharded, checkpoint=Checkpoint(path, resume=True))


def test_ctrl_c_keeps_the_last_state(views, sharded, monkeypatch):
    step, count = DiskRunner.step, []

    def interrupted(self, *args):
        count.append(1)
        if len(count) == 4:
            raise KeyboardInterrupt
        return step(self, *args)

    monkeypatch.setattr(DiskRunner, "step", interrupted)
    found = model()
    with pytest.raises(KeyboardInterrupt):
        found.fit(sharded)
    assert found.n_iter_ == 3
    assert_same(found.doc_topic_, model(max_iter=3).fit(views).doc_topic_, "doc_topic_")


# -- what can go wrong -----------------------------------------------------------------------------


def test_a_full_disk_loses_nothing(views, sharded, tmp_path, monkeypatch):
    add, count, path = storage.ArrayWriter.add, [], tmp_path / "state"

    def full(self, piece):
        count.append(1)
        if len(count) == 40:  # in the middle of a generation
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
        add(self, piece)

    with monkeypatch.context() as patch:
        patch.setattr(storage.ArrayWriter, "add", full)
        with pytest.raises(OSError, match=r"disk|space"):
            model().fit(sharded, checkpoint=Checkpoint(path, every=1))
    found = model().fit(sharded, checkpoint=Checkpoint(path, resume=True))
    assert_same_fit(found, model().fit(views))


@pytest.mark.parametrize("damage", ["flipped", "truncated", "missing"])
def test_damage_is_found_before_or_at_the_first_pass(damage, sharded, small_sample):
    shard = sharded.shards[2].name
    file = f"{sharded.path}/{shard}/v1.data.npy"
    with open(file, "rb") as opened:
        raw = bytearray(opened.read())
    if damage == "missing":
        os.remove(file)
    else:
        raw[-3] ^= 4
        with open(file, "wb") as opened:
            opened.write(raw if damage == "flipped" else raw[:-8])
    with pytest.raises(DamagedFile, match=f"{shard}/v1.data.npy"):
        model(view_weights="balanced", ensemble=0).fit(open_shards(sharded.path))


@pytest.fixture
def small_sample(monkeypatch):
    from dataclasses import replace

    from coview.disk_memory import DiskBudget

    made = DiskBudget.of.__func__

    def less(cls, *args):
        return replace(made(cls, *args), sample_docs=50)

    monkeypatch.setattr(DiskBudget, "of", classmethod(less))
    monkeypatch.setattr("coview.fit_source.FEWEST", 10)


def test_too_little_memory_is_refused_with_numbers(sharded):
    few = open_shards(sharded.path, memory="200MB")
    with pytest.raises(MemoryError, match=r"memory=200MB is too little.*topics.*at least memory="):
        model().fit(few)


@pytest.mark.filterwarnings("ignore:1,000,000 topics")
def test_large_topics_are_refused_before_anything_is_read(sharded, monkeypatch):
    monkeypatch.setattr(type(sharded), "read", lambda *a, **k: pytest.fail("read"))
    with pytest.raises(MemoryError, match="1,000,000 topics"):
        LinkPLSA(1_000_000).fit(sharded)


@pytest.mark.parametrize("cls", [LinkPLSA, DivergenceCoPLSA])  # the latter has a mean in the end
def test_arrays_that_are_too_large_are_mapped(cls, views, sharded, monkeypatch):
    made = coview.disk_memory.mapped_room
    monkeypatch.setattr("coview.fit_source.mapped_room", lambda folder, most: made(folder, 100))
    found = model(cls).fit(sharded)
    assert isinstance(found.doc_topic_.base, np.memmap)
    assert_same(np.asarray(found.doc_topic_), model(cls).fit(views).doc_topic_, "doc_topic_")


SMALL_MEMORY = """
import sys, warnings
from tests.process_memory import process_memory
from coview import PLSA, open_shards
warnings.simplefilter("ignore")
PLSA(16, init="random", random_state=0, max_iter=2, tol=0.0, n_jobs=2).fit(
    open_shards(sys.argv[1], memory=sys.argv[2])
)
print(process_memory("VmHWM"))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_stays_below_the_limit(tmp_path):
    """Data whose fit in memory takes three times as much."""
    n_docs, n_blocks, n_terms = 12_000, 40, 50_000
    rng = np.random.default_rng(0)
    one = sp.random_array((n_docs, n_terms), density=1e-3, format="csr", rng=rng, dtype="float32")
    one.data = np.ceil(4 * one.data)
    one.sort_indices()
    ends = [(i * n_docs, (i + 1) * n_docs) for i in range(n_blocks)]
    with new_folder(tmp_path / "x.shards", overwrite=False) as folder:
        head = ViewHead("x", n_terms, np.dtype("float32"), False)
        here = np.ones((n_docs, 1), bool)
        finish_folder(folder, [head], ends, lambda *docs: ([one], here), False, None)
    command = [sys.executable, "-c", SMALL_MEMORY, str(tmp_path / "x.shards"), "500MB"]
    out = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert out.returncode == 0, out.stderr
    assert int(out.stdout) < 500e6
