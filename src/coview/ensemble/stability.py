"""Stability: which topics come back in other clusterings, and which documents belong to them.

A topic is stable if its documents are together again when they are clustered anew (clusterwise
stability of Hennig, 2007). Anew is here: by one half of the features of each view, as the ensemble
has done to judge its families, and from other starts, where a fit had several. Clusterings
of the same features are no evidence: of noise, too, they agree.

All numbers are corrected so that 0 is chance and 1 is certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from coview.wording import plural

if TYPE_CHECKING:
    from coview.ensemble.consensus import Ensemble

UNSTABLE = 0.3  # topics below it are reported as unstable
CHANCE = 0.12  # where half of the topics are below it, they are hardly better than chance
ENOUGH_DOCUMENTS = 200  # for such a verdict on all topics
MOST_LISTED = 5  # topics by number in a message


def stability(
    labels: np.ndarray,
    n_topics: int,
    ensemble: Ensemble | None,
    restarts: Sequence[np.ndarray] = (),
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the stability of topics and the confidence of documents, None without evidence.

    `labels` (documents,) are those of the fit, `restarts` those of its other runs. Where there are
    an ensemble and restarts, a topic or a document is as stable as the lower of the two says.
    """
    found = []
    if n_topics > 1 and ensemble is not None and ensemble.halves is not None:
        found.append(_by_halves(labels, n_topics, ensemble))
    if n_topics > 1 and restarts:
        others, equal = np.column_stack(restarts), np.ones(len(restarts))
        found.append(
            (
                topic_stability(labels, others, equal, n_topics),
                document_confidence(labels, others, equal, n_topics),
            )
        )
    if not found:
        return None, None
    topics, documents = (np.fmin.reduce(values) for values in zip(*found, strict=True))
    return topics, documents


def _by_halves(
    labels: np.ndarray, n_topics: int, ensemble: Ensemble
) -> tuple[np.ndarray, np.ndarray]:
    """Return the stability of topics and the confidence of documents by halves of the features.

    These clusterings have a sample of the documents. The confidence of all others is that by the
    members of the ensemble, scaled in each topic to the mean of the sample.
    """
    halves = ensemble.halves
    assert halves is not None
    docs, clusters, say = halves.docs, halves.clusterings, halves.weights
    sure = document_confidence(labels, ensemble.members, ensemble.weights, n_topics)
    inside = document_confidence(labels[docs], clusters, say, n_topics)
    wanted = np.bincount(labels[docs], inside, minlength=n_topics)
    found = np.bincount(labels[docs], sure[docs], minlength=n_topics)
    usual = wanted.sum() / found.sum() if found.any() else 0.0
    factor = np.divide(wanted, found, out=np.full(n_topics, usual), where=found > 0)
    sure = np.minimum(sure * factor[labels], 1)
    sure[docs] = inside
    return topic_stability(labels[docs], clusters, say, n_topics), sure


def topic_stability(
    labels: np.ndarray, clusterings: np.ndarray, weights: np.ndarray, n_topics: int
) -> np.ndarray:
    """Return how well each topic comes back in other clusterings of the same documents.

    The mean over clusterings of the Jaccard overlap of the topic's documents with the most similar
    cluster, as a share of the way from its expectation by chance to 1. NaN for topics without
    documents.

    Parameters
    ----------
    labels : ndarray of int of shape (documents,)
    clusterings : ndarray of int of shape (documents, clusterings)
        -1 for documents that are in no cluster.
    weights : ndarray of shape (clusterings,)
    n_topics : int

    Returns
    -------
    ndarray of shape (n_topics,)

    Examples
    --------
    >>> other = np.array([[1], [1], [0], [0], [0], [2]])
    >>> topic_stability(np.array([0, 0, 1, 1, 2, 2]), other, np.ones(1), 3).round(2).tolist()
    [1.0, 0.56, 0.43]
    """
    each = [_best_overlaps(labels, clusters, n_topics) for clusters in clusterings.T]
    return np.average(each, axis=0, weights=weights)


def _best_overlaps(labels: np.ndarray, clusters: np.ndarray, n_topics: int) -> np.ndarray:
    known = clusters >= 0
    meet = _contingency(labels[known], clusters[known], n_topics)
    total = max(meet.sum(), 1)
    sizes, others = meet.sum(axis=1, keepdims=True), meet.sum(axis=0, keepdims=True)
    chance = _jaccard(sizes * others / total, sizes, others)
    above = _jaccard(meet, sizes, others) - chance
    best = _ratio(above, 1 - chance).max(axis=1, initial=0)
    return np.where(sizes.ravel() > 0, best, np.nan)


def _jaccard(meet: np.ndarray, sizes: np.ndarray, others: np.ndarray) -> np.ndarray:
    return _ratio(meet, sizes + others - meet)


def document_confidence(
    labels: np.ndarray, clusterings: np.ndarray, weights: np.ndarray, n_topics: int
) -> np.ndarray:
    """Return how far other clusterings support the label of each document.

    The share of the other documents in its cluster that have its label, as a share of the way from
    their share in all clusters to 1; the mean over clusterings, at least 0. It is 0 for documents
    that are in no cluster, or alone in it.

    Parameters
    ----------
    labels, clusterings, weights, n_topics
        As in `topic_stability`.

    Returns
    -------
    ndarray of shape (documents,)

    Examples
    --------
    >>> other = np.array([[1], [1], [1], [0], [0], [0]])
    >>> document_confidence(np.array([0, 0, 0, 1, 1, 0]), other, np.ones(1), 2).round(2).tolist()
    [1.0, 1.0, 1.0, 0.37, 0.37, 0.0]
    """
    total = np.zeros(len(labels))
    for clusters, weight in zip(clusterings.T, weights, strict=True):
        known = np.flatnonzero(clusters >= 0)
        total[known] += weight * _support(labels[known], clusters[known], n_topics)
    return np.maximum(total / weights.sum(), 0)


def _support(labels: np.ndarray, clusters: np.ndarray, n_topics: int) -> np.ndarray:
    """Return the share of a document's label in its cluster without it, corrected for chance."""
    meet = _contingency(labels, clusters, n_topics)
    n_others = meet.sum(axis=0)[clusters] - 1
    same = meet[labels, clusters] - 1
    chance = (meet.sum(axis=1)[labels] - 1) / max(len(labels) - 1, 1)
    return np.where(n_others > 0, _ratio(_ratio(same, n_others) - chance, 1 - chance), 0)


def _contingency(labels: np.ndarray, clusters: np.ndarray, n_topics: int) -> np.ndarray:
    """Return how many documents each topic and each cluster have in common."""
    n_clusters = int(clusters.max(initial=-1)) + 1
    cells = labels.astype(np.int64) * n_clusters + clusters
    return np.bincount(cells, minlength=n_topics * n_clusters).reshape(n_topics, n_clusters)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a / b, 0 where there is nothing to divide by."""
    a, b = np.broadcast_arrays(a, b)
    return np.divide(a, b, out=np.zeros(a.shape), where=b > 0)


# -- in words --------------------------------------------------------------------------------------

WHAT_TO_TRY = (
    "Try fewer topics, more documents, other views or, where runs differ, a larger n_init."
)


def unstable_topics(stability: np.ndarray | None) -> np.ndarray:
    """Return the numbers of unstable topics, the least stable first."""
    if stability is None:
        return np.empty(0, int)
    order = np.argsort(stability, kind="stable")
    return order[stability[order] < UNSTABLE]


def describe_unstable(stability: np.ndarray | None, names: Sequence[str | None] = ()) -> str:
    """Return in words which topics are unstable and what to try; "" where all are stable.

    >>> describe_unstable(np.array([0.9, 0.2, 0.25])).partition(":")[0]
    'Topics 1 (0.20) and 2 (0.25) are unstable'
    """
    found = unstable_topics(stability)
    if not len(found) or stability is None:
        return ""
    texts = [f"{_name(z, names)} ({stability[z]:.2f})" for z in found[:MOST_LISTED]]
    if len(found) > MOST_LISTED:
        number = f"{len(found)} of {plural(len(stability), 'topic')}"
        subject = f"{number} are unstable, most of all {_joined(texts)}"
    else:
        noun, verb = ("Topic", "is") if len(found) == 1 else ("Topics", "are")
        subject = f"{noun} {_joined(texts)} {verb} unstable"
    return f"{subject}: their documents are not together again in other clusterings. {WHAT_TO_TRY}"


def _name(topic: int, names: Sequence[str | None]) -> str:
    name = names[topic] if len(names) else None
    return str(topic) if name is None else f"{topic} {name!r}"


def _joined(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def are_like_chance(stability: np.ndarray | None, n_docs: int) -> bool:
    """Return whether most topics are hardly more stable than chance, in enough documents."""
    if stability is None or n_docs < ENOUGH_DOCUMENTS:
        return False
    return bool(np.nanmedian(stability) < CHANCE)
