"""`SearchIndex`: documents to be searched in one view with queries in any other."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coview.models import topic_model
from coview.params import check_choice, check_int, check_n_jobs, check_real
from coview.retrieval.approximate import Lists, build_lists, nearest_in_lists
from coview.retrieval.exact import Best, nearest
from coview.retrieval.explain import Explainer
from coview.retrieval.gallery import Gallery, check_view, new_gallery, training_gallery
from coview.retrieval.query import Doc, QueryBatch, as_mixtures, read_many, read_one
from coview.retrieval.results import Hit, Results
from coview.retrieval.similarity import METRICS, Prepared, prepare
from coview.retrieval.spaces import make_space
from coview.views.container import Views
from coview.wording import plural, quoted


class SearchIndex:
    """Documents that can be searched across views by their topics.

    A query in one view is folded into the topics of the model; the documents whose mixtures are
    the most similar are its answers, whatever view they have.

    Parameters
    ----------
    model : fitted model
    in_view : str, optional
        The view in which to search: only documents that have it can be answers. By default all
        views together.
    views : Views or dict of matrices, optional
        New documents to search, folded in with `in_view` alone, so that no query has seen its
        answer in another view. By default the training documents. Documents without a term that
        the model knows are no answers to anything and are left out.
    metric : {"hellinger", "cosine", "correlation", "jensen-shannon"}, default="hellinger"
        How mixtures are compared: the inner product of their square roots; their cosine; the
        cosine after subtracting the mean mixture of the training documents, of the query's view
        from the query and of `in_view` from the answers (Wang et al., 2016); 1 minus the
        Jensen-Shannon divergence in bits.
    space : {"topic", "semantic"}, default="topic"
        Compare mixtures; or the classes that a logistic regression, one for each view, reads from
        them (the semantic space of Pereira et al., 2014).
    labels : array-like of shape (training documents,), optional
        For the semantic space: classes, with None or -1 for unlabeled documents.
    method : {"exact", "approximate"}, default="exact"
        Look at all documents, or only at those in lists near the query: much faster from a few
        hundred thousand documents on, at the price of missing some answers. The scores of
        those that are found are exact.
    probes : float, default=0.03
        The share of the lists that an approximate search goes through.
    random_state : int, default=0
        Seed of the approximate index.
    n_jobs : int or None, default=None
        Threads; None uses every core. The answers do not depend on it.

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
        metric: str = "hellinger",
        space: str = "topic",
        labels: Any = None,
        method: str = "exact",
        probes: float = 0.03,
        random_state: int = 0,
        n_jobs: int | None = None,
    ):
        check_choice("metric", metric, METRICS)
        check_choice("space", space, ["topic", "semantic"])
        check_choice("method", method, ["exact", "approximate"])
        check_real("probes", probes, 0.0, 1.0)
        check_int("random_state", random_state, 0)
        check_n_jobs(n_jobs)
        model = topic_model(model)  # a classifier's model
        check_is_fitted(model)
        check_view(model, in_view)
        found = make_space(model, space, labels, metric)
        if views is None:
            gallery = training_gallery(model, in_view, found)
        else:
            gallery = new_gallery(model, in_view, views, found)
        self.model = model
        self.metric = metric
        self.in_view = in_view
        self.probes = probes
        self.n_jobs = n_jobs
        self.n_topics = model.doc_topic_.shape[1]
        self._gallery = gallery
        self._space = found
        self._lists: Lists | None = None
        self._fingerprint: str | None = None
        if method == "approximate":
            self._make_lists(random_state)

    def _make_lists(self, seed: int) -> None:
        gallery = self._gallery
        any_query = self._prepared(gallery.vectors[:1], None)
        form, center = any_query.form, any_query.center
        self._lists, order = build_lists(
            gallery.vectors, gallery.rows, form, center, seed, self.n_jobs
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
        """Number of documents that can be answers."""
        return len(self._gallery.rows)

    def __repr__(self) -> str:
        noun = "training document" if self._gallery.of_training else "document"
        where = "all views" if self.in_view is None else f"view {quoted(self.in_view)}"
        space = "" if self.space == "topic" else f", {len(self._space.classes)} classes"
        return (
            f"SearchIndex({plural(len(self), noun)} in {where}, {self.n_topics} topics{space}, "
            f"metric={self.metric!r}, method={self.method!r})"
        )

    # -- questions -------------------------------------------------------------------------

    def query(self, query: Any, top: int = 10, *, explain: bool = False) -> Results:
        """The documents most similar to one query.

        Parameters
        ----------
        query : dict, str, Views, matrix of one row, mixture or Doc
            By view, something raw or a row of counts: ``{"en": "a text"}``,
            ``{"image": Path("cat.png")}``, ``{"words": [0, 2, 1]}``; the text alone if the model
            reads one kind of text. Or an array (topics,) as `transform` gives. Or
            ``Doc("some id")``: a document that is known, which is then not among the answers.
        top : int, default=10
            Number of answers; all if there are fewer.
        explain : bool, default=False
            Whether to say what made each score (`Hit.explanation`).

        Returns
        -------
        Results
            Equal scores come in the order of the documents.
        """
        check_int("top", top, 1)
        asked = self._ask_one(query)
        prepared = self._prepared(asked.vectors, asked.view)
        scores, rows = self._best(prepared, top + (asked.itself is not None))
        others = rows[0] != (-1 if asked.itself is None else asked.itself)
        pairs = list(zip(scores[0][others], rows[0][others], strict=True))[:top]
        return Results(
            [
                Hit(
                    rank + 1,
                    int(self._gallery.position(row)),
                    self._gallery.id(row),
                    float(score),
                    self._reasons(asked, prepared, row) if explain else None,
                )
                for rank, (score, row) in enumerate(pairs)
            ]
        )

    def query_many(
        self, queries: Any, top: int = 10, *, view: str | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The documents most similar to each of many queries.

        Parameters
        ----------
        queries : Views, dict of matrices or of lists of raw documents, or ndarray of mixtures
            Mixtures have the shape (queries, topics), as from `transform`.
        top : int, default=10
        view : str, optional
            The view that mixtures were folded in with; matters to "correlation" and in semantic
            space. By default all views together.

        Returns
        -------
        positions, scores : ndarrays of shape (queries, top)
            Numbers of documents and scores, the best first; fewer columns if fewer documents
            are searched.
        """
        check_int("top", top, 1)
        asked = self._ask_many(queries, view)
        scores, rows = self._best(self._prepared(asked.vectors, asked.view), top)
        return self._gallery.position(rows), scores

    def _best(self, prepared: Prepared, top: int) -> Best:
        gallery = self._gallery
        if self._lists is None:
            return nearest(gallery.vectors, gallery.rows, prepared, top, self.n_jobs)
        scores, rows = nearest_in_lists(
            self._lists, gallery.vectors, prepared, top, self.probes, self.n_jobs
        )
        # equal scores in the order of the documents, not of the lists
        order = np.lexsort((gallery.position(rows), -scores))
        return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)

    def _prepared(self, vectors: np.ndarray, view: str | None) -> Prepared:
        width, dtype = self._gallery.vectors.shape[1], self._gallery.vectors.dtype
        own = self._space.center(view, width, np.float64)
        return prepare(self.metric, vectors, own, self._space.center(self.in_view, width, dtype))

    # -- reading them ----------------------------------------------------------------------

    def _ask_one(self, query: Any) -> QueryBatch:
        if isinstance(query, Doc):
            return self._ask_document(query)
        mixtures = as_mixtures(query, self.n_topics, self.model)
        if mixtures is not None:
            if len(mixtures) != 1:
                raise ValueError(
                    f"A query is one mixture; got {len(mixtures):,}. Use query_many for several."
                )
            return self._ask_mixtures(mixtures, None)
        return self._ask_views(read_one(self._known_model(), query))

    def _ask_many(self, queries: Any, view: str | None) -> QueryBatch:
        mixtures = as_mixtures(queries, self.n_topics, self.model)
        if mixtures is not None:
            return self._ask_mixtures(mixtures, view)
        if view is not None:
            raise ValueError("view is for an array of mixtures; documents name their views.")
        return self._ask_views(read_many(self._known_model(), queries))

    def _ask_mixtures(self, mixtures: np.ndarray, view: str | None) -> QueryBatch:
        if self.model is not None:
            check_view(self.model, view)
        return QueryBatch(self._space.vectors(mixtures, view), view, mixtures)

    def _ask_views(self, views: Views) -> QueryBatch:
        mixtures = np.asarray(self._known_model().transform(views))
        view = views.names[0] if len(views.names) == 1 else None
        return QueryBatch(self._space.vectors(mixtures, view), view, mixtures, views)

    def _ask_document(self, doc: Doc) -> QueryBatch:
        row = self._gallery.row_of(doc.id)
        itself = None if doc.include_itself else row
        of_training = self._gallery.of_training and self.model is not None
        if row is not None and not of_training and doc.view in (None, self.in_view):
            return QueryBatch(self._gallery.vectors[[row]], self.in_view, itself=itself)
        mixture = self._training_mixture(doc)
        return QueryBatch(self._space.vectors(mixture, doc.view), doc.view, mixture, itself=itself)

    def _training_mixture(self, doc: Doc) -> np.ndarray:
        model = self._known_model()
        check_view(model, doc.view)
        documents = Gallery(model.doc_topic_, np.arange(0), ids=model.doc_ids_)
        row = documents.row_of(doc.id)
        # a number is that of a document searched, never of another one
        if row is None or not (self._gallery.of_training or isinstance(doc.id, str)):
            known = "" if documents.ids is not None else " (the training documents have no ids)"
            raise ValueError(f"There is no document {doc.id!r} among those searched{known}.")
        if doc.view is None:
            return model.doc_topic_[[row]]
        if not model.present_[row, model.view_names_.index(doc.view)]:
            raise ValueError(f"Document {doc.id!r} has no view {quoted(doc.view)} to ask with.")
        return model.view_doc_topic_[doc.view][[row]]

    def _known_model(self) -> Any:
        if self.model is None:
            raise ValueError(
                "This index was loaded without its model: it can be asked with mixtures and with "
                "Doc(id) alone. Load it with SearchIndex.load(path, model=...)."
            )
        return self.model

    # -- reasons ---------------------------------------------------------------------------

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self._known_model(), self._space, self.in_view)

    def _reasons(self, asked: QueryBatch, prepared: Prepared, row: int):
        gallery = self._gallery
        there = None if gallery.views is None else (gallery.views, gallery.position(row))
        return self._explainer.reasons(asked, prepared, gallery.vectors[row], there)

    # -- files -----------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file: vectors, ids and what it takes to compare; no pickle.

        The model is not in it (see `model.save`), only a fingerprint of its topics.
        """
        from coview.retrieval.files import save_index

        save_index(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: Any = None) -> SearchIndex:
        """Read an index.

        Parameters
        ----------
        path : path
        model : fitted model, optional
            The model that the index was made with; any other is refused. Without it the index
            can be asked with mixtures and `Doc` alone.
        """
        from coview.retrieval.files import load_index

        return load_index(cls, path, model)


def search(
    model: Any,
    query: Any,
    *,
    in_view: str | None = None,
    top: int = 10,
    views: Any = None,
    metric: str = "hellinger",
    space: str = "topic",
    labels: Any = None,
    explain: bool = False,
) -> Results:
    """The documents most similar to a query, across views, in one call.

    For many queries to the same documents make a `SearchIndex` once. The parameters are those of
    `SearchIndex` and of its method `query`.

    Examples
    --------
    >>> from coview import LinkPLSA, Views
    >>> views = Views(
    ...     {"words": [[4, 2, 0], [3, 3, 1], [0, 0, 5]], "links": [[2, 0], [3, 0], [0, 4]]},
    ...     ids=["ball", "goal", "vote"],
    ... )
    >>> model = LinkPLSA(n_components=2, random_state=0).fit(views)
    >>> search(model, {"words": [0, 0, 3]}, in_view="links", top=1).ids
    ['vote']
    """
    options = {"metric": metric, "space": space, "labels": labels}
    index = SearchIndex(model, in_view=in_view, views=views, **options)
    return index.query(query, top, explain=explain)
