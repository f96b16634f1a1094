"""`coview compare`: models against each other, on a plan or on a user's own data.

What `coview compare --plot` draws: one measure along the one thing that varies.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.apply import check_label_options, inputs
from coview.cli.fit import sigterm_as_interrupt
from coview.cli.output import UsageError, note, print_json, refuse_options
from coview.cli.source import Source, check_not_input
from coview.models import ONE_VIEW

if TYPE_CHECKING:
    from coview.compare import Plan, Results
    from coview.views.container import Views


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


class Sampling(StrEnum):
    uniform = "uniform"
    stratified = "stratified"


# what a plan in a file leaves to the command
_BESIDE_A_PLAN = (
    *("data", "output", "metric", "table", "plot"),
    *("jobs", "resume", "fresh", "quiet", "json"),
)
_OF_CLASSIFY = ("rates", "sampling")

# baselines by what they need: labels, or not
_SUITED = {
    Task.cluster: ("clustering",),
    Task.classify: ("classification",),
    Task.retrieve: ("retrieval",),
}
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
            help="Shares of labeled documents, for --task classify.",
            metavar="SHARE,SHARE",
            rich_help_panel=_WHAT,
        ),
    ] = "0.01,0.05,0.1",
    sampling: Annotated[
        Sampling,
        typer.Option(
            help="How these are drawn, at least one of each class, for --task classify.",
            rich_help_panel=_WHAT,
        ),
    ] = Sampling.uniform,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="What the table and the CSV file show, such as accuracy or nmi_max. May be "
            "repeated.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    table: Annotated[
        Form, typer.Option(help="Form of the table.", rich_help_panel=_WHAT)
    ] = Form.text,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw the first metric against the share of labels, or against the parameter that "
            "the plan varies (.png, .svg, .pdf).",
            metavar="FILE",
            rich_help_panel=_WHAT,
        ),
    ] = None,
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
    --seeds it runs only what is new. "-best" models choose a view without looking at the labels.

    The table has mean and standard deviation, the best in bold (a star in plain text) with those
    that a paired test cannot tell from it.

    Examples:

      coview compare news.csv --text en --text de --label topic --models link,mvplsa,kmeans -o r.csv

      coview compare data/mfeat --seeds 10 --jobs 4 -o r.csv --table md

      coview compare pages/ --task classify --rates 0.03,0.05 --models link,nb,cotraining

      coview compare experiment.toml -o r.csv --resume
    """
    _check_options(context, data, task)
    source = Source.of(context.params)
    check_label_options(source)
    check_not_input(output, *inputs(source))
    check_not_input(plot, *inputs(source), output)
    plan, given = _plan(source, models, task, topics, seeds, rates, sampling, metric)
    axis = None if plot is None else plot_axis(plan, plot)
    results = _run(plan, given, output, jobs, resume, fresh, quiet)
    if len(results.failures) == len(results.runs):
        raise ValueError(f"Every run failed. The first said: {results.runs[0].error}")
    notes = _failures(results)
    if output is not None:
        results.to_csv(output)
        notes.append(f"{len(results)} run{'s' * (len(results) > 1)} written to {output}.")
    if plot is not None and axis is not None:
        draw(results, axis, _metrics(results, plan, metric or [])[0], plot)
        notes.append(f"Drawn in {plot}.")
    for line in [] if quiet else notes:
        note(line)
    if json:
        print_json([vars(run) for run in results.runs])
    else:
        print("\n".join(_tables(results, plan, metric or [], table)), end="")


def _check_options(context: typer.Context, data: Path | None, task: Task) -> None:
    if _is_plan(data):
        others = [name for name in context.params if name not in _BESIDE_A_PLAN]
        refuse_options(context, others, "A plan says itself what is compared")
    elif task is not Task.classify:
        why = f"Labels are given in --task classify, not in {task.value}"
        refuse_options(context, _OF_CLASSIFY, why)


def _is_plan(data: Path | None) -> bool:
    return data is not None and data.suffix.lower() == ".toml"


def _failures(results: Results) -> list[str]:
    """One line for each model that failed: tables have no room for a whole message."""
    first = {(run.dataset, run.label): run.error for run in reversed(results.failures)}
    return [f"{label} failed on {data}: {error}" for (data, label), error in first.items()]


# -- the plan --------------------------------------------------------------------------------------


def _plan(
    source, models, task, topics, seeds, rates, sampling, metric
) -> tuple[Plan, dict[str, Any]]:
    """The plan, and what its data sets stand for."""
    from coview.compare import Plan, read_plan
    from coview.compare.metric_info import check_task_metrics

    if _is_plan(source.data):
        plan = read_plan(source.data)
        check_task_metrics(metric or (), plan.task)
        return plan, {}
    check_task_metrics(metric or (), task.value)
    names = _names(models or DEFAULTS[task], task)
    views = source.views()
    name = source.data.name if source.data is not None else "data"
    plan = Plan(
        [name],
        [_entry(model, views) for model in names],
        task=task.value,
        seeds=seeds,
        metrics=metric or (),
        n_components=topics,
        label_rates=_shares(rates) if task is Task.classify else (),
        label_sampling=sampling.value,
    )
    _check_data(views, task, topics)
    return plan, {name: views}


def _names(models: str, task: Task) -> list[str]:
    """The models' names, which must be known and fit the task."""
    from coview.baselines import BASELINES
    from coview.models import MODEL_NAMES

    names = [name.strip() for name in models.split(",") if name.strip()]
    unknown = [name for name in names if name not in MODEL_NAMES and name not in BASELINES]
    if unknown or not names:
        raise UsageError(
            f"--models does not know {', '.join(unknown) or 'any name'}. Models: "
            f"{', '.join(MODEL_NAMES)}. Baselines: {', '.join(BASELINES)}."
        )
    suited = [*MODEL_NAMES, *(n for n, made in BASELINES.items() if made.task in _SUITED[task])]
    if task is Task.retrieve:  # views side by side cannot be searched with each other
        suited = [name for name in suited if name not in ONE_VIEW]
    unsuited = [name for name in names if name not in suited]
    if unsuited:
        raise UsageError(
            f"{', '.join(unsuited)} cannot be compared in --task {task.value}: it is for "
            f"{', '.join(suited)}."
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
    from coview.compare.runner import finished_cells

    cells = _journal(output, resume, fresh)
    show = not quiet and sys.stderr.isatty()
    with sigterm_as_interrupt():
        try:
            return run(plan, cells, n_jobs=jobs, data=given, verbose=int(show))
        except KeyboardInterrupt:
            if cells is not None:
                done, wanted = finished_cells(plan, cells, given)
                note(
                    f"Stopped; {done} of {wanted} runs are finished and kept in "
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
    from coview.compare.metric_info import metric_info

    format = {"md": "markdown"}.get(form.value, form.value)
    metrics = _metrics(results, plan, wanted)
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
            title = f"{', '.join(datasets)}: {metric_info(name).title}"
            chosen = results.where(dataset=list(datasets))
            made = chosen.table(name, rows=rows, columns=columns, format=format)
            found.append(_titled(title, form) + made)
    return found


def _metrics(results: Results, plan: Plan, wanted: list[str]) -> list[str]:
    return wanted or list(plan.metrics) or _usual(results, plan)


def _usual(results: Results, plan: Plan) -> list[str]:
    if plan.task == "retrieve":
        return ["map_standard"]
    if "accuracy" not in results.measured():
        return ["coherence", "seconds"]
    return ["accuracy", "nmi_max"] if plan.task == "cluster" else ["accuracy"]


def _titled(title: str, form: Form) -> str:
    return {Form.md: f"### {title}\n\n", Form.latex: f"% {title}\n"}.get(form, f"{title}\n\n")


# -- compare plot ----------------------------------------------------------------------------------


SUFFIXES = (".png", ".svg", ".pdf")


def plot_axis(plan: Plan, path: Path) -> str:
    """The share of labels, or the parameter that the models of the plan vary; before the run."""
    from coview.extras import need

    need("matplotlib", "plot")
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--plot writes {', '.join(SUFFIXES)} files; got {path.name}.")
    if len(plan.datasets) > 1:
        raise UsageError("--plot draws one data set, and the plan has several.")
    axes = ["rate"] if plan.task == "classify" else varied(plan)
    if len(axes) != 1:
        found = f"it varies {', '.join(axes)}" if axes else "here nothing varies"
        raise UsageError(
            "--plot draws a measure along the shares of labels (--task classify) or along the one "
            f"parameter that a plan varies; {found}."
        )
    return axes[0]


def varied(plan: Plan) -> list[str]:
    """Parameters with several values in the grid of some model."""
    found = [name for entry in plan.models for name, v in entry.grid.items() if len(v) > 1]
    return list(dict.fromkeys(found))


def draw(results: Results, axis: str, metric: str, path: Path) -> None:
    """Draw and save."""
    import matplotlib

    matplotlib.use("Agg")  # a command has no window
    from coview.plot import LabelShareDisplay, SensitivityDisplay

    if axis == "rate":
        LabelShareDisplay.from_results(results, metric=metric).save(path)
    else:
        SensitivityDisplay.from_results(results, x=axis, metric=metric).save(path)
