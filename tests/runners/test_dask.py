"""The runner of a cluster by itself: order, errors, lost workers and schedulers, checks."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import coview
from coview.runners.cluster_checks import here, mismatch
from coview.runners.dask import ClusterLost, DaskRunner
from tests.runners.cluster import IMPORTS, Cluster, NetworkCluster, network

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster"), n_workers=2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def run(cluster):
    with DaskRunner(cluster.address, timeout=20) as run:
        yield run


def test_results_come_in_the_order_of_the_items(run):
    def later_first(i):
        time.sleep(0.02 * (5 - i))
        return i * i

    assert list(run(later_first, range(5))) == [0, 1, 4, 9, 16]
    assert list(run(later_first, [])) == []


def test_no_future_is_left_behind(run):
    assert next(run(abs, [-1, -2])) == 1  # the second result is never asked for
    list(run(abs, [-3]))
    deadline = time.monotonic() + 5
    while run.client.futures and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not run.client.futures


def test_an_error_of_a_task_is_raised_once_as_it_is(run, tmp_path):
    def fail(i):
        (tmp_path / f"{time.monotonic_ns()}").touch()
        raise ValueError("this shard is damaged")

    with pytest.raises(ValueError, match="this shard is damaged"):
        list(run(fail, [0]))
    assert len(list(tmp_path.iterdir())) == 1
    assert list(run(abs, [-1])) == [1]


def test_a_file_that_cannot_be_read_is_tried_again(run, tmp_path):
    def fail_twice(i):
        if len(list(tmp_path.iterdir())) < 2:
            (tmp_path / f"{time.monotonic_ns()}").touch()
            raise OSError(5, "Input/output error")
        return "read"

    def fail_always(i):
        raise OSError(28, "No space left on device")

    assert list(run(fail_twice, [0])) == ["read"]
    with pytest.raises(OSError, match="No space left"):
        list(run(fail_always, [0]))


def test_tasks_have_one_native_thread(run):
    def threads(i):
        from threadpoolctl import threadpool_info

        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    for found in run(threads, range(4)):
        assert set(found) <= {1}


def test_storage_that_all_see_passes_and_leaves_nothing(run, tmp_path):
    (tmp_path / "file").write_text("the same for all")
    run.check_storage(str(tmp_path), [str(tmp_path / "file")])
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_storage_that_a_worker_does_not_see_is_an_error(run, tmp_path, monkeypatch):
    # as if the folder of the driver were on another host: the token does not get to the workers
    monkeypatch.setattr("coview.shards.storage.write_atomic", lambda path, data: None)
    said = (
        r"The worker tcp://127\S* does not see .*token.*shared file system, or a URL such as s3://"
    )
    with pytest.raises(OSError, match=said):
        run.check_storage(str(tmp_path))


def test_another_file_of_the_same_name_is_an_error(run, tmp_path, monkeypatch):
    file = tmp_path / "manifest.json"
    file.write_text("{}")
    monkeypatch.setattr("coview.shards.storage.digest_of", lambda path: "another")
    with pytest.raises(
        OSError, match=r"The worker \S+ has another file in the place of .*manifest"
    ):
        run.check_storage(str(tmp_path), [str(file)])


def test_a_client_is_taken_and_stays_open(cluster):
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        with DaskRunner(client) as run:
            assert list(run(abs, [-1])) == [1]
        assert client.status == "running"
    with pytest.raises(ClusterLost, match="not connected: its status is closed"):
        DaskRunner(client).__enter__()


def test_what_is_no_cluster_is_refused():
    with pytest.raises(TypeError, match=r"must be a dask.distributed.Client, the address"):
        DaskRunner(42).__enter__()
    with pytest.raises(ValueError, match="retries must be"):
        DaskRunner("tcp://10.0.0.1:8786", retries=-1)


def test_an_address_nobody_listens_on_is_an_error_in_time():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    began = time.monotonic()
    with pytest.raises(ClusterLost, match=f"No scheduler of Dask answers at '{address}'"):
        DaskRunner(address, timeout=1).__enter__()
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("address", ["nonsense", "http://127.0.0.1:1", "tcp://127.0.0.1:x", ""])
def test_an_address_that_is_none_is_an_error(address):
    with pytest.raises(ClusterLost, match="No scheduler of Dask answers"):
        DaskRunner(address, timeout=0.5).__enter__()


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'coview\[dask\]'"):
        DaskRunner("tcp://127.0.0.1:1").__enter__()


def test_versions_that_differ_are_named():
    assert mismatch(here(), here()) == ""
    older = {**here(), "numba": "0.1"}
    assert mismatch(older, here()) == f"numba 0.1, where the driver has {here()['numba']}"


def test_processors_of_several_kinds_are_a_warning(run, monkeypatch):
    from coview.runners import cluster_checks

    monkeypatch.setattr("llvmlite.binding.get_host_cpu_name", lambda: "another")  # the driver's
    with pytest.warns(RuntimeWarning, match="different processors .*another"):
        cluster_checks.check_hosts(run.client, 20)


# -- slow: hosts that are wrong, or go away --------------------------------------------------------


def without_coview(folder):
    """Imports of a worker in whose environment there is no coview."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'coview':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    return {"PYTHONPATH": str(folder)}


def with_another_coview(folder):
    ignored = shutil.ignore_patterns("static", "__pycache__")
    package = shutil.copytree(Path(coview.__file__).parent, folder / "coview", ignore=ignored)
    init = package / "__init__.py"
    init.write_text(init.read_text().replace(coview.__version__, "0.0.1"))
    return {"PYTHONPATH": os.pathsep.join((str(folder), IMPORTS))}


def address_of(cluster, name):
    lines = cluster.workers[name].log.read_text().splitlines()
    return next(line.split()[-1] for line in lines if "Start worker at:" in line)


@pytest.mark.slow
def test_a_worker_without_coview_is_named(tmp_path):
    with Cluster(tmp_path / "cluster", n_workers=1) as cluster:
        name = cluster.start_worker(environment=without_coview(tmp_path / "environment"))
        said = f"The worker {address_of(cluster, name)} has no coview"
        with pytest.raises(ValueError, match=said):
            DaskRunner(cluster.address, timeout=20).__enter__()


@pytest.mark.slow
def test_a_worker_with_another_coview_is_named(tmp_path):
    said = f"has coview 0.0.1, where the driver has {coview.__version__}"
    folder = tmp_path / "cluster"
    with Cluster(folder, n_workers=1) as cluster, DaskRunner(cluster.address, timeout=20) as run:
        name = cluster.start_worker(environment=with_another_coview(tmp_path / "environment"))
        said = f"The worker {address_of(cluster, name)} {said}"
        with pytest.raises(ValueError, match=said):
            DaskRunner(cluster.address, timeout=20).__enter__()
        with pytest.raises(ValueError, match=said):  # it came after the check of this runner
            list(run(slow_square, range(20)))


def slow_square(i):
    time.sleep(0.1)
    return i * i


SQUARES = [i * i for i in range(20)]


@pytest.mark.slow
@pytest.mark.parametrize("nanny", [False, True])
def test_killed_workers_cost_only_time(tmp_path, nanny):
    with (
        Cluster(tmp_path, n_workers=3, nanny=nanny) as cluster,
        DaskRunner(cluster.address, timeout=30) as run,
    ):

        def kill():
            time.sleep(0.3)
            cluster.kill_worker(min(cluster.workers))
            time.sleep(0.3)
            cluster.kill_all_workers()
            cluster.start_worker()
            cluster.start_worker()

        killer = threading.Thread(target=kill)
        killer.start()
        assert list(run(slow_square, range(20))) == SQUARES
        killer.join()


@pytest.mark.slow
def test_a_frozen_worker_loses_its_tasks_in_time(tmp_path):
    with Cluster(tmp_path, n_workers=2) as cluster, DaskRunner(cluster.address, timeout=4) as run:
        results = run(slow_square, range(20))
        first = next(results)
        cluster.workers[min(cluster.workers)].send(signal.SIGSTOP)
        began = time.monotonic()
        assert [first, *results] == SQUARES
        assert time.monotonic() - began < 60  # Dask itself waits for 300
        assert len(run.workers()) == 1


def die(i):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_task_that_kills_every_worker_ends_in_an_error(tmp_path):
    environment = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with (
        Cluster(tmp_path, n_workers=1, nanny=True, environment=environment) as cluster,
        DaskRunner(cluster.address, retries=1, timeout=30) as run,
    ):
        with pytest.raises(ClusterLost, match=r"2 attempts at 7 ended .* give them more of it"):
            list(run(die, [7]))
        assert list(run(slow_square, [3])) == [9]


@pytest.mark.slow
def test_a_cluster_without_workers_is_an_error_in_time(tmp_path):
    with Cluster(tmp_path, n_workers=1) as cluster, DaskRunner(cluster.address, timeout=3) as run:
        cluster.kill_all_workers()
        began = time.monotonic()
        with pytest.raises(ClusterLost, match="has had no worker for 3 s"):
            list(run(abs, [-1]))
        with pytest.raises(ClusterLost, match="has had no worker for 3 s"):
            DaskRunner(cluster.address, timeout=3).__enter__()
        assert time.monotonic() - began < 20


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_scheduler_is_an_error_in_time(tmp_path, how):
    with Cluster(tmp_path, n_workers=1) as cluster, DaskRunner(cluster.address, timeout=3) as run:
        results = run(slow_square, range(20))
        next(results)
        cluster.scheduler.send(how)
        began = time.monotonic()
        with pytest.raises(ClusterLost, match=r"The scheduler at tcp://.*to the same bits: fit"):
            list(results)
        assert time.monotonic() - began < 20


@pytest.mark.slow
def test_a_scheduler_that_comes_back_in_time_is_used(tmp_path):
    with Cluster(tmp_path, n_workers=1) as cluster, DaskRunner(cluster.address, timeout=30) as run:
        results = run(slow_square, range(20))
        first = next(results)
        cluster.scheduler.kill()
        cluster.kill_all_workers()
        cluster.start_scheduler(port=int(cluster.address.rpartition(":")[2]))
        cluster.start_worker()
        assert [first, *results] == SQUARES


@pytest.mark.slow
def test_hosts_of_their_own_and_one_cut_off(tmp_path):
    # dead connections are noticed after a few seconds here, after half a minute by default
    environment = {
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
        "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "5s",
    }
    with (
        network(3) as hosts,
        NetworkCluster(tmp_path, hosts, environment=environment) as cluster,
        DaskRunner(cluster.address, timeout=30) as run,
    ):
        assert cluster.address.startswith(f"tcp://{hosts.host(0)}:")
        assert len(run.workers()) == 2
        results = run(slow_square, range(20))
        first = next(results)
        hosts.cut(cluster.host_of(min(cluster.workers)))
        assert [first, *results] == SQUARES
        hosts.cut(0)  # the scheduler
        began = time.monotonic()
        impatient = DaskRunner(run.client, timeout=3)
        with pytest.raises(ClusterLost, match="scheduler at"), impatient as other:
            list(other(slow_square, range(20)))
        assert time.monotonic() - began < 30
        hosts.join(0)


def test_the_help_does_not_import_dask():
    code = "import coview.runners.dask, sys; print('distributed' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": IMPORTS}
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert out.stdout.strip() == "False", out.stderr
