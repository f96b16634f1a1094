"""`SearchIndex`: search documents in one view with queries in any other."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from coview.documents import unknown_words
from coview.models import fitted_model, topic_model
from coview.params import check_choice, check_int, check_n_jobs, check_real
from coview.retrieval.approximate import InvertedLists, build_lists, nearest_in_lists
from coview.retrieval.combined import Combined, with_evidence
from coview.retrieval.exact import ScoresAndRows, nearest, take_order
from coview.retrieval.explain import Explainer
from coview.retrieval.files import IndexContents, load_index, model_fingerprint, save_index
from coview.retrieval.gallery import (
    check_training_views,
    check_view,
    new_gallery,
    training_gallery,
    training_mixture,
)
from coview.retrieval.query import Doc, QueryBatch, as_mixtures, read_many, read_one
from coview.retrieval.results import Hit, Reason, SearchResults
from coview.retrieval.similarity import (
    TOPICS_AND_WORDS,
    PreparedQueries,
    choose_metric,
    prepare_queries,
)
from coview.retrieval.spaces import make_space
from coview.views.container import Views
from coview.wording import plural, quoted


class SearchIndex:
    """Documents that can be searched across views by their topics and words.

    A query in one view is folded into the topics of the model; its answers are the documents with
    the most similar topics, whatever view they have, and among these the ones with its words.

    Parameters
    ----------
    model : fitted model or TopicClassifier
    in_view : str, optional
        The view to search: only documents that have it can be answers. By default all views
        together.
    views : Views or dict of matrices, optional
        New documents to search, folded in with `in_view` alone, so that no query has seen its
        answer in another view. By default the training documents. Documents without a term that
        the model knows are never answers.
    training_views : Views or dict of matrices, optional
        The documents that the model was fitted to, to search these by their words as well: the
        model does not keep them. The semantic space and "correlation" learn better from them than
        from the mixtures of the fit, also where new documents are searched (`views`).
    metric : str, optional
        How documents are compared; larger is more similar, and no score is above 1. By default
        "topics+words" where the words of the documents searched are known, that is with `views`
        or `training_views`; else "hellinger", and in semantic space "correlation". With mixtures q
        and g:

        - "topics+words": the mean of "hellinger" and of the cosine of what the terms of both say
          about the topics one by one (`coview.retrieval.evidence`), and the terms that both have,
          where they share a view or a language (`coview.retrieval.words`); docs/search.md has
          what it gains;
        - "hellinger": the inner product of their square roots, sum_k sqrt(q_k g_k);
        - "cosine": their cosine;
        - "correlation": their cosine after subtracting the mean mixture of the training
          documents, that of the query's view from q and that of `in_view` from g (Wang et al.,
          2016);
        - "jensen-shannon": 1 minus the Jensen-Shannon divergence in bits.
    space : {"topic", "semantic"}, default="topic"
        Compare mixtures of topics; or the class posteriors that a logistic regression, one for
        each view, computes from them (the semantic space of Pereira et al., 2014).
    labels : array-like of shape (training documents,), optional
        Classes for the semantic space; None or -1 for unlabeled documents.
    method : {"exact", "approximate"}, default="exact"
        Score all documents, or only those in lists near the query: much faster from a few hundred
        thousand documents on, but some answers are missed. The scores of those found are exact.
    probes : float, default=0.03
        Share of the lists that an approximate search scores.
    random_state : int, default=0
        Seed of the approximate index.
    n_jobs : int or None, default=None
        Threads; None uses every core. The answers do not depend on it.

    Attributes
    ----------
    model : fitted model or None
        None in an index that was loaded without its model.
    metric, in_view, probes, n_jobs
        As given.
    n_topics : int

    Examples
    --------
    >>> from coview import LinkPLSA, Views
    >>> views = Views(
    ...     {"words": [[4, 2, 0], [3, 3, 1], [0, 0, 5]], "links": [[2, 0], [3, 0], [0, 4]]},
    ...     ids=["ball", "goal", "vote"],
    ... )
    >>> model = LinkPLSA(n_components=2, random_state=0).fit(views)
    >>> index = SearchIndex(model, in_view="links")
    >>> index
    SearchIndex(3 training documents in view 'links', 2 topics, metric='hellinger', method='exact')
    >>> index.query({"words": [0, 0, 3]}, top=1).ids
    ['vote']
    """

    def __init__(
        self,
        model: Any,
        *,
        in_view: str | None = None,
        views: Any = None,
        training_views: Any = None,
        metric: str | None = None,
        space: str = "topic",
        labels: Any = None,
        method: str = "exact",
        probes: float = 0.03,
        random_state: int = 0,
        n_jobs: int | None = None,
    ):
        check_choice("space", space, ["topic", "semantic"])
        metric = choose_metric(metric, space, views, training_views)
        check_choice("method", method, ["exact", "approximate"])
        check_real("probes", probes, 0.0, 1.0)
        check_int("random_state", random_state, 0)
        check_n_jobs(n_jobs)
        model = fitted_model(model)
        check_view(model, in_view)
        self.model = model
        self.metric = metric
        self.in_view = in_view
        self.probes = probes
        self.n_jobs = n_jobs
        self.n_topics = model.doc_topic_.shape[1]
        self._fingerprint: str | None = None  # of the model, once it is known
        training = None
        if training_views is not None:
            training = check_training_views(model, training_views)
        self._space = make_space(model, space, labels, metric, training)
        if views is None:
            self._gallery = training_gallery(model, in_view, self._space, training)
        else:
            self._gallery = new_gallery(model, in_view, views, self._space)
        if metric == TOPICS_AND_WORDS:
            self._gallery = with_evidence(model, self._gallery)
        self._lists: InvertedLists | None = None
        if method == "approximate":
            self._build_lists(random_state)
        combine = metric == TOPICS_AND_WORDS
        self._combined = Combined.of(model, self._gallery) if combine else None

    def _build_lists(self, seed: int) -> None:
        """Build the lists, and bring the gallery into their order."""
        gallery = self._gallery
        any_query = self._prepare(gallery.vectors[:1], None)  # for its form and center
        self._lists, order = build_lists(
            gallery.vectors, gallery.rows, any_query.form, any_query.center, seed, self.n_jobs
        )
        self._gallery = gallery.in_order(order)

    @property
    def space(self) -> str:
        """ "topic" or "semantic"."""
        return self._space.name

    @property
    def method(self) -> str:
        """ "exact" or "approximate"."""
        return "exact" if self._lists is None else "approximate"

    def __len__(self) -> int:
        """Return the number of documents that can be answers."""
        return len(self._gallery.rows)

    def __repr__(self) -> str:
        noun = "training document" if self._gallery.of_training else "document"
        where = "all views" if self.in_view is None else f"view {quoted(self.in_view)}"
        space = "" if self.space == "topic" else f", {len(self._space.classes)} classes"
        return (
            f"SearchIndex({plural(len(self), noun)} in {where}, {self.n_topics} topics{space}, "
            f"metric={self.metric!r}, method={self.method!r})"
        )

    # -- queries -----------------------------------------------------------------------------

    def query(self, query: Any, top: int = 10, *, explain: bool = False) -> SearchResults:
        """Return the documents most similar to one query.

        Parameters
        ----------
        query : dict, str, Views, matrix of one row, mixture or Doc
            By view, something raw or a row of counts: ``{"en": "a text"}``,
            ``{"image": Path("cat.png")}``, ``{"words": [0, 2, 1]}``; the text alone if the model
            reads one kind of text. Or an array (topics,) as `transform` returns. Or
            ``Doc("some id")``: a known document, which is then not among the answers.
        top : int, default=10
            Number of answers; all documents if there are fewer.
        explain : bool, default=False
            Whether to give the reasons for each score (`Hit.explanation`).

        Returns
        -------
        SearchResults
            Equal scores come in the order of the documents.
        """
        check_int("top", top, 1)
        batch = self._read_query(query)
        prepared = self._prepare(batch.vectors, batch.view)
        excluded = -1 if batch.excluded_row is None else batch.excluded_row
        scores, rows = self._best(batch, prepared, top + (excluded >= 0))
        kept = rows[0] != excluded
        pairs = list(zip(scores[0][kept], rows[0][kept], strict=True))[:top]
        return SearchResults(
            [
                Hit(
                    rank + 1,
                    int(self._gallery.position(row)),
                    self._gallery.id(row),
                    float(score),
                    self._reasons(batch, prepared, row) if explain else None,
                )
                for rank, (score, row) in enumerate(pairs)
            ],
            None if self.model is None else unknown_words(self.model, query, one=True),
        )

    def query_many(
        self, queries: Any, top: int = 10, *, view: str | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the documents most similar to each of many queries.

        Parameters
        ----------
        queries : Views, dict of matrices or of lists of raw documents, or ndarray of mixtures
            Mixtures have the shape (queries, topics), as from `transform`.
        top : int, default=10
            Number of answers to each query.
        view : str, optional
            The view that mixtures were folded in with; matters to "correlation" and in semantic
            space. By default all views together.

        Returns
        -------
        positions, scores : ndarrays of shape (queries, top)
            Numbers of documents and scores, best first; fewer columns if fewer documents are
            searched.
        """
        check_int("top", top, 1)
        batch = self._read_queries(queries, view)
        scores, rows = self._best(batch, self._prepare(batch.vectors, batch.view), top)
        return self._gallery.position(rows), scores

    def _best(self, batch: QueryBatch, queries: PreparedQueries, top: int) -> ScoresAndRows:
        scores, rows = self._best_by_topics(queries, top)
        if self._combined is not None:
            found = (scores, rows)
            scores, rows = self._combined.best(batch, queries, self._gallery, found)
        return np.minimum(scores, 1.0), rows  # of rounded mixtures some are above it

    def _best_by_topics(self, queries: PreparedQueries, top: int) -> ScoresAndRows:
        gallery = self._gallery
        if self._lists is None:
            scores, rows = nearest(gallery.vectors, gallery.rows, queries, top, self.n_jobs)
        else:
            scores, rows = nearest_in_lists(
                self._lists, gallery.vectors, queries, top, self.probes, self.n_jobs
            )
            # equal scores in the order of the documents, not of the lists
            scores, rows = take_order(scores, rows, np.lexsort((gallery.position(rows), -scores)))
        # the sum of a mixture in single precision may be a little more than 1
        return np.minimum(scores, 1.0), rows

    def _prepare(self, vectors: np.ndarray, view: str | None) -> PreparedQueries:
        width, dtype = self._gallery.vectors.shape[1], self._gallery.vectors.dtype
        query_center = self._space.center(view, width, np.float64)
        center = self._space.center(self.in_view, width, dtype)
        return prepare_queries(self.metric, vectors, query_center, center)

    def _reasons(self, query: QueryBatch, prepared: PreparedQueries, row: int) -> list[Reason]:
        return self._explainer.reasons(query, prepared, self._gallery, int(row))

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self._required_model(), self._space, self.in_view, self._combined)

    # -- reading of queries --------------------------------------------------------------------

    def _read_query(self, query: Any) -> QueryBatch:
        if isinstance(query, Doc):
            return self._query_from_document(query)
        mixtures = as_mixtures(query, self.n_topics, self.model)
        if mixtures is not None:
            if len(mixtures) != 1:
                raise ValueError(
                    f"A query is one mixture; got {len(mixtures):,}. Use query_many for several."
                )
            return self._query_from_mixtures(mixtures, None)
        return self._query_from_views(read_one(self._required_model(), query))

    def _read_queries(self, queries: Any, view: str | None) -> QueryBatch:
        mixtures = as_mixtures(queries, self.n_topics, self.model)
        if mixtures is not None:
            return self._query_from_mixtures(mixtures, view)
        if view is not None:
            raise ValueError("view is for an array of mixtures; documents name their views.")
        return self._query_from_views(read_many(self._required_model(), queries))

    def _query_from_mixtures(self, mixtures: np.ndarray, view: str | None) -> QueryBatch:
        if self.model is not None:
            check_view(self.model, view)
        if self._combined is not None:
            return self._combined.from_mixtures(mixtures, view)
        return QueryBatch(self._space.vectors(mixtures, view), view, mixtures)

    def _query_from_views(self, views: Views) -> QueryBatch:
        mixtures = self._required_model().fold_in(views).doc_topic
        view = views.names[0] if len(views.names) == 1 else None
        if self._combined is not None:
            return self._combined.from_views(self.model, views, mixtures, view)
        return QueryBatch(self._space.vectors(mixtures, view), view, mixtures, views)

    def _query_from_document(self, doc: Doc) -> QueryBatch:
        row = self._gallery.row_of(doc.id)
        excluded = None if doc.include_itself else row
        of_training = self._gallery.of_training and self.model is not None
        if row is None or doc.view not in (None, self.in_view):
            batch = self._query_from_mixtures(self._training_mixture(doc), doc.view)
        else:
            mixture = self._training_mixture(doc) if of_training else None
            batch = self._query_from_row(row, mixture, doc.view)
        return replace(batch, excluded_row=excluded)

    def _query_from_row(self, row: int, mixture: np.ndarray | None, view: str | None) -> QueryBatch:
        """Return a document searched as a query, by the mixture of all its views if given."""
        if self._combined is not None:
            return self._combined.from_row(self._gallery, row, mixture)
        if mixture is not None:
            return self._query_from_mixtures(mixture, view)
        return QueryBatch(self._gallery.vectors[[row]], self.in_view)

    def _training_mixture(self, doc: Doc) -> np.ndarray:
        # a number is that of a document searched, never of a training document beside them
        by_number = self._gallery.of_training
        return training_mixture(self._required_model(), doc, by_number, "those searched")

    def _required_model(self) -> Any:
        if self.model is None:
            raise ValueError(
                "This index was loaded without its model: it takes only mixtures and Doc(id) as "
                "queries. Load it with SearchIndex.load(path, model=...)."
            )
        return self.model

    # -- files -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file: vectors, ids and what it takes to compare; no pickle.

        The model is not in it (see `model.save`), only a fingerprint of its topics.

        Parameters
        ----------
        path : path
        """
        contents = IndexContents(
            model=self._fingerprint or model_fingerprint(self.model),
            metric=self.metric,
            in_view=self.in_view,
            probes=self.probes,
            n_topics=self.n_topics,
            gallery=self._gallery,
            space=self._space,
            lists=self._lists,
            combined=self._combined,
        )
        save_index(contents, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: Any = None) -> SearchIndex:
        """Read an index.

        Parameters
        ----------
        path : path
        model : fitted model, optional
            The model that the index was made with; any other is refused. Without it the index
            takes only mixtures and `Doc` as queries.

        Returns
        -------
        SearchIndex
        """
        contents = load_index(path, model)
        index = cls.__new__(cls)
        index.model = topic_model(model)
        index.metric = contents.metric
        index.in_view = contents.in_view
        index.probes = contents.probes
        index.n_jobs = None
        index.n_topics = contents.n_topics
        index._fingerprint = contents.model
        index._gallery = contents.gallery
        index._space = contents.space
        index._lists = contents.lists
        index._combined = contents.combined
        return index
