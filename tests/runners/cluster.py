"""Clusters for tests: scheduler and workers as processes of their own, on loopback or each in a
network namespace with an address of its own. Everything that is started here is ended here, by its
process id, and every wait is bounded."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

START_SECONDS = 60
READY = "Starting established connection"  # a worker's words
ROOT = Path(__file__).parents[2]
IMPORTS = os.pathsep.join((str(ROOT / "src"), str(ROOT)))


class Process:
    """One process of a cluster, with a log, ended with its group."""

    def __init__(self, arguments, folder, name, prefix=(), environment=None):
        self.log = folder / f"{name}.log"
        own = {**os.environ, "PYTHONPATH": IMPORTS, **(environment or {})}
        own |= {"OMP_NUM_THREADS": "1", "DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "1s"}
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [*prefix, sys.executable, "-m", *arguments],
                stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                start_new_session=True, env=own, cwd=folder,
            )  # fmt: skip

    @property
    def running(self):
        return self._process.poll() is None

    def kill(self):
        """SIGKILL it and what it started (a nanny's worker), and take note of its end."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # its own session: its group is its pid
        self._process.wait(10)

    def send(self, number):
        """Send a signal; a process that SIGSTOP holds is still ended by `kill`."""
        os.kill(self._process.pid, number)

    @property
    def is_ready(self):
        return READY in self.log.read_text(errors="replace")

    def wait_for(self, text):
        ends = time.monotonic() + START_SECONDS
        while text not in self.log.read_text(errors="replace"):
            assert self.running, f"it ended: {self.log.read_text()}"
            assert time.monotonic() < ends, f"not ready: {self.log.read_text()}"
            time.sleep(0.05)


class Cluster:
    """A scheduler and workers; `with Cluster(folder, n_workers=2) as cluster`."""

    def __init__(self, folder, n_workers=2, *, n_threads=1, nanny=False, environment=None):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._n_workers, self._n_threads, self._nanny = n_workers, n_threads, nanny
        self._environment = environment
        self._everything, self._closed = [], False
        self._lock = threading.Lock()  # a test may kill and start workers from a thread
        self.workers = {}

    def __enter__(self):
        try:
            self.start_scheduler()
            for _ in range(self._n_workers):
                self.start_worker(wait=False)
            for worker in self.workers.values():
                worker.wait_for(READY)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind, error, traceback):
        self.close()

    def start_scheduler(self, port=0):
        name = f"scheduler{len(self._everything)}"
        self.scheduler = self._start(
            ["distributed.cli.dask_scheduler", "--port", str(port), "--no-dashboard",
             "--no-show", "--host", self._host("scheduler")],
            name, self._prefix("scheduler"),
        )  # fmt: skip
        self.scheduler.wait_for("Scheduler at:")
        lines = self.scheduler.log.read_text().splitlines()
        self.address = next(line for line in lines if "Scheduler at:" in line).split()[-1]

    def start_worker(self, wait=True, prefix_of=None, environment=None):
        """Start one more worker, and return its name."""
        name = f"worker{len(self._everything)}"
        host = prefix_of or name
        worker = self._start(
            ["distributed.cli.dask_worker", self.address, "--name", name, "--no-dashboard",
             "--nthreads", str(self._n_threads), "--memory-limit", "0",
             "--nanny" if self._nanny else "--no-nanny", "--death-timeout", "30",
             "--local-directory", str(self.folder / name), "--host", self._host(host)],
            name, self._prefix(host), environment,
        )  # fmt: skip
        self.workers[name] = worker
        if wait:
            worker.wait_for(READY)
        return name

    def kill_worker(self, name):
        self.workers.pop(name).kill()

    def kill_all_workers(self):
        for name in list(self.workers):
            self.kill_worker(name)

    def close(self):
        with self._lock:
            self._closed = True
        for process in self._everything:
            process.kill()

    def _start(self, arguments, name, prefix, environment=None):
        environment = {**(self._environment or {}), **(environment or {})}
        with self._lock:
            assert not self._closed, "the cluster is closed"
            process = Process(arguments, self.folder, name, prefix, environment)
            self._everything.append(process)
        return process

    def _host(self, name):
        return "127.0.0.1"

    def _prefix(self, name):
        return ()


# -- namespaces ------------------------------------------------------------------------------------


def _ip(*arguments, check=True):
    return subprocess.run(
        ["ip", *arguments], capture_output=True, text=True, check=check, timeout=20
    )


def _skip_without_namespaces(name):
    """Skip where `ip` is missing or not permitted; what fails later is a fault of the tests."""
    if shutil.which("ip") is None:
        pytest.skip("ip (iproute2) is not installed: no network namespaces")
    for kind in (("netns", "add", name), ("link", "add", name, "type", "bridge")):
        tried = _ip(*kind, check=False)
        _ip(kind[0], "del", name, check=False)
        if tried.returncode:
            pytest.skip(f"`ip {' '.join(kind)}` is not permitted here: {tried.stderr.strip()}")


@contextmanager
def network(n_hosts):
    """Namespaces with an address each, on one bridge: names and addresses; the first is the
    driver's side, which is the bridge in this process's own namespace."""
    tag = f"cv{secrets.token_hex(3)}"
    subnet = f"10.{secrets.randbelow(50) + 200}.{secrets.randbelow(250)}"
    bridge, made = f"{tag}br", []
    _skip_without_namespaces(f"{tag}try")
    try:
        _ip("link", "add", bridge, "type", "bridge")
        _ip("addr", "add", f"{subnet}.1/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        for i in range(n_hosts):
            name, outer, inner = f"{tag}n{i}", f"{tag}o{i}", f"{tag}i{i}"
            _ip("netns", "add", name)
            made.append(name)
            _ip("link", "add", outer, "type", "veth", "peer", "name", inner)
            _ip("link", "set", inner, "netns", name)
            _ip("link", "set", outer, "master", bridge, "up")
            _ip("-n", name, "addr", "add", f"{subnet}.{10 + i}/24", "dev", inner)
            _ip("-n", name, "link", "set", inner, "up")
            _ip("-n", name, "link", "set", "lo", "up")
        yield Network(tag, subnet, made)
    finally:
        for i, name in enumerate(made):
            # connections that wait for an answer keep a namespace alive, and its links with it
            _ip("link", "del", f"{tag}o{i}", check=False)
            _ip("netns", "del", name, check=False)
        _ip("link", "del", bridge, check=False)


class Network:
    """Hosts by number, each of which can be cut off from the others and joined again."""

    def __init__(self, tag, subnet, names):
        self._tag, self._subnet, self.names = tag, subnet, names

    def host(self, i):
        return f"{self._subnet}.{10 + i}"

    def cut(self, i):
        _ip("link", "set", f"{self._tag}o{i}", "down")

    def join(self, i):
        _ip("link", "set", f"{self._tag}o{i}", "up")


class NetworkCluster(Cluster):
    """A cluster whose processes are in namespaces: the scheduler in the first one."""

    def __init__(self, folder, network, **options):
        super().__init__(folder, n_workers=len(network.names) - 1, **options)
        self._network, self._places = network, {"scheduler": 0}

    def _host(self, name):
        return self._network.host(self._place(name))

    def _prefix(self, name):
        return ("ip", "netns", "exec", self._network.names[self._place(name)])

    def _place(self, name):
        return self._places.setdefault(name, len(self._places))

    def host_of(self, name):
        """The number of the host of a worker, to be cut off."""
        return self._places[name]
