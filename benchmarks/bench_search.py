"""Search by evidence: time of a query, memory, and the time to learn a table.

    python benchmarks/bench_search.py [--docs 200000] [--terms 30000] [--topics 50]

Documents of two views are drawn from Zipf's law, and terms of one view call for terms of the other.
Beside a query of coview stands the cosine of tf-idf rows, as scikit-learn computes it for terms
that both views share: it reads the same counts, once. The table is also learned from the posts of
20newsgroups, whose terms are dealt into two views, where `COVIEW_DATA` names the folder of data.

query      CPU milliseconds of one query of ten words, median of fifty
memory     what the index holds beside the counts of the model, as a multiple of them
learn      CPU seconds to learn tables and weights, both directions; table: one table alone
"""

import argparse
import os
import time

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from coview import PLSA
from coview.retrieval.evidence import Comparison
from coview.retrieval.learning import learn_evidence
from coview.retrieval.ranking import EvidenceRanking
from coview.retrieval.translation import learn_table

QUERY_WORDS = 10
QUERIES = 50
LENGTH = 80  # tokens of a document and view


def cpu(work, *args, **options):
    """Return what a function returns, and the CPU seconds it took."""
    start = time.process_time()
    found = work(*args, **options)
    return found, time.process_time() - start


def corpus(n_docs, n_terms, seed=0):
    """Return counts of two views: each term of the second stands for one of the first."""
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(1, n_terms + 1)
    terms = rng.choice(n_terms, (n_docs, LENGTH), p=p / p.sum())
    other = np.where(rng.random(terms.shape) < 0.8, (terms * 7919) % n_terms, terms)
    rows = np.repeat(np.arange(n_docs), LENGTH)
    ones, shape = np.ones(terms.size, np.float32), (n_docs, n_terms)
    return [sp.csr_array((ones, (rows, t.ravel())), shape=shape) for t in (terms, other)]


def model_of(counts, n_topics, seed=0):
    """Return a fitted model with random topics: a search by evidence asks for no more."""
    rng = np.random.default_rng(seed)
    model = PLSA(n_topics)
    model.components_ = {
        v: rng.dirichlet(np.full(m.shape[1], 0.1), n_topics).astype(np.float32)
        for v, m in counts.items()
    }
    model.view_names_ = tuple(counts)
    model.term_counts_ = {v: np.asarray(m.sum(axis=0)) for v, m in counts.items()}
    model.feature_names_ = dict.fromkeys(counts)
    n_docs = next(iter(counts.values())).shape[0]
    model.doc_topic_ = np.full((n_docs, n_topics), 1 / n_topics)
    model.view_doc_topic_ = dict.fromkeys(counts, model.doc_topic_)
    return model


def measure_queries(counts, model):
    evidence, seconds = cpu(learn_evidence, model, counts, n_jobs=1)
    ranking, build = cpu(EvidenceRanking, model, evidence, {"b": counts["b"]})
    positions = np.arange(counts["b"].shape[0])
    rng, times, peers = np.random.default_rng(1), [], []
    rows = normalize(counts["b"])
    for _ in range(QUERIES):
        terms = rng.integers(200, size=QUERY_WORDS)  # frequent ones: the most documents
        query = sp.csr_array(
            (np.ones(QUERY_WORDS, np.float32), (np.zeros(QUERY_WORDS, int), terms)),
            shape=(1, counts["a"].shape[1]),
        )
        times.append(cpu(lambda q=query: ranking.best(ranking.read({"a": q}), 10, positions, 1))[1])
        peers.append(cpu(lambda q=query: np.argsort(-(rows @ q.T).toarray()[:, 0])[:10])[1])
    searched = Comparison(model, evidence).searched("b", counts["b"])
    by_term = searched.by_term
    held = sum(a.nbytes for a in (by_term.data, by_term.indices, by_term.indptr, searched.topics))
    own = sum(a.nbytes for a in (counts["b"].data, counts["b"].indices, counts["b"].indptr))
    print(
        f"query {1e3 * np.median(times):.1f} ms (tf-idf {1e3 * np.median(peers):.1f} ms), "
        f"memory {held / own:.2f} of the counts, learn {seconds:.1f} s, index {build:.1f} s"
    )


def measure_table(counts, name):
    (_, likelihoods), seconds = cpu(learn_table, *counts, 1)
    pairs = float((np.diff(counts[0].indptr).astype(float) * np.diff(counts[1].indptr)).sum())
    print(f"table of {name}: {seconds:.1f} CPU s, {pairs / 1e6:.0f} million pairs of non-zeros")
    assert np.all(np.diff(likelihoods) > 0)


def newsgroups_in_halves():
    """Return the posts of 20newsgroups, whose terms are dealt into two views."""
    from coview.datasets.folders import load_folder

    matrix = sp.csr_array(load_folder("20newsgroups")["words"])
    order = np.random.default_rng(0).permutation(matrix.shape[1])
    middle = len(order) // 2
    return [sp.csr_array(matrix[:, part]) for part in (order[:middle], order[middle:])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=int, default=200_000)
    parser.add_argument("--terms", type=int, default=30_000)
    parser.add_argument("--topics", type=int, default=50)
    args = parser.parse_args()
    learn_table(*corpus(50, 40), 1)  # compilation
    if os.environ.get("COVIEW_DATA"):
        measure_table(newsgroups_in_halves(), "20newsgroups in halves")
    counts = dict(zip("ab", corpus(args.docs, args.terms), strict=True))
    print(f"{args.docs:,} documents, two views of {args.terms:,} terms, {args.topics} topics")
    measure_queries(counts, model_of(counts, args.topics))


if __name__ == "__main__":
    main()
