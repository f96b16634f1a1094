"""The file in which finished cells are kept, one line of JSON each, as they finish.

A line is appended with one write and flushed to the disk, so a kill or a power cut costs at most
the line that was being written. Such a torn last line is dropped on the next start. A cell that is
there twice counts as it was written last.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_BEGIN = b'{"key":"'


class Journal:
    """Records by the key of their cell, in a file or (path None) in memory alone."""

    def __init__(self, path: str | os.PathLike[str] | None):
        self.path = None if path is None else Path(path)
        self._records: dict[str, dict[str, Any]] = {}
        if self.path is not None:
            _check_folder(self.path)
            self._records = read_records(self.path)
            _drop_torn_line(self.path)

    def __contains__(self, key: object) -> bool:
        return key in self._records

    def __getitem__(self, key: str) -> dict[str, Any]:
        return self._records[key]

    def __len__(self) -> int:
        return len(self._records)

    def failed(self, key: str) -> bool:
        """Whether the cell ended with an error."""
        return "error" in self._records[key]

    def add(self, key: str, cell: Mapping[str, Any], outcome: Mapping[str, Any]) -> None:
        """Keep what came out of a cell."""
        record = {"key": key, "cell": dict(cell), **outcome}
        self._records[key] = record
        if self.path is None:
            return
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        with self.path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def read_records(path: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """The records of a file by key; none if it is not there."""
    if not Path(path).exists():
        return {}
    lines = Path(path).read_bytes().split(b"\n")
    records = {}
    for number, line in enumerate(lines[:-1], 1):  # what follows the last line break is torn
        try:
            record = _checked(json.loads(line))
        except ValueError as error:
            raise ValueError(
                f"Line {number} of {path} is not a result of a comparison: {error}. Take the line "
                "out, or start anew with another file."
            ) from error
        records[record["key"]] = record
    return records


def _checked(record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise ValueError("it is no object")
    lacking = [name for name in ("key", "cell") if name not in record]
    lacking += [] if "values" in record or "error" in record else ["values"]
    if lacking:
        raise ValueError(f"it lacks {' and '.join(lacking)}")
    return record


def _check_folder(path):
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file for the results.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} to.")


def _drop_torn_line(path):
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    torn = content[whole:]
    if torn and not (torn.startswith(_BEGIN) or _BEGIN.startswith(torn)):
        raise ValueError(f"{path} is not a file of results of a comparison: give another name.")
    if torn:
        os.truncate(path, whole)
