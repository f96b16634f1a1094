"""How large a page may be, and what is left out of it when there are many documents.

Counts of words and texts are what grows; mixtures are small. Of each document the terms that weigh
most stay (tf-idf), and of the texts the beginnings. What was left out is said in the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reading.left_out import TermsLeftOut
from coview.retrieval.evidence import SearchEvidence

SMALLEST_SHARES = (1e-3, 3e-3, 1e-2, 2e-2, 4e-2)  # of topics; the first where there is room
SNIPPET = 400  # characters of a text where there is room


@dataclass(frozen=True)
class Budget:
    """The room for what grows with the documents.

    Attributes
    ----------
    shares : int
        Shares of topics in the mixtures of all documents, by each view and by all of them.
    counts : int
        Non-zero counts of all views together, with the numbers that translate between these.
    characters : int
        Characters of texts of all views together.
    left_out : int
        Terms of all views together that were counted but not kept.
    picture_bytes : int
        Of small pictures of all documents together.
    """

    shares: int = 2_600_000
    counts: int = 2_800_000
    characters: int = 8_000_000
    left_out: int = 60_000
    picture_bytes: int = 10_000_000


def fit_mixtures(mixtures: Sequence[np.ndarray], budget: Budget) -> tuple[float, list[str]]:
    """Return the smallest share of a topic for which there is room, and what is cut, in words."""
    sizes = {share: sum(_larger(m, share) for m in mixtures) for share in SMALLEST_SHARES}
    # the last one is taken in any case
    smallest = next((s for s in sizes if sizes[s] <= budget.shares), SMALLEST_SHARES[-1])
    return smallest, [] if smallest == SMALLEST_SHARES[0] else [
        f"Shares of topics below {100 * smallest:g} % are left out, to keep the page small."
    ]


def _larger(mixtures: np.ndarray, share: float) -> int:
    with np.errstate(invalid="ignore"):  # rows of NaN
        return int((mixtures >= share).sum())


def fit_counts(
    evidence: SearchEvidence, counts: Mapping[str, sp.csr_array], budget: Budget
) -> tuple[dict[str, sp.csr_array], list[str]]:
    """Return the counts that have room, and what was left out, in words."""
    total = sum(matrix.nnz for matrix in counts.values())
    room = budget.counts - sum(table.nnz for table in evidence.tables.values())
    room -= sum(terms.directions.size for terms in evidence.views.values())
    if total <= room:
        return dict(counts), []
    n_docs = max(next(iter(counts.values())).shape[0], 1)
    most = max(int(room / (n_docs * len(counts))), 1)
    kept = {
        name: _heaviest(evidence.views[name].rarity, matrix, most)
        for name, matrix in counts.items()
    }
    share = 1 - sum(matrix.nnz for matrix in kept.values()) / total
    return kept, [
        f"To keep the page small it has the {most} most telling terms of each document and view; "
        f"{share:.0%} of the others are left out, so scores differ a little from those of Python."
    ]


def _heaviest(rarity: np.ndarray, counts: sp.csr_array, most: int) -> sp.csr_array:
    """Return each row with its `most` entries that weigh most."""
    weights = np.log1p(counts.data.astype(np.float64)) * rarity[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    order = np.lexsort((counts.indices, -weights, rows))
    rank = np.arange(len(order)) - np.repeat(counts.indptr[:-1], np.diff(counts.indptr))
    keep = np.sort(order[rank < most])
    sizes = np.bincount(rows[keep], minlength=counts.shape[0])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return sp.csr_array((counts.data[keep], counts.indices[keep], indptr), shape=counts.shape)


def fit_terms_left_out(model: Any, budget: Budget) -> dict[str, TermsLeftOut]:
    """Return the terms that were not kept, of views of which that is known: those with room."""
    recipes = {
        name: getattr(model.recipes_.get(name), "left_out", None) for name in model.view_names_
    }
    known = {name: terms for name, terms in recipes.items() if terms is not None}
    return {name: terms.first(budget.left_out // len(known)) for name, terms in known.items()}


def fit_texts(
    texts: Mapping[str, Sequence[str | None]], n_docs: int, budget: Budget
) -> tuple[dict[str, list[str | None]], list[str]]:
    """Return the beginnings of texts that have room, and what was left out, in words."""
    if not texts:
        return {}, []
    most = min(SNIPPET, budget.characters // max(n_docs * len(texts), 1))
    if most < 20:
        return {}, ["The texts are left out, to keep the page small."]
    found = {view: [_beginning(text, most) for text in column] for view, column in texts.items()}
    longest = max((len(t) for c in texts.values() for t in c if isinstance(t, str)), default=0)
    return found, [f"Texts are cut after {most} characters."] if longest > most else []


def _beginning(text: object, most: int) -> str | None:
    if not isinstance(text, str) or not text.strip():
        return None
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
