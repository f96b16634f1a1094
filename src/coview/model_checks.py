"""The check of a model that was read from a file, before anything uses it.

The seal of a file says nothing about its contents (`coview.loaded`). A model is a set of arrays
that must fit together: the tables below say how, attribute by attribute. Files of earlier versions
lack some attributes; those that are there are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coview.loaded import (
    check_array,
    check_keys,
    check_shares,
    check_sparse,
    check_value,
    finite_or_nan,
    not_nan,
)
from coview.params import LARGEST_FACTOR, LARGEST_STRENGTH, check_fold_in
from coview.tree import TopicTree
from coview.wording import plural, quoted

SLACK = 1e-3  # of sums in single precision
LARGEST_GRAPH_STRENGTH = 1e5 * LARGEST_STRENGTH  # with the tokens of a document
MOST_FIRST_DOCS = 10**9  # with which a stream begins
OPTIONAL_TERMS = ("roughness", "log_prior", "seed_term", "ensemble_term")
Check = Callable[[Any, str], Any]
# without these no new document can be folded in
REQUIRED = (
    *("labels_", "view_doc_topic_", "view_weights_", "feature_names_", "term_counts_"),
    *("unseen_terms_", "scaling_", "_n_features_out"),
)

# parameters that are used after the fit, and checked here
USED_PARAMETERS = (
    *("doc_topic_prior", "dtype", "fold_in_max_iter", "fold_in_tol", "guess_strength"),
    "strength_scale",
)


def check_model(model: Any) -> None:
    """Refuse a model whose arrays do not fit together or are not what they should be."""
    if type(model).__name__ == "TopicClassifier":
        _check_classifier(model)
        return
    sizes = _Sizes(model)
    for name in REQUIRED:
        if name not in vars(model):
            raise KeyError(name)
    for name, check in sizes.checks().items():
        if name in vars(model):
            check(getattr(model, name), name)
    _check_used_parameters(model)
    for view in sizes.widths:
        unseen = np.flatnonzero(model.term_counts_[view] == 0)
        if not np.array_equal(unseen, model.unseen_terms_[view]):
            raise ValueError(f"its unseen_terms_ of view {quoted(view)} have other counts than 0")
        if model.term_counts_[view].any() and not model.components_[view].any():
            raise ValueError(f"its topics of view {quoted(view)} are empty")
        _check_factors(model, view)
        if {"term_docs_", "view_docs_", "dense_views_"} <= vars(model).keys():
            _check_documents(model, view)
    for view, voter in getattr(model, "voters_", {}).items():
        if view not in sizes.widths:
            raise ValueError(f"it has a voter of {quoted(view)}, which is no view")
        check_model(voter)


def check_evidence(evidence: Any, widths: Mapping[str, int]) -> None:
    """Refuse evidence of a search that does not fit the views: kernels do not check bounds."""
    from coview.retrieval.evidence import KINDS, PairEvidence, SearchEvidence, ViewTerms

    if not isinstance(evidence, SearchEvidence):
        raise ValueError("its evidence of a search is none")
    dims = {}
    for view, terms in check_value(evidence.views, "views of a search", dict).items():
        if view not in widths or not isinstance(terms, ViewTerms):
            raise ValueError(f"its evidence is of {quoted(str(view))}, which is no view")
        what = f"evidence of view {quoted(view)}"
        check_array(terms.shares, what, (widths[view],), low=0)
        check_array(terms.rarity, what, (widths[view],))
        dims[view] = check_array(terms.center, what, (None,)).shape[0]
        if terms.directions.dtype != np.float16 or terms.directions.shape[1:] != (dims[view],):
            raise ValueError(f"its directions of view {quoted(view)} are of another kind")
        if len(terms.directions) != widths[view] or not np.isfinite(terms.directions).all():
            raise ValueError(f"its directions of view {quoted(view)} do not fit its terms")
    if not set(evidence.counts) <= set(dims):
        raise ValueError("its documents have views without evidence")
    for (a, b), table in evidence.tables.items():
        check_sparse(table, "translation table", (widths[a], widths[b]), 1 + SLACK)
        check_array(evidence.term_docs[a, b], "documents of terms", (widths[a],), "i", low=0)
    if set(evidence.pairs) != {(a, b) for a in dims for b in dims}:
        raise ValueError("its evidence lacks a pair of views, or has others")
    for (a, b), pair in evidence.pairs.items():
        if not isinstance(pair, PairEvidence):
            raise ValueError("its evidence of a pair of views is none")
        check_array(pair.weights, "weights of evidence", (len(KINDS),), low=0)
        for number in (pair.first, pair.ten):
            check_value(number, "evidence", float, int, low=0, high=1)
        check_value(pair.held_back, "evidence", int, low=0)
        check_array(pair.names, "shared names", (2, None), "i", low=0)
        if (pair.names >= np.array([[widths[a]], [widths[b]]])).any():
            raise ValueError("its shared names are beyond the terms")
        check_array(pair.mapping, "linear map", (dims[a], dims[b]))
        check_array(pair.center, "linear map", (dims[b],))


def _check_documents(model: Any, view: str) -> None:
    """Refuse numbers of documents behind terms that no documents can have."""
    behind, having = model.term_docs_[view], model.view_docs_[view]
    what = f"its term_docs_ and view_docs_ of view {quoted(view)}"
    if not behind[:, model.term_counts_[view] > 0].any(axis=0).all():
        raise ValueError(f"{what} have terms that occur in no document")
    if view not in model.dense_views_ and (behind > having[:, None] * (1 + SLACK) + SLACK).any():
        raise ValueError(f"{what} have more documents with a term than with the view")
    if model.term_counts_[view].any() and not having.any():
        raise ValueError(f"{what} have no document")
    if "stream_" not in vars(model) and having.sum() > len(model.doc_topic_) * (1 + SLACK):
        raise ValueError(f"{what} have more documents than there are")


def _check_factors(model: Any, view: str) -> None:
    """Refuse feature topics and links to them, whose product are the topics, that do not fit."""
    if "feature_topics_" in vars(model):
        feature_topics, links = model.feature_topics_[view], model.topic_links_[view]
        if links.shape[1] != len(feature_topics):
            raise ValueError(f"its topic_links_ of view {quoted(view)} are of other feature topics")
        if model.term_counts_[view].any() and not feature_topics.any():
            raise ValueError(f"its feature_topics_ of view {quoted(view)} are empty")


class _Sizes:
    """How many documents, topics and terms a model has, and what its attributes must be."""

    def __init__(self, model: Any) -> None:
        self.docs, self.topics = check_shares(model.doc_topic_, "mixtures").shape
        self.real = tuple(getattr(model, "scaling_", ()))  # views of measurements
        names = check_value(model.view_names_, "tuple of views", tuple)
        self.names = [check_value(name, "name of a view", str) for name in names]
        if list(check_keys(model.components_, "topics", self.names)) != self.names or not names:
            raise ValueError("its views and topics have different names")
        self.widths = {
            view: check_shares(
                p_w_z, f"topics of view {quoted(view)}", (self.topics, None), or_zero=True
            ).shape[1]
            for view, p_w_z in model.components_.items()
        }

    def checks(self) -> dict[str, Check]:
        """Return the check of each attribute."""
        k, docs = self.topics, self.docs
        return {
            "doc_topic_": _shares((docs, k)),
            "view_doc_topic_": self._by_view(lambda width: _shares((docs, k))),
            "labels_": _integers((docs,), k),
            "view_labels_": self._by_view(lambda width: _integers((docs,), k)),
            "preassigned_": _array((docs,), "i", low=-1, below=k),
            "present_": _array((docs, len(self.names)), "b"),
            "empty_rows_": _integers((None,), docs),
            "view_weights_": self._by_view(lambda width: _number(float, int, low=0)),
            "scaling_": self._some_views(self._scaling),
            "term_counts_": self._by_view(lambda width: _array((width,), low=0)),
            "term_docs_": self._by_view(lambda width: _array((k, width), low=0)),
            "view_docs_": self._by_view(lambda width: _array((k,), low=0)),
            "dense_views_": self._names_of_views,
            "unseen_terms_": self._by_view(lambda width: _integers((None,), width)),
            "feature_names_": self._by_view(_texts_or_none),
            "doc_ids_": _texts_or_none(docs),
            "topic_counts_": self._by_view(lambda width: _array((k,), low=0)),
            "stream_": _stream,
            "n_docs_seen_": _number(int, low=0),
            "first_docs_": self._first_docs,
            "topic_names_": self._topic_names,
            "hidden_topics_": _integers((None,), k),
            "topic_tree_": _or_none(self._topic_tree),
            "search_": _or_none(self._search),
            "topic_stability_": _or_none(_array((k,), may_be=finite_or_nan)),
            "doc_confidence_": _or_none(_array((docs,), may_be=finite_or_nan)),
            "topic_centers_": _array((k, k)),
            "feature_topics_": self._by_view(lambda width: _shares((None, width), or_zero=True)),
            "topic_links_": self._by_view(lambda width: _shares((k, None))),
            "view_shares_": _array((k, len(self.names)), low=0),
            "graph_weights_": _by_graph,
            "graph_strength_": _number(float, int, low=0, high=LARGEST_GRAPH_STRENGTH),
            "graph_points_": self._some_views(self._points),
            "recipes_": self._some_views(lambda width: _or_none(_recipe)),
            "_n_features_out": _number(int, low=k, high=k),
            "n_features_in_": _number(int, low=sum(self.widths.values())),
            "random_state_used_": _number(int, low=0),
            "n_iter_": _number(int, low=0),
            "objective_": lambda value, what: float(value),
            "trace_": self._trace,
        }

    def _by_view(self, check_of: Callable[[int], Check]) -> Check:
        """Return a check of values by view, all of them."""

        def check(values: Any, what: str) -> None:
            check_keys(values, what, self.names)
            self._some_views(check_of)(values, what)

        return check

    def _some_views(self, check_of: Callable[[int], Check]) -> Check:
        """Return a check of values by view, of some of them."""

        def check(values: Any, what: str) -> None:
            for view, value in check_value(values, what, dict).items():
                if view not in self.widths:
                    raise ValueError(f"its {what} are of {quoted(view)}, which is no view")
                check_of(self.widths[view])(value, f"{what} of view {quoted(view)}")

        return check

    def _scaling(self, width: int) -> Check:
        """Return the check of the smallest value and the unit of each feature."""

        def check(scaling: Any, what: str) -> None:
            low, unit = scaling
            check_array(low, what, (width,))
            check_array(unit, what, (width,), low=0)

        return check

    def _trace(self, trace: Any, what: str) -> None:
        """Check the history of the objective; the last state of a stopped fit is not in it."""
        n = len(check_array(trace.objective, what, (None,), may_be=not_nan))
        check_array(trace.log_likelihood, what, (n, len(self.names)), may_be=not_nan)
        check_array(trace.n_floored, what, (n,), "i", low=0)
        for name in ("penalty", "carried_penalty", *OPTIONAL_TERMS):
            term = getattr(trace, name, None)  # files of earlier versions have fewer
            if term is not None or name == "penalty":
                check_array(term, f"{what}.{name}", (n,), may_be=not_nan)
        check_value(trace.start_objective, what, float)
        check_array(trace.restarts, what, (None,), may_be=not_nan)
        for name, objective in getattr(trace, "candidates", ()):
            check_value(name, what, str)
            float(objective)

    def _search(self, evidence: Any, what: str) -> None:
        check_evidence(evidence, self.widths)
        for view, counts in evidence.counts.items():
            check_sparse(counts, f"{what} of view {quoted(view)}", (self.docs, self.widths[view]))
        if evidence.titles is not None:
            check_array(evidence.titles, f"titles of {what}", (self.docs,), "U")

    def _names_of_views(self, names: Any, what: str) -> None:
        for name in check_value(names, what, list):
            if name not in self.widths:
                raise ValueError(f"its {what} have {quoted(str(name))}, which is no view")

    def _topic_names(self, names: Any, what: str) -> None:
        if len(names) != self.topics:  # a user may give them in any kind of list
            raise ValueError(f"it has {plural(len(names), 'name')} for {self.topics} topics")

    def _topic_tree(self, tree: Any, what: str) -> None:
        if not isinstance(tree, TopicTree) or tree.levels[0] != self.topics:
            raise ValueError(f"its {what} is no tree of {plural(self.topics, 'topic')}")

    def _points(self, width: int) -> Check:
        """Return the check of training documents kept for the neighbors of new ones."""

        def check(points: Any, what: str) -> None:
            docs = check_array(points["docs"], what, (None,), "i", low=0, below=self.docs)
            if (docs[1:] <= docs[:-1]).any():
                raise ValueError(f"its {what} are not in order")
            check_array(points["radii"], what, (len(docs),), low=0, may_be=not_nan)
            check_value(points["n_neighbors"], what, int, low=1)
            check_value(points["dtype"], what, str)
            if points["dtype"] not in ("float32", "float64"):
                raise ValueError(f"its {what} have the type {points['dtype']}")
            if check_array(points["shape"], what, (2,), "i").tolist() != [self.docs, width]:
                raise ValueError(f"its {what} are not its training documents")
            _check_rows(points, len(docs), width, what)

        return check

    def _first_docs(self, first: Any, what: str) -> None:
        """Check the documents with which a stream has begun: see `coview.stream_start`."""
        labels = check_array(first["labels"], what, (None,), "i", low=-1, below=self.topics)
        if check_value(first["wanted"], what, int, low=0) > MOST_FIRST_DOCS:
            raise ValueError(f"its {what} shall become {first['wanted']}")
        present = check_array(first["present"], what, (len(labels), len(self.names)), "b")
        parts = check_keys(first["views"], what, self.names)
        for has, (view, part) in zip(present.T, parts.items(), strict=True):
            low = None if view in self.real else 0
            values = check_array(part["values"], what, (None,), "iuf", low=low)
            check_array(part["indices"], what, (len(values),), "i", low=0, below=self.widths[view])
            _check_ends(part["indptr"], len(labels), len(values), what)
            if np.diff(part["indptr"])[~has].any():
                raise ValueError(f"its {what} have terms of a view that they lack")


def _check_rows(points: Mapping[str, Any], n_docs: int, width: int, what: str) -> None:
    """Refuse rows of documents, dense or by their non-zeros, that are not of this shape."""
    if "indices" not in points:
        check_array(points["values"], what, (n_docs, width), "uf", low=0)
        return
    values = check_array(points["values"], what, (None,), "uf", low=0)
    check_array(points["indices"], what, (len(values),), "u", below=width)
    _check_ends(points["indptr"], n_docs, len(values), what)


def _check_ends(indptr: Any, n_docs: int, n_values: int, what: str) -> None:
    """Refuse ends of rows that are not those of so many documents and values."""
    ends = check_array(indptr, what, (n_docs + 1,), "i", low=0)
    if ends[0] != 0 or ends[-1] != n_values or (ends[1:] < ends[:-1]).any():
        raise ValueError(f"its {what} have other rows than values")


def _check_used_parameters(model: Any) -> None:
    """Refuse parameters by which new documents would become anything but mixtures.

    A model that is read to be shown has only those that the file has.
    """
    given = vars(model)
    prior = given.get("doc_topic_prior", 1.0)
    if not check_value(prior, "doc_topic_prior", int, float, low=0, high=LARGEST_FACTOR) > 0:
        raise ValueError("its doc_topic_prior is 0")
    check_fold_in(given.get("fold_in_max_iter", 1), given.get("fold_in_tol", 0.0))
    check_value(given.get("strength_scale", ""), "strength_scale", str)
    if "dtype" in given and np.dtype(given["dtype"]) not in (np.float32, np.float64):
        raise ValueError(f"its dtype is {given['dtype']}")


# -- classifiers -----------------------------------------------------------------------------------


def _check_classifier(model: Any) -> None:
    check_model(model.estimator_)
    inner = model.estimator_
    n_docs, n_classes = inner.doc_topic_.shape
    check_array(model.classes_, "classes_", (n_classes,), "biufUO")
    check_array(model.labels_, "labels_", (n_docs,), "biufUO")
    known = set(model.classes_.tolist())
    if len(known) != n_classes or not known >= set(model.labels_.tolist()):
        raise ValueError("its classes_ are not those of its labels_")
    if "guess_strength" in vars(model):
        check_value(model.guess_strength, "guess_strength", int, float, low=0, high=LARGEST_FACTOR)
    check_value(getattr(model, "n_unlabeled_", 0), "number of unlabeled documents", int, low=0)
    if getattr(model, "guess_", None) is not None:
        check_shares(model.guess_, "guess", (n_docs, n_classes))
    if getattr(model, "guess_space_", None) is not None:
        _check_space(model.guess_space_, inner, n_docs)


def _check_space(space: Any, inner: Any, n_docs: int) -> None:
    """Refuse a space of the training documents that new ones cannot be placed in."""
    docs = check_array(space["docs"], "neighbors", (None,), "i", low=0, below=n_docs)
    n_dims = 0
    for view, to_space in check_keys(space["maps"], "space", list(inner.view_names_)).items():
        width = inner.components_[view].shape[1]
        basis = check_array(to_space["basis"], f"space of view {quoted(view)}", (width, None))
        check_array(to_space["mean"], f"space of view {quoted(view)}", (basis.shape[1],))
        check_value(to_space["trust"], f"trust of view {quoted(view)}", float, low=0)
        if "idf" in to_space:
            check_array(to_space["idf"], f"weights of view {quoted(view)}", (width,))
        n_dims += basis.shape[1]
    check_array(space["points"], "neighbors", (len(docs), n_dims))


# -- checks of one attribute -----------------------------------------------------------------------


def _array(shape: tuple[int | None, ...], kinds: str = "f", **bounds: Any) -> Check:
    return lambda value, what: check_array(value, what, shape, kinds, **bounds)


def _integers(shape: tuple[int | None, ...], below: int) -> Check:
    return _array(shape, "i", low=0, below=below)


def _shares(shape: tuple[int | None, ...], or_zero: bool = False) -> Check:
    return lambda value, what: check_shares(value, what, shape, or_zero=or_zero)


def _number(*kinds: type, low: float | None = None, high: float | None = None) -> Check:
    return lambda value, what: check_value(value, what, *kinds, low=low, high=high)


def _stream(state: Any, what: str) -> None:
    """Check how far a stream has come: see `coview.em.stream.StreamState`."""
    for name in ("docs", "batches", "largest"):
        check_value(check_value(state, what, dict)[name], f"{what}.{name}", int, low=1)
    check_value(state["remembered"], f"{what}.remembered", float, low=np.finfo(float).tiny)


def _by_graph(weights: Any, what: str) -> None:
    """Check the weights of graphs, those of views and others that were given."""
    for weight in check_value(weights, what, dict).values():
        check_value(weight, what, float, int, low=0, high=1 + SLACK)


def _recipe(value: Any, what: str) -> None:
    """Check that it is what `Unpacker` makes of a recipe, which checks itself."""
    check_value(getattr(value, "kind", None), what, str)


def _or_none(check: Check) -> Check:
    return lambda value, what: None if value is None else check(value, what)


def _texts_or_none(length: int) -> Check:
    """Return the check of names, of which there may be none."""

    def check(names: Any, what: str) -> None:
        if not isinstance(names, np.ndarray) or names.shape != (length,):
            raise ValueError(f"its {what} are not {plural(length, 'name')}")
        if names.dtype.kind not in "UO":
            raise ValueError(f"its {what} are {names.dtype}")

    return _or_none(check)
