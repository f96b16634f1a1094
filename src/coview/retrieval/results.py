"""Answers to a query, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from coview.wording import printable

WORDS_SHOWN = 4


@dataclass(frozen=True)
class Reason:
    """What one topic, or in semantic space one class, has to do with a score.

    Attributes
    ----------
    topic : int or None
        In semantic space the topic of the query that speaks most for the class; None if the
        query's mixture is not known.
    contribution : float
        What it adds to the score; over all topics (classes) this sums to the score. With
        "correlation" it may be negative.
    share : float
        The contribution in shares of the score.
    terms : dict of list of str
        The terms that tell most about the topic, in the views of the query and of the answer.
    query_words, answer_words : dict of list of (str, float)
        By view, the words of the query and of the answer that speak for the topic, with
        n(w) p(z|d,w): how many of them there are, times the share that the topic has in each. Empty
        where the counts are not at hand.
    label : class label or None
        The class, in semantic space.
    """

    topic: int | None
    contribution: float
    share: float
    terms: dict[str, list[str]] = field(default_factory=dict)
    query_words: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    answer_words: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    label: Any = None

    def __str__(self) -> str:
        what = f"topic {self.topic}" if self.label is None else f"class {printable(self.label)}"
        terms = "; ".join(f"{printable(v)}: {_joined(words)}" for v, words in self.terms.items())
        asked = [w for words in self.query_words.values() for w, _ in words]
        found = [w for words in self.answer_words.values() for w, _ in words]
        parts = [f"{what} ({self.share:.0%})", terms]
        parts += [f"asked with {_joined(asked)}"] if asked else []
        parts += [f"found in {_joined(found)}"] if found else []
        return " | ".join(part for part in parts if part)


def _joined(words):
    return " ".join(printable(word, 30) for word in words[:WORDS_SHOWN])


@dataclass(frozen=True)
class Hit:
    """One answer.

    Attributes
    ----------
    rank : int
        From 1.
    position : int
        The number of the document among those that were searched, from 0.
    id : str or None
        Its id, if the documents have ids.
    score : float
        Larger is closer.
    explanation : list of Reason or None
        What made the score, the largest contribution first; only if asked for.
    """

    rank: int
    position: int
    id: str | None
    score: float
    explanation: list[Reason] | None = None

    def __str__(self) -> str:
        name = f"document {self.position}" if self.id is None else printable(self.id)
        lines = [f"{self.rank:>3}  {self.score:.4f}  {name}"]
        lines += [f"       {reason}" for reason in self.explanation or []]
        return "\n".join(lines)


class Results(Sequence):
    """The answers to one query, the best first: a sequence of `Hit`.

    Examples
    --------
    >>> results = Results([Hit(1, 7, "cat", 0.9), Hit(2, 3, "dog", 0.5)])
    >>> results[0].id, results.positions.tolist(), len(results)
    ('cat', [7, 3], 2)
    >>> print(results)
      1  0.9000  cat
      2  0.5000  dog
    """

    def __init__(self, hits: Sequence[Hit]):
        self._hits = tuple(hits)

    def __len__(self) -> int:
        return len(self._hits)

    @overload
    def __getitem__(self, at: int) -> Hit: ...
    @overload
    def __getitem__(self, at: slice) -> Results: ...
    def __getitem__(self, at):
        return Results(self._hits[at]) if isinstance(at, slice) else self._hits[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Results) and self._hits == other._hits

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
        """One dict for each answer, of values that JSON and data frames take."""
        return [_row(hit) for hit in self]

    def __str__(self) -> str:
        return "\n".join(str(hit) for hit in self) or "no answers"

    def __repr__(self) -> str:
        return f"<Results: {len(self)}>\n{self}"


def _row(hit):
    row = {"rank": hit.rank, "position": hit.position, "id": hit.id, "score": hit.score}
    if hit.explanation is not None:
        row["explanation"] = [_plain(reason) for reason in hit.explanation]
    return row


def _plain(reason):
    words = ("query_words", "answer_words")
    plain = {n: {v: [list(w) for w in ws] for v, ws in getattr(reason, n).items()} for n in words}
    label = reason.label.item() if isinstance(reason.label, np.generic) else reason.label
    return {
        "topic": reason.topic,
        "label": label,
        "contribution": reason.contribution,
        "share": reason.share,
        "terms": {view: list(terms) for view, terms in reason.terms.items()},
        **plain,
    }
