"""The words of the topics of a fitted model: `top_terms`, `summarize_topics`, and their ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from coview.extras import need_pandas
from coview.models import fitted_model
from coview.params import check_int
from coview.term_names import shown_term
from coview.wording import plural, printable

NEGLIGIBLE = 1e-4  # of the first term of a topic
ENOUGH = 3.0  # documents behind a term: then 95 % (1 - exp(-3)) of tables like this one have it
SMALL = 0.1  # of the largest topic is enough where that is less
ROUNDING = 0.01  # of a document: p(z|d) is hardly ever quite 1


class TopTerms(dict[str, list[list[str]]]):
    """The first terms of each topic by view: a dict of lists, which prints as a table.

    Parameters
    ----------
    terms : dict of list of list of str
    names : list of (str or None)
        The names of the topics.
    documents : dict of list of (int, int)
        For each view and topic how many documents have the view, and how many there are.
    """

    def __init__(
        self,
        terms: Mapping[str, list[list[str]]],
        names: Sequence[str | None],
        documents: Mapping[str, Sequence[tuple[int, int]]],
    ):
        super().__init__(terms)
        self._names, self._documents = list(names), dict(documents)

    def __reduce__(self) -> tuple[Any, ...]:
        return TopTerms, (dict(self), self._names, self._documents)

    def __str__(self) -> str:
        named = any(self._names)
        head = ["topic", *(["name"] if named else []), *(printable(view, 30) for view in self)]
        rows = [head]
        for z, name in enumerate(self._names):
            shown = {v: [printable(term, 40) for term in topics[z]] for v, topics in self.items()}
            words = [words_or_dash(shown[v], *self._documents[v][z]) for v in self]
            own = [printable(name or "", 40)] if named else []
            rows.append([str(z), *own, *words])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        first = [row[0].rjust(widths[0]) for row in rows]
        rest = [[c.ljust(w) for c, w in zip(row[1:], widths[1:], strict=True)] for row in rows]
        return "\n".join("  ".join([a, *b]).rstrip() for a, b in zip(first, rest, strict=True))


def top_terms(model: Any, n_terms: int = 10) -> TopTerms:
    """Return the first terms of each topic, by view.

    Terms are ranked by how well they tell the documents of a topic from the others, and are
    shown where enough documents stand behind them: see `term_scores`.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    n_terms : int, default=10
        Number of terms of each topic and view; fewer if there is evidence for fewer.

    Returns
    -------
    dict of list of list of str
        For each view and topic the terms as they are shown: see `coview.term_names`. It prints as
        a table.

    Examples
    --------
    >>> from coview import PLSA, Views
    >>> views = Views([[6, 2, 0], [5, 1, 0], [0, 0, 5]], features=["ball", "goal", "vote"])
    >>> model = PLSA(n_components=2, random_state=0).fit(views)
    >>> sorted(terms[0] for terms in top_terms(model, 1)["X"])
    ['ball', 'vote']
    """
    inner = fitted_model(model)
    terms = {
        view: [[shown_term(inner, view, w) for w in best] for best in topics]
        for view, topics in best_terms(inner, n_terms).items()
    }
    return TopTerms(terms, topic_names(model), documents_with_view(inner))


def terms_frame(model: Any, n_terms: int = 10) -> Any:
    """Return the terms of `top_terms` as a pandas DataFrame: see `BaseViewsModel.top_terms`.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    n_terms
        As in `top_terms`.
    """
    inner, names = fitted_model(model), topic_names(model)
    rows = [
        {
            "topic": z,
            "name": names[z],
            "view": view,
            "rank": rank,
            "term": shown_term(inner, view, w),
            "probability": float(inner.components_[view][z, w]),
        }
        for view, topics in best_terms(inner, n_terms).items()
        for z, best in enumerate(topics)
        for rank, w in enumerate(best, 1)
    ]
    columns = ["topic", "name", "view", "rank", "term", "probability"]
    if not any(names):
        columns.remove("name")
    pandas = need_pandas("take the terms as a dict (as_frame=False)")
    frame = pandas.DataFrame(rows, columns=columns)
    return frame.sort_values(["topic", "view", "rank"], kind="stable", ignore_index=True)


# -- the one ranking -------------------------------------------------------------------------------


def best_terms(model: Any, n_terms: int) -> dict[str, list[np.ndarray]]:
    """Return the columns of the first terms that are shown, by view and topic."""
    check_int("n_terms", n_terms, 1)
    return {view: first_columns(term_scores(model, view), n_terms) for view in model.view_names_}


def first_columns(scores: np.ndarray, most: int) -> list[np.ndarray]:
    """Return the columns of the highest scores of each row, none of 0, ties by column."""
    found = []
    for row in scores:
        shown = np.flatnonzero(row)
        if most < len(shown):  # to sort all of them takes longer than all the rest
            shown = shown[row[shown] >= -np.partition(-row[shown], most - 1)[most - 1]]
        found.append(shown[np.argsort(-row[shown], kind="stable")][:most])
    return found


def term_scores(model: Any, view: str) -> np.ndarray:
    """Return what ranks the terms of a view in each topic, 0 for terms that are not shown.

    With n(w,z) documents of topic z that have the term w (`term_docs_`), N(w) documents in all and
    m documents that must stand behind a term: n(w,z) / sqrt(N(w) + m). Without m this is the cosine
    of "has the term" and "is of the topic", and the relevance of Sievert & Shirley (2014) of
    documents, not tokens, with lambda = 1/2. With it each term is counted as if m documents without
    any topic had it too, so that a handful of documents that happen to agree do not put a term
    before one that many agree on.

    Terms are shown if m = 3 documents of the topic stand behind them. Another table like this one
    then has the term in this topic with a probability of 95 % (1 - exp(-3)). Where even the largest
    topic has fewer than 30 documents, m is a tenth of these: a small table can promise less, and
    all of it is known. In a dense view each document has every feature, so there m is 0, and three
    documents of the topic must have the view.

    Parameters
    ----------
    model : fitted model
    view : str

    Returns
    -------
    ndarray of shape (topics, terms)
    """
    documents = term_documents_of(model, view).astype(np.float64)
    everywhere = documents.sum(axis=0)
    shown = documents > NEGLIGIBLE * documents.max(axis=1, keepdims=True, initial=0.0)
    if hasattr(model, "term_docs_"):  # files of earlier versions do not know
        needed, dense = documents_needed(model), view in model.dense_views_
        shown &= (model.view_docs_[view][:, None] if dense else documents) >= needed - ROUNDING
        everywhere += 0.0 if dense else needed
    scores = documents / np.sqrt(np.maximum(everywhere, np.finfo(float).tiny))
    return np.where(shown, scores, 0.0)


def term_documents_of(model: Any, view: str) -> np.ndarray:
    """Return n(w,z), (topics, terms): `term_docs_`; without it p(w|z) times the topic's share."""
    if hasattr(model, "term_docs_"):
        return model.term_docs_[view]
    shares = model.doc_topic_.sum(axis=0, dtype=np.float64)
    return shares[:, None] * model.components_[view]


def documents_needed(model: Any) -> float:
    """Return how many documents must stand behind a term that is shown: see `term_scores`."""
    largest = max(float(docs.max(initial=0.0)) for docs in model.view_docs_.values())
    return min(ENOUGH, SMALL * largest)


def documents_with_view(model: Any) -> dict[str, list[tuple[int, int]]]:
    """Return, for each view and topic, how many of the topic's documents have the view, of all.

    The documents of a topic are those whose label it is.
    """
    n_topics, labels = model.doc_topic_.shape[1], model.labels_
    every = np.bincount(labels, minlength=n_topics)
    present = getattr(model, "present_", np.ones((len(labels), len(model.view_names_)), bool))
    return {
        view: [
            (int(having), int(documents))
            for having, documents in zip(
                np.bincount(labels[has], minlength=n_topics), every, strict=True
            )
        ]
        for view, has in zip(model.view_names_, present.T, strict=True)
    }


def words_or_dash(terms: Sequence[str], having: int, documents: int) -> str:
    """Return terms in one text; without any, how many documents would stand behind them.

    The titles of codes have blanks and commas in them.

    >>> words_or_dash([], 1, 61)
    '— (1 of 61 documents has it)'
    >>> words_or_dash(["goal", "team"], 50, 61)
    'goal team'
    """
    if not terms:
        verb = "has" if having == 1 else "have"
        return f"— ({having:,} of {plural(documents, 'document')} {verb} it)"
    apart = "; " if any(": " in term for term in terms) else " "
    return apart.join(terms)


def shown_words(topic: Mapping[str, Any], views: Iterable[str]) -> list[str]:
    """Return the words of a topic of `summarize_topics` in each view, as one text each."""
    having, documents = topic["view_documents"], topic["documents"]
    return [words_or_dash(topic["terms"][view], having[view], documents) for view in views]


def first_words(by_view: Iterable[Sequence[Any]], most: int) -> list[Any]:
    """Return the words to call a topic by: those of the first view that has any."""
    return next((list(terms[:most]) for terms in by_view if terms), [])


def topic_names(model: Any) -> list[str | None]:
    """Return the name of each topic of a model or classifier, None for those without.

    Parameters
    ----------
    model : fitted model, or TopicClassifier

    Returns
    -------
    list of (str or None)
    """
    inner = fitted_model(model)
    n_topics = inner.doc_topic_.shape[1]
    unnamed = getattr(model, "classes_", [None] * n_topics)
    names = getattr(inner, "topic_names_", unnamed)  # files of earlier versions have none
    if len(names) != n_topics:
        raise ValueError(f"topic_names_ has {len(names)} names for {n_topics} topics.")
    return [None if name is None else str(name) for name in names]


def topic_stability(model: Any) -> list[float | None]:
    """Return the stability of each topic of a model as plain data, None where it is not known.

    Parameters
    ----------
    model : fitted model

    Returns
    -------
    list of (float or None)
    """
    if model.topic_stability_ is None:
        return [None] * model.doc_topic_.shape[1]
    return [None if np.isnan(s) else float(s) for s in model.topic_stability_]


def summarize_topics(
    model: Any, n_terms: int = 10, *, views: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Return the topics of a model or classifier as plain data, the largest first.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    n_terms : int, default=10
        Terms of each topic and view.
    views : sequence of str, optional
        The views to include; all by default.

    Returns
    -------
    list of dict
        ``topic`` (its number), ``name`` (None if it has none; the topics of a classifier have the
        names of their classes, others those of `seeds`: see `topic_names_`),
        ``documents`` (number of documents whose label it is), ``share`` (mean of p(z|d) over the
        documents), ``stability`` (`topic_stability_`, None where it is not known), ``terms`` by
        view and ``view_documents``, how many of its documents have each view. There are no terms
        where too few stand behind them: see `top_terms`. Where the model has a tree, ``part_of`` is
        the number of the coarser topic that it is part of, by the number of topics of the level.

    Examples
    --------
    >>> from coview import PLSA, Views
    >>> views = Views([[6, 2, 0], [5, 1, 0], [0, 0, 5]], features=["ball", "goal", "vote"])
    >>> found = summarize_topics(PLSA(n_components=2, random_state=0).fit(views), 1)
    >>> sorted((topic["documents"], topic["terms"]["X"]) for topic in found)
    [(1, ['vote']), (2, ['ball'])]
    """
    inner = fitted_model(model)
    unknown = [name for name in views or () if name not in inner.view_names_]
    if unknown:
        raise ValueError(
            f"The model has no view {', '.join(unknown)}; it has {', '.join(inner.view_names_)}."
        )
    terms, documents = top_terms(inner, n_terms), documents_with_view(inner)
    shown = list(views or inner.view_names_)
    n_topics = inner.doc_topic_.shape[1]
    sizes = np.bincount(inner.labels_, minlength=n_topics)
    shares = inner.doc_topic_.mean(axis=0, dtype=np.float64)
    names, stability = topic_names(model), topic_stability(inner)
    hidden = set(getattr(inner, "hidden_topics_", ()))  # by a curation
    return [
        {
            "topic": int(z),
            "name": names[z],
            "documents": int(sizes[z]),
            "share": float(shares[z]),
            "stability": stability[z],
            "terms": {view: terms[view][z] for view in shown},
            "view_documents": {view: documents[view][z][0] for view in shown},
            **_part_of(inner, int(z)),
        }
        for z in np.lexsort((-shares, -sizes))
        if z not in hidden
    ]


def _part_of(model: Any, topic: int) -> dict[str, dict[int, int]]:
    tree = getattr(model, "topic_tree_", None)
    if tree is None:
        return {}
    pairs = zip(tree.levels[1:], tree.members, strict=True)
    return {"part_of": {n: member[topic] for n, member in pairs}}


def term_shares(model: Any, view: str) -> np.ndarray:
    """Return p(w): the share of each term among all counts of a view in training."""
    counts = model.term_counts_[view]
    return counts / max(counts.sum(), np.finfo(float).tiny)
