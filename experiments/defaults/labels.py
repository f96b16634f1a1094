"""A few labels: is TopicClassifier as good as the simple classifiers? Writes labels.csv and .md.

    COVIEW_DATA=... python -m experiments.defaults.labels [--draws 20] [--data ngs ...]

For each data set, rate and draw, that share of each class (at least one document) is labeled, and
the accuracy is that on all other documents. The rivals:

    naive_bayes   multinomial naive Bayes of each view, posteriors summed (`NaiveBayesViews`)
    co_training   `CoTraining`
    logistic      logistic regression on the views side by side: tf-idf with rows of length one;
                  dense real views scaled to [0, 1], rows of length one
    logistic_z    the same, with dense real views as z-scores instead
    spreading     LabelSpreading (alpha = .2, scikit-learn's default) on the mean of the views'
                  graphs of 15 nearest neighbors
    spreading_9   the same with alpha = .9

and `TopicClassifier` of `LinkPLSA`:

    default       as it is
    guess         the guess alone, without EM
    no_guess      guess_strength=0: EM from naive Bayes, balanced weights
    ones          the same with weights 1
    mggm          the same with `MGGM`, balanced weights

The space of the guess does not depend on the labels; here it is made once for all draws (a fit by
itself makes it anew). Rows that the file already has are not computed again. `code` is a digest of
the sources that decide a fit (`results.py`).
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview import MGGM, LinkPLSA, TopicClassifier, Views, classifier, label_guess
from coview.baselines import CoTraining, NaiveBayesViews
from coview.datasets.folders import data_home
from coview.em.features import Features
from coview.graphs.neighbors import knn_graph
from experiments.defaults.results import code_digest

SETS = {
    "webkb_cornell": ("content", "cites"),
    "webkb_texas": ("content", "cites"),
    "webkb_washington": ("content", "cites"),
    "webkb_wisconsin": ("content", "cites"),
    "msrcv1": None,
    "ngs": None,
    "reuters1200": None,
    "mfeat": None,
    "bdgp": None,
    "cora": ("content", "cites"),
    "wikipedia": ("text_words", "image_sift128"),
    "mnist4": None,
}
RATES = (0.01, 0.02, 0.05)
N_NEIGHBORS = 15
HERE = Path(__file__).parent
COLUMNS = ("dataset", "method", "rate", "draw", "accuracy", "seconds", "code")


@dataclass
class Data:
    """A data set, with what is the same in every draw."""

    name: str
    views: Views
    labels: np.ndarray

    @cached_property
    def points(self) -> dict[str, sp.csr_array]:
        """Each view as tf-idf, or scaled, with rows of length one."""
        return Features.learn(self.views).points(self.views)

    @cached_property
    def z_scores(self) -> sp.csr_array:
        """The views side by side, dense ones as z-scores."""
        scaled = Features.learn(self.views).scaling
        parts = []
        for name, points in self.points.items():
            if name in scaled:
                values = self.views[name].toarray().astype(float)
                spread = values.std(axis=0)
                values = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1)
                points = sp.csr_array(values)
            parts.append(points)
        return sp.csr_array(sp.hstack(parts, format="csr"))

    @cached_property
    def graph(self) -> sp.csr_array:
        """The mean of the views' graphs of nearest neighbors, normalized on both sides."""
        present = dict(zip(self.views.names, self.views.present.T, strict=True))
        graphs = [
            knn_graph(p, N_NEIGHBORS, present=present[name]) for name, p in self.points.items()
        ]
        total = sum(graphs) / len(graphs)
        root = sp.diags_array(1 / np.sqrt(np.maximum(total.sum(axis=1), 1e-12)))
        return sp.csr_array(root @ total @ root)


def load(name: str) -> Data:
    """Read a data set from COVIEW_DATA; links count in both directions."""
    views = Views.load(data_home() / name, views=SETS[name])
    labels = views.labels
    if "cites" in views.names:
        links = views["cites"].astype(float)
        matrices = {"content": views["content"], "cites": sp.csr_array(links + links.T)}
        views = Views(matrices)
    return Data(name, views.with_labels(None), np.asarray(labels))


def draw_labels(labels: np.ndarray, rate: float, draw: int) -> np.ndarray:
    """Return the labels of a random share of each class, at least one; -1 for the others."""
    rng = np.random.default_rng(draw)
    few = np.full(len(labels), -1)
    for c in np.unique(labels[labels >= 0]):
        rows = np.flatnonzero(labels == c)
        few[rng.permutation(rows)[: max(1, round(rate * len(rows)))]] = c
    return few


# -- methods: each returns the class of every document ---------------------------------------------

Method = Callable[[Data, np.ndarray], np.ndarray]


def logistic(points: sp.csr_array, few: np.ndarray) -> np.ndarray:
    """Logistic regression on the labeled documents."""
    from sklearn.linear_model import LogisticRegression

    known = few >= 0
    return LogisticRegression(max_iter=2000).fit(points[known], few[known]).predict(points)


def spreading(graph: sp.csr_array, few: np.ndarray, alpha: float) -> np.ndarray:
    """Label spreading (Zhou et al., 2004) over a normalized graph."""
    given = np.zeros((len(few), few.max() + 1))
    given[few >= 0, few[few >= 0]] = 1
    scores = given
    for _ in range(int(np.ceil(np.log(1e-6) / np.log(alpha)))):
        scores = alpha * (graph @ scores) + (1 - alpha) * given
    return scores.argmax(axis=1)


def topics(model: LinkPLSA | MGGM, **params: Any) -> Method:
    """Return the classifier of a model."""
    return lambda data, few: TopicClassifier(model, **params).fit(data.views, few).labels_


def guess_alone(data: Data, few: np.ndarray) -> np.ndarray:
    """Return the classes of the guess, from a fit of one iteration."""
    return TopicClassifier(model(max_iter=1)).fit(data.views, few).guess_.argmax(axis=1)


_SPACES: dict[tuple[int, int], label_guess.FusedSpace] = {}


def space_made_once(counts: Any, present: np.ndarray, n_classes: int, seed: int) -> Any:
    """Return the space of a data set, made when it is first asked for."""
    key = sum(m.nnz for m in counts.values()), n_classes
    if key not in _SPACES:
        _SPACES[key] = label_guess.learn_space(counts, present, n_classes, seed)
    return _SPACES[key]


def model(kind: type = LinkPLSA, **params: object) -> LinkPLSA:
    return kind(random_state=0, n_jobs=1, **params)


def all_ones(data: Data, few: np.ndarray) -> np.ndarray:
    weights = dict.fromkeys(data.views.names, 1.0)
    return topics(model(view_weights=weights), guess_strength=0)(data, few)


METHODS: dict[str, Method] = {
    "naive_bayes": lambda data, few: NaiveBayesViews().fit(data.views, few).labels_,
    "co_training": lambda data, few: CoTraining(random_state=0).fit(data.views, few).labels_,
    "logistic": lambda data, few: logistic(
        sp.csr_array(sp.hstack(list(data.points.values()), format="csr")), few
    ),
    "logistic_z": lambda data, few: logistic(data.z_scores, few),
    "spreading": lambda data, few: spreading(data.graph, few, 0.2),
    "spreading_9": lambda data, few: spreading(data.graph, few, 0.9),
    "default": topics(model()),
    "guess": guess_alone,
    "no_guess": topics(model(view_weights="balanced"), guess_strength=0),
    "ones": all_ones,
    "mggm": topics(model(MGGM, view_weights="balanced"), guess_strength=0),
}


# -- running ---------------------------------------------------------------------------------------


def run(data: Data, method: str, rate: float, draw: int) -> tuple[float, float]:
    """Return accuracy on the unlabeled documents, and CPU seconds."""
    few = draw_labels(data.labels, rate, draw)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = METHODS[method](data, few)
    rest = (few < 0) & (data.labels >= 0)
    return float((found[rest] == data.labels[rest]).mean()), time.process_time() - start


def missing(path: Path, plan: Iterator[tuple[str, str, float, int]]) -> list[tuple]:
    """Return what the file does not have yet."""
    known = set()
    if path.exists():
        with path.open() as file:
            known = {
                (r["dataset"], r["method"], r["rate"], r["draw"]) for r in csv.DictReader(file)
            }
    return [p for p in plan if (p[0], p[1], str(p[2]), str(p[3])) not in known]


# -- table -----------------------------------------------------------------------------------------

RIVALS = ("naive_bayes", "co_training", "logistic", "logistic_z", "spreading", "spreading_9")
Accuracies = dict[tuple[str, str, float], list[float]]


def read_accuracies(path: Path) -> Accuracies:
    """Return the accuracies of all draws in %, by data set, method and rate."""
    found: Accuracies = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            key = row["dataset"], row["method"], float(row["rate"])
            found.setdefault(key, []).append(100 * float(row["accuracy"]))
    return found


def cell(values: list[float] | None) -> str:
    """Return mean and standard error, with the number of draws if these are not 20."""
    if not values:
        return ""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    few = "" if len(values) == 20 else f" ({len(values)})"
    return f"{np.mean(values):.1f} ± {error:.1f}{few}"


def verdict(found: Accuracies, name: str, rate: float) -> str:
    """Return the default's lead over the best rival, and how many standard errors that is."""
    ours = found.get((name, "default", rate))
    rivals = [v for m in RIVALS if (v := found.get((name, m, rate)))]
    if not ours or not rivals:
        return ""
    lead = np.mean(ours) - max(map(np.mean, rivals))
    return f"{lead:+.1f} ({lead * np.sqrt(len(ours)) / np.std(ours, ddof=1):+.1f})"


def write_table(path: Path) -> None:
    """Write the means of a file of accuracies as a table, beside it."""
    found = read_accuracies(path)
    methods = [m for m in METHODS if any(key[1] == m for key in found)]
    lines = [
        "# Accuracy with a few labels",
        "",
        "Generated by `python -m experiments.defaults.labels`, whose docstring says what the",
        "columns are. Accuracy on the unlabeled documents in %, mean ± standard error of 20 draws",
        "(or of as many as are in brackets). `lead`: the default's over the best of the six rivals",
        "of that row, in brackets in standard errors of the default. [README.md](README.md) says",
        "by which state of the code each method was measured.",
        "",
        "| data | labels | lead | " + " | ".join(methods) + " |",
        "|---|---|---|" + "---|" * len(methods),
    ]
    for name in SETS:
        for rate in RATES:
            cells = [cell(found.get((name, m, rate))) for m in methods]
            if any(cells):
                first = [name, f"{rate:.0%}", verdict(found, name, rate)]
                lines.append("| " + " | ".join(first + cells) + " |")
    path.with_suffix(".md").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Compute what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--data", nargs="+", default=list(SETS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--rates", nargs="+", type=float, default=list(RATES))
    parser.add_argument("--out", type=Path, default=HERE / "labels.csv")
    args = parser.parse_args()
    classifier.learn_space = space_made_once
    if not args.out.exists():
        args.out.write_text(",".join(COLUMNS) + "\n")
    for name in args.data:
        plan = (
            (name, method, rate, draw)
            for method in args.methods
            for rate in args.rates
            for draw in range(args.draws)
        )
        todo = missing(args.out, plan)
        data = load(name) if todo else None
        for item in todo:
            accuracy, seconds = run(data, *item[1:])
            with args.out.open("a") as file:
                values = f"{accuracy:.4f},{seconds:.2f},{code_digest()}"
                file.write(",".join(map(str, item)) + f",{values}\n")
    write_table(args.out)


if __name__ == "__main__":
    main()
