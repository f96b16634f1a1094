"""Starts: where EM begins. A start is a mixture for each document and topics for each view.

`starts_from` lists the starts that a value of `init` stands for; each has a function here. No
probability starts at zero, except in the mixtures of pinned documents: EM never leaves a zero.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.mixture_files import UniformMixtures
from coview.em.prepared import Prepared, check_init
from coview.em.seeds import seed_votes, seeded_centers, seeded_topics
from coview.em.simplex import pad_topics, padded
from coview.em.start_topics import (
    blend_with_pinned,
    perturbed_corpus,
    topics_from_mixtures,
)
from coview.em.tfidf import tfidf
from coview.ensemble.kmeans import kmeans
from coview.ensemble.spaces import spectral
from coview.views.container import Views
from coview.views.density import is_dense_real
from coview.wording import plural

SMOOTHING = 0.1  # share of a hard label that is spread over all topics
MANY_TOPICS = 20  # so many topics of counts are wanted for their words rather than as clusters:
SOFT_SMOOTHING = 0.5  # the share for them
GRAPH_NEIGHBORS = 10
SPECTRAL_DOCUMENTS = 20_000  # with more, the eigenvectors are too expensive


@dataclass(frozen=True)
class Start:
    """Where a run begins: theta (documents, padded topics) and p(w|z) (topics, terms) by view."""

    name: str
    theta: np.ndarray
    p_w_z: tuple[np.ndarray, ...]


# a name, and a function that makes the start, or None where it would be too expensive
NamedStart = tuple[str, Callable[[], Start | None]]


def random_start(data: Prepared, n_topics: int, rng: np.random.Generator) -> Start:
    """Start from uniform mixtures, and topics that are perturbed copies of the corpus distribution.

    Only the topics are random, so the result does not depend on the order of the documents.
    """
    p_w_z = tuple(perturbed_corpus(m, n_topics, rng) for m in data.matrices)
    if data.labels is not None:
        p_w_z = tuple(map(blend_with_pinned, p_w_z, data.matrices, repeat(data.labels)))
    return Start("random", uniform_theta(data, n_topics), p_w_z)


def stepwise_start(data: Prepared, n_topics: int, rng: np.random.Generator) -> Start:
    """Start from where one epoch of mini-batches leads from random topics (`em.stepwise`)."""
    from coview.em.stepwise import stepwise_epoch

    theta, p_w_z = stepwise_epoch(random_start(data, n_topics, rng), data, rng)
    return Start("stepwise", _padded_theta(theta, data), p_w_z)


def mixture_start(name: str, theta: np.ndarray, data: Prepared) -> Start:
    """Start from mixtures (documents, topics), and the topics that follow from them."""
    n_topics, theta = theta.shape[1], _padded_theta(theta, data)
    p_w_z = tuple(topics_from_mixtures(theta[:, :n_topics], m) for m in data.matrices)
    return Start(name, theta, p_w_z)


def start_from_model(model: Any, n_topics: int, data: Prepared, views: Views) -> Start:
    """Start from the topics of a fitted model, and the mixtures it predicts."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    known = {n: p for n, p in model.components_.items() if n in views.names}
    if not known:
        raise ValueError(
            f"The model given as init knows the views {', '.join(model.components_)}, the data "
            f"have {', '.join(views.names)}: give its doc_topic_ or labels_ instead."
        )
    check_same_topics(len(next(iter(known.values()))), n_topics)
    names = [n for n in views.names if n in known]
    start = mixture_start("model", model.fold_in(views.select(*names)).doc_topic, data)
    p_w_z = tuple(known.get(n, p) for n, p in zip(data.names, start.p_w_z, strict=True))
    return replace(start, p_w_z=p_w_z)


def guess_start(data: Prepared, n_topics: int, rng: np.random.Generator) -> Start:
    """Start from the guess of each document's mixture, smoothed."""
    guess = data.prior.guess
    if guess is None:
        raise ValueError("init='guess' needs a guess: fit(views, guess=...).")
    return mixture_start("guess", (1 - SMOOTHING) * guess + SMOOTHING / n_topics, data)


def label_start(
    name: str, labels: np.ndarray, n_topics: int, data: Prepared, smoothing: float = SMOOTHING
) -> Start:
    """Start from hard labels (documents,), -1 for none, smoothed so that they can change."""
    return mixture_start(name, smooth_labels(labels, n_topics, smoothing, data.dtype), data)


def kmeans_start(data: Prepared, n_topics: int, rng: np.random.Generator) -> Start:
    """Start from k-means on tf-idf weighted, length-normalized, concatenated views."""
    given = data.without_ensemble_view()
    labels = kmeans_labels(concatenated_tfidf(given.matrices), n_topics, rng)
    return label_start("kmeans", labels, n_topics, data)


def naive_bayes_start(data: Prepared, n_topics: int, rng: np.random.Generator) -> Start:
    """Start from the mean of the views' naive Bayes posteriors, smoothed."""
    from sklearn.naive_bayes import MultinomialNB

    if data.labels is None:
        raise ValueError("init='naive_bayes' needs labeled documents: fit(views, labels=...).")
    theta, n_votes = np.zeros((data.n_docs, n_topics)), np.zeros((data.n_docs, 1))
    for v, matrix in _nonempty_views(data):
        has = np.flatnonzero(data.present[:, v])
        taught = has[data.labels[has] >= 0]
        if len(taught):
            model = MultinomialNB().fit(matrix[taught], data.labels[taught])
            theta[np.ix_(has, model.classes_)] += model.predict_proba(matrix[has])
            n_votes[has] += 1
    theta = np.divide(theta, n_votes, out=np.full_like(theta, 1 / n_topics), where=n_votes > 0)
    return mixture_start("naive_bayes", (1 - SMOOTHING) * theta + SMOOTHING / n_topics, data)


def seeds_start(data: Prepared, n_topics: int, rng: np.random.Generator) -> Start:
    """Start from the documents that have seed words, as if these were labels of them.

    The others follow by naive Bayes; where some topics have no such documents, by k-means whose
    centers start there (seeded k-means of Basu et al., 2002).
    """
    if data.seeds is None:
        raise ValueError("init='seeds' needs seeds: give the model words for some topics.")
    votes = seed_votes(data, n_topics)
    if data.labels is not None:
        votes = np.where(data.labels >= 0, data.labels, votes)
    if len(np.unique(votes[votes >= 0])) == n_topics:
        guessed = naive_bayes_start(replace(data, labels=votes), n_topics, rng)
        theta = (1 - SMOOTHING) * guessed.theta[:, :n_topics] + SMOOTHING / n_topics
        return mixture_start("seeds", theta, data)
    features = concatenated_tfidf(data.without_ensemble_view().matrices)
    centers = seeded_centers(features, votes, n_topics, rng)
    found = kmeans_labels(features, n_topics, rng, centers)
    return label_start("seeds", np.where(votes >= 0, votes, found), n_topics, data)


def consensus_start(
    data: Prepared, n_topics: int, rng: np.random.Generator, restart: int = 0
) -> Start:
    """Start from what an ensemble of clusterings agrees on (`coview.ensemble`).

    Restarts after the first one draw the members of the ensemble anew, with replacement. Many
    topics of counts start softer: EM mostly ends sooner, and at a better likelihood.
    """
    if data.ensemble is None:  # too few documents with counts
        return random_start(data, n_topics, rng)
    labels = data.ensemble.consensus(n_topics, rng, resample=restart > 0)
    smoothing = SOFT_SMOOTHING if wants_topics(data, n_topics) else SMOOTHING
    return label_start("consensus", labels, n_topics, data, smoothing)


def wants_topics(data: Prepared, n_topics: int) -> bool:
    """Return whether topics are wanted for their words rather than as clusters of documents."""
    measured = any(is_dense_real(m) for m in data.without_ensemble_view().matrices)
    return n_topics >= MANY_TOPICS and not measured


def view_kmeans_start(data: Prepared, n_topics: int, rng: np.random.Generator) -> Start:
    """Start from k-means on the clusters that k-means on each view finds (after Long et al.)."""
    marks = []
    for v, matrix in _nonempty_views(data):
        has = np.flatnonzero(data.present[:, v])
        labels = kmeans_labels(tfidf(matrix[has]), n_topics, rng)
        places = (np.ones(len(has), np.float32), (has, labels))
        marks.append(sp.csr_array(places, shape=(data.n_docs, n_topics)))
    together = sp.csr_array(sp.hstack(marks, format="csr"))
    return label_start("view_kmeans", kmeans_labels(together, n_topics, rng), n_topics, data)


def spectral_start(data: Prepared, n_topics: int, rng: np.random.Generator) -> Start | None:
    """Start from the spectral embedding of the neighbor graph of the concatenated views."""
    features = concatenated_tfidf(data.without_ensemble_view().matrices)
    return _spectral("spectral", [(features, None)], data, n_topics, rng)


def spectral_sum_start(data: Prepared, n_topics: int, rng: np.random.Generator) -> Start | None:
    """Start from the spectral embedding of the sum of the views' neighbor graphs."""
    features = ((tfidf(m), data.present[:, v]) for v, m in _nonempty_views(data))
    return _spectral("spectral_sum", features, data, n_topics, rng)


def _nonempty_views(data: Prepared) -> Iterator[tuple[int, sp.csr_array]]:
    """Yield the number and matrix of each given view that has counts."""
    given = data.without_ensemble_view()
    return ((v, matrix) for v, matrix in enumerate(given.matrices) if matrix.nnz)


def _spectral(
    name: str,
    features: Iterable[tuple[sp.csr_array, np.ndarray | None]],
    data: Prepared,
    n_topics: int,
    rng: np.random.Generator,
) -> Start | None:
    from coview.graphs.neighbors import knn_graph

    if not _spectral_is_possible(data.n_docs, n_topics):
        return None
    graph = sum(knn_graph(f, GRAPH_NEIGHBORS, present=has) for f, has in features)
    embedding = spectral_embedding(graph, n_topics, rng)
    return label_start(name, kmeans_labels(embedding, n_topics, rng), n_topics, data)


def _spectral_is_possible(n_docs: int, n_topics: int) -> bool:
    """Return whether there are more documents than eigenvectors, but not too many."""
    return n_topics + 2 <= n_docs <= SPECTRAL_DOCUMENTS


def spectral_embedding(graph: sp.csr_array, n_vectors: int, rng: np.random.Generator) -> np.ndarray:
    """Return the rows of the leading eigenvectors of D^-1/2 G D^-1/2, scaled to length one."""
    from coview.runners.native import one_native_thread

    with one_native_thread():
        return spectral(graph, n_vectors, rng)


STARTS = {
    "random": random_start,
    "stepwise": stepwise_start,
    "kmeans": kmeans_start,
    "spectral": spectral_start,
    "spectral_sum": spectral_sum_start,
    "view_kmeans": view_kmeans_start,
    "consensus": consensus_start,
    "naive_bayes": naive_bayes_start,
    "seeds": seeds_start,
    "guess": guess_start,
}


SEVERAL = ("auto", "trial")  # values of init that may stand for several starts


def starts_from(
    init: Any,
    data: Prepared,
    views: Views,
    n_topics: int,
    rng: np.random.Generator,
    restart: int = 0,
) -> list[NamedStart]:
    """List the starts that `init` (a name, mixtures or labels) stands for."""
    if isinstance(init, str) and init == "mvc" and data.labels is not None:
        init = "naive_bayes"  # as in the paper that starts from MVC: its clusters are no classes
    if isinstance(init, str) and init == "mvc":
        from coview.em.mvc import mvc_start

        return [("mvc", partial(mvc_start, views, data, n_topics, rng))]
    if isinstance(init, str):
        names = start_names(init, data, n_topics)
        again = {"consensus": {"restart": restart}}
        return [(n, partial(STARTS[n], data, n_topics, rng, **again.get(n, {}))) for n in names]
    given = check_init(init, data.n_docs, n_topics)
    if given.ndim == 1:
        return [("given", partial(label_start, "given", given, n_topics, data))]
    return [("given", partial(mixture_start, "given", given, data))]


def start_names(init: str, data: Prepared, n_topics: int) -> list[str]:
    """Return the names of the starts to try: one by name, several for "trial"."""
    if init not in SEVERAL:
        if init not in STARTS:
            names = ", ".join(map(repr, (*SEVERAL, *STARTS, "mvc")))
            raise ValueError(
                f"init must be one of {names}, a fitted model, an array of mixtures of shape "
                f"(documents, topics), or labels of shape (documents,); got {init!r}."
            )
        if init.startswith("spectral"):
            _check_spectral(init, data.n_docs, n_topics)
        return [init]
    if n_topics == 1:
        return ["random"]
    if data.prior.guess is not None:
        return ["guess"]
    if data.labels is not None:
        # only these two know which topic is which. If all topics have labels, do not let the
        # objective choose: it may prefer a random start whose topics do not match the labels
        every = len(np.unique(data.labels[data.labels >= 0])) == n_topics
        if every or data.seeds is None:
            return ["naive_bayes"] if every else ["naive_bayes", "random"]
    if data.seeds is not None and (_n_guided(data) == n_topics or data.labels is not None):
        return ["seeds"] if _n_guided(data) == n_topics else ["seeds", "random"]  # as with labels
    first = [] if data.seeds is None else ["seeds"]  # the others are numbered by `seeded_start`
    if init == "auto":
        return [*first, "consensus"]
    several = ["spectral_sum", "view_kmeans"] if len(data.without_ensemble_view().names) > 1 else []
    return [*first, "kmeans", "kmeans", "kmeans", "spectral", *several, "random"]


def _n_guided(data: Prepared) -> int:
    """Return how many topics have labeled documents or seed words."""
    assert data.seeds is not None
    labels = np.empty(0, int) if data.labels is None else data.labels[data.labels >= 0]
    return len(np.union1d(labels, seeded_topics(data.seeds)))


def _check_spectral(init: str, n_docs: int, n_topics: int) -> None:
    """Refuse a spectral start that is impossible; "auto" leaves it out instead."""
    if _spectral_is_possible(n_docs, n_topics):
        return
    raise ValueError(
        f"init={init!r} with {plural(n_topics, 'topic')} takes {n_topics + 2:,} to "
        f"{SPECTRAL_DOCUMENTS:,} documents; got {n_docs:,}. Use init='kmeans', 'random' or 'auto', "
        "which tries several starts and leaves this one out."
    )


def check_same_topics(found: int, wanted: int) -> None:
    """Refuse a model given as init that has another number of topics."""
    if found != wanted:
        raise ValueError(f"The model given as init has {found} topics; n_components is {wanted}.")


def pinned_start(start: Start, data: Prepared) -> Start:
    """Replace the topics of a start by the words of the documents pinned to them, where any are."""
    # views side by side: here p(w|z) sums to one over all of them
    ends = np.cumsum([m.shape[1] for m in data.matrices])[:-1]
    whole = weighted_side_by_side(data, data.dtype)
    shares = [m.sum(dtype=np.float64) * w for w, m in zip(data.weights, data.matrices, strict=True)]
    spare = np.hstack([p * (s / sum(shares)) for p, s in zip(start.p_w_z, shares, strict=True)])
    labels = data.labels
    if labels is not None:
        pinned = smooth_labels(labels[labels >= 0], len(spare), smoothing=0.0)
        found = topics_from_mixtures(pinned.astype(data.dtype), whole[labels >= 0], corpus_of=whole)
        known = np.isin(np.arange(len(spare)), labels)
        spare[known] = found[known]
    return Start("vote", start.theta, tuple(np.split(spare, ends, axis=1)))


def weighted_side_by_side(data: Prepared, dtype: Any) -> sp.csr_array:
    """Return all views side by side, each times its weight."""
    weighted = [w * m for w, m in zip(data.weights, data.matrices, strict=True)]
    return sp.csr_array(sp.hstack(weighted, format="csr"), dtype=dtype)


def uniform_theta(data: Prepared, n_topics: int) -> Any:
    """Return uniform mixtures, one-hot for pinned documents; of data on disk none is in memory."""
    if data.on_disk:
        width = padded(n_topics)
        return UniformMixtures(data.n_docs, n_topics, width, data.dtype, data.labels)
    return _padded_theta(np.broadcast_to(1 / n_topics, (data.n_docs, n_topics)), data)


def _padded_theta(theta: np.ndarray, data: Prepared) -> np.ndarray:
    """Pad mixtures; make them uniform for empty documents, one-hot for pinned ones."""
    wide, n_topics = pad_topics(theta, data.dtype), theta.shape[1]
    wide[data.empty, :n_topics] = 1 / n_topics  # any other value would make the label noise
    if data.labels is not None:
        rows = np.flatnonzero(data.labels >= 0)
        wide[rows] = 0
        wide[rows, data.labels[rows]] = 1
    return wide


def smooth_labels(
    labels: np.ndarray, n_topics: int, smoothing: float = SMOOTHING, dtype: Any = np.float64
) -> np.ndarray:
    """Return hard labels as mixtures that can still change; -1 is uniform.

    >>> smooth_labels(np.array([1, -1]), 2)
    array([[0.05, 0.95],
           [0.5 , 0.5 ]])
    """
    theta = np.full((len(labels), n_topics), 1 / n_topics, dtype)
    known = np.flatnonzero(labels >= 0)
    theta[known] = smoothing / n_topics
    theta[known, labels[known]] += 1 - smoothing
    return theta


def concatenated_tfidf(matrices: Sequence[sp.csr_array]) -> sp.csr_array:
    """Return all views side by side, each weighted by tf-idf and with rows of length one."""
    return sp.csr_array(sp.hstack([tfidf(m) for m in matrices], format="csr"))


def kmeans_labels(
    features: Any, n_clusters: int, rng: np.random.Generator, centers: np.ndarray | None = None
) -> np.ndarray:
    """Return the cluster of each row. Centers come from a sample of rows: the cost stays linear.

    `centers` are those to start from; by default k-means++ chooses them.
    """
    from coview.runners.native import one_native_thread

    with one_native_thread():
        return kmeans(features, n_clusters, rng, centers=centers)


@contextmanager
def deterministic_kmeans() -> Iterator[None]:
    """Run k-means in one thread, and without its warning of fewer distinct points than clusters.

    Several threads would form sums in an order that differs from run to run. Empty clusters, as
    duplicate documents make them, do no harm in a start: their topics are the corpus distribution.
    """
    from sklearn.exceptions import ConvergenceWarning

    from coview.runners.native import one_native_thread

    with one_native_thread(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        yield
