"""BaseViewsModel: what all models share. The file of a model adds `_problem` and its parameters."""

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from coview.em.checkpoint import Checkpoint, checkpoint_writer
from coview.em.ensemble_view import (
    fit_stability,
    warn_of_chance,
    with_ensemble,
)
from coview.em.loop import EMRun, Interrupted
from coview.em.prepared import Prepared, check_guess
from coview.em.problem import Problem
from coview.em.restarts import (
    CallbackSupportMixin,
    FitCallbacks,
    FitPlan,
    RestartSeeds,
    best_of_restarts,
    fit_fingerprint,
    one_fit_at_a_time,
    with_callbacks,
)
from coview.em.seed_words import hidden_of
from coview.em.seeds import seeded_start
from coview.em.starts import NamedStart, Start, start_from_model, starts_from
from coview.em.step import Update, Values
from coview.em.term_documents import dense_views
from coview.fit_source import InMemory, source_of
from coview.new_documents import NewDocumentsMixin
from coview.params import complete_docstring
from coview.pickling import VersionedPickleMixin
from coview.reading.codes import recipes_with_titles
from coview.scores import ScoresMixin
from coview.streaming import OF_STREAM, StreamMixin
from coview.topic_terms import TopicsMixin
from coview.training_data import TrainingDataMixin
from coview.views.container import Views

OnState = Callable[[dict[str, Any]], bool | None]


class BaseViewsModel(
    VersionedPickleMixin,
    TrainingDataMixin,
    StreamMixin,
    ScoresMixin,
    NewDocumentsMixin,
    CallbackSupportMixin,
    TopicsMixin,
    BaseEstimator,
):
    """Base class of all models: input, starts, restarts, fitted attributes and labels.

    What a fit works on is prepared in `coview.training_data`, new documents are folded in by
    `coview.new_documents`, scores are in `coview.scores`.

    A subclass defines `_problem(data, start, rng)`, which puts the views' emissions, mixtures and
    penalty together. In its docstring `%(common_parameters)s` and `%(common_attributes)s` stand for
    the descriptions below that it does not give itself.

    Parameters
    ----------
    n_components : int, default=10
        Topics, which are also the clusters of documents.
    init : str, fitted model, or ndarray of shape (documents, n_components) or (documents,)
        Where EM begins. "auto" (default) is "consensus", what an ensemble of clusterings agrees on
        (see `trace_.ensemble`); with labels for every topic it is "naive_bayes". By name also:
        "random" topics; "stepwise", where one epoch of 16 mini-batches leads from those, which
        saves iterations; "kmeans" on tf-idf weighted, length-normalized, concatenated views;
        "spectral" embedding of the neighbor graph of those, "spectral_sum" of the sum of the views'
        graphs (up to 20,000 documents); "view_kmeans", k-means on the clusters of k-means on
        each view; "mvc", the clusters of `coview.baselines.MVC` with the seed of the fit;
        "naive_bayes" from the labeled documents; "seeds" from those with seed words; "trial", the
        best of several of these after a few iterations (`trace_.candidates`). Or given: a
        fitted model, for its mixtures and topics; mixtures p(z|d); labels, smoothed so that they
        can still change (-1: unknown).
    seeds : dict or None, default=None
        Words for some topics, by view: ``{"sport": {"en": ["goal", "coach"]}}``, or with weights,
        ``{"goal": 2.0}``. A topic is given by a name, which it keeps, or by its number. In every
        M-step a word of weight 1 counts as if it occurred in its topic as often again as in all
        documents: a log prior on p(w|z), which is part of the objective. "auto" starts then
        number their topics by the seeds.
    n_init : int, default=1
        Runs from different random starts; the one with the best objective is kept.
    max_iter : int, default=200
        Maximum number of EM iterations in a run.
    tol : float, default=1e-5
        A run ends when an iteration changes the objective by less than this fraction of it. 0 runs
        all `max_iter` iterations.
    acceleration : {"squarem"} or None, default=None
        "squarem" extrapolates after every two iterations of EM, and keeps the result unless the
        objective falls (Varadhan & Roland, 2008): a third of the iterations for the same objective,
        and twice the memory for mixtures and topics. An extrapolation, kept or not, is an iteration
        as well: one is a pass over the data in any case. Not for steps that may lower the
        objective: `step="paper"` of `LTM`, `MGGM` and `PairwiseCoPLSA`, and priors below 1.
    doc_topic_prior : float, default=1.0
        Parameter of the Dirichlet prior of mixtures p(z|d), also of new documents; 1 is no prior.
        Above 1 they are smoothed, by as many pseudo-counts in each topic as it is above 1 (in
        weighted tokens). Below 1 they are sparse: a topic with fewer than 1 minus it of a
        document's expected counts gets none of them, and the objective may fall.
    topic_word_prior : float, default=1.0
        The same for topics p(w|z), over the terms that occur; in models with feature topics, for
        those.
    view_weights : str, ViewReliability, float, sequence or dict of float, default="learn"
        Weight of each view's likelihood; one number is that of every view, and "equal" one divided
        by the number of views. "balanced" gives each view the same weighted number of
        tokens on an average document that has it, but no count of a sparse view a weight above 1.
        "learn" multiplies that by how far the view can be trusted (see
        :func:`coview.view_reliability`, whose answer may be given here instead): a view of noise
        weighs next to nothing, and near copies of a view share the weight of one.
    ensemble : "auto" or float, default="auto"
        Weight of an internal view that holds the clusters of an ensemble of clusterings, as a share
        of the weighted tokens of all other views. It keeps topics close to the clusters that many
        ways of seeing the data agree on; new documents lack it. 0 leaves it out. "auto" learns it
        with several views if EM begins at the consensus of that ensemble, and fewer than 20 topics
        are wanted or a view is dense; otherwise it is 0. It is 0.2 where the topics of EM come back
        in another half of the features as well as the consensus does, up to 1 where they come back
        less, down to 0.1 where they come back better (`trace_.ensemble["share"]`).
    scaling : "auto" or None, default="auto"
        "auto" leaves counts and sparse weights as they are, and scales each feature of dense real
        views (more than half of the cells non-zero, not all integers) to [0, 1]. Only such views
        may be negative; then narrow features get less than [0, 1]. Learned in fit, applied in
        transform: see `coview.em.scaling`.
    assign : {"argmax", "kmeans"}, default="argmax"
        How labels follow from mixtures: the topic with the largest share, or k-means on the
        mixtures.
    fold_in_max_iter : int, default=200
        Maximum number of EM iterations when a new document is folded in.
    fold_in_tol : float, default=1e-4
        A new document is done when an iteration moves no share p(z|d) by more than this. Both can
        be changed after the fit.
    dtype : {"float32", "float64"}, default="float32"
        Precision in which parameters are stored. Long sums are accumulated in double.
    random_state : int, Generator, RandomState or None, default=None
        The same integer gives the same bits, for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads; None uses every core. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Attributes
    ----------
    components_ : dict of ndarray of shape (n_components, terms)
        p(w|z) of each view.
    doc_topic_ : ndarray of shape (documents, n_components)
        p(z|d) of the training documents; over several mixtures their weighted mean.
    view_doc_topic_ : dict of ndarray of shape (documents, n_components)
        The mixture that explains each view.
    labels_ : ndarray of int of shape (documents,)
        Topic of each training document. Fold-in (`predict`) may differ where training mixtures are
        held by pins or penalties.
    topic_stability_ : ndarray of shape (n_components,), or None
        How well the documents of each topic are together again in clusterings by half of the
        features and, where `n_init` > 1, in the other runs (the lower of the two): 1 exactly, 0 as
        by chance, NaN if no document that was compared has it. Do not rely on topics below 0.3.
        None where there is neither an ensemble (see `init`, `ensemble`) nor a second run.
    doc_confidence_ : ndarray of shape (documents,), or None
        How far the same clusterings support each document's label: the share of the label among
        the other documents of its cluster, 0 as by chance.
    objective_ : float
        Log-likelihood minus penalty, plus the log prior, at the end.
    n_iter_ : int
        Iterations of the run that was kept.
    trace_ : Trace
        The objective and its parts, iteration by iteration, and the outcome of each restart.
    view_weights_ : dict of float
        The weights that were used.
    view_reliability_ : dict of float, or None
        How far each view can be trusted, from 0 to 1, where `view_weights` is "learn" or it was
        given there. The squares of copies (`trace_.ensemble["copies"]`) sum up to that of one view.
    doc_ids_ : ndarray of str of shape (documents,), or None
        The ids of the training documents.
    present_ : ndarray of bool of shape (documents, views)
        Which views each training document had.
    recipes_ : dict of Recipe or None
        How raw documents become the counts of each view, where the views were made from such: see
        `read`.
    view_names_ : tuple of str
        Names of the views.
    feature_names_ : dict of ndarray or None
        Names of the terms of each view, where they have any.
    term_counts_ : dict of ndarray of shape (terms,)
        How often each term occurred in training, after scaling.
    term_docs_ : dict of ndarray of shape (n_components, terms)
        How many training documents of each topic have each term: the sum of p(z|d)^2 over the
        documents that have it, so that one which is wholly of the topic counts 1. The words of
        topics are ranked by it. In `dense_views_` values are summed, not documents.
    view_docs_ : dict of ndarray of shape (n_components,)
        How many training documents of each topic have the view, counted alike.
    dense_views_ : list of str
        Views in which most documents have most features, such as measurements.
    unseen_terms_ : dict of ndarray of int
        Terms that never occurred in training: their probability is 0 in every topic.
    empty_rows_ : ndarray of int
        Documents without a single count. Their mixture is uniform, except in `LTM` and `MGGM`,
        where it follows from those of their neighbors.
    n_features_in_ : int
        Terms of all views together.
    random_state_used_ : int
        The seed, also when `random_state` was None.
    scaling_ : dict of (ndarray, ndarray)
        Smallest value and unit of each feature, for the views that are scaled.
    topic_names_ : list of (str or None)
        The names of the topics: from `seeds`, or those of the model given as `init`. Assign to it
        to name topics yourself, or see `with_topics`; a refit that starts from the model keeps
        them.
    hidden_topics_ : ndarray of int
        Topics that lists leave out; only where a curation hides some (`with_topics`).
    topic_tree_ : TopicTree
        The coarser topics that the topics are part of; only where a tree was made, by
        :func:`coview.auto` or :func:`coview.topic_tree`, and assigned. `at_level` takes its levels.
        A refit and `partial_fit` drop it.
    search_ : SearchEvidence
        What a search of the training documents needs, after `keep_search`, and in what `coview fit`
        wrote. A refit and `partial_fit` drop it.
    topic_centers_ : ndarray of shape (n_components, n_components)
        The center of each cluster of mixtures; only with `assign="kmeans"`.
    """

    _one_view = False  # whether the model takes a single view only
    # where defaults differ from the papers: what all have, to which a model adds what its own has
    _published: Mapping[str, Any] = {
        "init": "random",
        "view_weights": 1.0,
        "ensemble": 0,
        "scaling": None,
        "assign": "argmax",
    }
    _schedule: tuple[Update, ...] = ("both",)  # the updates of one iteration, see `run_em`

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own, common = cls.__dict__.get("__doc__"), BaseViewsModel.__doc__
        if own and common:  # there are none under python -OO
            parameters = list(inspect.signature(cls.__init__).parameters)
            cls.__doc__ = complete_docstring(own, common, parameters)

    def __init__(
        self,
        n_components: int = 10,
        *,
        init: Any = "auto",
        seeds: Any = None,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        acceleration: Literal["squarem"] | None = None,
        doc_topic_prior: float = 1.0,
        topic_word_prior: float = 1.0,
        view_weights: Any = "learn",
        ensemble: Any = "auto",
        scaling: str | None = "auto",
        assign: str = "argmax",
        fold_in_max_iter: int = 200,
        fold_in_tol: float = 1e-4,
        dtype: Any = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.init = init
        self.seeds = seeds
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.acceleration = acceleration
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.view_weights = view_weights
        self.ensemble = ensemble
        self.scaling = scaling
        self.assign = assign
        self.fold_in_max_iter = fold_in_max_iter
        self.fold_in_tol = fold_in_tol
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def as_published(cls, n_components: int = 10, **params: Any) -> Self:
        """Return the model with every option as its paper has it.

        Defaults are what works; here they are what is printed. The notes of the class say what the
        paper leaves open, and what it gives for each of its data sets. Any parameter of the model
        may be given, and then takes the place of the paper's.
        """
        found: dict[str, Any] = {}
        for part in reversed(cls.__mro__):
            found |= vars(part).get("_published", {})
        return cls(n_components, **{**found, **params})

    # -- what a model defines --------------------------------------------------------------

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        """Put emissions, mixtures and penalty of the model together, at their starting values."""
        raise NotImplementedError

    def _finish(self, problem: Problem, data: Prepared) -> Problem:
        """Finish the fit, once, after the last iteration or Ctrl-C; may overwrite its arrays."""
        return problem

    # -- fitting ---------------------------------------------------------------------------

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        labels: Any = None,
        guess: Any = None,
        guess_strength: float = 1.0,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
        on_iteration: OnState | None = None,
        runner: Any = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : Views, dict of matrices, list of matrices, or one matrix of shape (documents, terms)
            Counts or weights >= 0, or dense measurements. Documents may lack views. Texts may
            stand for a matrix, ``{"en": ["a text", ...]}``: see `Views`. Or `ShardedViews`, for
            data that are larger than memory: see :func:`coview.open_shards`.
        y : ignored
            Accepted for scikit-learn. Known labels are passed as `labels`.
        labels : array-like of int of shape (documents,), optional
            Documents whose topic is known: its number, or -1 for the others. Their mixtures do
            not move.
        guess : array-like of shape (documents, n_components), optional
            A guess of each mixture, such as the probabilities of a classifier, to which mixtures
            are drawn and from which EM starts if `init` is "auto".
        guess_strength : float, default=1.0
            How many votes the guess has in a mixture; the document's counts have one.
        checkpoint : path or Checkpoint, optional
            Where to save the state of the fit, from time to time and on Ctrl-C, so that it can be
            resumed later to the same bits: see :class:`coview.Checkpoint`.
        on_iteration : callable, optional
            Called after each iteration with the fitted attributes so far, a dict with
            `components_`, `doc_topic_`, `view_doc_topic_` and the model's own. A true answer ends
            the run. With `acceleration` it is called after every third iteration, at most.
        runner : distributed.Client, str or DaskRunner, optional
            A cluster of Dask that works on `ShardedViews`, by its client or the address of its
            scheduler, "tcp://host:8786". By default the threads of this process work, to the same
            bits.

        Returns
        -------
        self
        """
        with one_fit_at_a_time(self):
            self._check_parameters()
            views = self._training_views(X, on_disk=True)
            guess = check_guess(guess, guess_strength, views.n_docs, self.n_components)
            fingerprint = partial(fit_fingerprint, self, views, labels, guess)
            writer = checkpoint_writer(
                checkpoint, self.random_state, fingerprint, type(self).__name__
            )
            seeds = RestartSeeds(writer.seed, self.n_init)
            with writer.locked(), source_of(self, views, writer, runner) as source:
                rng = np.random.default_rng(seeds.own)
                data, learned = self._prepare_training(source.sample, source.of_sample(labels), rng)
                data, learned = source.coupled(data, learned)
                data = data.with_ensemble_view(self._ensemble_share(data))
                data, learned = source.spread(data, learned, labels, guess)
                callbacks = FitCallbacks(self, views, self.n_init * self.max_iter)
                plan = self._plan(data, source, callbacks, on_iteration, writer.seed)
                try:
                    best = best_of_restarts(plan, seeds, writer)
                except Interrupted as interrupt:  # the last complete state stays usable
                    self._keep(interrupt.run, data, source, learned, writer.seed)
                    raise
                callbacks.end()
                return self._keep(best, data, source, learned, writer.seed)

    def _plan(
        self,
        data: Prepared,
        source: InMemory,
        callbacks: FitCallbacks,
        on_iteration: OnState | None,
        seed: int,
    ) -> FitPlan:
        """Return what the runs of this fit have in common."""

        def after_iteration(problem: Problem, values: Sequence[Values]) -> bool:
            attributes = cache(lambda: self._state(source.gathered(problem), data, source.room))
            stop = callbacks.after_iteration(attributes)
            return bool(on_iteration is not None and on_iteration(attributes())) or stop

        def run_labels(problem: Problem) -> np.ndarray:
            return self._run_labels(source.gathered(problem), data, seed)

        return FitPlan(
            title=type(self).__name__,
            data=data,
            n_topics=self.n_components,
            starts=lambda rng, restart: source.starts(data, rng, restart),
            problem=lambda start, rng: source.begin(self._seeded_problem(data, start, rng), start),
            schedule=self._schedule,
            max_iter=self.max_iter,
            tol=self.tol,
            acceleration=self.acceleration,
            runner=source.runner,
            verbose=self.verbose,
            on_iteration=after_iteration,
            labels=run_labels if self.n_init > 1 else None,
        )

    def _seeded_problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        """Return the problem of a start, whose topics have the words of the seeds."""
        return self._problem(data, seeded_start(start, data), rng)

    def _starts(
        self, data: Prepared, views: Views, rng: np.random.Generator, restart: int
    ) -> Sequence[NamedStart]:
        """List the starts of a run, each with a function that makes it."""
        if isinstance(self.init, BaseViewsModel):
            return [("model", lambda: start_from_model(self.init, self.n_components, data, views))]
        return starts_from(self.init, data, views, self.n_components, rng, restart)

    def _keep(
        self, best: EMRun, data: Prepared, source: InMemory, learned: dict[str, Any], seed: int
    ) -> Self:
        """Set the fitted attributes, all at the end: a fit that fails leaves the old ones."""
        if not best.converged(self.tol) and self.tol > 0 and best.n_iter == self.max_iter:
            warnings.warn(
                f"{type(self).__name__} has not converged in {self.max_iter} iterations; "
                "increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        views, term_counts = source.views, data.without_ensemble_view().term_counts
        problem = self._finish(source.gathered(best.problem), data)
        state = self._state(problem, data, source.room)
        if not isinstance(best.problem.thetas[0], np.ndarray):  # the runner takes those in files
            problem = replace(problem, thetas=best.problem.thetas)
        dense = dense_views(data.without_ensemble_view(), learned["scaling_"])
        with source.runner() as run:
            evidence = self._evidence(problem, data, run, dense, state["view_doc_topic_"])
        attributes = {
            **learned,
            **state,
            **evidence,
            "view_names_": views.names,
            "doc_ids_": views.ids,
            "present_": source.present(data),
            "recipes_": recipes_with_titles(source.sample),
            "feature_names_": views.features,
            "n_features_in_": views.shape[1],
            "term_counts_": term_counts,
            "unseen_terms_": {n: np.flatnonzero(c == 0) for n, c in term_counts.items()},
            "empty_rows_": np.flatnonzero(data.empty),
            "random_state_used_": seed,
            "objective_": best.objective,
            "n_iter_": best.n_iter,
            "trace_": with_ensemble(best.trace, data, self._ensemble_share(data)),
        }
        for name, value in attributes.items():
            setattr(self, name, value)
        for name in (
            "why_",
            "hidden_topics_",
            "topic_tree_",
            "search_",
            *OF_STREAM,
        ):  # of another fit
            self.__dict__.pop(name, None)
        hidden = hidden_of(self.init, self.n_components)
        if len(hidden):
            self.hidden_topics_ = hidden
        self._label(data, seed)
        found = fit_stability(self.labels_, self.n_components, data, best.other_labels)
        self.topic_stability_, self.doc_confidence_ = found
        warn_of_chance(self.topic_stability_, data)
        return self

    def fit_predict(self, X: Any, y: Any = None, *, labels: Any = None) -> np.ndarray:
        """Fit the model, and return `labels_`, the topic of each training document."""
        return self.fit(X, labels=labels).labels_

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to one file, without pickle; `coview.load` reads it.

        See :mod:`coview.io` for what is kept.
        """
        from coview.io import save

        save(self, path)
