"""`Paper`, `Table`, `Column` and `Figure`: what the experiment of a paper runs and shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from coview.compare import Plan, Results
from coview.models import model_class

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Column:
    """A column of a table: its name in published.csv and the runs that belong to it.

    Parameters
    ----------
    name : str
        The `column` of published.csv.
    where : dict, default={}
        Attributes, parameters or settings of the runs: ``{"dataset": "Cornell", "rate": 0.01}``;
        "plan" is the name of the plan. See `coview.compare.Results.where`.
    metric : str, default="accuracy"
        Metric of the runs, and the `metric` of published.csv.
    part : str, default=""
        Which part of a search.
    title : str, default=""
        Heading of the column; by default its name.
    """

    name: str
    where: Mapping[str, Any] = field(default_factory=dict)
    metric: str = "accuracy"
    part: str = ""
    title: str = ""

    @property
    def shown_title(self) -> str:
        """The heading of the column."""
        return self.title or self.name


@dataclass(frozen=True)
class Table:
    """A table of the paper, or one of ours, with published and measured numbers.

    Parameters
    ----------
    name : str
        The `table` of published.csv.
    title : str
        Heading in the README.
    columns : sequence of Column
    variants : dict of dict, default={"measured": {}}
        Ways in which a row was measured, such as two samplings of labels; each is a line of its
        own. Values are like `Column.where`.
    also : sequence of str, default=()
        Labels of models that the paper does not have, in order. They follow the rows of
        published.csv, whose names are the labels of the models.
    only : sequence of str, default=()
        Published rows to show; by default all.
    model : str, default=""
        Row of the paper's own model: it is compared with its published numbers, and rows with a
        better mean are named below the table.
    n_published : int, default=1
        Number of runs behind a published mean, for its standard error.
    missing : dict of str, default={}
        Rows and columns that are not measured, with the reason.
    percent : bool, default=True
        Whether shares are in per cent, here and in published.csv.
    digits : int, default=2
        Digits after the decimal point.
    note : str, default=""
        Text below the table.
    """

    name: str
    title: str
    columns: Sequence[Column]
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"measured": {}})
    also: Sequence[str] = ()
    only: Sequence[str] = ()
    model: str = ""
    n_published: int = 1
    missing: Mapping[str, str] = field(default_factory=dict)
    percent: bool = True
    digits: int = 2
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure: its file, its caption, and a function `draw(results, path)` that makes it."""

    file: str
    caption: str
    draw: Callable[[Results, Path], None]


@dataclass(frozen=True)
class Paper:
    """The experiment of a paper.

    Parameters
    ----------
    title, reference : str
        Heading of the README, and what is reproduced.
    plans : function of quick -> dict of Plan
        Plans by name. `quick` asks for a version that takes seconds.
    tables : sequence of Table
    figures : sequence of Figure, default=()
    metrics : sequence of str, default=("accuracy",)
        Metrics that results.csv keeps.
    models : dict, default={}
        Models that coview does not have, as in `coview.compare.run`.
    data : dict, default={}
        Data sets that coview does not have, as in `coview.compare.run`.
    derive : function of Results -> Results, optional
        Adds rows made from others, such as the best view, before results.csv is written.
    """

    title: str
    reference: str
    plans: Callable[[bool], Mapping[str, Plan]]
    tables: Sequence[Table]
    figures: Sequence[Figure] = ()
    metrics: Sequence[str] = ("accuracy",)
    models: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    data: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    derive: Callable[[Results], Results] = lambda results: results


def published(name: str, **changes: Any) -> dict[str, Any]:
    """Return the parameters of a model, by its short name, as its paper has them.

    Those that are coview's defaults as well are left out. `changes` are what the paper leaves open,
    or has for one data set only.
    """
    cls = model_class(name)
    usual = cls().get_params(deep=False)
    found = cls.as_published().get_params(deep=False)
    return {n: value for n, value in found.items() if value != usual[n]} | changes


def folders() -> list[Path]:
    """Return the folders of the papers, in order."""
    return sorted(path.parent for path in HERE.glob("[0-9]*/spec.py"))


def folder_of(number: str) -> Path:
    """Return the folder of a paper from its number ("004") or its whole name."""
    found = [f for f in folders() if f.name == number or f.name.split("_")[0] == number]
    if not found:
        raise ValueError(
            f"There is no experiment {number!r}; there are {', '.join(f.name for f in folders())}."
        )
    return found[0]


def load_paper(folder: Path) -> Paper:
    """Return the experiment that a folder's `spec.py` describes."""
    return import_module(f"experiments.{folder.name}.spec").PAPER
