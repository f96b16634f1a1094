"""What the topics of a fitted model are called, and their words: part of every model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

LONGEST_TITLE = 200  # characters of a title that are kept


def topic_columns(n_topics: int) -> list[str]:
    """Return the names of columns with the shares of topics, the same everywhere.

    >>> topic_columns(2)
    ['topic_0', 'topic_1']
    """
    return [f"topic_{z}" for z in range(n_topics)]


class TopTermsMixin:
    """The words of the topics of a model, or of the classes of a classifier."""

    def top_terms(self, n_terms: int = 10, *, as_frame: bool = False) -> Any:
        """Return the first terms of each topic, by view.

        Terms are ranked by how well they tell the documents of a topic from the others. Those
        behind which too few documents stand are left out: see :func:`coview.top_terms`.

        Parameters
        ----------
        n_terms : int, default=10
            Number of terms of each topic and view; fewer if there is evidence for fewer.
        as_frame : bool, default=False
            Whether to return a pandas DataFrame.

        Returns
        -------
        dict of list of list of str, or DataFrame
            For each view and topic the names of the terms; their numbers if they have no names. It
            prints as a table. A DataFrame has a row for each of them, with the columns ``topic``
            (its number), ``name`` (where topics have names), ``view``, ``rank`` (from 1), ``term``
            and ``probability``.

        Examples
        --------
        >>> from coview import LinkPLSA, Views
        >>> views = Views.from_texts({
        ...     "en": ["goal team ball", "team goal", "salt garlic", "garlic onion salt"],
        ...     "de": ["tor spiel", "tor", "salz", None],
        ... })
        >>> print(LinkPLSA(2, random_state=0).fit(views).top_terms(2))
        topic  en           de
            0  goal team    tor spiel
            1  garlic salt  salz
        """
        from coview.reporting import terms_frame, top_terms

        check_is_fitted(self)
        return (terms_frame if as_frame else top_terms)(self, n_terms)

    def keep_search(self, X: Any, *, titles: Sequence[str] | None = None) -> Self:
        """Keep in the model what a search of its training documents needs; return the model.

        The counts of the documents, which terms of one view call for which of another, and how
        much each kind of evidence counts. No texts are kept. `coview fit` does it by itself.

        Parameters
        ----------
        X : Views, or as in `fit`
            The documents that the model was fitted to.
        titles : sequence of str, optional
            What the documents are called where they are found; the first 200 characters are kept.

        Returns
        -------
        self
            With the attribute `search_` (`coview.retrieval.SearchEvidence`), in a classifier that
            of its `estimator_`. A refit and `partial_fit` drop it.

        Examples
        --------
        >>> import coview
        >>> views = coview.Views({"words": [[4, 2, 0], [3, 3, 1]], "links": [[2, 0], [3, 1]]})
        >>> model = coview.LinkPLSA(2, random_state=0).fit(views).keep_search(views)
        >>> coview.search(model, {"words": [0, 0, 2]}, in_view="links", top=1)[0].position
        1
        """
        from coview.captions import check_titles
        from coview.models import topic_model
        from coview.retrieval.gallery import check_training_views
        from coview.retrieval.learning import learn_evidence

        check_is_fitted(self)
        model = topic_model(self)
        titles = check_titles(titles, len(model.doc_topic_))
        titles = titles and [title[:LONGEST_TITLE] for title in titles]
        counts = model.as_counts(check_training_views(model, X))
        model.search_ = learn_evidence(model, counts, titles=titles, n_jobs=model.n_jobs)
        return self

    def translate(self, term: str, view: str, to: str, *, top: int = 10) -> Any:
        """Return the terms of another view that a term calls for, the most probable first.

        Parameters
        ----------
        term : str
        view, to : str
            The view of the term, and that of its translations.
        top : int, default=10

        Returns
        -------
        Translations
            A sequence of (term, probability), with the number of documents that it was learned
            from.
        """
        from coview.retrieval.dictionary import translate

        check_is_fitted(self)
        return translate(self, term, view, to, top)

    def predict_terms(
        self,
        X: Any,
        *,
        in_view: str,
        top: int = 10,
        skip_known: bool = True,
        trust: float | str = "auto",
        as_frame: bool = False,
    ) -> Any:
        """Predict the terms that documents have in a view, from their other views.

        p(w|d) = sum_z p(z|d) p(w|z), with the mixture of all views that are given, as far as it
        can be trusted (`trust`): see :mod:`coview.annotation` for what it is in each model. After
        `keep_search` half of it is what the terms that are given call for: see `translate`.

        Parameters
        ----------
        X : one document, or several
            One: by view something raw or a row of counts, ``{"image": Path("cat.png")}``,
            ``{"en": "a text"}``, ``{"words": [0, 2, 1]}``; a text alone if the model reads one
            kind of text; a mixture (topics,) as `transform` returns; or ``Doc("some id")``, a
            training document, by the mixture of its fit. Several: whatever `transform` takes.
        in_view : str
            The view whose terms are predicted.
        top : int, default=10
            Number of terms; fewer if fewer have any probability.
        skip_known : bool, default=True
            If a document has `in_view` itself, it helps to find the mixture like any other view;
            its terms are left out of the answer, unless this is False. To predict a view from the
            others alone, give these alone: ``views.drop("de")``. The terms of a `Doc` and of a
            mixture are not known, so none are left out.
        trust : float or "auto", default="auto"
            How far the mixture can be trusted: with less than 1 the rest of p(w|d) is the share of
            the term in all training documents. "auto": `view_reliability_` of the most reliable
            view that the document has, 1 for the best view of all. A view that says little, such
            as the pictures of wikipedia, leads to a mixture as sure of itself as any, and to words
            that are more specific than right; 1.0 gives these.
        as_frame : bool, default=False
            Whether to return a pandas DataFrame with the columns ``document``, ``rank``, ``term``
            and ``probability``.

        Returns
        -------
        PredictedTerms, or list of PredictedTerms
            The terms with their probabilities, most probable first; a list if X are several
            documents, empty (with a warning) for those of which the model knows nothing. Terms
            without names have their numbers. In a view of scaled measurements (see `scaling`) a
            probability is the share of a feature in the sum of all.

        Examples
        --------
        >>> from coview import LinkPLSA, Views
        >>> views = Views.from_texts({
        ...     "en": ["goal team ball", "team goal", "salt garlic", "garlic onion salt"],
        ...     "de": ["tor spiel", "tor", "salz", None],
        ... })
        >>> model = LinkPLSA(2, random_state=0).fit(views)
        >>> model.predict_terms({"en": "a goal for the team"}, in_view="de", top=2).terms
        ['tor', 'spiel']
        >>> model.predict_terms(views[[3]].select("en"), in_view="de", top=1)[0].terms
        ['salz']
        """
        from coview.annotation import predict_terms

        return predict_terms(
            self,
            X,
            in_view=in_view,
            top=top,
            skip_known=skip_known,
            trust=trust,
            as_frame=as_frame,
        )

    def _repr_html_(self) -> str:
        """Return the topics as a table; scikit-learn's diagram before a fit."""
        from sklearn.exceptions import NotFittedError
        from sklearn.utils import estimator_html_repr
        from sklearn.utils.validation import check_is_fitted

        from coview.model_repr import describe_model

        try:
            check_is_fitted(self)
        except NotFittedError:
            return estimator_html_repr(self)
        return describe_model(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        # notebooks ask for it first, and scikit-learn's has the diagram
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def explore(
        self,
        views: Any,
        path: str | PathLike[str] | None = None,
        *,
        texts: Any = None,
        titles: Sequence[str] | None = None,
        pictures: Mapping[str, Sequence[Any]] | None = None,
        title: str | None = None,
        umap: bool = False,
        report: Any = None,
        random_state: Any = 0,
    ) -> Any:
        """Make the explorer: one page, offline, with topics, documents, search and their map.

        The page has no access to any network, and holds the documents: whoever has the file can
        read them.

        Parameters
        ----------
        views : Views, or as in `transform`
            The documents that were fitted, or others, with some or all of the model's views.
        path : path, optional
            Where to write the page. Without it a notebook shows it.
        texts : dict of list of str, or DataFrame, optional
            The raw texts of views made from texts, of which the page shows the beginnings. Without
            them it shows the words of a document.
        titles : sequence of str, optional
            A title of each document; by default its id.
        pictures : dict of list of (path, array, data URI or None), optional
            By view, the picture of each document, of which the page shows a small copy.
        title : str, optional
            The title of the page.
        umap : bool, default=False
            Whether to add a second layout of the documents by UMAP (the package umap-learn).
        report : Report, optional
            Of :func:`coview.report` for these documents, if it was made already.
        random_state : int, Generator, RandomState or None, default=0
            For the report.

        Returns
        -------
        Path or ExplorerPage
            The file that was written; without a path the page, which has `html` and `save`.

        Examples
        --------
        >>> from coview import LinkPLSA
        >>> from coview.datasets import make_views
        >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
        >>> LinkPLSA(3, random_state=0).fit(views).explore(views)
        <ExplorerPage: 60 documents, 3 topics>
        """
        from coview.explorer.explore import explore

        return explore(
            self,
            views,
            path,
            texts=texts,
            titles=titles,
            pictures=pictures,
            title=title,
            umap=umap,
            report=report,
            random_state=random_state,
        )


class TopicsMixin(TopTermsMixin):
    """The words of the topics, and the names of what `transform` returns."""

    _n_features_out: int

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that `transform` returns: topic_0, topic_1, ...

        Parameters
        ----------
        input_features : ignored
        """
        check_is_fitted(self)
        return np.array(topic_columns(self._n_features_out), dtype=object)

    def with_topics(self, curation: Any) -> Self:
        """Return a copy of the model with curated topics: named, merged, hidden.

        The explorer writes a curation as JSON. Names are shown wherever topics are; merged topics
        become one, whose share of a document is the sum of theirs; hidden ones stay in mixtures,
        and lists of topics leave them out. All is kept in the model file, and by a refit that
        starts from the model (``init=model``).

        Parameters
        ----------
        curation : dict, JSON or path
            Of this model: that of another is refused.

        Returns
        -------
        model

        Examples
        --------
        >>> from coview import PLSA, Views
        >>> views = Views([[6, 2, 0], [5, 1, 0], [0, 0, 5]], features=["ball", "goal", "vote"])
        >>> model = PLSA(n_components=3, random_state=0).fit(views)
        >>> curation = {
        ...     "coview_curation": 1,
        ...     "model": model.fingerprint(),
        ...     "names": {"0": "all"},
        ...     "merge": [[0, 1]],
        ... }
        >>> model.with_topics(curation).topic_names_
        ['all', None]
        """
        from coview.curation import with_topics

        return with_topics(self, curation)

    def at_level(self, n_topics: int) -> Self:
        """Return the model with the topics of a level of its tree: see `topic_tree_`.

        Each of its topics is the sum of fine topics, in all views: its share of a training document
        is the sum of their shares, its words are those of all their expected counts. It is a model
        as any other: `transform`, `predict`, search, reports and files work. New documents are
        folded in under its own topics, which fits them best; the sum of the shares that the fine
        model gives them is nearly the same, not exactly.

        Parameters
        ----------
        n_topics : int
            How many topics the level has: one of ``topic_tree_.levels``.

        Returns
        -------
        model
            With the levels that are coarser still, if there are any, as its own tree.

        Examples
        --------
        >>> import coview
        >>> from coview.datasets import make_views
        >>> views = make_views(300, 9, [60, 60], random_state=0)
        >>> model = coview.LinkPLSA(9, random_state=0).fit(views)
        >>> model.topic_tree_ = coview.topic_tree(model, views, levels=4)
        >>> coarse = model.at_level(4)
        >>> coarse.n_components, coarse.doc_topic_.shape
        (4, (300, 4))
        """
        from coview.tree import at_level

        check_is_fitted(self)
        return at_level(self, n_topics)

    def fingerprint(self) -> str:
        """Return a hash of the topics, by which a curation knows its model."""
        from coview.retrieval.files import model_fingerprint

        check_is_fitted(self)
        return model_fingerprint(self)
