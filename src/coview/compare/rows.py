"""Results as a CSV file: tidy rows, sorted, the same bytes for the same results.

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
from collections.abc import Iterator, Sequence
from typing import Any

from coview.compare.plan import as_json
from coview.compare.results import Results, Run
from coview.store import replacing

COLUMNS = (
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
    columns = [name for name in COLUMNS if times or name != "seconds"]
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
        missing = [n for n in COLUMNS if n not in (reader.fieldnames or ()) and n != "seconds"]
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
