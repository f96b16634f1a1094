"""The metrics of a search: how queries are prepared, and what each topic adds to a score."""

from dataclasses import dataclass

import numpy as np

from coview.kernels.divergence import jensen_shannon_term
from coview.kernels.search import CENTERED, JENSEN_SHANNON, ROOT
from coview.metrics.retrieval import METRICS as METRICS

_FORMS = {
    "hellinger": ROOT,
    "cosine": CENTERED,
    "correlation": CENTERED,
    "jensen-shannon": JENSEN_SHANNON,
}


@dataclass(frozen=True)
class Prepared:
    """Queries as the kernels take them."""

    form: int
    careful: np.ndarray  # (queries, topics) in double precision
    quick: np.ndarray  # (queries, topics) in double precision: cast by who uses it
    center: np.ndarray  # (topics,) of the gallery, in its precision

    def __len__(self) -> int:
        return len(self.careful)

    def __getitem__(self, part: slice | np.ndarray) -> "Prepared":
        return Prepared(self.form, self.careful[part], self.quick[part], self.center)

    @property
    def slack(self) -> float:
        """What a quick score can be off by, at most.

        A sum of K products in single precision is off by K roundings of its largest possible
        value, which is 1; the length that it is divided by is off by as much again. The number is
        four times that, since a slack that is too large costs next to nothing.
        """
        return (self.careful.shape[1] + 16) * 2.0**-22


def prepare(
    metric: str, queries: np.ndarray, query_center: np.ndarray, center: np.ndarray
) -> Prepared:
    """Queries (queries, topics) compared by a metric; the centers matter to "correlation"."""
    queries = np.asarray(queries, dtype=np.float64)
    if metric == "jensen-shannon":
        return Prepared(_FORMS[metric], queries, np.sqrt(queries), np.zeros_like(center))
    if metric == "hellinger":
        vectors = np.sqrt(queries)
        return Prepared(_FORMS[metric], vectors, vectors, np.zeros_like(center))
    if metric == "cosine":
        query_center, center = np.zeros_like(query_center), np.zeros_like(center)
    vectors = _unit(queries - query_center)
    return Prepared(_FORMS[metric], vectors, vectors, center)


def contributions(prepared: Prepared, answer: np.ndarray) -> np.ndarray:
    """What each topic adds to the score of one query and one mixture; the sum is the score."""
    query, answer = prepared.careful[0], answer.astype(np.float64)
    if prepared.form == ROOT:
        return query * np.sqrt(answer)
    if prepared.form == CENTERED:
        return query * _unit((answer - prepared.center)[None])[0]
    query, answer = query / query.sum(), answer / answer.sum()
    terms = [jensen_shannon_term(a, b) for a, b in zip(query, answer, strict=True)]
    return (query + answer) / 2 - np.array(terms)


def _unit(rows):
    """Rows of length 1; a row of zeros stays one."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
