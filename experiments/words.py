"""Words: how coherent the words shown of topics are, on documents that were not fitted.

    python -m experiments.words [--seeds 4] [--sets cora] > table.md
    python -m experiments.words --evidence    words shown that fewer than three documents have

A model is fitted to half of the documents (20newsgroups: to those of the publisher's split), and
the ten first words of each topic in the first view are compared by NPMI in the other documents.
The mixtures are the same for all rankings; what differs is what is counted, how far the corpus is
divided out (lambda), and what few documents count for. Diversity is the share of different words
among all that are shown. experiments/words.md has the table. `COVIEW_DATA` names the folder with
the data sets.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import TfidfTransformer

from coview import LinkPLSA, Views
from coview.datasets import load_20newsgroups, load_dataset, load_python_api
from coview.metrics import topic_coherence, topic_diversity
from coview.reporting.terms import documents_needed, first_columns, term_scores

TOPICS = {
    "20newsgroups": 20,
    "reuters1200": 6,
    "wikipedia": 10,
    "ngs": 5,
    "cora": 7,
    "python_api": 50,
}
LAMBDAS = (0.4, 0.5, 0.6)
TOP = 10


@cache
def _load(name: str) -> tuple[Views, np.ndarray | None]:
    if name == "20newsgroups":
        return load_20newsgroups(return_split=True)
    return load_python_api() if name == "python_api" else load_dataset(name), None


def halves(name: str, seed: int) -> tuple[Views, Views]:
    """Return the documents to fit, and those in which words are compared."""
    views, is_test = _load(name)
    if is_test is None:
        is_test = np.ones(views.n_docs, bool)
        rng = np.random.default_rng(seed)
        is_test[rng.permutation(views.n_docs)[: views.n_docs // 2]] = False
    return views[np.flatnonzero(~is_test)], views[np.flatnonzero(is_test)]


def counts_of(model: Any, view: str, counts: sp.csr_array) -> Iterator[tuple[str, np.ndarray]]:
    """Yield n(w,z), (topics, terms), of what can be counted: documents in five ways."""
    mixtures = model.view_doc_topic_[view].astype(np.float64)
    has = sp.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)
    p_w_z = model.components_[view].astype(np.float64)
    ratio = has.copy()
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    for start in range(0, counts.nnz, 1 << 18):
        part = slice(start, start + (1 << 18))
        p_w_d = np.einsum("dz,zd->d", mixtures[rows[part]], p_w_z[:, counts.indices[part]])
        ratio.data[part] = 1 / np.maximum(p_w_d, 1e-30)
    yield "documents, p(z given d,w)", p_w_z * (ratio.T @ mixtures).T
    yield "documents, p(z given d)", (has.T @ mixtures).T
    yield "documents, label", (has.T @ np.eye(len(p_w_z))[model.labels_]).T
    yield "documents, p(z given d) p(z given d,w)", p_w_z * (ratio.T @ mixtures**2).T
    yield "documents, p(z given d)²", (has.T @ mixtures**2).T


def rankings(name: str, seed: int) -> Iterator[tuple[str, np.ndarray, sp.csr_array]]:
    """Yield scores of terms (topics, terms) under each ranking, and the documents held out."""
    train, test = halves(name, seed)
    view, n_topics = train.names[0], TOPICS[name]
    counts, held_out = sp.csr_array(train[view]), test[view]
    model = LinkPLSA(n_topics, random_state=seed).fit(train)
    p_w = model.term_counts_[view] / model.term_counts_[view].sum()
    p_w_z = model.components_[view].astype(np.float64)
    before = np.divide(p_w_z, p_w**0.4, out=np.zeros_like(p_w_z), where=p_w > 0)
    yield "tokens, relevance .6 (before)", before, held_out
    needed = documents_needed(model)
    for what, found in counts_of(model, view, counts):
        whole, known = np.maximum(found.sum(axis=0), 1e-30), found >= needed - 0.01
        for lam in LAMBDAS:
            yield f"{what}, λ {lam}", known * found / whole ** (1 - lam), held_out
        yield f"{what}, λ 0.5, + m", known * found / np.sqrt(whole + needed), held_out
        fewer = np.maximum(found - np.sqrt(found), 0)
        yield f"{what}, λ 0.5, - one standard error", known * fewer / np.sqrt(whole), held_out
    yield "coview.top_terms", term_scores(model, view), held_out
    weighted = TfidfTransformer().fit_transform(sp.csr_matrix(counts))
    nmf = NMF(n_topics, init="nndsvda", random_state=seed, max_iter=300).fit(weighted)
    yield "NMF on tf-idf", nmf.components_, held_out


def shown_without_evidence(seeds: int) -> Iterator[tuple[str, str, int, int]]:
    """Yield for each way of counting how many words of all that are shown have few documents."""
    from tests.reporting.test_evidence import gaps

    fits = [("table with gaps", gaps(), n) for n in (12, 24, 40, 60)]
    fits += [(name, _load(name)[0], n) for name, n in TOPICS.items() if name != "20newsgroups"]
    for seed, (name, views, n_topics) in itertools.product(range(seeds), fits):
        model = LinkPLSA(n_topics, random_state=seed).fit(views)
        needed = documents_needed(model) - 0.01
        for view in (view for view in views.names if view not in model.dense_views_):
            counted = dict(counts_of(model, view, sp.csr_array(views[view])))
            of_label = counted["documents, label"]
            for what, found in counted.items():
                scores = (found >= needed) * found / np.sqrt(found.sum(axis=0) + needed)
                columns = first_columns(scores, TOP)
                behind = np.concatenate([of_label[z, w] for z, w in enumerate(columns)])
                yield name, what, len(behind), int((behind < needed).sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--sets", nargs="+", default=list(TOPICS), choices=list(TOPICS))
    parser.add_argument("--evidence", action="store_true")
    given = parser.parse_args()
    if given.evidence:
        sums: dict[tuple[str, str], np.ndarray] = {}
        for name, what, *numbers in shown_without_evidence(2):
            kind = name if name.startswith("table") else "real sets"
            sums[what, kind] = sums.get((what, kind), np.zeros(2, int)) + numbers
        for (what, kind), (shown, few) in sums.items():
            print(f"| {what} | {kind} | {few:,} of {shown:,} |")
        return
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for name, seed in itertools.product(given.sets, range(given.seeds)):
        for how, scores, held_out in rankings(name, seed):
            coherence = float(np.nanmean(topic_coherence(scores, held_out, top=TOP)))
            pair = coherence, topic_diversity(scores, top=TOP)
            found.setdefault(how, {}).setdefault(name, []).append(pair)
    print(f"| ranking | {' | '.join(given.sets)} | mean |\n|---|{'---|' * (len(given.sets) + 1)}")
    for how, by_set in found.items():
        means = np.array([np.mean(by_set[name], axis=0) for name in given.sets])
        cells = [f"{c:.3f} / {d:.2f}" for c, d in [*means, means.mean(axis=0)]]
        print(f"| {how} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
