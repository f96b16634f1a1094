"""DaskRunner: the same work on the workers of a Dask cluster.

A task reads files, computes, and writes files: it depends on nothing that lives in a worker, so it
can be done again by any other one, to the same bits. That is all there is to a lost worker. Data
are never sent to a worker to be kept there, no task is bound to a worker, and there are no actors:
what waits for a worker that has left waits forever.

The driver waits for results with one eye on the cluster: a scheduler that does not answer, or a
cluster without workers, is an error after `timeout` seconds. A worker that the scheduler has not
heard from for as long is removed, and others do its tasks.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

from coview.extras import need
from coview.params import check_int, check_real
from coview.runners.cluster_checks import ClusterLost, check_hosts, check_storage, here, mismatch
from coview.runners.native import one_native_thread
from coview.wording import option_words, plural

if TYPE_CHECKING:
    from distributed import Client, Future

POLL_SECONDS = 1.0  # between two looks at the cluster while nothing finishes
PING_SECONDS = 10.0  # how long one question to the scheduler may take
CONNECT_SECONDS = 20.0  # how long to try to reach a scheduler, at most: an address may be wrong


def resume_advice() -> str:
    """Return how to go on after the loss of a cluster, in Python or on the command line."""
    how = "the same command and --resume"
    if option_words() is None:
        how = "fit(..., checkpoint=Checkpoint(path, resume=True)), if the fit had a checkpoint"
    return f"It can be resumed on another cluster, to the same bits: {how}."


class DaskRunner:
    """Work on the workers of a Dask cluster: `with DaskRunner(client) as run: run(f, items)`.

    Parameters
    ----------
    cluster : distributed.Client or str
        A client, which stays open, or the address of a scheduler, "tcp://host:8786".
    retries : int, default=5
        How often a task is given out again after it failed with its worker, or because a file could
        not be read or written. The scheduler itself moves a task to another worker three
        times (Dask's ``distributed.scheduler.allowed-failures``) before this counts once.
    timeout : float, default=60
        Seconds after which a scheduler that does not answer any more, or a cluster that has no
        worker, is an error, and a worker that does not answer loses its tasks to others. A
        scheduler that has never answered is an error after 20.
    scratch : str or path, optional
        A name in a place that all workers can write to, a path or a URL: what a fit writes is in a
        folder beside it. By default that is the sharded folder itself.

    Examples
    --------
    >>> from coview.runners.dask import DaskRunner
    >>> DaskRunner("tcp://10.0.0.1:8786", timeout=300)
    DaskRunner('tcp://10.0.0.1:8786', retries=5, timeout=300)
    """

    def __init__(
        self,
        cluster: Client | str,
        *,
        retries: int = 5,
        timeout: float = 60.0,
        scratch: str | os.PathLike[str] | None = None,
    ):
        self.cluster = cluster
        self.scratch = None if scratch is None else os.fspath(scratch)
        self.retries = check_int("retries", retries, 0)
        self.timeout = check_real("timeout", timeout)
        self._client: Client | None = None
        self._entered = 0  # `with` blocks within each other share one connection

    def __repr__(self) -> str:
        return f"DaskRunner({self.address!r}, retries={self.retries}, timeout={self.timeout:g})"

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        if isinstance(self.cluster, str):
            return self.cluster
        scheduler = self.cluster.scheduler  # None in a client that is closed
        return "a closed client" if scheduler is None else str(scheduler.address)

    def __enter__(self) -> DaskRunner:
        self._entered += 1
        if self._entered > 1:
            return self
        try:
            self._client = self._connected()
            self._wait_for_workers()
            check_hosts(self._client, self.timeout)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._entered -= 1
        if self._entered:
            return
        client, self._client = self._client, None
        if client is not None and isinstance(self.cluster, str):
            with suppress(OSError, TimeoutError):
                client.close(timeout=5)

    def check_storage(self, folder: str, same: Sequence[str] = ()) -> None:
        """Raise an error if a worker does not share a folder, or sees others of these files."""
        check_storage(self.client, folder, same, self.timeout)

    def __call__(self, function: Callable, items: Iterable) -> Iterator:
        """Yield function(item) of each item, in their order."""
        tasks = _Tasks(self, function, list(items))
        try:
            yield from tasks.results()
        finally:  # also after an error or Ctrl-C: nothing that waits is begun
            tasks.cancel()

    @property
    def client(self) -> Client:
        """The client, inside of the `with` block."""
        assert self._client is not None, "not inside of `with`"
        return self._client

    def workers(self) -> dict[str, int]:
        """Return the threads of each worker by address, as the scheduler knows them."""
        scheduler: Any = self.client.scheduler
        return self.client.sync(scheduler.ncores, callback_timeout=PING_SECONDS)

    def remove_silent_workers(self) -> None:
        """Have the scheduler give the tasks of workers that do not answer to others."""
        self.client.run_on_scheduler(
            remove_silent, seconds=self.timeout, callback_timeout=PING_SECONDS
        )

    def _connected(self) -> Client:
        distributed = need("distributed", extra="dask")
        if not isinstance(self.cluster, str):
            if not isinstance(self.cluster, distributed.Client):
                raise TypeError(
                    "runner must be a dask.distributed.Client, the address of a scheduler such as "
                    f"'tcp://10.0.0.1:8786', or a DaskRunner; got {self.cluster!r}."
                )
            if self.cluster.asynchronous:
                raise ValueError("The client is asynchronous; give one that is not.")
            if self.cluster.status != "running":
                raise ClusterLost(
                    f"The client is not connected: its status is {self.cluster.status}."
                )
            return self.cluster
        wait = min(self.timeout, CONNECT_SECONDS)
        try:
            # not the default client of the process, which belongs to the user
            return distributed.Client(self.cluster, timeout=wait, set_as_default=False)
        except (OSError, TimeoutError, ValueError, AssertionError) as error:
            # AssertionError: Dask's own event loop has not begun within ten seconds
            raise ClusterLost(
                f"No scheduler of Dask answers at {self.cluster!r} (waited {wait:g} s): "
                f"{str(error) or repr(error)}. Check the address, and whether the scheduler runs."
            ) from error

    def _wait_for_workers(self) -> None:
        watch = Watch(self)
        while not watch.look():
            time.sleep(min(POLL_SECONDS, self.timeout / 4))


class Watch:
    """Whether the scheduler answers and has workers; an error when it did not for too long."""

    def __init__(self, runner: DaskRunner):
        self._runner = runner
        self._began = self._answered = self._worked = time.monotonic()

    def look(self) -> bool:
        """Return whether there are workers now."""
        runner, workers = self._runner, {}
        # the client gives up on its own: a closed one does not come back
        if runner.client.status in ("closing", "closed"):
            raise ClusterLost(f"The scheduler at {runner.address} is gone. {resume_advice()}")
        try:
            if time.monotonic() - self._began > runner.timeout:  # nobody has been silent before
                runner.remove_silent_workers()
            workers = runner.workers()
            self._answered = time.monotonic()
        except (OSError, TimeoutError, AttributeError, RuntimeError):
            pass  # AttributeError, RuntimeError: the client was closed in between
        now = time.monotonic()
        if now - self._answered > runner.timeout:
            raise ClusterLost(
                f"The scheduler at {runner.address} has not answered for {runner.timeout:g} s. "
                f"{resume_advice()}"
            )
        if workers or now - self._answered > POLL_SECONDS:
            self._worked = now  # without an answer nothing is known of workers
        elif now - self._worked > runner.timeout:
            raise ClusterLost(
                f"The cluster at {runner.address} has had no worker for {runner.timeout:g} s; "
                f"start some, or wait longer (timeout=...). {resume_advice()}"
            )
        return bool(workers)


class _Tasks:
    """The tasks of one call, until all of them have ended."""

    def __init__(self, runner: DaskRunner, function: Callable, items: list[Any]):
        self._runner, self._function, self._items = runner, function, items
        self._run = uuid.uuid4().hex[:12]
        self._futures: dict[int, Future] = {}
        self._failures = [0] * len(items)
        self._ended: Queue[tuple[int, Future]] = Queue()
        self._expected = here()

    def results(self) -> Iterator:
        done: dict[int, Any] = {}
        for i in range(len(self._items)):
            self._submit(i)
        watch = Watch(self._runner)
        for i in range(len(self._items)):
            while i not in done:
                try:
                    ended, future = self._ended.get(timeout=POLL_SECONDS)
                except Empty:
                    watch.look()
                    continue
                if future is self._futures.get(ended):  # and not one that was given up
                    self._take(ended, future, done)
            yield done.pop(i)

    def cancel(self) -> None:
        futures, self._futures = list(self._futures.values()), {}
        if futures and self._runner._client is not None:
            with suppress(Exception):  # whatever ended the work is the error to be seen
                self._runner.client.cancel(futures, asynchronous=False, force=True)

    def _submit(self, i: int) -> None:
        client = self._runner.client
        key = f"coview-{self._function.__name__}-{self._run}-{i}-{self._failures[i]}"
        try:
            future = client.submit(
                run_task, self._function, self._items[i], self._expected, key=key, pure=False
            )
        except Exception as error:
            if client.status in ("closing", "closed"):
                raise ClusterLost(
                    f"The scheduler at {self._runner.address} is gone. {resume_advice()}"
                ) from error
            raise
        self._futures[i] = future
        future.add_done_callback(lambda ended: self._ended.put((i, ended)))

    def _take(self, i: int, future: Future, done: dict[int, Any]) -> None:
        """Take the result of a task that has ended, or give it out again."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        lost = (KilledWorker, FutureCancelledError, OSError, TimeoutError, MemoryError)
        error: BaseException | None = None
        try:
            if future.status == "finished":
                done[i] = future.result(timeout=self._runner.timeout)
            else:
                error = future.exception(timeout=self._runner.timeout)
        except lost as found:  # the result was lost with its worker, or the scheduler was
            error = found
        del self._futures[i]
        if i in done:
            return
        if error is not None and not isinstance(error, lost):
            self._explain(error)
        self._again(i, error)

    def _again(self, i: int, error: BaseException | None) -> None:
        """Give a task out once more, when the cluster is there."""
        self._failures[i] += 1
        if self._failures[i] > self._runner.retries:
            if isinstance(error, OSError | MemoryError) and not isinstance(error, ConnectionError):
                raise error
            raise ClusterLost(
                f"{plural(self._failures[i], 'attempt')} at {self._items[i]} ended with the loss "
                f"of a worker: {error}. If workers are killed for their memory, give them more of "
                f"it, or fewer threads each. {resume_advice()}"
            ) from error
        watch = Watch(self._runner)
        while self._runner.client.status != "running":  # it may be on its way back
            watch.look()
            time.sleep(POLL_SECONDS / 4)
        self._submit(i)

    def _explain(self, error: BaseException) -> None:
        """Raise the error of a task; of one that could not even be read, say which worker."""
        if isinstance(error, ImportError | AttributeError):
            check_hosts(self._runner.client, self._runner.timeout)
        raise error


# -- on the scheduler and on the workers -----------------------------------------------------------


async def remove_silent(seconds: float, dask_scheduler: Any) -> None:
    """Remove workers whose last heartbeat is older than this; one that comes back begins anew."""
    now = time.time()  # the clock of `last_seen`
    silent = [w.address for w in dask_scheduler.workers.values() if now - w.last_seen > seconds]
    for address in silent:
        await dask_scheduler.remove_worker(address=address, stimulus_id=f"coview-silent-{now}")


def run_task(function: Callable, item: Any, expected: dict[str, str]) -> Any:
    """Do one task on a worker: with the driver's versions, and one thread of native libraries."""
    from distributed import get_worker

    wrong = mismatch(here(), expected)
    if wrong:  # a worker that came later than the check
        raise ValueError(f"The worker {get_worker().address} has {wrong}.")
    with _one_native_thread_for_all_tasks():
        return function(item)


_running = 0
_limit: Any = None
_lock = threading.Lock()


@contextmanager
def _one_native_thread_for_all_tasks() -> Iterator[None]:
    """Hold BLAS to one thread while any task runs: the limit is one for the whole process."""
    global _running, _limit
    with _lock:
        if not _running:
            _limit = one_native_thread("blas")
            _limit.__enter__()
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if not _running:
                _limit.__exit__(None, None, None)
