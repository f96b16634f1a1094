"""How well one view is searched with another, on a sample of the documents.

Each document is a query in one view, and the answers are the documents of the sample in the other;
queries and answers are folded in by their view alone, so no query has seen its answer. Where the
documents are those of the fit, the topics have seen both.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from coview.held_out import sample_rows
from coview.metrics.retrieval import match_ranks, mean_average_precision
from coview.reporting.folding import Folded
from coview.reporting.value import SearchQuality

FEWEST = 10  # documents of a sample that say anything


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


def _judge(query: str, answer: str, scores: Any, labels: np.ndarray | None) -> SearchQuality:
    n = len(scores)
    ranks = match_ranks(scores)
    known = np.empty(0, int) if labels is None else np.flatnonzero(labels >= 0)
    classes = np.empty(0, int) if labels is None else labels[known]
    by_class = len(np.unique(classes)) > 1
    if by_class:
        precision = mean_average_precision(scores[np.ix_(known, known)], classes, classes)
        sizes = np.bincount(classes)[classes]
        chance = float(np.mean([_chance_precision(len(known), size) for size in sizes]))
    else:
        precision, chance = float((1 / ranks).mean()), _chance_precision(n, 1)
    return SearchQuality(
        query=query,
        answer=answer,
        n=n,
        relevant="class" if by_class else "pair",
        map=float(precision),
        chance_map=chance,
        median_rank=float(np.median(ranks)),
        chance_rank=(n + 1) / 2,
        first=float((ranks < 2).mean()),
    )


def _chance_precision(n: int, relevant: int) -> float:
    """Return the expected average precision of a random order of n answers.

    >>> _chance_precision(2, 1), _chance_precision(5, 5)
    (0.75, 1.0)
    """
    harmonic = float((1 / np.arange(1, n + 1)).sum())
    rest = (n - harmonic) * (relevant - 1) / (n - 1) if n > 1 else 0.0
    return (harmonic + rest) / n
