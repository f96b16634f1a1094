"""How the memory of a fit from disk is divided, before it begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coview.em.prepared import fit_bytes
from coview.em.simplex import padded
from coview.params import check_dtype
from coview.runners.disk import usual_window
from coview.runners.threads import effective_threads
from coview.shards.sharded import ShardedViews

RUNTIME = 260_000_000  # Python, its libraries and compiled kernels, at least
SAMPLE_SHARE = 0.5  # of what is left: for everything before EM begins
ARRAYS_SHARE = 0.25  # for arrays of all documents in the end
LANES = 8  # topics that the solver over a graph works on at a time, see `kernels.graph`


@dataclass(frozen=True)
class _ViewSizes:
    """The sizes of a view; stands for its matrix."""

    shape: tuple[int, int]
    nnz: int
    data: np.ndarray


@dataclass(frozen=True)
class DiskBudget:
    """What a fit from disk may take.

    Attributes
    ----------
    memory : int
        All, in bytes.
    sample_docs : int
        How many documents may be in memory before EM begins.
    window : int
        How many blocks may be worked on at a time, and as many being read.
    arrays : int
        Bytes of each array of all documents that may be in memory in the end.
    all_docs : int
        Bytes that all documents would take before EM begins.
    """

    memory: int
    sample_docs: int
    window: int
    arrays: int
    all_docs: int

    @classmethod
    def of(cls, model: Any, sharded: ShardedViews) -> DiskBudget:
        """Divide the memory of sharded views; MemoryError if it is too little, with numbers."""
        sizes = _sizes(sharded)
        itemsize, n_slots = check_dtype(model.dtype).itemsize, _n_slots(model, sharded)
        topics = _topics_bytes(model, sharded, itemsize)
        documents = _document_bytes(model, sharded)
        graphs = _graph_bytes(model, sharded, itemsize)
        block = _block_bytes(sharded, n_slots, model.n_components, itemsize)
        base = RUNTIME  # not what the process has now: the same memory must give the same sample
        left = sharded.memory - base - topics - documents - graphs
        if left < 2 * block:
            raise MemoryError(
                f"memory={_shown(sharded.memory)} is too little to fit "
                f"{model.n_components:,} topics to {sharded.n_docs:,} documents and "
                f"{sum(sharded.widths):,} terms on disk: Python takes about {_shown(base)}, topics "
                f"{_shown(topics)}, what is kept of each document {_shown(documents)}, "
                f"{_graphs_shown(graphs)}and one block of documents {_shown(2 * block)}. Give at "
                f"least memory={_shown(base + topics + documents + graphs + 2 * block)}, or use "
                "fewer topics or terms."
            )
        room = (sharded.memory - base - graphs) * SAMPLE_SHARE
        every = _sample_bytes(sizes, model, n_slots, itemsize)
        docs = sharded.n_docs if every <= room else int(sharded.n_docs * room / every)
        # the sample stays while EM runs, for the starts of further runs
        window = (left - min(every, room)) // (2 * block)
        window = int(np.clip(window, 1, usual_window(model.n_jobs)))
        return cls(sharded.memory, docs, window, int(left * ARRAYS_SHARE), every)

    def describe_all(self) -> str:
        """Return how much memory all documents would take, and how much there is."""
        return (
            f"about {_shown(self.all_docs)}, and memory={_shown(self.memory)} leaves less. Half of "
            "the memory that Python itself does not take is for this"
        )


def _sizes(sharded: ShardedViews) -> list[_ViewSizes]:
    values = {True: np.array([1.0]), False: np.array([0.5])}
    return [
        _ViewSizes((sharded.n_docs, view.n_terms), view.nonzeros, values[view.whole])
        for view in sharded.views.values()
    ]


def _n_slots(model: Any, sharded: ShardedViews) -> int:
    from coview.em.prepared import Prepared

    present = np.zeros((0, sharded.n_views), bool)
    weights = (1.0,) * sharded.n_views
    return model._n_slots(Prepared(sharded.names, (), present, weights))


def _sample_bytes(sizes: Sequence[Any], model: Any, n_slots: int, itemsize: int) -> int:
    """Return the memory of all documents before EM begins: views, the fit, and its ensemble."""
    nnz = sum(size.nnz for size in sizes)
    views = nnz * 2 * (4 + 8)  # also while they are put together, and in the model's precision
    return views + fit_bytes(sizes, model.n_components, n_slots, itemsize, clusters=True)


def _topics_bytes(model: Any, sharded: ShardedViews, itemsize: int) -> int:
    """Return the memory of old and new topics, their gradient and what an M-step takes."""
    width, terms = padded(model.n_components), sum(sharded.widths)
    features = getattr(model, "n_feature_topics", 0)
    features = max(features.values()) if isinstance(features, dict) else features
    several = 8 if any(len(shard.blocks) > 1 for shard in sharded.shards) else 0
    start = terms * model.n_components * 2 * itemsize
    step = terms * (width * (3 * itemsize + 8 + several) + features * (2 * itemsize + 16))
    return max(start + terms * width * itemsize, step)


def _document_bytes(model: Any, sharded: ShardedViews) -> int:
    """Return the memory of what is kept of each document: presence, masses, labels, ids."""
    ids = sharded.manifest.files["ids.npy"]["bytes"] if sharded.manifest.ids else 0
    each = 9 * sharded.n_views + 8 + 8 + 8
    return sharded.n_docs * (each + (70 if ids else 0)) + ids


def _graph_bytes(model: Any, sharded: ShardedViews, itemsize: int) -> int:
    """Return the memory of graphs over all documents and of the mixtures that they smooth."""
    entries = model._graph_entries(sharded.n_docs, sharded.names)
    if not entries:
        return 0
    n_topics, width = model.n_components, padded(model.n_components)
    # 12 bytes an entry: each graph as it is given and checked; their sum in a step, and copies
    graphs = 12 * (3 * sum(entries) + 5 * sum(entries))
    lanes = min(effective_threads(model.n_jobs), -(-width // LANES)) * LANES
    # old, new, counts and three copies; vectors of the solver, or logarithms for the roughness
    each = 6 * width * itemsize + max(5 * 8 * lanes, 2 * 8 * n_topics)
    return graphs + sharded.n_docs * each


def _graphs_shown(graphs: int) -> str:
    return f"graphs and the mixtures of all documents {_shown(graphs)}, " if graphs else ""


def _block_bytes(sharded: ShardedViews, n_slots: int, n_topics: int, itemsize: int) -> int:
    """Return the memory of one block that is worked on, and of its buffers."""
    nnz = docs = 0
    for shard in sharded.shards:
        nnz = max(nnz, sum(shard.nonzeros) // len(shard.blocks))
        docs = max(docs, *(stop - start for start, stop in shard.blocks))
    dense = any(not view.whole for view in sharded.views.values())
    entries = nnz * (2 * (4 + 8) + itemsize + 4 + 2 + 2 * itemsize + (24 if dense else 0))
    return (entries + docs * (8 * sharded.n_views + 4 * n_slots * padded(n_topics) * itemsize)) // 2


def mapped_room(
    folder: str | os.PathLike[str], most: int
) -> Callable[[tuple[int, int], np.dtype], np.ndarray]:
    """Return a function that makes arrays: in memory, or of more than `most` bytes in a file.

    The file has no name any longer: it goes with the array.
    """

    def room(shape: tuple[int, int], dtype: np.dtype) -> np.ndarray:
        if shape[0] * shape[1] * dtype.itemsize <= most:
            return np.zeros(shape, dtype)
        path = Path(folder) / "array"
        array = np.memmap(path, dtype=dtype, mode="w+", shape=shape)
        path.unlink()
        return array

    return room


def _shown(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.2f}GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.0f}MB"
