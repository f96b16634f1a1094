"""What an experiment is: plans to run, tables to fill, figures to draw, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from coview.compare import Plan, Results

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Column:
    """A column of a table: what it is called in published.csv and which runs are in it.

    Parameters
    ----------
    name : str
        The `column` of published.csv.
    where : dict, default={}
        Attributes, parameters or settings of the runs: ``{"dataset": "Cornell", "rate": 0.01}``;
        "plan" is the name of the plan. See `coview.compare.Results.where`.
    metric : str, default="accuracy"
        Of the harness, and the `metric` of published.csv.
    part : str, default=""
        Which part of a search.
    title : str, default=""
        What the table calls it; by default its name.
    """

    name: str
    where: Mapping[str, Any] = field(default_factory=dict)
    metric: str = "accuracy"
    part: str = ""
    title: str = ""


@dataclass(frozen=True)
class Table:
    """A table of the paper, or of ours, with published and measured numbers.

    Parameters
    ----------
    name : str
        The `table` of published.csv.
    title : str
        Heading in the README.
    columns : sequence of Column
    variants : dict of dict, default={"measured": {}}
        Ways in which the paper's line was measured, such as two samplings of labels; each is a
        line of its own. Values are like `Column.where`.
    also : sequence of str, default=()
        Labels of models that the paper does not have, in order. The rows of published.csv come
        first; their names are the labels of the models.
    only : sequence of str, default=()
        Of the published rows these alone; by default all.
    model : str, default=""
        The row of the paper's own model: it is compared with its published numbers, and rows with
        a better mean are named below the table.
    n_published : int, default=1
        Runs behind a published mean, for its standard error.
    missing : dict of str, default={}
        Rows and columns that are not measured, with the reason.
    percent : bool, default=True
        Whether shares are in per cent, here and in published.csv.
    digits : int, default=2
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
    """A picture beside the tables: `draw(results, path)` makes the file."""

    file: str
    caption: str
    draw: Callable[[Results, Path], None]


@dataclass(frozen=True)
class Paper:
    """An experiment.

    Parameters
    ----------
    title, reference : str
        Heading of the README, and what is reproduced.
    plans : function of quick -> dict of Plan
        By name. `quick` asks for a version of some seconds.
    tables : sequence of Table
    figures : sequence of Figure, default=()
    metrics : sequence of str, default=("accuracy",)
        What results.csv keeps.
    models : dict, default={}
        As in `coview.compare.runner`: makers of models that are none of coview's.
    data : dict, default={}
        As in `coview.compare.runner`: loaders of data sets that are none of coview's.
    derive : function of Results -> Results, optional
        Adds rows that are made of others, such as the best view, before results.csv is written.
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


def folders() -> list[Path]:
    """The folders of the papers, in order."""
    return sorted(path.parent for path in HERE.glob("[0-9]*/spec.py"))


def folder_of(number: str) -> Path:
    """The folder of a paper: "004", or the whole name of the folder."""
    found = [f for f in folders() if f.name == number or f.name.split("_")[0] == number]
    if not found:
        raise ValueError(
            f"There is no experiment {number!r}; there are {', '.join(f.name for f in folders())}."
        )
    return found[0]


def load_paper(folder: Path) -> Paper:
    """The experiment that a folder's `spec.py` describes."""
    return import_module(f"experiments.{folder.name}.spec").PAPER
