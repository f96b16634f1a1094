"""Search within a topic: the metric "topics+words" against mixtures alone, as a Markdown table.

    python -m experiments.search_ranking [--seeds 3] > table.md

A model is fitted to the training documents, and each view of the test documents is searched with
the other: the median rank of the document that belongs to the query, the share of queries to which
it is the first answer, and the mean average precision by classes. docs/search.md has the table.
`COVIEW_DATA` names the folder with wikipedia.
"""

from __future__ import annotations

import argparse
from copy import copy
from itertools import permutations
from typing import Any

import numpy as np

from coview import SearchIndex, Views
from coview.metrics import match_ranks, mean_average_precision
from experiments.defaults.arms import STARTS
from experiments.defaults.data import train_and_test
from experiments.defaults.parts import SEARCH_TOPICS, timed

BEFORE, AFTER, NO_NAMES = "hellinger", "topics+words", "topics+words, terms without names"
ROWS = {"python_api": (BEFORE, NO_NAMES, AFTER), "wikipedia": (BEFORE, AFTER)}
COLUMNS = "| data | topics | query → answer | compared by | median rank | first | MAP |"


def score_matrix(index: SearchIndex, model: Any, queries: Views) -> np.ndarray:
    """Return the score of each query and each document; -1 where either is not known."""
    matrix = np.full((len(queries), len(queries)), -1.0)
    known = np.flatnonzero(~timed(model.fold_in, queries)[0].empty)
    positions, scores = timed(index.query_many, queries[known], len(queries))[0]
    for row, columns, values in zip(known, positions, scores, strict=True):
        matrix[row, columns] = values
    return matrix


def without_names(model: Any, test: Views) -> tuple[Any, Views]:
    """Return both without the names of terms, so that two views share no words."""
    unnamed = copy(model)
    unnamed.feature_names_ = dict.fromkeys(model.view_names_)
    return unnamed, Views(test.matrices, present=test.present, labels=test.labels)


def measure(model: Any, test: Views, query: str, answer: str, row: str) -> list[float]:
    """Return median rank, share of first answers and MAP of a search."""
    if row == NO_NAMES:
        model, test = without_names(model, test)
    metric = BEFORE if row == BEFORE else AFTER
    options = {"in_view": answer, "views": test, "metric": metric, "n_jobs": 1}
    index = timed(lambda: SearchIndex(model, **options))[0]
    scores = score_matrix(index, model, test.select(query))
    ranks, labels = match_ranks(scores), np.asarray(test.labels)
    return [
        float(np.median(ranks)),
        float(np.mean(ranks < 2)),
        mean_average_precision(scores, labels, labels),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    n_seeds = parser.parse_args().seeds
    print(COLUMNS, "| --- | ---: | --- | --- | ---: | ---: | ---: |", sep="\n")
    for dataset in ROWS:
        for setting in SEARCH_TOPICS:
            found: dict[tuple[str, str, str], list[list[float]]] = {}
            for seed in range(n_seeds):
                train, test = train_and_test(dataset, seed)
                model = timed(STARTS["default"], train, int(setting.split()[0]), seed)[0]
                for query, answer in permutations(test.names, 2):
                    for row in ROWS[dataset]:
                        values = measure(model, test, query, answer, row)
                        found.setdefault((query, answer, row), []).append(values)
            for (query, answer, row), runs in found.items():
                rank, first, precision = np.mean(runs, axis=0)
                print(
                    f"| {dataset} | {setting.split()[0]} | {query} → {answer} | {row} "
                    f"| {rank:.1f} | {first:.1%} | {precision:.3f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
