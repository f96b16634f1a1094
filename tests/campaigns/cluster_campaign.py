"""Fits on a cluster under fire: killed workers, a killed scheduler, a host that is cut off.

    python -m tests.campaigns.cluster_campaign FOLDER N_KILLS SEED

Fits are made one after the other while workers are killed at random moments, sometimes all at once,
and started anew. Then a scheduler is killed in the midst of a fit, which is resumed on another
cluster; then a worker in a network namespace of its own is cut off, where the machine allows that.
Prints one line of JSON: how many fits and kills there were, how many fits ended in other bits than
one in memory, what was left in the folder, and which processes.
"""

import json
import random
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import coview
from coview import MVPLSA, Checkpoint, DivergenceCoPLSA, LinkPLSA
from coview.datasets import make_views
from coview.runners.dask import ClusterLost, DaskRunner
from tests.runners.cluster import Cluster, NetworkCluster, network

COMMON = {"random_state": 0, "init": "random", "max_iter": 25, "tol": 0.0}
MODELS = [
    LinkPLSA(4, view_weights="balanced", ensemble=0.0, **COMMON),
    DivergenceCoPLSA(4, view_weights="balanced", ensemble=0.0, **COMMON),
    MVPLSA(4, n_feature_topics=6, view_weights="balanced", ensemble=0.0, **COMMON),
    LinkPLSA(4, random_state=0, max_iter=25, tol=0.0),  # all defaults otherwise
]
WORKERS = 3
QUICK = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "5s",
}


def bits(model):
    parts = [*model.components_.values(), *model.view_doc_topic_.values(), model.trace_.objective]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


class Killer(threading.Thread):
    """Kills workers at random moments, and starts others."""

    def __init__(self, cluster, n_kills, rng):
        super().__init__()
        self._cluster, self._left, self._rng = cluster, n_kills, rng
        self.kills = self.at_once = 0
        self.ended = threading.Event()

    def run(self):
        while self._left > 0 and not self.ended.wait(self._rng.uniform(0.2, 5.0)):
            # those that work, not those that are still being started
            names = sorted(n for n, worker in self._cluster.workers.items() if worker.is_ready)
            if not names:
                continue
            if self._rng.random() < 0.15:
                self.at_once += 1
            else:
                names = [self._rng.choice(names)]
            for name in names:
                self._cluster.kill_worker(name)
            self.kills += len(names)
            self._left -= len(names)
            while len(self._cluster.workers) < WORKERS:
                self._cluster.start_worker(wait=False)


def kills(folder, sharded, expected, n_kills, rng):
    """Fit until so many workers were killed; return what happened."""
    fits = wrong = lost = 0
    with Cluster(folder / "kills", n_workers=WORKERS) as cluster:
        killer = Killer(cluster, n_kills, rng)
        killer.start()
        try:
            while killer.is_alive():
                which = fits % len(MODELS)
                runner = DaskRunner(cluster.address, timeout=60, retries=20)
                checkpoint = Checkpoint(folder / "state" / "run", every=2, resume=True)
                try:
                    model = MODELS[which].fit(sharded, runner=runner, checkpoint=checkpoint)
                except ClusterLost as error:  # a clear error: it is resumed in the next round
                    print(error, file=sys.stderr)
                    lost += 1
                    continue
                checkpoint.delete()
                wrong += bits(model) != expected[which]
                fits += 1
        finally:
            killer.ended.set()
            killer.join()
    return {"fits": fits, "kills": killer.kills, "all_at_once": killer.at_once, "wrong": wrong,
            "resumed_after_an_error": lost}  # fmt: skip


def lost_scheduler(folder, sharded, expected):
    """Kill the scheduler in the midst of a fit; resume it on another cluster."""
    state = folder / "state" / "run"
    with Cluster(folder / "first", n_workers=2) as cluster:
        seen = []

        def kill(attributes):
            seen.append(attributes)
            if len(seen) == 10:
                cluster.scheduler.kill()

        runner = DaskRunner(cluster.address, timeout=5)
        try:
            checkpoint = Checkpoint(state, every=3)
            MODELS[0].fit(sharded, runner=runner, checkpoint=checkpoint, on_iteration=kill)
        except ClusterLost as error:
            said = str(error)
        else:
            return "no error"
    with Cluster(folder / "second", n_workers=2) as cluster:
        resumed = Checkpoint(state, resume=True)
        model = MODELS[0].fit(sharded, runner=cluster.address, checkpoint=resumed)
    resumed.delete()
    same = bits(model) == expected[0]
    return f"{said.split('. ')[0]}; resumed to {'the same' if same else 'OTHER'} bits"


def partition(folder, sharded, expected):
    """Cut a worker off in the midst of a fit."""
    try:
        with network(3) as hosts, NetworkCluster(folder / "net", hosts, environment=QUICK) as net:
            seen = []

            def cut(attributes):
                seen.append(attributes)
                if len(seen) == 5:
                    hosts.cut(net.host_of(min(net.workers)))

            runner = DaskRunner(net.address, timeout=60)
            model = MODELS[0].fit(sharded, runner=runner, on_iteration=cut)
            return "the same bits" if bits(model) == expected[0] else "OTHER bits"
    except pytest.skip.Exception as skipped:
        return str(skipped)


def children():
    """Processes that this one has started and that still run."""
    listed = Path("/proc/self/task").glob("*/children")
    return [int(pid) for file in listed for pid in file.read_text().split()]


def main(folder: str, n_kills: int, seed: int) -> None:
    warnings.simplefilter("ignore")
    folder = Path(folder).resolve()
    (folder / "storage").mkdir(parents=True)
    (folder / "state").mkdir()
    views = make_views(1500, 4, [300, 200], random_state=0, missing=0.1)
    coview.write_shards(views, folder / "storage" / "news.shards")
    sharded = coview.open_shards(folder / "storage" / "news.shards")
    expected = [bits(model.fit(views)) for model in MODELS]
    found = {"shards": len(sharded.shards)}
    found |= kills(folder, sharded, expected, n_kills, random.Random(seed))
    found["scheduler"] = lost_scheduler(folder, sharded, expected)
    found["partition"] = partition(folder, sharded, expected)
    left = [file.name for part in ("storage", "state") for file in (folder / part).iterdir()]
    found["left_in_folders"] = [name for name in left if name != "news.shards"]
    found["processes_left"] = children()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
