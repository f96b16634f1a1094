"""A pass on a Dask cluster of this machine: seconds and bytes, measured and by the cost model.

    python benchmarks/bench_cluster.py [--nonzeros 10_000_000] [--topics 50] [--workers 1 2]

Documents are those of `bench_disk.py`. Each worker is a process with one thread. The rates of the
model (sweep, storage, a task) are measured in the same run, on one shard; then passes are predicted
and measured. `docs/howto/cluster.md` explains the model, which is also extrapolated there:
`--predict` prints that for 100 million documents on 100 workers from the measured rates.
"""

import argparse
import math
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from bench_disk import write

PASSES = 6


@dataclass
class Rates:
    sweep: float  # nanoseconds a non-zero and topic, one thread, both rounds
    block: float  # nanoseconds a non-zero, to make a block of rows that were read
    storage: float  # bytes a second and worker, read or written
    task: float  # seconds of the driver for each task
    step: float  # nanoseconds a number of the topics: M-step and files of the driver


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

    def cpu(self, rates):
        """CPU seconds of all workers in one pass, without those that storage takes."""
        return self.nonzeros * (self.topics * rates.sweep + rates.block) * 1e-9

    def seconds(self, rates, workers, threads=1):
        """One pass: rounds of tasks, then the driver."""
        moved = self.bytes_of_pass()
        slots = workers * threads
        rounds = math.ceil(self.shards / slots)
        each = self.nonzeros / self.shards
        compute = each * (self.topics * rates.sweep + rates.block) * 1e-9 * rounds
        io = sum(n for what, n in moved.items() if what != "driver") / workers
        io += self.topics_size * 4  # every worker reads the topics
        n_tasks = self.shards + (64 if moved["workers add gradients"] else 0)
        driver = n_tasks * rates.task + self.topics_size * rates.step * 1e-9
        driver += moved["driver"] / rates.storage
        return compute, io / rates.storage, driver


def counters():
    """CPU seconds of a process, and the bytes it has read and written; run on every worker."""
    lines = Path("/proc/self/io").read_text().splitlines()
    held = dict(line.split(": ") for line in lines)
    return time.process_time(), int(held["rchar"]), int(held["wchar"])


def timed_passes(sharded, args, client):
    """Wall seconds, CPU seconds of all workers, and bytes that they read and wrote, of each pass."""
    import coview
    from coview.em import loop

    spent, step = [], loop._step

    def counted():
        return np.sum([*client.run(counters).values()], axis=0)

    def timed(*arguments):
        before, begin = counted(), time.perf_counter()
        taken = step(*arguments)
        wall = time.perf_counter() - begin
        spent.append((wall, *(counted() - before)))
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


def measured_rates(sharded, args, folder, client):
    """The rates of the model, each by itself."""
    from coview.runners.dask import DaskRunner
    from coview.shards import storage

    piece = np.ones(1 << 25, np.uint8)
    begin = time.perf_counter()
    for _ in range(4):
        storage.write_atomic(f"{folder}/probe", piece.data)
        storage.read_bytes(f"{folder}/probe")
    rate = 8 * piece.nbytes / (time.perf_counter() - begin)
    storage.remove_file(f"{folder}/probe")
    with DaskRunner(client) as run:
        list(run(abs, range(64)))
        begin = time.perf_counter()
        list(run(abs, range(256)))
        task = (time.perf_counter() - begin) / 256
    times = {}
    for topics in (args.topics, 2 * args.topics):
        times[topics] = median(_shard_seconds(sharded, topics, folder))
    one = sharded.nonzeros / len(sharded.shards)
    sweep = (times[2 * args.topics] - times[args.topics]) / one / args.topics * 1e9
    block = times[args.topics] / one * 1e9 - sweep * args.topics
    width = -(-args.topics // 8) * 8
    return Rates(sweep, max(block, 0.0), rate, task, _step_seconds(args.topics, sharded) / (
        sharded.widths[0] * width) * 1e9)  # fmt: skip


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


def _shard_seconds(sharded, topics, folder):
    from coview.em.shard_step import (
        RowsRecipe,
        ShardJob,
        step_shard,
        write_documents,
        write_parameters,
    )

    problem = _problem(sharded, topics)
    recipe = RowsRecipe(sharded.names, {}, np.dtype("float32"))
    write_parameters(f"{folder}/p", problem, recipe)
    first = sharded.shards[0]
    write_documents(f"{folder}/d", problem, slice(first.start, first.stop), None)
    job = ShardJob(f"{sharded.path}/{first.name}", f"{folder}/p", f"{folder}/d", None, None, None,
                   "both")  # fmt: skip
    step_shard(job)
    for _ in range(3):
        begin = time.process_time()
        step_shard(job)
        yield time.process_time() - begin


def _step_seconds(topics, sharded):
    problem = _problem(sharded, topics)
    emission = problem.emissions[0]
    begin = time.perf_counter()
    emission.m_step(np.ones(emission.by_term.shape), None)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nonzeros", type=int, default=10_000_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--predict", action="store_true")
    args = parser.parse_args()
    from distributed import Client, LocalCluster

    import coview

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words.shards"
        write(path, args.nonzeros)
        sharded = coview.open_shards(path, memory="1GB")
        sizes = Sizes(
            sharded.nonzeros, sharded.n_docs, sharded.widths[0], args.topics, len(sharded.shards)
        )
        rates = None
        for n in args.workers:
            with (
                LocalCluster(n, threads_per_worker=1, memory_limit=0, dashboard_address=None,
                             local_directory=folder) as local,
                Client(local) as client,
            ):  # fmt: skip
                rates = rates or measured_rates(sharded, args, folder, client)
                spent = timed_passes(sharded, args, client)
            compute, io, driver = sizes.seconds(rates, n)
            moved = sizes.bytes_of_pass()
            written = moved["workers write mixtures"] + moved["workers write gradients"]
            read = moved["workers read data"] + moved["workers read mixtures"]
            read += n * sizes.topics_size * 4
            wall, cpu, found_read, found_written = spent
            print(
                f"{n} workers: {wall:.2f} s a pass (model, on idle cores: {compute + io + driver:.2f}"
                f" = compute {compute:.2f} + storage {io:.2f} + driver {driver:.2f}); CPU of all "
                f"workers {cpu:.2f} s (model {sizes.cpu(rates):.2f}); they read {found_read / 1e6:.0f}"
                f" MB (model {read / 1e6:.0f}) and wrote {found_written / 1e6:.0f} MB (model "
                f"{written / 1e6:.0f})"
            )
    print(rates)
    print(sizes, {name: f"{n / 1e6:,.0f} MB" for name, n in sizes.bytes_of_pass().items()})
    if args.predict:
        large = Sizes(10_000_000_000, 100_000_000, 100_000, 100, 256)
        print(large, {n: f"{b / 1e9:,.1f} GB" for n, b in large.bytes_of_pass().items()})
        for storage in (2e8, 1e9):
            rates.storage = storage
            print(storage, large.seconds(rates, 100, 4))


if __name__ == "__main__":
    main()
