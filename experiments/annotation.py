"""Annotation: how many of a document's words in one view a model finds from its other view.

    python -m experiments.annotation [--seeds 3] [--topics 50] > table.md

A model is fitted to the training documents. For each test document the words of one view are ranked
by p(w|d), given the other view alone, and compared with the words that it has: precision and recall
of the first 5 and 10, and mean average precision of the whole ranking. Words that never occur in
training do not count. In the dense image view of wikipedia, where most pictures have most visual
words, the ten largest values of a picture (scaled as in the model) are those to be found.
docs/annotation.md has the table. `COVIEW_DATA` names the folder with wikipedia.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np

from coview import MVPLSA, DivergenceCoPLSA, LinkPLSA, Views, auto
from coview.views.density import is_dense
from experiments.defaults.data import train_and_test
from experiments.defaults.parts import timed

N_DENSE = 10  # of the features of a dense view are looked for
FIRST = (5, 10)
MEASURES = ("P@5", "P@10", "R@5", "R@10", "MAP")
FREQUENT = "most frequent words"
CALLED = "LinkPLSA after keep_search"
TRUST = 'LinkPLSA, trust="auto"'
MODELS: dict[str, Callable[[int, int], Any]] = {
    "LinkPLSA": lambda k, seed: LinkPLSA(k, random_state=seed, n_jobs=1),
    "DivergenceCoPLSA": lambda k, seed: DivergenceCoPLSA(k, random_state=seed, n_jobs=1),
    "MVPLSA": lambda k, seed: MVPLSA(k, random_state=seed, n_jobs=1),
}


def fit(name: str, train: Views, n_topics: int, seed: int) -> Any:
    """Fit a model by its name in the table."""
    if name == "auto":
        return auto(train, n_topics, random_state=seed, verbose=False)
    return MODELS[name](n_topics, seed).fit(train)


def words_of(model: Any, test: Views, view: str) -> np.ndarray:
    """Return which words each test document has (documents, terms): those to be found."""
    counts = model.as_counts(test)[view].toarray()
    counts[:, model.term_counts_[view] == 0] = 0
    if not is_dense(test[view]):
        return counts > 0
    least = np.partition(counts, -N_DENSE, axis=1)[:, [-N_DENSE]]
    return counts >= least


def measure(scores: np.ndarray, has: np.ndarray) -> list[float]:
    """Return the `MEASURES` of rankings by scores, as means over the documents with words.

    >>> measure(np.array([[0.5, 0.3, 0.2]]), np.array([[True, False, True]]))[-1]
    0.8333333333333333
    """
    there = np.flatnonzero(has.any(axis=1))
    found = []
    for row in there:
        hits = has[row][np.argsort(-scores[row], kind="stable")]
        places = np.flatnonzero(hits)
        average = float(np.mean(np.arange(1, len(places) + 1) / (places + 1)))
        n_hits = [int(hits[:n].sum()) for n in FIRST]
        precision = [n / k for n, k in zip(n_hits, FIRST, strict=True)]
        found.append([*precision, *(n / len(places) for n in n_hits), average])
    return np.mean(found, axis=0).tolist()


def both_ways(model: Any, name: str, test: Views) -> dict[tuple[str, str, str], list[float]]:
    """Measure each direction: by the model and, once, by frequent words and by both together."""
    found = {}
    for given, view in permutations(test.names, 2):
        has = words_of(model, test, view)
        mixtures = timed(model.transform, test.select(given))[0]
        scores = mixtures.astype(np.float64) @ model.components_[view]
        found[given, view, name] = measure(scores, has)
        if name == "LinkPLSA":
            p_w = model.term_counts_[view] / model.term_counts_[view].sum()
            trust = model.view_reliability_[given] / max(model.view_reliability_.values())
            found[given, view, TRUST] = measure(trust * scores + (1 - trust) * p_w, has)
            found[given, view, FREQUENT] = measure(np.broadcast_to(p_w, scores.shape), has)
            found[given, view, CALLED] = measure(predicted(model, test.select(given), view), has)
    return found


def predicted(model: Any, test: Views, view: str) -> np.ndarray:
    """Return p(w|d) of all terms as `predict_terms` gives them."""
    scores = np.zeros((len(test), model.components_[view].shape[1]))
    with warnings.catch_warnings(action="ignore"):  # documents without a known term
        found = model.predict_terms(test, in_view=view, top=scores.shape[1])
    for row, terms in enumerate(found):
        scores[row, terms.columns] = terms.probabilities
    return scores


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--topics", type=int, default=50)
    options = parser.parse_args()
    print("| data | given → predicted | model |", " | ".join(MEASURES), "|")
    print("| --- | --- | --- |", " | ".join(["---:"] * len(MEASURES)), "|")
    for dataset in ("python_api", "wikipedia"):
        rows: dict[tuple[str, str, str], list[list[float]]] = {}
        for seed in range(options.seeds):
            train, test = train_and_test(dataset, seed)
            for name in (*MODELS, "auto"):
                model = timed(fit, name, train, options.topics, seed)[0]
                if name == "LinkPLSA":
                    model.keep_search(train)
                for key, values in both_ways(model, name, test).items():
                    rows.setdefault(key, []).append(values)
                print(dataset, seed, name, f"{time.process_time():.0f} s", file=sys.stderr)
        for (given, view, name), runs in sorted(rows.items()):
            mean, spread = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=len(runs) > 1)
            cells = [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True)]
            print(f"| {dataset} | {given} → {view} | {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
