"""How real-valued views with negative values become counts: four ways, measured.

    COVIEW_DATA=... python -m experiments.real_views

Each way turns the views that have negative values into numbers >= 0. All others are brought to
[0, 1], whole-numbered ones too.
NMI (max) in % of `LinkPLSA` and `MGGM` with all defaults and the number of classes as topics,
fitted to 800 documents: of these, and of 200 others, folded in (of msrcv1 to 168, and 42 others).
Each seed draws other documents. The table is in docs/design.md under "Starts and defaults".
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from coview import MGGM, LinkPLSA
from coview.datasets import load_digits_views
from coview.datasets.folders import data_home
from coview.metrics import nmi_max

Matrices = dict[str, np.ndarray]
Apply = Callable[[np.ndarray], np.ndarray]

MAX_DOCS = 1000
HELD_OUT = 0.2
MODELS: dict[str, Any] = {"LinkPLSA": LinkPLSA, "MGGM": MGGM}
MAX_CENTERS = 100
MAX_COMPONENTS = 30


# -- the ways: each learns from training rows and returns what to do with any rows -----------------


def min_max(rows: np.ndarray) -> Apply:
    """Each feature from its smallest to its largest value, to [0, 1]."""
    low, span = rows.min(axis=0), np.ptp(rows, axis=0)
    return lambda x: np.clip((x - low) / np.where(span > 0, span, 1), 0, 1)


def one_range(rows: np.ndarray) -> Apply:
    """Each feature from its smallest value, over the largest range: units stay comparable."""
    low, span = rows.min(axis=0), np.ptp(rows, axis=0)
    return lambda x: np.clip(x - low, 0, span) / span.max()


def root_range(rows: np.ndarray) -> Apply:
    """Each feature to a range of the square root of its share of the largest: between the two."""
    low, span = rows.min(axis=0), np.ptp(rows, axis=0)
    unit = np.sqrt(span * span.max())
    return lambda x: np.clip(x - low, 0, span) / np.where(span > 0, unit, 1)


def quantiles(rows: np.ndarray) -> Apply:
    """The share of the training values of a feature that are not larger."""
    ordered = np.sort(rows, axis=0)

    def apply(x: np.ndarray) -> np.ndarray:
        ranks = [np.searchsorted(o, c, side="right") for o, c in zip(ordered.T, x.T, strict=True)]
        return np.stack(ranks, axis=1) / len(rows)

    return apply


def parts(rows: np.ndarray) -> Apply:
    """Positive and negative parts as two halves of the features, over the largest magnitude."""
    largest = np.abs(rows).max(axis=0)

    def apply(x: np.ndarray) -> np.ndarray:
        scaled = np.clip(x / np.where(largest > 0, largest, 1), -1, 1)
        return np.hstack([np.maximum(scaled, 0), np.maximum(-scaled, 0)])

    return apply


def parts_in_one_unit(rows: np.ndarray) -> Apply:
    """Positive and negative parts, over the largest magnitude of the view."""
    largest = np.abs(rows).max(axis=0)

    def apply(x: np.ndarray) -> np.ndarray:
        kept = np.clip(x, -largest, largest) / largest.max()
        return np.hstack([np.maximum(kept, 0), np.maximum(-kept, 0)])

    return apply


def codes(rows: np.ndarray) -> Apply:
    """Soft codes of k-means centers: how much nearer than the mean a center is (Coates & Ng)."""
    n_centers = min(MAX_CENTERS, len(rows) // 5)
    with threadpool_limits(1):
        centers = KMeans(n_centers, n_init=1, random_state=0).fit(rows).cluster_centers_

    def apply(x: np.ndarray) -> np.ndarray:
        distance = np.sqrt(((x[:, None] - centers) ** 2).sum(axis=2))
        return np.maximum(distance.mean(axis=1, keepdims=True) - distance, 0)

    return apply


WAYS: dict[str, Callable[[np.ndarray], Apply]] = {
    "min-max": min_max,
    "one range": one_range,
    "root range": root_range,
    "quantiles": quantiles,
    "parts": parts,
    "parts, one unit": parts_in_one_unit,
    "codes": codes,
}


# -- data ------------------------------------------------------------------------------------------


def from_folder(name: str) -> tuple[Matrices, np.ndarray]:
    """Read the dense matrices and the labels of a data set under COVIEW_DATA."""
    folder = data_home() / name
    files = sorted(folder.glob("view_*.npy"))
    found = {f.stem.removeprefix("view_"): np.load(f).astype(float) for f in files}
    return found, np.load(folder / "labels.npy")


def z_scores(matrices: Matrices) -> Matrices:
    """Each feature with mean 0 and variance 1, constant ones left out."""
    kept = {n: m[:, m.std(axis=0) > 0] for n, m in matrices.items()}
    return {n: (m - m.mean(axis=0)) / m.std(axis=0) for n, m in kept.items()}


def pca_scores(matrices: Matrices) -> Matrices:
    """Up to 30 principal components of each view."""
    made = {}
    for name, matrix in matrices.items():
        n = min(MAX_COMPONENTS, *matrix.shape)
        with threadpool_limits(1):
            made[name] = PCA(n, random_state=0).fit_transform(matrix)
    return made


def mixed_units(matrices: Matrices) -> Matrices:
    """Centered features in units that differ by up to four orders of magnitude."""
    rng = np.random.default_rng(0)
    return {n: m * 10 ** rng.uniform(-2, 2, m.shape[1]) for n, m in z_scores(matrices).items()}


def blobs() -> tuple[Matrices, np.ndarray]:
    """Plant ten overlapping Gaussian clusters in three views, one of them mostly noise."""
    rng = np.random.default_rng(0)
    labels = rng.integers(10, size=1000)
    views = {}
    for name, width, spread in (("a", 20, 3.0), ("b", 40, 4.0), ("c", 10, 8.0)):
        centers = 2 * rng.normal(size=(10, width))
        views[name] = centers[labels] + spread * rng.normal(size=(1000, width))
    return views, labels


def digits() -> tuple[Matrices, np.ndarray]:
    """Return the views of scikit-learn's digits."""
    views = load_digits_views()
    return {n: m.toarray().astype(float) for n, m in views.matrices.items()}, views.labels


def datasets() -> Iterator[tuple[str, Matrices, np.ndarray]]:
    """Yield name, matrices and labels; all have at least one view with negative values."""
    mfeat, labels = from_folder("mfeat")
    yield "mfeat, six views", mfeat, labels
    yield "mfeat, kar alone", {"kar": mfeat["kar"]}, labels
    yield "mfeat, PCA scores", pca_scores(mfeat), labels
    yield ("mnist4", *from_folder("mnist4"))
    msrc, labels = from_folder("msrcv1")
    yield "msrcv1, z-scores", z_scores(msrc), labels
    yield "msrcv1, PCA scores", pca_scores(msrc), labels
    yield "msrcv1, mixed units", mixed_units(msrc), labels
    images, labels = digits()
    yield "digits, PCA scores", pca_scores(images), labels
    yield ("planted clusters", *blobs())


# -- the runs --------------------------------------------------------------------------------------


def scaled(
    matrices: Matrices, train: np.ndarray, way: Callable[[np.ndarray], Apply]
) -> tuple[Matrices, Matrices]:
    """Return training and held-out rows, scaled as learned from the training rows."""
    rows: Matrices = {}
    others: Matrices = {}
    for name, matrix in matrices.items():
        apply = (way if matrix.min() < 0 else min_max)(matrix[train])
        rows[name], others[name] = apply(matrix[train]), apply(matrix[~train])
    return rows, others


def run(model: Any, matrices: Matrices, labels: np.ndarray, way: Any, seed: int) -> list[float]:
    """Return NMI of the training documents and of those held out."""
    rng = np.random.default_rng(seed)
    sample = rng.permutation(len(labels))[:MAX_DOCS]
    matrices, labels = {n: m[sample] for n, m in matrices.items()}, labels[sample]
    train = np.arange(len(labels)) >= HELD_OUT * len(labels)
    rows, others = scaled(matrices, train, way)
    n_classes = len(np.unique(labels))
    fitted = model(n_classes, scaling=None, random_state=seed, n_jobs=1).fit(rows)
    return [
        100 * nmi_max(labels[train], fitted.labels_),
        100 * nmi_max(labels[~train], fitted.predict(others)),
    ]


def main() -> None:
    """Print a row for each data set and model: training / held out, by way."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    given = options.parse_args()
    n_seeds = given.seeds
    warnings.simplefilter("ignore")
    print(f"| data | model | {' | '.join(WAYS)} |\n{'| --- ' * (len(WAYS) + 2)}|")
    means = []
    for name, matrices, labels in datasets():
        for model in (MODELS[m] for m in given.models):
            found = [
                np.mean([run(model, matrices, labels, way, s) for s in range(n_seeds)], axis=0)
                for way in WAYS.values()
            ]
            means.append(found)
            print(table_row(name, model.__name__, found), flush=True)
    print(table_row("mean", " ".join(given.models), np.mean(means, axis=0)))


def table_row(name: str, model: str, found: Any) -> str:
    """Return one row of the table."""
    cells = " | ".join(f"{train:.1f} / {held_out:.1f}" for train, held_out in found)
    return f"| {name} | {model} | {cells} |"


if __name__ == "__main__":
    main()
