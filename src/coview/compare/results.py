"""`Run`, the outcome of one cell, and `Results`, all runs of a comparison and ways to read them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from coview.compare.metric_info import RUN_METRICS
from coview.compare.plan import Cell, as_json

if TYPE_CHECKING:
    from coview.compare.file_formats import Journal


@dataclass(frozen=True)
class Run:
    """One finished cell.

    Attributes
    ----------
    dataset, model, label : str
        `model` is the short name of the model, `label` its name in tables.
    params : dict
        Parameters of the model as given in the plan, with the number of topics if that was given.
    seed : int
    rate : float or None
        Share of labeled documents.
    values : dict of dict of float
        Values by part ("" if there is only one) and metric.
    seconds : float or None
        Wall time of the fit.
    iterations, documents : int or None
    oracle : bool
        Whether something was chosen with the labels.
    settings : dict
        Task, preprocessing, views, sampling of labels and the like, where not the default.
    versions : str
        Versions of Python and of the packages that the values depend on.
    error : str
        Why there are no values; "" if there are.
    """

    dataset: str
    model: str
    label: str
    params: Mapping[str, Any]
    seed: int
    rate: float | None = None
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    seconds: float | None = None
    iterations: int | None = None
    documents: int | None = None
    oracle: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: str = ""
    error: str = ""

    @classmethod
    def of(cls, cell: Cell, record: Mapping[str, Any]) -> Run:
        """Make a run from a cell of the plan and its record in the journal."""
        entry, data = cell.entry, cell.data
        topics = {} if entry["n_components"] is None else {"n_components": entry["n_components"]}
        known = ("values", "seconds", "iterations", "documents", "versions", "error")
        return cls(
            dataset=data["label"],
            model=entry["name"],
            label=entry["label"],
            params={**topics, **entry["params"]},
            seed=cell.seed,
            rate=cell.rate,
            oracle=bool(entry["oracle"]),
            settings=_settings(cell),
            **{n: record[n] for n in known if record.get(n) is not None},
        )

    def value(self, metric: str, part: str = "") -> float | None:
        """Return the value of a metric, or None if it was not measured.

        >>> run = Run("mfeat", "link", "LinkPLSA", {}, 0, values={"": {"accuracy": 0.9}})
        >>> run.value("accuracy"), run.value("purity")
        (0.9, None)
        """
        if metric in RUN_METRICS:
            return None if self.error else getattr(self, metric)
        return self.values.get(part, {}).get(metric)

    def lookup(self, name: str) -> Any:
        """Return an attribute, else a parameter, else a setting of that name; None without any.

        >>> Run("mfeat", "mggm", "MGGM", {"strength": 2}, 0).lookup("strength")
        2
        """
        if name in Run.__dataclass_fields__:
            return getattr(self, name)
        return self.params.get(name, self.settings.get(name))


def _settings(cell: Cell) -> dict[str, Any]:
    """Return settings that are not the default: short, since every row of a CSV file has them."""
    named = {
        "data": cell.data["name"] if cell.data["name"] != cell.data["label"] else "",
        "options": cell.data["options"],
        "keep": list(cell.data["views"]),
        "steps": list(cell.data["steps"]),
        "views": list(cell.entry["views"]),
        "concat": cell.entry["concat"],
    }
    # Spaces and fold-ins are in the names of the parts already.
    own = {n: v for n, v in cell.settings.items() if v and n not in ("spaces", "fold_ins")}
    return {"task": cell.task, **own, **{n: v for n, v in named.items() if v}}


@dataclass(frozen=True)
class Results:
    """The runs of a comparison.

    Parameters
    ----------
    runs : sequence of Run
    metrics : sequence of str, default=()
        Metrics of the plan: those that a CSV file holds; the first is that of the default table.

    Examples
    --------
    >>> runs = [Run("a", "link", "LinkPLSA", {}, s, values={"": {"accuracy": 0.5 + s / 10}})
    ...         for s in (0, 1)]
    >>> print(Results(runs).table("accuracy", format="text").splitlines()[0].split())
    ['model', 'a']
    >>> Results(runs).scores("accuracy")
    {('a', 'LinkPLSA'): [0.5, 0.6]}
    """

    runs: Sequence[Run]
    metrics: Sequence[str] = ()

    @classmethod
    def of(cls, cells: Iterable[Cell], journal: Journal, metrics: Sequence[str] = ()) -> Results:
        """Collect the finished ones of some cells, in the order of the plan."""
        found = [Run.of(cell, journal[cell.key]) for cell in cells if cell.key in journal]
        return cls(tuple(found), tuple(metrics))

    def __len__(self) -> int:
        return len(self.runs)

    def __add__(self, other: Results) -> Results:
        """Return the runs of both, for tables of several plans."""
        metrics = dict.fromkeys([*self.metrics, *other.metrics])
        return Results((*self.runs, *other.runs), tuple(metrics))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the models, in order."""
        return tuple(dict.fromkeys(run.label for run in self.runs))

    @property
    def datasets(self) -> tuple[str, ...]:
        """Labels of the data sets, in order."""
        return tuple(dict.fromkeys(run.dataset for run in self.runs))

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts of the values, such as the directions of a search, in order."""
        return tuple(dict.fromkeys(part for run in self.runs for part in run.values))

    @property
    def failures(self) -> tuple[Run, ...]:
        """Runs that ended with an error."""
        return tuple(run for run in self.runs if run.error)

    def measured(self) -> tuple[str, ...]:
        """Return all metrics that some run has."""
        names = (name for run in self.runs for values in run.values.values() for name in values)
        return tuple(dict.fromkeys(names))

    def where(self, keep: Callable[[Run], bool] | None = None, **wanted: Any) -> Results:
        """Select runs by their attributes, parameters or settings, or by a function.

        A list or tuple stands for any of its values. Names are looked up as in `Run.lookup`.

        Examples
        --------
        >>> runs = [Run("a", "mggm", "MGGM", {"strength": s}, 0) for s in (1, 2)]
        >>> len(Results(runs).where(dataset="a", strength=2))
        1
        """

        def fits(run: Run) -> bool:
            return all(_is(run.lookup(n), v) for n, v in wanted.items())

        kept = [run for run in self.runs if fits(run) and (keep is None or keep(run))]
        return replace(self, runs=tuple(kept))

    def scores(
        self, metric: str, *, part: str = "", by: Sequence[str] = ("dataset", "label")
    ) -> dict[tuple, list[float]]:
        """Return the values of a metric, seed by seed, for each combination of the names `by`."""
        found: dict[tuple, list[tuple[int, float]]] = {}
        for run in self.runs:
            value = run.value(metric, part)
            if value is not None:
                key = tuple(_hashable(run.lookup(name)) for name in by)
                found.setdefault(key, []).append((run.seed, value))
        return {key: [value for _, value in sorted(pairs)] for key, pairs in found.items()}

    def table(self, metric: str | Sequence[str] | None = None, **options: Any) -> str:
        """Return a table of means and standard deviations over the seeds, as text.

        Options are those of `coview.compare.result_table.table`.
        """
        from coview.compare.result_table import table

        return table(self, metric, **options)

    def best_of(
        self, labels: Sequence[str], label: str, *, metric: str = "accuracy", part: str = ""
    ) -> Results:
        """Add a model: on each data set the one of `labels` with the best mean.

        This is how papers report a "best view". It is chosen with the labels and marked as an
        oracle.

        Examples
        --------
        >>> runs = [Run("a", "plsa", view, {}, 0, values={"": {"accuracy": value}})
        ...         for view, value in (("en", 0.4), ("fr", 0.6))]
        >>> best = Results(runs).best_of(["en", "fr"], "best view").runs[-1]
        >>> best.label, best.value("accuracy"), best.oracle
        ('best view', 0.6, True)
        """
        chosen: list[Run] = []
        for dataset in self.datasets:
            own = self.where(dataset=dataset, label=list(labels))
            scores = own.scores(metric, part=part, by=("label",))
            if scores:
                (best,) = max(scores, key=lambda key: sum(scores[key]) / len(scores[key]))
                chosen += [
                    replace(run, label=label, oracle=True) for run in own.runs if run.label == best
                ]
        return replace(self, runs=(*self.runs, *chosen))

    def to_csv(
        self,
        path: str | os.PathLike[str],
        *,
        metrics: Sequence[str] | None = None,
        times: bool = True,
    ) -> None:
        """Write a CSV file with one row for each run and metric.

        See `coview.compare.file_formats` for the columns; `times=False` leaves out the seconds.
        """
        from coview.compare.file_formats import write_csv

        write_csv(self, path, metrics, times)

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str]) -> Results:
        """Read results that `to_csv` wrote."""
        from coview.compare.file_formats import read_csv

        return cls(read_csv(path))


def _is(value: Any, wanted: Any) -> bool:
    return value in wanted if isinstance(wanted, list | tuple | set) else value == wanted


def _hashable(value: Any) -> Any:
    return as_json(value) if isinstance(value, dict | list) else value
