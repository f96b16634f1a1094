"""Do words + codes of embeddings beat words alone, and embeddings + k-means? As Markdown tables.

    python -m experiments.embeddings.measure CACHE [--seeds 3] [--choices] > tables.md

CACHE has the vectors that `experiments.embeddings.encode` wrote. Models are fitted to all of these
documents, without labels. Clusters: as many topics as classes, NMI and accuracy against the
classes. Search: the test documents are folded in with all views of the row and searched with each
of them, mean average precision by classes.
--choices compares ways to make codes instead: how many, how soft, normalized or not.
docs/embeddings.md has the tables.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from coview import LinkPLSA, Views, auto
from coview.metrics import clustering_accuracy, mean_average_precision, nmi_mean
from experiments.defaults.parts import timed
from experiments.embeddings.encode import read_texts

Data = tuple[list[str], np.ndarray, np.ndarray, np.ndarray]
SEARCH_TOPICS = 50
CODED = ("codes", "one_code")
CHOICES: dict[str, dict[str, Any]] = {
    "default": {},
    "vectors as they are": {"normalize": False},
    "one code for a vector": {"n_nearest": 1},
    "eight codes": {"n_nearest": 8},
    "512 codes": {"n_codes": 512},
    "100 counts for a vector": {"n_counts": 100},
}


def load(cache: Path, name: str) -> Data:
    """Return texts, vectors, classes, and which are test documents."""
    kept = np.load(cache / f"{name}.npz")
    texts, labels, _ = read_texts(name)
    rows = kept["rows"]
    return [texts[row] for row in rows], kept["vectors"], labels[rows], kept["is_test"] > 0


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors of length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def make_views(texts: list[str], vectors: np.ndarray, **options: Any) -> Views:
    """Return words, codes, one code a document, and the vectors as measurements."""
    words = Views.from_texts({"words": texts}, languages="en")
    views = Views.from_embeddings(vectors, views=words, name="codes", **options)
    views = Views.from_embeddings(vectors, views=views, name="one_code", n_nearest=1)
    return Views(
        {**views.matrices, "vectors": unit(vectors)},
        present={n: views.present[:, i] for i, n in enumerate(views.names)},
        recipes=views.recipes,
        features={n: f for n, f in views.features.items() if f is not None},
    )


def kmeans(vectors: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Cluster the normalized vectors."""
    return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(unit(vectors))


def link(*names: str) -> Callable[[Views, int, int], Any]:
    """Return a function that fits LinkPLSA to some views."""

    def fit(views: Views, n_topics: int, seed: int) -> Any:
        return LinkPLSA(n_topics, random_state=seed, n_jobs=1).fit(views.select(*names))

    return fit


def fit_auto(views: Views, n_topics: int, seed: int) -> Any:
    """Fit what `coview.auto` chooses for words and codes."""
    return auto(views.select("words", "codes"), n_topics, random_state=seed, verbose=False)


ARMS: dict[str, Callable[[Views, int, int], Any]] = {
    "words": link("words"),
    "codes": link("codes"),
    "words + codes": link("words", "codes"),
    "words + codes, auto": fit_auto,
    "words + one_code": link("words", "one_code"),
    "words + vectors as measurements": link("words", "vectors"),
}


def log(*words: Any) -> None:
    """Tell on standard error what is done."""
    print(*words, f"{time.process_time():.0f} s", file=sys.stderr, flush=True)


def row(name: str, what: str, runs: list[list[float]], order: str) -> None:
    """Print a row of a table: mean and standard deviation over the seeds."""
    mean, spread = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=len(runs) > 1)
    cells = [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True)]
    print(f"| {name} | {what} |", " | ".join(cells), order, flush=True)


def against(labels: np.ndarray, found: np.ndarray) -> list[float]:
    """Return NMI and accuracy."""
    return [nmi_mean(labels, found), clustering_accuracy(labels, found)]


def clusters(name: str, data: Data, seeds: int) -> None:
    """Print the rows of a data set in the table of clusters."""
    texts, vectors, labels, _ = data
    views, k = make_views(texts, vectors), len(np.unique(labels))
    runs = [against(labels, kmeans(vectors, k, seed)) for seed in range(seeds)]
    row(name, "embeddings + k-means", runs, "|")
    for what, fit in ARMS.items():
        runs = [against(labels, timed(fit, views, k, s)[0].labels_) for s in range(seeds)]
        row(name, what, runs, "|")
        log(name, what)


def searched(name: str, data: Data, seeds: int) -> None:
    """Print the rows of a data set in the table of search."""
    from coview import SearchIndex

    texts, vectors, labels, is_test = data
    test = np.flatnonzero(is_test)
    views = make_views(texts, vectors)
    cosine = unit(vectors[test]) @ unit(vectors[test]).T
    row(name, "cosine of embeddings", [[_precision(cosine, labels[test])]], "|")
    for what in ("words", "codes", "words + codes", "words + one_code"):
        runs = []
        for seed in range(seeds):
            model = timed(ARMS[what], views, SEARCH_TOPICS, seed)[0]
            raw = {"words": [texts[i] for i in test], **dict.fromkeys(CODED, vectors[test])}
            new = timed(model.read, {n: v for n, v in raw.items() if n in model.view_names_})[0]
            known = np.flatnonzero(~timed(model.fold_in, new)[0].empty)
            index = timed(lambda m=model, n=new: SearchIndex(m, views=n, n_jobs=1))[0]
            positions, values = timed(index.query_many, new[known], len(test))[0]
            scores = np.full((len(test), len(test)), -1.0)
            for at, columns, own in zip(known, positions, values, strict=True):
                scores[at, columns] = own
            runs.append([_precision(scores, labels[test])])
        row(name, what, runs, "|")
        log(name, "search", what)


def _precision(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean average precision by classes; the query itself is no answer."""
    n_docs = len(labels)
    others = ~np.eye(n_docs, dtype=bool)
    rows = [
        mean_average_precision(scores[[i]][:, others[i]], labels[[i]], labels[others[i]])
        for i in range(n_docs)
    ]
    return float(np.mean(rows))


def choices(name: str, data: Data, seeds: int) -> None:
    """Print the rows of a data set in the table of ways to make codes."""
    texts, vectors, labels, _ = data
    k = len(np.unique(labels))
    for what, options in CHOICES.items():
        views = make_views(texts, vectors, **options)
        runs = [
            [
                nmi_mean(labels, timed(ARMS[arm], views, k, seed)[0].labels_)
                for arm in ("codes", "words + codes")
            ]
            for seed in range(seeds)
        ]
        row(name, what, runs, "|")
        log(name, what)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--choices", action="store_true")
    options = parser.parse_args()
    names = [n for n in ("20newsgroups", "wikipedia") if (options.cache / f"{n}.npz").exists()]
    tables = {clusters: "NMI | accuracy", searched: "MAP"}
    if options.choices:
        tables = {choices: "NMI, codes | NMI, words + codes"}
    for table, columns in tables.items():
        print(f"| data | views | {columns} |\n| --- | --- |", "---: |" * (columns.count("|") + 1))
        for name in names:
            table(name, load(options.cache, name), options.seeds)
        print()


if __name__ == "__main__":
    main()
