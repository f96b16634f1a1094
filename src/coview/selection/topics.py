"""`select_topics`: how many topics? Criteria along candidates, and a suggestion.

What is measured, each with its spread, is described where it is computed: agreement of halves in
`selection.halves`, shared dimensions in `selection.dimensions`, perplexity and stability in
`selection.fits`, the suggestion in `selection.curves`. docs/design.md says how often it is right.

Cost. At most 2,000 documents are looked at. Agreement is measured at every candidate, or at forty
if there are more and then around the best; models are fitted at about a dozen, three times, to 800
documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coview.params import seed_of
from coview.progress import Advance, progress_bar
from coview.selection.curves import Curve, SuggestedNumber, suggest
from coview.selection.dimensions import SharedDimensions, related_views, shared_dimensions
from coview.selection.features import view_features
from coview.selection.fits import N_FOLDS, FoldFits, Folds
from coview.selection.halves import Agreement, document_halves, feature_halves, whole_points
from coview.selection.ranges import (
    check_candidates,
    coarse_grid,
    fit_grid,
    parse_topics,
    refined_grid,
)
from coview.views.checks import check_not_all_empty
from coview.views.container import Views
from coview.views.density import is_dense_real
from coview.wording import plural

MAX_DOCS = 2000
N_DIMS = 40  # of the embedding of each view, or as many as topics; fewer with few documents
DOCS_PER_DIM = 10
MIN_DIMS = 10
N_FEATURE_SPLITS = 5
N_DOCUMENT_SPLITS = 3
SPARE_DIMS = 8  # dimensions beyond the largest number, to see that they share nothing
RELATED = 0.05  # weight below which a view has nothing to do with the others
TITLES = {
    "features": "halves of features",
    "documents": "halves of documents",
    "bits": "shared bits",
    "perplexity": "perplexity",
    "stability": "stability",
}


@dataclass(frozen=True)
class TopicSelection:
    """Criteria along numbers of topics, and a suggestion.

    Attributes
    ----------
    topics : ndarray of int of shape (numbers,)
        The numbers that were measured, ascending.
    curves : dict of Curve
        With `mean` and `sd` of shape (numbers,), NaN where nothing was measured: "features" and
        "documents", the adjusted mutual information of clusters found in two halves of the features
        or documents; "bits", the information that halves of the features share beyond chance;
        "perplexity" of tokens left out (lower is better); "stability", the similarity of topics of
        fits to other documents from other starts.
    dimensions : SharedDimensions
        Which dimensions halves of the features share.
    view_weights : dict of float
        How much each view has in common with the others; views near 0 were left out.
    suggestion : int
        The number of topics suggested.
    confidence : {"high", "medium", "low"}
    reason : str
        Why, in words; also that the curves do not decide, and between which numbers.
    plausible : tuple of int
        The suggestion, and numbers whose agreement of halves is within a standard error of the
        best.
    votes : dict of int
        The number that each criterion alone would choose.
    """

    topics: np.ndarray
    curves: dict[str, Curve]
    dimensions: SharedDimensions
    view_weights: dict[str, float]
    suggestion: int
    confidence: str
    reason: str
    plausible: tuple[int, ...]
    votes: dict[str, int]

    @property
    def sentence(self) -> str:
        """The suggestion in a sentence."""
        return f"Suggestion: {self.suggestion} topics ({self.confidence} confidence): {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as numbers, texts, lists and dicts; None where nothing was measured."""
        return {
            "suggestion": self.suggestion,
            "confidence": self.confidence,
            "reason": self.reason,
            "plausible": list(self.plausible),
            "votes": dict(self.votes),
            "view_weights": dict(self.view_weights),
            "dimensions": self.dimensions.strength.tolist(),
            "table": self.rows(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each number of topics: mean and standard deviation of each curve."""
        means = {name: (curve.mean, curve.sd) for name, curve in self.curves.items()}
        return [
            {"topics": int(k)}
            | {
                key: None if np.isnan(values[i]) else float(values[i])
                for name, (mean, sd) in means.items()
                for key, values in ((name, mean), (f"{name}_sd", sd))
            }
            for i, k in enumerate(self.topics)
        ]

    def to_text(self, *, short: bool = False) -> str:
        """Return a table with the suggestion below it.

        Parameters
        ----------
        short : bool, default=False
            Whether to show only the numbers at which models were fitted.
        """
        shown = self.curves["stability"].measured if short else np.ones(len(self.topics), bool)
        shown = shown if shown.any() else np.ones(len(self.topics), bool)
        cells = [["topics", *TITLES.values()]]
        for i in np.flatnonzero(shown).tolist():
            mark = "*" if self.topics[i] == self.suggestion else " "
            cells.append([f"{mark}{self.topics[i]}", *self._cells(i)])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, "", self.sentence])

    def _cells(self, place: int) -> list[str]:
        digits = {"perplexity": 1}
        return [
            _with_spread(self.curves[n].mean[place], self.curves[n].sd[place], digits.get(n, 2))
            for n in TITLES
        ]

    def __str__(self) -> str:
        return self.to_text()

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            For the agreement and stability alone. By default a new figure, with the perplexity
            below them.

        Returns
        -------
        TopicCountDisplay
            With `axes_` and `figure_`; its `save(path)` writes a file.
        """
        from coview.selection.display import TopicCountDisplay

        return TopicCountDisplay(self).plot(ax)


def _with_spread(mean: float, sd: float, digits: int) -> str:
    return "" if np.isnan(mean) else f"{mean:.{digits}f} ± {sd:.{digits}f}"


def select_topics(
    views: Any,
    topics: Any = "2:30",
    *,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> TopicSelection:
    """Compare numbers of topics without labels, and suggest one.

    Parameters
    ----------
    views : Views, dict of matrices, or one matrix
        The documents; at most 2,000 of them, drawn at random, are looked at.
    topics : str, or iterable of int, default="2:30"
        The candidates: "5:40" (both ends included), "5:40:5" (in steps of 5), or numbers.
    random_state : int, Generator, RandomState or None, default=0
        Seed of samples, splits and starts.
    n_jobs : int or None, default=None
        Threads of the fits; the result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Returns
    -------
    TopicSelection

    Examples
    --------
    >>> import coview
    >>> views = coview.datasets.make_views(n_docs=200, n_topics=4, n_terms=[60, 40], random_state=0)
    >>> found = coview.select_topics(views, "2:8")
    >>> found.suggestion, found.confidence
    (4, 'high')
    >>> print(found.sentence)
    Suggestion: 4 topics (high confidence): ...
    """
    from coview.runners.native import one_native_thread

    views = views if isinstance(views, Views) else Views(views)
    check_not_all_empty(views.matrices)
    candidates = parse_topics(topics)
    seed = seed_of(random_state)
    sample = _sample(views, seed)
    check_candidates(candidates, sample.n_docs, views.n_docs)
    with one_native_thread():
        measured = _Measurements(sample, candidates, seed, n_jobs)
        return measured.selection(bool(verbose))


def _sample(views: Views, seed: int) -> Views:
    """Return at most 2,000 documents that have a count."""
    filled = np.zeros(views.n_docs, bool)
    for matrix, present in zip(views.matrices.values(), views.present.T, strict=True):
        filled |= (np.diff(matrix.indptr) > 0) & present
    rows = np.flatnonzero(filled)
    if len(rows) > MAX_DOCS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MAX_DOCS, replace=False))
    return views if len(rows) == views.n_docs else views[rows]


# -- the work --------------------------------------------------------------------------------------


class _Measurements:
    """The data of one selection, and what is measured on them."""

    def __init__(self, views: Views, candidates: list[int], seed: int, n_jobs: int | None):
        self.candidates, self.seed, self.n_jobs = candidates, seed, n_jobs
        features = view_features(views)
        weights = related_views(features, seed)
        self.view_weights = dict(zip(views.names, weights.tolist(), strict=True))
        kept = [v for v in range(views.n_views) if weights[v] > RELATED]
        kept = kept or list(range(views.n_views))
        rows = np.flatnonzero(np.any([features[v].present for v in kept], axis=0))
        check_candidates(candidates, len(rows), views.n_docs)
        self.views = views.select(*(views.names[v] for v in kept))[rows]
        self.features = [features[v].at(rows) for v in kept]
        self.weights = [max(weights[v], RELATED) for v in kept]
        most = max(N_DIMS, candidates[-1])
        self.n_dims = max(min(most, len(rows) // DOCS_PER_DIM), MIN_DIMS)
        rng = np.random.default_rng(seed)
        self.points = whole_points(self.features, self.weights, self.n_dims, rng)

    def selection(self, verbose: bool) -> TopicSelection:
        """Measure everything, and suggest a number."""
        n_splits = N_FEATURE_SPLITS + N_DOCUMENT_SPLITS
        with progress_bar("Comparing", n_splits + 12, verbose) as advance:
            dimensions = self._dimensions()
            topics, by_features, by_documents = self._halves(dimensions.topics, advance)
            curves = _agreement_curves(topics, by_features, by_documents)
            first = self._suggest(topics, curves, dimensions)
            wanted = {first.topics, first.plausible[0], first.plausible[-1]}
            grid = fit_grid(topics.tolist(), sorted(wanted))
            curves |= _fit_curves(topics, self._fits(grid, first.topics, n_splits, advance))
        final = self._suggest(topics, curves, dimensions)
        return TopicSelection(
            topics=topics,
            curves=curves,
            dimensions=dimensions,
            view_weights=self.view_weights,
            suggestion=final.topics,
            confidence=final.confidence,
            reason=final.reason,
            plausible=final.plausible,
            votes=final.votes,
        )

    def _suggest(
        self, topics: np.ndarray, curves: dict[str, Curve], dimensions: SharedDimensions
    ) -> SuggestedNumber:
        nothing = Curve(np.full((1, len(topics)), np.nan))
        known = {"perplexity": nothing, "stability": nothing, **curves}
        counts = not all(is_dense_real(m) for m in self.views.matrices.values())
        return suggest(topics, known, dimensions.topics, likelihood=counts)

    def _dimensions(self) -> SharedDimensions:
        n_dims = self.candidates[-1] + SPARE_DIMS
        return shared_dimensions(self.features, self.weights, n_dims, self.seed)

    def _halves(
        self, cliff: int | None, advance: Advance
    ) -> tuple[np.ndarray, list[dict[int, Agreement]], list[dict[int, Agreement]]]:
        """Return the numbers measured, and the agreement of each split, coarse to fine."""
        coarse = coarse_grid(self.candidates, [] if cliff is None else [cliff])
        found = self._agreements(coarse, advance)
        if len(coarse) < len(self.candidates):
            best = max(coarse, key=lambda k: _mean_of(k, [*found[0], *found[1]]))
            fine = refined_grid(self.candidates, coarse, best)
            more = self._agreements(fine, advance)
            found = _joined(found[0], more[0]), _joined(found[1], more[1])
            coarse = sorted({*coarse, *fine})
        return np.array(coarse), *found

    def _agreements(
        self, topics: Sequence[int], advance: Advance
    ) -> tuple[list[dict[int, Agreement]], list[dict[int, Agreement]]]:
        by_features, by_documents = [], []
        for split in range(N_FEATURE_SPLITS):
            rng = np.random.default_rng([self.seed, 0, split])  # the same halves when called again
            by_features.append(self._feature_halves(topics, rng))
            advance(split + 1, "halves of the features")
        for split in range(N_DOCUMENT_SPLITS):
            rng = np.random.default_rng([self.seed, 1, split])
            by_documents.append(document_halves(self.points, topics, rng))
            advance(N_FEATURE_SPLITS + split + 1, "halves of the documents")
        return by_features, by_documents

    def _feature_halves(
        self, topics: Sequence[int], rng: np.random.Generator
    ) -> dict[int, Agreement]:
        return feature_halves(self.features, self.weights, topics, self.n_dims, rng)

    def _fits(
        self, grid: Sequence[int], usual: int, done: int, advance: Advance
    ) -> dict[int, FoldFits]:
        folds = Folds.deal(self.views, self.points, usual, self.seed)
        found = {}
        for i, k in enumerate(grid):
            if folds.possible(k):
                found[k] = folds.fit(k, self.n_jobs)
            advance(done + i + 1, plural(k, "topic"))
        return found


def _joined(
    splits: list[dict[int, Agreement]], others: list[dict[int, Agreement]]
) -> list[dict[int, Agreement]]:
    """Join what was measured on the same splits at different numbers."""
    return [a | b for a, b in zip(splits, others, strict=True)]


def _mean_of(k: int, splits: Sequence[dict[int, Agreement]]) -> float:
    values = [split[k].adjusted for split in splits if k in split]
    return float(np.mean(values)) if values else -np.inf


def _agreement_curves(
    topics: np.ndarray,
    by_features: Sequence[dict[int, Agreement]],
    by_documents: Sequence[dict[int, Agreement]],
) -> dict[str, Curve]:
    def curve(splits: Sequence[dict[int, Agreement]], what: str) -> Curve:
        rows = [[getattr(s[k], what) if k in s else np.nan for k in topics] for s in splits]
        return Curve(np.array(rows, float))

    return {
        "features": curve(by_features, "adjusted"),
        "documents": curve(by_documents, "adjusted"),
        "bits": curve(by_features, "bits"),
    }


def _fit_curves(topics: np.ndarray, fits: dict[int, FoldFits]) -> dict[str, Curve]:
    nothing = np.full(N_FOLDS, np.nan)
    unknown = FoldFits(nothing, nothing)
    found = [fits.get(k, unknown) for k in topics.tolist()]
    return {
        "perplexity": Curve(np.array([f.perplexity for f in found]).T),
        "stability": Curve(np.array([f.stability for f in found]).T),
    }
