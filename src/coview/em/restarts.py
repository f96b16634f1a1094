"""The runs of one fit: what surrounds the loop, from the starts tried to the checkpoints.

scikit-learn's callback API (experimental, from 1.9 on) where it exists; nothing elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from coview.em.checkpoint import CheckpointWriter, Run, fit_of, run_of
from coview.em.loop import Fit, Interrupted, run_em
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import random_start
from coview.progress import progress_bar
from coview.runners.threads import ThreadRunner
from coview.store import fingerprint
from coview.views.container import Views

TRIAL_ITERATIONS = 20  # of each start, before the best one goes on
FREE = ("n_jobs", "verbose")  # parameters that do not change the result


def best_of_restarts(model, data: Prepared, views: Views, seeds, writer: CheckpointWriter) -> Fit:
    """The best of `n_init` runs; the first of equals.

    Ctrl-C is answered by `Interrupted` with the best of the runs before it and the one it ended.
    """
    total = model.n_init * model.max_iter
    # one BLAS thread: the number of threads must not change a bit of the result
    with (
        ThreadRunner(model.n_jobs) as runner,
        threadpool_limits(1, "blas"),
        progress_bar(type(model).__name__, total, show=bool(model.verbose)) as advance,
    ):
        callbacks = FitCallbacks(model, views, total, lambda p: model._state(p, data))
        fits = _Runs(model, data, views, runner, advance, callbacks, writer)
        progress = writer.open(fits.blank(seeds[0]))
        try:
            for i, seed in enumerate(seeds):
                if i >= len(progress.objectives):
                    fits.run(i, seed)
        except KeyboardInterrupt as interrupt:
            kept = fits.best_so_far()  # what interrupt holds may be of a model that makes a start
            raise (KeyboardInterrupt() if kept is None else Interrupted(kept)) from interrupt
        callbacks.end()
    best = fits.best_so_far()
    assert best is not None
    return best


class _Runs:
    """What the runs of one fit have in common."""

    def __init__(self, model, data, views, runner, advance, callbacks, writer):
        self._model, self._data, self._views = model, data, views
        self._runner, self._advance, self._callbacks = runner, advance, callbacks
        self._checkpoint_writer = writer
        self._left: Fit | None = None  # the best state of the run at hand, for Ctrl-C

    def best_so_far(self) -> Fit | None:
        """The best of the runs that are finished and of the one that Ctrl-C has ended."""
        progress = self._checkpoint_writer.progress
        done = None if progress.best is None else fit_of(progress.best, self._model.tol)
        best = _better(done, self._left)
        if best is not None:
            best.trace.restarts = np.array(progress.objectives)
        return best

    def blank(self, seed) -> Callable[[], Problem]:
        """Makes a problem of this model, to be filled with the parameters of a checkpoint."""

        def make() -> Problem:
            rng = np.random.default_rng(seed)
            start = random_start(self._data, self._model.n_components, rng)
            return self._model._problem(self._data, start, rng)

        return make

    def run(self, i: int, seed) -> None:
        """One run, from where a checkpoint left it or from the best of its starts."""
        progress, model = self._checkpoint_writer.progress, self._model
        left, progress.current = progress.current, None
        tried: list[tuple[str, float]] = [] if left is None else left.candidates
        history = () if left is None else left.history
        # in a list, to be handed over and not kept: its arrays are as large as the model's
        first = [self._begin(i, np.random.default_rng(seed), tried) if not left else left.problem]
        del left

        def on_step(state, values):
            self._show(i, len(values), f"objective {values[-1].objective:.6g}")
            self._checkpoint_writer.step(lambda: Run(state, tuple(values), tried), len(values))
            return self._callbacks.after_iteration(state)

        try:
            fit = self._em(first, model.max_iter, model.tol, on_step, history)
        except Interrupted as interrupt:
            interrupt.fit.trace.candidates = tried
            self._checkpoint_writer.write(run_of(interrupt.fit, tried))
            raise
        if progress.best is None or fit.objective > max(progress.objectives):
            progress.best = run_of(fit, tried)
        progress.objectives.append(fit.objective)
        self._checkpoint_writer.write(None)

    def _em(self, problems: list[Problem], max_iter, tol, on_step=None, history=()) -> Fit:
        schedule = self._model._schedule
        try:
            return run_em(problems.pop(), self._runner, schedule, max_iter, tol, on_step, history)
        except Interrupted as interrupt:
            self._left = _better(self._left, interrupt.fit)
            raise

    def _begin(self, i: int, rng, tried: list) -> Problem:
        """The problem from which to run EM: of several starts the best after a few iterations."""
        starts = list(self._model._starts(self._data, self._views, rng))
        for name, make in starts:
            self._show(i, 0, f"start {name}")
            start = make()
            if start is None:
                tried.append((name, np.nan))
                continue
            problem = self._model._problem(self._data, start, rng)
            if len(starts) == 1:
                return problem
            fit = self._em([problem], TRIAL_ITERATIONS, 0.0)
            tried.append((name, fit.objective))
            self._left = _better(self._left, fit)
            del start, problem, fit  # only the best is held while the next one is tried
        best, self._left = self._left, None
        assert best is not None
        return best.problem

    def _show(self, i: int, n_iter: int, note: str) -> None:
        self._advance(i * self._model.max_iter + n_iter, note)


def _better(one: Fit | None, other: Fit | None) -> Fit | None:
    """The fit with the higher objective, the first of equals, where there are two."""
    if one is None or other is None:
        return one or other
    return other if other.objective > one.objective else one


def fit_fingerprint(model, views: Views, labels) -> str:
    """Tells whether a checkpoint belongs to this fit: same data, same parameters."""
    params = model.get_params(deep=False)
    arrays = [views.present]
    for matrix in views.matrices.values():
        arrays += [matrix.indptr, matrix.indices, matrix.data]
    texts = [type(model).__name__, _token(None if labels is None else np.asarray(labels))]
    texts += views.names
    texts += [f"{name}={_token(params[name])}" for name in sorted(params) if name not in FREE]
    return fingerprint(arrays, *texts)


def _token(value: Any) -> str:
    """A parameter as a text that differs when it differs."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return fingerprint([value])
    if sp.issparse(value):
        csr = sp.csr_array(value)
        return fingerprint([csr.indptr, csr.indices, csr.data])
    if hasattr(value, "components_"):
        return fingerprint(list(value.components_.values()), type(value).__name__)
    if isinstance(value, dict):
        return str({str(k): _token(v) for k, v in value.items()})
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return "generator"  # the seed it gave is in the checkpoint
    return repr(value)


# -- callbacks -------------------------------------------------------------------------------------


try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for the mixin of newer versions."""

    def with_callbacks(method):
        return method


class FitCallbacks:
    """Tells the callbacks set on an estimator, if any, of each iteration of its fit."""

    def __init__(self, estimator, X, max_iter: int, state):
        self._estimator, self._X, self._state = estimator, X, state
        self._root = None
        if getattr(estimator, "_skl_callbacks", None):
            self._root = estimator._init_callback_context(max_subtasks=max_iter)
            self._root.call_on_fit_task_begin(estimator=estimator, X=X)

    def after_iteration(self, problem) -> bool:
        """Whether a callback asks to stop."""
        if self._root is None:
            return False
        task = self._root.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=self._estimator, X=self._X)
        return bool(
            task.call_on_fit_task_end(
                estimator=self._estimator,
                X=self._X,
                reconstruction_attributes=self._state(problem),
            )
        )

    def end(self) -> None:
        if self._root is not None:
            self._root.call_on_fit_task_end(estimator=self._estimator, X=self._X)
