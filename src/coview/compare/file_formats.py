"""The files of a comparison: plans (TOML), journals of finished cells (JSON lines), results (CSV).

**Plans** are files that a person can read and change::

    task = "cluster"
    seeds = 10                      # or a list
    metrics = ["accuracy", "nmi_max"]

    [[datasets]]
    name = "mfeat"

    [[models]]
    name = "mggm"
    label = "MGGM"
    params = {n_feature_topics = 100, strength_scale = "absolute"}
    grid = {strength = [5000, 15000]}
    none = ["scaling"]              # parameters that are None, for which TOML has no value

Keys are those of `Plan`, `Data` and `Entry`, and explained in docs/plans.md; `coview compare
--example-plan` writes a plan with all of them. Data sets and models without parameters can be given
by name alone: ``models = ["link", "spectral"]``.

A **journal** has one line of JSON for each finished cell, appended when it finishes. A line is
written at once and flushed to disk, so a kill or a power cut loses at most the line being written;
such an incomplete last line is dropped on the next start. If a cell occurs twice, the last counts.

**Results** are tidy rows, one for each run, part and metric; a run that failed, or has none of the
metrics, has one row with its error or its time. Rows are sorted by their contents, so the same
results give the same bytes; `times=False` leaves out the seconds, which differ from run to run.
"""

from __future__ import annotations

import csv
import json
import math
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from typing import Any

from coview.compare.metric_info import current_name
from coview.compare.plan import Data, Entry, Plan, as_json, check_keys
from coview.compare.results import Results, Run
from coview.escaping import for_spreadsheet, from_spreadsheet
from coview.outputs import check_output, explained
from coview.store import replacing

_LINE_START = b'{"key":"'  # of every record in a journal
CSV_COLUMNS = (
    *("dataset", "label", "model", "params", "seed", "rate", "part", "metric", "value"),
    *("seconds", "iterations", "documents", "oracle", "settings", "versions", "error"),
)
_TEXTS = ("dataset", "label", "model", "part", "error")
DIGITS = 9  # significant digits in CSV files: more than any table shows, without noisy last bits


# -- plans -----------------------------------------------------------------------------------------


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """Read a plan from a TOML file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "plan.toml")
    ...     _ = path.write_text('datasets = ["mfeat"]\\nmodels = ["link", "spectral"]\\nseeds = 3')
    ...     len(read_plan(path).cells())
    6
    """
    try:
        with Path(path).open("rb") as file:
            content = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not a TOML file: {error}.") from error
    lacking = [name for name in ("datasets", "models") if not content.get(name)]
    if lacking:
        raise ValueError(f"{path} has no {' and no '.join(lacking)}: give at least one of each.")
    try:
        check_keys(content, [field.name for field in fields(Plan)], "A plan")
        content["models"] = [_with_none(entry) for entry in content["models"]]
        plan = Plan(**content)
        return replace(plan, datasets=[_found(data, Path(path).parent) for data in plan.datasets])
    except (TypeError, ValueError) as error:
        raise ValueError(f"In {path}: {error}") from error


def _found(data: Data, folder: Path) -> Data:
    """Return a data set that lies beside the plan with its path from here."""
    beside = folder / data.name
    if Path(data.name).exists() or not beside.exists():
        return data
    return replace(data, name=str(beside))


def _with_none(entry: Any) -> Any:
    """Return a model's table with the parameters listed under "none" set to None."""
    if not isinstance(entry, Mapping) or "none" not in entry:
        return entry
    if isinstance(entry["none"], str) or not isinstance(entry.get("params", {}), Mapping):
        raise ValueError(f"none must be a list of names of parameters; got {entry['none']!r}.")
    others = {name: value for name, value in entry.items() if name != "none"}
    return {**others, "params": {**entry.get("params", {}), **dict.fromkeys(entry["none"])}}


def write_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan as a TOML file; values equal to the defaults are left out.

    >>> import tempfile
    >>> plan = Plan(["mfeat"], [{"name": "mggm", "grid": {"strength": [1, 2]}}], seeds=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_plan(plan, f"{folder}/plan.toml")
    ...     read_plan(f"{folder}/plan.toml") == plan
    True
    """
    with replacing(path) as beside:
        beside.write_text(plan_text(plan), encoding="utf-8")


def plan_text(plan: Plan) -> str:
    """Return the plan as TOML.

    >>> print(plan_text(Plan(["mfeat"], ["link"], seeds=[0, 1])))
    seeds = [0, 1]
    <BLANKLINE>
    [[datasets]]
    name = "mfeat"
    <BLANKLINE>
    [[models]]
    name = "link"
    <BLANKLINE>
    """
    tables = {
        "datasets": [_changed(data) for data in plan.datasets],
        "models": [_without_none(_changed(entry)) for entry in plan.models],
    }
    top = {n: v for n, v in _changed(plan).items() if n not in tables}
    lines = [f"{name} = {_value(value)}" for name, value in top.items()]
    for name, entries in tables.items():
        for entry in entries:
            lines += ["", f"[[{name}]]", *(f"{_key(n)} = {_value(v)}" for n, v in entry.items())]
    return "\n".join(lines).lstrip("\n") + "\n"


def _changed(thing: Plan | Data | Entry) -> dict[str, Any]:
    """Return the fields that differ from their defaults, and a label only if it is not the name."""
    values = asdict(thing)
    found = {}
    for field in fields(thing):
        factory = field.default_factory
        default = field.default if factory is MISSING else factory()
        if values[field.name] != default:
            found[field.name] = values[field.name]
    if found.get("label") == found.get("name"):
        found.pop("label", None)
    return found


def _without_none(entry: dict[str, Any]) -> dict[str, Any]:
    """Move parameters that are None into a list of their names, the reverse of `_with_none`."""
    none = [name for name, value in entry.get("params", {}).items() if value is None]
    if not none:
        return entry
    params = {n: v for n, v in entry["params"].items() if v is not None}
    rest = {n: v for n, v in entry.items() if n != "params"}
    return {**rest, **({"params": params} if params else {}), "none": none}


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(n)} = {_value(v)}" for n, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    raise TypeError(f"TOML has no word for {value!r}: give another value, or leave it out.")


def _key(name: str) -> str:
    bare = name.replace("_", "").replace("-", "")
    return name if bare.isascii() and bare.isalnum() else json.dumps(name)


# -- journals --------------------------------------------------------------------------------------


class Journal:
    """Records of finished cells by the key of the cell, in a file or (path None) in memory."""

    def __init__(self, path: str | os.PathLike[str] | None):
        self.path = None if path is None else Path(path)
        self._records: dict[str, dict[str, Any]] = {}
        if self.path is not None:
            check_output(self.path)
            self._records = read_records(self.path)
            _drop_incomplete_line(self.path)

    def __contains__(self, key: object) -> bool:
        return key in self._records

    def __getitem__(self, key: str) -> dict[str, Any]:
        return self._records[key]

    def __len__(self) -> int:
        return len(self._records)

    def failed(self, key: str) -> bool:
        """Return whether the cell ended with an error."""
        return "error" in self._records[key]

    def add(self, key: str, cell: Mapping[str, Any], outcome: Mapping[str, Any]) -> None:
        """Record the outcome of a cell."""
        record = {"key": key, "cell": dict(cell), **outcome}
        self._records[key] = record
        if self.path is None:
            return
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        with explained(self.path), self.path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def read_records(path: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """Return the records of a journal by key; none if there is no such file."""
    if not Path(path).exists():
        return {}
    lines = Path(path).read_bytes().split(b"\n")
    records = {}
    for number, line in enumerate(lines[:-1], 1):  # after the last line break: incomplete
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
    if "values" in record:
        parts = record["values"]
        if not isinstance(parts, dict) or not all(isinstance(v, dict) for v in parts.values()):
            raise ValueError("its values are no object of objects")
        record["values"] = {
            part: {current_name(metric): value for metric, value in values.items()}
            for part, values in record["values"].items()
        }
    return record


def _drop_incomplete_line(path: Path) -> None:
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    rest = content[whole:]
    # Truncate only what looks like the beginning of a record: any other file stays as it is.
    if rest and not (rest.startswith(_LINE_START) or _LINE_START.startswith(rest)):
        raise ValueError(f"{path} is not a file of results of a comparison: give another name.")
    if rest:
        os.truncate(path, whole)


# -- results as CSV --------------------------------------------------------------------------------


def write_csv(
    results: Results,
    path: str | os.PathLike[str],
    metrics: Sequence[str] | None = None,
    times: bool = True,
) -> None:
    """Write results as CSV; `metrics` are by default those of the plan, or all."""
    columns = [name for name in CSV_COLUMNS if times or name != "seconds"]
    wanted = list(metrics if metrics is not None else results.metrics)
    rows = [row for run in results.runs for row in _rows(run, wanted)]
    lines = sorted(([_cell(row, name) for name in columns] for row in rows), key=_order)
    with replacing(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(lines)


def _cell(row: dict[str, str], name: str) -> str:
    # a spreadsheet may read texts of users as formulas; a negative number is none
    return for_spreadsheet(row[name]) if name in _TEXTS else row[name]


def _order(row: list[str]) -> list[tuple[float, str]]:
    """Return a sort key: numbers by size, texts alphabetically."""
    return [(_as_number(cell), cell) for cell in row]


def _as_number(cell: str) -> float:
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
    # A run without any value keeps a row, for its time or its error.
    yield from rows or [{**common, "part": "", "metric": "", "value": ""}]


def _text(number: Any) -> str:
    return "" if number is None else f"{number:.{DIGITS}g}"


def read_csv(path: str | os.PathLike[str]) -> tuple[Run, ...]:
    """Read the runs of a file that `write_csv` wrote."""
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
                _add(found, row | {n: from_spreadsheet(row[n]) for n in _TEXTS})
            except (ValueError, TypeError) as error:
                raise ValueError(
                    f"Line {reader.line_num} of {path} is damaged: {error}."
                ) from error
    return tuple(Run(**run) for run in found.values())


def _add(found: dict[tuple, dict[str, Any]], row: dict[str, str]) -> None:
    names = ("dataset", "label", "model", "params", "seed", "rate", "settings", "versions")
    key = tuple(row[name] for name in names)
    run = found.setdefault(key, run_fields(row))
    if row["metric"]:
        part = run["values"].setdefault(row["part"], {})
        part[current_name(row["metric"])] = float(row["value"])


def run_fields(row: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a `Run` from the texts of a CSV row, with no values yet."""
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
