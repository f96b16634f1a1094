"""`search`: make an index and ask it, in one call."""

from __future__ import annotations

from typing import Any

from coview.retrieval.index import SearchIndex
from coview.retrieval.results import SearchResults


def search(
    model: Any,
    query: Any,
    *,
    in_view: str | None = None,
    top: int = 10,
    views: Any = None,
    training_views: Any = None,
    metric: str | None = None,
    space: str = "topic",
    labels: Any = None,
    explain: bool = False,
) -> SearchResults:
    """Return the documents most similar to a query, across views, in one call.

    For many queries to the same documents make a `SearchIndex` once.

    Parameters
    ----------
    model : fitted model or TopicClassifier
    query : dict, str, Views, matrix of one row, mixture or Doc
        As in `SearchIndex.query`.
    in_view : str, optional
        The view to search; by default all views together.
    top : int, default=10
        Number of answers.
    views : Views or dict of matrices, optional
        New documents to search; by default the training documents.
    training_views : Views or dict of matrices, optional
        The documents that the model was fitted to, where it does not keep them itself.
    metric : {"evidence", "hellinger", "cosine", "correlation", "jensen-shannon"}, optional
        How documents are compared; by default by all evidence where their terms are known: see
        `SearchIndex`.
    space : {"topic", "semantic"}, default="topic"
        Compare mixtures of topics, or class posteriors.
    labels : array-like of shape (training documents,), optional
        Classes for the semantic space; None or -1 for unlabeled documents.
    explain : bool, default=False
        Whether to give the reasons for each score (`Hit.explanation`).

    Returns
    -------
    SearchResults
        Best answers first.

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
    index = SearchIndex(
        model,
        in_view=in_view,
        views=views,
        training_views=training_views,
        metric=metric,
        space=space,
        labels=labels,
    )
    return index.query(query, top, explain=explain)
