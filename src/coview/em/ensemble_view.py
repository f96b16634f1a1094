"""The ensemble in a fit: when it is made, its internal view, and what the trace tells of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from coview.em.prepared import ENSEMBLE_VIEW, Prepared
from coview.em.starts import SEVERAL, start_names
from coview.em.trace import Trace
from coview.ensemble.consensus import Ensemble, make_ensemble
from coview.ensemble.features import view_features
from coview.ensemble.reliability import ViewReliability, deal, documents_with_counts
from coview.ensemble.stability import WHAT_TO_TRY, are_like_chance, stability
from coview.params import check_factor
from coview.views.checks import DataWarning
from coview.views.density import is_dense

MANY_TOPICS = 20  # so many topics of sparse views are more than clusters
SHARE = 0.2  # of the weighted tokens of all views: what ensemble="auto" gives to its view


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
    wanted = n_topics < MANY_TOPICS or any(is_dense(m) for m in given)
    return SHARE if from_consensus and len(given) > 1 and wanted else 0.0


def learn_from_views(
    data: Prepared, n_topics: int, rng: np.random.Generator, *, clusters: bool, weights: bool
) -> tuple[Ensemble | None, ViewReliability | None]:
    """Return the ensemble, if its clusters are needed, and the reliability of the views.

    Without `weights` the views are equal in the ensemble. Both are None where fewer than
    two documents have counts: there is nothing to compare.
    """
    has = documents_with_counts(data.matrices, data.present)
    if has.any(axis=1).sum() < 2 or n_topics < 2 or not (clusters or weights):
        return None, None
    filled = np.flatnonzero(has.any(axis=0))  # a view that nobody has changes nothing
    names, matrices = [data.names[v] for v in filled], [data.matrices[v] for v in filled]
    with threadpool_limits(1, "blas"):  # the number of threads must not change a bit
        if clusters:
            equal = None if weights else np.ones(len(names))
            made = make_ensemble(names, matrices, data.present[:, filled], n_topics, rng, equal)
            return made, made.reliability
        features = [view_features(m) for m in matrices]
        return None, deal(features, has[:, filled], n_topics, rng).reliability(names)


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
    """Return the stability of the topics of a fit and the confidence of its documents."""
    return stability(labels, n_topics, data.ensemble, other_runs)


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
        "share": share,
    }
