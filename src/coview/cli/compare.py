"""The command `coview compare`: models and baselines on a plan or on a user's own data."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard

import typer

from coview.cli import options
from coview.cli.compare_output import (
    TableFormat,
    check_plot,
    draw_plot,
    failures,
    heading,
    plot_axis,
    table_metrics,
    tables,
)
from coview.cli.fit import sigterm_as_interrupt
from coview.cli.inputs import ALL_DATA_OPTIONS, DataSource, data_options
from coview.cli.model import parse_parameters
from coview.cli.options import UsageError, refuse_options
from coview.cli.output import check_output, note, print_json
from coview.cli.topics import compare_topics, parse_numbers
from coview.models import MODEL_NAMES, ONE_VIEW
from coview.wording import plural, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coview.compare import Entry, Plan, Results
    from coview.views.container import Views

_WHAT = "Comparison"
_RUN = options.RUN_PANEL


Task = StrEnum("Task", ["cluster", "classify", "retrieve"])
Sampling = StrEnum("Sampling", ["uniform", "stratified"])

_DEFAULT_MODELS = {
    Task.cluster: ("link", "mvplsa", "kmeans", "spectral"),
    Task.classify: ("link", "mvplsa", "nb-ensemble", "cotraining"),
    Task.retrieve: ("link", "divergence", "scm"),
}
# options that may be combined with a plan file, which fixes everything else
_ALLOWED_WITH_PLAN = (
    *("data", "output", "metric", "table", "plot", "example_plan"),
    *("jobs", "resume", "fresh", "quiet", "json"),
)
_CLASSIFY_ONLY = ("rates", "sampling")


@data_options(*ALL_DATA_OPTIONS)
def compare(
    context: typer.Context,
    source: DataSource,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="CSV file to write the results to.",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A model, by its name in `coview fit`, or a baseline. Repeatable; the default "
            "depends on --task.",
            metavar="NAME",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[MODEL.]NAME=VALUE",
            help="A parameter, as in `coview fit`: max_iter=50 for all models that have it, "
            "link.n_init=5 for one. Repeatable.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    task: Annotated[
        Task, typer.Option(help="The task to compare the models on.", rich_help_panel=_WHAT)
    ] = Task.cluster,
    topics: Annotated[
        str | None,
        typer.Option(
            "--topics",
            "-k",
            metavar="NUMBER,NUMBER",
            help="Number of topics, or several: 5,10,20 or 5:20:5. Default: the number of classes.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            min=1, help="Number of runs per model, with seeds 0, 1, ...", rich_help_panel=_WHAT
        ),
    ] = 5,
    rates: Annotated[
        str,
        typer.Option(
            help="With --task classify: comma-separated fractions of labeled documents.",
            metavar="RATE,RATE",
            rich_help_panel=_WHAT,
        ),
    ] = "0.01,0.05,0.1",
    sampling: Annotated[
        Sampling,
        typer.Option(
            help="With --task classify: how to draw the labeled documents, at least one per class.",
            rich_help_panel=_WHAT,
        ),
    ] = Sampling.uniform,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric of the table and the CSV file, such as accuracy or nmi_max. Repeatable; "
            "the default depends on --task.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    table: Annotated[
        TableFormat, typer.Option(help="Format of the table.", rich_help_panel=_WHAT)
    ] = TableFormat.text,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Plot the first metric against the fraction of labels, or against the parameter "
            "that the plan varies (.png, .svg, .pdf).",
            metavar="FILE",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    example_plan: Annotated[
        bool,
        typer.Option(
            "--example-plan",
            help="Print a plan that runs, with all its keys explained (with -o: write it there), "
            "and do nothing else.",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Number of fits to run in parallel. Default: one per core.", rich_help_panel=_RUN
        ),
    ] = None,
    resume: options.Resume = False,
    fresh: options.Fresh = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Compare models on your own data, or run a plan from a .toml file.

    Every model is fitted with every seed, several fits in parallel. Finished runs are saved next to
    the output (FILE.cells.jsonl): after Ctrl-C, the same command with --resume continues; with a
    larger --seeds it runs only what is new. Models named "-best" choose a view without looking at
    the labels.

    The table shows means and standard deviations. Bold (a star in plain text) marks the best mean
    and those that a paired test cannot distinguish from it.

    Examples:

      coview compare news.csv --text en --text de --label topic --model link --model kmeans -o r.csv

      coview compare data/mfeat --seeds 10 --jobs 4 -o r.csv --table md

      coview compare news.csv --text en --text de -k 5,10,20

      coview compare pages/ --task classify --model link --model nb --set max_iter=50

      coview compare --example-plan -o experiment.toml

      coview compare experiment.toml -o r.csv --resume
    """
    if example_plan:
        _write_example(context, output)
        return
    _check_options(context, source.data, task)
    numbers = _parse_topics(topics, task)
    source.check_label_options()
    check_output(output, *source.files)
    check_output(plot, *source.files, output)
    metrics = metric or []
    views: dict[str, Views] = {}
    if plot is not None:
        varies = _is_plan(source.data) or task is Task.classify or len(numbers) > 1
        check_plot(plot, varies)
    if _is_plan(source.data):
        plan = _read_plan(source.data, metrics)
    else:
        entries = _parameters(_model_names(model or _DEFAULT_MODELS[task], task), parameter or [])
        plan, views = _make_plan(source, entries, task, numbers, seeds, rates, sampling, metrics)
    axis = None if plot is None else plot_axis(plan)
    results = _run(plan, views, output, jobs, resume, fresh, quiet)
    if len(results.failures) == len(results.runs):
        raise ValueError(f"Every run failed. The first error: {results.runs[0].error}")
    notes = failures(results)
    if output is not None:
        results.to_csv(output)
        notes.append(f"Wrote {plural(len(results), 'run')} to {output}.")
    if plot is not None and axis is not None:
        draw_plot(results, axis, table_metrics(results, plan, metrics)[0], plot)
        notes.append(f"Wrote the plot to {plot}.")
    for line in [] if quiet else notes:
        note(line)
    if json:
        print_json([vars(run) for run in results.runs])
    else:
        print("\n".join(tables(results, plan, metrics, table)), end="")
        if unlabeled := [v for v in views.values() if v.labels is None and len(numbers) > 1]:
            print("\n" + heading("Numbers of topics, without labels", table), end="")
            print(compare_topics(unlabeled[0], numbers, 0, quiet))


def _check_options(context: typer.Context, data: Path | None, task: Task) -> None:
    if _is_plan(data):
        others = [name for name in context.params if name not in _ALLOWED_WITH_PLAN]
        refuse_options(context, others, "A plan itself says what to compare")
    elif task is not Task.classify:
        why = f"Labels are drawn only in --task classify, not in {task.value}"
        refuse_options(context, _CLASSIFY_ONLY, why)


def _parse_topics(topics: str | None, task: Task) -> list[int]:
    """Return the numbers of topics to compare, none by default."""
    numbers = [] if topics is None else parse_numbers(topics)
    if len(numbers) > 1 and task is not Task.cluster:
        raise UsageError(f"--task {task.value} takes one number of topics; got {topics}.")
    return numbers


def _is_plan(data: Path | None) -> TypeGuard[Path]:
    return data is not None and data.suffix.lower() == ".toml"


# -- the plan --------------------------------------------------------------------------------------


def _read_plan(path: Path, metrics: Sequence[str]) -> Plan:
    from coview.compare import check_plan, read_plan
    from coview.compare.metric_info import check_task_metrics

    plan = read_plan(path)
    check_task_metrics(metrics, plan.task)
    check_plan(plan)
    return plan


def _write_example(context: typer.Context, output: Path | None) -> None:
    from coview.compare.example_plan import EXAMPLE_PLAN
    from coview.store import replacing

    others = [name for name in context.params if name not in ("output", "example_plan", "quiet")]
    refuse_options(context, others, "--example-plan does nothing else")
    if output is None:
        print(EXAMPLE_PLAN, end="")
        return
    if not _is_plan(output):
        raise UsageError(f"A plan is a .toml file: -o {output.stem}.toml.")
    if output.exists():
        raise UsageError(f"{output} is there already: write to another file.")
    check_output(output)
    with replacing(output) as beside:
        beside.write_text(EXAMPLE_PLAN, encoding="utf-8")
    note(f"Wrote {output}. Run it with: coview compare {output} -o results.csv")


def _make_plan(
    source: DataSource,
    models: Mapping[str, dict[str, Any]],
    task: Task,
    topics: Sequence[int],
    seeds: int,
    rates: str,
    sampling: Sampling,
    metrics: Sequence[str],
) -> tuple[Plan, dict[str, Views]]:
    """Return the plan that the options describe, and its data by name."""
    from coview.compare import Plan
    from coview.compare.metric_info import check_task_metrics

    check_task_metrics(metrics, task.value)
    views = source.views()
    name = source.data.name if source.data is not None else "data"
    plan = Plan(
        [name],
        [_entry(name, params, views, topics) for name, params in models.items()],
        task=task.value,
        seeds=seeds,
        metrics=metrics,
        n_components=topics[0] if len(topics) == 1 else None,
        label_rates=_parse_rates(rates) if task is Task.classify else (),
        label_sampling=sampling.value,
    )
    _check_labels(views, task, topics)
    return plan, {name: views}


def _model_names(names: Sequence[str], task: Task) -> Sequence[str]:
    """Check that the names of --model are known, different, and suit the task."""
    from coview.baselines import BASELINES
    from coview.compare.check import known_models, suited_models

    unknown = [name for name in names if name not in known_models()]
    if unknown:
        several = " Give --model once for each." if "," in unknown[0] else ""
        raise UsageError(
            f"--model {unknown[0]}: there is none of this name.{several}"
            f"{suggestion(unknown[0], known_models())} Models: "
            f"{', '.join(MODEL_NAMES)}. Baselines: {', '.join(BASELINES)}."
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"--model {twice[0]} is given twice.")
    suited = suited_models(task.value)
    unsuited = [name for name in names if name not in suited]
    if unsuited:
        raise UsageError(
            f"{', '.join(unsuited)} cannot be compared in --task {task.value}, which takes "
            f"{', '.join(suited)}."
        )
    return names


def _parameters(names: Sequence[str], given: list[str]) -> dict[str, dict[str, Any]]:
    """Return the parameters of each model: those of --set that are for it, or that it has."""
    from coview.compare.check import parameters_of

    found: dict[str, dict[str, Any]] = {name: {} for name in names}
    for key, value in parse_parameters(given).items():
        owner, dot, own = key.rpartition(".")
        if dot and owner not in found:
            raise UsageError(f"--set {key}: {owner} is not compared; --model {owner} adds it.")
        known = {name: parameters_of(name) for name in ([owner] if dot else names)}
        takers = [
            name
            for name, (there, others) in known.items()
            if own in there or (bool(dot) and others)  # what is passed on has to be named
        ]
        if not takers:
            every = sorted({parameter for there, _ in known.values() for parameter in there})
            raise UsageError(
                f"--set {key}: {', '.join(known)} {'has' if len(known) == 1 else 'have'} no such "
                f"parameter.{suggestion(own, every)} Known are {', '.join(every)}."
            )
        for name in takers:
            found[name][own] = value
    return found


def _entry(name: str, params: dict[str, Any], views: Views, topics: Sequence[int]) -> Entry:
    """Return the plan's entry of a model; models of one view get all views concatenated."""
    from coview.compare import Entry

    grid = {"n_components": topics} if len(topics) > 1 else {}
    if name in ONE_VIEW and views.n_views > 1:
        # the label is part of results and journals of earlier comparisons: do not reword it
        return Entry(
            name, label=f"{name}, views side by side", params=params, concat=True, grid=grid
        )
    return Entry(name, params=params, grid=grid)


def _parse_rates(rates: str) -> list[float]:
    try:
        return [float(rate) for rate in rates.split(",")]
    except ValueError as error:
        raise UsageError(f"--rates must be fractions such as 0.01,0.05; got {rates!r}.") from error


def _check_labels(views: Views, task: Task, topics: Sequence[int]) -> None:
    if views.labels is None and (not topics or task is not Task.cluster):
        needed = "" if task is not Task.cluster else ", or the number of topics with --topics"
        raise UsageError(f"The data have no class labels: give their column with --label{needed}.")


# -- the run ---------------------------------------------------------------------------------------


def _run(
    plan: Plan,
    views: Mapping[str, Views],
    output: Path | None,
    jobs: int | None,
    resume: bool,
    fresh: bool,
    quiet: bool,
) -> Results:
    from coview.compare import run
    from coview.compare.runner import finished_cells

    journal = _journal(output, resume, fresh, quiet)
    show = not quiet and sys.stderr.isatty()
    with sigterm_as_interrupt():
        try:
            return run(plan, journal, n_jobs=jobs, data=views, verbose=int(show))
        except KeyboardInterrupt:
            if journal is not None:
                done, wanted = finished_cells(plan, journal, views)
                note(
                    f"Stopped; {done} of {plural(wanted, 'run')} are finished and saved in "
                    f"{journal}. Continue with the same command and --resume."
                )
            raise


def _journal(output: Path | None, resume: bool, fresh: bool, quiet: bool) -> Path | None:
    """Return the file of finished runs, or None without an output."""
    if output is None:
        if resume or fresh:
            raise UsageError("--resume and --fresh need the output of the run: -o FILE.csv.")
        return None
    if output.suffix.lower() != ".csv":
        raise UsageError(f"Results are written as CSV: -o {output.stem}.csv.")
    journal = output.with_name(f"{output.name}.cells.jsonl")
    if fresh:
        journal.unlink(missing_ok=True)
    elif journal.exists() and not resume:
        raise UsageError(
            f"{journal} holds runs of an earlier comparison. Continue it with --resume, or discard "
            "it with --fresh."
        )
    elif resume and not journal.exists() and not quiet:
        note(f"There are no finished runs in {journal}: starting from the beginning.")
    return journal
