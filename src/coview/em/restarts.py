"""The runs of one fit: starts tried, restarts, checkpoints and callbacks around the EM loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.checkpoint import FINGERPRINT, CheckpointWriter
from coview.em.loop import EMRun, Interrupted, OnIteration, run_em
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import NamedStart, Start, random_start
from coview.em.step import Update, Values
from coview.fingerprints import fingerprint_of
from coview.params import plain_numbers
from coview.progress import progress_bar
from coview.runners.native import one_native_thread
from coview.runners.threads import ThreadRunner
from coview.shards.sharded import ShardedViews
from coview.views.container import Views

TRIAL_ITERATIONS = 20  # of each start, before the best one is continued
IRRELEVANT = ("n_jobs", "smooth_new", "verbose")  # parameters that do not change the fit


@dataclass(frozen=True)
class FitPlan:
    """What the runs of a fit have in common.

    Attributes
    ----------
    title : str
        Shown on the progress bar.
    data : Prepared
    n_topics : int
    starts : callable
        `starts(rng, restart)` lists the starts of a run by name; see `em.starts.starts_from`.
    problem : callable
        `problem(start, rng)` makes the model's problem from a start.
    schedule : tuple of Update
        The steps of one iteration; see `run_em`.
    max_iter, tol : int, float
        When a run ends.
    acceleration : str or None
        As in the model's parameters; trials of starts have none.
    runner : callable
        `runner()` is a context manager that gives what takes the steps; see `run_em`.
    verbose : int
        As in the model's parameters.
    on_iteration : callable, optional
        Called after each iteration, but not of the trials of starts; see `run_em`.
    labels : callable, optional
        `labels(problem)` are the labels of a finished run, kept where there are several runs.
    """

    title: str
    data: Prepared
    n_topics: int
    starts: Callable[[np.random.Generator, int], Sequence[NamedStart]]
    problem: Callable[[Start, np.random.Generator], Problem]
    schedule: tuple[Update, ...]
    max_iter: int
    tol: float
    acceleration: str | None = None
    runner: Callable[[], AbstractContextManager[Any]] = ThreadRunner
    verbose: int = 0
    on_iteration: OnIteration | None = None
    labels: Callable[[Problem], np.ndarray] | None = None


class RestartSeeds(Sequence[np.random.SeedSequence]):
    """The seeds of the restarts, made when they are needed: there may be any number.

    They are the children of a seed, after the first, `own`, which is for the fit as a whole.
    """

    def __init__(self, seed: int, n: int):
        self._seed, self._n = seed, n
        self.own = np.random.SeedSequence(seed, spawn_key=(0,))

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < self._n:
            raise IndexError(i)
        return np.random.SeedSequence(self._seed, spawn_key=(i + 1,))


def best_of_restarts(
    plan: FitPlan, seeds: Sequence[np.random.SeedSequence], writer: CheckpointWriter
) -> EMRun:
    """Run EM once for each seed, and return the run with the best objective, the first of equals.

    Ctrl-C raises `Interrupted` with the best of the finished runs and the one it ended.
    """
    total = len(seeds) * plan.max_iter
    # one BLAS thread: the number of threads must not change a bit of the result
    with (
        plan.runner() as runner,
        one_native_thread("blas"),
        progress_bar(plan.title, total, show=bool(plan.verbose)) as advance,
    ):
        restarts = _Restarts(plan, runner, advance, writer)
        state = writer.open(lambda: restarts.blank(seeds[0]), len(seeds), plan.max_iter)
        try:
            for i, seed in enumerate(seeds):
                if i >= len(state.objectives):
                    restarts.run(i, seed)
        except KeyboardInterrupt as interrupt:
            # not the run inside `interrupt`: it may be of another model, which makes a start
            kept = restarts.best_so_far()
            raise (KeyboardInterrupt() if kept is None else Interrupted(kept)) from interrupt
    best = restarts.best_so_far()
    assert best is not None
    return best


class _Restarts:
    """The runs of one fit, one after the other."""

    def __init__(
        self,
        plan: FitPlan,
        runner: Callable,
        advance: Callable[[int, str], None],
        writer: CheckpointWriter,
    ):
        self._plan, self._runner, self._advance, self._writer = plan, runner, advance, writer
        self._unfinished: EMRun | None = None  # the best state of the current run, for Ctrl-C

    def best_so_far(self) -> EMRun | None:
        """Return the best of the finished runs and of the one that Ctrl-C has ended."""
        state = self._writer.state
        best = _better(state.best, self._unfinished)
        kept = int(np.argmax(state.objectives)) if best is state.best and best else None
        others = tuple(labels for i, labels in state.labels.items() if i != kept)
        return best and replace(best, restarts=tuple(state.objectives), other_labels=others)

    def blank(self, seed: np.random.SeedSequence) -> Problem:
        """Make a problem of this model, to be filled with the parameters of a checkpoint."""
        rng = np.random.default_rng(seed)
        return self._plan.problem(random_start(self._plan.data, self._plan.n_topics, rng), rng)

    def run(self, i: int, seed: np.random.SeedSequence) -> None:
        """Run EM once, from where a checkpoint left it or from the best of its starts."""
        plan, state = self._plan, self._writer.state
        resumed, state.current = state.current, None
        candidates: list[tuple[str, float]] = list(resumed.candidates) if resumed else []
        history = resumed.history if resumed else ()
        # in a list, to be handed over and not kept: its arrays are as large as the model's
        first = [
            resumed.problem if resumed else self._begin(i, np.random.default_rng(seed), candidates)
        ]
        tried = tuple(candidates)
        self._writer.begin_run(len(history))
        del resumed

        def on_iteration(problem: Problem, values: Sequence[Values]) -> bool:
            self._show(i, len(values), f"objective {values[-1].objective:.6g}")
            self._writer.after_iteration(
                lambda: EMRun(problem, tuple(values), tried, finished=False), len(values)
            )
            return plan.on_iteration is not None and bool(plan.on_iteration(problem, values))

        try:
            run = self._em(first, plan.max_iter, plan.tol, on_iteration, history, plan.acceleration)
        except Interrupted as interrupt:
            interrupt.run = replace(interrupt.run, candidates=tried)
            self._unfinished = interrupt.run
            self._writer.write(interrupt.run)
            raise
        run = replace(run, candidates=tried)
        if state.best is None or run.objective > max(state.objectives):
            state.best = run
        state.objectives.append(run.objective)
        if plan.labels is not None:
            state.labels[i] = plan.labels(run.problem).astype(np.int32)
        self._writer.write(None)

    def _begin(
        self, i: int, rng: np.random.Generator, candidates: list[tuple[str, float]]
    ) -> Problem:
        """Return the problem from which to run EM: the best start after a few iterations."""
        starts = self._plan.starts(rng, i)
        for n, (name, make) in enumerate(starts, start=1):
            self._show(i, 0, f"start {name}" + (f", {n} of {len(starts)}" if starts[1:] else ""))
            start = make()
            if start is None:
                candidates.append((name, np.nan))
                continue
            problem = self._plan.problem(start, rng)
            if len(starts) == 1:
                return problem
            trial = self._em([problem], TRIAL_ITERATIONS, 0.0)
            candidates.append((name, trial.objective))
            self._unfinished = _better(self._unfinished, trial)
            del start, problem, trial  # only the best is held while the next one is tried
        best, self._unfinished = self._unfinished, None
        assert best is not None
        return best.problem

    def _em(
        self,
        problems: list[Problem],
        max_iter: int,
        tol: float,
        on_iteration: OnIteration | None = None,
        history: Sequence[Values] = (),
        acceleration: str | None = None,
    ) -> EMRun:
        schedule, runner = self._plan.schedule, self._runner
        try:
            # one by one: a tuple of arguments would hold the start's arrays to the end
            return run_em(
                problems.pop(),
                runner,
                schedule,
                max_iter,
                tol,
                on_iteration,
                history,
                acceleration,
            )
        except Interrupted as interrupt:
            self._unfinished = _better(self._unfinished, interrupt.run)
            raise

    def _show(self, i: int, n_iter: int, note: str) -> None:
        self._advance(i * self._plan.max_iter + n_iter, note)


def _better(one: EMRun | None, other: EMRun | None) -> EMRun | None:
    """Return the run with the higher objective, the first of equals, where there are two."""
    if one is None or other is None:
        return one or other
    return other if other.objective > one.objective else one


@contextmanager
def one_fit_at_a_time(model: Any) -> Iterator[None]:
    """Refuse a second fit of the same estimator from another thread: results would mix."""
    if "_fitting" in model.__dict__:
        raise RuntimeError(
            f"This {type(model).__name__} is being fitted already; clone it for another fit."
        )
    model._fitting = True
    try:
        with plain_numbers(model):
            yield
    finally:
        del model._fitting


def fit_fingerprint(model: Any, views: Views | ShardedViews, labels: Any, guess: Any = None) -> str:
    """Return a text that is equal for fits of the same data with the same parameters alone."""
    params = model.get_params(deep=False)
    chosen = {name: value for name, value in params.items() if name not in IRRELEVANT}
    if isinstance(chosen.get("random_state"), np.random.Generator | np.random.RandomState):
        chosen["random_state"] = "generator"  # the seed it gave is in the checkpoint
    inputs = {
        "model": type(model).__name__,
        "parameters": chosen,
        **_contents(views),
        "labels": None if labels is None else np.asarray(labels),
        "guess": guess,
    }
    return FINGERPRINT + fingerprint_of(inputs)


def _contents(views: Views | ShardedViews) -> dict[str, Any]:
    """Return what tells views from others; of views on disk the checksums of all their files."""
    if isinstance(views, ShardedViews):
        # another memory may be another sample, from which other weights are learned
        files = dict(views.manifest.files)
        return {"names": views.names, "files": files, "memory": views.memory}
    return {
        "names": views.names,
        "matrices": [_parts(matrix) for matrix in views.matrices.values()],
        "features": [views.features[name] for name in views.names],
        "present": views.present,
        "ids": views.ids,
    }


def _parts(matrix: sp.csr_array) -> tuple[Any, ...]:
    """Return what a canonical matrix consists of, its width among it."""
    return matrix.shape, matrix.indptr, matrix.indices, matrix.data


# -- scikit-learn's callbacks ----------------------------------------------------------------------

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand in for the mixin of newer versions."""

    def with_callbacks(method: Callable) -> Callable:
        """Return the method as it is."""
        return method


class FitCallbacks:
    """Tell the callbacks that are set on an estimator, if any, of each iteration of its fit.

    The callback API of scikit-learn is experimental, and exists from version 1.9 on.
    """

    def __init__(self, estimator: Any, X: Any, max_iter: int):
        self._about = {"estimator": estimator, "X": X}
        self._root: Any = None
        if getattr(estimator, "_skl_callbacks", None):  # set by scikit-learn's `set_callbacks`
            self._root = estimator._init_callback_context(max_subtasks=max_iter)
            self._root.call_on_fit_task_begin(**self._about)

    def after_iteration(self, attributes: Callable[[], dict[str, Any]]) -> bool:
        """Report an iteration; return whether a callback asks to stop.

        `attributes()` are the fitted attributes of the estimator at this point.
        """
        if self._root is None:
            return False
        task = self._root.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(**self._about)
        stop = task.call_on_fit_task_end(**self._about, reconstruction_attributes=attributes())
        return bool(stop)

    def end(self) -> None:
        """Report the end of the fit."""
        if self._root is not None:
            self._root.call_on_fit_task_end(**self._about)
