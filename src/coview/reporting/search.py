"""How well one view is searched with another, on a sample of the documents.

Each document is a query in one view, and the answers are the documents of the sample in the other;
queries and answers are folded in by their view alone, so no query has seen its answer. Where the
documents are those of the fit, the topics have seen both.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from coview.held_out import sample_rows
from coview.metrics.retrieval import match_ranks
from coview.reporting.folding import Folded
from coview.reporting.value import SearchQuality

FEWEST = 10  # documents of a sample that say anything
FIRST = 10  # answers that a person looks at


def measure_search(
    folded: Folded, labels: np.ndarray | None, most: int, rng: np.random.Generator
) -> list[SearchQuality]:
    """Return how well each view is searched with each other one, on at most `most` documents."""
    found = []
    pairs = list(permutations(range(len(folded.names)), 2))
    for query, answer in pairs:
        both = np.flatnonzero(folded.known[:, query] & folded.known[:, answer])
        rows = both[sample_rows(len(both), most, rng)]
        if len(rows) >= FEWEST:
            names = folded.names[query], folded.names[answer]
            scores = _scores(folded, rows, *names)
            found.append(_judge(*names, scores, None if labels is None else labels[rows]))
    return found


def _scores(folded: Folded, rows: np.ndarray, query: str, answer: str) -> np.ndarray:
    """Return the score of each document of the sample for each query, (queries, answers)."""
    from coview.retrieval.index import SearchIndex

    sample = folded.views[rows].with_labels(None)
    index = SearchIndex(folded.model, in_view=answer, views=sample.select(answer))
    positions, scores = index.query_many(sample.select(query), len(rows))
    matrix = np.full((len(rows), len(rows)), -1.0)  # answers that have no term in common
    np.put_along_axis(matrix, np.asarray(positions), np.asarray(scores), axis=1)
    return matrix


def _judge(query: str, answer: str, scores: np.ndarray, labels: np.ndarray | None) -> SearchQuality:
    ranks = match_ranks(scores)
    same, chance = (None, None) if labels is None else same_label_rate(scores, labels)
    return SearchQuality(
        query=query,
        answer=answer,
        n=len(scores),
        first=float((ranks < 2).mean()),
        ten=float((ranks < FIRST + 1).mean()),
        median_rank=float(np.median(ranks)),
        same_label=same,
        chance_same_label=chance,
    )


def same_label_rate(scores: np.ndarray, labels: np.ndarray) -> tuple[float | None, float | None]:
    """Return which share of the first ten other documents has the label of the query, and chance.

    -1 is no label: such documents neither ask nor answer. None where there are not two labels.

    >>> scores = np.array([[9.0, 2, 1], [1, 9, 2], [1, 2, 9]])
    >>> same_label_rate(scores, np.array([0, 0, 1]))
    (0.3333333333333333, 0.3333333333333333)
    """
    known = np.flatnonzero(labels >= 0)
    classes, n = labels[known], len(known)
    if len(np.unique(classes)) < 2:
        return None, None
    others = scores[np.ix_(known, known)].astype(np.float64)
    np.fill_diagonal(others, -np.inf)  # to find itself says nothing of its label
    first = np.argsort(-others, axis=1, kind="stable")[:, : min(FIRST, n - 1)]
    sizes = np.bincount(classes)[classes]
    return float((classes[first] == classes[:, None]).mean()), float(((sizes - 1) / (n - 1)).mean())
