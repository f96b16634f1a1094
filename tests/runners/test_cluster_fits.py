"""Fits on a cluster have the bits of fits in memory and on disk, whatever happens to workers."""

import os
import random
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import coview
from coview import Checkpoint, DivergenceCoPLSA, DualPLSA, LinkPLSA, MVPLSA, PLSA
from coview.datasets import make_views
from coview.runners import cluster as cluster_runner
from coview.runners.dask import ClusterLost, DaskRunner
from tests.runners.cluster import Cluster, NetworkCluster, network

pytest.importorskip("distributed")

RANDOM = {"init": "random", "view_weights": "balanced", "ensemble": 0.0, "random_state": 0}
FIVE = {**RANDOM, "max_iter": 5, "tol": 0.0}
MODELS = {
    "link": LinkPLSA(4, **FIVE, doc_topic_prior=1.1, topic_word_prior=1.01),
    "divergence": DivergenceCoPLSA(4, **FIVE),
    "mvplsa": MVPLSA(4, n_feature_topics=6, **FIVE),
}


@pytest.fixture(scope="module")
def views():
    return make_views(1500, 4, [300, 200], random_state=0, missing=0.1)


@pytest.fixture(scope="module")
def folder(views, tmp_path_factory):
    """A folder that holds the shards and nothing else."""
    folder = tmp_path_factory.mktemp("storage")
    coview.write_shards(views, folder / "news.shards")
    return folder


@pytest.fixture(scope="module")
def sharded(folder):
    sharded = coview.open_shards(folder / "news.shards")
    assert len(sharded.shards) > 4
    return sharded


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster"), n_workers=1, n_threads=2) as cluster:
        yield cluster


def bits(model):
    parts = [*model.components_.values(), *model.view_doc_topic_.values(), model.trace_.objective]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def fitted(model, data, **options):
    from sklearn.base import clone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(data, **options)


def only_shards(folder):
    return [file.name for file in Path(folder).iterdir()] == ["news.shards"]


@pytest.mark.parametrize("name", MODELS)
def test_bits_are_those_of_threads_and_disk(name, views, sharded, one_worker, folder):
    model = MODELS[name]
    expected = bits(fitted(model, views))
    assert bits(fitted(model, sharded)) == expected
    assert bits(fitted(model, sharded, runner=one_worker.address)) == expected
    assert only_shards(folder)


def test_gradients_that_workers_add_have_the_same_bits(
    views, sharded, one_worker, folder, monkeypatch
):
    expected = bits(fitted(MODELS["link"], sharded))
    monkeypatch.setattr(cluster_runner, "DRIVER_ADDS", 0)
    assert bits(fitted(MODELS["link"], sharded, runner=one_worker.address)) == expected
    assert only_shards(folder)


def test_labels_and_a_start_of_one_s_own(views, sharded, one_worker):
    labels = np.where(np.arange(len(views)) % 7 == 0, views.labels, -1)
    for init in ("random", np.asarray(views.labels)):
        model = LinkPLSA(4, **{**FIVE, "init": init})
        expected = bits(fitted(model, views, labels=labels))
        assert bits(fitted(model, sharded, labels=labels, runner=one_worker.address)) == expected


def test_a_model_across_documents_gathers_mixtures(views, sharded, one_worker, folder):
    model = coview.LTM(4, **FIVE)
    both = fitted(model, sharded.to_views().concat()), None
    concat = views.concat()
    coview.write_shards(concat, folder / "one.shards")
    try:
        one = coview.open_shards(folder / "one.shards")
        assert bits(fitted(model, one, runner=one_worker.address)) == bits(both[0])
    finally:
        cluster_runner.storage.remove_tree(str(folder / "one.shards"))


def test_a_resumed_fit_has_the_same_bits(sharded, one_worker, folder, tmp_path):
    model = MODELS["link"]
    expected = bits(fitted(model, sharded))

    def stop(state):
        raise OSError("the driver has ended")

    checkpoint = Checkpoint(tmp_path / "run", every=1)
    with pytest.raises(OSError, match="the driver has ended"):
        fitted(model, sharded, runner=one_worker.address, checkpoint=checkpoint, on_iteration=stop)
    assert only_shards(folder)
    resumed = Checkpoint(tmp_path / "run", every=1, resume=True)
    again = fitted(model, sharded, runner=one_worker.address, checkpoint=resumed)
    assert bits(again) == expected
    resumed.delete()
    assert not list(tmp_path.iterdir())


def test_views_in_memory_are_refused(views, one_worker):
    with pytest.raises(TypeError, match=r"write_shards\(views, path\), and fit coview.open_shards"):
        LinkPLSA(4).fit(views, runner=one_worker.address)


def test_a_worker_notices_shards_that_were_written_anew(one_worker, tmp_path):
    for seed in (1, 2):
        views = make_views(300, 3, [80, 60], random_state=seed)
        coview.write_shards(views, tmp_path / "news.shards", overwrite=True)
        sharded = coview.open_shards(tmp_path / "news.shards")
        model = LinkPLSA(3, **FIVE)
        expected = bits(fitted(model, views))
        assert bits(fitted(model, sharded, runner=one_worker.address)) == expected


def test_a_damaged_shard_is_named(views, one_worker, tmp_path):
    coview.write_shards(views, tmp_path / "news.shards")
    file = sorted((tmp_path / "news.shards").glob("*00003/v0.data.npy"))[0]
    damaged = bytearray(file.read_bytes())
    damaged[200] ^= 1
    file.write_bytes(damaged)
    sharded = coview.open_shards(tmp_path / "news.shards", memory="1GB")
    with pytest.raises(coview.DamagedFile, match=f"{file.parent.name}.*is damaged"):
        fitted(MODELS["link"], sharded, runner=one_worker.address)
    assert only_shards(tmp_path)
