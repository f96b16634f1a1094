"""The two CSV files of a paper: published.csv and results.csv.

published.csv is typed in by hand; an empty value has a note that says why. results.csv has one row
for each model, data set and metric with the values of all seeds, so that it stays small enough to
be read and committed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from coview.compare import Results, Run
from coview.compare.file_formats import run_fields
from coview.compare.metric_info import current_name
from coview.compare.plan import as_json

PUBLISHED = ("table", "row", "column", "metric", "value", "sd", "note")
RESULTS = (
    *("plan", "dataset", "label", "rate", "part", "metric", "n", "mean", "sd", "seeds", "values"),
    *("seconds", "iterations", "documents", "oracle", "model", "params", "settings", "versions"),
    "error",
)
NOT_IN_OUR_COPY = "not in our copy"


@dataclass(frozen=True)
class Number:
    """A published number; without a value the note says why."""

    value: float | None
    sd: float | None = None
    note: str = ""


Published = dict[tuple[str, str, str, str], Number]


def read_published(path: Path) -> Published:
    """Return published numbers by table, row, column and metric, in the order of the file."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != PUBLISHED:
            raise ValueError(f"{path} must have the columns {', '.join(PUBLISHED)}.")
        found: Published = {}
        for line, row in enumerate(reader, 2):
            key = (row["table"], row["row"], row["column"], row["metric"])
            if key in found:
                raise ValueError(f"{path}, line {line}: {', '.join(key)} is there twice.")
            found[key] = _number(row, f"{path}, line {line}")
    return found


def _number(row: dict[str, str], where: str) -> Number:
    if not row["value"] and not row["note"]:
        raise ValueError(f"{where}: a number that is not there needs a note.")
    value, sd = (float(row[n]) if row[n] else None for n in ("value", "sd"))
    return Number(value, sd, row["note"])


def write_results(
    results: Results, path: Path, metrics: Sequence[str], *, keep_others: bool = False
) -> None:
    """Write results, one row for all seeds of a model; the same results give the same bytes.

    With `keep_others`, rows of the file stay if the results have no such model in that plan.
    """
    rows = [row for runs in _by_cell_without_seed(results) for row in _rows(runs, metrics)]
    if keep_others:
        rows += _other_rows(path, {(row["plan"], row["label"]) for row in rows})
    rows.sort(
        key=lambda row: [row[n] for n in ("plan", "dataset", "label", "rate", "params", "part")]
    )
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, RESULTS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _other_rows(path: Path, replaced: set[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the rows of a file without those of some (plan, label), as they are."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return [row for row in rows if (row["plan"], row["label"]) not in replaced]


def _by_cell_without_seed(results: Results) -> list[list[Run]]:
    """Return lists of runs that differ only in their seeds."""
    found: dict[str, list[Run]] = {}
    for run in results.runs:
        key = as_json([run.dataset, run.label, run.rate, run.params, run.settings])
        found.setdefault(key, []).append(run)
    return list(found.values())


def _rows(runs: list[Run], metrics: Sequence[str]) -> Iterator[dict[str, Any]]:
    runs = sorted(runs, key=lambda run: run.seed)
    good = [run for run in runs if not run.error]
    common = _common(runs, good)
    if not good:
        yield {**common, "error": runs[0].error}
    for part in dict.fromkeys(part for run in good for part in run.values):
        for metric in metrics:
            pairs = [(run.seed, run.value(metric, part)) for run in good]
            known = [(seed, value) for seed, value in pairs if value is not None]
            if known:
                summary = _summary(*zip(*known, strict=True))
                yield {**common, "part": part, "metric": metric, **summary}


def _common(runs: list[Run], good: list[Run]) -> dict[str, Any]:
    first, settings = runs[0], dict(runs[0].settings)
    return {
        "plan": settings.pop("plan", ""),
        "dataset": first.dataset,
        "label": first.label,
        "rate": "" if first.rate is None else f"{first.rate:g}",
        "part": "",
        "model": first.model,
        "params": as_json(first.params),
        "oracle": "yes" if first.oracle else "",
        "settings": as_json(settings),
        "versions": "; ".join(sorted({run.versions for run in runs})),
        "seconds": _mean([run.seconds for run in good], 2),
        "iterations": _mean([run.iterations for run in good], 3),
        "documents": first.documents,
        "error": next((run.error for run in runs if run.error), ""),
    }


def _summary(seeds: Sequence[int], values: Sequence[float]) -> dict[str, Any]:
    return {
        "n": len(values),
        "mean": f"{np.mean(values):.6g}",
        "sd": f"{np.std(values, ddof=1):.3g}" if len(values) > 1 else "",
        "seeds": " ".join(map(str, seeds)),
        "values": " ".join(f"{value:.6g}" for value in values),
    }


def _mean(values: list[Any], digits: int) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.{digits}g}" if known else ""


def read_results(path: Path) -> Results:
    """Return the runs of a file that `write_results` wrote, seed by seed."""
    found: dict[tuple, Run] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for seed, value in zip(row["seeds"].split(), row["values"].split(), strict=True):
                _add(found, row, int(seed), float(value))
            if not row["values"]:
                found[len(found), ""] = replace(_run(row, 0), error=row["error"])
    return Results(tuple(found.values()))


def _add(found: dict[tuple, Run], row: dict[str, str], seed: int, value: float) -> None:
    names = ("plan", "dataset", "label", "rate", "params", "settings")
    run = found.setdefault((*(row[n] for n in names), seed), _run(row, seed))
    part = run.values.setdefault(row["part"], {})  # type: ignore[attr-defined]
    part[current_name(row["metric"])] = value


def _run(row: dict[str, str], seed: int) -> Run:
    # Iterations and errors are those of all seeds, not of this one.
    fields = run_fields({**row, "seed": str(seed), "iterations": "", "error": ""})
    return Run(**{**fields, "settings": {"plan": row["plan"], **fields["settings"]}})
