"""Search of one view with another, against plain baselines, as a Markdown table.

    python -m experiments.search_ranking [--seeds 3] [--data python_api] > table.md

A model is fitted to the training documents, and each view of the test documents is searched with
the other: with all terms of a document, and with three of its words, drawn by their counts. "first"
and "ten" are the shares of queries whose own document is the first answer, or among ten; MAP is by
classes. Beside coview stand what its evidence says alone, and four baselines: tf-idf of the words
that both vocabularies share, regularized CCA and ridge regression between spaces of 300 singular
vectors, and translation alone. `COVIEW_DATA` names the folder of data.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview import LinkPLSA, SearchIndex, Views
from coview.datasets import load_reuters1200
from coview.metrics import match_ranks, mean_average_precision
from coview.metrics.retrieval import unit_rows
from coview.retrieval.evidence import KINDS, Comparison
from coview.retrieval.learning import learn_evidence
from coview.retrieval.translation import learn_table
from experiments.defaults.data import train_and_test

TOPICS = {"python_api": (10, 50), "reuters1200": (10, 100), "wikipedia": (10, 50)}
SHORT = 3  # words of a short query
DIMENSIONS = 300  # of CCA and ridge regression
RIDGE = 0.1  # of the mean variance
COLUMNS = ["data", "topics", "query → answer", "by", "first", "ten", "median rank", "MAP"]
COLUMNS += ["3 words: first", "ten"]
Counts = dict[str, sp.csr_array]


def documents(name: str, seed: int) -> tuple[Views, Views]:
    """Return training and test documents; of Reuters half each, English and French."""
    if name != "reuters1200":
        return train_and_test(name, seed)
    views = load_reuters1200().select("en", "fr")
    order = np.random.default_rng(seed).permutation(len(views))
    return views[np.sort(order[:600])], views[np.sort(order[600:])]


def short_queries(counts: sp.csr_array, seed: int) -> sp.csr_array:
    """Return a few different terms of each document, drawn by their counts."""
    rng = np.random.default_rng(seed)
    rows = sp.lil_array(counts.shape, dtype=np.float32)
    for row in range(counts.shape[0]):
        part = slice(counts.indptr[row], counts.indptr[row + 1])
        terms, weights = counts.indices[part], counts.data[part].astype(float)
        if len(terms):
            n = min(SHORT, len(terms))
            rows[row, rng.choice(terms, n, replace=False, p=weights / weights.sum())] = 1
    return sp.csr_array(rows)


# -- baselines -------------------------------------------------------------------------------------


def tfidf(counts: sp.csr_array, train: sp.csr_array) -> sp.csr_array:
    """Return log(1 + n) times log of the documents over those with the term, of length 1."""
    docs_with = np.bincount(train.indices, minlength=train.shape[1])
    rows = sp.csr_array(counts, dtype=np.float64, copy=True)
    rows.data = np.log1p(rows.data) * np.log((train.shape[0] + 1) / (docs_with + 0.5))[rows.indices]
    lengths = np.sqrt((rows * rows).sum(axis=1))
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(rows.indptr))
    return rows


def shared_words(model: Any, query: str, answer: str) -> sp.csr_array | None:
    """Return which columns of two views have the same name, None if there are none."""
    names = [model.feature_names_[v] for v in (query, answer)]
    if any(n is None for n in names):
        return None
    a, b = np.intersect1d(*(n.astype(str) for n in names), return_indices=True)[1:]
    shape = (len(names[0]), len(names[1]))
    return sp.csr_array((np.ones(len(a)), (a, b)), shape=shape) if len(a) else None


class Baselines:
    """Scores of queries and answers by methods that know no topics."""

    def __init__(self, model: Any, train: Counts, query: str, answer: str):
        from sklearn.utils.extmath import randomized_svd

        self.asks, self.answers = train[query], train[answer]
        self.same = shared_words(model, query, answer)
        x, y = tfidf(self.asks, self.asks), tfidf(self.answers, self.answers)
        n_dims = min(DIMENSIONS, *(n - 1 for n in (*x.shape, *y.shape)))
        self.v_x, self.v_y = (randomized_svd(m, n_dims, random_state=0)[2].T for m in (x, y))
        x, y = x @ self.v_x, y @ self.v_y
        self.means = x.mean(axis=0), y.mean(axis=0)
        self.ridge = np.linalg.solve(_regular(x), x.T @ y)
        x, y = x - self.means[0], y - self.means[1]
        roots = [_inverse_root(_regular(m) / len(m)) for m in (x, y)]
        u, s, v = np.linalg.svd(roots[0] @ (x.T @ y / len(x)) @ roots[1])
        self.cca = roots[0] @ u * s, roots[1] @ v.T
        self.tables = (
            learn_table(self.asks, self.answers)[0],
            learn_table(self.answers, self.asks)[0],
        )

    def scores(self, queries: sp.csr_array, answers: sp.csr_array) -> Iterator[tuple[str, Any]]:
        """Yield the name and the scores (queries, answers) of each baseline."""
        q, g = tfidf(queries, self.asks), tfidf(answers, self.answers)
        if self.same is not None:
            yield "shared words", (q @ self.same @ g.T).toarray()
        x, y = q @ self.v_x, g @ self.v_y
        a, b = x - self.means[0], y - self.means[1]
        yield "CCA", unit_rows(a @ self.cca[0]) @ unit_rows(b @ self.cca[1]).T
        yield "ridge", unit_rows(x @ self.ridge) @ unit_rows(y).T
        there, back = (_unit(q @ self.tables[0]), g), (q, _unit(g @ self.tables[1]))
        yield "translation", sum((one @ other.T).toarray() for one, other in (there, back))


def _regular(x: np.ndarray) -> np.ndarray:
    gram = x.T @ x
    return gram + RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return vectors / np.sqrt(values) @ vectors.T


def _unit(rows: sp.csr_array) -> sp.csr_array:
    lengths = np.sqrt((rows * rows).sum(axis=1))
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(rows.indptr))
    return rows


# -- coview ----------------------------------------------------------------------------------------


def evidence_scores(
    comparison: Comparison, queries: sp.csr_array, answers: sp.csr_array, views: tuple[str, str]
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the scores of all evidence together, then of each kind that counts."""
    query, answer = views
    searched = comparison.searched(answer, answers)
    weights = comparison.evidence.pairs[views].weights
    parts = np.zeros((len(KINDS), queries.shape[0], answers.shape[0]))
    for row, asked in enumerate(comparison.asked(query, queries)):
        if asked is not None:
            parts[:, row] = comparison.parts(asked, answer, searched)
    yield "**coview**", np.tensordot(weights, parts, 1)
    for kind, part, weight in zip(KINDS, parts, weights, strict=True):
        if weight > 0:
            yield f"coview, {kind} alone", part


def topic_scores(model: Any, test: Views, query: str, answer: str) -> np.ndarray:
    """Return scores by mixtures of topics; -1 for documents that are not known."""
    index = SearchIndex(model, in_view=answer, views=test.select(answer), metric="hellinger")
    matrix = np.full((len(test), len(test)), -1.0)
    asked = test.select(query)
    known = np.flatnonzero(~model.fold_in(asked).empty)
    positions, scores = index.query_many(asked[known], len(test))
    for row, columns, values in zip(known, positions, scores, strict=True):
        matrix[row, columns] = values
    return matrix


def measure(name: str, topics: int, seed: int) -> Iterator[tuple[tuple[str, str], list[float]]]:
    """Yield the direction and the method, and its numbers."""
    train, test = documents(name, seed)
    model = LinkPLSA(topics, random_state=seed).fit(train)
    counts, held = model.as_counts(train), model.as_counts(test)
    comparison = Comparison(model, learn_evidence(model, counts))
    labels = np.asarray(test.labels)
    for query, answer in permutations(test.names, 2):
        base = Baselines(model, counts, query, answer)
        found: dict[str, list[float]] = {}
        for asked in (held[query], short_queries(held[query], seed)):
            whole = asked is held[query]
            rows = list(evidence_scores(comparison, asked, held[answer], (query, answer)))
            rows += base.scores(asked, held[answer])
            if whole:
                rows.append(("mixtures of topics", topic_scores(model, test, query, answer)))
            for method, scores in rows:
                ranks = match_ranks(scores)
                first, ten = np.mean(ranks < 2), np.mean(ranks < 11)
                average = mean_average_precision(scores, labels, labels)
                numbers = [first, ten, np.median(ranks), average] if whole else [first, ten]
                found.setdefault(method, []).extend(map(float, numbers))
        for method, numbers in found.items():
            yield (f"{query} → {answer}", method), numbers


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", choices=list(TOPICS), nargs="+", default=list(TOPICS))
    args = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |", "| --- | ---: | --- | --- " + "| ---: " * 6 + "|", sep="\n")
    for name in args.data:
        for topics in TOPICS[name]:
            found: dict[tuple[str, str], list[list[float]]] = {}
            for seed in range(args.seeds):
                for key, numbers in measure(name, topics, seed):
                    found.setdefault(key, []).append(numbers)
            for (direction, method), runs in found.items():
                first, ten, rank, average, *short = np.mean(runs, axis=0)
                three = " | ".join(f"{x:.1%}" for x in short) if short else " | "
                print(
                    f"| {name} | {topics} | {direction} | {method} | {first:.1%} | {ten:.1%} "
                    f"| {rank:.1f} | {average:.3f} | {three} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
