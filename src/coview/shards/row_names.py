"""Ids and labels of a table that is read in a stream: columns that go to files at once."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from coview.reading.columns import LabelColumn, id_text
from coview.reading.number_file import NumberFile
from coview.reading.tables import RowSource
from coview.shards.format import LabelInfo
from coview.shards.storage import HEADER, ArrayWriter
from coview.views.checks import check_names
from coview.views.labels import check_labels
from coview.wording import quoted

PIECE = 1 << 16  # texts that wait in memory


class IdFile:
    """The ids of documents, written as they are read; which are there twice is found in the end.

    Parameters
    ----------
    folder : Path
        The sharded folder in the making.
    spill : Path
        For hashes of the ids.
    """

    def __init__(self, folder: Path, spill: Path) -> None:
        self._texts = ArrayWriter(folder / "ids.npy", np.uint8)
        self._ends = ArrayWriter(folder / "ids.ends.npy", np.int64)
        self._hashes = NumberFile(spill / "id-hashes")
        self._waiting: list[bytes] = []
        self._size = 0

    def add(self, cell: Any) -> None:
        """Read the cell of one more document."""
        text = id_text(cell)
        try:
            data = text.encode()
        except UnicodeEncodeError:
            check_names([text], "ids")  # it says what is wrong
            raise
        digest = blake2b(data, digest_size=8).digest()
        self._hashes.append(int.from_bytes(digest, "little", signed=True))
        self._waiting.append(data)
        if len(self._waiting) >= PIECE:
            self._write()

    def _write(self) -> None:
        lengths = np.array([len(data) for data in self._waiting], dtype=np.int64)
        self._texts.add(np.frombuffer(b"".join(self._waiting), np.uint8))
        self._ends.add(self._size + np.cumsum(lengths))
        self._size += int(lengths.sum())
        self._waiting = []

    def finish(self, source: RowSource, column: str, numbers: NumberFile, memory: int) -> None:
        """Write the rest, and refuse ids that are there twice.

        Parameters
        ----------
        source, column
            Where they are from, for the message.
        numbers : NumberFile
            The numbers of the rows in the source.
        memory : int
            Bytes that may be taken to find them.
        """
        self._write()
        self._texts.close()
        self._ends.close()
        same = self._repeated_hashes(memory)
        seen: dict[str, int] = {}
        for row in same:
            text = self._text(row)
            first = seen.setdefault(text, row)
            if first != row:  # not only their hashes are the same
                where = [source.location(numbers.at(r)) for r in (first, row)]
                raise ValueError(
                    f"{source.name}, column {quoted(column)}: the id {quoted(text)} is in "
                    f"{where[0]} and {where[1]}. Each of ids must be unique: drop the repeats or "
                    "make the names differ."
                )

    def _repeated_hashes(self, memory: int) -> list[int]:
        """Return rows whose hash another row has too, sorted; a part of the hashes at a time."""
        n_parts = 1 + 40 * len(self._hashes) // memory
        found: list[int] = []
        for part in range(n_parts):
            hashes, rows, start = [], [], 0
            for piece in self._hashes.pieces():
                here = np.flatnonzero(piece % n_parts == part)
                hashes.append(piece[here])
                rows.append(here + start)
                start += len(piece)
            values = np.concatenate(hashes)
            order = np.argsort(values, kind="stable")
            same = values[order[1:]] == values[order[:-1]]
            both = np.union1d(order[1:][same], order[:-1][same])
            found += np.concatenate(rows)[both].tolist()[:1000]
        return sorted(found)

    def _text(self, row: int) -> str:
        first = max(row - 1, 0)
        ends = np.fromfile(self._ends.path, np.int64, row + 1 - first, offset=HEADER + 8 * first)
        start = int(ends[0]) if row else 0
        size = int(ends[-1]) - start
        return (
            np.fromfile(self._texts.path, np.uint8, size, offset=HEADER + start).tobytes().decode()
        )

    def close(self) -> None:
        """Close the files, as they are."""
        self._texts.abandon()
        self._ends.abandon()


class LabelFile(LabelColumn):
    """The classes of documents, whose numbers wait in a file."""

    def __init__(self, spill: Path) -> None:
        super().__init__()
        self._cells = NumberFile(spill / "labels")

    def write(self, folder: Path) -> LabelInfo:
        """Write the labels, -1 for unlabeled, to the sharded folder."""
        codes, names = self.classes()
        checked = check_labels(codes, len(codes), None if names is None else len(names))
        writer = ArrayWriter(folder / "labels.npy", np.int64)
        try:
            for piece in self._cells.pieces():
                writer.add(checked[piece])
            writer.close()
        finally:
            writer.abandon()
        return LabelInfo(None if names is None else tuple(names), texts=False)
