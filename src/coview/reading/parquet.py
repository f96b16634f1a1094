"""Parquet files, read row by row like other tables; see `coview.reading.tables`.

A Parquet file may hold a text once, in a dictionary, and refer to it from a million rows. Such
columns are read as dictionaries, and a batch of rows is unfolded only if the texts of the rows so
far are not too large for the file (`check_expansion`). But a dictionary of a large part of a file
(a row group) may not fit into memory: there, pages are read one by one, and so few rows at a time
that even the largest text that the part can hold fits for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coview.extras import need
from coview.memory import available_memory
from coview.reading.plain_files import check_expansion
from coview.reading.tables import SAMPLE, STEP, Progress, Row
from coview.wording import location

LARGE_GROUP = 32 << 20  # bytes of a row group that is not read as dictionaries
BUFFER = 1 << 20  # bytes of a column that are read at a time


class ParquetRows:
    """The rows of a Parquet file, read in batches."""

    location = staticmethod(location)

    def __init__(self, path: Path, on_bytes: Progress | None = None) -> None:
        self.name, self._path, self._on_bytes = str(path), path, on_bytes
        self._parquet = need("pyarrow.parquet", extra="parquet")

    def columns(self, sample: int | None = SAMPLE) -> list[str]:
        """Return the names of the columns."""
        with self._open() as file:
            return list(file.schema_arrow.names)

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """Yield number (from 0) and cells of each row."""
        done, unfolded = 0, 0
        packed = self._path.stat().st_size
        with self._open(folded=True) as file, self._open(folded=False) as unfolded_file:
            total = file.metadata.num_rows
            for batch in _batches(file, unfolded_file, list(dict.fromkeys(columns))):
                unfolded += sum(_unfolded_bytes(column) for column in batch.columns)
                check_expansion(unfolded, packed)
                cells = zip(*(_cells(batch.column(name)) for name in columns), strict=True)
                yield from enumerate(cells, done)
                done += batch.num_rows
                self._report(done, total)

    @contextmanager
    def _open(self, folded: bool = False) -> Iterator[Any]:
        """Open the file; pyarrow finds damage when it opens a file or later, when it reads it."""
        try:
            # without these two, all of a column of a row group is read at once
            buffered = {"pre_buffer": False, "buffer_size": BUFFER}
            with self._parquet.ParquetFile(self._path, **buffered) as file:
                self._check_size(file.metadata)
                if not folded:
                    yield file
                    return
                paths = _dictionary_paths(file.schema)
            with self._parquet.ParquetFile(self._path, read_dictionary=paths) as file:
                yield file
        except MemoryError as error:
            raise MemoryError(f"{self.name} cannot be read as Parquet: {error}.") from error
        except Exception as error:  # damage raises many kinds
            why = str(error).rstrip(".") or type(error).__name__
            raise ValueError(f"{self.name} cannot be read as Parquet: {why}.") from error

    def _check_size(self, metadata: Any) -> None:
        """Refuse a file that becomes far larger than it is, by compression or by repetition."""
        groups = [metadata.row_group(g) for g in range(metadata.num_row_groups)]
        unpacked = sum(group.total_byte_size for group in groups)
        check_expansion(max(unpacked, _least_bytes(metadata)), self._path.stat().st_size)

    def _report(self, done: int, total: int) -> None:
        if self._on_bytes is not None:
            size = self._path.stat().st_size
            self._on_bytes(size * done // total, size)


def _batches(folded: Any, plain: Any, columns: list[str]) -> Iterator[Any]:
    """Yield batches of rows; none is of two parts of the file, whose dictionaries differ."""
    for group in range(folded.metadata.num_row_groups):
        size = folded.metadata.row_group(group).total_byte_size
        file, rows = (folded, STEP) if size <= LARGE_GROUP else (plain, _rows_at_once(size))
        yield from file.iter_batches(batch_size=rows, columns=columns, row_groups=[group])


def _rows_at_once(size: int) -> int:
    """Return how many rows of a row group may be unfolded, if each had a text of all its bytes."""
    room = (available_memory() or 4e9) / 4
    return int(min(max(room // size, 1), STEP))


# -- repetition -----------------------------------------------------------------------------------


# What a file says of a column in a part of it is not asked: if it is damaged, pyarrow ends the
# process (`RowGroupMetaData.column`).


def _dictionary_paths(schema: Any) -> list[str]:
    """Return the columns of texts, also within lists, which may be written as dictionaries."""
    columns = [schema.column(number) for number in range(len(schema.names))]
    texts = [c for c in columns if c.physical_type == "BYTE_ARRAY"]
    return [c.path for c in texts if c.logical_type.type != "DECIMAL"]


def _least_bytes(metadata: Any) -> int:
    """Return what the cells take at least, those of a fixed size among them."""
    schema = metadata.schema
    widths = [max(schema.column(number).length, 1) for number in range(metadata.num_columns)]
    return metadata.num_rows * sum(widths)


def _unfolded_bytes(array: Any) -> int:
    """Return the bytes of an array once no dictionary is left in it."""
    import pyarrow.compute as pc
    from pyarrow import types

    kind = array.type
    if types.is_dictionary(kind) and not types.is_primitive(kind.value_type):
        lengths = pc.binary_length(array.dictionary).cast("int64")
        return pc.sum(lengths.take(array.indices)).as_py() or 0
    if types.is_map(kind):
        first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
        return sum(_unfolded_bytes(part[first:last]) for part in (array.keys, array.items))
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    if any(is_kind(kind) for is_kind in lists):
        return _unfolded_bytes(array.flatten())
    if types.is_struct(kind):
        return sum(_unfolded_bytes(part) for part in array.flatten())
    return array.nbytes


def _cells(array: Any) -> list[Any]:
    """Return the values of a column; of a dictionary, only those of these rows are made."""
    from pyarrow.types import is_dictionary

    return (array.dictionary_decode() if is_dictionary(array.type) else array).to_pylist()
