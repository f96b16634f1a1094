"""Count terms as `coview.reading.counting` does, with what is counted on disk instead of in memory.

Counted chunks go to files, and so do terms when there are many (`coview.reading.spilled_terms`). In
the end it is decided which terms are kept, exactly as in memory, and rows are read back in order,
with the terms that are not kept left out.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.reading.counting import (
    Analyze,
    Chunk,
    Inspect,
    TermCounter,
    TermCounts,
    VocabularyLimits,
    check_some_terms,
    count_type,
    document_limits,
    empty_vocabulary_error,
    kept_lengths,
    most_frequent,
)
from coview.reading.spilled_terms import KeptTerms, TermChooser, TermRun, keep_all, write_run
from coview.reading.words import all_stop_words

TERM_BYTES = 200  # of a term in a dict, beside its characters
MOST_ROWS = 1 << 20  # documents whose lengths wait in memory
MOST_TEXT = 1 << 25  # characters of texts that wait in memory, as terms
ABSENT = -1  # the length of a document that lacks the view


@dataclass(frozen=True)
class _Spilled:
    """Where a chunk is in the files, and which run its codes are of."""

    n_rows: int
    n_entries: int
    counts: np.dtype
    run: int


class SpillingCounter(TermCounter):
    """A `TermCounter` whose memory does not grow with the documents.

    Parameters
    ----------
    analyze, vocabulary, inspect
        As of `TermCounter`.
    folder : Path
        Made, for the files; whoever gave it removes it.
    term_memory : int
        Bytes that terms may take before they are written to disk, about.
    """

    def __init__(
        self,
        analyze: Analyze,
        vocabulary: Iterable[str] | None = None,
        inspect: Inspect | None = None,
        *,
        folder: Path,
        term_memory: int,
    ) -> None:
        super().__init__(analyze, vocabulary, inspect)
        folder.mkdir(parents=True)
        self._folder, self._term_memory = folder, term_memory
        self._files = {name: (folder / name).open("wb") for name in ("lengths", "codes", "counts")}
        self._spilled: list[_Spilled] = []
        self._runs: list[TermRun] = []
        self._frequencies, self._totals = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._characters = self._new_text = 0
        self._seen_terms = 0
        self._n_added = self._n_present = self._total = 0
        self._largest = 1
        self._stop_words: Counter[str] = Counter()

    @property
    def present(self) -> np.ndarray:
        """Which documents were not None is in the files: see `rows`."""
        raise NotImplementedError

    @property
    def n_present(self) -> int:
        """Number of the added documents that were not None."""
        return self._n_present + int(np.count_nonzero(np.frombuffer(self._present, np.int8)))

    def add(self, document: Any) -> None:
        """Count one more document; None is a document that lacks the view."""
        super().add(document)
        self._new_text += len(document) if isinstance(document, str) else 0
        if len(self._present) >= MOST_ROWS or self._new_text >= MOST_TEXT:
            # a small first chunk is not inspected: it may tell too little
            inspect, self._inspect = self._inspect, None
            self._flush()
            self._inspect = inspect

    def _keep(self, chunk: Chunk) -> None:
        """Write a chunk; also which of the documents since the last one lack the view."""
        present = np.frombuffer(self._present, np.int8).astype(bool)
        self._present = array("b")
        lengths = np.full(len(present), ABSENT, np.int32)
        lengths[present] = chunk.lengths
        lengths.tofile(self._files["lengths"])
        chunk.codes.astype(np.int32, copy=False).tofile(self._files["codes"])
        chunk.counts.tofile(self._files["counts"])
        self._spilled.append(
            _Spilled(len(present), len(chunk.codes), chunk.counts.dtype, len(self._runs))
        )
        self._n_added += len(present)
        self._n_present += int(np.count_nonzero(present))
        self._sum_up(chunk)
        self._new_text = 0
        if not self._fixed and self._bytes_of_terms() > self._term_memory:
            self._end_run()

    def _sum_up(self, chunk: Chunk) -> None:
        size = self.n_terms
        more = np.zeros(size - len(self._frequencies), np.int64)
        self._frequencies = np.append(self._frequencies, more)
        self._totals = np.append(self._totals, more)
        self._frequencies += np.bincount(chunk.codes, minlength=size)
        # whole numbers below 2**53 in double precision: exact
        occurrences = np.bincount(chunk.codes, chunk.counts, minlength=size).astype(np.int64)
        self._totals += occurrences
        self._total += int(occurrences.sum())
        if chunk.counts.size:
            self._largest = max(self._largest, int(chunk.counts.max()))

    def _bytes_of_terms(self) -> int:
        new = self.n_terms - self._seen_terms
        self._characters += sum(map(len, islice(reversed(self._codes), new)))
        self._seen_terms = self.n_terms
        return self.n_terms * TERM_BYTES + self._characters

    def _end_run(self) -> None:
        """Write the terms so far, and begin with none."""
        terms = list(self._codes)
        for word in all_stop_words():
            if word in self._codes:
                self._stop_words[word] += int(self._totals[self._codes[word]])
        self._codes.clear()
        folder = self._folder / f"run-{len(self._runs)}"
        self._runs.append(write_run(folder, terms, self._frequencies, self._totals))
        self._frequencies, self._totals = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._characters = self._seen_terms = 0

    def occurrences(self, terms: Iterable[str]) -> tuple[dict[str, int], int]:
        """Return how often some stop words occurred, and how often all terms together did.

        Nothing can be added afterward.
        """
        self._end()
        found = self._stop_words
        return {term: found[term] for term in terms if term in found}, self._total

    def _end(self) -> None:
        """Write what is left in memory."""
        if self._files["codes"].closed:
            return
        self._flush()
        if not self._fixed:
            self._end_run()
        for file in self._files.values():
            file.close()

    def close(self) -> None:
        """Close the files, as they are."""
        for file in self._files.values():
            file.close()

    def finish(self, view: str, limits: VocabularyLimits) -> TermCounts:
        """Not for this counter, which has no matrix in memory: see `keep_terms` and `rows`."""
        raise NotImplementedError

    # -- the choice of terms --

    def keep_terms(self, view: str, limits: VocabularyLimits) -> KeptTerms:
        """Decide which terms are kept; nothing can be added afterward."""
        self._end()
        folder = self._folder / "kept"
        folder.mkdir()
        if self._fixed:
            return keep_all(folder, list(self._codes))
        some = sum(run.n_terms for run in self._runs)
        check_some_terms(view, self._n_added, self._n_present, some)
        chooser = TermChooser(folder, self._runs, document_limits(limits, self._n_present))
        if not chooser.n_kept:
            n_terms, rare = chooser.n_terms, chooser.n_rare
            raise ValueError(empty_vocabulary_error(view, self._n_present, n_terms, rare, limits))
        if limits.max_features is not None and chooser.n_kept > limits.max_features:
            totals = chooser.numbers("frequencies" if limits.binary else "totals")
            chooser.keep_only(most_frequent(totals, limits))
        return chooser.kept(self._n_present)

    # -- rows --

    def rows(self, kept: KeptTerms, binary: bool) -> SpilledRows:
        """Return the rows of all documents, to be taken in order."""
        return SpilledRows(self._folder, self._spilled, kept, self.dtype(binary), binary)

    def dtype(self, binary: bool) -> type:
        """Return the type of the counts."""
        return count_type(self._largest, binary)


class SpilledRows:
    """The rows of a view, read back in order, with the terms that are kept.

    Parameters
    ----------
    folder : Path
        Of the counter.
    spilled : list
        Where the chunks are.
    kept : KeptTerms
    dtype : type
    binary : bool
        Whether several occurrences in a document count once.
    """

    def __init__(
        self, folder: Path, spilled: list[_Spilled], kept: KeptTerms, dtype: type, binary: bool
    ) -> None:
        self._folder, self._spilled, self._kept = folder, spilled, kept
        self._dtype, self._binary = dtype, binary
        self._chunks = self._matrices()
        self._left = sp.csr_array((0, kept.n_terms), dtype=dtype)
        self._present = np.zeros(0, bool)

    def lengths(self) -> Iterator[np.ndarray]:
        """Yield how many entries documents have, in order, many documents at a time."""
        for lengths, _, known, _ in self._read():
            yield _row_lengths(lengths, known)

    def take(self, n_rows: int) -> tuple[sp.csr_array, np.ndarray]:
        """Return the next rows, and which of the documents have the view."""
        matrices, masks, wanted = [], [], n_rows
        while True:
            matrices.append(self._left[:wanted])
            masks.append(self._present[:wanted])
            self._left, self._present = self._left[wanted:], self._present[wanted:]
            wanted = n_rows - sum(map(len, masks))
            if not wanted:
                break
            self._left, self._present = next(self._chunks)
        some = [matrix for matrix in matrices if matrix.shape[0]]
        return sp.csr_array(sp.vstack(some, format="csr")), np.concatenate(masks)

    def _matrices(self) -> Iterator[tuple[sp.csr_array, np.ndarray]]:
        for lengths, columns, known, counts in self._read():
            data = np.ones(len(counts), self._dtype) if self._binary else counts
            indptr = np.append(0, np.cumsum(_row_lengths(lengths, known))).astype(np.int32)
            matrix = sp.csr_array(
                (data[known].astype(self._dtype, copy=False), columns[known], indptr),
                shape=(len(lengths), self._kept.n_terms),
            )
            matrix.sort_indices()
            yield matrix, lengths != ABSENT

    def _read(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield lengths of documents, columns of entries, which of them are kept, and counts."""
        run, columns = -1, np.zeros(0, np.int32)
        names = ("lengths", "codes", "counts")
        files = [(self._folder / name).open("rb") for name in names]
        try:
            for chunk in self._spilled:
                if chunk.run != run:
                    run, columns = chunk.run, self._kept.columns(chunk.run)
                lengths = np.fromfile(files[0], np.int32, chunk.n_rows)
                moved = columns[np.fromfile(files[1], np.int32, chunk.n_entries)]
                counts = np.fromfile(files[2], chunk.counts, chunk.n_entries)
                yield lengths, moved, moved >= 0, counts
        finally:
            for file in files:
                file.close()


def _row_lengths(lengths: np.ndarray, known: np.ndarray) -> np.ndarray:
    return kept_lengths(np.maximum(lengths, 0), known)
