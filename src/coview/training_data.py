"""What a fit works on: checked parameters and views, weights, and the ensemble of clusterings."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coview.em.acceleration import GENERATIONS, check_ascent
from coview.em.ensemble_view import (
    check_ensemble,
    ensemble_share,
    learn_from_views,
    starts_from_ensemble,
    with_learned_share,
)
from coview.em.prepared import (
    Prepared,
    check_fit_memory,
    check_training_data,
    prepare,
    view_weights,
)
from coview.em.scaling import learn_scaling
from coview.em.seed_words import check_seeds
from coview.em.seeds import prepare_seeds
from coview.ensemble.reliability import ViewReliability
from coview.params import (
    check_choice,
    check_dtype,
    check_factor,
    check_fold_in,
    check_int,
    check_n_jobs,
    check_positive,
    check_real,
    check_verbose,
)
from coview.progress import progress_bar
from coview.shards.sharded import ShardedViews
from coview.views.checks import check_training_views
from coview.views.container import Views
from coview.views.labels import check_topic_labels


class TrainingDataMixin:
    """How a model checks its parameters, and prepares the views that it is fitted to."""

    n_components: int
    n_init: int
    max_iter: int
    tol: float
    acceleration: str | None
    fold_in_max_iter: int
    fold_in_tol: float
    assign: str
    n_jobs: int | None
    init: Any
    seeds: Any
    doc_topic_prior: float
    topic_word_prior: float
    view_weights: Any
    ensemble: Any
    scaling: str | None
    dtype: Any
    verbose: int
    _one_view: bool

    def _check_parameters(self) -> None:
        """Refuse parameters of a wrong type or out of range; a model checks its own as well."""
        check_int("n_components", self.n_components, 1)
        check_int("n_init", self.n_init, 1)
        check_int("max_iter", self.max_iter, 1)
        check_real("tol", self.tol)
        check_factor("doc_topic_prior", check_positive("doc_topic_prior", self.doc_topic_prior))
        check_factor("topic_word_prior", check_positive("topic_word_prior", self.topic_word_prior))
        check_fold_in(self.fold_in_max_iter, self.fold_in_tol)
        check_choice("scaling", self.scaling, ["auto", None])
        check_choice("assign", self.assign, ["argmax", "kmeans"])
        self._check_acceleration()
        check_seeds(self.seeds)
        check_ensemble(self.ensemble)
        check_dtype(self.dtype)
        check_n_jobs(self.n_jobs)
        check_verbose(self.verbose)

    def _check_acceleration(self) -> None:
        """Refuse to accelerate where the objective, which judges extrapolations, may fall."""
        if check_choice("acceleration", self.acceleration, ["squarem", None]) is None:
            return
        for name in ("doc_topic_prior", "topic_word_prior"):
            check_ascent(getattr(self, name) >= 1, f"{name} below 1")
        check_ascent(self._monotone_step(), "step='paper'")

    def _monotone_step(self) -> bool:
        """Return whether the model's own step promises not to lower the objective."""
        return True

    def _n_slots(self, data: Prepared) -> int:
        """Return how many mixtures a document has."""
        return 1

    def _feature_topics(self, data: Prepared) -> Sequence[int]:
        """Return how many topics of features each view has, in models that have them."""
        return ()

    def _training_views(self, X: Any, on_disk: bool = False) -> Any:
        """Return the input as views, after checks that need no data; they may be `on_disk`."""
        accepted = isinstance(X, Views) or (on_disk and isinstance(X, ShardedViews))
        views = X if accepted else Views(X)
        check_training_views(type(self).__name__, self._one_view, self.n_components, views)
        return views

    def _prepare_training(
        self, views: Views, labels: Any, rng: np.random.Generator
    ) -> tuple[Prepared, dict[str, Any]]:
        """Return the data to work on, and fitted attributes that are known before EM begins.

        A model with a penalty across documents (pairs) puts it into `data.penalty`; graphs follow
        in `_coupled`. The ensemble's internal view is added later: no model has to know of it.
        """
        scaling = learn_scaling(views.matrices, views.present, self.scaling)
        data = prepare(views, scaling, check_dtype(self.dtype))
        view_weights(self.view_weights, data)  # refuse wrong ones before the work
        if labels is not None:
            labels = check_topic_labels(labels, views.n_docs, self.n_components)
            labels = labels if (labels >= 0).any() else None
        data = replace(data, labels=labels)
        data = data.with_prior(self.doc_topic_prior, self.topic_word_prior)
        check_training_data(data)
        sizes = self.n_components, self._n_slots(data), data.dtype.itemsize
        clusters, features = self._needs_ensemble(data), self._feature_topics(data)
        generations = 2 if self.acceleration is None else GENERATIONS
        check_fit_memory(data.matrices, *sizes, clusters, features, generations)
        seeds, names = prepare_seeds(self.seeds, self.n_components, self.init, views, data)
        data = replace(data, seeds=seeds)
        data, learned = self._learn_from_views(data, rng.spawn(1)[0])
        return data, {**learned, "scaling_": scaling, "topic_names_": names}

    def _coupled(self, data: Prepared, learned: dict[str, Any]) -> tuple[Prepared, dict[str, Any]]:
        """Return the data of all documents with the graphs that join them, and what is learned."""
        return data, learned

    def _graph_entries(self, n_docs: int, names: Sequence[str]) -> list[int]:
        """Return how many entries each graph over all documents has, or may have."""
        return []

    def _needs_all_documents(self, names: Sequence[str]) -> str:
        """Return what to do if not all documents fit into memory; empty if they need not."""
        return ""

    def _learn_from_views(
        self, data: Prepared, rng: np.random.Generator
    ) -> tuple[Prepared, dict[str, Any]]:
        """Return the data with the weights of the views and, where it is needed, the ensemble.

        Also the fitted attributes that say what was learned.
        """
        given = self.view_weights if isinstance(self.view_weights, ViewReliability) else None
        learned = isinstance(self.view_weights, str) and self.view_weights == "learn"
        learned = (learned or given is not None) and len(data.names) > 1
        clusters = self._needs_ensemble(data)
        what = "clustering in several ways" if clusters else "comparing the views"
        shown = bool(self.verbose) and (clusters or (learned and given is None))
        with progress_bar(f"{type(self).__name__}, ensemble", 1, shown) as advance:
            advance(0, what)
            ensemble, reliability = learn_from_views(
                data, self.n_components, rng, clusters=clusters, weights=learned, given=given
            )
            advance(1, what)
        weights = view_weights(self.view_weights, data, reliability)
        attributes = {
            "view_weights_": weights,
            "view_reliability_": dict(reliability.weights) if reliability and learned else None,
        }
        data = replace(data, weights=tuple(weights.values()), ensemble=ensemble)
        if self.ensemble == "auto" and self._ensemble_share(data) > 0:
            data = with_learned_share(data, self.n_components, rng)
        return data, attributes

    def _needs_ensemble(self, data: Prepared) -> bool:
        """Return whether a fit takes the clusters of an ensemble: to begin at, or as a view."""
        return self._starts_from_ensemble(data) or self._ensemble_share(data) > 0

    def _starts_from_ensemble(self, data: Prepared) -> bool:
        """Return whether EM begins at the consensus of an ensemble."""
        return starts_from_ensemble(self.init, data, self.n_components)

    def _ensemble_share(self, data: Prepared) -> float:
        """Return the weight of the ensemble's internal view."""
        from_consensus = self._starts_from_ensemble(data)
        return ensemble_share(self.ensemble, data, self.n_components, from_consensus)
