"""A vocabulary that may be larger than memory: sorted runs of terms on disk, merged in the end.

While documents are counted, terms are numbered in a dict. When the dict grows too large it becomes
a run: its terms, sorted, with their numbers and how often they occurred. The dict begins anew, so a
term may be in several runs; a document is counted in one. `merge_runs` adds up what the runs say of
a term. Nothing is forgotten on the way, so the result is that of one large dict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path

import numpy as np

from coview.reading.left_out import LeftOutCollector, TermsLeftOut
from coview.reading.number_file import NumberFile

WINDOW = 1 << 15  # terms of a run that are in memory while runs are merged


@dataclass(frozen=True)
class TermRun:
    """Some terms in the order of their characters, in the files of a folder.

    Attributes
    ----------
    folder : Path
    n_terms : int
    """

    folder: Path
    n_terms: int

    def numbers(self, name: str, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Return codes, frequencies or totals of terms, in their order."""
        stop = self.n_terms if stop is None else min(stop, self.n_terms)
        path = self.folder / name
        return np.fromfile(path, np.int64, max(stop - start, 0), offset=8 * start)

    def windows(self) -> Iterator[tuple[list[bytes], int]]:
        """Yield terms in UTF-8, some at a time, and the number of the first."""
        place = 0
        with (self.folder / "texts").open("rb") as file:
            for start in range(0, self.n_terms, WINDOW):
                ends = self.numbers("ends", start, start + WINDOW).tolist()
                blob = file.read(ends[-1] - place)
                bounds = [end - place for end in (place, *ends)]
                yield [blob[a:b] for a, b in pairwise(bounds)], start
                place = ends[-1]


def write_run(
    folder: Path, terms: Sequence[str], frequencies: np.ndarray, totals: np.ndarray
) -> TermRun:
    """Write a run; `terms` are in the order of their codes."""
    folder.mkdir()
    order = np.array(sorted(range(len(terms)), key=terms.__getitem__), dtype=np.int64)
    lengths = np.zeros(len(terms), dtype=np.int64)
    with (folder / "texts").open("wb") as file:
        for place, code in enumerate(order.tolist()):
            data = terms[code].encode("utf-8", "surrogatepass")
            lengths[place] = len(data)
            file.write(data)
    columns = {
        "ends": np.cumsum(lengths),
        "codes": order,
        "frequencies": frequencies[order],
        "totals": totals[order],
    }
    for name, numbers in columns.items():
        numbers.astype(np.int64, copy=False).tofile(folder / name)
    return TermRun(folder, len(terms))


# a term, its frequency and total, and the runs that it is in
Merged = tuple[bytes, int, int, list[int]]


def merge_runs(runs: Sequence[TermRun]) -> Iterator[Merged]:
    """Yield every different term once, in order, with what all runs say of it."""
    entries = merge(*(_entries(number, run) for number, run in enumerate(runs)), key=itemgetter(0))
    for term, same in groupby(entries, key=itemgetter(0)):
        frequency, total, places = 0, 0, []
        for _, run, in_documents, occurrences in same:
            frequency += in_documents
            total += occurrences
            places.append(run)
        yield term, frequency, total, places


def _entries(number: int, run: TermRun) -> Iterator[tuple[bytes, int, int, int]]:
    for terms, start in run.windows():
        parts = [
            run.numbers(name, start, start + len(terms)).tolist()
            for name in ("frequencies", "totals")
        ]
        for term, frequency, total in zip(terms, *parts, strict=True):
            yield term, number, frequency, total


# -- the choice of terms ---------------------------------------------------------------------------


@dataclass(frozen=True)
class KeptTerms:
    """The terms that are kept, in order, in the files of a folder.

    Attributes
    ----------
    folder : Path
    n_terms : int
    runs : tuple of TermRun
        Those that they were chosen from; none if the terms were given.
    left_out : TermsLeftOut or None
        The terms that are not kept; None if the terms were given.
    """

    folder: Path
    n_terms: int
    runs: tuple[TermRun, ...]
    left_out: TermsLeftOut | None = None

    def texts(self) -> Iterator[list[bytes]]:
        """Yield the terms in UTF-8, some at a time."""
        return (terms for terms, _ in TermRun(self.folder, self.n_terms).windows())

    def columns(self, run: int) -> np.ndarray:
        """Return the column of each code of a run, -1 for terms that are not kept."""
        if not self.runs:
            return np.arange(self.n_terms, dtype=np.int32)
        in_order = np.fromfile(self.folder / f"columns-{run}", np.int32)
        if (self.folder / "renumbered").exists():
            # the last stands for -1
            in_order = np.fromfile(self.folder / "renumbered", np.int32)[in_order]
        columns = np.empty_like(in_order)
        columns[self.runs[run].numbers("codes")] = in_order
        return columns


def keep_all(folder: Path, terms: Sequence[str]) -> KeptTerms:
    """Return terms that were given, in their order."""
    ends = NumberFile(folder / "ends")
    with (folder / "texts").open("wb") as texts:
        for term in terms:
            texts.write(term.encode())
            ends.append(texts.tell())
    ends.flush()
    return KeptTerms(folder, len(terms), ())


class TermChooser:
    """Which terms of all runs are in enough documents, and in not too many.

    Parameters
    ----------
    folder : Path
        For what is kept.
    runs : sequence of TermRun
    bounds : (float, float)
        The least and the largest number of documents.
    """

    def __init__(self, folder: Path, runs: Sequence[TermRun], bounds: tuple[float, float]) -> None:
        self._folder, self._runs = folder, tuple(runs)
        self._bounds, self._left_out = bounds, LeftOutCollector()
        self.n_terms = self.n_rare = self.n_kept = 0
        low, high = bounds
        ends, frequencies, totals = (
            NumberFile(folder / name) for name in ("ends", "frequencies", "totals")
        )
        columns = [NumberFile(folder / f"columns-{run}", "i") for run in range(len(runs))]
        with (folder / "texts").open("wb") as texts:
            for term, frequency, total, places in merge_runs(runs):
                self.n_terms += 1
                self.n_rare += frequency < low
                kept = low <= frequency <= high
                for run in places:
                    columns[run].append(self.n_kept if kept else -1)
                if kept:
                    self.n_kept += 1
                    texts.write(term)
                    ends.append(texts.tell())
                    frequencies.append(frequency)
                    totals.append(total)
                else:
                    self._left_out.add(term, frequency)
        for file in (ends, frequencies, totals, *columns):
            file.flush()

    def numbers(self, name: str) -> np.ndarray:
        """Return the frequencies or the totals of the terms that are kept."""
        return np.fromfile(self._folder / name, np.int64)

    def keep_only(self, chosen: np.ndarray) -> None:
        """Keep only some of the terms, given by their places, sorted."""
        renumbered = np.full(self.n_kept + 1, -1, np.int32)
        renumbered[chosen] = np.arange(len(chosen), dtype=np.int32)
        renumbered.tofile(self._folder / "renumbered")
        before, frequencies = TermRun(self._folder, self.n_kept), self.numbers("frequencies")
        ends = NumberFile(self._folder / "ends-chosen")
        with (self._folder / "texts-chosen").open("wb") as texts:
            for terms, start in before.windows():
                for place, term in enumerate(terms, start):
                    if renumbered[place] >= 0:
                        texts.write(term)
                        ends.append(texts.tell())
                    else:
                        self._left_out.add(term, int(frequencies[place]))
        ends.flush()
        for name in ("texts", "ends"):
            (self._folder / f"{name}-chosen").replace(self._folder / name)
        self.n_kept = len(chosen)

    def kept(self, n_docs: int) -> KeptTerms:
        """Return the terms that are kept, of so many documents that have the view."""
        left_out = self._left_out.result(n_docs, self._bounds)
        return KeptTerms(self._folder, self.n_kept, self._runs, left_out)
