"""The runs behind each cell of a table, and a check that they differ in their seeds alone.

Results as lines: a measure against a parameter, a share of labels or a number of documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coview.compare.measures import measure
from coview.compare.plan import as_json
from coview.compare.results import Results, Run, _lookup
from coview.wording import plural

# settings that belong to the data set or to the model, and so vary with these
_OF_DATA = ("data", "options", "keep", "steps")
_OF_MODEL = ("views", "concat")


@dataclass(frozen=True)
class Group:
    """Runs that differ in their seeds alone.

    Attributes
    ----------
    values : dict of float
        By seed.
    n_runs, n_failed : int
        All runs, and those that ended with an error.
    reason : str
        Why some have no value.
    oracle : bool
    """

    values: Mapping[int, float]
    n_runs: int
    n_failed: int
    reason: str
    oracle: bool

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.values.values())))

    def paired(self, other: Group) -> tuple[list[float], list[float]]:
        """The values of both, for the seeds that both have."""
        seeds = sorted(self.values.keys() & other.values.keys())
        return [self.values[s] for s in seeds], [other.values[s] for s in seeds]


@dataclass(frozen=True)
class Axes:
    """What the rows and columns of a table are."""

    row_axis: str
    column_axis: str
    rows: Sequence[str]
    columns: Sequence[str]
    part: str
    names: Mapping[str, str]
    missing: Mapping[str, str]
    parts: Sequence[str]

    @classmethod
    def of(
        cls, results: Results, rows: str, columns: str, part: str | None, missing: Mapping[str, str]
    ) -> Axes:
        if rows == columns:
            raise ValueError(f"rows and columns are both {rows!r}.")
        names = model_names(results, (rows, columns))
        part = _part(results, rows, columns) if part is None else part
        found = cls(rows, columns, (), (), part, names, missing, results.parts)
        on_rows = _ordered(found.values(results, rows))
        on_columns = _ordered(found.values(results, columns))
        # what could not be measured at all is a data set or a model, and goes where these go
        extra = [name for name in missing if name not in (*on_rows, *on_columns)]
        on_columns += extra if columns == "dataset" else []
        on_rows += extra if columns != "dataset" else []
        return replace(found, rows=on_rows, columns=on_columns)

    def values(self, results: Results, axis: str) -> list[Any]:
        return [value for run in results.runs for value in self.of_run(run, axis)]

    def of_run(self, run: Run, axis: str) -> list[Any]:
        """Where a run is on an axis: one place, or one for each of its parts."""
        if axis == "part":  # a run that failed would have had them all
            return list(self.parts if run.error else run.values)
        return [self.names[_identity(run)] if axis == "model" else _lookup(run, axis)]


def grouped(results: Results, axes: Axes, column: str, metric: str) -> dict[str, Group]:
    """The groups of one column, by row."""
    found: dict[str, list[tuple[Run, str]]] = {}
    for run in results.runs:
        for row in axes.of_run(run, axes.row_axis):
            for place in axes.of_run(run, axes.column_axis):
                if _shown(place) == column:
                    found.setdefault(_shown(row), []).append((run, _part_of(axes, row, place)))
    return {row: _group(runs, row, column, metric, axes) for row, runs in found.items()}


def _part_of(axes, row, place):
    if axes.row_axis == "part":
        return row
    return place if axes.column_axis == "part" else axes.part


def _group(runs, row, column, metric, axes):
    _check_same(runs, row, column, axes)
    values = {run.seed: run.value(metric, part) for run, part in runs}
    reasons = [run.error for run, _ in runs if run.error]
    lacking = None in values.values() and not reasons
    return Group(
        values={seed: value for seed, value in values.items() if value is not None},
        n_runs=len(values),
        n_failed=len(reasons),
        reason=reasons[0] if reasons else f"no {metric}" if lacking else "",
        oracle=any(run.oracle for run, _ in runs),
    )


def _check_same(runs, row, column, axes):
    """Runs of one cell of the table may differ in their seeds only."""
    kinds = {_rest(run, axes) for run, _ in runs}
    if len(kinds) > 1:
        first, second = sorted(kinds)[:2]
        raise ValueError(
            f"The runs of row {row!r}, column {column!r} differ in more than their seeds: {first} "
            f"and {second}. Choose some with results.where(...), or make what differs the rows or "
            "the columns."
        )


def _rest(run, axes):
    """What must not vary within a cell of the table."""
    on_axes = {axes.row_axis, axes.column_axis}
    kept = {n: v for n, v in run.settings.items() if n not in on_axes}
    if run.rate is not None and "rate" not in on_axes:
        kept["rate"] = run.rate
    if "model" not in on_axes and "label" not in on_axes:
        kept["model"] = axes.names[_identity(run)]
    if "dataset" not in on_axes:
        kept["dataset"] = run.dataset
    return as_json(kept)


# -- names -----------------------------------------------------------------------------------------


def model_names(results: Results, on_axes: Sequence[str] = ()) -> dict[str, str]:
    """A name for each model with its parameters: its label, and what tells it from its kin.

    >>> runs = [Run("a", "mggm", "MGGM", {"strength": s, "tol": 0}, 0) for s in (1, 2)]
    >>> sorted(model_names(Results(runs)).values())
    ['MGGM, strength=1', 'MGGM, strength=2']
    """
    found = {}
    for label in results.labels:
        kin = [run for run in results.runs if run.label == label]
        varying = [
            name
            for name in dict.fromkeys(n for run in kin for n in _own(run))
            if len({as_json(_own(run).get(name)) for run in kin}) > 1 and name not in on_axes
        ]
        for run in kin:
            own = _own(run)
            parts = [f"{name}={_shown(own[name])}" for name in varying if name in own]
            found[_identity(run)] = ", ".join([label, *parts])
    return found


def _own(run):
    """Parameters, and settings of the model, by name."""
    return {**{n: run.settings[n] for n in _OF_MODEL if n in run.settings}, **run.params}


def _identity(run):
    return as_json([run.label, _own(run)])


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else as_json(value)


def _ordered(values: list[Any]) -> list[str]:
    """Once each: numbers by size, all else as they come."""
    if values and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        values = sorted(values)
    return list(dict.fromkeys(_shown(value) for value in values))


def _part(results, rows, columns):
    """The part that is shown where parts are not an axis."""
    parts = results.parts
    return "" if "" in parts or not parts else "mean" if "mean" in parts else parts[0]


# -- lines -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """Mean and standard deviation of a measure along an axis.

    Attributes
    ----------
    x, mean, sd : ndarray of shape (points,)
        `x` is empty for a model that the axis does not concern: it is drawn across the plot.
    oracle : bool
    """

    x: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    oracle: bool = False


def lines_of(results: Results, x: str, metric: str, part: str | None = None) -> dict[str, Line]:
    """A line for each model, in order; it is an error to average over anything but seeds."""
    axes = Axes.of(results, "model", x, part, {})
    columns = {place: grouped(results, axes, place, metric) for place in axes.columns}
    scale = 100 if measure(metric).share else 1
    found = {}
    for row in axes.rows:
        groups = {place: c[row] for place, c in columns.items() if row in c and c[row].values}
        if groups:
            found[row] = _line(row, groups, x, scale)
    if not any(len(line.x) for line in found.values()):
        raise ValueError(
            f"No run has both {metric!r} and a number for {x!r}. Measured: "
            f"{', '.join(results.measured()) or 'nothing'}.{_failures(results)}"
        )
    return found


def _failures(results):
    failed = results.failures
    if not failed:
        return ""
    return f" {plural(len(failed), 'run')} failed; the first said: {failed[0].error}"


def _line(name, groups, x, scale):
    if "none" in groups and len(groups) > 1:
        raise ValueError(
            f"Some runs of {name!r} have {x!r} and some have not: give these another label, or "
            "choose with results.where(...)."
        )
    values = [list(group.values.values()) for group in groups.values()]
    return Line(
        x=np.array([] if "none" in groups else [float(place) for place in groups]),
        mean=scale * np.array([np.mean(v) for v in values]),
        sd=scale * np.array([np.std(v, ddof=1) if len(v) > 1 else 0.0 for v in values]),
        oracle=any(group.oracle for group in groups.values()),
    )
