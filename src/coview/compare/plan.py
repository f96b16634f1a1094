"""`Plan`: which models are compared on which data sets, with which task and seeds.

A plan is plain data and expands into cells, one for each fit. Nothing here needs numpy: a plan is
read, checked and expanded before anything is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from itertools import product
from typing import Any

from coview.compare.metric_info import check_task_metrics, current_name
from coview.params import check_choice, check_inner_share, check_int
from coview.wording import quoted, suggestion

TASKS = ("cluster", "classify", "retrieve")
SAMPLINGS = ("uniform", "stratified")
SPLITS = ("publisher", "random")
SPACES = ("topic", "semantic")
FOLD_INS = ("separate", "joint")
SIMILARITIES = ("correlation", "cosine", "hellinger", "jensen-shannon")
STEPS = ("l1", "l2", "max", "tfidf", "binary", "sqrt")  # see cell_inputs.Preprocessing
TRAINING_MIXTURES = ("folded", "fitted")


@dataclass(frozen=True)
class Data:
    """A data set of a comparison.

    Parameters
    ----------
    name : str
        A name of `coview.datasets.DATASETS`; "digits", "python-api" or "make_views"; the path of a
        views folder, a folder of images, a table or an .h5mu file; or a name given to
        `run(..., data={...})`.
    label : str, default=""
        Name in tables; by default `name`.
    options : dict, default={}
        Parameters of its loader, such as ``{"views": ["en", "fr"]}``; for a table those of
        `Views.from_table`, such as ``{"text": ["en", "de"], "label": "topic"}``.
    views : sequence of str, default=()
        Keep only these views.
    steps : sequence of str, default=()
        Preprocessing of each matrix, in this order: "l1" and "l2" (rows of unit length), "max"
        (divided by the largest value), "tfidf", "binary", "sqrt". What they need is learned from
        the training documents.

    Examples
    --------
    >>> Data("reuters1200", label="Reuters", views=["en", "fr"], steps=["l1"]).label
    'Reuters'
    """

    name: str
    label: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    views: Sequence[str] = ()
    steps: Sequence[str] = ()

    def __post_init__(self) -> None:
        _check_lists(self, "views", "steps")
        _check_tables(self, "options")
        _check_choices("steps", self.steps, STEPS)
        _set(self, label=self.label or self.name, options=_plain(self.options, "options"))
        _set(self, views=tuple(self.views), steps=tuple(self.steps))


@dataclass(frozen=True)
class Entry:
    """A model of a comparison, with its parameters.

    Parameters
    ----------
    name : str
        A short name of a model (`coview.models.MODEL_NAMES`) or of a baseline
        (`coview.baselines.BASELINES`), or one given to `run(..., models={...})`.
    label : str, default=""
        Name in tables; by default `name`. Entries that share a label are one model with different
        parameters.
    params : dict, default={}
        Parameters of the model.
    grid : dict of list, default={}
        Parameters with several values: every combination is run.
    n_components : int or None, default=None
        Number of topics; by default that of the plan, or the number of classes.
    views : sequence of str, default=()
        Views that the model gets; by default all.
    concat : bool, default=False
        Whether to put the views side by side first.
    oracle : bool, default=False
        Whether something is chosen with the labels: tables mark it. The "-best" baselines then
        choose their view by the labels.
    datasets : sequence of str, default=()
        Labels of the data sets to run it on; by default all.

    Examples
    --------
    >>> Entry("kmeans-best").oracle, Entry("kmeans-best", oracle=True).oracle  # chosen by labels?
    (False, True)
    >>> len(list(Entry("mggm", grid={"n_components": [5, 10], "strength": [1, 2]}).expanded()))
    4
    """

    name: str
    label: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    n_components: int | None = None
    views: Sequence[str] = ()
    concat: bool = False
    oracle: bool = False
    datasets: Sequence[str] = ()

    def __post_init__(self) -> None:
        _check_lists(self, "views", "datasets")
        _check_tables(self, "params", "grid")
        for name, values in self.grid.items():
            if isinstance(values, str) or not isinstance(values, Iterable) or not list(values):
                raise ValueError(
                    f"grid of the model {quoted(self.name)}: {name} must be a list of values, such "
                    f"as [1, 2]; got {values!r}."
                )
        if self.n_components is not None:
            check_int("n_components", self.n_components, 1)
        grid = {n: list(v) for n, v in _plain(self.grid, "grid").items()}
        _set(self, label=self.label or self.name, params=_plain(self.params, "params"), grid=grid)
        _set(self, views=tuple(self.views), datasets=tuple(self.datasets))
        _set(self, oracle=bool(self.oracle or self.params.get("oracle", False)))

    def expanded(self) -> Iterator[Entry]:
        """Yield one entry for each combination of the grid.

        >>> [e.params for e in Entry("mggm", grid={"strength": [1, 2]}).expanded()]
        [{'strength': 1}, {'strength': 2}]
        """
        for values in product(*self.grid.values()):
            params = {**self.params, **dict(zip(self.grid, values, strict=True))}
            yield replace(self, params=params, grid={})


@dataclass(frozen=True)
class Cell:
    """One fit: a data set, a model, a seed and, for the task "classify", the share of labels.

    Everything is plain data, and the outcome depends on nothing else.
    """

    task: str
    data: Mapping[str, Any]
    entry: Mapping[str, Any]
    seed: int
    rate: float | None
    settings: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Hash of everything that the outcome depends on; names for tables are left out."""
        parts = asdict(self)
        parts["data"] = {n: v for n, v in self.data.items() if n != "label"}
        parts["entry"] = {n: v for n, v in self.entry.items() if n not in ("label", "oracle")}
        parts["entry"]["chosen_by_labels"] = self.entry["oracle"]
        return sha256(as_json(parts).encode()).hexdigest()[:20]

    def as_dict(self) -> dict[str, Any]:
        """Return the cell as plain data, for a worker process or a journal."""
        return asdict(self)


@dataclass(frozen=True)
class Plan:
    """A comparison: every model on every data set, with every seed.

    Parameters
    ----------
    datasets : sequence of str, dict or Data
    models : sequence of str, dict or Entry
    task : {"cluster", "classify", "retrieve"}, default="cluster"
        "cluster" fits all documents and compares clusters with classes; "classify" gives the
        classes of some documents and predicts those of the others; "retrieve" searches the test
        documents of one view with those of another.
    seeds : int or sequence of int, default=(0, 1, 2, 3, 4)
        One run for each; a number n stands for 0, ..., n - 1. The same seed gives every model the
        same labels and the same split, so runs are paired.
    metrics : sequence of str, default=()
        Metrics of tables and CSV files; by default all. All are measured in any case.
    n_components : int or None, default=None
        Number of topics; by default the number of classes.
    label_rates : sequence of float, default=()
        "classify": shares of the documents whose class is given.
    label_sampling : {"uniform", "stratified"}, default="uniform"
        "classify": how these documents are drawn, at least one of each class; see `draw_labeled`.
    split : {"publisher", "random"}, default="random"
        "retrieve": which documents are for testing.
    test_share : float, default=0.25
        "retrieve": share of test documents in a random split.
    pairs : sequence of (str, str), default=()
        "retrieve": views to search with and in; by default all pairs of different views.
    similarity : {"correlation", "cosine", "hellinger", "jensen-shannon"}, default="correlation"
        "retrieve": see `coview.metrics.similarity`; means are those of the training documents.
    spaces : sequence of {"topic", "semantic"}, default=("topic",)
        "retrieve": compare topic mixtures, or class probabilities that a logistic regression
        predicts from them.
    fold_ins : sequence of {"separate", "joint"}, default=("separate",)
        "retrieve": "separate" folds in each view of a test document on its own. "joint" lets its
        views share their mixture, which leaks the answer to the query: for demonstration only.
    training_mixtures : {"folded", "fitted"}, default="folded"
        "retrieve": what means and regressions are learned from: training documents folded in like
        new ones, view by view, or the mixtures of the fit.
    warm_up : bool, default=False
        Fit a few documents first, so that compilation is not part of the measured time.

    Examples
    --------
    >>> plan = Plan(["mfeat"], ["link", {"name": "mggm", "grid": {"strength": [1, 2]}}], seeds=[0])
    >>> [cell.entry["params"] for cell in plan.cells()]
    [{}, {'strength': 1}, {'strength': 2}]
    """

    datasets: Sequence[Any]
    models: Sequence[Any]
    task: str = "cluster"
    seeds: Any = (0, 1, 2, 3, 4)
    metrics: Sequence[str] = ()
    n_components: int | None = None
    label_rates: Sequence[float] = ()
    label_sampling: str = "uniform"
    split: str = "random"
    test_share: float = 0.25
    pairs: Sequence[Sequence[str]] = ()
    similarity: str = "correlation"
    spaces: Sequence[str] = ("topic",)
    fold_ins: Sequence[str] = ("separate",)
    training_mixtures: str = "folded"
    warm_up: bool = False

    def __post_init__(self) -> None:
        _check_lists(self, "datasets", "models", "metrics", "label_rates", "pairs", "spaces")
        _check_lists(self, "fold_ins", *([] if isinstance(self.seeds, int) else ["seeds"]))
        check_choice("task", self.task, TASKS)
        check_choice("label_sampling", self.label_sampling, SAMPLINGS)
        check_choice("split", self.split, SPLITS)
        check_choice("similarity", self.similarity, SIMILARITIES)
        _check_choices("spaces", self.spaces, SPACES)
        _check_choices("fold_ins", self.fold_ins, FOLD_INS)
        check_choice("training_mixtures", self.training_mixtures, TRAINING_MIXTURES)
        _set(self, datasets=tuple(_as(Data, d, "data set") for d in self.datasets))
        _set(self, models=tuple(_as(Entry, m, "model") for m in self.models))
        seeds = range(self.seeds) if isinstance(self.seeds, int) else self.seeds
        _set(self, seeds=tuple(check_int("seeds", _whole(s), 0) for s in seeds))
        if self.n_components is not None:
            check_int("n_components", self.n_components, 1)
        _set(self, metrics=tuple(map(current_name, self.metrics)))
        _set(self, label_rates=tuple(check_inner_share("label_rates", r) for r in self.label_rates))
        _set(self, test_share=check_inner_share("test_share", self.test_share))
        _set(self, pairs=tuple(tuple(pair) for pair in self.pairs))
        _set(self, spaces=tuple(self.spaces), fold_ins=tuple(self.fold_ins))
        self._check()

    def _check(self) -> None:
        for what in ("datasets", "models", "seeds"):
            if not getattr(self, what):
                raise ValueError(f"The plan has no {what}: give at least one.")
        if (self.task == "classify") != bool(self.label_rates):
            raise ValueError(
                "label_rates are the shares of labeled documents of the task 'classify': give "
                f"them there and only there. Found the task {self.task!r}, label_rates "
                f"{list(self.label_rates)}."
            )
        check_task_metrics(self.metrics, self.task)
        labels = [d.label for d in self.datasets]
        if len(set(labels)) < len(labels):
            raise ValueError(f"Two data sets have the same label: {', '.join(labels)}.")
        unknown = {d for m in self.models for d in m.datasets} - set(labels)
        if unknown:
            raise ValueError(
                f"A model names the data sets {', '.join(sorted(unknown))}; the plan has "
                f"{', '.join(labels)}."
            )

    def settings(self) -> dict[str, Any]:
        """Return what else a cell depends on; each task has its own settings."""
        names = {
            "cluster": (),
            "classify": ("label_sampling",),
            "retrieve": (
                *("split", "test_share", "pairs", "similarity", "spaces", "fold_ins"),
                "training_mixtures",
            ),
        }[self.task]
        found = {name: getattr(self, name) for name in (*names, "warm_up")}
        return {n: _plain(v, n) for n, v in found.items() if n != "warm_up" or v}

    def cells(self) -> list[Cell]:
        """Return all cells, seed by seed: an interrupted comparison has some of everything."""
        found = [
            Cell(self.task, asdict(data), self._entry(entry), seed, rate, self.settings())
            for seed in self.seeds
            for data in self.datasets
            for model in self.models
            if not model.datasets or data.label in model.datasets
            for entry in model.expanded()
            for rate in (self.label_rates or (None,))
        ]
        return list({(cell.key, cell.entry["label"]): cell for cell in found}.values())

    def _entry(self, entry: Entry) -> dict[str, Any]:
        topics = self.n_components if entry.n_components is None else entry.n_components
        kept = asdict(replace(entry, n_components=topics))
        return {n: v for n, v in kept.items() if n not in ("grid", "datasets")}


def as_json(value: Any) -> str:
    """Return the same text for the same value: keys sorted, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _whole(seed: Any) -> Any:
    """Return a whole float as an integer: a plan in a file may say 1.0."""
    return int(seed) if isinstance(seed, float) and seed.is_integer() else seed


def _set(owner: Any, **values: Any) -> None:
    """Assign to fields of a frozen dataclass."""
    for name, value in values.items():
        object.__setattr__(owner, name, value)


def _as(cls: Any, given: Any, what: str) -> Any:
    """Return a `Data` or `Entry` from itself, a name or a dict."""
    if isinstance(given, cls):
        return given
    if isinstance(given, str):
        return cls(given)
    if not isinstance(given, Mapping):
        raise TypeError(f"A {what} is a name, a dict or {cls.__name__}; got {given!r}.")
    known = list(cls.__dataclass_fields__)
    check_keys(given, known, f"A {what}")
    if "name" not in given:
        raise ValueError(f"A {what} has {', '.join(known)}; it lacks its name.")
    return cls(**given)


def check_keys(given: Iterable[str], known: Sequence[str], what: str) -> None:
    """Refuse keys that are not known, with the one that was likely meant."""
    for key in given:
        if key not in known:
            raise ValueError(
                f"{what} has no key {quoted(key)}.{suggestion(key, known)} It has "
                f"{', '.join(known)}."
            )


def _plain(value: Any, what: str) -> Any:
    """Return the value as JSON gives it back, so that what is hashed, written and sent agree."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{what} of a plan must be plain data (numbers, texts, lists, dicts): {error}."
        ) from error


def _check_lists(owner: Any, *names: str) -> None:
    """Refuse a text where a list is expected: its letters would be taken for the items."""
    for name in names:
        value = getattr(owner, name)
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            raise ValueError(f"{name} must be a list, such as [{value!r}]; got {value!r}.")


def _check_tables(owner: Any, *names: str) -> None:
    for name in names:
        value = getattr(owner, name)
        if not isinstance(value, Mapping):
            raise ValueError(f"{name} must be a table, such as {{a = 1}}; got {value!r}.")


def _check_choices(name: str, values: Sequence[str], choices: Sequence[str]) -> None:
    for value in values:
        check_choice(name, value, choices)
