"""Runs put together over their seeds: groups for the cells of a table, lines for a plot.

Runs that differ in anything but their seed are never averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coview.compare.metric_info import metric_info
from coview.compare.plan import as_json
from coview.compare.results import Results, Run
from coview.wording import plural

_MODEL_SETTINGS = ("views", "concat")  # settings that tell models apart, like parameters


@dataclass(frozen=True)
class Group:
    """The values of a metric in runs that differ only in their seeds.

    Attributes
    ----------
    values : dict of float
        By seed.
    n_runs, n_failed : int
        Number of all runs, and of those that ended with an error.
    reason : str
        Why some have no value.
    oracle : bool
        Whether something was chosen with the labels.
    """

    values: Mapping[int, float]
    n_runs: int
    n_failed: int
    reason: str
    oracle: bool

    @classmethod
    def of(cls, runs: Sequence[Run], metric: str, part: str = "") -> Group:
        """Collect the values of some runs; two different values of one seed are an error.

        >>> runs = [Run("a", "plsa", "PLSA", {}, s, values={"": {"purity": s / 4}}) for s in (0, 1)]
        >>> Group.of(runs, "purity").values
        {0: 0.0, 1: 0.25}
        """
        return cls.of_parts([(run, part) for run in runs], metric)

    @classmethod
    def of_parts(cls, runs: Sequence[tuple[Run, str]], metric: str) -> Group:
        """Collect the values of (run, part of the run) pairs."""
        values: dict[int, float | None] = {}
        for run, part in runs:
            value = run.value(metric, part)
            known = values.setdefault(run.seed, value)
            if known is None:  # a run that failed, or lacks the metric, gives way to its repetition
                values[run.seed] = value
            elif value is not None and not np.array_equal(known, value, equal_nan=True):
                raise ValueError(
                    f"{run.label}, {run.dataset}: two runs of seed {run.seed} in one place."
                )
        errors = [run.error for run, _ in runs if run.error]
        lacking = None in values.values() and not errors
        return cls(
            values={seed: value for seed, value in values.items() if value is not None},
            n_runs=len(values),
            n_failed=len(errors),
            reason=errors[0] if errors else f"no {metric}" if lacking else "",
            oracle=any(run.oracle for run, _ in runs),
        )

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return float(np.mean(list(self.values.values())))

    @property
    def sd(self) -> float:
        """Standard deviation over the seeds; 0 for a single one."""
        values = list(self.values.values())
        return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0

    def paired(self, other: Group) -> tuple[list[float], list[float]]:
        """Return the values of both, for the seeds that both have."""
        seeds = sorted(self.values.keys() & other.values.keys())
        return [self.values[s] for s in seeds], [other.values[s] for s in seeds]


# -- groups of a table -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Axes:
    """The rows and columns of a table.

    Attributes
    ----------
    row_axis, column_axis : str
        What the rows and columns are: "model", "dataset", "part", a parameter or a setting.
    rows, columns : sequence of str
        Their titles.
    part : str
        The part shown where parts are not an axis.
    names : dict of str
        Titles of the models by their identity: see `model_names`.
    missing : dict of str
        Rows or columns that could not be measured, with the reason.
    parts : sequence of str
        All parts of the results.
    """

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
        """Find the rows and columns of a table of some results."""
        if rows == columns:
            raise ValueError(f"rows and columns are both {rows!r}.")
        names = model_names(results, (rows, columns))
        part = _default_part(results) if part is None else part
        found = cls(rows, columns, (), (), part, names, missing, results.parts)
        on_rows = _ordered(found._values(results, rows))
        on_columns = _ordered(found._values(results, columns))
        # What could not be measured at all is a data set or a model, and goes where these go.
        extra = [name for name in missing if name not in (*on_rows, *on_columns)]
        on_columns += extra if columns == "dataset" else []
        on_rows += extra if columns != "dataset" else []
        return replace(found, rows=on_rows, columns=on_columns)

    def _values(self, results: Results, axis: str) -> list[Any]:
        return [value for run in results.runs for value in self.positions(run, axis)]

    def positions(self, run: Run, axis: str) -> list[Any]:
        """Return where a run is on an axis: one value, or one for each of its parts."""
        if axis == "part":  # a run that failed would have had them all
            return list(self.parts if run.error else run.values)
        return [self.names[_identity(run)] if axis == "model" else run.lookup(axis)]

    def part_at(self, row: Any, column: Any) -> str:
        """Return the part of the runs that a cell of the table shows."""
        if self.row_axis == "part":
            return row
        return column if self.column_axis == "part" else self.part


def column_groups(results: Results, axes: Axes, column: str, metric: str) -> dict[str, Group]:
    """Return the groups of one column of a table, by row."""
    found: dict[str, list[tuple[Run, str]]] = {}
    for run in results.runs:
        for row in axes.positions(run, axes.row_axis):
            for place in axes.positions(run, axes.column_axis):
                if _shown(place) == column:
                    found.setdefault(_shown(row), []).append((run, axes.part_at(row, place)))
    for row, runs in found.items():
        _check_only_seeds_differ(runs, row, column, axes)
    return {row: Group.of_parts(runs, metric) for row, runs in found.items()}


def _check_only_seeds_differ(
    runs: Sequence[tuple[Run, str]], row: str, column: str, axes: Axes
) -> None:
    kinds = {_fixed_settings(run, axes) for run, _ in runs}
    if len(kinds) > 1:
        first, second = sorted(kinds)[:2]
        raise ValueError(
            f"The runs of row {row!r}, column {column!r} differ in more than their seeds: {first} "
            f"and {second}. Choose some with results.where(...), or make what differs the rows or "
            "the columns."
        )


def _fixed_settings(run: Run, axes: Axes) -> str:
    """Return what must not vary within a cell of the table, as text."""
    on_axes = {axes.row_axis, axes.column_axis}
    kept = {n: v for n, v in run.settings.items() if n not in on_axes}
    if run.rate is not None and "rate" not in on_axes:
        kept["rate"] = run.rate
    if "model" not in on_axes and "label" not in on_axes:
        kept["model"] = axes.names[_identity(run)]
    if "dataset" not in on_axes:
        kept["dataset"] = run.dataset
    return as_json(kept)


# -- titles of rows and columns --------------------------------------------------------------------


def model_names(results: Results, on_axes: Sequence[str] = ()) -> dict[str, str]:
    """Return a title for each model: its label, and parameters that vary under this label.

    >>> runs = [Run("a", "mggm", "MGGM", {"strength": s, "tol": 0}, 0) for s in (1, 2)]
    >>> sorted(model_names(Results(runs)).values())
    ['MGGM, strength=1', 'MGGM, strength=2']
    """
    found = {}
    for label in results.labels:
        runs = [run for run in results.runs if run.label == label]
        varying = [
            name
            for name in dict.fromkeys(n for run in runs for n in _parameters(run))
            if len({as_json(_parameters(run).get(name)) for run in runs}) > 1
            and name not in on_axes
        ]
        for run in runs:
            own = _parameters(run)
            parts = [f"{name}={_shown(own[name])}" for name in varying if name in own]
            found[_identity(run)] = ", ".join([label, *parts])
    return found


def _parameters(run: Run) -> dict[str, Any]:
    """Return the parameters and the settings of a run's model, by name."""
    return {**{n: run.settings[n] for n in _MODEL_SETTINGS if n in run.settings}, **run.params}


def _identity(run: Run) -> str:
    return as_json([run.label, _parameters(run)])


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else as_json(value)


def _ordered(values: list[Any]) -> list[str]:
    """Return each value once, as text: numbers by size, all else in order of appearance."""
    if values and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        values = sorted(values)
    return list(dict.fromkeys(_shown(value) for value in values))


def _default_part(results: Results) -> str:
    parts = results.parts
    return "" if "" in parts or not parts else "mean" if "mean" in parts else parts[0]


# -- lines of a plot -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """Mean and standard deviation of a metric along an axis.

    Attributes
    ----------
    x, mean, sd : ndarray of shape (points,)
        `x` is empty for a model without this parameter: it is drawn across the plot.
    oracle : bool
        Whether something was chosen with the labels.
    """

    x: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    oracle: bool = False


def lines_of(results: Results, x: str, metric: str, part: str | None = None) -> dict[str, Line]:
    """Return a line for each model, in order: a metric against a parameter or setting `x`."""
    axes = Axes.of(results, "model", x, part, {})
    columns = {place: column_groups(results, axes, place, metric) for place in axes.columns}
    scale = 100 if metric_info(metric).share else 1
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


def _failures(results: Results) -> str:
    failed = results.failures
    if not failed:
        return ""
    return f" {plural(len(failed), 'run')} failed; the first said: {failed[0].error}"


def _line(name: str, groups: Mapping[str, Group], x: str, scale: float) -> Line:
    if "none" in groups and len(groups) > 1:
        raise ValueError(
            f"Some runs of {name!r} have {x!r} and some have not: give these another label, or "
            "choose with results.where(...)."
        )
    return Line(
        x=np.array([] if "none" in groups else [float(place) for place in groups]),
        mean=scale * np.array([group.mean for group in groups.values()]),
        sd=scale * np.array([group.sd for group in groups.values()]),
        oracle=any(group.oracle for group in groups.values()),
    )
