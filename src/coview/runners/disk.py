"""DiskRunner: work through data that stay on disk, some blocks at a time.

A step reads the blocks of a sharded folder in their order, a window of them at a time: while one is
worked on by threads, a reader fills the buffers of the next. Mixtures are read and written along
with them. The sums have the order that they have in memory (`em.step`), and so the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.mixture_files import FiledMixtures, GenerationWriter, MixtureStore
from coview.em.problem import Problem
from coview.em.shard_step import RawBlock, RowsRecipe, part_of
from coview.em.step import (
    Gradients,
    Step,
    Update,
    Values,
    conclude,
    em_step,
    moves_emissions,
    moves_thetas,
    sweep,
)
from coview.runners.threads import ThreadRunner
from coview.shards.sharded import ShardedViews, ShardInfo

BLOCKS_PER_THREAD = 4  # of a window: threads that are done early find more to do


@dataclass(frozen=True)
class _Place:
    """Where a block is: its shard, its number there, and whether it is the last."""

    shard: ShardInfo
    number: int
    ends_shard: bool


class DiskRunner:
    """`with DiskRunner(...) as run: run.step(problem, update)` takes a step on data on disk.

    A problem with blocks of its own is in memory, and its step is taken there.

    Parameters
    ----------
    sharded : ShardedViews
    recipe : RowsRecipe
        How their rows become the matrices of the problem.
    store : MixtureStore
        Where mixtures go.
    n_jobs : int or None
        Threads; None uses every core.
    internal : csr_array of shape (documents, clusters) or None
        The ensemble's view, in memory.
    window : int or None
        How many blocks are in memory at a time, and as many being read; None: as many as keep all
        threads busy.
    """

    def __init__(
        self,
        sharded: ShardedViews,
        recipe: RowsRecipe,
        store: MixtureStore,
        n_jobs: int | None = None,
        internal: sp.csr_array | None = None,
        window: int | None = None,
    ):
        self._sharded, self._recipe, self._store = sharded, recipe, store
        self._threads, self._internal = ThreadRunner(n_jobs), internal
        places = [
            _Place(shard, i, i == len(shard.blocks) - 1)
            for shard in sharded.shards
            for i in range(len(shard.blocks))
        ]
        size = usual_window(n_jobs) if window is None else window
        self._windows = [places[i : i + size] for i in range(0, len(places), size)]
        self._several = any(len(shard.blocks) > 1 for shard in sharded.shards)
        # two sets of buffers: one is worked on while the other is filled
        self._buffers: list[list[dict[str, np.ndarray]]] = [[{} for _ in range(size)] for _ in "ab"]

    @property
    def n_threads(self) -> int:
        """How many threads work on blocks."""
        return self._threads.n_threads

    def __enter__(self) -> DiskRunner:
        self._threads.__enter__()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="coview-reader")
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._reader.shutdown(wait=True, cancel_futures=True)
        self._threads.__exit__(kind, error, traceback)

    def __call__(self, function: Callable, items: Iterable) -> Iterator:
        """Yield function(item) of each item in their order, as `ThreadRunner` does."""
        return self._threads(function, items)

    def step(self, problem: Problem, update: Update) -> Step:
        """Take a step, as `em_step` does."""
        if problem.blocks:
            return em_step(problem, self._threads, update)
        grads = Gradients.zeros(problem, self._several) if moves_emissions(update) else None
        new = self._new_mixtures(problem) if moves_thetas(update) else None
        values: list[Values] = []
        try:
            for raw in self._read_ahead():
                values += self._sweep(problem, raw, grads, new)
        finally:
            if new is not None:
                new.close()
        return conclude(problem, values, grads, None if new is None else new.finish())

    def _sweep(
        self, problem: Problem, raw: Sequence[RawBlock], grads: Gradients | None, new: Any
    ) -> list[Values]:
        """Work on some blocks; hand their mixtures over."""
        part = part_of(problem, raw, self._recipe, self._threads, grads is not None)
        moved = None if new is None else tuple(map(np.zeros_like, part.thetas))
        values = sweep(part, self._threads, moved, grads)
        if moved is not None:
            new.add(moved)
        return values

    def _new_mixtures(self, problem: Problem) -> GenerationWriter | _InMemory:
        """Return where new mixtures go: a penalty across documents needs them in memory."""
        if problem.penalty.row_local:
            return self._store.writer(problem.thetas)
        return _InMemory(problem.thetas)

    def _read_ahead(self) -> Iterator[list[RawBlock]]:
        """Yield the rows of each window, while the next one is being read."""
        reads = self._begin(0)
        try:
            for i in range(len(self._windows)):
                raw = [read.result() for read in reads]
                reads = self._begin(i + 1)
                yield raw
        finally:  # after an error nobody may write to the buffers any longer
            for read in reads:
                read.cancel()
            wait(reads)

    def _begin(self, i: int) -> list[Future[RawBlock]]:
        """Begin to read a window; nothing after the last."""
        if i >= len(self._windows):
            return []
        pairs = zip(self._windows[i], self._buffers[i % 2], strict=False)
        return [self._reader.submit(self._read, place, into) for place, into in pairs]

    def _read(self, place: _Place, into: dict[str, np.ndarray]) -> RawBlock:
        data = self._sharded.read(place.shard, blocks=(place.number, place.number + 1), into=into)
        internal = () if self._internal is None else (self._internal[data.start : data.stop],)
        return RawBlock(
            data.start, data.stop, data.matrices, data.present, internal, place.ends_shard
        )

    # -- mixtures, from and to memory --

    def filed(self, problem: Problem) -> Problem:
        """Return a problem whose mixtures are in files, if they may be; those in memory are freed.

        Mixtures that nobody has begun with stay as they are: uniform. But a penalty across
        documents needs arrays.
        """
        if not problem.penalty.row_local:
            return replace(problem, thetas=tuple(theta[:] for theta in problem.thetas))
        if not isinstance(problem.thetas[0], np.ndarray):
            return problem
        return replace(problem, thetas=self._store.write(problem.thetas))


class _InMemory:
    """New mixtures, or their counts, of all documents in memory; written to as files are."""

    def __init__(self, like: Sequence[Any]):
        self._arrays = tuple(np.zeros(theta.shape, theta.dtype) for theta in like)
        self._at = 0

    def add(self, thetas: Sequence[np.ndarray]) -> None:
        stop = self._at + len(thetas[0])
        for array, part in zip(self._arrays, thetas, strict=True):
            array[self._at : stop] = part
        self._at = stop

    def close(self) -> None:
        pass

    def finish(self) -> tuple[np.ndarray, ...]:
        return self._arrays


def usual_window(n_jobs: int | None) -> int:
    """Return how many blocks keep all threads busy."""
    return BLOCKS_PER_THREAD * ThreadRunner(n_jobs).n_threads


def in_memory(problem: Problem, room: Callable[[tuple[int, int], np.dtype], np.ndarray]) -> Problem:
    """Return a problem whose mixtures are arrays without padding, made by `room(shape, dtype)`."""
    if isinstance(problem.thetas[0], np.ndarray):
        return problem
    shape = len(problem.thetas[0]), problem.n_topics
    arrays = tuple(room(shape, np.dtype(theta.dtype)) for theta in problem.thetas)
    first = problem.thetas[0]
    ranges = first.generation.layout.shards if isinstance(first, FiledMixtures) else [(0, shape[0])]
    for start, stop in ranges:
        for array, theta in zip(arrays, problem.thetas, strict=True):
            array[start:stop] = theta[start:stop][:, : problem.n_topics]
    return replace(problem, thetas=arrays)
