"""One EM step on one shard, pure in its files: `step_shard`, what every worker of a cluster runs.

A step of the whole is: for each shard a `ShardJob`, in any order and anywhere; then the values of
all blocks and the gradients of all shards are added in their order (`Gradients`), and `conclude`
takes the M-step. The runner on disk does the same with several blocks at a time (`runners.disk`).
Both make small problems of consecutive blocks (`part_of`), which `em.step.sweep` works on.

Files of a fit, beside the shards themselves:

    parameters     what all documents share: topics, weights, penalty, priors, scaling; each step
    documents      what belongs to a shard's documents, but is not in the shard: pins, strengths of
                   the penalty, guesses, clusters of the ensemble; once a fit
    mixtures       p(z|d) of a shard's documents, for each slot; each step, see `em.mixture_files`
    gradient       dL/dp(w|z), summed over a shard's blocks; each step
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.emissions import Topics
from coview.em.mixture_files import Layout, UniformMixtures, by_slot, rows_of, side_by_side
from coview.em.penalties.base import Packed, Penalty
from coview.em.precision import narrowed
from coview.em.prepared import Block, block_of
from coview.em.prior import Prior
from coview.em.problem import Problem
from coview.em.scaling import Scaling, scaled
from coview.em.step import Gradients, Update, Values, moves_emissions, moves_thetas, sweep
from coview.runners.threads import ThreadRunner
from coview.shards import storage
from coview.shards.format import MANIFEST
from coview.shards.sharded import ShardData, ShardedViews, ShardInfo, open_shards
from coview.store import read_sealed, write_sealed

PARAMETERS, DOCUMENTS = "parameters", "documents"


@dataclass(frozen=True)
class ShardJob:
    """What a worker has to do: paths, numbers and names alone, so that it is quick to send.

    Attributes
    ----------
    shard : str
        The shard's folder, within the sharded folder.
    parameters : str
        A file of `write_parameters`.
    documents : str
        A file of `write_documents`.
    mixtures : str or None
        The file of this shard's mixtures; None where they are uniform, at the start.
    into : str or None
        Where the new mixtures go (counts, if the penalty couples documents); None: nowhere.
    gradient : str or None
        Where the gradient goes; None: nowhere.
    update : Update
    penalty : type
        The class of the penalty; AcrossDocuments if it couples documents.
    """

    shard: str
    parameters: str
    documents: str
    mixtures: str | None
    into: str | None
    gradient: str | None
    update: Update
    penalty: type[Penalty] = Penalty


@dataclass(frozen=True)
class ShardResult:
    """What a worker has found: the values of each block; the rest is in files."""

    values: tuple[Values, ...]


@dataclass(frozen=True)
class RowsRecipe:
    """How rows of shards become the matrices of a problem: scaled, in the model's precision.

    Attributes
    ----------
    names : tuple of str
        Names of the views in the shards.
    scaling : dict
        As `em.scaling` learned it.
    dtype : dtype
    """

    names: tuple[str, ...]
    scaling: Scaling = field(repr=False)
    dtype: np.dtype

    def matrices(self, rows: Sequence[sp.csr_array], present: np.ndarray) -> list[sp.csr_array]:
        """Return the rows of each view as the kernels take them."""
        found = []
        for v, (name, matrix) in enumerate(zip(self.names, rows, strict=True)):
            unit = 1.0 if name in self.scaling else None
            matrix = scaled(name, matrix, present[:, v], self.scaling)
            found.append(narrowed(name, matrix, self.dtype, unit))
        return found


@dataclass(frozen=True)
class RawBlock:
    """The rows of one block as they were read, and of the ensemble's view, where there is one."""

    start: int
    stop: int
    rows: tuple[sp.csr_array, ...]
    present: np.ndarray
    internal: tuple[sp.csr_array, ...] = ()
    ends_shard: bool = True


def make_block(recipe: RowsRecipe, columns: bool, first: int, raw: RawBlock) -> Block:
    """Return a block of a problem whose first document has the number `first`."""
    matrices = [*recipe.matrices(raw.rows, raw.present), *raw.internal]
    block = block_of(matrices, 0, raw.stop - raw.start, columns)
    start, stop = raw.start - first, raw.stop - first
    return replace(block, start=start, stop=stop, ends_shard=raw.ends_shard)


def part_of(
    problem: Problem,
    raw: Sequence[RawBlock],
    recipe: RowsRecipe,
    map_in_order: Callable,
    columns: bool,
) -> Problem:
    """Return the problem of consecutive blocks alone, from their rows."""
    docs = slice(raw[0].start, raw[-1].stop)

    def make(block: RawBlock) -> Block:
        return make_block(recipe, columns, docs.start, block)

    blocks = _side_by_side(list(map_in_order(make, raw)))
    row_local = problem.penalty.row_local
    return replace(
        problem,
        blocks=blocks,
        thetas=rows_of(problem.thetas, docs),
        present=problem.present[docs],
        penalty=problem.penalty.at(docs) if row_local else problem.penalty,
        prior=problem.prior.at(docs),
        pinned=None if problem.pinned is None else problem.pinned[docs],
    )


def _side_by_side(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return blocks that were made one by one with their places behind each other."""
    ends = np.zeros(len(blocks[0].rows), int)
    placed = []
    for block in blocks:
        rows = []
        for v, part in enumerate(block.rows):
            begin = int(ends[v])
            ends[v] += len(part.data)
            rows.append(replace(part, place=slice(begin, int(ends[v]))))
        placed.append(replace(block, rows=tuple(rows)))
    return tuple(placed)


# -- the work of one shard -------------------------------------------------------------------------


def step_shard(job: ShardJob, n_threads: int = 1) -> ShardResult:
    """Take a step on one shard: read its files, sweep, write mixtures and gradient.

    Files are written beside their places and moved there, so that a worker that dies leaves nothing
    half written, and two workers with the same job do no harm.
    """
    sharded, info = _shard_at(job.shard)
    parameters = _parameters(job.parameters)
    internal, problem = _problem(parameters, job, info)
    raw = _raw_blocks(sharded.read(info), info, internal)
    grads = Gradients.zeros(problem) if moves_emissions(job.update) else None
    new = tuple(map(np.zeros_like, problem.thetas)) if moves_thetas(job.update) else None
    with ThreadRunner(n_threads) as run:
        part = part_of(problem, raw, parameters.recipe, run, grads is not None)
        values = sweep(part, run, new, grads)
    if new is not None and job.into is not None:
        storage.write_array_atomic(job.into, side_by_side(new))
    if grads is not None and job.gradient is not None:
        storage.write_array_atomic(job.gradient, np.concatenate(grads.total))
    return ShardResult(tuple(values))


def add_gradient(grads: Gradients, path: str) -> None:
    """Add the gradient of the next shard to the total."""
    heights = [len(total) for total in grads.total]
    width = grads.total[0].shape[1]
    whole = storage.read_array(path, np.float64, (sum(heights), width))
    for total, part in zip(grads.total, np.split(whole, np.cumsum(heights)[:-1]), strict=True):
        total += part


def _raw_blocks(
    data: ShardData, info: ShardInfo, internal: tuple[sp.csr_array, ...]
) -> list[RawBlock]:
    """Return the blocks of one shard, numbered within it; together they are its sum."""
    return [
        RawBlock(
            start - info.start,
            stop - info.start,
            tuple(m[start - info.start : stop - info.start] for m in data.matrices),
            data.present[start - info.start : stop - info.start],
            tuple(m[start - info.start : stop - info.start] for m in internal),
        )
        for start, stop in info.blocks
    ]


def _problem(
    parameters: Parameters, job: ShardJob, info: ShardInfo
) -> tuple[tuple[sp.csr_array, ...], Problem]:
    """Return the problem of a shard's documents, without its blocks, and the ensemble's view."""
    documents = read_documents(job.documents)
    n_docs = info.stop - info.start
    labels = documents.get("labels")
    layout = Layout(((0, n_docs),), parameters.n_slots, parameters.width, parameters.recipe.dtype)
    if job.mixtures is None:
        sizes = n_docs, parameters.n_topics, parameters.width, layout.dtype
        thetas = (UniformMixtures(*sizes, labels)[:],) * parameters.n_slots
    else:
        thetas = by_slot(storage.read_array(job.mixtures, layout.dtype, layout.shape(0)), layout)
    problem = Problem(
        blocks=(),
        emissions=parameters.emissions,
        thetas=thetas,
        slots=parameters.slots,
        weights=parameters.weights,
        present=documents["present"],
        penalty=job.penalty.unpack(
            parameters.settings, {**parameters.shared, **_beneath("penalty.", documents)}
        ),
        prior=replace(parameters.prior, guess=documents.get("guess")),
        pinned=None if labels is None else labels >= 0,
        once=parameters.once,
    )
    return _internal(documents, parameters), problem


def _internal(
    documents: Mapping[str, np.ndarray], parameters: Parameters
) -> tuple[sp.csr_array, ...]:
    if "internal.indptr" not in documents:
        return ()
    parts = tuple(documents[f"internal.{p}"] for p in ("data", "indices", "indptr"))
    shape = (len(documents["present"]), len(parameters.emissions[-1].by_term))
    return (sp.csr_array(parts, shape=shape),)


@lru_cache(maxsize=4)
def _opened(folder: str, manifest: tuple[Any, ...]) -> ShardedViews:
    """Return a sharded folder, so that a process checks each of its files once.

    `manifest` is the signature of its manifest: a worker may outlive what it has read.
    """
    return open_shards(folder)


def _shard_at(path: str) -> tuple[ShardedViews, ShardInfo]:
    folder, _, name = path.rstrip("/").replace(os.sep, "/").rpartition("/")
    sharded = _opened(folder, storage.signature(storage.join(folder, MANIFEST)))
    return sharded, next(info for info in sharded.shards if info.name == name)


# -- files -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameters:
    """What all documents share in one step."""

    emissions: tuple[Topics, ...] = field(repr=False)
    slots: tuple[int, ...]
    weights: tuple[float, ...]
    prior: Prior  # of mixtures; that of topics is taken by whoever moves them
    settings: Mapping[str, Any]  # of the penalty
    shared: Mapping[str, np.ndarray] = field(repr=False)  # of the penalty
    recipe: RowsRecipe
    once: tuple[bool, ...] | None = None

    @property
    def n_topics(self) -> int:
        """The number of topics, without padding."""
        return self.emissions[0].n_topics

    @property
    def width(self) -> int:
        """The number of topics, with padding."""
        return self.emissions[0].by_term.shape[1]

    @property
    def n_slots(self) -> int:
        """How many mixtures a document has."""
        return max(self.slots) + 1


class AcrossDocuments(Penalty):
    """Stands for a penalty that couples documents, where only some of them are at hand."""

    row_local = False

    def pack(self) -> Packed:
        """Return nothing: the step that couples documents is taken elsewhere."""
        return {}, {}, {}


def at_work(penalty: Penalty) -> Penalty:
    """Return what workers need to know of a penalty."""
    return penalty if penalty.row_local else AcrossDocuments()


def _beneath(prefix: str, tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {n.removeprefix(prefix): a for n, a in tensors.items() if n.startswith(prefix)}


def write_parameters(path: str, problem: Problem, recipe: RowsRecipe) -> None:
    """Write what all documents share at this moment."""
    tensors = {f"topics{v}": e.by_term for v, e in enumerate(problem.emissions)}
    for i, name in enumerate(recipe.names):
        if name in recipe.scaling:
            tensors[f"low{i}"], tensors[f"unit{i}"] = recipe.scaling[name]
    settings, shared, _ = at_work(problem.penalty).pack()
    tensors |= {f"penalty.{name}": array for name, array in shared.items()}
    header = {
        "n_topics": problem.n_topics,
        "slots": list(problem.slots),
        "weights": [float(w).hex() for w in problem.weights],
        "doc_topic": float(problem.prior.doc_topic).hex(),
        "strength": float(problem.prior.strength).hex(),
        "penalty": settings,
        "names": list(recipe.names),
        "dtype": recipe.dtype.name,
        "once": problem.once and list(problem.once),
    }
    with storage.written_locally(path) as here:
        write_sealed(here, PARAMETERS, header, tensors)


def read_parameters(path: str) -> Parameters:
    """Read a file of `write_parameters`."""
    with storage.local_copy(path) as here:
        header, tensors = read_sealed(here, PARAMETERS)
    names = tuple(header["names"])
    scaling = {
        name: (tensors[f"low{i}"], tensors[f"unit{i}"])
        for i, name in enumerate(names)
        if f"low{i}" in tensors
    }
    n_topics, slots = header["n_topics"], tuple(header["slots"])
    return Parameters(
        tuple(Topics(tensors[f"topics{v}"], n_topics) for v in range(len(slots))),
        slots,
        tuple(map(float.fromhex, header["weights"])),
        Prior(float.fromhex(header["doc_topic"]), strength=float.fromhex(header["strength"])),
        header["penalty"],
        _beneath("penalty.", tensors),
        RowsRecipe(names, scaling, np.dtype(header["dtype"])),
        header["once"] and tuple(header["once"]),
    )


@lru_cache(maxsize=1)
def _parameters(path: str) -> Parameters:
    """Return the parameters of a step, read once by a process that works on several shards."""
    return read_parameters(path)


def write_documents(
    path: str, problem: Problem, docs: slice, labels: np.ndarray | None, internal: Any = None
) -> None:
    """Write what belongs to some documents of a problem, but is not in their shard.

    Parameters
    ----------
    path : str
    problem : Problem
        Of all documents.
    docs : slice
        Which documents these are.
    labels : ndarray of int of shape (documents,) or None
        The topics of pinned documents, -1 elsewhere.
    internal : csr_array of shape (documents, clusters) or None
        The ensemble's view.
    """
    tensors = {"present": problem.present[docs]}
    if labels is not None:
        tensors["labels"] = labels[docs]
    by_document = at_work(problem.penalty).pack()[2]
    tensors |= {f"penalty.{name}": array[docs] for name, array in by_document.items()}
    if problem.prior.guess is not None:
        tensors["guess"] = problem.prior.guess[docs]
    if internal is not None:
        rows = internal[docs]
        for part in ("data", "indices", "indptr"):
            tensors[f"internal.{part}"] = getattr(rows, part)
    with storage.written_locally(path) as here:
        write_sealed(here, DOCUMENTS, {}, tensors)


def read_documents(path: str) -> dict[str, np.ndarray]:
    """Read a file of `write_documents`."""
    with storage.local_copy(path) as here:
        return read_sealed(here, DOCUMENTS)[1]
