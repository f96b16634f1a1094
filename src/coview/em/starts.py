"""Starts: where EM begins. A start is one mixture for every document and topics for every view.

Nothing begins at zero except where it is meant (pinned documents): EM keeps a zero for ever.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import scipy.sparse as sp

from coview.data.prepare import Prepared
from coview.data.validate import check_mixtures, check_topic_labels
from coview.em.simplex import pad_topics

SMOOTHING = 0.1  # share of a hard label that is spread over all topics
CORPUS_SHARE = 0.01  # share of the corpus distribution mixed into topics made from documents
KMEANS_SAMPLE = 20_000  # documents on which the centres are found; the others are only assigned


@dataclass(frozen=True)
class Start:
    """Where a run begins: theta (documents, padded topics) and p(w|z) (topics, terms) by view."""

    name: str
    theta: np.ndarray
    p_w_z: tuple[np.ndarray, ...]


def random_start(data: Prepared, n_topics: int, rng: np.random.Generator) -> Start:
    """Uniform mixtures; every topic the corpus distribution with each word's share shaken.

    The randomness sits in the topics alone, so the order of the documents plays no part.
    """
    theta = np.broadcast_to(1 / n_topics, (data.n_docs, n_topics))
    p_w_z = tuple(_shaken_corpus(m, n_topics, rng) for m in data.matrices)
    if data.labels is not None:
        p_w_z = tuple(map(_lean_on_pins, p_w_z, data.matrices, repeat(data.labels)))
    return Start("random", _ready(theta, data), p_w_z)


def mixture_start(name: str, theta: np.ndarray, data: Prepared) -> Start:
    """From mixtures (documents, topics): the topics are what the documents say, smoothed."""
    n_topics, theta = theta.shape[1], _ready(theta, data)
    p_w_z = tuple(topics_of(theta[:, :n_topics], m) for m in data.matrices)
    return Start(name, theta, p_w_z)


def label_start(name: str, labels: np.ndarray, n_topics: int, data: Prepared) -> Start:
    """From hard labels (documents,), -1 for none, smoothed."""
    return mixture_start(name, smooth_labels(labels, n_topics), data)


def kmeans_start(data: Prepared, n_topics: int, rng: np.random.Generator) -> Start:
    """From k-means on tf-idf weighted, length-normalised, concatenated views."""
    labels = kmeans_labels(tfidf_concat(data.matrices), n_topics, rng)
    return label_start("kmeans", labels, n_topics, data)


def start_from(init, data: Prepared, n_topics: int, rng: np.random.Generator) -> Start:
    """The start that a model's `init` asks for: a name, mixtures, or hard labels."""
    if isinstance(init, str):
        makers = {"random": random_start, "kmeans": kmeans_start}
        if init not in makers:
            raise ValueError(
                f"init must be one of {', '.join(map(repr, makers))}, an array of mixtures of "
                f"shape (documents, topics), or labels of shape (documents,); got {init!r}."
            )
        return makers[init](data, n_topics, rng)
    given = np.asarray(init)
    if given.ndim == 1:
        return label_start(
            "given", check_topic_labels(given, data.n_docs, n_topics), n_topics, data
        )
    return mixture_start("given", check_mixtures(given, data.n_docs, n_topics), data)


def _ready(theta, data):
    """Padded and in the data's precision; uniform where nothing is known, one-hot where pinned."""
    theta = pad_topics(theta, data.dtype)[:, : theta.shape[1]]
    theta[data.empty] = 1 / theta.shape[1]  # any other value would make the label noise
    if data.labels is not None:
        rows = np.flatnonzero(data.pinned)
        theta[rows] = 0
        theta[rows, data.labels[rows]] = 1
    return theta.base


def smooth_labels(labels: np.ndarray, n_topics: int, smoothing: float = SMOOTHING) -> np.ndarray:
    """Hard labels as mixtures that can still move; -1 is uniform.

    >>> smooth_labels(np.array([1, -1]), 2)
    array([[0.05, 0.95],
           [0.5 , 0.5 ]])
    """
    theta = np.full((len(labels), n_topics), 1 / n_topics)
    known = np.flatnonzero(labels >= 0)
    theta[known] = smoothing / n_topics
    theta[known, labels[known]] += 1 - smoothing
    return theta


def topics_of(theta: np.ndarray, matrix: sp.csr_array, corpus_of=None) -> np.ndarray:
    """p(w|z) (topics, terms) of documents with these mixtures, with some of the corpus in it."""
    share, corpus = CORPUS_SHARE, _corpus(matrix if corpus_of is None else corpus_of)
    topics = np.ascontiguousarray((matrix.T @ theta).T)
    mass = topics.sum(axis=1, keepdims=True, dtype=np.float64)
    topics *= np.divide(1 - share, mass, out=np.zeros_like(mass), where=mass > 0)
    topics += np.where(mass > 0, share, 1).astype(topics.dtype) * corpus
    return topics


def tfidf_concat(matrices: Sequence[sp.csr_array]) -> sp.csr_array:
    """All views side by side, each weighted by tf-idf and with rows of length one."""
    from sklearn.feature_extraction.text import TfidfTransformer

    parts = [TfidfTransformer(sublinear_tf=True).fit_transform(m) for m in matrices]
    return sp.csr_array(sp.hstack(parts, format="csr"))


def kmeans_labels(features, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Cluster of each row. The centres come from a sample of rows, so the cost stays linear."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    n_docs = features.shape[0]
    kmeans = KMeans(min(n_clusters, n_docs), n_init=1, max_iter=50, random_state=_seed(rng))
    sample = np.arange(n_docs)
    if n_docs > KMEANS_SAMPLE:
        sample = np.sort(rng.choice(n_docs, KMEANS_SAMPLE, replace=False))
    # one thread: with several, sums are formed in an order that differs from run to run
    with threadpool_limits(1):
        return kmeans.fit(features[sample]).predict(features)


def _seed(rng):
    return int(rng.integers(2**31))


def _corpus(matrix):
    counts = np.asarray(matrix.sum(axis=0, dtype=np.float64)).ravel()
    return (counts / max(counts.sum(), np.finfo(float).tiny)).astype(matrix.dtype)


def _lean_on_pins(p_w_z, matrix, labels):
    """Half of each topic from the documents pinned to it: random topics would outvote few pins."""
    rows = np.flatnonzero(labels >= 0)
    pinned = np.zeros((len(rows), len(p_w_z)), p_w_z.dtype)
    pinned[np.arange(len(rows)), labels[rows]] = 1
    known = np.isin(np.arange(len(p_w_z)), labels)
    p_w_z[known] = (p_w_z[known] + topics_of(pinned, matrix[rows], corpus_of=matrix)[known]) / 2
    return p_w_z


def _shaken_corpus(matrix, n_topics, rng):
    # in place, in the precision of the data: these arrays are among the largest of a fit
    topics = rng.standard_exponential((n_topics, matrix.shape[1]), dtype=matrix.dtype)
    topics += 0.1
    topics *= _corpus(matrix)
    topics /= np.maximum(topics.sum(axis=1, keepdims=True), np.finfo(matrix.dtype).tiny)
    return topics
