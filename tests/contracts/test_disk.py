"""Every model has the same bits from memory, with any number of threads, and from disk."""

from dataclasses import replace

import numpy as np
import pytest

from coview import open_shards, write_shards
from coview.disk_memory import DiskBudget
from coview.em.mixture_files import FiledMixtures
from coview.runners import disk
from coview.views import blocks
from tests.same import assert_same_fit

VARIANTS_ARE_SLOW = True
ROW_LOCAL = ["PLSA", "DualPLSA", "LinkPLSA", "DivergenceCoPLSA", "MVPLSA"]

pytestmark = pytest.mark.filterwarnings("ignore:.*has not converged")


@pytest.fixture
def sharded(views, many_blocks, monkeypatch, tmp_path):
    """The views in several shards, each of several blocks."""
    monkeypatch.setattr(blocks, "MOST_SHARDS", 6)
    found = write_shards(views, tmp_path / "x.shards")
    assert len(found.blocks) > len(found.shards) > 3
    return found


@pytest.fixture
def small_sample(monkeypatch):
    """Half of the documents fit into memory."""
    made = DiskBudget.of.__func__

    def less(cls, model, sharded):
        return replace(made(cls, model, sharded), sample_docs=sharded.n_docs // 2, window=3)

    monkeypatch.setattr(DiskBudget, "of", classmethod(less))
    monkeypatch.setattr("coview.fit_source.FEWEST", 10)


def quick(entry, **params):
    return entry(**{"max_iter": 4, **params})


def test_the_same_bits_from_memory_and_disk(entry, views, sharded):
    wanted = quick(entry, n_jobs=4).fit(views)
    assert_same_fit(quick(entry, n_jobs=1).fit(views), wanted)
    assert_same_fit(quick(entry, n_jobs=1).fit(sharded), wanted)
    assert_same_fit(quick(entry, n_jobs=2).fit(sharded), wanted)


def test_pins_guesses_and_priors(entry, views, sharded):
    labels = np.where(np.arange(len(views)) % 3 == 0, views.labels, -1)
    guess = np.full((len(views), 3), 0.2)
    guess[np.arange(len(views)), views.labels] = 0.6
    model = quick(entry, dtype="float32", doc_topic_prior=1.2, topic_word_prior=1.1)
    wanted = model.fit(views, labels=labels, guess=guess, guess_strength=0.5)
    again = quick(entry, dtype="float32", doc_topic_prior=1.2, topic_word_prior=1.1)
    assert_same_fit(again.fit(sharded, labels=labels, guess=guess, guess_strength=0.5), wanted)


@pytest.mark.slow
def test_defaults_start_from_all_documents_if_they_fit(entry, views, sharded):
    params = {"init": "auto", "dtype": "float32"}
    assert_same_fit(quick(entry, **params).fit(sharded), quick(entry, **params).fit(views))


def test_a_random_start_needs_no_sample(entry, views, sharded, small_sample):
    options = {"view_weights": "balanced", "ensemble": 0}
    if entry.cls.__name__ not in ROW_LOCAL:
        with pytest.raises(MemoryError, match=r"needs all documents in memory.*Raise memory="):
            quick(entry, **options).fit(sharded)
        return
    labels = np.where(np.arange(len(views)) % 4 == 0, views.labels, -1)
    options |= {"seeds": {0: {views.names[0]: [1, 2]}}, "n_init": 2}
    wanted = quick(entry, **options).fit(views, labels=labels)
    assert_same_fit(quick(entry, **options).fit(sharded, labels=labels), wanted)


def test_mixtures_are_in_files_unless_documents_are_coupled(entry, sharded, monkeypatch):
    kinds, step = [], disk.DiskRunner.step

    def spy(self, problem, update):
        kinds.append(type(problem.thetas[0]))
        return step(self, problem, update)

    monkeypatch.setattr(disk.DiskRunner, "step", spy)
    quick(entry).fit(open_shards(sharded.path))
    local = entry.cls.__name__ in (*ROW_LOCAL, "VotedPLSA")
    assert set(kinds) == {FiledMixtures if local else np.ndarray}
