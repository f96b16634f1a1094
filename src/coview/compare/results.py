"""What came out of a comparison: one `Run` for each cell, and ways to read them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from coview.compare.plan import Cell, as_json

if TYPE_CHECKING:
    from coview.compare.result_files import Journal

COLUMNS = ("seconds", "iterations", "documents")  # measures that every task has


@dataclass(frozen=True)
class Run:
    """One finished cell.

    Attributes
    ----------
    dataset, model, label : str
        `model` is the short name, `label` what tables call it.
    params : dict
        Of the model, as given in the plan, with the number of topics where that was given.
    seed : int
    rate : float or None
        Share of labeled documents.
    values : dict of dict of float
        Measures by part ("" if there is only one) and metric.
    seconds : float or None
        Wall time of the fit.
    iterations, documents : int or None
    oracle : bool
        Whether something was chosen with the labels.
    settings : dict
        Task, what was done to the data, which views, how labels were drawn, ...
    versions : str
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
        """From a cell of the plan and its record in the journal."""
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
        """A measure, or None if it was not taken.

        >>> run = Run("mfeat", "link", "LinkPLSA", {}, 0, values={"": {"accuracy": 0.9}})
        >>> run.value("accuracy"), run.value("purity")
        (0.9, None)
        """
        if metric in COLUMNS:
            return None if self.error else getattr(self, metric)
        return self.values.get(part, {}).get(metric)


def _settings(cell: Cell) -> dict[str, Any]:
    """What else was set, where it is not the default: short, since it is in every row."""
    named = {
        "data": cell.data["name"] if cell.data["name"] != cell.data["label"] else "",
        "options": cell.data["options"],
        "keep": list(cell.data["views"]),
        "steps": list(cell.data["steps"]),
        "views": list(cell.entry["views"]),
        "concat": cell.entry["concat"],
    }
    # spaces and fold-ins are what the parts are called after
    own = {n: v for n, v in cell.settings.items() if v and n not in ("spaces", "fold_ins")}
    return {"task": cell.task, **own, **{n: v for n, v in named.items() if v}}


@dataclass(frozen=True)
class Results:
    """The runs of a comparison.

    Parameters
    ----------
    runs : sequence of Run
    metrics : sequence of str, default=()
        Those of the plan: what a CSV file holds and which table comes first. By default all.

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
        """Those of the cells that are finished, in the order of the plan."""
        found = [Run.of(cell, journal[cell.key]) for cell in cells if cell.key in journal]
        return cls(tuple(found), tuple(metrics))

    def __len__(self) -> int:
        return len(self.runs)

    def __add__(self, other: Results) -> Results:
        """The runs of both: tables of several plans, such as those of two label samplings."""
        metrics = dict.fromkeys([*self.metrics, *other.metrics])
        return Results((*self.runs, *other.runs), tuple(metrics))

    @property
    def labels(self) -> tuple[str, ...]:
        """The models, as tables call them, in order."""
        return tuple(dict.fromkeys(run.label for run in self.runs))

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.dataset for run in self.runs))

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part for run in self.runs for part in run.values))

    @property
    def failures(self) -> tuple[Run, ...]:
        """Runs that ended with an error."""
        return tuple(run for run in self.runs if run.error)

    def measured(self) -> tuple[str, ...]:
        """All metrics that some run has."""
        names = (name for run in self.runs for values in run.values.values() for name in values)
        return tuple(dict.fromkeys(names))

    def where(self, keep: Callable[[Run], bool] | None = None, **wanted: Any) -> Results:
        """Some of the runs: those with these attributes, or those that `keep` says.

        A list or tuple stands for any of its values. Names that are no attribute of a run are
        looked up in its parameters and settings.

        Examples
        --------
        >>> runs = [Run("a", "mggm", "MGGM", {"strength": s}, 0) for s in (1, 2)]
        >>> len(Results(runs).where(dataset="a", strength=2))
        1
        """

        def fits(run: Run) -> bool:
            return all(_is(_lookup(run, n), v) for n, v in wanted.items())

        kept = [run for run in self.runs if fits(run) and (keep is None or keep(run))]
        return replace(self, runs=tuple(kept))

    def scores(
        self, metric: str, *, part: str = "", by: Sequence[str] = ("dataset", "label")
    ) -> dict[tuple, list[float]]:
        """The values of a metric, seed by seed, for each combination of the attributes `by`."""
        found: dict[tuple, list[tuple[int, float]]] = {}
        for run in self.runs:
            value = run.value(metric, part)
            if value is not None:
                key = tuple(_hashable(_lookup(run, name)) for name in by)
                found.setdefault(key, []).append((run.seed, value))
        return {key: [value for _, value in sorted(pairs)] for key, pairs in found.items()}

    def table(self, metric: str | Sequence[str] | None = None, **options: Any) -> str:
        """Mean and standard deviation over the seeds, as text: see `coview.compare.tables`."""
        from coview.compare.tables import table

        return table(self, metric, **options)

    def best_of(
        self, labels: Sequence[str], label: str, *, metric: str = "accuracy", part: str = ""
    ) -> Results:
        """One more model: on each data set that of `labels` with the best mean, by the labels.

        This is how papers report a "best view". It is an oracle and marked as one.

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
        """Write tidy rows, one for each run and metric: see `coview.compare.result_files`."""
        from coview.compare.result_files import write_csv

        write_csv(self, path, metrics, times)

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str]) -> Results:
        """Read what `to_csv` wrote."""
        from coview.compare.result_files import read_csv

        return cls(read_csv(path))


def _lookup(run: Run, name: str) -> Any:
    if name in Run.__dataclass_fields__:
        return getattr(run, name)
    return run.params.get(name, run.settings.get(name))


def _is(value: Any, wanted: Any) -> bool:
    return value in wanted if isinstance(wanted, list | tuple | set) else value == wanted


def _hashable(value: Any) -> Any:
    return as_json(value) if isinstance(value, dict | list) else value
