"""`SearchIndex`: search documents in one view with queries in any other."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.documents import unknown_words
from coview.models import fitted_model, topic_model
from coview.params import check_choice, check_int, check_n_jobs
from coview.retrieval.evidence import SearchEvidence
from coview.retrieval.exact import ScoresAndRows, nearest
from coview.retrieval.explain import Explainer
from coview.retrieval.files import IndexContents, load_index, model_fingerprint, save_index
from coview.retrieval.gallery import (
    check_training_views,
    check_view,
    kept_documents,
    known_ids,
    new_documents,
    new_gallery,
    training_gallery,
    training_mixture,
)
from coview.retrieval.learning import learn_evidence, untrained
from coview.retrieval.query import Doc, QueryBatch, as_mixtures, read_many, read_one
from coview.retrieval.ranking import EvidenceRanking
from coview.retrieval.results import Hit, Reason, SearchResults
from coview.retrieval.similarity import EVIDENCE, PreparedQueries, choose_metric, prepare_queries
from coview.retrieval.spaces import make_space
from coview.views.container import Views
from coview.wording import plural, quoted


class SearchIndex:
    """Documents that can be searched across views by their terms and topics.

    Terms of the query that a document has by name, terms that it has in other words (a table says
    which terms of one view call for which of the other), topics, and a linear map between views:
    each is evidence, and how much it counts was learned from documents that were held back
    (`coview.retrieval.evidence`).

    Parameters
    ----------
    model : fitted model or TopicClassifier
    in_view : str, optional
        The view to search: only documents that have it can be answers. By default all views
        together.
    views : Views or dict of matrices, optional
        New documents to search. By default the training documents. Documents without a term that
        the model knows are never answers.
    training_views : Views or dict of matrices, optional
        The documents that the model was fitted to, where it does not keep them itself
        (`model.keep_search`): searched are these, and what counts how much is learned from them,
        also where new documents are searched (`views`).
    metric : str, optional
        How documents are compared; larger is more similar, and no score is above 1. By default
        "evidence" where the terms of the documents searched are known; else "hellinger", and in
        semantic space "correlation". With mixtures q and g:

        - "evidence": the probability that the document is the one asked for, from all evidence;
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
    n_jobs : int or None, default=None
        Threads; None uses every core. The answers do not depend on it.

    Attributes
    ----------
    model : fitted model or None
        None in an index that was loaded without its model.
    metric, in_view, n_jobs
        As given.
    n_topics : int
    evidence : SearchEvidence or None
        What counts how much; None with other metrics.

    Examples
    --------
    >>> from coview import LinkPLSA, Views
    >>> views = Views(
    ...     {"words": [[4, 2, 0], [3, 3, 1], [0, 0, 5]], "links": [[2, 0], [3, 0], [0, 4]]},
    ...     ids=["ball", "goal", "vote"],
    ... )
    >>> model = LinkPLSA(n_components=2, random_state=0).fit(views)
    >>> index = SearchIndex(model, in_view="links", training_views=views)
    >>> index
    SearchIndex(3 training documents in view 'links', 2 topics, metric='evidence')
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
        n_jobs: int | None = None,
    ):
        check_choice("space", space, ["topic", "semantic"])
        check_n_jobs(n_jobs)
        model = fitted_model(model)
        check_view(model, in_view)
        kept: SearchEvidence | None = getattr(model, "search_", None)
        has_counts = kept is not None and bool(kept.counts)
        known = views is not None or training_views is not None or has_counts
        metric = choose_metric(metric, space, known)
        self.model = model
        self.metric = metric
        self.in_view = in_view
        self.n_jobs = n_jobs
        self.n_topics = model.doc_topic_.shape[1]
        self._fingerprint: str | None = None  # of the model, once it is known
        training = None
        if training_views is not None:
            training = check_training_views(model, training_views)
        self._ranking: EvidenceRanking | None = None
        self._space = make_space(model, space, labels, metric, training)
        if metric == EVIDENCE:
            self._set_evidence(kept, views, training)
        elif views is None:
            self._gallery = training_gallery(model, in_view, self._space, training)
        else:
            self._gallery = new_gallery(model, in_view, views, self._space)

    def _set_evidence(
        self, kept: SearchEvidence | None, views: Any, training: Views | None
    ) -> None:
        """Set the documents that are searched, and what they are compared by."""
        counts = None if training is None else self.model.as_counts(training)
        if counts is not None:
            kept = learn_evidence(self.model, counts, n_jobs=self.n_jobs)
        if views is not None:
            self._gallery, searched = new_documents(self.model, self.in_view, views)
            kept = kept or untrained(self.model)
        else:
            assert kept is not None
            self._gallery, searched = kept_documents(self.model, self.in_view, kept.counts)
        self._ranking = EvidenceRanking(self.model, kept, searched)

    @property
    def evidence(self) -> SearchEvidence | None:
        return None if self._ranking is None else self._ranking.evidence

    @property
    def space(self) -> str:
        """ "topic" or "semantic"."""
        return self._space.name

    def __len__(self) -> int:
        """Return the number of documents that can be answers."""
        return len(self._gallery.rows)

    def __repr__(self) -> str:
        noun = "training document" if self._gallery.of_training else "document"
        where = "all views" if self.in_view is None else f"view {quoted(self.in_view)}"
        space = "" if self.space == "topic" else f", {len(self._space.classes)} classes"
        return (
            f"SearchIndex({plural(len(self), noun)} in {where}, {self.n_topics} topics{space}, "
            f"metric={self.metric!r})"
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
        excluded = -1 if batch.excluded_row is None else batch.excluded_row
        scores, rows = self._best(batch, top + (excluded >= 0))
        kept = rows[0] != excluded
        pairs = list(zip(scores[0][kept], rows[0][kept], strict=True))[:top]
        return SearchResults(
            [
                Hit(
                    rank + 1,
                    int(self._gallery.position(row)),
                    self._gallery.id(row),
                    float(score),
                    self._reasons(batch, int(row)) if explain else None,
                    self._title(row),
                )
                for rank, (score, row) in enumerate(pairs)
            ],
            None if self.model is None else unknown_words(self.model, query, one=True),
        )

    def query_many(
        self, queries: Any, top: int = 10, *, view: str | None = None, as_frame: bool = False
    ) -> Any:
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
        as_frame : bool, default=False
            Whether to return a pandas DataFrame with the columns query, rank, position, id, title
            and score instead.

        Returns
        -------
        positions, scores : ndarrays of shape (queries, top)
            Numbers of documents and scores, best first; fewer columns if fewer documents are
            searched.
        """
        if as_frame:
            from coview.extras import need_pandas

            frame = need_pandas("take arrays (as_frame=False)").DataFrame
            columns = ["query", "rank", "position", "id", "title", "score"]
            return frame(self.query_rows(queries, top, view=view), columns=columns)
        check_int("top", top, 1)
        scores, rows = self._best(self._read_queries(queries, view), top)
        return self._gallery.position(rows), scores

    def query_rows(
        self, queries: Any, top: int = 10, *, view: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the answers to many queries as one dict each, of values that JSON takes.

        Parameters
        ----------
        queries, top, view
            As in `query_many`.

        Returns
        -------
        list of dict
            With query (its number from 0), rank, position, id, title and score.
        """
        check_int("top", top, 1)
        scores, rows = self._best(self._read_queries(queries, view), top)
        return [
            {
                "query": q,
                "rank": rank,
                "position": int(self._gallery.position(row)),
                "id": self._gallery.id(row),
                "title": self._title(row),
                "score": float(score),
            }
            for q, (own, best) in enumerate(zip(rows, scores, strict=True))
            for rank, (row, score) in enumerate(zip(own, best, strict=True), 1)
        ]

    def _title(self, row: int) -> str | None:
        titles = None if self.evidence is None else self.evidence.titles
        if titles is None or not self._gallery.of_training:
            return None
        return str(titles[self._gallery.position(row)]) or None

    def _best(self, batch: QueryBatch, top: int) -> ScoresAndRows:
        if self._ranking is not None:
            positions = self._gallery.position(np.arange(len(self)))
            return self._ranking.best(batch.asked, top, positions, self.n_jobs)
        gallery, prepared = self._gallery, self._prepare(batch)
        scores, rows = nearest(gallery.vectors, gallery.rows, prepared, top, self.n_jobs)
        # the sum of a mixture in single precision may be a little more than 1
        return np.minimum(scores, 1.0), rows

    def _prepare(self, batch: QueryBatch) -> PreparedQueries:
        width, dtype = self._gallery.vectors.shape[1], self._gallery.vectors.dtype
        query_center = self._space.center(batch.view, width, np.float64)
        center = self._space.center(self.in_view, width, dtype)
        return prepare_queries(self.metric, batch.vectors, query_center, center)

    def _reasons(self, query: QueryBatch, row: int) -> list[Reason]:
        if self._ranking is not None:
            return self._ranking.reasons(query.asked[0], row)
        return self._explainer.reasons(query, self._prepare(query), self._gallery, row)

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self._required_model(), self._space, self.in_view)

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
        if self._ranking is not None:
            return QueryBatch(view=view, asked=self._ranking.read_mixtures(mixtures))
        return QueryBatch(self._space.vectors(mixtures, view), view, mixtures)

    def _query_from_views(self, views: Views) -> QueryBatch:
        model = self._required_model()
        view = views.names[0] if len(views.names) == 1 else None
        if self._ranking is not None:
            return self._query_from_counts(model.as_counts(views))
        mixtures = model.fold_in(views).doc_topic
        return QueryBatch(self._space.vectors(mixtures, view), view, mixtures, views)

    def _query_from_counts(self, counts: dict[str, sp.csr_array]) -> QueryBatch:
        assert self._ranking is not None
        asked = self._ranking.read(counts)
        if not all(asked):
            raise ValueError(
                "A query has no term that occurred in the documents that are compared: use others."
            )
        return QueryBatch(asked=asked)

    def _query_from_document(self, doc: Doc) -> QueryBatch:
        row = self._gallery.row_of(doc.id)
        excluded = None if doc.include_itself else row
        if self._ranking is not None:
            counts = self._counts_of(doc, row)
            batch = (
                self._query_from_mixtures(self._training_mixture(doc), doc.view)
                if counts is None
                else self._query_from_counts(counts)
            )
        else:
            batch = self._query_from_topics(doc, row)
        return replace(batch, excluded_row=excluded)

    def _query_from_topics(self, doc: Doc, row: int | None) -> QueryBatch:
        of_training = self._gallery.of_training and self.model is not None
        if of_training or row is None or doc.view not in (None, self.in_view):
            return self._query_from_mixtures(self._training_mixture(doc), doc.view)
        return QueryBatch(self._gallery.vectors[[row]], self.in_view)

    def _counts_of(self, doc: Doc, row: int | None) -> dict[str, sp.csr_array] | None:
        """Return the counts of a known document: all of its views, or the one that is named."""
        assert self._ranking is not None
        check_view(self.model, doc.view)
        counts = self._ranking.evidence.counts if self._gallery.of_training else {}
        if counts:
            documents = self._gallery if row is not None else known_ids(self.model)
            at = row if row is not None else documents.row_of(doc.id)
            number = None if at is None else int(documents.position(at))
        else:
            counts, number = dict(self._ranking.counts), row
        if number is None:
            return None
        wanted = [v for v in counts if doc.view in (None, v) and counts[v][[number]].nnz]
        if not wanted and doc.view is not None:
            raise ValueError(f"Document {doc.id!r} has no view {quoted(doc.view)} to search with.")
        return {v: sp.csr_array(counts[v][[number]]) for v in wanted} or None

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
        """Write the index to one file: vectors or counts, ids and what it takes to compare.

        The model is not in it (see `model.save`), only a fingerprint of its topics.

        Parameters
        ----------
        path : path
        """
        own = self.evidence if self.evidence is not getattr(self.model, "search_", None) else None
        contents = IndexContents(
            model=self._fingerprint or model_fingerprint(self.model),
            metric=self.metric,
            in_view=self.in_view,
            n_topics=self.n_topics,
            gallery=self._gallery,
            space=self._space,
            counts={} if self._ranking is None else dict(self._ranking.counts),
            evidence=own and (own if self._gallery.of_training else own.without_documents()),
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
            takes only mixtures and `Doc` as queries; an index of "evidence" needs it.

        Returns
        -------
        SearchIndex
        """
        contents = load_index(path, model)
        index = cls.__new__(cls)
        index.model = topic_model(model)
        index.metric = contents.metric
        index.in_view = contents.in_view
        index.n_jobs = None
        index.n_topics = contents.n_topics
        index._fingerprint = contents.model
        index._gallery = contents.gallery
        index._space = contents.space
        index._ranking = None
        if contents.metric == EVIDENCE:
            evidence = contents.evidence or index.model.search_
            index._ranking = EvidenceRanking(index.model, evidence, contents.counts)
        return index
