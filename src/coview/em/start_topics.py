"""Topics that a run of EM starts from: of mixtures, of words, or at random around the corpus."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.em.matrix_facts import MatrixFacts, column_sums

CORPUS_SHARE = 0.01  # share of the corpus distribution mixed into topics made from documents


def topics_from_mixtures(
    theta: np.ndarray, matrix: sp.csr_array, corpus_of: sp.csr_array | None = None
) -> np.ndarray:
    """Return p(w|z) (topics, terms) of documents with these mixtures, smoothed by the corpus.

    The corpus distribution, of `corpus_of` if given, keeps words unseen in a topic from probability
    0, which EM would never leave. A topic without documents is the corpus distribution.
    """
    topics = np.ascontiguousarray((matrix.T @ theta).T)
    return smoothed_topics(topics, matrix if corpus_of is None else corpus_of)


def smoothed_topics(topics: np.ndarray, matrix: sp.csr_array | MatrixFacts) -> np.ndarray:
    """Return p(w|z) of the words of each topic (topics, terms), smoothed by those of a matrix."""
    share, corpus = CORPUS_SHARE, _corpus_distribution(matrix)
    mass = topics.sum(axis=1, keepdims=True, dtype=np.float64)
    topics *= np.divide(1 - share, mass, out=np.zeros_like(mass), where=mass > 0)
    topics += np.where(mass > 0, share, 1).astype(topics.dtype) * corpus
    return topics


def blend_with_pinned(
    p_w_z: np.ndarray, matrix: sp.csr_array | MatrixFacts, labels: np.ndarray
) -> np.ndarray:
    """Take half of each topic from the documents pinned to it, so that few pins are not drowned."""
    if isinstance(matrix, MatrixFacts):
        words = np.array(matrix.words)
    else:
        rows = np.flatnonzero(labels >= 0)
        pinned = np.zeros((len(rows), len(p_w_z)), p_w_z.dtype)
        pinned[np.arange(len(rows)), labels[rows]] = 1
        words = np.ascontiguousarray((matrix[rows].T @ pinned).T)
    known = np.isin(np.arange(len(p_w_z)), labels)
    p_w_z[known] = (p_w_z[known] + smoothed_topics(words, matrix)[known]) / 2
    return p_w_z


def perturbed_corpus(matrix: Any, n_topics: int, rng: np.random.Generator) -> np.ndarray:
    """Return random topics (topics, terms) around the corpus distribution."""
    # in place, in the precision of the data: these arrays are among the largest of a fit
    topics = rng.standard_exponential((n_topics, matrix.shape[1]), dtype=matrix.dtype)
    topics += 0.1
    topics *= _corpus_distribution(matrix)
    topics /= np.maximum(topics.sum(axis=1, keepdims=True), np.finfo(matrix.dtype).tiny)
    return topics


def _corpus_distribution(matrix: sp.csr_array | MatrixFacts) -> np.ndarray:
    """Return p(w), the share of each term in the counts of a view."""
    counts = column_sums(matrix)
    return (counts / max(counts.sum(), np.finfo(float).tiny)).astype(matrix.dtype)
