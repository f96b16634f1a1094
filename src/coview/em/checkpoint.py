"""Checkpoints: the state of a fit on disk, from which it goes on to the same bits.

What is kept is what the loop cannot compute again: the parameters of the run, the values of its
objective so far, and the best of the restarts before it. Data, graphs and scaling are made anew
from the same input, and the seed is kept; so a fit that is resumed, however often, ends where an
undisturbed one does.

Two files, `<path>.0` and `<path>.1`, are written in turn, each sealed and atomic (`coview.store`):
whatever happens while one is written, the other is whole.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from coview.em.loop import Fit, finished
from coview.em.problem import Problem
from coview.em.step import Values
from coview.params import check_int, check_real
from coview.store import DamagedFile, read_header, read_sealed, write_sealed
from coview.views.checks import DataWarning

KIND = "checkpoint"
Tensors = dict[str, np.ndarray]


@dataclass(frozen=True)
class Checkpoint:
    """Where a fit keeps its state, and how often.

    Parameters
    ----------
    path : path
        The two generations are called `<path>.0` and `<path>.1`.
    every : int or None, default=None
        Iterations between two states. None: as `seconds` says.
    seconds : float, default=30
        Least time between two states, if `every` is None.
    resume : bool, default=False
        Go on from the state that is there; begin anew if there is none. Without it, a state that
        is already there is an error, since it would be overwritten.

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

    def __post_init__(self):
        if self.every is not None:
            check_int("every", self.every, 1)
        check_real("seconds", self.seconds)

    @property
    def files(self) -> tuple[Path, Path]:
        """The two generations; each may be there or not."""
        path = Path(self.path)
        return path.with_name(f"{path.name}.0"), path.with_name(f"{path.name}.1")

    def delete(self) -> None:
        """Remove both generations, once the model is where it is wanted."""
        for file in self.files:
            file.unlink(missing_ok=True)

    def seed(self) -> int | None:
        """The seed of the fit that is to be resumed, if there is one."""
        if not self.resume:
            return None
        newest = _newest(self)
        return None if newest is None else int(newest["header"]["seed"])


def as_checkpoint(given: Any) -> Checkpoint | None:
    """What a user passed to fit: nothing, a path, or a Checkpoint."""
    if given is None or isinstance(given, Checkpoint):
        return given
    if isinstance(given, str | os.PathLike):
        return Checkpoint(given)
    raise TypeError(f"checkpoint must be a path or a coview.Checkpoint; got {given!r}.")


@dataclass
class Run:
    """One run of EM, finished or not."""

    problem: Problem
    history: tuple[Values, ...]
    candidates: list[tuple[str, float]]


@dataclass
class Progress:
    """How far the restarts of a fit have come."""

    objectives: list[float] = field(default_factory=list)  # of the restarts that are finished
    best: Run | None = None
    current: Run | None = None  # the run that was left in the middle


class CheckpointWriter:
    """Writes the state of one fit, and reads it back; does nothing without a checkpoint."""

    def __init__(self, checkpoint: Checkpoint | None, fingerprint: str, seed: int):
        self._checkpoint, self._fingerprint, self.seed = checkpoint, fingerprint, seed
        self._generation = 0
        self._last = time.monotonic()
        self.progress = Progress()

    def open(self, blank: Callable[[], Problem]) -> Progress:
        """The state to go on from; `blank` makes a problem of this model with any parameters."""
        if self._checkpoint is None:
            return self.progress
        there = [file for file in self._checkpoint.files if file.exists()]
        if there and not self._checkpoint.resume:
            raise FileExistsError(
                f"{there[0]} holds the state of a fit. Resume it (resume=True), delete it, or "
                "choose another path."
            )
        newest = _newest(self._checkpoint) if there else None
        if newest is not None:
            self._check_same(newest["header"])
            self._generation = newest["header"]["generation"] + 1
            self.progress = _unpack(newest["header"], newest["tensors"], blank())
        return self.progress

    def _check_same(self, header: Mapping[str, Any]) -> None:
        if header["fingerprint"] != self._fingerprint:
            raise ValueError(
                f"The checkpoint {self._checkpoint.path} belongs to a fit of other data or with "  # type: ignore[union-attr]
                "other parameters. Give the same, or choose another path."
            )

    def step(self, run: Callable[[], Run], n_iter: int) -> None:
        """After an iteration of a run: keep it, if it is time."""
        if self._checkpoint is None:
            return
        every, waited = self._checkpoint.every, time.monotonic() - self._last
        if n_iter % every == 0 if every else waited >= self._checkpoint.seconds:
            self.write(run())

    def write(self, run: Run | None) -> None:
        """Keep the state now, with the run at hand as the current one."""
        if self._checkpoint is None:
            return
        self.progress.current = run
        header, tensors = _pack(self.progress)
        header |= {"fingerprint": self._fingerprint, "seed": self.seed}
        header |= {"generation": self._generation}
        write_sealed(self._checkpoint.files[self._generation % 2], KIND, header, tensors)
        self._generation += 1
        self._last = time.monotonic()


def _newest(checkpoint: Checkpoint) -> dict[str, Any] | None:
    """The newest state that can be read, with a warning about one that cannot."""
    read, faults = [], []
    for file in checkpoint.files:
        if file.exists():
            try:
                header, tensors = read_sealed(file, KIND)
                read.append({"header": header, "tensors": tensors})
            except DamagedFile as error:
                faults.append(error)
    if faults and not read:
        raise DamagedFile(f"No state can be read: {'; '.join(map(str, faults))}")
    if faults:
        warnings.warn(f"{faults[0]} The state before it is used.", DataWarning, stacklevel=2)
    return max(read, key=lambda each: each["header"]["generation"], default=None)


def describe(checkpoint: Checkpoint) -> dict[str, Any] | None:
    """How far the fit of a checkpoint has come, as plain data; None if there is no state."""
    for file in sorted(checkpoint.files, key=lambda f: -f.stat().st_mtime if f.exists() else 0):
        if file.exists():
            header = read_header(file, KIND)["header"]
            current = header["current"]
            return {
                "restarts_done": len(header["objectives"]),
                "iterations": len(current["history"]) if current else 0,
            }
    return None


# -- states as JSON and tensors -------------------------------------------------------------------


def _pack(progress: Progress) -> tuple[dict[str, Any], Tensors]:
    tensors: Tensors = {}
    header = {
        "objectives": [o.hex() for o in progress.objectives],
        "best": _pack_run(progress.best, "best", tensors),
        "current": _pack_run(progress.current, "current", tensors),
    }
    return header, tensors


def _pack_run(run: Run | None, prefix: str, tensors: Tensors) -> dict[str, Any] | None:
    if run is None:
        return None
    problem = run.problem
    for i, theta in enumerate(problem.thetas):
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


def _unpack(header: Mapping[str, Any], tensors: Tensors, blank: Problem) -> Progress:
    return Progress(
        [float.fromhex(o) for o in header["objectives"]],
        _unpack_run(header["best"], "best", tensors, blank),
        _unpack_run(header["current"], "current", tensors, blank),
    )


def _unpack_run(header, prefix: str, tensors: Tensors, blank: Problem) -> Run | None:
    if header is None:
        return None
    thetas = tuple(tensors[f"{prefix}.theta{i}"] for i in range(len(blank.thetas)))
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
    candidates = [(name, float(_unhex(objective))) for name, objective in header["candidates"]]  # type: ignore[arg-type]
    return Run(problem, tuple(map(_unpack_values, header["history"])), candidates)


def _array_fields(emission: Any) -> list[str]:
    """The arrays of an emission, which are all that it is besides its number of topics."""
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
    """A double in JSON without a rounding in between, NaN and infinity included."""
    return None if number is None else float(number).hex()


def _unhex(text: str | None) -> float | None:
    return None if text is None else float.fromhex(text)


def fit_of(run: Run, tol: float) -> Fit:
    """A finished run as `run_em` would have returned it."""
    fit = finished(run.problem, run.history, tol)
    fit.trace.candidates = run.candidates
    return fit


def run_of(fit: Fit, candidates: Sequence[tuple[str, float]]) -> Run:
    return Run(fit.problem, fit.history, list(candidates))
