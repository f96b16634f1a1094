"""Planted faults: are documents with another document's view first in the list "views disagree"?

    python -m experiments.disagreement [--seeds 1] > experiments/disagreement.md

5 % of the documents get the second view of another document of about the same length. Of the first
5 % of the documents, sorted by disagreement, how many are planted? By `Report.disagreement.beyond`,
by the Jensen-Shannon divergence of the views' mixtures minus that of documents drawn from the
model, and by that divergence itself. The model is fitted to the faulty documents, so that it learns
the faults as well, or to the documents as they were before. `COVIEW_DATA` names the folder with the
data.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from itertools import combinations, product

import numpy as np

import coview
from coview import LinkPLSA, Views
from coview.datasets import load_dataset, load_digits_views, load_python_api
from coview.reporting import Report
from coview.reporting.disagreement import divergence
from coview.reporting.folding import Folded, fold_in_counts, fold_views, resample

SHARE = 0.05
N_NEWS = 5_000  # documents of 20newsgroups
RESAMPLES = 3
FITTED_TO = ("faulty documents", "documents before")
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
    "digits: five kinds of features": (load_digits_views, 20),
    "cora: words, links": (lambda: load_dataset("cora"), 20),
    "wikipedia: text, image": (lambda: load_dataset("wikipedia"), 20),
}


def plant(views: Views, rng: np.random.Generator) -> tuple[Views, np.ndarray]:
    """Exchange the second view among some documents of similar length; return which."""
    name = views.names[1]
    counts = views[name]
    there = np.flatnonzero((np.diff(counts.indptr) > 0) & (views.present.sum(axis=1) > 1))
    rows = rng.choice(there, round(SHARE * len(there)), replace=False)
    rows = rows[np.argsort(np.asarray(counts.sum(axis=1)).ravel()[rows], kind="stable")]
    source = np.arange(len(views))
    source[rows] = np.roll(rows, 1)  # the next shorter one
    matrices = {**views.matrices, name: counts[source]}
    features = {n: f for n, f in views.features.items() if f is not None}
    return Views(matrices, features=features or None, present=views.present), rows


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


def measure(views: Views, n_topics: int, fit_to: str, seed: int) -> dict[str, float]:
    """Return how many of the planted documents come first, by each statistic."""
    rng = np.random.default_rng(seed)
    faulty, planted = plant(views, rng)
    learns_faults = fit_to == FITTED_TO[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        training = faulty if learns_faults else views.with_labels(None)
        model = LinkPLSA(n_topics, random_state=seed).fit(training)
        report: Report = coview.report(model, faulty, n_resamples=RESAMPLES, search_sample=0)
        chance = divergence_by_chance(fold_views(model, faulty, of_fit=learns_faults), rng)
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
    print("| data | documents | topics | fitted to |", " | ".join(STATISTICS), "|")
    print("| --- | ---: | ---: | --- |", " | ".join(["---:"] * len(STATISTICS)), "|")
    table: dict[str, list[list[float]]] = {which: [] for which in FITTED_TO}
    for title, (load, n_topics) in SETS.items():
        views = load()
        for which, rows in table.items():
            runs = [measure(views, n_topics, which, seed) for seed in range(n_seeds)]
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
