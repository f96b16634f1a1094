"""Graph models from disk: the graph and the mixtures are in memory, the counts are not."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

from coview import LTM, MGGM, Checkpoint, open_shards, write_shards
from coview.datasets import make_views
from coview.disk_memory import DiskBudget
from coview.graphs.neighbors import knn_graph
from coview.views import blocks
from tests.same import assert_same_fit

pytestmark = pytest.mark.filterwarnings("ignore:.*has not converged")

START = {"init": "random", "view_weights": "balanced", "ensemble": 0}
RANDOM = START | {"random_state": 0, "tol": 0.0, "max_iter": 5}
NAMES = ("view_0", "view_1")


@pytest.fixture(scope="module")
def views():
    return make_views(150, 3, [50, 40], missing=0.2, random_state=0)


@pytest.fixture(scope="module")
def graphs(views):
    return {
        n: knn_graph(views.matrices[n], 4, present=views.present[:, i]) for i, n in enumerate(NAMES)
    }


@pytest.fixture(autouse=True)
def a_third_fits_into_memory(monkeypatch):
    made = DiskBudget.of.__func__

    def less(cls, *args):
        return replace(made(cls, *args), sample_docs=50, window=2)

    monkeypatch.setattr(DiskBudget, "of", classmethod(less))
    monkeypatch.setattr("coview.fit_source.FEWEST", 10)
    monkeypatch.setattr(blocks, "MIN_NONZEROS", 150)
    monkeypatch.setattr(blocks, "MAX_NONZEROS", 200)
    monkeypatch.setattr(blocks, "MOST_SHARDS", 7)


@pytest.fixture
def both(views, graphs, tmp_path):
    """A model and its data in memory and on disk, by the name of the model."""

    def made(cls, **params):
        data = views.concat() if cls is LTM else views
        own = {"graph": graphs["view_0"]} if cls is LTM else {"graphs": graphs}
        shards = write_shards(data, tmp_path / "x.shards", overwrite=True)
        assert len(shards.shards) > 3
        return cls(3, **{**RANDOM, **own, **params}), data, shards

    return made


@pytest.mark.parametrize("cls", [LTM, MGGM])
@pytest.mark.parametrize("step", ["paper", "safe"])
def test_a_given_graph_gives_the_bits_that_it_gives_in_memory(cls, step, views, both):
    model, data, shards = both(cls, step=step, n_init=2)
    labels = np.where(np.arange(150) % 4 == 0, views.labels, -1)
    wanted = model.fit(data, labels=labels)
    for n_jobs in (1, 2):
        again, _, _ = both(cls, step=step, n_init=2, n_jobs=n_jobs)
        assert_same_fit(again.fit(shards, labels=labels), wanted)


@pytest.mark.parametrize("cls", [LTM, MGGM])
def test_other_starts_come_from_a_sample_that_has_no_graph(cls, views, both):
    options = {"init": "kmeans", "max_iter": 20, "tol": 1e-5}
    model, _, shards = both(cls, **options)
    found = model.fit(shards)
    assert normalized_mutual_info_score(views.labels, found.labels_) > 0.6
    again, _, _ = both(cls, **options, n_jobs=1)
    assert_same_fit(again.fit(shards), found)


def test_a_graph_that_has_to_be_found_is_refused_with_what_to_do(views, graphs, both):
    model, _, shards = both(LTM, graph=None)
    with pytest.raises(MemoryError, match=r"needs all documents.*Raise memory=, give a graph"):
        model.fit(shards)
    model, _, shards = both(MGGM, graphs={"view_0": graphs["view_0"]})
    with pytest.raises(MemoryError, match="give a graph of the documents for 'view_1'"):
        model.fit(shards)
    model, _, shards = both(LTM, strength="auto")
    with pytest.raises(MemoryError, match="give a number as strength"):
        model.fit(shards)


def test_graphs_and_mixtures_are_counted_before_anything_is_read(both, monkeypatch):
    n_docs = 50_000_000
    _, _, shards = both(LTM)
    few = open_shards(shards.path, memory="500MB")
    monkeypatch.setattr(type(few), "n_docs", n_docs)
    monkeypatch.setattr(type(few), "read", lambda *a, **k: pytest.fail("read"))
    with pytest.raises(MemoryError, match=r"graphs and the mixtures of all documents [\d.]+GB"):
        LTM(3, graph=sp.csr_array((n_docs, n_docs)), **RANDOM).fit(few)


def test_a_larger_graph_takes_more_of_the_memory(both):
    sizes = []
    for density in (0.1, 0.5):
        graph = sp.random_array((150, 150), density=density, rng=np.random.default_rng(0))
        model, _, shards = both(LTM, graph=graph)
        sizes.append(DiskBudget.of(model, shards).arrays)
    assert sizes[0] > sizes[1]


def test_a_fit_that_fails_is_resumed_to_the_same_bits(both, tmp_path):
    model, data, shards = both(MGGM)
    calls = []

    def fail(state):
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        model.fit(shards, checkpoint=Checkpoint(tmp_path / "state", every=1), on_iteration=fail)
    again, _, _ = both(MGGM)
    again.fit(shards, checkpoint=Checkpoint(tmp_path / "state", resume=True))
    assert_same_fit(again, both(MGGM)[0].fit(data))
