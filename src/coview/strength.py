"""The strength of a penalty, chosen without labels: `strength_path` and `strength="auto"`.

A strength is good if it makes clusters that are in the data rather than in the noise. So the
columns of each view are dealt at random into two halves, the model is fitted to each half at every
strength of a path, and its clusters are judged by the other half: how much more often than by
chance nearest neighbors there are in the same cluster (assortativity, as of a network). No label
is used. docs/design.md has the measurements, and what else was tried.

The cost is bounded: a sample of at most `MOST_DOCUMENTS` documents, `SPLITS` times two halves for
each strength, at most `ITERATIONS` iterations from one start.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from coview.em.prepared import Prepared
from coview.em.starts import concatenated_tfidf
from coview.ensemble.reliability import assortativity
from coview.graphs.neighbors import knn_graph
from coview.held_out import (
    deal_edges,
    deal_views,
    has_counts,
    sample_rows,
    take_documents,
)
from coview.params import check_real, seed_of
from coview.progress import progress_bar
from coview.views.container import Views

if TYPE_CHECKING:
    from coview.plot.lines import LinesDisplay

STEPS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)  # of the path, times the usual strength of the model
SPLITS = 3
MOST_DOCUMENTS = 2000
ITERATIONS = 50
N_NEIGHBORS = 15
TOLERANCE = 1e-4
SAME = 1e-9  # a smaller difference of two means is rounding


@dataclass(frozen=True, eq=False)
class StrengthPath:
    """How good clusters are at each strength of a path; see :func:`coview.strength_path`.

    Attributes
    ----------
    strengths : ndarray of shape (n_strengths,)
        On the scale of masses, rising.
    values : ndarray of shape (n_strengths, n_splits)
        For each split of the columns into halves, how much more often than by chance nearest
        neighbors in one half are in the same cluster of the other half: 1 if always, 0 by chance.
        NaN where there was nothing to compare.
    chosen : float
        The strength that was chosen.
    usual : float
        The strength that is taken unless another one is better.
    n_docs : int
        Documents in the sample.
    """

    strengths: np.ndarray
    values: np.ndarray
    chosen: float
    usual: float
    n_docs: int

    @property
    def mean(self) -> np.ndarray:
        """The mean over the splits, (n_strengths,)."""
        return self.values.mean(axis=1)

    @property
    def spread(self) -> np.ndarray:
        """The standard deviation over the splits, (n_strengths,)."""
        return self.values.std(axis=1, ddof=int(self.values.shape[1] > 1))

    def plot(self, ax: Any = None) -> LinesDisplay:
        """Draw the path, on new axes or those given; a vertical line marks the chosen strength.

        The band is one standard deviation over the splits.

        Returns
        -------
        display : coview.plot.LinesDisplay
        """
        from coview.compare.aggregate import Line
        from coview.plot.lines import GRAY, LOG_RATIO, LinesDisplay

        positive = self.strengths[self.strengths > 0]
        wide = bool(len(positive)) and positive.max() / positive.min() >= LOG_RATIO
        line = Line(self.strengths, self.mean, self.spread)
        display = LinesDisplay({"": line}, "strength", "neighbors in one cluster", log_x=wide)
        display.plot(ax)
        display.ax_.axvline(self.chosen, color=GRAY, linewidth=1.2, linestyle=":", zorder=0)
        above = {"xycoords": display.ax_.get_xaxis_transform(), "va": "bottom", "ha": "center"}
        display.ax_.annotate("chosen", (self.chosen, 1.0), color=GRAY, fontsize=9, **above)
        return display

    def __repr__(self) -> str:
        pairs = zip(self.strengths, self.mean, self.spread, strict=True)
        steps = ", ".join(f"{s:g}: {mean:.3f} ± {sd:.3f}" for s, mean, sd in pairs)
        return f"StrengthPath(chosen={self.chosen:g}; {steps})"


def strength_path(
    model: Any,
    views: Any,
    strengths: Sequence[float] | None = None,
    *,
    labels: Any = None,
    random_state: Any = 0,
) -> StrengthPath:
    """Compute how good clusters are at several strengths of a model's penalty, without labels.

    The columns of each view are dealt at random into two halves, three times. At each strength the
    model is fitted to both halves for a few iterations, on a sample of at most 2,000 documents. Its
    clusters are good if they hold nearest neighbors in the *other* half together. The usual
    strength of the model is chosen unless another one is clearly better.

    So the path takes as long as six short fits (50 iterations, half of the columns) for each
    strength. `model.fit` does the same with ``strength="auto"``.

    Parameters
    ----------
    model : PairwiseCoPLSA, DivergenceCoPLSA, LTM or MGGM
        It is not changed, and need not be fitted. Its `init`, `n_init` and `seeds` play no part;
        a graph of its own is dealt into halves by its edges.
    views : as in `fit`
    strengths : sequence of float, default=None
        The strengths to compare, on the scale of masses. By default 0, 0.1, 0.3, 1, 3 and 10 times
        the usual strength of the model.
    labels : as in `fit`
        Documents whose topic is known. They are pinned, and not compared.
    random_state : int, Generator, RandomState or None, default=0
        The same integer gives the same path, for any `n_jobs`; as `random_state` of the model it
        gives this path in `fit`.

    Returns
    -------
    StrengthPath

    Examples
    --------
    >>> from coview import LTM, strength_path
    >>> from coview.datasets import make_views
    >>> views = make_views(100, 3, [60], random_state=0)
    >>> path = strength_path(LTM(3), views, [0.5, 2.0])
    >>> path.values.shape, path.chosen in (0.5, 2.0)
    ((2, 3), True)
    """
    if not hasattr(model, "_strength_path"):
        raise ValueError(
            f"{type(model).__name__} has no strength; PairwiseCoPLSA, DivergenceCoPLSA, LTM and "
            "MGGM have one."
        )
    own = np.random.SeedSequence(seed_of(random_state)).spawn(1)[0]  # as in `fit`
    made = variant(model, strength="auto", strength_scale="mass")
    return made._strength_path(views, labels, strengths, np.random.default_rng(own))


def path_of(
    model: Any, data: Prepared, strengths: Sequence[float] | None, rng: np.random.Generator
) -> StrengthPath:
    """Return the path of a model on prepared data; `rng` itself is left as it is."""
    usual = model._usual_strength
    steps = _steps(strengths, usual)
    values = np.full((len(steps), SPLITS), np.nan)
    title = f"{type(model).__name__}, strength"
    with (
        progress_bar(title, values.size, show=bool(model.verbose)) as advance,
        warnings.catch_warnings(action="ignore"),  # the fit itself says what there is to say
    ):
        for i, split in enumerate(splits_of(model, data, rng.spawn(1)[0])):
            for j, strength in enumerate(steps if len(split.compared) else ()):
                advance(i * len(steps) + j, f"{strength:g}")
                values[j, i] = split.cohesion(split.clusters(float(strength)))
    n_docs = min(data.n_docs, MOST_DOCUMENTS)
    return StrengthPath(steps, values, choose(steps, values, usual), usual, n_docs)


def choose(strengths: np.ndarray, values: np.ndarray, usual: float) -> float:
    """Return the best strength if it is clearly better than the usual one, else the latter.

    Clearly: by more than the standard error of the difference over the splits. If the usual
    strength is not among those given, the nearest to it stands for it.

    >>> choose(np.array([0.0, 1.0]), np.array([[0.7, 0.8], [0.5, 0.7]]), usual=1.0)
    0.0
    >>> choose(np.array([0.0, 1.0]), np.array([[0.9, 0.6], [0.5, 0.7]]), usual=1.0)
    1.0
    """
    near, best = nearest_and_best(strengths, values, usual)
    gain = values[best] - values[near]
    error = gain.std(ddof=int(len(gain) > 1)) / np.sqrt(len(gain))
    return float(strengths[best if gain.mean() > error else near])


def nearest_and_best(strengths: np.ndarray, values: np.ndarray, usual: float) -> tuple[int, int]:
    """Return which strength is nearest the usual one, and which has the largest mean.

    Of equal means that nearest the usual strength is taken, and where some are NaN as well.
    """
    mean = values.mean(axis=1)
    order = np.argsort(np.abs(np.log1p(strengths) - np.log1p(usual)), kind="stable")
    if np.isnan(mean).any():
        return int(order[0]), int(order[0])
    best = next(i for i in order if mean[i] >= mean.max() - SAME)
    return int(order[0]), int(best)


def variant(model: Any, **changes: Any) -> Any:
    """Return a model of the same class with some other parameters, not fitted."""
    return type(model)(**{**model.get_params(deep=False), **changes})


def _steps(strengths: Sequence[float] | None, usual: float) -> np.ndarray:
    if strengths is None:
        return usual * np.array(STEPS)
    checked = sorted({check_real("strengths", s) for s in np.atleast_1d(strengths).tolist()})
    if not checked:
        raise ValueError("strengths is empty: give at least one strength.")
    return np.array(checked)


@dataclass(frozen=True, eq=False)
class Split:
    """A sample of documents with two halves of its columns, each with a model to fit to it."""

    models: tuple[Any, Any]
    halves: tuple[Views, Views]
    pins: np.ndarray | None  # (documents,) topics of pinned documents, -1 elsewhere

    @cached_property
    def compared(self) -> np.ndarray:
        """The documents that have counts in both halves and are not pinned."""
        some = has_counts(self.halves[0]) & has_counts(self.halves[1])
        return np.flatnonzero(some if self.pins is None else some & (self.pins < 0))

    def clusters(self, strength: float) -> list[np.ndarray]:
        """Return the cluster of each compared document by the one half and by the other."""
        pairs = zip(self.models, self.halves, strict=True)
        fits = (variant(m, strength=strength).fit(x, labels=self.pins) for m, x in pairs)
        return [fitted.labels_[self.compared] for fitted in fits]

    @cached_property
    def neighbors(self) -> list[list[sp.csr_array]]:
        """The graph of nearest neighbors in each view of the one half and of the other."""
        return [list(_neighbor_graphs(half[self.compared])) for half in self.halves]

    def cohesion(self, clusters: Sequence[np.ndarray]) -> float:
        """Return how far clusters of each half join nearest neighbors in the other half."""
        pairs = zip(clusters, reversed(self.neighbors), strict=True)
        found = [assortativity(labels, graph) for labels, graphs in pairs for graph in graphs]
        return float(np.mean(found)) if found else np.nan


def _neighbor_graphs(views: Views) -> Iterator[sp.csr_array]:
    for v, matrix in enumerate(views.matrices.values()):
        if matrix.nnz:
            features = concatenated_tfidf([matrix])
            yield knn_graph(features, N_NEIGHBORS, present=views.present[:, v])


def splits_of(model: Any, data: Prepared, rng: np.random.Generator) -> Iterator[Split]:
    """Deal the columns of a sample of documents into halves, several times."""
    rows = sample_rows(data.n_docs, MOST_DOCUMENTS, rng, data.pinned)
    sample = take_documents(data, rows)
    graphs = {n: g[rows][:, rows] for n, g in model._given_graphs(data.n_docs).items()}
    quick = variant(model, **_quick_parameters(sample, model.n_components))
    for _ in range(SPLITS):
        halves = deal_views(sample, rng)
        dealt = {name: deal_edges(graph, rng) for name, graph in graphs.items()}
        models = (_with_half_of(quick, dealt, i, rng) for i in (0, 1))
        yield Split((next(models), next(models)), halves, sample.labels)


def _quick_parameters(sample: Prepared, n_topics: int) -> dict[str, Any]:
    """Return parameters of a short fit to a part of the sample."""
    taught = set() if sample.labels is None else set(sample.labels[sample.labels >= 0])
    return {
        # clusters of k-means would not have the numbers of the labels
        "init": "naive_bayes" if len(taught) == n_topics else "kmeans",
        "seeds": None,
        "n_init": 1,
        "max_iter": ITERATIONS,
        "tol": TOLERANCE,
        "view_weights": dict(zip(sample.names, sample.weights, strict=True)),
        "ensemble": 0,
        "scaling": None,  # the sample is scaled already
        "verbose": 0,
    }


def _with_half_of(
    model: Any, dealt: dict[str, tuple[Any, Any]], i: int, rng: np.random.Generator
) -> Any:
    """Return the model with half of its own graphs, if it has any, and a seed."""
    graphs = {name: pair[i] for name, pair in dealt.items() if pair[i].nnz}
    return variant(model, **model._with_graphs(graphs), random_state=int(rng.integers(2**31)))
