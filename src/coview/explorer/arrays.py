"""The numbers of a page as small arrays.

Probabilities have 16 bits each, as square roots: with a scale s, p is ``s * (u / 65535) ** 2``. A
small probability so keeps its digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reporting.terms import first_columns, term_documents_of, term_scores
from coview.retrieval.evidence import SearchEvidence

LEVELS = 65535
STEP = 32  # of these levels in a mixture: a root is off by 2.4e-4 at most
FAR_BELOW = 1e-4  # of p(w): what says nothing of a topic
WORDS = 40  # of each topic: the page shows fewer, but may merge topics
WHOLE = 65535  # the largest count that is stored as a whole number


def sparse_mixtures(name: str, mixtures: np.ndarray, smallest: float) -> dict[str, np.ndarray]:
    """Return mixtures (documents, topics) as rows of topics and shares; NaN is an empty row.

    Shares below `smallest` are left out, but for the largest of a row; of the 65,535 levels of a
    root only every STEP-th is used, which compresses better.

    >>> mixtures = np.array([[0.25, 0.75, 0], [np.nan, np.nan, np.nan]])
    >>> found = sparse_mixtures("theta", mixtures, 1e-3)
    >>> found["theta.indptr"].tolist(), found["theta.topics"].tolist()
    ([0, 2, 2], [0, 1])
    """
    known = np.nan_to_num(np.asarray(mixtures, np.float64), nan=0.0)
    largest = np.minimum(known.max(axis=1, keepdims=True), smallest)
    rows = sp.csr_array(np.where(known >= largest, known, 0.0))
    rows.eliminate_zeros()
    values = np.rint(np.sqrt(np.minimum(rows.data, 1.0)) * (LEVELS / STEP)) * STEP
    return {
        f"{name}.indptr": rows.indptr.astype(np.uint32),
        f"{name}.topics": rows.indices.astype(np.uint16),
        f"{name}.values": np.minimum(values, LEVELS).astype(np.uint16),
    }


def topics_of_terms(name: str, p_w_z: np.ndarray, p_w: np.ndarray) -> dict[str, np.ndarray]:
    """Return p(w|z) (topics, terms) in 16 bits, with the largest value of each term as scale.

    What a term says about topics is the log of (p(w|z) + p(w)) / 2 p(w), so that the digits of rare
    terms count as well. What is far below p(w) becomes 0.
    """
    p_w_z = np.where(p_w_z >= FAR_BELOW * p_w, np.asarray(p_w_z, np.float64), 0.0)
    scale = p_w_z.max(axis=0, initial=0.0).astype(np.float32)
    shares = np.divide(p_w_z, scale, out=np.zeros_like(p_w_z), where=scale > 0)
    values = np.rint(np.sqrt(np.minimum(shares, 1.0)) * LEVELS)
    return {f"{name}.values": values.astype(np.uint16), f"{name}.scale": scale}


def words_of_topics(name: str, model: Any, view: str) -> dict[str, np.ndarray]:
    """Return the first words of each topic, with the documents behind them and their scores."""
    scores, documents = term_scores(model, view), term_documents_of(model, view)
    best = first_columns(scores, WORDS)
    lengths = [len(columns) for columns in best]
    topics = np.repeat(np.arange(len(best)), lengths)
    terms = np.concatenate(best).astype(np.int64)
    index_type = np.uint16 if scores.shape[1] <= LEVELS else np.uint32
    return {
        f"{name}.indptr": np.append(0, np.cumsum(lengths)).astype(np.uint32),
        f"{name}.terms": terms.astype(index_type),
        f"{name}.documents": documents[topics, terms].astype(np.float32),
        f"{name}.scores": scores[topics, terms].astype(np.float32),
    }


def sparse_counts(name: str, counts: sp.csr_array) -> dict[str, np.ndarray]:
    """Return the rows of a sparse matrix; whole numbers need fewer bytes."""
    index_type = np.uint16 if counts.shape[1] <= LEVELS else np.uint32
    return {
        f"{name}.indptr": counts.indptr.astype(np.uint32),
        f"{name}.indices": counts.indices.astype(index_type),
        f"{name}.values": _small_numbers(counts.data),
    }


def evidence_arrays(evidence: SearchEvidence, views: Sequence[str]) -> dict[str, np.ndarray]:
    """Return what a search knows about the terms of views, and how one asks another.

    Spaces of the linear map are there where a pair of views uses it; half precision as its bits.
    """
    number = {name: v for v, name in enumerate(views)}
    arrays: dict[str, np.ndarray] = {}
    for name, terms in evidence.views.items():
        v = number[name]
        arrays[f"damped_share.{v}"] = terms.shares.astype(np.float32)
        if terms.directions.size:
            arrays[f"rarity.{v}"] = terms.rarity.astype(np.float32)
            arrays[f"directions.{v}"] = terms.directions.astype(np.float16).view(np.uint16)
            arrays[f"center.{v}"] = terms.center.astype(np.float32)
    for (a, b), table in evidence.tables.items():
        arrays |= sparse_counts(f"table.{number[a]}.{number[b]}", table)
    for (a, b), pair in evidence.pairs.items():
        own = f"{number[a]}.{number[b]}"
        arrays[f"names.{own}.indices"] = pair.names.astype(np.uint32)
        if pair.weights[3] > 0:
            arrays[f"map.{own}"] = pair.mapping.astype(np.float32)
            arrays[f"map_center.{own}"] = pair.center.astype(np.float32)
    return arrays


def _small_numbers(values: np.ndarray) -> np.ndarray:
    whole = bool(np.all(values == np.rint(values))) and values.max(initial=0) <= WHOLE
    if not whole:
        return values.astype(np.float32)
    return values.astype(np.uint8 if values.max(initial=0) <= 255 else np.uint16)


def rounded(values: np.ndarray, bits: int = 12) -> np.ndarray:
    """Return numbers in single precision with few digits, which compress better; NaN stays.

    >>> float(rounded(np.array([0.123456789]))[0])
    0.1234588623046875
    """
    exact = np.ascontiguousarray(values, dtype=np.float32)
    drop = 23 - bits
    half, mask = np.uint32(1 << (drop - 1)), np.uint32((0xFFFFFFFF << drop) & 0xFFFFFFFF)
    shorter = ((exact.view(np.uint32) + half) & mask).view(np.float32)
    return np.where(np.isfinite(exact), shorter, exact)
