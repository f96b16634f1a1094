"""The file in which finished cells are kept, one line of JSON each, as they finish.

A line is appended with one write and flushed to the disk, so a kill or a power cut costs at most
the line that was being written. Such a torn last line is dropped on the next start. A cell that is
there twice counts as it was written last.

Results as a CSV file: tidy rows, sorted, the same bytes for the same results.

One row for each run, part and metric; a run that failed, or has none of the metrics, has one row
with its error or its time. Rows are in the
order of their contents, not of their making. `times=False` leaves out the column of seconds, which
no second run repeats.
"""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coview.compare.plan import as_json
from coview.compare.results import Results, Run
from coview.store import replacing

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


# -- rows ------------------------------------------------------------------------------------------


CSV_COLUMNS = (
    *("dataset", "label", "model", "params", "seed", "rate", "part", "metric", "value"),
    *("seconds", "iterations", "documents", "oracle", "settings", "versions", "error"),
)
DIGITS = 9  # significant ones: more than any table shows, and the last bits are noise


def write_csv(
    results: Results,
    path: str | os.PathLike[str],
    metrics: Sequence[str] | None = None,
    times: bool = True,
) -> None:
    """Write results; `metrics` are by default those of the plan, or all."""
    columns = [name for name in CSV_COLUMNS if times or name != "seconds"]
    wanted = list(metrics if metrics is not None else results.metrics)
    rows = [row for run in results.runs for row in _rows(run, wanted)]
    lines = sorted(([row[name] for name in columns] for row in rows), key=_order)
    with replacing(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(lines)


def _order(row: list[str]) -> list[tuple[float, str]]:
    """Numbers by size, texts by letters."""
    return [(_number(cell), cell) for cell in row]


def _number(cell: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        return math.inf
    return number if math.isfinite(number) else math.inf


def _rows(run: Run, wanted: list[str]) -> Iterator[dict[str, str]]:
    common = {
        "dataset": run.dataset,
        "label": run.label,
        "model": run.model,
        "params": as_json(run.params),
        "seed": str(run.seed),
        "rate": _text(run.rate),
        "seconds": "" if run.seconds is None else f"{run.seconds:.3g}",
        "iterations": _text(run.iterations),
        "documents": _text(run.documents),
        "oracle": "yes" if run.oracle else "",
        "settings": as_json(run.settings),
        "versions": run.versions,
        "error": run.error,
    }
    rows = [
        {**common, "part": part, "metric": metric, "value": _text(value)}
        for part, values in run.values.items()
        for metric, value in values.items()
        if not wanted or metric in wanted
    ]
    # without a value there is still the run, with its time or its error
    yield from rows or [{**common, "part": "", "metric": "", "value": ""}]


def _text(number: Any) -> str:
    return "" if number is None else f"{number:.{DIGITS}g}"


def read_csv(path: str | os.PathLike[str]) -> tuple[Run, ...]:
    """The runs of a file that `write_csv` wrote."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [n for n in CSV_COLUMNS if n not in (reader.fieldnames or ()) and n != "seconds"]
        if missing:
            raise ValueError(
                f"{path} is no file of results of a comparison: it lacks the columns "
                f"{', '.join(missing)}."
            )
        found: dict[tuple, dict[str, Any]] = {}
        for row in reader:
            try:
                _add(found, row)
            except (ValueError, TypeError) as error:
                raise ValueError(
                    f"Line {reader.line_num} of {path} is damaged: {error}."
                ) from error
    return tuple(Run(**fields) for fields in found.values())


def _add(found: dict[tuple, dict[str, Any]], row: dict[str, str]) -> None:
    names = ("dataset", "label", "model", "params", "seed", "rate", "settings", "versions")
    key = tuple(row[name] for name in names)
    fields = found.setdefault(key, _fields(row))
    if row["metric"]:
        fields["values"].setdefault(row["part"], {})[row["metric"]] = float(row["value"])


def _fields(row: dict[str, str]) -> dict[str, Any]:
    return {
        **{name: row[name] for name in ("dataset", "label", "model", "versions", "error")},
        "params": json.loads(row["params"]),
        "settings": json.loads(row["settings"]),
        "seed": int(row["seed"]),
        "rate": float(row["rate"]) if row["rate"] else None,
        "seconds": float(row["seconds"]) if row.get("seconds") else None,
        "iterations": int(row["iterations"]) if row["iterations"] else None,
        "documents": int(row["documents"]) if row["documents"] else None,
        "oracle": row["oracle"] == "yes",
        "values": {},
    }
