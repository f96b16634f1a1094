"""Count terms in one pass over the documents, in little memory.

Documents are added one at a time. Their terms become numbers in a vocabulary that grows, and the
numbers are collected in a buffer; a full buffer is counted and stored as a chunk of five bytes for
each pair of a document and a term. Only at the end is it known which terms are too rare or too
common; the chunks are then copied into one matrix, and each is freed as soon as it is copied.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from mmap import mmap
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coview.reading.left_out import TermsLeftOut
from coview.wording import argument, plural, quoted

Analyze = Callable[[Any], Iterable[str]]
Inspect = Callable[[Sequence[str], np.ndarray], None]

BUFFER = 1 << 19  # terms that are counted at a time


class VocabularyLimits(NamedTuple):
    """Which terms are kept; the parameters are those of scikit-learn's vectorizers.

    Attributes
    ----------
    min_df, max_df : int or float
        Smallest and largest number (int) or share (float) of the documents with the view.
    max_features : int or None
        Keep only the most frequent terms.
    binary : bool
        Whether several occurrences in a document count once.
    dtype : dtype
        Type in which occurrences are summed to compare them.
    """

    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None
    binary: bool = False
    dtype: Any = np.int64


class TermCounts(NamedTuple):
    """The counts of the documents that have the view, the terms of the columns, and the others."""

    matrix: sp.csr_array
    terms: np.ndarray
    left_out: TermsLeftOut | None  # None if the terms were given


class Chunk(NamedTuple):
    """The counted terms of some documents, one after the other."""

    lengths: np.ndarray  # different terms of each document
    codes: np.ndarray
    counts: np.ndarray


class TermCounter:
    """Count terms, document by document.

    Parameters
    ----------
    analyze : callable
        Returns the terms of a document.
    vocabulary : sequence of str, default=None
        The terms to count, in the order of the columns; None: all terms that occur.
    inspect : callable, default=None
        Called with the terms of the first full buffer and their counts; may raise an error.

    Examples
    --------
    >>> counter = TermCounter(str.split)
    >>> for text in ("b a b", None, "c a"):
    ...     counter.add(text)
    >>> counted = counter.finish("text", VocabularyLimits())
    >>> counted.terms.tolist(), counted.matrix.toarray().tolist(), counter.present.tolist()
    (['a', 'b', 'c'], [[1.0, 2.0, 0.0], [1.0, 0.0, 1.0]], [True, False, True])
    """

    def __init__(
        self,
        analyze: Analyze,
        vocabulary: Iterable[str] | None = None,
        inspect: Inspect | None = None,
    ) -> None:
        self._analyze = analyze
        self._inspect = inspect
        self._fixed = vocabulary is not None
        self._codes: defaultdict[str, int] = defaultdict()
        if vocabulary is None:
            self._codes.default_factory = self._codes.__len__
        else:
            self._codes.update({term: code for code, term in enumerate(vocabulary)})
        self._present = array("b")
        self._ends, self._terms = array("i", [0]), array("i")
        self._chunks: list[Chunk] = []

    @property
    def present(self) -> np.ndarray:
        """Which of the added documents were not None, bool of shape (n_added,)."""
        return np.array(self._present, dtype=bool)

    @property
    def n_present(self) -> int:
        """Number of the added documents that were not None."""
        return int(np.count_nonzero(self.present))

    @property
    def n_terms(self) -> int:
        """Number of different terms so far."""
        return len(self._codes)

    def add(self, document: Any) -> None:
        """Count one more document; None is a document that lacks the view."""
        if document is not None:
            terms = self._analyze(document)
            self._terms.extend(self._known(terms) if self._fixed else self._numbered(terms))
            self._ends.append(len(self._terms))
        self._present.append(document is not None)
        if len(self._terms) >= BUFFER:
            self._flush()

    def _numbered(self, terms: Iterable[str]) -> Iterable[int]:
        return map(self._codes.__getitem__, terms)

    def _known(self, terms: Iterable[str]) -> Iterable[int]:
        return (code for code in map(self._codes.get, terms) if code is not None)

    def _flush(self) -> None:
        """Count the terms in the buffer."""
        # copies: an array that is exported as a buffer cannot be freed
        codes = np.frombuffer(self._terms, dtype=np.int32).copy()
        ends = np.frombuffer(self._ends, dtype=np.int32).copy()
        self._ends, self._terms = array("i", [0]), array("i")
        ones = np.ones(len(codes), dtype=np.int32)
        block = sp.csr_array((ones, codes, ends), shape=(len(ends) - 1, max(self.n_terms, 1)))
        block.sum_duplicates()
        indices = block.indices
        if self._inspect is not None:
            self._inspect(list(self._codes), np.bincount(indices, block.data, self.n_terms))
            self._inspect = None  # the first terms are enough
        largest = int(block.data.max()) if block.nnz else 0
        counts = block.data.astype(np.min_scalar_type(largest))  # usually one byte
        lengths = np.diff(block.indptr).astype(np.int32)
        self._keep(Chunk(lengths, indices, counts))

    def _keep(self, chunk: Chunk) -> None:
        codes, counts = _mmap_copy(chunk.codes), _mmap_copy(chunk.counts)
        self._chunks.append(Chunk(chunk.lengths, codes, counts))

    def occurrences(self, terms: Iterable[str]) -> tuple[dict[str, int], int]:
        """Return how often some terms occurred so far, and how often all terms together did."""
        self._flush()
        sums = _sums(self._chunks, self.n_terms, weighted=True)
        known = [term for term in terms if term in self._codes]
        return {term: int(sums[self._codes[term]]) for term in known}, int(sums.sum())

    def finish(self, view: str, limits: VocabularyLimits) -> TermCounts:
        """Return the counts of the documents that have the view; nothing can be added afterward.

        Parameters
        ----------
        view : str
            Name of the view, for the messages.
        limits : VocabularyLimits
            Ignored, except for `binary`, if the vocabulary was given.

        Returns
        -------
        TermCounts
            Terms are sorted, unless the vocabulary was given.
        """
        self._flush()
        terms = np.array(list(self._codes), dtype=object)
        kept, left_out = np.arange(len(terms)), None
        if not self._fixed:
            kept, left_out = self._kept(terms, view, limits)
        self._codes.clear()
        matrix = _matrix(self._chunks, kept, len(terms), limits.binary)
        return TermCounts(matrix, terms[kept], left_out)

    def _kept(
        self, terms: np.ndarray, view: str, limits: VocabularyLimits
    ) -> tuple[np.ndarray, TermsLeftOut]:
        n_docs = self.n_present
        check_some_terms(view, len(self._present), n_docs, len(terms))
        frequencies = _sums(self._chunks, len(terms))
        low, high = document_limits(limits, n_docs)
        kept = np.flatnonzero((frequencies >= low) & (frequencies <= high))
        if not kept.size:
            rare = int(np.count_nonzero(frequencies < low))
            raise ValueError(empty_vocabulary_error(view, n_docs, len(terms), rare, limits))
        order = sorted(kept.tolist(), key=terms.__getitem__)
        kept = self._most_frequent(np.array(order), len(terms), limits)
        others = np.ones(len(terms), bool)
        others[kept] = False
        return kept, TermsLeftOut.of(terms[others], frequencies[others], n_docs, (low, high))

    def _most_frequent(
        self, kept: np.ndarray, n_terms: int, limits: VocabularyLimits
    ) -> np.ndarray:
        if limits.max_features is None or len(kept) <= limits.max_features:
            return kept
        totals = _sums(self._chunks, n_terms, weighted=not limits.binary)[kept]
        return kept[most_frequent(totals, limits)]


def _mmap_copy(numbers: np.ndarray) -> np.ndarray:
    """Return a copy in memory that is returned to the system as soon as it is freed.

    On the heap, the chunks of several views would be interleaved, and no memory would be returned
    before all of them are copied.
    """
    memory = mmap(-1, max(numbers.nbytes, 1))
    copy = np.frombuffer(memory, dtype=numbers.dtype, count=numbers.size)
    copy[:] = numbers
    return copy


# -- the choice of terms --------------------------------------------------------------------------


def check_some_terms(view: str, n_added: int, n_docs: int, n_terms: int) -> None:
    """Refuse a view that no document has, or without a single term."""
    if not n_docs:
        raise ValueError(
            f"View {quoted(view)} is missing in all of {plural(n_added, 'document')}"
            ": no cell has a text. Leave the view out, or check which column it is read from."
        )
    if not n_terms:
        raise ValueError(
            f"No words were found in the {plural(n_docs, 'document')} of view {quoted(view)}. "
            "Perhaps they hold stop words only: see "
            f"{argument('stop_words')} and {argument('vectorizer')}."
        )


def document_limits(limits: VocabularyLimits, n_docs: int) -> tuple[float, float]:
    """Return the least and the largest number of documents of a term that is kept."""
    return _document_limit(limits.min_df, n_docs), _document_limit(limits.max_df, n_docs)


def _document_limit(df: int | float, n_docs: int) -> float:
    """Return a number of documents; a float is a share of them."""
    return df if isinstance(df, Integral) else df * n_docs


def most_frequent(totals: np.ndarray, limits: VocabularyLimits) -> np.ndarray:
    """Return which of some terms in alphabetical order are among the `max_features` first."""
    # the type and the sort of scikit-learn, so that ties are broken in the same way
    kind = np.dtype(limits.dtype)
    totals = totals.astype(kind if kind.kind == "f" else np.int64)
    return np.sort((-totals).argsort()[: limits.max_features])


def empty_vocabulary_error(
    view: str, n_docs: int, n_terms: int, rare: int, limits: VocabularyLimits
) -> str:
    """Word the error for limits that leave no term; all that are not rare are too common."""
    return (
        f"No term of view {quoted(view)} is left: {plural(n_docs, 'document')} with "
        f"{plural(n_terms, 'different term')}, {rare:,} of them in fewer than "
        f"{argument('min_df', limits.min_df)} and {n_terms - rare:,} in more than "
        f"{argument('max_df', limits.max_df)} of the documents (a float is a share). Lower "
        f"{argument('min_df').rstrip('=')} or raise {argument('max_df').rstrip('=')}."
    )


def _sums(chunks: list[Chunk], n_terms: int, weighted: bool = False) -> np.ndarray:
    """Return the number of documents of each term, or of its occurrences if `weighted`."""
    sums = np.zeros(n_terms, dtype=np.int64)
    for chunk in chunks:
        weights = chunk.counts if weighted else None
        sums += np.bincount(chunk.codes, weights, minlength=n_terms).astype(np.int64, copy=False)
    return sums


# -- the matrix -----------------------------------------------------------------------------------


def _matrix(chunks: list[Chunk], kept: np.ndarray, n_terms: int, binary: bool) -> sp.csr_array:
    """Copy the kept terms of all chunks into one matrix; empties the list."""
    columns = np.full(n_terms, -1, dtype=np.int32)
    columns[kept] = np.arange(len(kept), dtype=np.int32)
    size = sum(int(np.count_nonzero(columns[chunk.codes] >= 0)) for chunk in chunks)
    indices = np.empty(size, dtype=np.int32)
    data: np.ndarray = np.empty(size, dtype=_count_type(chunks, binary))
    lengths, filled = [np.zeros(1, dtype=np.int64)], 0
    chunks.reverse()  # so that pop takes the first, and frees it
    while chunks:
        chunk = chunks.pop()
        moved = columns[chunk.codes]
        known = moved >= 0
        end = filled + int(np.count_nonzero(known))
        indices[filled:end] = moved[known]
        data[filled:end] = 1 if binary else chunk.counts[known]
        lengths.append(kept_lengths(chunk.lengths, known))
        filled = end
    # otherwise scipy would widen the indices to the type of the pointers
    longest = np.int32 if size <= np.iinfo(np.int32).max else np.int64
    indptr = np.cumsum(np.concatenate(lengths)).astype(longest)
    matrix = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(kept)))
    matrix.sort_indices()
    return matrix


def _count_type(chunks: list[Chunk], binary: bool) -> type:
    """Return the smaller float type that holds every count exactly."""
    largest = [int(chunk.counts.max()) for chunk in chunks if chunk.counts.size]
    return count_type(max(largest, default=1), binary)


def count_type(largest: int, binary: bool) -> type:
    """Return the smaller float type that holds every count up to the largest exactly."""
    return np.float32 if binary or largest < 2**24 else np.float64


def kept_lengths(lengths: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the number of kept terms of each document."""
    ends = np.cumsum(lengths, dtype=np.int64)
    before = np.concatenate(([0], np.cumsum(known, dtype=np.int64)))
    return before[ends] - before[ends - lengths]


def expand_rows(matrix: sp.csr_array, present: np.ndarray) -> sp.csr_array:
    """Add empty rows for documents that lack the view; the buffers are shared.

    >>> expand_rows(sp.csr_array([[1, 2]]), np.array([False, True])).toarray().tolist()
    [[0, 0], [1, 2]]
    """
    lengths = np.zeros(len(present), dtype=np.int64)
    lengths[present] = np.diff(matrix.indptr)
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(matrix.indptr.dtype)
    return sp.csr_array((matrix.data, matrix.indices, indptr), (len(present), matrix.shape[1]))
