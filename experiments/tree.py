"""Levels of a tree of topics against models fitted with as many topics.

    python -m experiments.tree [--sets ngs,cora] [--seeds 1] > experiments/tree.md

A model with many topics is fitted to four fifths of the documents. Its tree has a level with as
many topics as there are classes, and one between. Each level is compared with a model that was
fitted with as many topics: NMI of its labels with the classes, and perplexity of half of the tokens
of the other documents, folded in on the other half. `kept`: the share of the documents whose topic
at the level is that of the fitted model (topics of the two matched one to one). `new`: NMI of the
new documents, by `at_level(n).predict`, and by the sum of their shares in the fine model.
`COVIEW_DATA` names the folder with the data.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import coview
from coview import LinkPLSA, Views
from coview.datasets import load_dataset, load_python_api
from coview.metrics import normalized_mutual_info
from coview.tree import build_tree

N_NEWS = 6_000  # documents of 20newsgroups
HELD = 5  # one document of so many is new
Row = tuple[Any, ...]


def news() -> Views:
    """Return some posts, by the words that are in five of them."""
    posts = load_dataset("20newsgroups")
    posts = posts[np.random.default_rng(0).choice(len(posts), N_NEWS, replace=False)]
    frequent = np.flatnonzero((posts["words"] > 0).sum(axis=0) >= 5)
    return Views({"words": posts["words"][:, frequent]}, labels=posts.labels)


def _of(name: str) -> Callable[[], Views]:
    return lambda: load_dataset(name)


# the data, how many fine topics, and how many at the coarse level: the classes
SETS: dict[str, tuple[Callable[[], Views], int, int]] = {
    "ngs": (_of("ngs"), 15, 5),
    "reuters1200": (_of("reuters1200"), 30, 6),
    "wikipedia": (_of("wikipedia"), 28, 10),
    "mfeat": (_of("mfeat"), 25, 10),
    "mnist4": (_of("mnist4"), 15, 4),
    "msrcv1": (_of("msrcv1"), 14, 7),
    "bdgp": (_of("bdgp"), 20, 5),
    "cora": (_of("cora"), 30, 7),
    "synthetic3d": (_of("synthetic3d"), 10, 3),
    "wikiarticles": (_of("wikiarticles"), 25, 10),
    "webkb_cornell": (_of("webkb_cornell"), 14, 5),
    "webkb_texas": (_of("webkb_texas"), 14, 5),
    "webkb_washington": (_of("webkb_washington"), 14, 5),
    "webkb_wisconsin": (_of("webkb_wisconsin"), 14, 5),
    "python_api": (load_python_api, 60, 8),
    "20newsgroups": (news, 40, 20),
}


def kept_share(own: np.ndarray, level: np.ndarray) -> float:
    """Return the share of equal labels, with the numbers of topics matched one to one."""
    meet = np.zeros((max(own.max(), level.max()) + 1,) * 2)
    np.add.at(meet, (own, level), 1)
    rows, columns = linear_sum_assignment(meet, maximize=True)
    return float(meet[rows, columns].sum() / len(own))


def measure(name: str, seed: int) -> Iterator[Row]:
    """Yield a row of numbers for each level of the tree of one data set."""
    load, n_fine, n_classes = SETS[name]
    views = load()
    new = np.random.default_rng(seed).permutation(len(views)) < len(views) // HELD
    seen, held = views[np.flatnonzero(~new)], views[np.flatnonzero(new)]
    start = time.perf_counter()
    fine = LinkPLSA(n_fine, random_state=seed).fit(seen)
    fitted = time.perf_counter()
    between = round((n_fine * n_classes) ** 0.5)
    fine.topic_tree_ = tree = build_tree(fine, seen, (n_classes, between))
    built = time.perf_counter()
    mixtures = fine.transform(held)
    for level, n in enumerate(tree.levels[1:], 1):
        coarse, own = fine.at_level(n), LinkPLSA(n, random_state=seed).fit(seen)
        of = np.asarray(tree.members[level - 1])
        summed = np.stack([mixtures[:, of == z].sum(axis=1) for z in range(n)], axis=1)
        yield (
            name,
            n_fine,
            n,
            100 * normalized_mutual_info(seen.labels, coarse.labels_),
            100 * normalized_mutual_info(seen.labels, own.labels_),
            coarse.perplexity(held),
            own.perplexity(held),
            kept_share(own.labels_, coarse.labels_),
            100 * normalized_mutual_info(held.labels, coarse.predict(held, unknown="guess")),
            100 * normalized_mutual_info(held.labels, summed.argmax(axis=1)),
            (built - start) / (fitted - start),
        )


def main() -> None:
    """Print the table, row by row, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"Levels of trees and models with as many topics, coview {coview.__version__}.\n")
    head = "data,fine,level,NMI,of its own,perplexity,of its own,kept,new,by summed shares"
    print(f"| {' | '.join(head.split(','))} |\n|{'---|' * 10}")
    rows = []
    for name in given.sets.split(","):
        for seed in range(given.seeds):
            for row in measure(name, seed):
                rows.append(row)
                cells = [f"{x:.4g}" if isinstance(x, float) else str(x) for x in row[:10]]
                print(f"| {' | '.join(cells)} |", flush=True)
    parts = np.array([row[3:] for row in rows])
    nmi, perplexity = parts[:, 0] - parts[:, 1], parts[:, 2] / parts[:, 3] - 1
    print(
        f"\nMeans over {len(rows)} levels: NMI {nmi.mean():+.1f} points, perplexity "
        f"{100 * perplexity.mean():+.1f} %, {100 * parts[:, 4].mean():.0f} % of the documents keep "
        f"their coarse topic; new documents have NMI {parts[:, 5].mean():.1f}, by summed shares "
        f"{parts[:, 6].mean():.1f}. Fit and tree took {parts[:, 7].mean():.2f} times the fit."
    )


if __name__ == "__main__":
    main()
