"""Rank documents by the evidence of a query, and say what the evidence was."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.retrieval.evidence import KINDS, Asked, Comparison, Counts, SearchEvidence, log_softmax
from coview.retrieval.exact import ScoresAndRows
from coview.retrieval.results import Reason
from coview.retrieval.translation import term_shares
from coview.runners.native import one_native_thread
from coview.runners.threads import ThreadRunner, in_this_thread

FEW = 4  # queries that are answered where they are asked
WORDS = 6  # of a query that are named in a reason, and of an answer for each of them
CALLED = 3


class EvidenceRanking:
    """Documents that can be answers, as their evidence is compared.

    Parameters
    ----------
    model : fitted model
    evidence : SearchEvidence
    counts : dict of csr_array of shape (documents, terms)
        The documents, in the views that are searched.
    """

    def __init__(self, model: Any, evidence: SearchEvidence, counts: Counts):
        self.model = model
        self.evidence = evidence
        self.counts = counts
        self._comparison = Comparison(model, evidence)
        self._searched = {v: self._comparison.searched(v, rows) for v, rows in counts.items()}
        self._n_docs = int(np.any([s.has for s in self._searched.values()], axis=0).sum())

    def read(self, counts: Counts) -> list[list[Asked]]:
        """Return what each query asks, view by view; nothing for one without a known term."""
        known = [v for v in counts if v in self.evidence.views]
        asked = zip(*(self._comparison.asked(v, counts[v]) for v in known), strict=True)
        return [[one for one in query if one is not None] for query in asked]

    def read_mixtures(self, mixtures: np.ndarray) -> list[list[Asked]]:
        """Return queries of which only the mixtures are known: topics alone speak."""
        view = next(iter(self._searched))
        rows = self._comparison.gains.of_mixtures(view, mixtures)
        none, place = np.empty(0, np.int64), self.evidence.views[view].center * 0
        return [[Asked(view, none, none.astype(float), topics, place)] for topics in rows]

    def best(
        self, queries: list[list[Asked]], top: int, positions: np.ndarray, n_jobs: int | None
    ) -> ScoresAndRows:
        """Return scores and rows of the best documents, equal ones in the order of positions."""
        top = min(top, self._n_docs)

        def answer(query: list[Asked]) -> tuple[np.ndarray, np.ndarray]:
            found = self._comparison.log_probabilities(query, self._searched)
            rows = _first(found, top, positions)
            return np.exp(found[rows]), rows

        with one_native_thread("blas"):
            if len(queries) < FEW:
                found = list(in_this_thread(answer, queries))
            else:
                with ThreadRunner(n_jobs) as run:
                    found = list(run(answer, queries))
        scores = np.array([scores for scores, _ in found]).reshape(len(queries), top)
        return scores, np.array([rows for _, rows in found], dtype=np.int64).reshape(
            len(queries), top
        )

    # -- why -------------------------------------------------------------------------------------

    def reasons(self, query: list[Asked], row: int) -> list[Reason]:
        """Return what each kind of evidence says for one answer, the most first."""
        asked, answer, parts = self._strongest(query, row)
        added = self.evidence.pairs[asked.view, answer].weights * parts
        total = added[added > 0].sum()
        reasons = []
        for k, kind in enumerate(KINDS):
            if added[k] > 0:
                calls, topic, terms = self._details(kind, asked, answer, row)
                share = float(added[k] / total)
                reasons.append(Reason(topic, float(added[k]), share, terms, kind=kind, calls=calls))
        return sorted(reasons, key=lambda reason: -reason.contribution)

    def _strongest(self, query: list[Asked], row: int) -> tuple[Asked, str, np.ndarray]:
        """Return the pair of views that speaks most for an answer, and its evidence."""
        found = []
        for asked in query:
            for answer, searched in self._searched.items():
                if searched.has[row]:
                    weights = self.evidence.pairs[asked.view, answer].weights
                    parts = self._comparison.parts(asked, answer, searched)
                    p = log_softmax(weights @ parts, searched.has)[row]
                    p += np.log(searched.has.sum())
                    found.append((float(p), asked, answer, parts[:, row]))
        return max(found, key=lambda item: item[0])[1:]

    def _details(
        self, kind: str, asked: Asked, answer: str, row: int
    ) -> tuple[list[tuple[str, list[str], float]], int | None, dict[str, list[str]]]:
        if kind == "topics":
            products = asked.topics * self._searched[answer].topics[row]
            topic = int(np.where(asked.topics > 0, products, -np.inf).argmax())  # none both lack
            from coview.reporting import top_terms

            terms = top_terms(self.model, WORDS)
            return [], topic, {v: terms[v][topic] for v in dict.fromkeys((asked.view, answer))}
        if kind == "map":
            return [], None, {}
        calls = self._comparison.calls(kind, asked.view, answer)
        return self._called(asked, answer, calls, row), None, {}

    def _called(
        self, asked: Asked, answer: str, calls: sp.csc_array, row: int
    ) -> list[tuple[str, list[str], float]]:
        """Return the terms of a query, those that stand for each in the answer, and their say."""
        document = term_shares(self.counts[answer][[row]])
        shares = np.zeros(document.shape[1])
        shares[document.indices] = document.data
        p_w = self.evidence.views[asked.view].shares[asked.terms]
        found = []
        for i, w in enumerate(asked.terms):
            part = slice(calls.indptr[w], calls.indptr[w + 1])
            terms = calls.indices[part]
            amounts = calls.data[part] * shares[terms] / p_w[i]
            order = [j for j in np.argsort(-amounts, kind="stable")[:CALLED] if amounts[j] > 0]
            if order:
                names = [self._name(answer, int(terms[j])) for j in order]
                added = float(asked.weights[i] * np.log1p(amounts.sum()))
                found.append((self._name(asked.view, int(w)), names, added))
        return sorted(found, key=lambda item: -item[2])[:WORDS]

    def _name(self, view: str, number: int) -> str:
        names = self.model.feature_names_[view]
        return str(number if names is None else names[number])


def _first(odds: np.ndarray, top: int, positions: np.ndarray) -> np.ndarray:
    """Return the rows of the largest values, of equal ones those with lower positions."""
    if not top:  # no document has a known term
        return np.empty(0, np.int64)
    if top < len(odds):
        least = np.partition(odds, len(odds) - top)[len(odds) - top]
        rows = np.flatnonzero(odds >= least)
    else:
        rows = np.arange(len(odds))
    return rows[np.lexsort((positions[rows], -odds[rows]))][:top]
