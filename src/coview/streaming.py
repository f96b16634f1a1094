"""Models that keep learning: `partial_fit`, one batch of documents after the other.

What a batch does to the topics is in `coview.em.stream`. Between batches a model keeps its topics,
how many tokens each has seen (`topic_counts_`), and how far the stream has come (`stream_`). That
is all, and all of it is in the model file. Only at its beginning a stream keeps documents as well
(`first_docs_`, see `coview.stream_start`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import asdict, replace
from typing import Any, Literal, Self, cast

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if

from coview.documents import read_documents
from coview.em.emissions import Emission, Topics
from coview.em.loop import EMRun, fold_in, run_em
from coview.em.precision import check_weighted
from coview.em.prepared import Prepared, prepare
from coview.em.prior import Prior
from coview.em.problem import Problem
from coview.em.restarts import one_fit_at_a_time
from coview.em.scaling import count_clipped, real_views, warn_of_clipped
from coview.em.seed_words import find_words, number_seeds
from coview.em.seeds import Seeds, ViewSeeds, find_seeds
from coview.em.simplex import pad_topics
from coview.em.starts import Start
from coview.em.step import Update, em_step
from coview.em.stream import StreamState, ViewMemory, opened, tokens_of_topics
from coview.new_documents import NewDocumentsMixin, with_pins
from coview.params import (
    check_choice,
    check_dtype,
    check_fold_in,
    check_int,
    check_positive,
    check_real,
)
from coview.reading.growing import with_terms
from coview.runners.native import one_native_thread
from coview.runners.threads import ThreadRunner
from coview.stream_start import (
    ENOUGH_DOCS,
    GROWTH,
    FirstDocs,
    docs_of_start,
    keep_last,
    renumber,
    same_numbers,
)
from coview.views.checks import DataWarning
from coview.views.container import Views
from coview.views.labels import check_topic_labels
from coview.views.vocabulary import grown_names, known_views
from coview.wording import argument, plural, quoted

FORGETTING = 1.0  # the power of a batch's place in the stream with which it weighs
MOST_FORGETTING = 100.0
FOLD_STEPS = 20  # of the documents of a batch under the topics so far, at most
STEPS = 3  # EM steps on the batch after that: more fit topics to the batch, not to the stream
# arrays of shape (..., terms)
BY_TERM = ("components_", "feature_topics_", "term_counts_", "term_docs_")
OF_DOCUMENTS = ("topic_tree_", "search_")  # of topics that have moved, and of other documents
OF_STREAM = ("topic_counts_", "stream_", "n_docs_seen_", "first_docs_")  # a fit begins anew


def _can_stream(model: Any) -> bool:
    """Tell scikit-learn whether there is a `partial_fit`; where not, say why."""
    if not model._streams:
        raise AttributeError(
            f"{type(model).__name__} has no partial_fit, since its topics do not follow from "
            "counts that can be added up batch by batch. PLSA, LinkPLSA, MVPLSA and "
            "DivergenceCoPLSA have one; or fit it again to all documents, with init=model."
        )
    return True


class StreamMixin(NewDocumentsMixin):
    """`partial_fit` of a model whose topics follow from expected counts."""

    _streams = False  # whether the model has partial_fit
    _schedule: tuple[Update, ...]
    n_components: int
    tol: float
    topic_word_prior: float
    seeds: Any
    view_weights: Any
    term_counts_: dict[str, np.ndarray]
    topic_names_: list[str | None]
    topic_counts_: dict[str, np.ndarray]
    dense_views_: list[str]
    stream_: dict[str, Any]
    first_docs_: dict[str, Any]
    random_state_used_: int

    @available_if(_can_stream)
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        labels: Any = None,
        new_terms: bool = False,
        forgetting: float = FORGETTING,
        half_life: float | None = None,
        max_iter: int = STEPS,
        first_docs: int | Literal["auto"] = "auto",
    ) -> Self:
        """Learn from one more batch of documents: topics move, and stay the same topics.

        The first call on a model that was not fitted is `fit(X)`. A batch of few documents is
        a bad start, so they stay in the model, as counts, until there are `first_docs`: calls until
        then fit all of them anew whenever they have doubled, the last time with what then stays,
        weights of views and scaling. With fewer than 400 documents, weights that are to be learned
        are "balanced", with a warning. Later calls, also those after `fit` or on a loaded model,
        add what the new documents say of the topics to what is remembered. Topics keep their
        numbers and names; naming, merging or hiding some ends the beginning.

        Afterward `doc_topic_`, `view_doc_topic_`, `labels_`, `doc_ids_`, `present_` and
        `empty_rows_` are of the documents of this batch; `objective_`, `n_iter_` and `trace_` of
        the steps on it, with what is remembered as a prior (`trace_.seed_term`). `term_counts_` and
        `n_docs_seen_` are of all documents so far. `view_weights_`, `scaling_` and
        `topic_centers_` stay; `topic_stability_` and `doc_confidence_` are None, `topic_tree_`
        and `search_` are gone.

        Parameters
        ----------
        X : as in `fit`; later as in `transform`, also raw documents
            Later batches may lack views.
        y : ignored
        labels : array-like of int of shape (documents,), optional
            Documents whose topic is known, as in `fit`.
        new_terms : bool, default=False
            Whether the vocabulary grows. Terms that the model has no column for are left out, with
            a warning; or they are added at the end of `components_` and of the model's recipes.
            Views with named features can grow. Of raw texts those words are added that are in two
            documents of the batch (in one, if it has fewer than 50).
        forgetting : float, default=1.0
            How much less early documents weigh, which were explained by worse topics: by this power
            of their place in the stream. With 1 a document in the middle weighs half as much as the
            last one; with 0 all weigh the same. The weight of new batches falls as 1 / t whatever
            it is.
        half_life : float or None, default=None
            Instead: after so many documents, what was known weighs half. For streams that change:
            the weight of new documents does not fall.
        max_iter : int, default=3
            EM steps on the batch, at most; they end earlier by `tol`. Its documents are folded in
            before.
        first_docs : int or "auto", default="auto"
            How many documents a stream begins with: they are kept, also in the model file, until
            there are so many. "auto" is 80 for each topic and 400 at least; with a `half_life`, no
            more than that. 0 keeps none: the first batch is the start. It need be given once. None
            are kept after `fit`, nor if `init` is given, as a model or an array.

        Returns
        -------
        self

        Examples
        --------
        >>> from coview import LinkPLSA
        >>> from coview.datasets import make_views
        >>> views = make_views(600, 3, [50, 40], random_state=0)
        >>> model = LinkPLSA(3, random_state=0).fit(views[:400])
        >>> for start in (400, 500):
        ...     model = model.partial_fit(views[start : start + 100])
        >>> model.n_docs_seen_, model.doc_topic_.shape
        (600, (100, 3))
        """
        check_choice("new_terms", new_terms, [False, True])
        _check_forgetting(forgetting, half_life)
        check_int("max_iter", max_iter, 1)
        wanted = docs_of_start(first_docs, self.n_components, half_life)
        if not hasattr(self, "components_"):
            return self._fit_first(X, labels, wanted)
        with one_fit_at_a_time(self), one_native_thread("blas"):
            self._check_parameters()
            later = copy(self)  # an error or Ctrl-C leaves the model as it was
            later._check_topics()
            for name in OF_DOCUMENTS:
                later.__dict__.pop(name, None)
            later._begin_stream()
            views = later._batch_views(X, new_terms)
            data = later._batch_data(views, labels)
            if not later._begins_again(
                views, data.labels, None if first_docs == "auto" else wanted
            ):
                n_docs = int(np.count_nonzero(~data.empty))
                state, rho = StreamState(**later.stream_).after(n_docs, forgetting, half_life)
                data = later._with_memory(data, rho)
                later._keep_batch(later._learn(data, max_iter), data, views, state, rho)
            for name in ("first_docs_", *OF_DOCUMENTS):
                self.__dict__.pop(name, None)
            self.__dict__.update(later.__dict__)
        return self

    # -- the stream ------------------------------------------------------------------------

    def _fit_first(self, X: Any, labels: Any, wanted: int) -> Self:
        """Fit the first batch, and keep it if the stream is to begin with more documents."""
        views = self._training_views(X)
        if labels is not None:
            labels = check_topic_labels(labels, views.n_docs, self.n_components)
        first = FirstDocs.of(views, labels, wanted)
        keeps = not first.complete and isinstance(self.init, str)
        later = keeps and wanted >= ENOUGH_DOCS
        self._fit_start(views, labels, "until there are more" if later else "for the whole stream")
        self._begin_stream()
        if keeps:
            self.first_docs_ = first.as_data()
        return self

    def _fit_start(self, views: Views, labels: Any, how_long: str | None = None) -> None:
        """Fit documents; they decide on the weights of views only if they are enough."""
        given = self.view_weights
        few = views.n_views > 1 and views.n_docs < ENOUGH_DOCS
        if few and isinstance(given, str) and given == "learn":
            if how_long is not None:
                warnings.warn(
                    f"{plural(views.n_docs, 'document')} are too few to learn weights of views: "
                    f"they are 'balanced', {how_long}. Begin with {ENOUGH_DOCS} or more, or give "
                    "view_weights.",
                    DataWarning,
                    stacklevel=4,
                )
            self.view_weights = "balanced"
        try:
            self.fit(views, labels=labels)
        finally:
            self.view_weights = given

    def _begins_again(self, views: Views, labels: Any, wanted: int | None) -> bool:
        """Add the batch to the first documents, if these are kept; fit them if it is time to.

        Topics that somebody has named or hidden are no longer for a fit to replace. Measurements
        that have become too sparse for a fit are left to the steps of the stream.
        """
        data = self.__dict__.pop("first_docs_", None)
        if not isinstance(self.init, str):  # it was another one when the stream began
            return False
        untouched = number_seeds(self.seeds, self.n_components, [None] * self.n_components)[1]
        if data is None or [*self.topic_names_] != untouched or hasattr(self, "hidden_topics_"):
            return False
        widths = {name: topics.shape[1] for name, topics in self.components_.items()}
        real = real_views(self.scaling_)
        first = FirstDocs.from_data(data, self.feature_names_, widths, real)
        wanted = first.wanted if wanted is None else wanted
        first = first.with_batch(FirstDocs.of(views, labels, wanted), real)
        if not first.can_be_fitted():
            return False
        # no batch is larger than the last fit: that would have been one
        again = first.complete or first.n_docs >= GROWTH * self.stream_["largest"]
        if again:
            self._fit_again(first, views)
        if not first.complete:
            self.first_docs_ = first.as_data()
        return again

    def _fit_again(self, first: FirstDocs, batch: Views) -> None:
        """Fit the first documents of the stream anew; topics keep their numbers."""
        fresh = copy(self)
        del fresh._fitting  # this is the fit that has begun
        with warnings.catch_warnings():  # of this batch they were given
            warnings.simplefilter("ignore", DataWarning)
            before = self.transform(first.views)
        fresh.random_state = self.random_state_used_
        fresh._fit_start(first.views, first.labels)
        seeded, _ = number_seeds(self.seeds, self.n_components, self.topic_names_)
        held = {*first.labels[first.labels >= 0], *seeded}
        renumber(fresh, same_numbers(before, fresh.doc_topic_, held))
        fresh._begin_stream()
        fresh.stream_["batches"] = self.stream_["batches"] + 1
        keep_last(fresh, batch.n_docs)
        fresh.doc_ids_, fresh.recipes_ = batch.ids, self.recipes_
        fresh.topic_stability_ = fresh.doc_confidence_ = None
        fresh.random_state, fresh._fitting = self.random_state, True
        self.__dict__.update(fresh.__dict__)

    def _check_topics(self) -> None:
        """Refuse a parameter that would need other topics than there are."""
        if self.n_components != self._n_features_out:
            raise ValueError(
                f"n_components is {self.n_components}, and the model has "
                f"{plural(self._n_features_out, 'topic')}: partial_fit keeps them. Fit it again."
            )

    def _begin_stream(self) -> None:
        """Take a fit, of this batch or an earlier one, as the first batch of a stream."""
        if hasattr(self, "topic_counts_"):
            return
        shares = self.doc_topic_.sum(axis=0, dtype=np.float64)
        with one_native_thread("blas"):
            self.topic_counts_ = {
                name: tokens_of_topics(topics, self.term_counts_[name], shares)
                for name, topics in self.components_.items()
            }
        n_docs = len(self.doc_topic_) - len(self.empty_rows_)
        self.stream_ = asdict(StreamState.of_fit(max(n_docs, 1)))
        self.n_docs_seen_ = n_docs

    # -- the batch -------------------------------------------------------------------------

    def _batch_views(self, X: Any, new_terms: bool) -> Views:
        """Return the batch with the columns of the model, to which its new terms are added."""
        if not new_terms:
            views = self.as_views(X)
        else:
            given = read_documents(self, X, new_terms=True)
            views = known_views(given, self.view_names_, type(self).__name__)
            for name in views.names:
                known, names = self.feature_names_[name], views.features[name]
                if known is not None and names is not None:
                    self._grow(name, grown_names(known, names), len(known))
            with warnings.catch_warnings():  # that terms which the batch lacks count as zero
                warnings.simplefilter("ignore", DataWarning)
                views = self.as_views(views)
        if not any(matrix.nnz for matrix in views.matrices.values()):
            advice = "." if new_terms else f"; see {argument('new_terms', True)}."
            raise ValueError(
                "There is nothing to learn in this batch: no document has a term that "
                f"{type(self).__name__} knows{advice}"
            )
        return views

    def _grow(self, view: str, names: np.ndarray, n_known: int) -> None:
        """Add terms to a view: of their counts nothing is known, so their probability is 0."""
        n_new = len(names) - n_known
        if not n_new:
            return
        if view in self.scaling_:
            raise ValueError(
                f"View {quoted(view)} is scaled, feature by feature, as learned in the first fit: "
                f"{plural(n_new, 'feature')} cannot be added. Leave out "
                f"{argument('new_terms', True)}."
            )
        for attribute in BY_TERM:
            if hasattr(self, attribute):
                arrays = getattr(self, attribute)
                width = [(0, 0)] * (arrays[view].ndim - 1) + [(0, n_new)]
                setattr(self, attribute, {**arrays, view: np.pad(arrays[view], width)})
        recipe = self.recipes_[view]
        grown = None if recipe is None else with_terms(recipe, names, view)
        self.recipes_ = {**self.recipes_, view: grown}
        self.feature_names_ = {**self.feature_names_, view: names}
        self.n_features_in_ += n_new

    def _batch_data(self, views: Views, labels: Any) -> Prepared:
        """Return the batch as the engine takes it: with all views, also those nobody has."""
        warn_of_clipped(views, count_clipped(views, self.scaling_))
        given = prepare(views, self.scaling_, check_dtype(self.dtype))
        matrices = dict(zip(given.names, given.matrices, strict=True))
        present = dict(zip(given.names, given.present.T, strict=True))
        for name, topics in self.components_.items():
            if name not in matrices:
                shape = given.n_docs, topics.shape[1]
                matrices[name] = sp.csr_array(shape, dtype=given.dtype)
                present[name] = np.zeros(given.n_docs, bool)
        if labels is not None:
            labels = check_topic_labels(labels, given.n_docs, self.n_components)
            labels = labels if (labels >= 0).any() else None
        check_weighted(self.view_weights_, list(matrices.values()))
        return Prepared(
            names=self.view_names_,
            matrices=tuple(matrices[name] for name in self.view_names_),
            present=np.column_stack([present[name] for name in self.view_names_]),
            weights=tuple(self.view_weights_[name] for name in self.view_names_),
            labels=labels,
            strength=getattr(self, "strength_", None),
        ).cut(columns=True)

    def _with_memory(self, data: Prepared, rho: float) -> Prepared:
        """Return the batch with what is left of the memory, and count its terms."""
        self.term_counts_ = {n: self.term_counts_[n] + c for n, c in data.term_counts.items()}
        self.unseen_terms_ = {n: np.flatnonzero(c == 0) for n, c in self.term_counts_.items()}
        seen = tuple(c > 0 for c in self.term_counts_.values())
        prior = Prior(self.doc_topic_prior, self.topic_word_prior, seen)
        # the prior of feature topics is not one of topics, whose counts these are
        of_topics = all(isinstance(e, Topics) for e in self._emissions(data.dtype))
        memory = tuple(
            ViewMemory.of(
                self.components_[name],
                self.topic_counts_[name],
                rho,
                seeds,
                prior.pseudo_counts(v) if of_topics else None,
            )
            for v, (name, seeds) in enumerate(zip(data.names, self._batch_seeds(data), strict=True))
        )
        return replace(data, prior=prior, seeds=cast(Seeds, memory))

    def _batch_seeds(self, data: Prepared) -> Sequence[ViewSeeds]:
        """Return the seeds of the batch: words are seeds as often as they occur."""
        words, _ = number_seeds(self.seeds, self.n_components, self.topic_names_)
        widths = [m.shape[1] for m in data.matrices]
        with warnings.catch_warnings():  # a batch need not have all of them
            warnings.simplefilter("ignore", DataWarning)
            found = find_seeds(find_words(words, self.feature_names_, widths, self.recipes_), data)
        return [ViewSeeds.none() for _ in data.names] if found is None else found

    def _emissions(self, dtype: Any) -> list[Emission]:
        """Return the topics of all views; a model with feature topics overrides."""
        return [Topics.from_rows(self.components_[n], dtype) for n in self.view_names_]

    def _learn(self, data: Prepared, max_iter: int) -> tuple[EMRun, Problem]:
        """Fold the batch in, take EM steps on it, and a last one of the topics."""
        k, tokens = self.n_components, self.topic_counts_
        emissions = [
            opened(emission, tokens[name].sum())
            for name, emission in zip(data.names, self._emissions(data.dtype), strict=True)
        ]
        uniform = pad_topics(np.full((data.n_docs, k), 1 / k), data.dtype)
        problem = self._fold_in_problem(data, emissions, Start("uniform", uniform, ()))
        with ThreadRunner(self.n_jobs) as runner:
            most, tol = check_fold_in(self.fold_in_max_iter, self.fold_in_tol)
            problem = fold_in(problem, runner, min(most, FOLD_STEPS), tol)
            _pin(problem, data)
            run = run_em(problem, runner, self._schedule, max_iter, self.tol)
            return run, em_step(run.problem, runner, "emissions").problem

    def _keep_batch(
        self,
        learned: tuple[EMRun, Problem],
        data: Prepared,
        views: Views,
        state: StreamState,
        rho: float,
    ) -> None:
        """Set the attributes after a batch: those of documents are of this batch."""
        run, problem = learned
        memory = cast(tuple[ViewMemory, ...], data.seeds)
        problem = self._finish(problem, data)
        attributes = {
            **self._state(problem, data),
            "topic_counts_": {n: m.tokens for n, m in zip(data.names, memory, strict=True)},
            "stream_": asdict(state),
            "n_docs_seen_": state.docs,
            "doc_ids_": views.ids,
            "present_": data.present,
            "empty_rows_": np.flatnonzero(data.empty),
            "objective_": run.objective,
            "n_iter_": run.n_iter,
            "trace_": run.trace,
            "topic_stability_": None,
            "doc_confidence_": None,
        }
        if hasattr(self, "term_docs_"):  # files of earlier versions have none
            attributes |= self._more_evidence(problem, data, attributes["view_doc_topic_"], rho)
        self.__dict__.update(attributes)
        self.labels_ = with_pins(self._assign(self.doc_topic_), data)

    def _more_evidence(
        self, problem: Problem, data: Prepared, mixtures: dict[str, np.ndarray], rho: float
    ) -> dict[str, Any]:
        """Return how many documents stand behind topics and terms, those remembered included."""
        with ThreadRunner(self.n_jobs) as runner:
            found = self._evidence(problem, data, runner, self.dense_views_, mixtures)
        for name in ("term_docs_", "view_docs_"):
            before = getattr(self, name)
            found[name] = {
                v: more + more.dtype.type(rho) * before[v] for v, more in found[name].items()
            }
        return found


def _pin(problem: Problem, data: Prepared) -> None:
    """Set the mixtures of documents whose topic is known."""
    if data.labels is not None:
        rows = np.flatnonzero(data.labels >= 0)
        for theta in problem.thetas:
            theta[rows] = 0
            theta[rows, data.labels[rows]] = 1


def _check_forgetting(forgetting: Any, half_life: Any) -> None:
    """Check how fast a stream forgets."""
    check_real("forgetting", forgetting, 0.0, MOST_FORGETTING)
    if half_life is not None:
        check_positive("half_life", half_life)
