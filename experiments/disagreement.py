"""Planted faults: are documents with another document's view first in the list "views disagree"?

    python -m experiments.disagreement [--seeds 1] > experiments/disagreement.md

5 % of the documents get the second view of another document of about the same length; then a model
is fitted to all of them. Of the first 5 % of the documents, sorted by disagreement, how many are
planted? By `Report.disagreement.beyond`, by the Jensen-Shannon divergence of the views' mixtures
minus that of documents drawn from the model, and by that divergence itself. A fault within a class
may leave nothing to be seen: the topics of both documents are the same. So the other document is
any, or one of another class. `COVIEW_DATA` names the folder with the data.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from itertools import combinations, product

import numpy as np

from coview import LinkPLSA, Views
from coview.datasets import load_dataset, load_digits_views, load_python_api
from coview.report import Report, summarize
from coview.report.disagreement import divergence
from coview.report.folding import Folded, fold_in_counts, fold_views, resample

SHARE = 0.05
N_NEWS = 5_000  # documents of 20newsgroups
RESAMPLES = 3
STATISTICS = ("beyond", "divergence - chance", "divergence")


def news_halves() -> Views:
    """Return posts whose words are dealt at random into two views."""
    posts = load_dataset("20newsgroups")
    posts = posts[np.random.default_rng(0).choice(len(posts), N_NEWS, replace=False)]
    frequent = np.flatnonzero((posts["words"] > 0).sum(axis=0) >= 5)
    words = Views({"words": posts["words"][:, frequent]}, labels=posts.labels)
    return words.split("words", 2)


SETS: dict[str, tuple[Callable[[], Views], int]] = {
    "python_api: docstrings, code": (load_python_api, 50),
    "reuters1200: five languages": (lambda: load_dataset("reuters1200"), 20),
    "20newsgroups: two halves of the words": (news_halves, 40),
    "digits: pixels, shapes": (load_digits_views, 20),
    "cora: words, links": (lambda: load_dataset("cora"), 20),
    "wikipedia: text, image": (lambda: load_dataset("wikipedia"), 20),
}


def plant(views: Views, other_class: bool, rng: np.random.Generator) -> tuple[Views, np.ndarray]:
    """Exchange the second view among some documents of similar length; return which."""
    name = views.names[1]
    counts = views[name]
    there = np.flatnonzero((np.diff(counts.indptr) > 0) & (views.present.sum(axis=1) > 1))
    rows = rng.choice(there, round(SHARE * len(there)), replace=False)
    rows = rows[np.argsort(np.asarray(counts.sum(axis=1)).ravel()[rows], kind="stable")]
    donors = _donors(rows, views.labels if other_class else None)
    source = np.arange(len(views))
    source[rows] = donors
    matrices = {**views.matrices, name: counts[source]}
    features = {n: f for n, f in views.features.items() if f is not None}
    return Views(matrices, features=features or None, present=views.present), rows


def _donors(rows: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
    """Return for each of the rows, sorted by length, another one near it."""
    donors = np.roll(rows, 1)
    if labels is None:
        return donors
    for i, row in enumerate(rows):
        near = rows[np.argsort(np.abs(np.arange(len(rows)) - i), kind="stable")]
        donors[i] = next(other for other in near if labels[other] != labels[row])
    return donors


def divergence_by_chance(folded: Folded, rng: np.random.Generator) -> np.ndarray:
    """Return the divergence of views of documents drawn from the model; NaN for dense views."""
    every, names = np.arange(len(folded.joint)), folded.names
    if any(folded.is_dense(name) for name in names):
        return np.full(len(every), np.nan)
    drawn = {
        name: [
            fold_in_counts(folded.model, name, resample(folded, name, every, rng))
            for _ in range(RESAMPLES)
        ]
        for name in names
    }
    found = [
        divergence(one, other)
        for a, b in combinations(names, 2)
        for one, other in product(drawn[a], drawn[b])
    ]
    return np.mean(found, axis=0)


def found_first(scores: np.ndarray, planted: np.ndarray) -> float:
    """Return the share of planted documents among as many with the highest scores."""
    first = np.argsort(-np.where(np.isnan(scores), -np.inf, scores), kind="stable")
    return float(np.isin(first[: len(planted)], planted).mean())


def measure(views: Views, n_topics: int, other_class: bool, seed: int) -> dict[str, float]:
    """Return how many of the planted documents come first, by each statistic."""
    rng = np.random.default_rng(seed)
    faulty, planted = plant(views, other_class, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinkPLSA(n_topics, random_state=seed).fit(faulty)
        report: Report = summarize(model, faulty, n_resamples=RESAMPLES, search_sample=0)
        chance = divergence_by_chance(fold_views(model, faulty), rng)
    found = report.disagreement
    usual = found.divergence - chance
    scores = dict(zip(STATISTICS, (found.beyond, usual, found.divergence), strict=True))
    return {
        name: np.nan if np.isnan(values).all() else found_first(values, planted)
        for name, values in scores.items()
    }


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    n_seeds = parser.parse_args().seeds
    print("# Planted faults in the list “views disagree”\n")
    print("Made by `python -m experiments.disagreement`; its docstring says what is measured.\n")
    print("| data | documents | topics | other document |", " | ".join(STATISTICS), "|")
    print("| --- | ---: | ---: | --- |", " | ".join(["---:"] * len(STATISTICS)), "|")
    table: dict[str, list[list[float]]] = {"any": [], "another class": []}
    for title, (load, n_topics) in SETS.items():
        views = load()
        for which, rows in table.items():
            runs = [measure(views, n_topics, which != "any", seed) for seed in range(n_seeds)]
            row = [float(np.mean([run[name] for run in runs])) for name in STATISTICS]
            rows.append(row)
            print(
                f"| {title} | {len(views):,} | {n_topics} | {which} | {_cells(row)} |", flush=True
            )
    for which, rows in table.items():
        print(f"| **median** | | | {which} | {_cells(np.nanmedian(rows, axis=0).tolist())} |")


def _cells(row: list[float]) -> str:
    return " | ".join("–" if np.isnan(value) else f"{value:.0%}" for value in row)


if __name__ == "__main__":
    main()
