"""Answers to a query as plain data: `SearchResults`, `Hit` and `Reason`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from coview.reading.left_out import name_left_out
from coview.wording import printable

WORDS_SHOWN = 4  # of each kind, in the text of a reason


@dataclass(frozen=True)
class Reason:
    """What one kind of evidence, one topic, or one class in semantic space adds to a score.

    Attributes
    ----------
    topic : int or None
        With "evidence" the topic that most speaks for the answer; in semantic space that of the
        query which most favors the class. None where there is none, or it is not known.
    contribution : float
        With "evidence" what the kind adds to the log-odds of the answer. Else what the topic
        (class) adds to the score: these sum to the score, and with "correlation" some are negative.
    share : float
        The contribution divided by the sum of all positive ones.
    terms : dict of list of str
        The top terms of the topic, in the views of the query and of the answer.
    query_words, answer_words : dict of list of (str, float)
        By view, the words of the query and of the answer that belong to the topic, with
        n(w) p(z|d,w): the count of the word times the share that the topic has in it. Empty where
        the counts are not known, and with "evidence".
    label : class label or None
        The class, in semantic space.
    kind : {"names", "translation", "topics", "map"} or None
        The kind of evidence; None with the metrics of mixtures.
    calls : list of (str, list of str, float)
        For names and translation: terms of the query, the terms of the answer that stand for each,
        and what these add.
    """

    topic: int | None
    contribution: float
    share: float
    terms: dict[str, list[str]] = field(default_factory=dict)
    query_words: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    answer_words: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    label: Any = None
    kind: str | None = None
    calls: list[tuple[str, list[str], float]] = field(default_factory=list)

    def __str__(self) -> str:
        if self.calls or self.kind == "map":
            return " | ".join(part for part in (self._head(), self._named_calls()) if part)
        shown = [(v, words) for v, words in self.terms.items() if words]
        terms = "; ".join(f"{printable(v)}: {_joined(words)}" for v, words in shown)
        of_query = [w for words in self.query_words.values() for w, _ in words]
        of_answer = [w for words in self.answer_words.values() for w, _ in words]
        parts = [self._head(), terms]
        parts += [f"query: {_joined(of_query)}"] if of_query else []
        parts += [f"answer: {_joined(of_answer)}"] if of_answer else []
        return " | ".join(part for part in parts if part)

    def _head(self) -> str:
        what = f"topic {self.topic}" if self.label is None else f"class {printable(self.label)}"
        names = {"names": "same words", "translation": "translation", "map": "similar places"}
        return f"{names.get(self.kind or '', what)} ({self.share:.0%})"

    def _named_calls(self) -> str:
        if self.kind == "names":
            return _joined([word for word, _, _ in self.calls])
        shown = [
            f"{printable(word, 30)} → {', '.join(printable(a, 30) for a in answers)}"
            for word, answers, _ in self.calls[:WORDS_SHOWN]
        ]
        return "; ".join(shown)


def _joined(words: Sequence[str]) -> str:
    return " ".join(printable(word, 30) for word in words[:WORDS_SHOWN])


@dataclass(frozen=True)
class Hit:
    """One answer.

    Attributes
    ----------
    rank : int
        From 1.
    position : int
        The number of the document among those searched, from 0.
    id : str or None
        Its id, if the documents have ids.
    score : float
        Larger is closer. With "evidence", the probability that this is the right answer: of pairs
        of documents that were held back, this share was right at this score.
    explanation : list of Reason or None
        What made the score, the largest contribution first; None without `explain=True`.
    title : str or None
        What the document is called, if the model knows.
    """

    rank: int
    position: int
    id: str | None
    score: float
    explanation: list[Reason] | None = None
    title: str | None = None

    def __str__(self) -> str:
        name = f"document {self.position}" if self.id is None else printable(self.id)
        lines = [f"{self.rank:>3}  {self.score:.4f}  {name}"]
        lines += [f"       {reason}" for reason in self.explanation or []]
        return "\n".join(lines)


class SearchResults(Sequence):
    """The answers to one query, best first: a sequence of `Hit`.

    Parameters
    ----------
    hits : sequence of Hit
    left_out : dict, optional
        The words of the query that the model does not know, each with the reason.

    Attributes
    ----------
    left_out : dict of str
        As given.

    Examples
    --------
    >>> results = SearchResults([Hit(1, 7, "cat", 0.9), Hit(2, 3, "dog", 0.5)])
    >>> results[0].id, results.positions.tolist(), len(results)
    ('cat', [7, 3], 2)
    >>> print(results)
      1  0.9000  cat
      2  0.5000  dog
    """

    def __init__(self, hits: Sequence[Hit], left_out: Mapping[str, str] | None = None):
        self._hits = tuple(hits)
        self.left_out = dict(left_out or {})

    def __len__(self) -> int:
        return len(self._hits)

    @overload
    def __getitem__(self, at: int) -> Hit: ...
    @overload
    def __getitem__(self, at: slice) -> SearchResults: ...
    def __getitem__(self, at: int | slice) -> Hit | SearchResults:
        if isinstance(at, slice):
            return SearchResults(self._hits[at], self.left_out)
        return self._hits[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SearchResults) and self._hits == other._hits

    __hash__ = None  # type: ignore[assignment]

    @property
    def ids(self) -> list[str | None]:
        """The ids of the answers, or None for each."""
        return [hit.id for hit in self]

    @property
    def positions(self) -> np.ndarray:
        """The numbers of the answers among the documents searched."""
        return np.array([hit.position for hit in self], dtype=np.int64)

    @property
    def scores(self) -> np.ndarray:
        """The scores of the answers."""
        return np.array([hit.score for hit in self])

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one dict for each answer, of values that JSON and data frames take."""
        return [_row(hit) for hit in self]

    def __str__(self) -> str:
        lines = [str(hit) for hit in self] or ["no answers"]
        left_out = name_left_out(self.left_out, stop_words=False)
        lines += [f"left out: {left_out}"] if left_out else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<SearchResults: {len(self)}>\n{self}"


def _row(hit: Hit) -> dict[str, Any]:
    row: dict[str, Any] = {
        "rank": hit.rank,
        "position": hit.position,
        "id": hit.id,
        "score": hit.score,
    }
    if hit.explanation is not None:
        row["explanation"] = [_plain(reason) for reason in hit.explanation]
    return row


def _plain(reason: Reason) -> dict[str, Any]:
    label = reason.label.item() if isinstance(reason.label, np.generic) else reason.label
    return {
        "topic": reason.topic,
        "label": label,
        "contribution": reason.contribution,
        "share": reason.share,
        "terms": {view: list(terms) for view, terms in reason.terms.items()},
        "query_words": _plain_words(reason.query_words),
        "answer_words": _plain_words(reason.answer_words),
        "kind": reason.kind,
        "calls": [[word, list(answers), amount] for word, answers, amount in reason.calls],
    }


def _plain_words(words: dict[str, list[tuple[str, float]]]) -> dict[str, list[list[Any]]]:
    return {view: [list(pair) for pair in pairs] for view, pairs in words.items()}
