"""The parts of the evaluation: which cells each has, and how a cell is measured.

clusters    clusters against classes, as many as there are classes
robustness  the same with one more view: noise, a shuffled or an unchanged copy of one of the views;
            seed by seed the next view is copied, so that each has its turn
missing     the same with 30 % of the (document, view) cells taken away
derived     the same on check sets that were made of other data (`derived.py`)
ablation    `coview.auto` without some of the families of its ensemble, or without links as graphs
topics      perplexity of test documents, of half of their tokens given the other half
search      one view of the test documents with another
cost        CPU seconds and peak memory of a fit, in a process of its own
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np

from coview import Views
from coview.metrics import (
    clustering_accuracy,
    mean_average_precision,
    median_rank,
    nmi_max,
    similarity,
)
from experiments.defaults.ablation import WITHOUT
from experiments.defaults.arms import (
    BASELINES,
    CLUSTERERS,
    MOST_SEEDS,
    STARTS,
    Cluster,
)
from experiments.defaults.changes import CHANGES, remove_cells
from experiments.defaults.data import DATASETS, load, train_and_test
from experiments.defaults.derived import CHECK_SETS, load_check_set
from experiments.defaults.results import Cell, Values, Work

Measure = Callable[[str, str, str, int], tuple[Values, float]]  # dataset, setting, method, seed

TOPICS = ("20 topics", "50 topics", "100 topics")
SEARCH_TOPICS = ("10 topics", "50 topics")
COST_TOPICS = ("50 topics",)


@dataclass(frozen=True)
class Part:
    """A part: how it measures, the methods it knows and those it runs, data sets and settings."""

    measure: Measure
    known: Collection[str]
    methods: Sequence[str]
    datasets: Sequence[str]
    settings: Sequence[str] = ("",)


def cells(
    name: str, n_seeds: int, datasets: Sequence[str] = (), methods: Sequence[str] = ()
) -> Iterator[tuple[Cell, Work]]:
    """Yield the cells of a part and what measures them; what the part does not know is left out."""
    part = PARTS[name]
    for dataset, method, setting in product(
        [d for d in datasets or part.datasets if d in part.datasets],
        [m for m in methods or part.methods if m in part.known],
        part.settings,
    ):
        for seed in range(min(n_seeds, MOST_SEEDS.get(method, n_seeds))):
            cell = Cell(name, dataset, setting, method, seed)
            yield cell, partial(part.measure, dataset, setting, method, seed)


def timed(work: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """Call a function without its warnings; return its result and the CPU seconds it took."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = work(*args)
    return found, time.process_time() - start


# -- clusters --------------------------------------------------------------------------------------


def clusters(dataset: str, setting: str, method: str, seed: int) -> tuple[Values, float]:
    """Cluster a data set as it is."""
    views, labels = load(dataset)
    return _against_classes(CLUSTERERS[method], views, labels, seed)


def robustness(dataset: str, setting: str, method: str, seed: int) -> tuple[Values, float]:
    """Cluster a data set with one more view, made from the view whose turn it is."""
    views, labels = load(dataset)
    turn = seed % views.n_views
    changed = CHANGES[setting](views, views.names[turn], np.random.default_rng(seed))
    values, seconds = _against_classes(CLUSTERERS[method], changed, labels, seed)
    return {**values, "view": turn}, seconds


def missing(dataset: str, setting: str, method: str, seed: int) -> tuple[Values, float]:
    """Cluster a data set of which cells are missing; the same for all methods."""
    views, labels = load(dataset)
    changed = remove_cells(views, np.random.default_rng(seed))
    return _against_classes(CLUSTERERS[method], changed, labels, seed)


def derived(dataset: str, setting: str, method: str, seed: int) -> tuple[Values, float]:
    """Cluster a check set."""
    views, labels = load_check_set(dataset)
    return _against_classes(CLUSTERERS[method], views, labels, seed)


def ablation(dataset: str, setting: str, method: str, seed: int) -> tuple[Values, float]:
    """Cluster a data set with a part of the ensemble switched off."""
    views, labels = load(dataset)
    with WITHOUT[setting]():
        return _against_classes(CLUSTERERS[method], views, labels, seed)


def _against_classes(
    cluster: Cluster, views: Views, labels: np.ndarray, seed: int
) -> tuple[dict[str, float], float]:
    found, seconds = timed(cluster, views, len(np.unique(labels)), seed)
    values = {"nmi": nmi_max(labels, found), "accuracy": clustering_accuracy(labels, found)}
    return values, seconds


# -- topics and search -----------------------------------------------------------------------------


def topics(dataset: str, setting: str, method: str, seed: int) -> tuple[Values, float]:
    """Fit the training documents; perplexity of half of the tokens of each test document."""
    train, test = train_and_test(dataset, seed)
    model, seconds = timed(STARTS[method], train, _n_topics(setting), seed)
    perplexity, _ = timed(model.perplexity, test)
    return {"perplexity": perplexity}, seconds


def search(dataset: str, setting: str, method: str, seed: int) -> tuple[Values, float]:
    """Fit the training documents; search each view of the test documents with the other."""
    train, test = train_and_test(dataset, seed)
    model, seconds = timed(STARTS[method], train, _n_topics(setting), seed)
    # each view on its own: no query knows its answer
    mixtures = {name: timed(model.transform, test.select(name))[0] for name in test.names}
    values = {}
    for query, answer in permutations(test.names, 2):
        scores = similarity(mixtures[query], mixtures[answer])
        labels = np.asarray(test.labels)
        values[f"median rank, {query} to {answer}"] = median_rank(scores)
        values[f"MAP, {query} to {answer}"] = mean_average_precision(scores, labels, labels)
    return values, seconds


def _n_topics(setting: str) -> int:
    return int(setting.split()[0])


# -- cost ------------------------------------------------------------------------------------------


def cost(dataset: str, setting: str, method: str, seed: int) -> tuple[Values, float]:
    """Fit in a process of its own, after a first small fit that compiles."""
    command = [sys.executable, "-m", "experiments.defaults.one_fit", dataset, setting, method]
    done = subprocess.run([*command, str(seed)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    values = json.loads(done.stdout)
    return values, values["cpu_seconds"]


# -- all of them -----------------------------------------------------------------------------------

PARTS = {
    "clusters": Part(clusters, CLUSTERERS, tuple(CLUSTERERS), DATASETS),
    "robustness": Part(robustness, CLUSTERERS, ("auto",), DATASETS, tuple(CHANGES)),
    "missing": Part(missing, CLUSTERERS, (*BASELINES, "auto"), DATASETS),
    "derived": Part(derived, CLUSTERERS, (*BASELINES, "auto"), tuple(CHECK_SETS)),
    "ablation": Part(ablation, CLUSTERERS, ("auto",), DATASETS, tuple(WITHOUT)),
    "topics": Part(topics, STARTS, tuple(STARTS), ("20newsgroups", "python_api"), TOPICS),
    "search": Part(
        search, STARTS, ("old", "default", "auto"), ("python_api", "wikipedia"), SEARCH_TOPICS
    ),
    "cost": Part(
        cost, STARTS, ("old", "default"), ("20newsgroups", "wikipedia", "python_api"), COST_TOPICS
    ),
}
