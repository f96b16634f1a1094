"""A pass on a Dask cluster of this machine: seconds and bytes, measured and by the cost model.

    python benchmarks/bench_cluster.py [--nonzeros 10_000_000] [--topics 50] [--workers 1 2]

Documents are those of `bench_disk.py`. Each worker is a process with one thread. The rates of the
model are CPU time, measured in the same run on tasks of two sizes; then CPU time and bytes of
passes are predicted and measured. `docs/howto/cluster.md` explains the model. `--predict` prints
what it says of 100 million documents on 100 workers, from the measured rates.
"""

import argparse
import math
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from bench_disk import write

PASSES = 6
SUM_RANGES = 64  # tasks that add gradients


@dataclass
class Rates:
    """CPU nanoseconds of one thread: what passes take where cores are idle."""

    sweep: float  # a non-zero and topic
    block: float  # a non-zero, to make a block of rows that were read
    topics: float  # a number of the topics, in every task: read, gradient, written
    step: float  # a number of the topics, once: M-step
    add: float  # a number of a gradient that workers add
    task: float  # a task, on the driver and the scheduler
    own: float  # a task, on its worker, before and after it


@dataclass
class Sizes:
    nonzeros: int
    docs: int
    terms: int
    topics: int
    shards: int
    slots: int = 1

    @property
    def width(self):
        return -(-self.topics // 8) * 8

    @property
    def topics_size(self):
        return self.terms * self.width

    def bytes_of_pass(self):
        """What all workers, and the driver, read and write in one pass."""
        mixtures = self.docs * self.slots * self.width * 4
        gradients = self.shards * self.topics_size * 8
        small = gradients <= 1 << 28
        return {
            "workers read data": self.nonzeros * 8 + self.docs * 9,
            "workers read mixtures": mixtures,
            "workers write mixtures": mixtures,
            "workers write gradients": gradients,
            "workers add gradients": 0 if small else gradients + self.topics_size * 8,
            "driver": (gradients if small else self.topics_size * 8) + self.topics_size * 4,
        }

    def task_seconds(self, rates):
        """CPU seconds of one task, its files included."""
        each = self.nonzeros / self.shards
        work = each * (self.topics * rates.sweep + rates.block)
        return (work + self.topics_size * rates.topics) * 1e-9

    def worker_seconds(self, rates):
        """CPU seconds of all workers in a pass."""
        added = bool(self.bytes_of_pass()["workers add gradients"])
        sums = added * self.shards * self.topics_size * rates.add
        own = (self.shards + added * SUM_RANGES) * rates.own
        return self.shards * self.task_seconds(rates) + (sums + own) * 1e-9

    def seconds(self, rates, workers, threads, storage):
        """One pass: tasks, their files, the driver; storage is bytes a second and worker."""
        moved = self.bytes_of_pass()
        rounds = math.ceil(self.shards / (workers * threads))
        files = sum(n for what, n in moved.items() if what != "driver") / workers
        files += self.topics_size * 4  # every worker reads the topics
        n_tasks = self.shards + (SUM_RANGES if moved["workers add gradients"] else 0)
        driver = (n_tasks * rates.task + self.topics_size * rates.step) * 1e-9
        driver += moved["driver"] / storage
        tasks = self.task_seconds(rates) * rounds
        tasks += (self.worker_seconds(rates) - self.shards * self.task_seconds(rates)) / (
            workers * threads
        )
        return tasks, files / storage, driver


def counters():
    """CPU seconds of a process, and the bytes it has read and written; run on every worker."""
    lines = Path("/proc/self/io").read_text().splitlines()
    held = dict(line.split(": ") for line in lines)
    return time.process_time(), int(held["rchar"]), int(held["wchar"])


def timed_passes(sharded, args, client):
    """Wall and CPU seconds, and bytes read and written by all workers, of a pass."""
    import coview
    from coview.em import loop

    spent, step = [], loop._step

    def timed(*arguments):
        before, begin = counted(client), time.perf_counter()
        taken = step(*arguments)
        wall = time.perf_counter() - begin
        spent.append((wall, *(counted(client) - before)))
        return taken

    loop._step = timed
    try:
        coview.PLSA(
            args.topics, init="random", view_weights="balanced", ensemble=0, max_iter=PASSES,
            tol=0.0, random_state=0, n_jobs=1,
        ).fit(sharded, runner=client)  # fmt: skip
    finally:
        loop._step = step
    # the first ones check files and compile, the last takes no M-step
    return np.median(spent[2:-1], axis=0)


def measured_rates(large, small, args, folder):
    """The rates of the model, from tasks of two sizes with two numbers of topics."""
    rows, seconds = [], []
    for sharded in (large, small):
        for topics in (args.topics, 4 * args.topics):
            first = sharded.shards[0]
            nonzeros, width = sum(first.nonzeros), -(-topics // 8) * 8
            rows.append((nonzeros * topics, nonzeros, sharded.widths[0] * width))
            seconds.append(min(_task_seconds(sharded, topics, folder)) * 1e9)
    # relative errors count
    rows, seconds = np.array(rows), np.array(seconds)
    sweep, block, topics = nnls(rows / seconds[:, None], np.ones(4))[0]
    emission = _problem(large, args.topics).emissions[0]
    begin = time.process_time()
    emission.m_step(np.ones(emission.by_term.shape), None)
    step = (time.process_time() - begin) * 1e9 / emission.by_term.size
    return Rates(sweep, block, topics, step, _add_cost(folder), 0.0, 0.0)


def _add_cost(folder):
    """CPU nanoseconds of a number that is read from a gradient and added."""
    from coview.runners.cluster import SumJob, add_range
    from coview.shards import storage

    shape = (20_000, 64)
    storage.write_array_atomic(f"{folder}/gradient", np.ones(shape))
    job = SumJob((f"{folder}/gradient",) * 8, shape, (0, shape[0]), f"{folder}/sum")
    begin = time.process_time()
    add_range(job)
    return (time.process_time() - begin) / (8 * shape[0] * shape[1]) * 1e9


def counted(client):
    """The counters of all workers, added."""
    return np.sum([*client.run(counters).values()], axis=0)


def task_costs(client):
    """CPU nanoseconds of a task that does nothing: of driver and scheduler, and of its worker."""
    from coview.runners.dask import DaskRunner

    with DaskRunner(client) as run:
        list(run(abs, range(64)))
        begin, before = time.process_time(), counted(client)[0]
        list(run(abs, range(256)))
        spent = time.process_time() - begin, counted(client)[0] - before
    return [seconds / 256 * 1e9 for seconds in spent]


def written(path, nonzeros):
    import coview

    write(path, nonzeros)
    return coview.open_shards(path, memory="1GB")


def _problem(sharded, topics):
    from coview.em.emissions import Topics
    from coview.em.mixture_files import UniformMixtures
    from coview.em.problem import Problem
    from coview.em.simplex import pad_topics

    rng = np.random.default_rng(0)
    p = rng.random((topics, sharded.widths[0])).astype(np.float32)
    by_term = pad_topics((p / p.sum(axis=1, keepdims=True)).T, np.dtype("float32"))
    theta = UniformMixtures(sharded.n_docs, topics, by_term.shape[1], np.dtype("float32"))
    present = np.ones((sharded.n_docs, 1), bool)
    return Problem((), (Topics(by_term, topics),), (theta,), (0,), (1.0,), present)


def _task_seconds(sharded, topics, folder):
    """CPU seconds of one task, a few times."""
    from coview.em.shard_step import (
        RowsRecipe,
        ShardJob,
        step_shard,
        write_documents,
        write_parameters,
    )

    problem, first = _problem(sharded, topics), sharded.shards[0]
    recipe = RowsRecipe(sharded.names, {}, np.dtype("float32"))
    write_documents(f"{folder}/documents", problem, slice(first.start, first.stop), None)
    for i in range(4):
        write_parameters(f"{folder}/parameters{i}", problem, recipe)
        job = ShardJob(
            f"{sharded.path}/{first.name}", f"{folder}/parameters{i}", f"{folder}/documents",
            None, f"{folder}/mixtures", f"{folder}/gradient", "both",
        )  # fmt: skip
        begin = time.process_time()
        step_shard(job)
        if i:  # the first one checks the files, and may compile
            yield time.process_time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nonzeros", type=int, default=10_000_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--predict", action="store_true")
    args = parser.parse_args()
    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        sharded = written(f"{folder}/words.shards", args.nonzeros)
        few = written(f"{folder}/few.shards", args.nonzeros // 8)
        rates = measured_rates(sharded, few, args, folder)
        sizes = Sizes(
            sharded.nonzeros, sharded.n_docs, sharded.widths[0], args.topics, len(sharded.shards)
        )
        for n in args.workers:
            with (
                LocalCluster(n, threads_per_worker=1, memory_limit=0, dashboard_address=None,
                             local_directory=folder) as local,
                Client(local) as client,
            ):  # fmt: skip
                rates.task, rates.own = task_costs(client)
                wall, cpu, read, wrote = timed_passes(sharded, args, client)
            moved = sizes.bytes_of_pass()
            sums = moved["workers add gradients"]
            own = sizes.topics_size * 8 if sums else 0
            of_model = {
                # without the topics, which are mapped: the counter does not see them
                "read": moved["workers read data"] + moved["workers read mixtures"] + sums - own,
                "wrote": moved["workers write mixtures"] + moved["workers write gradients"] + own,
            }  # fmt: skip
            expected = sizes.worker_seconds(rates)
            print(f"{n} workers, {wall:.2f} s a pass on this machine as it is; of all workers:")
            print(f"  CPU   {cpu:.2f} s, by the model {expected:.2f}")
            print(f"  read  {read / 1e6:.0f} MB, by the model {of_model['read'] / 1e6:.0f}")
            print(f"  wrote {wrote / 1e6:.0f} MB, by the model {of_model['wrote'] / 1e6:.0f}")
    print(rates)
    print(sizes, {name: f"{n / 1e6:,.0f} MB" for name, n in sizes.bytes_of_pass().items()})
    if args.predict:
        large = Sizes(10_000_000_000, 100_000_000, 100_000, 100, 256)
        print(large, {n: f"{b / 1e9:,.1f} GB" for n, b in large.bytes_of_pass().items()})
        for storage in (2e8, 1e9):
            parts = large.seconds(rates, 100, 4, storage)
            named = "tasks {:.1f} s, files {:.1f} s, driver {:.1f} s".format(*parts)
            print(f"100 workers of 4 threads, {storage / 1e6:.0f} MB/s each: {named}")


if __name__ == "__main__":
    main()
