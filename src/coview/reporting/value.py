"""`Report`: everything that is known of a fitted model and its documents, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from coview.captions import document_title
from coview.escaping import for_json
from coview.tree import TopicTree
from coview.wording import quoted

LISTED = 20  # documents of each list in a report without its documents
NOTICEABLE = 0.1  # loss beyond chance from which the views of a document disagree
Terms = list[tuple[str, float]]
_OF_DOCUMENTS = ("mixtures", "view_mixtures", "labels", "doc_ids", "titles", "fit")


@dataclass(frozen=True)
class ViewReport:
    """One view of a model.

    Attributes
    ----------
    name : str
    n_terms : int
    n_docs_present : int
        Documents that have it, with at least one count that the model knows.
    contribution : float
        Its share of what the topics gain over the frequencies of terms alone, in weighted
        log-likelihood; the contributions of all views sum to one. NaN without any gain.
    weight : float
        The weight of its counts in the fit.
    reliability : float or None
        How far it can be trusted (`view_reliability_`), where that was learned.
    coherence : float
        Mean coherence (NPMI) of its topics; NaN where it says nothing, as of dense measurements.
    kind : {"text", "items", "pictures", "numbers", "links"}
        What its terms are; "numbers" are dense measurements.
    n_tokens : float
        Sum of its counts, or scaled values.
    """

    name: str
    n_terms: int
    n_docs_present: int
    contribution: float
    weight: float
    reliability: float | None
    coherence: float
    kind: str
    n_tokens: float


@dataclass(frozen=True)
class TopicReport:
    """One topic of a model.

    Attributes
    ----------
    index : int
    name : str or None
    size : float
        Its expected share of the documents: the mean of p(z|d).
    n_docs : int
        Documents whose topic it is.
    terms : dict of list of (str, float)
        For each view its first terms, as in `coview.top_terms`, each with the number of documents
        of the topic that have it (`term_docs_`); none where too few do.
    view_documents : dict of (int, int)
        For each view how many of its documents in the fit have it, and how many there are.
    documents : list of (int, str or None, float)
        Documents that stand for it: row, id, and share of the topic.
    labels : dict of float
        The share of each class among its labeled documents, weighted by p(z|d), largest first.
    agreement : float
        The share of its documents, weighted by p(z|d), whose views agree: see
        `Disagreement.noticed`. NaN where fewer than three of its documents have two views.
    stability : float or None
        See `topic_stability_`.
    coherence : dict of float
        Its coherence (NPMI) in each view.
    view_share : dict of float
        How much of what sets it apart from the corpus is in each view; they sum to one.
    """

    index: int
    name: str | None
    size: float
    n_docs: int
    terms: dict[str, Terms]
    view_documents: dict[str, tuple[int, int]]
    documents: list[tuple[int, str | None, float]]
    labels: dict[str, float]
    agreement: float
    stability: float | None
    coherence: dict[str, float]
    view_share: dict[str, float]


@dataclass(frozen=True, eq=False)
class Disagreement:
    """How far the views of each document are apart; NaN for those with fewer than two.

    Attributes
    ----------
    value : ndarray of shape (documents,)
        How much of what its own topics explain of a view is lost with the topics of another view,
        each folded in alone: 0 nothing, 1 everything, more where they mislead (see
        `coview.reporting.disagreement`). Of more than two views, that of the view which differs
        most from the others. Means and pages show it between 0 and 1.
    chance : ndarray of shape (documents,)
        The same by chance: of documents drawn from the model (same lengths, one mixture for all
        views), or of two halves of one view, whichever is more.
    beyond : ndarray of shape (documents,)
        value - chance: what documents are sorted by.
    divergence : ndarray of shape (documents,)
        Jensen-Shannon divergence of the mixtures of views, in bits; the mean over pairs of views.
    by_pair : dict of (str, str) to Disagreement
        The same for each pair of views; empty for a pair itself.
    by_topic : ndarray of shape (topics,)
        The share of the documents, weighted by p(z|d), whose views disagree.
    """

    value: np.ndarray
    chance: np.ndarray
    beyond: np.ndarray
    divergence: np.ndarray
    by_pair: dict[tuple[str, str], Disagreement] = field(default_factory=dict)
    by_topic: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def noticed(self) -> np.ndarray:
        """Whether the views of each document disagree: they lose 0.1 more than by chance."""
        return self.beyond >= NOTICEABLE  # False where it is NaN


@dataclass(frozen=True)
class SearchQuality:
    """How well documents are found in one view with a query in another.

    Attributes
    ----------
    query, answer : str
        The views.
    n : int
        Documents of the sample, each a query and an answer. Where the model keeps what a search
        needs, and the documents are those of the fit, these were held back from the translations.
    first, ten : float
        Share of the queries to which the document itself is the first answer, or among the first
        ten; by chance 1 / n and 10 / n.
    median_rank : float or None
        Of the document itself, from 1; by chance (n + 1) / 2. None of documents held back.
    same_label : float or None
        Of the first ten other documents, the share that has the label of the query; None without
        labels. It tells whether topics follow the labels, not whether a document is found.
    chance_same_label : float or None
        That of a random order.
    counts : dict of float
        How much each kind of evidence (names, translation, topics, map) counts: its share of what
        makes the scores of documents differ, the largest first.
    """

    query: str
    answer: str
    n: int
    first: float
    ten: float
    median_rank: float | None
    same_label: float | None = None
    chance_same_label: float | None = None
    counts: dict[str, float] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """What counts how much when one view asks another, in a sentence."""
        named = {
            "names": "words that both have",
            "translation": "words that call for each other",
            "topics": "topics",
            "map": "a linear map",
        }
        said = [f"{named[kind]} ({share:.0%})" for kind, share in self.counts.items()]
        if not said:
            return f"Nothing tells answers in {quoted(self.answer)} to {quoted(self.query)} apart."
        listed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
        return f"{quoted(self.query)} finds {quoted(self.answer)} by {listed}."


@dataclass(frozen=True, eq=False)
class Report:
    """What a fitted model says about documents, and how far it can be trusted.

    `coview.report` makes it. All its values are plain: numbers, texts, lists, dicts and
    arrays.

    Attributes
    ----------
    model : dict
        ``class`` (``inner`` for the model in a classifier), ``n_topics``, ``n_docs``, ``n_iter``,
        ``converged``, ``objective``, ``parameters``; ``fitted_to_these`` tells whether the
        documents are those of the fit, ``n_drawn`` how many were drawn for the chance level.
    views : list of ViewReport
    topics : list of TopicReport
        By number.
    mixtures : ndarray of shape (documents, topics)
        p(z|d) of all views together; of the fit, if these are its documents.
    view_mixtures : dict of ndarray of shape (documents, topics)
        Each view folded in alone, documents of the fit under topics without them; rows of NaN where
        a document lacks it.
    disagreement : Disagreement
    fit : ndarray of shape (documents,)
        How well topics explain a document: its log-likelihood per token, minus that of documents
        drawn from the model (same lengths, same mixture). About 0 is as the model expects; the
        lowest are documents that no topic fits. NaN without counts.
    search : list of SearchQuality
        For each pair of views, both ways.
    history : ndarray of shape (n_iter,)
        The objective after each iteration.
    stability : list of (float or None), or None
        Of each topic; None where it is not known.
    graphs : dict of float, or None
        Weights of the graphs, in models that have them.
    labels : ndarray of int of shape (documents,), or None
        The class of each document, as a number of `label_names`; -1 without one.
    label_names : list of str, or None
    doc_ids : list of str, or None
    sentences : dict of str
        "Is it any good?", a sentence for each part of the answer.
    tree : TopicTree or None
        The coarser topics that the topics are part of, where the model has such a tree.
    titles : list of str, or None
        What documents are called, if titles were given; "" for one without a title.
    """

    model: dict[str, Any]
    views: list[ViewReport]
    topics: list[TopicReport]
    mixtures: np.ndarray
    view_mixtures: dict[str, np.ndarray]
    disagreement: Disagreement
    fit: np.ndarray
    search: list[SearchQuality]
    history: np.ndarray
    stability: list[float | None] | None
    graphs: dict[str, float] | None
    labels: np.ndarray | None
    label_names: list[str] | None
    doc_ids: list[str] | None
    sentences: dict[str, str]
    tree: TopicTree | None = None
    titles: list[str] | None = None

    def title(self, row: int) -> str:
        """Return what a document is called: its title, else its id, else its number from 0."""
        return document_title(row, self.doc_ids, self.titles)

    def disagreeing(self, top: int = LISTED) -> list[int]:
        """Return the documents whose views disagree, the farthest apart first."""
        apart = _first(-self.disagreement.beyond, len(self.fit))
        return [d for d in apart if self.disagreement.noticed[d]][:top]

    def unexplained(self, top: int = LISTED) -> list[int]:
        """Return the documents that the topics explain worst, the worst first."""
        return _first(self.fit, top)

    def lacking(self, view: str) -> list[int]:
        """Return the documents that lack a view, or have nothing in it that the model knows."""
        return np.flatnonzero(np.isnan(self.view_mixtures[view][:, 0])).tolist()

    def to_dict(self, *, documents: bool = False) -> dict[str, Any]:
        """Return everything as dicts, lists, texts and numbers; None for what is not known.

        Parameters
        ----------
        documents : bool, default=False
            Whether to include what is known of every document: mixtures, disagreement, fit,
            labels. Without it there are the first of each list of documents.
        """
        left_out = () if documents else _OF_DOCUMENTS
        found = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}
        if not documents:
            found["disagreement"] = self._mean_disagreement()
        found["tree"] = None if self.tree is None else self.tree.to_dict()
        return _plain(found | {"lists": self._lists()})

    def to_json(self, *, documents: bool = False, indent: int | None = None) -> str:
        """Return `to_dict` as JSON; what is not known is null.

        Parameters
        ----------
        documents : bool, default=False
            As in `to_dict`.
        indent : int, optional
        """
        return for_json(self.to_dict(documents=documents), indent=indent)

    def to_text(self, *, top: int = 10, terms: int = 6) -> str:
        """Return the report as a page for the terminal.

        Parameters
        ----------
        top : int, default=10
            Topics, and documents of each list, that are shown.
        terms : int, default=6
            Words of each topic and view.
        """
        from coview.reporting.page import page

        return page(self, top=top, terms=terms)

    def _mean_disagreement(self) -> dict[str, Any]:
        found = self.disagreement
        pairs = {pair: _means(one) for pair, one in found.by_pair.items()}
        return {**_means(found), "by_pair": pairs, "by_topic": found.by_topic}

    def _lists(self) -> dict[str, Any]:
        beyond, fit = self.disagreement.beyond, self.fit
        return {
            "views_disagree": [self._entry(d, beyond[d]) for d in self.disagreeing()],
            "no_topic_fits": [self._entry(d, fit[d]) for d in self.unexplained()],
            "lacks_a_view": {name: len(self.lacking(name)) for name in self.view_mixtures},
        }

    def _entry(self, row: int, value: float) -> dict[str, Any]:
        found = None if self.doc_ids is None else self.doc_ids[row]
        return {"row": row, "id": found, "title": self.title(row), "value": float(value)}


def _first(scores: np.ndarray, top: int) -> list[int]:
    """Return the rows of the lowest scores, without NaN."""
    known = np.flatnonzero(~np.isnan(scores))
    return known[np.argsort(scores[known], kind="stable")][:top].tolist()


def _means(found: Disagreement) -> dict[str, float]:
    value, chance = (mean_of_known(as_share(level)) for level in (found.value, found.chance))
    apart = mean_of_known(found.divergence)
    return {"value": value, "chance": chance, "beyond": value - chance, "divergence": apart}


def as_share(loss: np.ndarray) -> np.ndarray:
    """Return losses as shares of what there was to lose: from 0, nothing, to 1, everything."""
    return np.clip(loss, 0.0, 1.0)


def mean_of_known(values: np.ndarray) -> float:
    """Return the mean without NaN, NaN if there is nothing else."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: pairs of names joined, NaN and infinity as None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {_key(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)


def _key(name: Any) -> str:
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
