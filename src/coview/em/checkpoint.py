"""Checkpoints: the state of a fit on disk, from which it can be resumed to the same bits.

A checkpoint holds what the loop cannot recompute: the parameters of the current run, the values
of its objective so far, the best of the restarts before it, the labels of all of them, and the
seed. Data, graphs and scaling are recomputed from the same input. A fit that is resumed, however
often, ends with the bits of an uninterrupted one.

Two files, `<path>.0` and `<path>.1`, are written alternately, each sealed and atomic
(`coview.store`): if one is lost while it is written, the other is whole. Mixtures of a fit from
disk are in files already: they are linked into the folder `<path>.mixtures`, and stay there as long
as one of the two states names them.
"""

from __future__ import annotations

import os
import shutil
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from coview.em.loop import EMRun
from coview.em.mixture_files import FiledMixtures, MixtureStore
from coview.em.problem import Problem
from coview.em.state_checks import check_state, check_state_header
from coview.em.step import Values
from coview.loaded import understood
from coview.outputs import check_output, explained, locked
from coview.params import check_int, check_real, seed_of
from coview.store import DamagedFile, read_header, read_sealed, write_sealed
from coview.views.checks import DataWarning

KIND = "checkpoint"
FINGERPRINT = "2:"  # begins the fingerprints of fits; those of earlier versions left something out
Tensors = dict[str, np.ndarray]


@dataclass(frozen=True)
class Checkpoint:
    """Where a fit saves its state, and how often.

    Parameters
    ----------
    path : path
        The state is written alternately to `<path>.0` and `<path>.1`. The mixtures of a fit from
        disk stay in the folder `<path>.mixtures`.
    every : int or None, default=None
        Iterations between two writes. None: write by `seconds`. With `acceleration` it is written
        where a cycle of three iterations ends.
    seconds : float, default=30
        Minimum time between two writes, if `every` is None.
    resume : bool, default=False
        Continue from an existing state; start from the beginning if there is none. Without it, an
        existing state is an error, since it would be overwritten.

    Examples
    --------
    >>> import tempfile
    >>> from coview import Checkpoint, LinkPLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(100, 3, [50, 40], random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/run"
    ...     first = LinkPLSA(3, random_state=0).fit(views, checkpoint=Checkpoint(path, every=5))
    ...     again = Checkpoint(path, resume=True)  # after a crash, say
    ...     second = LinkPLSA(3, random_state=0).fit(views, checkpoint=again)
    >>> bool((first.doc_topic_ == second.doc_topic_).all())
    True
    """

    path: str | os.PathLike[str]
    every: int | None = None
    seconds: float = 30.0
    resume: bool = False

    def __post_init__(self) -> None:
        if self.every is not None:
            check_int("every", self.every, 1)
        check_real("seconds", self.seconds)

    @property
    def files(self) -> tuple[Path, Path]:
        """The two files; each may exist or not."""
        path = Path(self.path)
        return path.with_name(f"{path.name}.0"), path.with_name(f"{path.name}.1")

    @property
    def mixtures(self) -> Path:
        """The folder of the mixtures that are in files; it may exist or not."""
        path = Path(self.path)
        return path.with_name(f"{path.name}.mixtures")

    def delete(self) -> None:
        """Remove both files, and the mixtures that belong to them."""
        for file in self.files:
            file.unlink(missing_ok=True)
        shutil.rmtree(self.mixtures, ignore_errors=True)

    def seed(self) -> int | None:
        """Return the seed of the fit to be resumed, or None if there is none."""
        if not self.resume:
            return None
        headers, faults = _headers(self)
        if faults and not headers:
            raise _nothing_readable(faults)
        return headers[0][1]["seed"] if headers else None


@dataclass
class FitState:
    """How far the restarts of a fit have come: what a checkpoint holds."""

    objectives: list[float] = field(default_factory=list)  # of the finished runs
    best: EMRun | None = None  # of the finished runs
    current: EMRun | None = None  # the run that was left in the middle
    labels: dict[int, np.ndarray] = field(default_factory=dict)  # of finished runs, by number


class CheckpointWriter:
    """Write the state of one fit, and read it back; do nothing without a checkpoint."""

    def __init__(self, checkpoint: Checkpoint | None, fingerprint: str, seed: int, model: str = ""):
        self._checkpoint, self._fingerprint, self.seed = checkpoint, fingerprint, seed
        self._model = model  # its name, for whoever looks at the file
        self._generation = 0
        self._last = time.monotonic()
        self._seen = 0  # iterations of the current run; accelerated EM passes over some
        self.state = FitState()
        self.store: MixtureStore | None = None  # of a fit whose mixtures are in files

    @property
    def path(self) -> str | os.PathLike[str] | None:
        """Where the state is saved; None: nowhere."""
        return None if self._checkpoint is None else self._checkpoint.path

    def locked(self) -> AbstractContextManager[None]:
        """Let no other fit use the same checkpoint meanwhile."""
        return nullcontext() if self._checkpoint is None else locked(self._checkpoint.files[0])

    def open(self, blank: Callable[[], Problem], n_runs: int, max_iter: int) -> FitState:
        """Return the state to continue from.

        `blank` makes a problem of this model, whose parameters are then replaced by saved ones. The
        fit has `n_runs` runs of `max_iter` iterations at most.
        """
        if self._checkpoint is None:
            return self.state
        files = self._checkpoint.files
        for file in files:
            check_output(file)  # now, rather than after the first iterations
        there = [file for file in files if file.exists()]
        if there and not self._checkpoint.resume:
            raise FileExistsError(
                f"{there[0]} holds the state of a fit. Resume it (resume=True), delete it, or "
                "choose another path."
            )
        if there:
            self._resume(blank(), n_runs, max_iter)
        return self.state

    def _resume(self, blank: Problem, n_runs: int, max_iter: int) -> None:
        """Take the newest state that is whole; warn about one that is damaged."""
        assert self._checkpoint is not None
        headers, faults = _headers(self._checkpoint)
        for file, header in headers:
            self._check_same(header)
            try:
                with understood(file, KIND):
                    state = _unpack(*read_sealed(file, KIND), self._blanks(blank))
                    self.state = check_state(state, blank, n_runs, max_iter)
            except DamagedFile as error:
                faults.append(error)
                continue
            self._generation = header["generation"] + 1
            break
        else:
            raise _nothing_readable(faults)
        if faults:
            warnings.warn(f"{faults[0]} The state before it is used.", DataWarning, stacklevel=2)

    def _blanks(self, blank: Problem) -> Callable[[Mapping[str, Any]], Problem]:
        """Return a function that puts the mixtures in files that a run names into a problem."""
        checkpoint, store = self._checkpoint, self.store
        assert checkpoint is not None

        def filled(run: Mapping[str, Any]) -> Problem:
            named = run.get("mixtures")
            if named is None:
                return blank
            if store is None:
                raise DamagedFile("The state is of a fit from disk; give the same sharded views.")
            folder = checkpoint.mixtures / named["folder"]
            return replace(blank, thetas=store.adopt(folder, blank.thetas, named["sha256"]))

        return filled

    def _check_same(self, header: Mapping[str, Any]) -> None:
        if not header["fingerprint"].startswith(FINGERPRINT):
            raise ValueError(
                f"The checkpoint {self._checkpoint.path} was written by an earlier version of "  # type: ignore[union-attr]
                "coview, which did not tell all fits apart: delete it and fit anew."
            )
        if header["fingerprint"] != self._fingerprint:
            raise ValueError(
                f"The checkpoint {self._checkpoint.path} belongs to a fit of other data or with "  # type: ignore[union-attr]
                "other parameters. Give the same, or choose another path."
            )

    def begin_run(self, n_iter: int) -> None:
        """Say that a run begins, after so many iterations of it that were resumed."""
        self._seen = n_iter

    def after_iteration(self, run: Callable[[], EMRun], n_iter: int) -> None:
        """Write the state of the current run, if it is time to."""
        if self._checkpoint is None:
            return
        every, waited = self._checkpoint.every, time.monotonic() - self._last
        if n_iter // every > self._seen // every if every else waited >= self._checkpoint.seconds:
            self.write(run())
        self._seen = n_iter

    def write(self, run: EMRun | None) -> None:
        """Write the state now, with `run` as the current one."""
        if self._checkpoint is None:
            return
        self.state.current = run
        header, tensors = _pack(self.state)
        named = self._keep_mixtures(header)
        header |= {"fingerprint": self._fingerprint, "seed": self.seed}
        header |= {"generation": self._generation, "model": self._model}
        write_sealed(self._checkpoint.files[self._generation % 2], KIND, header, tensors)
        self._generation += 1
        self._last = time.monotonic()
        if named:
            self._forget_mixtures()

    def _keep_mixtures(self, header: dict[str, Any]) -> bool:
        """Link mixtures in files to where they stay; name them in the header of the state."""
        assert self._checkpoint is not None
        runs = {"best": self.state.best, "current": self.state.current}
        for prefix, run in runs.items():
            first = None if run is None else run.problem.thetas[0]
            if isinstance(first, FiledMixtures):
                name = f"{self._generation:08d}-{prefix}"
                folder = self._checkpoint.mixtures / name
                with explained(self._checkpoint.mixtures):
                    shutil.rmtree(folder, ignore_errors=True)  # of a fit that was killed here
                    first.generation.link_to(folder)
                    digests = first.generation.digests
                header[prefix]["mixtures"] = {"folder": name, "sha256": digests}
        return any(run and "mixtures" in run for run in (header["best"], header["current"]))

    def _forget_mixtures(self) -> None:
        """Remove mixtures that neither of the two states names."""
        assert self._checkpoint is not None
        headers = [header for _, header in _headers(self._checkpoint)[0]]
        runs = [h[prefix] for h in headers for prefix in ("best", "current")]
        named = {run["mixtures"]["folder"] for run in runs if run and "mixtures" in run}
        for folder in self._checkpoint.mixtures.iterdir():
            if folder.name not in named:
                shutil.rmtree(folder, ignore_errors=True)


def checkpoint_writer(
    given: Any, random_state: Any, fingerprint: Callable[[], str], model: str = ""
) -> CheckpointWriter:
    """Return the writer of a fit's state, with its seed: that of the fit it resumes, if any.

    `given` is what was passed to fit: nothing, a path or a Checkpoint. `fingerprint` tells fits
    apart, and is computed only where there is a checkpoint. `model` is the name of the model.
    """
    if given is None:
        return CheckpointWriter(None, "", seed_of(random_state))
    checkpoint = Checkpoint(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(checkpoint, Checkpoint):
        raise TypeError(f"checkpoint must be a path or a coview.Checkpoint; got {given!r}.")
    seed = checkpoint.seed()
    seed = seed_of(random_state) if seed is None else seed
    return CheckpointWriter(checkpoint, fingerprint(), seed, model)


def _headers(checkpoint: Checkpoint) -> tuple[list[tuple[Path, dict[str, Any]]], list[DamagedFile]]:
    """Return each state's file and header, newest first, and why others cannot be read."""
    read, faults = [], []
    for file in checkpoint.files:
        if file.exists():
            try:
                read.append((file, _read_header(file)))
            except DamagedFile as error:
                faults.append(error)
    return sorted(read, key=lambda each: -each[1]["generation"]), faults


def _read_header(file: str | os.PathLike[str]) -> dict[str, Any]:
    header = read_header(file, KIND)["header"]
    with understood(file, KIND):
        check_state_header(header)
    return header


def _nothing_readable(faults: list[DamagedFile]) -> DamagedFile:
    return DamagedFile(f"No state can be read: {'; '.join(map(str, faults))}")


def describe(checkpoint: Checkpoint) -> dict[str, Any] | None:
    """Return how far the fit of a checkpoint has come; None if there is no state."""
    for file in sorted(checkpoint.files, key=lambda f: -f.stat().st_mtime if f.exists() else 0):
        if file.exists():
            found = describe_file(file)
            return {name: found[name] for name in ("restarts_done", "iterations")}
    return None


def describe_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what one file of a checkpoint holds, as plain data, without reading its arrays.

    Returns
    -------
    dict
        ``model`` (None in files of earlier versions), ``restarts_done``, ``iterations`` of the
        current run, ``objective`` after the last of them, or else of the best restart (None before
        the first), ``seed`` and ``saved``, the time when the file was written.
    """
    header = _read_header(path)
    with understood(path, KIND):
        current, done = header["current"], [float.fromhex(o) for o in header["objectives"]]
        history = current["history"] if current else []
        last = _unpack_values(history[-1]).objective if history else max(done, default=None)
    return {
        "model": header.get("model") or None,
        "restarts_done": len(done),
        "iterations": len(history),
        "objective": last,
        "seed": header["seed"],
        "saved": datetime.fromtimestamp(os.path.getmtime(path)).isoformat(" ", "seconds"),
    }


# -- states as JSON and tensors -------------------------------------------------------------------


def _pack(state: FitState) -> tuple[dict[str, Any], Tensors]:
    tensors: Tensors = {f"labels{i}": labels for i, labels in state.labels.items()}
    header = {
        "objectives": [o.hex() for o in state.objectives],
        "best": _pack_run(state.best, "best", tensors),
        "current": _pack_run(state.current, "current", tensors),
    }
    return header, tensors


def _pack_run(run: EMRun | None, prefix: str, tensors: Tensors) -> dict[str, Any] | None:
    if run is None:
        return None
    problem = run.problem
    for i, theta in enumerate(problem.thetas):
        if isinstance(theta, np.ndarray):
            tensors[f"{prefix}.theta{i}"] = theta
    for v, emission in enumerate(problem.emissions):
        for f in _array_fields(emission):
            tensors[f"{prefix}.emission{v}.{f}"] = getattr(emission, f)
    return {
        "parameters": [float(p).hex() for p in problem.penalty.parameters],
        "carried_penalty": _hex(problem.carried_penalty),
        "candidates": [[name, _hex(objective)] for name, objective in run.candidates],
        "history": [_pack_values(values) for values in run.history],
    }


def _unpack(
    header: Mapping[str, Any],
    tensors: Tensors,
    blank: Callable[[Mapping[str, Any]], Problem],
) -> FitState:
    n_runs = len(header["objectives"])
    return FitState(
        [float.fromhex(o) for o in header["objectives"]],
        _unpack_run(header["best"], "best", tensors, blank),
        _unpack_run(header["current"], "current", tensors, blank),
        {i: tensors[f"labels{i}"] for i in range(n_runs) if f"labels{i}" in tensors},
    )


def _unpack_run(
    header: Mapping[str, Any] | None,
    prefix: str,
    tensors: Tensors,
    blanks: Callable[[Mapping[str, Any]], Problem],
) -> EMRun | None:
    if header is None:
        return None
    blank = blanks(header)
    thetas = blank.thetas
    if "mixtures" not in header:
        thetas = tuple(tensors[f"{prefix}.theta{i}"] for i in range(len(thetas)))
    emissions = tuple(
        replace(e, **{f: tensors[f"{prefix}.emission{v}.{f}"] for f in _array_fields(e)})  # type: ignore[type-var]
        for v, e in enumerate(blank.emissions)
    )
    penalty = blank.penalty.with_parameters(tuple(map(float.fromhex, header["parameters"])))
    problem = replace(
        blank,
        thetas=thetas,
        emissions=emissions,
        penalty=penalty,
        carried_penalty=_unhex(header["carried_penalty"]),
    )
    candidates = tuple((name, float.fromhex(value)) for name, value in header["candidates"])
    history = tuple(map(_unpack_values, header["history"]))
    return EMRun(problem, history, candidates, finished=prefix == "best")


def _array_fields(emission: Any) -> list[str]:
    """Return the names of an emission's arrays: all its fields but the number of topics."""
    return [f.name for f in fields(emission) if isinstance(getattr(emission, f.name), np.ndarray)]


def _pack_values(values: Values) -> dict[str, Any]:
    plain = {f.name: getattr(values, f.name) for f in fields(values)}
    plain["log_likelihoods"] = [_hex(x) for x in values.log_likelihoods]
    plain["n_floored"] = int(values.n_floored)
    return {n: _hex(v) if isinstance(v, float) else v for n, v in plain.items()}


def _unpack_values(plain: Mapping[str, Any]) -> Values:
    values: dict[str, Any] = {n: _unhex(v) if isinstance(v, str) else v for n, v in plain.items()}
    values["log_likelihoods"] = np.array([_unhex(x) for x in plain["log_likelihoods"]])
    return Values(**values)


def _hex(number: float | None) -> str | None:
    """Write a double as text without rounding, NaN and infinity included."""
    return None if number is None else float(number).hex()


def _unhex(text: str | None) -> float | None:
    return None if text is None else float.fromhex(text)
