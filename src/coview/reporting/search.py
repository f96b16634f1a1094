"""How well one view is searched with another, on a sample of the documents.

Each document is a query in one view, and the answers are the documents of the sample in the other.
Where the model keeps what a search needs and the documents are those of the fit, its translations
have seen both views of each: then those count that were held back from them when it was fitted.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from coview.held_out import sample_rows
from coview.metrics.retrieval import match_ranks
from coview.reporting.folding import Folded
from coview.reporting.value import SearchQuality

if TYPE_CHECKING:
    from coview.retrieval.evidence import SearchEvidence
    from coview.views.container import Views

FEWEST = 10  # documents of a sample that say anything
FIRST = 10  # answers that a person looks at
WEIGHED = 100  # documents by which it is judged what counts how much


def measure_search(
    folded: Folded,
    labels: np.ndarray | None,
    most: int,
    rng: np.random.Generator,
    of_fit: bool = False,
) -> list[SearchQuality]:
    """Return how well each view is searched with each other one, on at most `most` documents.

    `of_fit`: whether these are the documents of the fit.
    """
    found = []
    kept = getattr(folded.model, "search_", None) if of_fit else None
    for query, answer in permutations(range(len(folded.names)), 2):
        both = np.flatnonzero(folded.known[:, query] & folded.known[:, answer])
        rows = both[sample_rows(len(both), most, rng)]
        if len(rows) < FEWEST:
            continue
        names = folded.names[query], folded.names[answer]
        made = _judge(folded, rows, names, None if labels is None else labels[rows])
        pair = None if kept is None else kept.pairs.get(names)
        if pair is not None and pair.held_back:
            seen = {"n": pair.held_back, "first": pair.first, "ten": pair.ten}
            made = replace(made, **seen, median_rank=None)
        found.append(made)
    return found


def _judge(
    folded: Folded, rows: np.ndarray, names: tuple[str, str], labels: np.ndarray | None
) -> SearchQuality:
    from coview.retrieval.index import SearchIndex

    query, answer = names
    sample = folded.views[rows].with_labels(None)
    index = SearchIndex(folded.model, in_view=answer, views=sample.select(answer))
    positions, found = index.query_many(sample.select(query), len(rows))
    scores = np.full((len(rows), len(rows)), -1.0)  # answers that have no term in common
    np.put_along_axis(scores, np.asarray(positions), np.asarray(found), axis=1)
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
        counts=_counts(folded.model, index.evidence, names, sample[:WEIGHED]),
    )


def _counts(
    model: Any, evidence: SearchEvidence | None, names: tuple[str, str], sample: Views
) -> dict[str, float]:
    """Return the share of each kind of evidence in what makes the scores of documents differ."""
    from coview.retrieval.evidence import KINDS, Comparison

    assert evidence is not None
    comparison, counts = Comparison(model, evidence), model.as_counts(sample)
    searched = comparison.searched(names[1], counts[names[1]])
    weights = evidence.pairs[names].weights
    spread = np.zeros(len(KINDS))
    for asked in comparison.asked(names[0], counts[names[0]]):
        if asked is not None:
            spread += weights * comparison.parts(asked, names[1], searched).std(axis=1)
    total = spread.sum()
    order = [k for k in np.argsort(-spread, kind="stable") if spread[k] > 0]
    return {KINDS[k]: float(spread[k] / total) for k in order}


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
