"""The corpora: 20newsgroups, and generated ones with Zipf's law and planted topics.

A corpus is cut into training documents and held-out ones, whose tokens are cut into two halves: one
is observed when mixtures are folded in, the other is predicted.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

HELD_OUT = 1000  # documents, or a tenth if there are fewer than ten times as many
PARTS = ("train", "observed", "predicted")


@dataclass(frozen=True)
class Generated:
    """A corpus with planted topics; see `generate`."""

    n_docs: int
    n_terms: int
    n_topics: int
    doc_length: int


CORPORA = {
    "20newsgroups": None,
    "zipf-2.5M": Generated(20_300, 30_000, 50, 170),
    "zipf-25M": Generated(190_000, 60_000, 100, 170),
    "tiny": Generated(700, 800, 5, 60),
}


def generate(spec, rng):
    """Draw documents: terms by Zipf's law, each topic preferring some of them, a few a document.

    Topic z has p(w|z) proportional to g(w,z) / (rank(w) + 5) with g from a gamma distribution of
    shape 0.1, so that frequent terms differ between topics as rare ones do; mixtures are from a
    Dirichlet distribution of 0.05, lengths from a negative binomial one.
    """
    return documents(spec, planted_topics(spec, rng), rng)


def planted_topics(spec, rng):
    """Return p(w|z) of the planted topics, summed up from the first term on."""
    zipf = 1.0 / (np.arange(spec.n_terms) + 5.0)
    topics = rng.gamma(0.1, size=(spec.n_topics, spec.n_terms)) * zipf
    return np.cumsum(topics / topics.sum(axis=1, keepdims=True), axis=1)


def documents(spec, cumulated, rng):
    """Draw documents of planted topics."""
    lengths = np.maximum(rng.negative_binomial(3, 3 / (3 + spec.doc_length), spec.n_docs), 10)
    mixtures = rng.dirichlet(np.full(spec.n_topics, 0.05), spec.n_docs)
    n_of_topic = rng.multinomial(lengths, mixtures / mixtures.sum(axis=1, keepdims=True))
    rows, terms = [], []
    for topic in range(spec.n_topics):
        docs = np.repeat(np.arange(spec.n_docs, dtype=np.int32), n_of_topic[:, topic])
        drawn = np.searchsorted(cumulated[topic], rng.random(len(docs)))
        rows.append(docs)
        terms.append(np.minimum(drawn, spec.n_terms - 1).astype(np.int32))
    place = np.concatenate(rows), np.concatenate(terms)
    ones = np.ones(len(place[0]), dtype=np.int32)
    return sp.csr_matrix((ones, place), shape=(spec.n_docs, spec.n_terms))


def split(counts, rng):
    """Return training documents, and the two halves of the tokens of held-out ones."""
    counts = counts[np.diff(counts.indptr) > 1]
    order = rng.permutation(counts.shape[0])
    n_held_out = min(HELD_OUT, counts.shape[0] // 10)
    # shuffled: 20newsgroups stands in the order of its classes, which online learners suffer from
    held_out, train = counts[order[:n_held_out]], counts[order[n_held_out:]]
    known = np.asarray(train.sum(axis=0)).ravel() > 0
    train, held_out = train[:, known], held_out[:, known]
    half = rng.binomial(held_out.data, 0.5).astype(held_out.data.dtype)
    observed, predicted = held_out.copy(), held_out.copy()
    observed.data, predicted.data = half, held_out.data - half
    for matrix in (observed, predicted):
        matrix.eliminate_zeros()
    return train.tocsr(), observed, predicted


def counts_of(name):
    """Return the counts of a corpus by its name."""
    spec = CORPORA[name]
    if spec is not None:
        return generate(spec, np.random.default_rng(0))
    from coview.datasets.folders import data_home

    counts = sp.load_npz(data_home() / "20newsgroups" / "view_words.npz")
    return sp.csr_matrix(counts, dtype=np.int32)


def prepare(name, cache):
    """Write the parts of a corpus to the cache, unless they are there; return their folder."""
    folder = Path(cache) / "corpora" / name
    if not (folder / f"{PARTS[-1]}.npz").exists():
        folder.mkdir(parents=True, exist_ok=True)
        parts = split(counts_of(name), np.random.default_rng(1))
        for part, matrix in zip(PARTS, parts, strict=True):
            matrix.indices = matrix.indices.astype(np.int32)
            matrix.indptr = matrix.indptr.astype(np.int32)
            sp.save_npz(folder / f"{part}.npz", matrix, compressed=False)
    return folder


def load(folder, part):
    """Return one part of a prepared corpus."""
    return sp.load_npz(Path(folder) / f"{part}.npz")
