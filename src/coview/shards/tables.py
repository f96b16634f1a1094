"""Tables to shards in a stream: in memory that the data do not change.

One pass over the rows counts terms and keeps what is counted in files beside the new folder. Then
it is known which terms are kept and how many non-zeros each document has, so documents are cut into
blocks, and a pass over the counts writes the shards. All decisions are those of
`Views.from_table`, and the result has the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from coview.memory import memory_bytes
from coview.reading.columns import ColumnReader, ColumnRoles, check_roles, feed
from coview.reading.counting import VocabularyLimits
from coview.reading.number_file import NumberFile
from coview.reading.recipes import Recipe
from coview.reading.spilled_counts import SpilledRows, SpillingCounter
from coview.reading.spilled_terms import KeptTerms
from coview.reading.tables import RowSource, open_table
from coview.reading.text import TextColumn, TokensColumn
from coview.reading.text_options import TextOptions
from coview.shards.row_names import IdFile, LabelFile
from coview.shards.sharded import ShardedViews, open_shards
from coview.shards.storage import ArrayWriter
from coview.shards.writing import ViewHead, ends_in_file, finish_folder, new_folder, write_recipes
from coview.views.blocks import cut_rows
from coview.views.checks import check_known, check_names
from coview.wording import quoted

LIBRARIES = 250_000_000  # bytes that Python and the libraries take
LEAST_SPARE = 32_000_000  # bytes that terms and hashes get at least
READING = 0.85  # the share of reading in the progress

Progress = Callable[[int, int], None]


def convert_table(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    text: Any = None,
    tokens: Any = None,
    id: str | None = None,
    label: str | None = None,
    use: Sequence[str] | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    quotechar: str | None = '"',
    separator: str | None = None,
    memory: Any = "1GB",
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> ShardedViews:
    """Count the words of a table that may be larger than memory, and write a sharded folder.

    The result is what ``write_shards(Views.from_table(path, ...), folder)`` would write, to the
    bit. Files beside the folder hold what is counted, five bytes for each word of a document; they
    are removed in the end, also after an error.

    Parameters
    ----------
    path : path
        A table as in `Views.from_table`.
    folder : path
        The folder to write, usually with the suffix ``.shards``.
    text, tokens : str, list of str, or dict view -> column, default=None
        Columns of texts, and of tokens. Columns of pictures and of vectors cannot be read in a
        stream: read them with `Views.from_table` and `write_shards`.
    id, label : str, default=None
        The columns of ids and of classes.
    use : sequence of str, default=None
        The views to write, in this order; None: all.
    encoding, delimiter, quotechar, separator
        As in `Views.from_table`.
    memory : str or number, default="1GB"
        How much memory the process may take, about: Python and the libraries take a quarter
        of a gigabyte of it. Beyond that, memory grows only with the terms that are kept, by some
        bytes each, and with the number of different labels.
    overwrite : bool, default=False
        Replace an existing sharded folder.
    progress : callable, default=None
        Called from time to time as ``progress(done, total)``.
    **options
        Options of `Views.from_texts`; a vectorizer must be a CountVectorizer.

    Returns
    -------
    ShardedViews
        The folder, opened with the same memory.

    Examples
    --------
    >>> import tempfile, coview
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pets.csv"
    ...     _ = path.write_text("name,en\\na,the cat sleeps\\nb,the cat and the dog\\n")
    ...     coview.convert_table(path, f"{folder}/pets.shards", text="en", id="name")
    ShardedViews: 2 documents, 1 view, in 1 shard
      en  3 terms  4 non-zeros (66.7 %)  all documents
      labels: no; ids: yes; feature names: all views
    """
    n_bytes = memory_bytes("memory", memory)
    report = _Report(progress)
    source = open_table(
        path,
        encoding=encoding,
        delimiter=delimiter,
        quotechar=quotechar,
        on_bytes=None if progress is None else report.reading,
    )
    roles = _used(ColumnRoles.from_options(text, tokens, None, None, id, label), use)
    check_roles(source, roles, ())
    text_options = TextOptions(**options)
    text_options.check(roles.text, roles.tokens)
    _check_counts(text_options, roles)
    with new_folder(folder, overwrite) as new, ExitStack() as files:
        # removed with the folder above both
        spill = new.parent / "spill"
        spill.mkdir()
        spare = max(n_bytes - LIBRARIES, LEAST_SPARE)
        stream = _TableStream(source, roles, text_options, separator, new, spill, spare // 2)
        files.callback(stream.close)
        stream.read()
        stream.write(list(use or stream.columns), report)
    return open_shards(folder, memory=n_bytes)


def _used(roles: ColumnRoles, use: Sequence[str] | None) -> ColumnRoles:
    """Return the roles of the views that are used."""
    if use is None:
        return roles
    check_known(use, [*roles.text, *roles.tokens], "The selection")
    text = {view: column for view, column in roles.text.items() if view in use}
    tokens = {view: column for view, column in roles.tokens.items() if view in use}
    return replace(roles, text=text, tokens=tokens)


def _check_counts(options: TextOptions, roles: ColumnRoles) -> None:
    """Refuse weights that need all counts at once."""
    for view in roles.text:
        if isinstance(options.vectorizer_of(view, None), TfidfVectorizer):
            raise ValueError(
                f"The vectorizer of view {quoted(view)} is a TfidfVectorizer, whose weights need "
                "all counts at once. Use a CountVectorizer, or read the table in memory: "
                "coview.write_shards(Views.from_table(...), folder)."
            )


class _Report:
    """Progress of reading, then of writing, as one number."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    def reading(self, done: int, total: int) -> None:
        self._tell(READING * done / max(total, 1))

    def writing(self, done: int, total: int) -> None:
        self._tell(READING + (1 - READING) * done / max(total, 1))

    def _tell(self, share: float) -> None:
        if self._progress is not None:
            self._progress(int(1000 * share), 1000)


class _TableStream:
    """A table on its way to shards."""

    def __init__(
        self,
        source: RowSource,
        roles: ColumnRoles,
        options: TextOptions,
        separator: str | None,
        folder: Path,
        spill: Path,
        memory: int,
    ) -> None:
        self._source, self._roles, self._memory = source, roles, memory
        self._folder, self._spill = folder, spill
        self._counters: list[SpillingCounter] = []
        share = memory // max(len(roles.text) + len(roles.tokens), 1)
        make = partial(self._counter, share)
        self.columns: dict[str, TextColumn | TokensColumn] = {
            view: TextColumn(view, column, options, make) for view, column in roles.text.items()
        }
        for view, column in roles.tokens.items():
            self.columns[view] = TokensColumn(view, column, options, separator, make)
        self._numbers = NumberFile(spill / "numbers")
        self._ids = None if roles.id is None else IdFile(folder, spill)
        self._labels = None if roles.label is None else LabelFile(spill)

    def _counter(self, memory: int, *arguments: Any) -> SpillingCounter:
        folder = self._spill / f"view-{len(self._counters)}"
        counter = SpillingCounter(*arguments, folder=folder, term_memory=memory)
        self._counters.append(counter)
        return counter

    def close(self) -> None:
        """Close files that are still open."""
        for counter in self._counters:
            counter.close()
        if self._ids is not None:
            self._ids.close()

    def read(self) -> None:
        """Read all rows once."""
        optional = [reader for reader in (self._ids, self._labels) if reader is not None]
        readers: list[ColumnReader] = [*self.columns.values(), *optional]
        feed(self._source, self._roles.columns, readers, self._numbers)

    def write(self, names: Sequence[str], report: _Report) -> None:
        """Write the sharded folder."""
        views = [_StreamedView(name, self.columns[name]) for name in names]
        if self._ids is not None and self._roles.id is not None:
            self._ids.finish(self._source, self._roles.id, self._numbers, self._memory)
        labels = None if self._labels is None else self._labels.write(self._folder)
        for number, view in enumerate(views):
            view.write_names(self._folder, number)
        recipes = [view.recipe() for view in views]
        write_recipes(self._folder, names, recipes)
        blocks = cut_rows(self._ends(views))
        rows = [view.rows() for view in views]
        n_docs = len(self._numbers)

        def take(start: int, stop: int) -> tuple[list[sp.csr_array], np.ndarray]:
            report.writing(stop, n_docs)
            found = [view.take(stop - start) for view in rows]
            return [matrix for matrix, _ in found], np.column_stack([mask for _, mask in found])

        has_ids = self._ids is not None
        finish_folder(self._folder, [v.head for v in views], blocks, take, has_ids, labels)

    def _ends(self, views: Sequence[_StreamedView]) -> np.ndarray:
        """Return how many non-zeros all views have up to each document, in a file."""
        sums = [NumberFile(self._spill / f"lengths-{v}") for v in range(len(views))]
        for file, view in zip(sums, views, strict=True):
            for lengths in view.rows().lengths():
                file.extend(lengths)
        return ends_in_file(self._spill / "ends", sums)


class _StreamedView:
    """One view of the table, when all rows are read."""

    def __init__(self, name: str, column: TextColumn | TokensColumn) -> None:
        self.name, self.column = name, column
        self._limits: VocabularyLimits = column.settle()
        counter = column.counter
        assert isinstance(counter, SpillingCounter)
        self._counter = counter
        self._kept: KeptTerms = counter.keep_terms(name, self._limits)

    @property
    def head(self) -> ViewHead:
        """What must be known before rows are written."""
        dtype = self._counter.dtype(self._limits.binary)
        return ViewHead(self.name, self._kept.n_terms, dtype, features=True)

    def recipe(self) -> Recipe:
        """Return how texts became counts, without the terms."""
        return self.column.recipe(np.empty(0, object), left_out=self._kept.left_out)

    def rows(self) -> SpilledRows:
        """Return the rows, from the first on."""
        return self._counter.rows(self._kept, self._limits.binary)

    def write_names(self, folder: Path, number: int) -> None:
        """Write the names of the terms."""
        texts = ArrayWriter(folder / f"v{number}.features.npy", np.uint8)
        ends = ArrayWriter(folder / f"v{number}.ends.npy", np.int64)
        size = 0
        try:
            for terms in self._kept.texts():
                data = b"".join(terms)
                self._check_encodable(data, terms)
                lengths = np.array([len(term) for term in terms], dtype=np.int64)
                texts.add(np.frombuffer(data, np.uint8))
                ends.add(size + np.cumsum(lengths))
                size += len(data)
            texts.close()
            ends.close()
        finally:
            texts.abandon()
            ends.abandon()

    def _check_encodable(self, data: bytes, terms: Sequence[bytes]) -> None:
        try:
            data.decode()
        except UnicodeDecodeError:
            names = [term.decode("utf-8", "surrogatepass") for term in terms]
            check_names(names, f"features of view {quoted(self.name)}")  # it says what is wrong
            raise
