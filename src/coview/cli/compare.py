"""`coview compare`: models against each other, on a plan or on a user's own data."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.fit import _stopping_politely
from coview.cli.output import note, print_json
from coview.cli.source import Source
from coview.cli.state import UsageError
from coview.names import ONE_VIEW

if TYPE_CHECKING:
    from coview.compare import Plan, Results
    from coview.data.views import Views

_WHAT = "What is compared"
_RUN = "The run"


class Task(StrEnum):
    cluster = "cluster"
    classify = "classify"
    retrieve = "retrieve"


class Form(StrEnum):
    text = "text"
    md = "md"
    latex = "latex"


DEFAULTS = {
    Task.cluster: "link,mvplsa,kmeans,spectral",
    Task.classify: "link,mvplsa,nb-ensemble,cotraining",
    Task.retrieve: "link,divergence,scm",
}


def compare(
    context: typer.Context,
    data: options.Data = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="CSV file for the results.", show_default=False, metavar="FILE"
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            help="Models and baselines, parted by commas; a choice for the task by default.",
            metavar="NAME,NAME",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    task: Annotated[
        Task, typer.Option(help="What the models are to do.", rich_help_panel=_WHAT)
    ] = Task.cluster,
    topics: Annotated[
        int | None,
        typer.Option(
            "--topics",
            "-k",
            min=1,
            help="Number of topics; that of the classes by default.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Runs of each model.", rich_help_panel=_WHAT)
    ] = 5,
    rates: Annotated[
        str,
        typer.Option(
            help="Shares of labelled documents, for --task classify.",
            metavar="SHARE,SHARE",
            rich_help_panel=_WHAT,
        ),
    ] = "0.01,0.05,0.1",
    metric: Annotated[
        list[str] | None,
        typer.Option(help="What the table shows. May be repeated.", rich_help_panel=_WHAT),
    ] = None,
    table: Annotated[
        Form, typer.Option(help="Form of the table.", rich_help_panel=_WHAT)
    ] = Form.text,
    view: options.Matrices = None,
    text: options.Text = None,
    tokens: options.Tokens = None,
    image: options.Image = None,
    id: options.Id = None,
    label: options.Label = None,
    ids: options.Ids = None,
    labels: options.Labels = None,
    links: options.Links = None,
    use: options.Use = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    language: options.Languages = None,
    stop_words: options.StopWords = True,
    min_df: options.MinDf = None,
    max_df: options.MaxDf = None,
    max_features: options.MaxFeatures = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Fits at a time; one a core by default.", rich_help_panel=_RUN),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from what is finished.", rich_help_panel=_RUN)
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Throw earlier results away.", rich_help_panel=_RUN)
    ] = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Compare models on your own data, or run a plan from a .toml file.

    Every model is fitted with every seed, several at a time. What is finished is kept beside the
    output (FILE.cells.jsonl): after Ctrl-C the same command with --resume goes on, and with more
    --seeds it runs only what is new.

    The table has mean and standard deviation, the best in bold (a star in plain text) with those
    that a paired test cannot tell from it.

    Examples:

      coview compare news.csv --text en --text de --label topic --models link,mvplsa,kmeans -o r.csv

      coview compare data/mfeat --seeds 10 --jobs 4 -o r.csv --table md

      coview compare pages/ --task classify --rates 0.03,0.05 --models link,nb,cotraining

      coview compare experiment.toml -o r.csv --resume
    """
    plan, given = _plan(data, models, task, topics, seeds, rates, metric, context.params)
    results = _run(plan, given, output, jobs, resume, fresh, quiet)
    if len(results.failures) == len(results.runs):
        raise ValueError(f"Every run failed. The first said: {results.runs[0].error}")
    if output is not None:
        results.to_csv(output)
        note(f"{len(results)} runs written to {output}.")
    if json:
        print_json([vars(run) for run in results.runs])
    else:
        print("\n".join(_tables(results, plan, metric or [], table)), end="")


# -- the plan --------------------------------------------------------------------------------------


def _plan(data, models, task, topics, seeds, rates, metric, params) -> tuple[Plan, dict[str, Any]]:
    """The plan, and what its data sets stand for."""
    from coview.compare import Plan, read_plan

    if data is not None and data.suffix.lower() == ".toml":
        if models is not None:
            raise UsageError("A plan names its models itself: leave out --models.")
        return read_plan(data), {}
    views = Source.of(params).views()
    name = data.name if data is not None else "data"
    plan = Plan(
        [name],
        [_entry(model, views) for model in _names(models or DEFAULTS[task])],
        task=task.value,
        seeds=seeds,
        metrics=metric or (),
        n_components=topics,
        label_rates=_shares(rates) if task is Task.classify else (),
    )
    _check_data(views, task, topics)
    return plan, {name: views}


def _names(models: str) -> list[str]:
    from coview.baselines import BASELINES
    from coview.names import MODEL_NAMES

    names = [name.strip() for name in models.split(",") if name.strip()]
    unknown = [name for name in names if name not in MODEL_NAMES and name not in BASELINES]
    if unknown or not names:
        raise UsageError(
            f"--models does not know {', '.join(unknown) or 'any name'}. Models: "
            f"{', '.join(MODEL_NAMES)}. Baselines: {', '.join(BASELINES)}."
        )
    return names


def _entry(name: str, views: Views) -> Any:
    """A model of one view gets all of them side by side."""
    from coview.compare import Entry

    if name in ONE_VIEW and views.n_views > 1:
        return Entry(name, label=f"{name}, views side by side", concat=True)
    return Entry(name)


def _shares(rates: str) -> list[float]:
    try:
        return [float(rate) for rate in rates.split(",")]
    except ValueError as error:
        raise UsageError(f"--rates must be shares such as 0.01,0.05; got {rates!r}.") from error


def _check_data(views: Views, task: Task, topics: int | None) -> None:
    if views.labels is None and (topics is None or task is not Task.cluster):
        needed = "" if task is not Task.cluster else ", or the number of topics with --topics"
        raise UsageError(f"The data have no classes: give their column with --label{needed}.")


# -- the run ---------------------------------------------------------------------------------------


def _run(plan, given, output, jobs, resume, fresh, quiet) -> Results:
    from coview.compare import run
    from coview.compare.journal import read_records

    cells = _journal(output, resume, fresh)
    show = not quiet and sys.stderr.isatty()
    with _stopping_politely():
        try:
            return run(plan, cells, n_jobs=jobs, data=given, verbose=int(show))
        except KeyboardInterrupt:
            if cells is not None:
                done = len(read_records(cells))
                note(
                    f"Stopped; {done} of {len(plan.cells())} runs are finished and kept in "
                    f"{cells}. Go on with the same command and --resume."
                )
            raise


def _journal(output: Path | None, resume: bool, fresh: bool) -> Path | None:
    """Where finished cells are kept; None without an output."""
    if output is None:
        if resume or fresh:
            raise UsageError("--resume and --fresh need the output of the run: -o FILE.csv.")
        return None
    if output.suffix.lower() != ".csv":
        raise UsageError(f"Results are written as CSV: -o {output.stem}.csv.")
    cells = output.with_name(f"{output.name}.cells.jsonl")
    if fresh:
        cells.unlink(missing_ok=True)
    elif cells.exists() and not resume:
        raise UsageError(
            f"{cells} holds runs of an earlier comparison. Go on with --resume, or begin anew with "
            "--fresh."
        )
    return cells


# -- tables ----------------------------------------------------------------------------------------


def _tables(results: Results, plan: Plan, wanted: list[str], form: Form) -> list[str]:
    """One table for each metric; clusterings of several data sets stand side by side."""
    from coview.compare.measures import measure

    format = {"md": "markdown"}.get(form.value, form.value)
    metrics = wanted or list(plan.metrics) or _usual(results, plan)
    rows, columns = {
        "cluster": ("model", "dataset"),
        "classify": ("model", "rate"),
        "retrieve": ("part", "model"),
    }[plan.task]
    places: list[tuple[str, ...]] = (
        [results.datasets] if plan.task == "cluster" else [(d,) for d in results.datasets]
    )
    found = []
    for datasets in places:
        for name in metrics:
            title = f"{', '.join(datasets)}: {measure(name).title}"
            chosen = results.where(dataset=list(datasets))
            made = chosen.table(name, rows=rows, columns=columns, format=format)
            found.append(_titled(title, form) + made)
    return found


def _usual(results: Results, plan: Plan) -> list[str]:
    if plan.task == "retrieve":
        return ["map_standard"]
    if "accuracy" not in results.measured():
        return ["coherence", "seconds"]
    return ["accuracy", "nmi_max"] if plan.task == "cluster" else ["accuracy"]


def _titled(title: str, form: Form) -> str:
    return {Form.md: f"### {title}\n\n", Form.latex: f"% {title}\n"}.get(form, f"{title}\n\n")
