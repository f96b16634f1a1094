"""Check sets: data that the settings were not measured on, made of data that are at hand.

Parts of 20newsgroups whose tokens are dealt to views, parts of the fourteen data sets (some views,
some classes, few or uneven documents, missing views), and data sets that are installed with coview
and scikit-learn. Each is drawn once, whatever the seed of a method.

Sets of `CHOSEN_WITH` are of the kinds that were looked at when settings were chosen (drawn anew, as
the random numbers are others); `MADE_AFTERWARDS` was not. `OTHER_BASES` are dense views of few
columns, or written in another basis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from coview import Views
from coview.datasets import (
    load_20newsgroups,
    load_digits_views,
    load_newsgv2,
    load_newsgv4,
    load_python_api,
    load_wikipedia,
)
from experiments.defaults.changes import remove_cells
from experiments.defaults.data import load

Labeled = tuple[Views, np.ndarray]

SEED = 2  # of every draw
LEAST_DOCUMENTS = 3  # of a word in a part of 20newsgroups
LEAST_FUNCTIONS = 50  # of a module in the part of python_api


@dataclass(frozen=True)
class CheckSet:
    """A check set: what it is in words, and what makes it."""

    says: str
    make: Callable[[], Labeled]


@lru_cache(maxsize=2)
def load_check_set(name: str) -> Labeled:
    """Return the views of a check set, without their labels, and the labels."""
    return CHECK_SETS[name].make()


# -- parts of 20newsgroups -------------------------------------------------------------------------


def news(groups: Sequence[int], n_docs: int | Sequence[int], n_views: int) -> Labeled:
    """Return posts of some groups, so many of each, with their tokens dealt to views at random."""
    views, labels = unlabeled(load_20newsgroups())
    rng = np.random.default_rng(SEED)
    docs = few_of_each(labels, groups, n_docs, rng)
    words = sp.csr_array(views["words"][docs])
    common = np.bincount(words.indices, minlength=words.shape[1]) >= LEAST_DOCUMENTS
    return Views(deal_tokens(words[:, np.flatnonzero(common)], n_views, rng)), labels[docs]


def deal_tokens(
    counts: sp.csr_array, n_views: int, rng: np.random.Generator
) -> dict[str, sp.csr_array]:
    """Give each token to one of the views at random; words that a view lacks are left out.

    >>> counts = sp.csr_array([[4.0, 2.0], [0.0, 6.0]])
    >>> dealt = deal_tokens(counts, 2, np.random.default_rng(0))
    >>> (dealt["part_0"] + dealt["part_1"]).toarray()
    array([[4., 2.],
           [0., 6.]])
    """
    entries = counts.tocoo()
    drawn = rng.multinomial(entries.data.astype(int), np.full(n_views, 1 / n_views))
    dealt = {}
    for v, values in enumerate(drawn.T):
        there = np.flatnonzero(values)
        places = entries.row[there], entries.col[there]
        part = sp.csr_array((values[there].astype(float), places), shape=counts.shape)
        dealt[f"part_{v}"] = part[:, np.unique(part.indices)]
    return dealt


# -- parts of other data sets ----------------------------------------------------------------------


def part_of(
    name: str,
    views: Sequence[str] = (),
    classes: Sequence[int] = (),
    n_docs: int | Sequence[int] | None = None,
) -> Labeled:
    """Return some views, some classes and at most so many documents of each (by default all)."""
    whole, labels = load(name)
    classes = classes or list(range(labels.max() + 1))
    docs = few_of_each(labels, classes, n_docs, np.random.default_rng(SEED))
    part = whole.select(*(views or whole.names))[docs]
    matrices = {  # links stay links
        view: matrix[:, docs] if matrix.shape[1] == whole.n_docs else matrix
        for view, matrix in part.matrices.items()
    }
    return Views(matrices, present=part.present), labels[docs]


def few_of_each(
    labels: np.ndarray,
    classes: Sequence[int],
    n_docs: int | Sequence[int] | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw at most so many documents of each class; a number for each, one for all, or None."""
    most = [n_docs] * len(classes) if n_docs is None or isinstance(n_docs, int) else n_docs
    drawn = [
        rng.permutation(np.flatnonzero(labels == c))[:n] for c, n in zip(classes, most, strict=True)
    ]
    return np.sort(np.concatenate(drawn))


def with_gaps(given: Labeled, share: float) -> Labeled:
    """Take this share of the (document, view) cells away; each document keeps one."""
    views, labels = given
    return remove_cells(views, np.random.default_rng(SEED), share), labels


def unlabeled(views: Views) -> Labeled:
    """Return the views without their labels, and the labels."""
    return Views(views.matrices, present=views.present), np.asarray(views.labels)


# -- data that are installed, and generated ones ---------------------------------------------------


def large_modules() -> Labeled:
    """Return docstrings and code of the modules with many functions."""
    views, labels = unlabeled(load_python_api())
    docs = np.flatnonzero(np.bincount(labels)[labels] >= LEAST_FUNCTIONS)
    part = views[docs]
    return Views(part.matrices, present=part.present), labels[docs]


def wikipedia_topics(*names: str) -> Labeled:
    """Return these views of wikipedia."""
    return unlabeled(load_wikipedia(views=names))


def tumors() -> Labeled:
    """Return scikit-learn's breast cancer data: mean, error and worst value of ten features."""
    from sklearn.datasets import load_breast_cancer

    rows, labels = load_breast_cancer(return_X_y=True)
    views = zip(("mean", "error", "worst"), np.split(rows, 3, axis=1), strict=True)
    return Views(dict(views)), labels


def many_small_clusters(n_clusters: int = 60, n_docs: int = 12) -> Labeled:
    """Return dense views of many small clusters around centers in eight dimensions."""
    rng = np.random.default_rng(SEED)
    labels = np.repeat(np.arange(n_clusters), n_docs)
    centers = rng.standard_normal((n_clusters, 8))[labels]
    views = {}
    for v, noise in enumerate((2.5, 3.75, 5.0)):
        seen = centers @ rng.standard_normal((8, 64))
        views[f"view_{v}"] = seen + noise * rng.standard_normal(seen.shape)
    return Views(views), labels


# -- the same in another basis, and few columns ----------------------------------------------------


def standardized(rows: np.ndarray) -> np.ndarray:
    """Return the rows with mean 0 and spread 1 in each feature."""
    spread = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)


def changed_values(given: Labeled, change: Callable[[np.ndarray], np.ndarray]) -> Labeled:
    """Return standardized views, each changed by a function."""
    views, labels = given
    matrices = {}
    for name, has in zip(views.names, views.present.T, strict=True):
        rows = views[name].toarray()[has].astype(float)
        changed = change(standardized(rows))
        matrices[name] = np.zeros((len(labels), changed.shape[1]))
        matrices[name][has] = changed
    return Views(matrices, present=views.present), labels


def rotated(rows: np.ndarray) -> np.ndarray:
    """Return rows in another orthonormal basis, and shifted."""
    rng = np.random.default_rng(SEED)
    turn = np.linalg.qr(rng.standard_normal((rows.shape[1],) * 2))[0]
    return rows @ turn + rng.standard_normal(rows.shape[1])


def principal(n_components: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return what gives the leading principal components of rows."""

    def scores(rows: np.ndarray) -> np.ndarray:
        left, size, _ = np.linalg.svd(rows, full_matrices=False)
        return (left * size)[:, :n_components]

    return scores


def gaussians(
    n_clusters: int, n_columns: int, n_views: int, spread: float, stretch: float = 1.0
) -> Labeled:
    """Return Gaussian clusters in views of few columns; `stretch` makes them longer than wide."""
    rng = np.random.default_rng(SEED)
    labels = np.repeat(np.arange(n_clusters), 600 // n_clusters)
    views = {}
    for v in range(n_views):
        centers = 2 * rng.standard_normal((n_clusters, n_columns))
        noise = rng.standard_normal((len(labels), n_columns))
        turn = np.linalg.qr(rng.standard_normal((n_columns,) * 2))[0]
        noise[:, 0] *= stretch
        views[f"view_{v}"] = 3 + centers[labels] + spread * noise @ turn
    return Views(views), labels


def histograms(n_clusters: int, n_docs: int, n_columns: int, alike: float) -> Labeled:
    """Return histograms of many classes, as of shapes and textures; `alike` is their precision."""
    rng = np.random.default_rng(SEED)
    labels = np.repeat(np.arange(n_clusters), n_docs)
    views = {}
    for v in range(3):
        centers = rng.dirichlet(np.full(n_columns, 0.5), n_clusters)
        views[f"view_{v}"] = np.array([rng.dirichlet(alike * centers[c] + 0.02) for c in labels])
    return Views(views), labels


def topic_shares(given: Labeled, n_topics: int) -> Labeled:
    """Return the shares of topics in each view of counts, as another topic model finds them."""
    from sklearn.decomposition import LatentDirichletAllocation

    views, labels = given
    shares = {}
    for name, counts in views.matrices.items():
        model = LatentDirichletAllocation(n_topics, random_state=SEED, max_iter=20)
        shares[name] = model.fit_transform(counts)
    return Views(shares), labels


def parts_of_table(load_table: str, cuts: Sequence[int]) -> Labeled:
    """Return the features of one of scikit-learn's tables, cut into views."""
    from sklearn import datasets

    rows, labels = getattr(datasets, load_table)(return_X_y=True)
    parts = np.split(rows, cuts, axis=1)
    return Views({f"part_{v}": part for v, part in enumerate(parts)}), labels


# -- all of them -----------------------------------------------------------------------------------

OTHER_BASES = {
    "mfeat rotated": CheckSet(
        "z-scores in another basis, shifted", lambda: changed_values(part_of("mfeat"), rotated)
    ),
    "mfeat pca 8": CheckSet(
        "8 principal components a view", lambda: changed_values(part_of("mfeat"), principal(8))
    ),
    "msrcv1 rotated": CheckSet(
        "z-scores in another basis, shifted", lambda: changed_values(part_of("msrcv1"), rotated)
    ),
    "msrcv1 pca 10": CheckSet(
        "10 principal components", lambda: changed_values(part_of("msrcv1"), principal(10))
    ),
    "digits rotated": CheckSet(
        "z-scores in another basis, shifted",
        lambda: changed_values(unlabeled(load_digits_views()), rotated),
    ),
    "digits pca 5": CheckSet(
        "5 principal components",
        lambda: changed_values(unlabeled(load_digits_views()), principal(5)),
    ),
    "bdgp pca 20": CheckSet(
        "20 principal components", lambda: changed_values(part_of("bdgp"), principal(20))
    ),
    "mnist4 lda npe": CheckSet("2 of 3 views", lambda: part_of("mnist4", ["lda9", "npe30"])),
    "wikipedia lda": CheckSet(
        "10 topics beside the pictures", lambda: wikipedia_topics("text_lda10", "image_sift128")
    ),
    "wikipedia words lda": CheckSet(
        "words, topics and pictures",
        lambda: wikipedia_topics("text_words", "text_lda10", "image_sift128"),
    ),
    "ngs lda 8": CheckSet("shares of 8 topics", lambda: topic_shares(part_of("ngs"), 8)),
    "news lda 12": CheckSet(
        "6 groups in 3 views, shares of 12 topics",
        lambda: topic_shares(news([2, 7, 10, 13, 15, 18], 80, 3), 12),
    ),
    "gauss 3 x 3": CheckSet("3 clusters, 3 views of 3", lambda: gaussians(3, 3, 3, 1.6)),
    "gauss 6 x 2": CheckSet("6 clusters, 3 views of 2", lambda: gaussians(6, 2, 3, 0.9)),
    "gauss 12 x 5": CheckSet("12 clusters, 2 views of 5", lambda: gaussians(12, 5, 2, 1.6)),
    "gauss 20 x 10": CheckSet("20 clusters, 2 views of 10", lambda: gaussians(20, 10, 2, 2.2)),
    "gauss long": CheckSet(
        "5 long clusters, 3 views of 4", lambda: gaussians(5, 4, 3, 0.8, stretch=4)
    ),
    "wine": CheckSet("13 measurements in 2 views", lambda: parts_of_table("load_wine", [7])),
    "iris": CheckSet("2 views of 2 measurements", lambda: parts_of_table("load_iris", [2])),
    "histograms 40": CheckSet("40 classes of 10", lambda: histograms(40, 10, 64, 12)),
    "histograms 100": CheckSet("100 classes of 16", lambda: histograms(100, 16, 64, 12)),
}
CHOSEN_WITH = {
    "news 5 x 2": CheckSet(
        "20newsgroups, 5 groups of 80 posts, tokens dealt to 2 views",
        lambda: news([0, 5, 9, 14, 17], 80, 2),
    ),
    "news 5 x 4": CheckSet("5 groups of 120, 4 views", lambda: news([1, 4, 8, 12, 16], 120, 4)),
    "news 6 x 3 gaps": CheckSet(
        "6 groups of 80, 3 views, 25 % of the cells missing",
        lambda: with_gaps(news([2, 7, 10, 13, 15, 18], 80, 3), 0.25),
    ),
    "news 20 x 2": CheckSet("20 groups of 150, 2 views", lambda: news(range(20), 150, 2)),
    "news comp x 3": CheckSet(
        "the 5 groups comp.*, 140 each, 3 views", lambda: news([1, 2, 3, 4, 5], 140, 3)
    ),
    "mfeat fou zer": CheckSet("2 of 6 views", lambda: part_of("mfeat", ["fou", "zer"])),
    "mfeat mor kar": CheckSet("2 of 6 views", lambda: part_of("mfeat", ["mor", "kar"])),
    "mfeat small": CheckSet("20 of each class", lambda: part_of("mfeat", n_docs=20)),
    "mfeat gaps": CheckSet(
        "60 of each class, 30 % of the cells missing",
        lambda: with_gaps(part_of("mfeat", n_docs=60), 0.3),
    ),
    "msrcv1 3 views": CheckSet(
        "3 of 5 views", lambda: part_of("msrcv1", ["cm24", "gist512", "lbp256"])
    ),
    "reuters en fr": CheckSet("2 of 5 languages", lambda: part_of("reuters1200", ["en", "fr"])),
    "reuters gaps": CheckSet(
        "60 of each class, 30 % of the cells missing",
        lambda: with_gaps(part_of("reuters1200", n_docs=60), 0.3),
    ),
    "mnist4 small": CheckSet("100 of each class", lambda: part_of("mnist4", n_docs=100)),
    "bdgp small": CheckSet("100 of each class", lambda: part_of("bdgp", n_docs=100)),
    "wikipedia small": CheckSet("80 of each class", lambda: part_of("wikipedia", n_docs=80)),
    "many small clusters": CheckSet(
        "generated, 60 clusters of 12, 3 dense views", many_small_clusters
    ),
}
MADE_AFTERWARDS = {
    "news 4 x 2": CheckSet(
        "20newsgroups, 4 groups of 200 posts, tokens dealt to 2 views",
        lambda: news([6, 11, 13, 17], 200, 2),
    ),
    "news rec sci x 3": CheckSet(
        "8 groups rec.* and sci.*, 100 each, 3 views", lambda: news([*range(7, 15)], 100, 3)
    ),
    "news talk x 2": CheckSet(
        "6 groups about religion and politics, 100 each, 2 views",
        lambda: news([0, 15, 16, 17, 18, 19], 100, 2),
    ),
    "news uneven": CheckSet(
        "5 groups of 400, 200, 100, 50 and 25, 3 views",
        lambda: news([3, 10, 14, 16, 6], [400, 200, 100, 50, 25], 3),
    ),
    "news 10 x 4 gaps": CheckSet(
        "10 groups of 100, 4 views, 40 % of the cells missing",
        lambda: with_gaps(news(range(0, 20, 2), 100, 4), 0.4),
    ),
    "newsgv2": CheckSet(
        "a post of each of 2 groups, 2 views, 2 classes", lambda: unlabeled(load_newsgv2())
    ),
    "newsgv4": CheckSet(
        "a post of each of 4 groups, 4 views, 3 classes", lambda: unlabeled(load_newsgv4())
    ),
    "python_api": CheckSet("docstrings and code, modules of 50 and more functions", large_modules),
    "digits": CheckSet(
        "scikit-learn's digits, 5 dense views", lambda: unlabeled(load_digits_views())
    ),
    "tumors": CheckSet("scikit-learn's breast cancer, 3 dense views of 10 features", tumors),
    "mfeat uneven": CheckSet(
        "6 views, 20 to 200 of a class", lambda: part_of("mfeat", n_docs=[*range(20, 201, 20)])
    ),
    "mfeat 5 classes": CheckSet(
        "digits 1, 3, 5, 7 and 9 by 3 of 6 views",
        lambda: part_of("mfeat", ["fou", "zer", "mor"], [1, 3, 5, 7, 9]),
    ),
    "msrcv1 2 views": CheckSet(
        "2 of 5 views", lambda: part_of("msrcv1", ["hog576", "centrist254"])
    ),
    "reuters gr it sp": CheckSet(
        "3 of 5 languages, 4 of 6 classes",
        lambda: part_of("reuters1200", ["gr", "it", "sp"], [0, 2, 3, 5]),
    ),
    "cora 4 classes": CheckSet("words and links", lambda: part_of("cora", (), [1, 2, 4, 6])),
    "ngs gaps": CheckSet("half of the cells missing", lambda: with_gaps(part_of("ngs"), 0.5)),
    "wikipedia uneven": CheckSet(
        "300, 150, 80, 40 and 20 of 5 classes",
        lambda: part_of("wikipedia", (), [9, 1, 2, 3, 8], [300, 150, 80, 40, 20]),
    ),
    "mnist4 2 views gaps": CheckSet(
        "250 of each class, 30 % of the cells missing",
        lambda: with_gaps(part_of("mnist4", ["iso30", "npe30"], (), 250), 0.3),
    ),
}
CHECK_SETS = {**OTHER_BASES, **MADE_AFTERWARDS, **CHOSEN_WITH}
