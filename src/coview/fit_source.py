"""Where a fit has its documents: in memory, or in a sharded folder on disk.

In memory everything is at hand. On disk, what is learned before EM begins (scaling, weights of
views, the ensemble of clusterings, starts) is learned from documents in memory: from all, if they
fit into half of the memory that the fit may take, and otherwise from a sample of them.

From all, topics and mixtures begin with the bits that they have in memory. From a sample, a random
start still does: it takes the counts of all terms, no more. Any other start is a short fit to the
sample, whose topics all documents begin with; their mixtures are uniform, and are moved a few times
before the topics are. Documents that are not in the sample lack the ensemble's view. A graph over
the documents is in memory, with their mixtures; the fit to a sample goes without.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from coview.disk_memory import DiskBudget, mapped_room
from coview.em.acceleration import check_mixtures_in_memory
from coview.em.checkpoint import CheckpointWriter
from coview.em.matrix_facts import at_rows, facts_of
from coview.em.mixture_files import MixtureStore
from coview.em.prepared import Guess, Prepared, check_init, view_weights
from coview.em.problem import Problem
from coview.em.restarts import FitPlan, best_of_restarts
from coview.em.seeds import prepare_seeds
from coview.em.shard_step import RowsRecipe
from coview.em.simplex import Room
from coview.em.start_topics import smoothed_topics
from coview.em.starts import (
    NamedStart,
    Start,
    label_start,
    mixture_start,
    smooth_labels,
    uniform_theta,
)
from coview.outputs import output_file, temporary_folder
from coview.params import check_dtype
from coview.runners.disk import DiskRunner, in_memory
from coview.runners.threads import ThreadRunner
from coview.shards.sharded import ShardedViews
from coview.views.container import Views
from coview.views.labels import check_topic_labels

SAMPLE_ITERATIONS = 30  # of a fit to a sample, from which all documents begin
MIXTURE_PASSES = 5  # of all documents, before topics move
FEWEST = 1000  # documents of a sample


def source_of(
    model: Any, views: Views | ShardedViews, writer: CheckpointWriter, runner: Any = None
) -> InMemory:
    """Return where a fit of these views has its documents; `runner` is a cluster, or None."""
    if runner is not None:
        from coview.cluster_source import cluster_source

        return cluster_source(model, views, writer, runner)
    if isinstance(views, ShardedViews):
        return OnDisk(model, views, writer)
    return InMemory(model, views)


class InMemory:
    """All documents are in memory; also the base class of other sources.

    Attributes
    ----------
    views : Views or ShardedViews
        All documents, or where they are.
    """

    def __init__(self, model: Any, views: Any):
        self._model, self.views = model, views

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        pass

    @property
    def sample(self) -> Views:
        """The documents that everything before EM is learned from."""
        return self.views

    def of_sample(self, labels: Any) -> Any:
        """Return the labels of the sample."""
        return labels

    def coupled(self, data: Prepared, learned: dict[str, Any]) -> tuple[Prepared, dict[str, Any]]:
        """Return the data of the sample with the graphs of the model, if it has all documents."""
        return self._model._coupled(data, learned)

    def spread(
        self, data: Prepared, learned: dict[str, Any], labels: Any, guess: Guess | None
    ) -> tuple[Prepared, dict[str, Any]]:
        """Return the data of all documents from those of the sample, and what was learned."""
        return data.cut(columns=True).with_guess(guess), learned

    def starts(self, data: Prepared, rng: np.random.Generator, i: int) -> Sequence[NamedStart]:
        """List the starts of a run, each with a function that makes it."""
        return self._model._starts(data, self.sample, rng, i)

    def begin(self, problem: Problem, start: Start) -> Problem:
        """Return the problem of a start as the runner takes it."""
        return problem

    def gathered(self, problem: Problem) -> Problem:
        """Return a problem with the mixtures of all documents in arrays."""
        return problem

    @property
    def room(self) -> Room:
        """What makes arrays of all documents, from their shape and type."""
        return np.empty

    def present(self, data: Prepared) -> np.ndarray:
        """Return which document has which view."""
        return self.views.present

    def runner(self) -> AbstractContextManager[Any]:
        """Return what takes the steps."""
        return ThreadRunner(self._model.n_jobs)


class OnDisk(InMemory):
    """Documents in a sharded folder; only some of them are in memory at a time."""

    _runner: DiskRunner

    def __init__(self, model: Any, sharded: ShardedViews, writer: CheckpointWriter):
        check_mixtures_in_memory(model.acceleration)
        super().__init__(model, sharded)
        self._sharded, self._writer = sharded, writer
        self._budget = DiskBudget.of(model, sharded)
        self._rows = self._sampled_rows()
        self._open = ExitStack()

    def _sampled_rows(self) -> np.ndarray | None:
        """Return which documents the sample has; None: all."""
        n_docs, wanted = self._sharded.n_docs, self._budget.sample_docs
        if wanted >= n_docs:
            return None
        remedy = self._model._needs_all_documents(self._sharded.names)
        if remedy:
            raise MemoryError(
                f"{type(self._model).__name__} needs all documents in memory before it begins: "
                f"{self._budget.describe_all()}. Raise memory=, {remedy}."
            )
        rng = np.random.default_rng([self._writer.seed, n_docs])
        wanted = min(max(wanted, FEWEST, 10 * self._model.n_components), n_docs - 1)
        return np.sort(rng.choice(n_docs, size=wanted, replace=False, shuffle=False))

    def __enter__(self) -> Self:
        folder = self._open.enter_context(self._work_folder())
        shards = tuple((shard.start, shard.stop) for shard in self._sharded.shards)
        self._store = self._writer.store = MixtureStore(folder, shards)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        # without the error: it need not be about the folder, which would explain it as its own
        self._open.close()

    def _work_folder(self) -> AbstractContextManager[Any]:
        return _work_folder(self._sharded, self._writer.path)

    @cached_property
    def sample(self) -> Views:
        """The documents that everything before EM is learned from."""
        if self._rows is None:
            return self._sharded.to_views()
        return self._sharded.take(self._rows)

    def of_sample(self, labels: Any) -> Any:
        """Return the labels of the sample."""
        if labels is None or self._rows is None:
            return labels
        return self._checked(labels)[self._rows]

    def _checked(self, labels: Any) -> np.ndarray:
        return check_topic_labels(labels, self._sharded.n_docs, self._model.n_components)

    # -- from the sample to all documents --

    def coupled(self, data: Prepared, learned: dict[str, Any]) -> tuple[Prepared, dict[str, Any]]:
        """Return the data of the sample; without graphs, unless it has all documents."""
        return super().coupled(data, learned) if self._rows is None else (data, learned)

    def spread(
        self, data: Prepared, learned: dict[str, Any], labels: Any, guess: Guess | None
    ) -> tuple[Prepared, dict[str, Any]]:
        """Return the data of all documents, without blocks: those are on disk."""
        recipe = RowsRecipe(
            self._sharded.names, learned["scaling_"], check_dtype(self._model.dtype)
        )
        if self._rows is not None:
            some = guess and (guess[0][self._rows], guess[1])
            self._learned_from = data.with_guess(some)
            data, learned = self._of_all(data, learned, labels, recipe)
        internal = data.matrices[-1] if data.has_ensemble_view else None
        self._runner = self._open.enter_context(self._make_runner(recipe, internal))
        return data.with_guess(guess), learned

    def _make_runner(self, recipe: RowsRecipe, internal: Any) -> DiskRunner:
        n_jobs, window = self._model.n_jobs, self._budget.window
        return DiskRunner(self._sharded, recipe, self._store, n_jobs, internal, window)

    def _of_all(
        self, sample: Prepared, learned: dict[str, Any], labels: Any, recipe: RowsRecipe
    ) -> tuple[Prepared, dict[str, Any]]:
        """Return the data of all documents from what was learned on a sample."""
        model, n_docs = self._model, self._sharded.n_docs
        given = sample.without_ensemble_view()
        checked = None if labels is None else self._checked(labels)
        checked = None if checked is None or not (checked >= 0).any() else checked
        present = np.zeros((n_docs, len(given.names)), bool)

        def rows() -> Any:
            for part in self._sharded.parts({}):
                present[part.start : part.stop] = part.present
                yield recipe.matrices(part.matrices, part.present)

        facts = facts_of(
            rows(), n_docs, self._sharded.widths, given.dtype, checked, model.n_components
        )
        data = replace(given, matrices=facts, present=present, labels=checked, ranges=())
        data = data.with_prior(model.doc_topic_prior, model.topic_word_prior)
        weights = _weights_of_all(model.view_weights, data, learned)
        data = replace(data, weights=tuple(weights.values()), sampled=self._rows)
        views: Any = self._sharded
        seeds, names = prepare_seeds(model.seeds, model.n_components, model.init, views, data)
        learned = {**learned, "view_weights_": weights, "topic_names_": names}
        data, learned = model._coupled(replace(data, seeds=seeds), learned)
        return self._with_internal(data, sample), learned

    def _with_internal(self, data: Prepared, sample: Prepared) -> Prepared:
        """Add the ensemble's view, which only documents of the sample have."""
        if not sample.has_ensemble_view:
            return data
        assert self._rows is not None
        matrix = at_rows(sample.matrices[-1], self._rows, data.n_docs)
        share = sample.weights[-1] * sample.matrices[-1].sum(dtype=np.float64) / sample.mass.sum()
        here = np.diff(matrix.indptr) > 0
        weight = share * data.mass[self._rows].sum() / matrix.sum(dtype=np.float64)
        return replace(
            data,
            names=sample.names,
            matrices=(*data.matrices, matrix),
            present=np.column_stack([data.present, here]),
            weights=(*data.weights, float(weight)),
            prior=data.prior.with_view(matrix.shape[1]),
            seeds=None
            if data.seeds is None or sample.seeds is None
            else (*data.seeds, sample.seeds[-1]),
        )

    # -- starts --

    @cached_property
    def _sample_data(self) -> Prepared:
        """The data of the sample, for starts that are made from it."""
        return self._learned_from.cut(columns=True)

    def starts(self, data: Prepared, rng: np.random.Generator, i: int) -> Sequence[NamedStart]:
        """List the starts of a run; from a sample there is one."""
        init = self._model.init
        if self._rows is None or (isinstance(init, str) and init == "random"):
            return self._model._starts(data, self.sample, rng, i)
        if not isinstance(init, str) and not hasattr(init, "components_"):
            return [("given", lambda: self._given_start(init, data))]
        return [("sample", lambda: self._sample_start(data, rng, i))]

    def _given_start(self, init: Any, data: Prepared) -> Start:
        """Start from labels or mixtures of all documents, and the topics that the sample has."""
        n_topics, sample = self._model.n_components, self._sample_data
        given = check_init(init, data.n_docs, n_topics)
        if given.ndim == 1:
            start = label_start("given", given[self._rows], n_topics, sample)
            given = smooth_labels(given, n_topics, dtype=data.dtype)
        else:
            start = mixture_start("given", given[self._rows], sample)
        theta = uniform_theta(data, n_topics)[:]
        free = ~data.empty if data.labels is None else ~data.empty & (data.labels < 0)
        theta[free, :n_topics] = given[free]
        return Start("given", theta, self._smoothed(start.p_w_z, data))

    def _sample_start(self, data: Prepared, rng: np.random.Generator, i: int) -> Start:
        """Start from the topics of a short fit to the sample."""
        model, sample = self._model, self._sample_data
        plan = FitPlan(
            title=f"{type(model).__name__}, sample",
            data=sample,
            n_topics=model.n_components,
            starts=lambda r, _: model._starts(sample, self.sample, r, i),
            problem=lambda start, r: model._seeded_problem(sample, start, r),
            schedule=model._schedule,
            max_iter=min(SAMPLE_ITERATIONS, model.max_iter),
            tol=model.tol,
            runner=lambda: nullcontext(self._runner),
        )
        seed = np.random.SeedSequence(int(rng.integers(2**63)))
        run = best_of_restarts(plan, [seed], CheckpointWriter(None, "", 0))
        k = model.n_components
        topics = tuple(np.ascontiguousarray(e.by_term[:, :k].T) for e in run.problem.emissions)
        return Start("sample", uniform_theta(data, k), self._smoothed(topics, data))

    def _smoothed(self, topics: Sequence[np.ndarray], data: Prepared) -> tuple[np.ndarray, ...]:
        """Return topics in which no term is impossible that some document has."""
        return tuple(
            smoothed_topics(p.copy(), m) for p, m in zip(topics, data.matrices, strict=True)
        )

    def begin(self, problem: Problem, start: Start) -> Problem:
        """Return the problem with its mixtures in files; those of a sample's start are moved."""
        problem = self._runner.filed(replace(problem, blocks=()))
        if start.name == "sample":
            for _ in range(MIXTURE_PASSES):
                problem = self._runner.step(problem, "thetas").problem
        return problem

    def gathered(self, problem: Problem) -> Problem:
        """Return a problem with the mixtures of all documents in arrays: in memory, if they fit."""
        return in_memory(problem, self.room)

    def present(self, data: Prepared) -> np.ndarray:
        """Return which document has which view."""
        return np.ascontiguousarray(data.without_ensemble_view().present)

    @property
    def room(self) -> Room:
        """What makes arrays of all documents: in memory, or in a file if they are too large."""
        return mapped_room(self._store.folder, self._budget.arrays)

    def runner(self) -> AbstractContextManager[Any]:
        """Return what takes the steps; it lives as long as the source."""
        return nullcontext(self._runner)


def _weights_of_all(given: Any, data: Prepared, learned: dict[str, Any]) -> dict[str, float]:
    """Return the weights of the views from all documents, and their reliability in the sample."""
    if not hasattr(given, "weights") and not (isinstance(given, str) and given != "equal"):
        return view_weights(given, data)
    balanced = view_weights("balanced", data)
    trust = learned["view_reliability_"] or {}
    return {name: weight * trust.get(name, 1.0) ** 2 for name, weight in balanced.items()}


def _work_folder(
    sharded: ShardedViews, checkpoint: str | os.PathLike[str] | None
) -> AbstractContextManager[Path]:
    """Return a folder for the mixtures of a fit, removed after it.

    Beside the checkpoint, which keeps some of its files; otherwise beside the shards, or where that
    is impossible among temporary files.
    """
    if checkpoint is not None:
        return temporary_folder(output_file(checkpoint))
    beside = Path(sharded.path)
    if not os.access(beside.parent, os.W_OK):
        beside = Path(tempfile.gettempdir()) / beside.name
    return temporary_folder(beside)
