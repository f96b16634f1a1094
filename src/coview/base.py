"""BaseViewsModel: what all models share. A model's own file writes `_problem`."""

import warnings
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags

from coview.assign import nearest_center, topic_centers
from coview.em.checkpoint import CheckpointWriter, as_checkpoint
from coview.em.loop import Fit, Interrupted
from coview.em.prepared import Prepared, check_fit_memory, learn_scaling, prepare, view_weights
from coview.em.problem import Problem
from coview.em.restarts import (
    CallbackSupportMixin,
    best_of_restarts,
    fit_fingerprint,
    with_callbacks,
)
from coview.em.starts import Start, check_same_topics, mixture_start, starts_from
from coview.em.step import Update
from coview.new_documents import NewDocumentsMixin
from coview.params import check_choice, check_dtype, check_int, check_n_jobs, check_real, seed_of
from coview.scores import ScoresMixin
from coview.views.checks import DataWarning, check_not_all_empty, check_topic_labels, check_topics
from coview.views.container import Views


class BaseViewsModel(
    ScoresMixin,
    NewDocumentsMixin,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    BaseEstimator,
):
    """Everything but the model itself: input, starts, restarts, fitted attributes, labels.

    New documents are read and folded in by `coview.new_documents`, scores are `coview.scores`.

    A subclass writes `_problem(data, start, rng)`, which says how the views' mixtures, emissions
    and penalty hang together.

    Parameters
    ----------
    n_components : int, default=10
        Topics, which are also the clusters of documents.
    init : str, fitted model, or ndarray of shape (documents, n_components) or (documents,)
        Where EM begins. "auto" (default) tries several starts for a few iterations and goes on with
        the best objective; see `trace_.candidates`; with labels for every topic it is
        "naive_bayes". By name: "random" topics; "kmeans" on tf-idf weighted, length-normalized,
        concatenated views; "spectral" embedding of the neighbor graph of those, "spectral_sum"
        of the sum of the views' graphs (up to 20,000 documents); "consensus" of k-means on each
        view; "naive_bayes" from the labeled documents. Or given: the mixtures and topics of a
        fitted model; mixtures p(z|d); labels, smoothed so that they can still change (-1: unknown).
    n_init : int, default=1
        Runs from different random starts; the one with the best objective is kept.
    max_iter : int, default=200
        Most iterations of EM in a run.
    tol : float, default=1e-5
        A run ends when an iteration changes the objective by less than this share of it. 0 runs
        all `max_iter` iterations.
    view_weights : "balanced", sequence of float, or dict of float, default="balanced"
        Weight of each view's likelihood. "balanced" gives each view the same weighted number of
        tokens on an average document that has it.
    scaling : "auto" or None, default="auto"
        "auto" leaves counts and sparse weights as they are, and brings the features of views that
        are dense (more than half of the cells non-zero) and real to [0, 1]. Learned in fit,
        applied in transform.
    assign : {"argmax", "kmeans"}, default="argmax"
        How labels are read off the mixtures: the largest share, or k-means on them.
    dtype : {"float32", "float64"}, default="float32"
        Precision in which parameters are stored. Sums over documents are always in double.
    random_state : int, Generator, RandomState or None, default=None
        The same integer gives the same bits, whatever `n_jobs`.
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
    objective_ : float
        Log-likelihood minus penalty at the end.
    n_iter_ : int
        Iterations of the run that was kept.
    trace_ : Trace
        The objective and its parts, iteration by iteration, and the outcome of each restart.
    view_weights_ : dict of float
        The weights that were used.
    doc_ids_ : ndarray of str of shape (documents,), or None
        The ids of the training documents.
    present_ : ndarray of bool of shape (documents, views)
        Which views each training document had.
    recipes_ : dict of Recipe or None
        How raw documents become the counts of each view, where the views knew it: see `read`.
    view_names_, feature_names_ : tuple of str, dict of ndarray or None
        Names of the views and of their terms.
    term_counts_ : dict of ndarray of shape (terms,)
        How often each term occurred in training, after scaling.
    unseen_terms_ : dict of ndarray of int
        Terms that never occurred in training: their probability is 0 in every topic.
    empty_rows_ : ndarray of int
        Documents without a single count. Their mixture is uniform, except in `LTM` and `MGGM`
        where a graph joins them to others: there it is what these make of it.
    n_features_in_ : int
        Terms of all views together.
    random_state_used_ : int
        The seed, also when `random_state` was None.
    """

    _one_view = False  # a model of a single matrix
    _schedule: tuple[Update, ...] = ("both",)

    def __init__(
        self,
        n_components: int = 10,
        *,
        init: Any = "auto",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        view_weights: Any = "balanced",
        scaling: str | None = "auto",
        assign: str = "argmax",
        dtype: Any = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.view_weights = view_weights
        self.scaling = scaling
        self.assign = assign
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- what a model writes ---------------------------------------------------------------

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        raise NotImplementedError

    def _finish(self, problem: Problem, data: Prepared) -> Problem:
        """What is done once, after the last iteration or Ctrl-C; may overwrite its arrays."""
        return problem

    def _own_attributes(self, problem: Problem, data: Prepared) -> dict[str, Any]:
        """Fitted attributes beyond the common ones."""
        return {}

    # -- fitting ---------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X, y=None, *, labels=None, checkpoint=None):
        """Fit the model.

        Parameters
        ----------
        X : Views, dict of matrices, list of matrices, or one matrix of shape (documents, terms)
            Non-negative counts or weights. Documents may lack views.
        y : ignored
            Present for scikit-learn. Labels are given on purpose, through `labels`.
        labels : array-like of int of shape (documents,), optional
            Documents whose topic is known: its number, or -1 for the others. Their mixtures do
            not move.
        checkpoint : path or Checkpoint, optional
            Where to keep the state of the fit, from time to time and on Ctrl-C, so that it can go
            on later to the same bits: see :class:`coview.Checkpoint`.

        Returns
        -------
        self
        """
        with _one_fit_at_a_time(self):
            self._check_parameters()
            views = self._training_views(X)
            writer = self._checkpoint_writer(views, labels, checkpoint)
            seed = writer.seed
            own, *restarts = np.random.SeedSequence(seed).spawn(1 + self.n_init)
            data, learned = self._prepare_training(views, labels, np.random.default_rng(own))
            try:
                fit = best_of_restarts(self, data, views, restarts, writer)
            except Interrupted as interrupt:  # the last complete state stays usable
                self._keep(interrupt.fit, data, views, learned, seed)
                raise
            return self._keep(fit, data, views, learned, seed)

    def _check_parameters(self) -> None:
        check_int("n_components", self.n_components, 1)
        check_int("n_init", self.n_init, 1)
        check_int("max_iter", self.max_iter, 1)
        check_real("tol", self.tol)
        check_choice("scaling", self.scaling, ["auto", None])
        check_choice("assign", self.assign, ["argmax", "kmeans"])
        check_dtype(self.dtype)
        check_n_jobs(self.n_jobs)

    def _training_views(self, X) -> Views:
        views = X if isinstance(X, Views) else Views(X)
        if self._one_view and views.n_views > 1:
            raise ValueError(
                f"{type(self).__name__} models one view; got {views.n_views} "
                f"({', '.join(views.names)}). Use views.concat() to put them side by side, "
                "views.select(name) for one of them, or a model of several views such as LinkPLSA."
            )
        check_not_all_empty(views.matrices)
        check_topics(
            self.n_components, views.n_docs, dict(zip(views.names, views.widths, strict=True))
        )
        return views

    def _prepare_training(
        self, views: Views, labels, rng: np.random.Generator
    ) -> tuple[Prepared, dict[str, Any]]:
        """The data to work on, and attributes that are known before EM begins.

        A model whose penalty needs graphs or pairs of documents puts them into `data.coupling`.
        """
        scaling = learn_scaling(views.matrices, views.present, self.scaling)
        data = prepare(views, scaling, check_dtype(self.dtype))
        weights = view_weights(self.view_weights, data)
        if labels is not None:
            labels = check_topic_labels(labels, views.n_docs, self.n_components)
            labels = labels if (labels >= 0).any() else None
            _warn_of_empty_pins(labels, data)
        data = replace(data, weights=tuple(weights.values()), labels=labels)
        check_fit_memory(data.matrices, self.n_components, self._n_slots(data), data.dtype.itemsize)
        learned = {"view_weights_": weights, "scaling_": scaling}
        return data.cut(columns=True), learned

    def _n_slots(self, data: Prepared) -> int:
        return 1

    def _checkpoint_writer(self, views: Views, labels, given) -> CheckpointWriter:
        """Where the state of this fit is kept, and its seed: that of the fit it resumes."""
        checkpoint = as_checkpoint(given)
        if checkpoint is None:
            return CheckpointWriter(None, "", seed_of(self.random_state))
        seed = checkpoint.seed()
        seed = seed_of(self.random_state) if seed is None else seed
        return CheckpointWriter(checkpoint, fit_fingerprint(self, views, labels), seed)

    def _starts(self, data: Prepared, views: Views, rng):
        """Pairs of a name and a function that makes the start (None if it is too dear)."""
        if hasattr(self.init, "components_"):
            return [("model", lambda: self._model_start(data, views))]
        return starts_from(self.init, data, self.n_components, rng)

    def _model_start(self, data: Prepared, views: Views) -> Start:
        """The mixtures that a fitted model gives these documents, and the topics it has."""
        known = self.init.components_
        check_same_topics(len(next(iter(known.values()))), self.n_components)
        names = [n for n in views.names if n in known]
        if not names:
            raise ValueError(
                f"The model given as init knows the views {', '.join(known)}, the data have "
                f"{', '.join(views.names)}: give its doc_topic_ or labels_ instead."
            )
        start = mixture_start("model", self.init.fold_in(views.select(*names)).doc_topic, data)
        p_w_z = tuple(known.get(n, p) for n, p in zip(data.names, start.p_w_z, strict=True))
        return replace(start, p_w_z=p_w_z)

    def _keep(self, best: Fit, data: Prepared, views: Views, learned: dict[str, Any], seed: int):
        """Set the fitted attributes, all at the end: a fit that fails leaves the old ones."""
        if not best.converged and self.tol > 0 and best.n_iter == self.max_iter:
            warnings.warn(
                f"{type(self).__name__} has not converged in {self.max_iter} iterations; "
                "increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        term_counts = _term_counts(data)
        attributes = {
            **learned,
            **self._state(self._finish(best.problem, data), data),
            "view_names_": views.names,
            "doc_ids_": views.ids,
            "present_": views.present,
            "recipes_": views.recipes,
            "feature_names_": views.features,
            "n_features_in_": views.shape[1],
            "term_counts_": term_counts,
            "unseen_terms_": {n: np.flatnonzero(c == 0) for n, c in term_counts.items()},
            "empty_rows_": np.flatnonzero(data.empty),
            "random_state_used_": seed,
            "objective_": best.objective,
            "n_iter_": best.n_iter,
            "trace_": best.trace,
        }
        for name, value in attributes.items():
            setattr(self, name, value)
        self._label(data, seed)
        return self

    def _state(self, problem: Problem, data: Prepared) -> dict[str, Any]:
        """The fitted attributes that make a model able to transform."""
        k = problem.n_topics
        mixtures = [np.ascontiguousarray(m) for m in problem.mixtures]
        components = [np.ascontiguousarray(e.by_term[:, :k].T) for e in problem.emissions]
        return {
            "components_": dict(zip(data.names, components, strict=True)),
            "view_doc_topic_": {
                name: mixtures[slot] for name, slot in zip(data.names, problem.slots, strict=True)
            },
            "doc_topic_": self._consensus(mixtures, problem.slots, data),
            "_n_features_out": k,
            **self._own_attributes(problem, data),
        }

    def _consensus(self, mixtures, slots, data: Prepared) -> np.ndarray:
        """One mixture for each document: the weighted mean over the views it has."""
        if len(mixtures) == 1:
            return mixtures[0]
        weights = data.present * np.array(data.weights)
        weights[weights.sum(axis=1) == 0] = 1
        by_slot = zip(slots, weights.T, strict=True)
        mean = sum(weight[:, None] * mixtures[slot] for slot, weight in by_slot)
        return (mean / mean.sum(axis=1, keepdims=True)).astype(data.dtype)

    def _label(self, data: Prepared, seed: int) -> None:
        if self.assign == "kmeans":
            self.topic_centers_ = topic_centers(self.doc_topic_, seed)
        elif hasattr(self, "topic_centers_"):
            del self.topic_centers_
        labels = self._assign(self.doc_topic_)
        if data.labels is not None:
            labels = np.where(data.labels >= 0, data.labels, labels)
        self.labels_ = labels

    def _assign(self, doc_topic: np.ndarray) -> np.ndarray:
        if self.assign == "kmeans":
            return nearest_center(doc_topic, self.topic_centers_)
        return doc_topic.argmax(axis=1)

    def fit_predict(self, X, y=None, *, labels=None) -> np.ndarray:
        """Fit, and return `labels_`: the topic of each training document."""
        return self.fit(X, labels=labels).labels_

    def save(self, path) -> None:
        """Write the fitted model to one file, without pickle; `coview.load` reads it.

        See :mod:`coview.io` for what is kept.
        """
        from coview.io import save

        save(self, path)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = [str(self.dtype)]
        tags.classifier_tags = (
            ClassifierTags()
        )  # scikit-learn looks here when there is predict_proba
        return tags


@contextmanager
def _one_fit_at_a_time(model):
    """Two fits of one estimator at once, from different threads, would mix their results."""
    if "_fitting" in model.__dict__:
        raise RuntimeError(
            f"This {type(model).__name__} is being fitted already; clone it for another fit."
        )
    model._fitting = True
    try:
        yield
    finally:
        del model._fitting


def _term_counts(data):
    counts = (np.asarray(m.sum(axis=0, dtype=np.float64)).ravel() for m in data.matrices)
    return dict(zip(data.names, counts, strict=True))


def _warn_of_empty_pins(labels, data):
    """A topic pinned to documents without counts alone learns nothing from its pins."""
    if labels is None:
        return
    pinned = np.unique(labels[labels >= 0])
    taught = np.unique(labels[(labels >= 0) & ~data.empty])
    untaught = np.setdiff1d(pinned, taught)
    if len(untaught):
        warnings.warn(
            f"All documents labeled {', '.join(map(str, untaught[:5]))} are empty: their topics "
            "learn nothing from the labels.",
            DataWarning,
            stacklevel=6,
        )
