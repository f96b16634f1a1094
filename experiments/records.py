"""The two CSV files of a paper: what it published and what was measured.

published.csv is typed in by hand; an empty value has a note that says why. results.csv has a row
for each model, data set and metric with the values of all its seeds, so that it stays small enough
to be read and kept.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from coview.compare import Results, Run

PUBLISHED = ("table", "row", "column", "metric", "value", "sd", "note")
RESULTS = (
    *("plan", "dataset", "label", "rate", "part", "metric", "n", "mean", "sd", "seeds", "values"),
    *("seconds", "iterations", "documents", "oracle", "model", "params", "settings", "versions"),
    "error",
)
NOT_IN_OUR_COPY = "not in our copy"


@dataclass(frozen=True)
class Number:
    """A published number; value None where there is none, and the note says why."""

    value: float | None
    sd: float | None = None
    note: str = ""


Published = dict[tuple[str, str, str, str], Number]


def read_published(path: Path) -> Published:
    """Published numbers by table, row, column and metric, in the order of the file."""
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


def write_results(results: Results, path: Path, metrics: Sequence[str]) -> None:
    """Write results, one row for all seeds of a model; the same bytes for the same results."""
    rows = sorted(
        (row for runs in _without_seeds(results).values() for row in _rows(runs, metrics)),
        key=lambda row: [row[n] for n in ("plan", "dataset", "label", "rate", "params", "part")],
    )
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, RESULTS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _without_seeds(results: Results) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in results.runs:
        key = _json([run.dataset, run.label, run.rate, run.params, run.settings])
        found.setdefault(key, []).append(run)
    return found


def _rows(runs: list[Run], metrics: Sequence[str]):
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
        "params": _json(first.params),
        "oracle": "yes" if first.oracle else "",
        "settings": _json(settings),
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


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def read_results(path: Path) -> Results:
    """The runs of a file that `write_results` wrote, seed by seed."""
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
    run.values.setdefault(row["part"], {})[row["metric"]] = value  # type: ignore[attr-defined]


def _run(row: dict[str, str], seed: int) -> Run:
    return Run(
        dataset=row["dataset"],
        model=row["model"],
        label=row["label"],
        params=json.loads(row["params"]),
        seed=seed,
        rate=float(row["rate"]) if row["rate"] else None,
        values={},
        seconds=float(row["seconds"]) if row["seconds"] else None,
        documents=int(row["documents"]) if row["documents"] else None,
        oracle=row["oracle"] == "yes",
        settings={"plan": row["plan"], **json.loads(row["settings"])},
        versions=row["versions"],
    )
