"""Fits on a cluster have the bits of fits in memory and on disk, whatever happens to workers."""

import random
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import coview
from coview import MVPLSA, PLSA, Checkpoint, DivergenceCoPLSA, DualPLSA, LinkPLSA
from coview.datasets import make_views
from coview.runners import cluster as cluster_runner
from coview.runners.dask import ClusterLost, DaskRunner
from coview.shards import remote
from tests.cli.command import failing, working
from tests.runners.cluster import Cluster, NetworkCluster, network
from tests.shards.object_storage import put, s3  # noqa: F401

pytest.importorskip("distributed")

RANDOM = {"init": "random", "view_weights": "balanced", "ensemble": 0.0, "random_state": 0}
THREE = {**RANDOM, "max_iter": 3, "tol": 0.0}
MODELS = {
    "link": LinkPLSA(4, **THREE, doc_topic_prior=1.1, topic_word_prior=1.01),
    "divergence": DivergenceCoPLSA(4, **THREE),
    "mvplsa": MVPLSA(4, n_feature_topics=6, **THREE),
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
    monkeypatch.setattr(cluster_runner, "SUM_RANGES", 3)
    assert bits(fitted(MODELS["link"], sharded, runner=one_worker.address)) == expected
    assert only_shards(folder)


def test_labels_and_a_start_of_one_s_own(views, sharded, one_worker):
    labels = np.where(np.arange(len(views)) % 7 == 0, views.labels, -1)
    model = LinkPLSA(4, **{**THREE, "init": np.asarray(views.labels)})
    expected = bits(fitted(model, views, labels=labels))
    assert bits(fitted(model, sharded, labels=labels, runner=one_worker.address)) == expected


def test_a_resumed_fit_has_the_same_bits(sharded, one_worker, folder, tmp_path):
    model = MODELS["link"]
    expected = bits(fitted(model, sharded))

    def stop(state):
        raise OSError(5, "the driver has ended")

    checkpoint = Checkpoint(tmp_path / "run", every=1)
    with pytest.raises(OSError, match="the driver has ended"):  # and not about some file
        fitted(model, sharded, runner=one_worker.address, checkpoint=checkpoint, on_iteration=stop)
    assert only_shards(folder)
    resumed = Checkpoint(tmp_path / "run", every=1, resume=True)
    again = fitted(model, sharded, runner=one_worker.address, checkpoint=resumed)
    assert bits(again) == expected
    resumed.delete()
    assert not list(tmp_path.iterdir())


def test_the_command(views, sharded, one_worker, tmp_path):
    quick = ["init=random", "view_weights=balanced", "ensemble=0"]
    options = [part for each in quick for part in ("--set", each)]
    options += ["--model", "link", "--topics", "4", "--max-iter", "2", "--tol", "0"]
    file = tmp_path / "dask.coview"
    working("fit", sharded.path, *options, "--dask", one_worker.address, "-o", file)
    expected = fitted(LinkPLSA(4, **{**THREE, "max_iter": 2}), views)
    assert bits(coview.load(file)) == bits(expected)
    assert [left.name for left in tmp_path.iterdir()] == ["dask.coview"]


def test_the_command_refuses_what_is_no_sharded_folder(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("en\nrain falls\n")
    said = failing(2, "fit", table, "--text", "en", "--dask", "tcp://127.0.0.1:1")
    assert "--dask needs a sharded folder that all workers see" in said


def test_views_in_memory_are_refused(views, one_worker):
    with pytest.raises(TypeError, match=r"write_shards\(views, path\), and fit coview.open_shards"):
        LinkPLSA(4).fit(views, runner=one_worker.address)


def test_a_worker_notices_shards_that_were_written_anew(one_worker, tmp_path):
    for seed in (1, 2):
        views = make_views(300, 3, [80, 60], random_state=seed)
        coview.write_shards(views, tmp_path / "news.shards", overwrite=True)
        sharded = coview.open_shards(tmp_path / "news.shards")
        model = LinkPLSA(3, **THREE)
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


# -- slow: the other models, more workers, and all that can happen to them -------------------------


@pytest.mark.slow
def test_two_and_four_workers_have_the_bits_of_one(views, sharded, folder, tmp_path):
    models = [
        *MODELS.values(),
        PLSA(4, **THREE),
        DualPLSA(4, n_feature_topics=6, **THREE),
        LinkPLSA(4, max_iter=5, random_state=0),  # all defaults: learned weights, the ensemble
    ]
    one_view = {PLSA: "one", DualPLSA: "one"}
    coview.write_shards(views.concat(), tmp_path / "one.shards")
    with Cluster(tmp_path / "cluster", n_workers=2) as cluster:
        for n_workers in (2, 4):
            while len(cluster.workers) < n_workers:
                cluster.start_worker()
            for model in models:
                one = type(model) in one_view
                here = views.concat() if one else views
                there = coview.open_shards(tmp_path / "one.shards") if one else sharded
                expected = bits(fitted(model, here))
                assert bits(fitted(model, there)) == expected, model
                assert bits(fitted(model, there, runner=cluster.address)) == expected, model
    assert only_shards(folder)


@pytest.mark.slow
def test_models_across_documents_gather_mixtures(views, sharded, one_worker, tmp_path):
    one = views.select(views.names[0])
    coview.write_shards(one, tmp_path / "one.shards")
    models = {
        coview.MGGM(4, n_feature_topics=6, **THREE): (views, sharded),
        coview.PairwiseCoPLSA(4, **THREE): (views, sharded),
        coview.VotedPLSA(4, **THREE): (views, sharded),
        coview.LTM(4, **THREE): (one, coview.open_shards(tmp_path / "one.shards")),
    }
    for model, (here, there) in models.items():
        expected = bits(fitted(model, here))
        assert bits(fitted(model, there, runner=one_worker.address)) == expected, model


LONG = LinkPLSA(4, **{**RANDOM, "max_iter": 25, "tol": 0.0})


def in_thread(work):
    """Run work() beside a fit; its error comes out at the end."""
    errors = []

    def run():
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, errors


@pytest.mark.slow
def test_killed_workers_do_not_change_a_bit(sharded, folder, tmp_path):
    expected = bits(fitted(LONG, sharded))
    rng = random.Random(0)
    with Cluster(tmp_path, n_workers=3) as cluster:
        ended = threading.Event()

        def kill():
            for kill in range(6):
                if ended.wait(rng.uniform(0.3, 1.0)):
                    return
                if kill == 3:
                    cluster.kill_all_workers()
                else:
                    cluster.kill_worker(rng.choice(sorted(cluster.workers)))
                while len(cluster.workers) < 3:
                    cluster.start_worker(wait=False)

        killer, errors = in_thread(kill)
        runner = DaskRunner(cluster.address, timeout=60, retries=20)
        try:
            again = fitted(LONG, sharded, runner=runner)
        finally:
            ended.set()
            killer.join()
        assert bits(again) == expected
        assert not errors
    assert only_shards(folder)


@pytest.mark.slow
def test_a_lost_scheduler_ends_a_fit_that_resumes_on_another_cluster(sharded, folder, tmp_path):
    expected = bits(fitted(LONG, sharded))
    state = tmp_path / "state"
    state.mkdir()
    with Cluster(tmp_path / "first", n_workers=2) as cluster:
        seen = []

        def kill_after_some(attributes):
            seen.append(attributes)
            if len(seen) == 8:
                cluster.scheduler.kill()

        began = time.monotonic()
        with pytest.raises(ClusterLost, match=r"The scheduler at .*to the same bits: fit"):
            fitted(
                LONG,
                sharded,
                runner=DaskRunner(cluster.address, timeout=3),
                checkpoint=Checkpoint(state / "run", every=3),
                on_iteration=kill_after_some,
            )
        assert time.monotonic() - began < 60
    assert only_shards(folder)
    with Cluster(tmp_path / "second", n_workers=2) as cluster:
        resumed = Checkpoint(state / "run", every=3, resume=True)
        again = fitted(LONG, sharded, runner=cluster.address, checkpoint=resumed)
    assert bits(again) == expected
    resumed.delete()
    assert not list(state.iterdir())
    assert only_shards(folder)


@pytest.mark.slow
def test_a_worker_that_is_cut_off_does_not_change_a_bit(sharded, folder, tmp_path):
    expected = bits(fitted(LONG, sharded))
    environment = {
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
        "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "5s",
    }
    with (
        network(3) as hosts,
        NetworkCluster(tmp_path, hosts, environment=environment) as cluster,
    ):
        seen = []

        def cut_after_some(attributes):
            seen.append(attributes)
            if len(seen) == 5:
                hosts.cut(cluster.host_of(min(cluster.workers)))
            if len(seen) == 15:
                hosts.join(cluster.host_of(min(cluster.workers)))

        runner = DaskRunner(cluster.address, timeout=60)
        again = fitted(LONG, sharded, runner=runner, on_iteration=cut_after_some)
        assert bits(again) == expected
    assert only_shards(folder)


@pytest.mark.slow
def test_shards_and_state_on_a_server_that_speaks_s3(s3, tmp_path):  # noqa: F811
    views, model = make_views(300, 4, [300, 200], random_state=0), MODELS["link"]
    expected = bits(fitted(model, views))
    coview.write_shards(views, tmp_path / "news.shards")
    put(tmp_path / "news.shards", f"{s3}/news.shards")
    there = coview.open_shards(f"{s3}/news.shards")
    assert len(there.shards) > 1
    seen = []

    def stop_after_two(attributes):
        seen.append(attributes)
        if len(seen) == 2:
            raise OSError("the driver has ended")

    with Cluster(tmp_path / "cluster", n_workers=1, n_threads=2) as cluster:
        options = {"runner": cluster.address, "on_iteration": stop_after_two}
        with pytest.raises(OSError, match="the driver has ended"):
            fitted(model, there, **options, checkpoint=Checkpoint(tmp_path / "run", every=1))
        resumed = Checkpoint(tmp_path / "run", resume=True)
        again = fitted(model, there, runner=cluster.address, checkpoint=resumed)
        assert bits(again) == expected
        assert remote.names_in(s3) == ["news.shards"]
        elsewhere = DaskRunner(cluster.address, scratch=tmp_path / "scratch")
        assert bits(fitted(model, there, runner=elsewhere)) == expected
    assert remote.names_in(s3) == ["news.shards"]
    resumed.delete()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["cluster", "news.shards"]
