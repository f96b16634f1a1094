"""The ensemble in a fit: when it is made, its internal view, and what the trace tells of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.emissions import Topics
from coview.em.loop import Interrupted, run_em
from coview.em.prepared import ENSEMBLE_VIEW, Prepared
from coview.em.problem import Problem
from coview.em.scaling import learn_scaling, scaled
from coview.em.starts import SEVERAL, label_start, start_names, wants_topics
from coview.em.trace import Trace
from coview.ensemble.consensus import Ensemble, clustered_documents, make_ensemble
from coview.ensemble.features import view_features
from coview.ensemble.information import shared_information
from coview.ensemble.reliability import (
    ViewHalf,
    ViewReliability,
    deal,
    documents_with_counts,
)
from coview.ensemble.stability import WHAT_TO_TRY, are_like_chance, stability
from coview.params import check_factor
from coview.runners.native import one_native_thread
from coview.views.checks import DataWarning

# An ensemble of fewer than 40 topics is never quick. One of more is, where its documents times its
# topics are more than this: clusters, or topics of sparse views, which are wanted for their words
QUICK_FROM, MOST_CLUSTERS, MOST_TOPICS = 40, 200_000, 40_000
SHARE = 0.2  # of the weighted tokens of all views: the usual share of the ensemble's view,
SHARES = 0.1, 1.0  # the bounds of what ensemble="auto" gives to it,
SHARE_SHARPNESS = 24  # and the power of what it depends on
HALF_ITERATIONS = 20


def check_ensemble(ensemble: Any) -> None:
    """Check the weight of the ensemble's view."""
    if not (isinstance(ensemble, str) and ensemble == "auto"):
        check_factor("ensemble", ensemble)


def ensemble_share(ensemble: Any, data: Prepared, n_topics: int, from_consensus: bool) -> float:
    """Return the weight of the ensemble's view, as a share of the weighted tokens of all others.

    By default there is one if there are several views and EM begins at the consensus: who gives a
    start of another kind wants the model alone. Many topics of sparse views are wanted for their
    words rather than as clusters, and have a better likelihood without it; dense views need it.
    """
    if ensemble != "auto":
        return float(ensemble)
    given = data.without_ensemble_view().matrices
    if not from_consensus or len(given) < 2 or wants_topics(data, n_topics):
        return 0.0
    learned = None if data.ensemble is None else data.ensemble.share
    return SHARE if learned is None else learned


def learn_from_views(
    data: Prepared,
    n_topics: int,
    rng: np.random.Generator,
    *,
    clusters: bool,
    weights: bool,
    given: ViewReliability | None = None,
) -> tuple[Ensemble | None, ViewReliability | None]:
    """Return the ensemble, if its clusters are needed, and the reliability of the views.

    Without `weights` the views are equal in the ensemble; a reliability that is `given` is not
    learned again. Both are None where fewer than two documents have counts: there is nothing to
    compare.
    """
    has = documents_with_counts(data.matrices, data.present)
    if has.any(axis=1).sum() < 2 or n_topics < 2 or not (clusters or (weights and given is None)):
        return None, given
    filled = np.flatnonzero(has.any(axis=0))  # a view that nobody has changes nothing
    names, matrices = [data.names[v] for v in filled], [data.matrices[v] for v in filled]
    with one_native_thread("blas"):  # the number of threads must not change a bit
        if clusters:
            known = None if weights else np.ones(len(names))
            if weights and given is not None:
                known = np.array([given.weights[name] for name in names])
            quick = is_quick(data, n_topics)
            present = data.present[:, filled]
            made = make_ensemble(names, matrices, present, n_topics, rng, known, quick)
            return made, given or made.reliability
        features = [view_features(m) for m in matrices]
        return None, deal(features, has[:, filled], n_topics, rng).reliability(names)


def is_quick(data: Prepared, n_topics: int) -> bool:
    """Return whether an ensemble of all families would take too long beside EM."""
    most = MOST_TOPICS if wants_topics(data, n_topics) else MOST_CLUSTERS
    return n_topics >= QUICK_FROM and n_topics * clustered_documents(data.n_docs) > most


def with_learned_share(data: Prepared, n_topics: int, rng: np.random.Generator) -> Prepared:
    """Return the data with the share that the ensemble's view should have.

    EM leaves the consensus from which it begins. If its clusters of one half of the features tell
    more of those of the other half than the consensus does, it should be free; if less, be held:

        share = .2 (what the consensus tells / what EM tells)^24, from .1 to 1.

    Where one of the two tells no more than chance, the share stays the usual one.
    """
    ensemble = data.ensemble
    if ensemble is None or ensemble.halves is None:
        return data
    halves, told = ensemble.halves, np.zeros(2)
    with one_native_thread("blas"):
        for split, parts in enumerate(halves.parts):
            starts = [halves.consensus(split, half, n_topics, rng) for half in (0, 1)]
            pairs = zip(parts, starts, strict=True)
            ends = [_topics_of_half(data, part, start, n_topics) for part, start in pairs]
            told += [shared_information(a, b, halves.kinds) for a, b in (starts, ends)]
    if not (told > 0).all():
        return data
    return replace(data, ensemble=replace(ensemble, share=_share(*told)))


def _share(by_consensus: float, by_em: float) -> float:
    """Return the share of the ensemble's view from what the two tell.

    >>> _share(0.5, 0.5), round(_share(0.51, 0.5), 2), _share(0.5, 1e-9), _share(0.1, 0.5)
    (0.2, 0.32, 1.0, 0.1)
    """
    ratio = min(by_consensus / by_em, 2.0)  # more is no larger share, but its power may overflow
    return float(np.clip(SHARE * ratio**SHARE_SHARPNESS, *SHARES))


def _topics_of_half(
    data: Prepared, parts: Sequence[ViewHalf], labels: np.ndarray, n_topics: int
) -> np.ndarray:
    """Return the largest topic of the documents of the sample, by half of the features of views.

    All views share the mixture of a document, whatever the model: it is EM of `LinkPLSA`.
    """
    assert data.ensemble is not None
    assert data.ensemble.halves is not None
    docs, names = data.ensemble.halves.docs, data.ensemble.reliability.names
    views = [data.names.index(name) for name in names]
    half = Prepared(
        names,
        tuple(_counts_of_half(data, v, part) for v, part in zip(views, parts, strict=True)),
        data.present[docs][:, views],
        tuple(data.weights[v] for v in views),
    ).cut(columns=True)
    start = label_start("half", labels, n_topics, half)
    emissions = [Topics.from_rows(p, half.dtype) for p in start.p_w_z]
    problem = Problem.of(half, emissions, (start.theta,), (0,) * len(names))
    try:
        run = run_em(problem, map, max_iter=HALF_ITERATIONS)
    except Interrupted as interrupt:  # with a state of these features, not one of the fit
        raise KeyboardInterrupt from interrupt
    return run.problem.mixtures[0].argmax(axis=1)


def _counts_of_half(data: Prepared, view: int, half: ViewHalf) -> Any:
    """Return the documents of the sample by half of the features of a view, as EM takes them.

    In another basis values may be negative: they are scaled as those of such views are.
    """
    assert data.ensemble is not None
    assert data.ensemble.halves is not None
    docs, name = data.ensemble.halves.docs, data.names[view]
    matrix, present = data.matrices[view][docs], data.present[docs, view]
    if half.basis is None:
        return half.of(matrix)
    rows = sp.csr_array(half.of(matrix.toarray()) * present[:, np.newaxis])
    scaling = learn_scaling({name: rows}, present[:, np.newaxis], "auto")
    return scaled(name, rows, present, scaling).astype(data.dtype, copy=False)


def starts_from_ensemble(init: Any, data: Prepared, n_topics: int) -> bool:
    """Return whether EM begins at the consensus of the ensemble."""
    if not isinstance(init, str):
        return False
    return init == "consensus" or (
        init in SEVERAL and "consensus" in start_names(init, data, n_topics)
    )


def without_ensemble_view(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return fitted attributes without the internal view, wherever they are by view."""
    return {
        name: {k: v for k, v in value.items() if k != ENSEMBLE_VIEW}
        if isinstance(value, dict)
        else value
        for name, value in attributes.items()
    }


def fit_stability(
    labels: np.ndarray, n_topics: int, data: Prepared, other_runs: Sequence[np.ndarray]
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the stability of the topics of a fit and the confidence of its documents.

    Where the ensemble is of a sample, both are by the documents in it; the others have NaN.
    """
    if data.sampled is None or data.ensemble is None:
        return stability(labels, n_topics, data.ensemble, other_runs)
    others = [run[data.sampled] for run in other_runs]
    stable, sure = stability(labels[data.sampled], n_topics, data.ensemble, others)
    if sure is None:
        return stable, None
    confidence = np.full(len(labels), np.nan, sure.dtype)
    confidence[data.sampled] = sure
    return stable, confidence


def warn_of_chance(topic_stability: np.ndarray | None, data: Prepared) -> None:
    """Warn if most topics are hardly more stable than chance.

    Not if a few are: with tens of topics some are unstable in most fits.
    """
    if are_like_chance(topic_stability, data.n_docs):
        warnings.warn(
            "Most topics are as unstable as in random data (see topic_stability_): their documents "
            f"are not together again in other clusterings. {WHAT_TO_TRY}",
            DataWarning,
            stacklevel=5,
        )


def with_ensemble(trace: Trace, data: Prepared, share: float) -> Trace:
    """Return the trace of a fit with what it tells of the ensemble."""
    if data.has_ensemble_view:
        parts = trace.log_likelihood
        trace = replace(trace, log_likelihood=parts[:, :-1], ensemble_term=parts[:, -1])
    return replace(trace, ensemble=_describe(data.ensemble, share))


def _describe(ensemble: Ensemble | None, share: float) -> dict[str, Any] | None:
    """Return the ensemble as plain data."""
    if ensemble is None:
        return None
    return {
        "families": list(ensemble.families),
        "n_clusters": [int(n) for n in ensemble.members.max(axis=0) + 1],
        "weights": [float(w) for w in ensemble.weights],
        "replicability": dict(ensemble.replicability),
        "reliability": ensemble.reliability.matrix,
        "view_weights": dict(ensemble.reliability.weights),
        "copies": [list(names) for names in ensemble.reliability.copies],
        "share": share,
    }
