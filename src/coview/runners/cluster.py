"""ClusterRunner: steps of EM whose shards are worked on by the workers of a cluster.

A step writes what all documents share to a file, gives out a task for every shard
(`em.shard_step.step_shard`), and adds what comes back in the order of the shards: values, which are
small, and gradients, which are as large as the topics and come in files. Where those are large,
they are added by the workers as well, each a range of terms over all shards: the same sums.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import is_not
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.mixture_files import (
    FiledMixtures,
    Generation,
    MixtureStore,
    UniformMixtures,
    mixture_file,
)
from coview.em.problem import Problem
from coview.em.shard_step import (
    RowsRecipe,
    ShardJob,
    add_gradient,
    at_work,
    step_shard,
    write_documents,
    write_parameters,
)
from coview.em.step import (
    Gradients,
    Step,
    Update,
    Values,
    conclude,
    em_step,
    moves_emissions,
    moves_thetas,
)
from coview.memory import check_memory
from coview.runners.dask import DaskRunner
from coview.runners.disk import DiskRunner
from coview.shards import storage
from coview.shards.sharded import ShardedViews

DRIVER_ADDS = 1 << 28  # bytes of gradients of all shards that the driver adds by itself
SUM_RANGES = 64  # into so many ranges of terms sums are cut that workers do


class ClusterRunner(DiskRunner):
    """Take steps on a cluster: `with ClusterRunner(...) as run: run.step(problem, update)`.

    What is in memory (the start, on a sample) is worked on by threads of this process, as with a
    `DiskRunner`.

    Parameters
    ----------
    tasks : DaskRunner
        Where tasks go.
    sharded, recipe, store, n_jobs, internal
        As in `DiskRunner`; the folder of the store is one that all workers see.
    """

    def __init__(
        self,
        tasks: DaskRunner,
        sharded: ShardedViews,
        recipe: RowsRecipe,
        store: MixtureStore,
        n_jobs: int | None = None,
        internal: sp.csr_array | None = None,
    ):
        super().__init__(sharded, recipe, store, n_jobs, internal)
        self._tasks = tasks
        self._documents: _DocumentFiles | None = None

    def __enter__(self) -> ClusterRunner:
        self._tasks.__enter__()
        super().__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        try:
            super().__exit__(kind, error, traceback)
            self._forget_documents()
        finally:
            self._tasks.__exit__(kind, error, traceback)

    def step(self, problem: Problem, update: Update) -> Step:
        """Take a step, as `em_step` does."""
        if problem.blocks:
            return em_step(problem, self._threads, update)
        before = self._generation(problem)
        folder = self._store.new_folder()
        storage.make_folder(folder)
        # its files go with it, whether the step succeeds or not
        after = Generation(folder, self._store.layout(problem.thetas))
        jobs = self._jobs(problem, update, before, folder)
        values: list[Values] = []
        grads = Gradients.zeros(problem) if moves_emissions(update) else None
        on_driver = grads is None or self._is_small(grads)
        for job, result in zip(jobs, self._tasks(step_shard, jobs), strict=True):
            values += result.values
            if grads is not None and on_driver and job.gradient is not None:
                add_gradient(grads, job.gradient)
                storage.remove_file(job.gradient)
        if grads is not None and not on_driver:
            self._add_on_workers(grads, [job.gradient for job in jobs], folder)
        storage.remove_file(jobs[0].parameters)
        new: tuple[Any, ...] | None = None
        if moves_thetas(update):
            new = after.thetas() if problem.penalty.row_local else self._gathered(after)
        return conclude(problem, values, grads, new)

    def _jobs(
        self, problem: Problem, update: Update, before: Generation | None, folder: str
    ) -> list[ShardJob]:
        """Write what tasks need to know, and return them, one for each shard."""
        # a name that was never used before: workers remember what they have read
        parameters = storage.join(folder, f"parameters-{uuid.uuid4().hex}")
        write_parameters(parameters, problem, self._recipe)
        documents = self._document_files(problem)
        return [
            ShardJob(
                shard=storage.join(self._sharded.path, shard.name),
                parameters=parameters,
                documents=documents[i],
                mixtures=None if before is None else before.path(i),
                into=mixture_file(folder, i) if moves_thetas(update) else None,
                gradient=_gradient_file(folder, i) if moves_emissions(update) else None,
                update=update,
                penalty=type(at_work(problem.penalty)),
            )
            for i, shard in enumerate(self._sharded.shards)
        ]

    def _generation(self, problem: Problem) -> Generation | None:
        """Return the files of the mixtures; those in memory are written to some."""
        first = problem.thetas[0]
        if isinstance(first, UniformMixtures):
            return None
        if isinstance(first, FiledMixtures):
            return first.generation
        return self._store.write(problem.thetas)[0].generation

    def _document_files(self, problem: Problem) -> list[str]:
        """Return files of what belongs to the documents of each shard, written when it changes."""
        first = problem.thetas[0]
        labels = first.labels if isinstance(first, UniformMixtures) else None
        if labels is None and problem.pinned is not None:
            labels = np.where(problem.pinned, 0, -1)  # mixtures are there: which do not move
        of_penalty = at_work(problem.penalty).pack()[2].values()
        parts = (problem.present, problem.pinned, problem.prior.guess, type(first), *of_penalty)
        known = () if self._documents is None else self._documents.parts
        if len(known) != len(parts) or any(map(is_not, known, parts)):
            self._forget_documents()
            folder = self._store.new_folder()
            storage.make_folder(folder)
            self._documents = _DocumentFiles(parts, folder)
            for file, shard in zip(self._files_of_documents(), self._sharded.shards, strict=True):
                docs = slice(shard.start, shard.stop)
                write_documents(file, problem, docs, labels, self._internal)
        return self._files_of_documents()

    def _files_of_documents(self) -> list[str]:
        assert self._documents is not None
        numbers = range(len(self._sharded.shards))
        return [storage.join(self._documents.folder, f"documents-{i:05d}") for i in numbers]

    def _forget_documents(self) -> None:
        if self._documents is not None:
            storage.remove_tree(self._documents.folder)
        self._documents = None

    def _gathered(self, generation: Generation) -> tuple[np.ndarray, ...]:
        """Return what workers have written, in memory: a penalty across documents needs all."""
        layout = generation.layout
        check_memory(layout.n_bytes, f"Gathering the mixtures of {layout.n_docs:,} documents")
        shape = layout.n_docs, layout.width
        arrays = tuple(np.empty(shape, layout.dtype) for _ in range(layout.n_slots))
        for start, stop in layout.shards:
            for array, part in zip(arrays, generation.read(start, stop), strict=True):
                array[start:stop] = part
        return arrays

    # -- gradients --

    def _is_small(self, grads: Gradients) -> bool:
        size = sum(total.nbytes for total in grads.total)
        return size * len(self._sharded.shards) <= DRIVER_ADDS

    def _add_on_workers(self, grads: Gradients, files: Sequence[str | None], folder: str) -> None:
        """Let workers add the gradients of all shards, each a range of terms."""
        whole = np.concatenate([total[:0] for total in grads.total])
        n_rows = sum(map(len, grads.total))
        ends = np.linspace(0, n_rows, min(SUM_RANGES, n_rows) + 1).astype(int)
        jobs = [
            SumJob(
                tuple(file for file in files if file is not None),
                (n_rows, whole.shape[1]),
                (int(low), int(high)),
                storage.join(folder, f"sum-{i:05d}.npy"),
            )
            for i, (low, high) in enumerate(pairwise(ends))
        ]
        parts = []
        for job, _ in zip(jobs, self._tasks(add_range, jobs), strict=True):
            low, high = job.rows
            parts.append(storage.read_array(job.into, np.float64, (high - low, whole.shape[1])))
            storage.remove_file(job.into)
        for file in jobs[0].files:
            storage.remove_file(file)
        heights = [len(total) for total in grads.total]
        split = np.split(np.concatenate(parts), np.cumsum(heights)[:-1])
        for total, part in zip(grads.total, split, strict=True):
            total += part


@dataclass(frozen=True)
class _DocumentFiles:
    """The folder of files that were written of these parts of a problem."""

    parts: tuple[Any, ...]
    folder: str


def _gradient_file(folder: str, shard: int) -> str:
    return storage.join(folder, f"gradient-{shard:05d}.npy")


@dataclass(frozen=True)
class SumJob:
    """Some rows of the gradients of all shards, to be added in the order of the files."""

    files: tuple[str, ...]
    shape: tuple[int, int]
    rows: tuple[int, int]
    into: str


def add_range(job: SumJob) -> None:
    """Add rows of the gradients of all shards, on a worker."""
    total = np.zeros((job.rows[1] - job.rows[0], job.shape[1]))
    for file in job.files:
        total += storage.read_array(file, np.float64, job.shape, rows=job.rows)
    storage.write_array_atomic(job.into, total)
