"""Do stable topics match classes, and confident documents their class? Writes stability.md.

    python -m experiments.defaults.stability [--seeds 3] [--data ngs mfeat ...]

LinkPLSA with all defaults and as many topics as classes is fitted to each data set, read from
COVIEW_DATA. A document is right if its class is the most frequent one of its topic. Reported are
the area under the ROC curve (AUC) of `doc_confidence_` for being right, beside that of the largest
share in `doc_topic_`, and the rank correlation of `topic_stability_` with the purity of topics and
with their overlap (Jaccard) with the most similar class. Planted data show what stability is where
the answer is known: the right number of topics, too many, and none. The last table has many topics,
as topic models are used.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coview import LinkPLSA, Views
from coview.datasets import DATASETS, load_dataset, make_views
from coview.ensemble.stability import UNSTABLE

DATA = (
    *("mfeat", "msrcv1", "ngs", "reuters1200", "cora", "wikipedia"),
    *("webkb_cornell", "webkb_texas", "webkb_washington", "webkb_wisconsin"),
)
MANY = (("20newsgroups", 20), ("20newsgroups", 50), ("wikipedia", 50))
HERE = Path(__file__).parent
NOISE = {"concentration": 50.0, "term_concentration": 5.0}
PLANTED: dict[str, tuple[dict[str, Any], int]] = {
    "5 topics, 5 fitted": ({"n_docs": 500, "n_topics": 5}, 5),
    "5 topics, 6 fitted": ({"n_docs": 500, "n_topics": 5}, 6),
    "5 topics, 8 fitted": ({"n_docs": 500, "n_topics": 5}, 8),
    "5 topics, 4 fitted": ({"n_docs": 500, "n_topics": 5}, 4),
    "20 topics, 20 fitted": ({"n_docs": 1000, "n_topics": 20}, 20),
    "20 topics, 25 fitted": ({"n_docs": 1000, "n_topics": 20}, 25),
    "noise, 5 fitted": ({"n_docs": 500, "n_topics": 5, **NOISE}, 5),
    "noise, 20 fitted": ({"n_docs": 1000, "n_topics": 5, **NOISE}, 20),
}


def load(name: str) -> Views:
    """Read a data set: as its loader does, where there is one (which leaves out some views)."""
    if name in DATASETS:
        return load_dataset(name)
    return Views.load(Path(os.environ["COVIEW_DATA"]) / name)


def fitted(views: Views, n_topics: int, seed: int) -> LinkPLSA:
    """Return LinkPLSA with all defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, and of instability: it is measured here
        return LinkPLSA(n_topics, random_state=seed, n_jobs=1).fit(views)


# -- against classes -------------------------------------------------------------------------------


def against_classes(model: LinkPLSA, classes: np.ndarray) -> list[float]:
    """Return share of right documents, two AUCs, two correlations, and how many are unstable."""
    from scipy.stats import spearmanr

    known = np.flatnonzero(classes >= 0)
    meet = np.zeros((model.n_components, classes.max() + 1))
    np.add.at(meet, (model.labels_[known], classes[known]), 1)
    sizes = meet.sum(axis=1, keepdims=True)
    purity = (meet / np.maximum(sizes, 1)).max(axis=1)
    overlap = (meet / (sizes + meet.sum(axis=0) - meet)).max(axis=1)
    right = (meet.argmax(axis=1)[model.labels_] == classes)[known]
    stability = model.topic_stability_
    full = np.isfinite(stability)
    return [
        100 * right.mean(),
        _auc(right, model.doc_confidence_[known]),
        _auc(right, model.doc_topic_.max(axis=1)[known]),
        spearmanr(stability[full], purity[full])[0],
        spearmanr(stability[full], overlap[full])[0],
        float(np.nanmin(stability)),
        float(np.nanmedian(stability)),
        (stability < UNSTABLE).mean() * 100,
    ]


def _auc(right: np.ndarray, score: np.ndarray) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(right, score)) if 0 < right.mean() < 1 else np.nan


def class_rows(names: Sequence[str], n_seeds: int) -> list[str]:
    """Return a row of the table for each data set, and one of their means."""
    table = []
    for name in names:
        views = load(name)
        n_classes = len(np.unique(views.labels[views.labels >= 0]))
        found = [
            against_classes(fitted(views, n_classes, seed), views.labels) for seed in range(n_seeds)
        ]
        table.append((f"{name}, {n_classes}", np.nanmean(found, axis=0)))
        print(_row(*table[-1]), flush=True)
    table.append(("mean", np.nanmean([numbers for _, numbers in table], axis=0)))
    return [_row(*each) for each in table]


def _row(name: str, numbers: np.ndarray) -> str:
    right, *middle, unstable = numbers
    cells = [f"{right:.0f}", *(f"{x:.2f}" for x in middle), f"{unstable:.0f}"]
    return f"| {name} | {' | '.join(cells)} |"


# -- planted data, and many topics -----------------------------------------------------------------


def planted_rows(n_seeds: int) -> list[str]:
    """Return what stability is where the answer is known, over other data with each seed."""
    rows = []
    for name, (planted, n_topics) in PLANTED.items():
        found = []
        for seed in range(n_seeds):
            model = fitted(make_views(**planted, random_state=seed), n_topics, seed)
            found.append((np.sort(model.topic_stability_), model.doc_confidence_.mean()))
        rows.append(_spread(name, [s for s, _ in found], float(np.mean([c for _, c in found]))))
        print(rows[-1], flush=True)
    return rows


def many_rows(sets: Sequence[tuple[str, int]]) -> list[str]:
    """Return the stability of many topics, with seed 0, and the time of the fits."""
    rows = []
    for name, n_topics in sets:
        views, start = load(name), time.process_time()
        model = fitted(views, n_topics, 0)
        seconds = time.process_time() - start
        text = f"{name}, {n_topics} ({seconds:.0f} s)"
        rows.append(_spread(text, [model.topic_stability_], float(model.doc_confidence_.mean())))
        print(rows[-1], flush=True)
    return rows


def _spread(name: str, found: Sequence[np.ndarray], confidence: float) -> str:
    quantiles = np.mean([np.nanquantile(s, [0, 0.1, 0.25, 0.5, 0.75, 1]) for s in found], axis=0)
    unstable = 100 * np.mean([(s < UNSTABLE).mean() for s in found])
    cells = [f"{q:.2f}" for q in quantiles]
    return f"| {name} | {' | '.join(cells)} | {unstable:.0f} | {confidence:.2f} |"


# -- the page --------------------------------------------------------------------------------------

SPREAD_HEAD = (
    "| | lowest | 10 % | 25 % | median | 75 % | highest | unstable % | mean confidence |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
)


def page(classes: Sequence[str], planted: Sequence[str], many: Sequence[str], seeds: int) -> str:
    """Return the tables as markdown."""
    lines = [
        "# Stability of topics, confidence of documents",
        "",
        "Generated by `python -m experiments.defaults.stability`; its docstring describes it.",
        f"Means of {seeds} seeds. A topic is called unstable below {UNSTABLE}.",
        "",
        "| data, topics | right % | AUC of `doc_confidence_` | of largest share "
        "| stability and purity | and overlap | lowest | median | unstable % |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *classes,
        "",
        "Planted topics:",
        "",
        *SPREAD_HEAD,
        *planted,
        "",
        "Many topics, seed 0, with the CPU seconds of the fit:",
        "",
        *SPREAD_HEAD,
        *many,
        "",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", nargs="+", default=DATA, metavar="NAME")
    parser.add_argument("--output", type=Path, default=HERE / "stability.md")
    args = parser.parse_args(arguments)
    if not os.environ.get("COVIEW_DATA"):
        parser.error("Set COVIEW_DATA to the folder of the data sets.")
    planted = planted_rows(args.seeds)
    classes = class_rows(args.data, args.seeds)
    args.output.write_text(page(classes, planted, many_rows(MANY), args.seeds), "utf-8")


if __name__ == "__main__":
    main()
