"""`coview fit`: from raw data to a model in a file."""

from __future__ import annotations

import signal
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.output import UsageError, note, print_json, refuse_options
from coview.cli.source import Source, check_not_input, document_names, named
from coview.models import MODEL_NAMES, ONE_VIEW, model_class, topic_model

if TYPE_CHECKING:
    from coview.views.container import Views

ModelName = StrEnum("ModelName", {name: name for name in MODEL_NAMES})  # type: ignore[misc]

_MODEL = "The model"
_RUN = "The run"


def fit(
    context: typer.Context,
    data: options.Data = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write the model to.")
    ] = Path("model.coview"),
    model: Annotated[
        ModelName, typer.Option(help="Which model to fit.", rich_help_panel=_MODEL)
    ] = ModelName.link,  # type: ignore[attr-defined]
    topics: Annotated[
        int, typer.Option("--topics", "-k", min=1, help="Number of topics.", rich_help_panel=_MODEL)
    ] = 20,
    feature_topics: Annotated[
        int | None,
        typer.Option(
            min=1, help="Feature topics of each view (dual, mvplsa, mggm).", rich_help_panel=_MODEL
        ),
    ] = None,
    strength: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Weight of the penalty (ltm, pairwise, divergence, mggm).",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    graph: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Edge list of a graph of the documents (ltm, mggm): FILE or NAME=FILE.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    classify: Annotated[
        bool,
        typer.Option(
            "--classify",
            help="Learn the classes of --label: the topics are the classes, "
            "documents without a label are placed.",
            rich_help_panel=_MODEL,
        ),
    ] = False,
    concat: Annotated[
        bool,
        typer.Option(
            "--concat",
            help="Put all views side by side (for plsa, dual, ltm).",
            rich_help_panel=_MODEL,
        ),
    ] = False,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other parameter of the model, NAME=VALUE, such as divergence=l1 or n_init=5.",
            rich_help_panel=_MODEL,
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
    seed: Annotated[
        int, typer.Option(min=0, help="Same seed, same bits.", rich_help_panel=_RUN)
    ] = 0,
    max_iter: Annotated[
        int | None, typer.Option(min=1, help="Most iterations.", rich_help_panel=_RUN)
    ] = None,
    tol: Annotated[
        float | None,
        typer.Option(min=0.0, help="Relative change at which to stop.", rich_help_panel=_RUN),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Threads; all cores by default.", rich_help_panel=_RUN)
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Where to keep the state; OUTPUT.checkpoint by default.", rich_help_panel=_RUN
        ),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Keep the state every so many iterations, not every 30 seconds.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the state.", rich_help_panel=_RUN)
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Throw an old state away.", rich_help_panel=_RUN)
    ] = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Fit a model to raw data and save it.

    Texts become counts of words, pictures counts of visual words; an empty cell is a view that the
    document lacks. What was learned, vocabularies included, is in the one file that is written.

    Ctrl-C keeps the last complete state beside the output; --resume goes on from it to the same
    bits as an undisturbed run.

    Examples:

      coview fit news.csv --text en --text de --id id --topics 20 -o news.coview

      coview fit photos/ --model divergence --topics 30 -o photos.coview

      coview fit cells.h5mu --model mvplsa --topics 15 -o cells.coview

      coview fit papers.csv --text abstract --id id --model mggm --graph cites.csv -o papers.coview

      coview fit --view words=w.mtx --view links=l.npz --topics 10 -o pages.coview
    """
    given = {
        "n_feature_topics": feature_topics,
        "strength": strength,
        "max_iter": max_iter,
        "tol": tol,
        "n_jobs": jobs,
        "random_state": seed,
        **_parameters(parameter or []),
    }
    _check_output(output)
    check_not_input(output, data, ids, labels, links)
    if classify:
        refuse_options(context, ["topics"], "With --classify the topics are the classes")
    views = Source.of(context.params).views()
    views = views.concat() if concat else views
    _check_views(model.value, views)
    made = _make(model.value, topics, {k: v for k, v in given.items() if v is not None})
    _add_graphs(made, named_files(graph or []), views)
    made.set_params(verbose=int(not quiet and sys.stderr.isatty()))
    if not quiet:
        note(_described(views))
    fitted = _run(made, views, classify, output, checkpoint, every, resume, fresh)
    _report(fitted, output, quiet, json)


def _check_output(output: Path) -> None:
    """Before hours of work, not after."""
    if output.is_dir():
        raise UsageError(f"{output} is a folder: give the name of a file, -o {output}/news.coview.")
    if not output.parent.is_dir():
        raise UsageError(f"There is no folder {output.parent} to write {output.name} to.")


def _check_views(name: str, views: Views) -> None:
    if name in ONE_VIEW and views.n_views > 1:
        raise UsageError(
            f"The model {name} is for one view; the data have {', '.join(views.names)}. Choose one "
            "with --use VIEW, put them side by side with --concat, or take another --model."
        )


def _parameters(pairs: list[str]) -> dict[str, Any]:
    """NAME=VALUE pairs; values are read as JSON where they are JSON, and as text otherwise."""
    import json

    found: dict[str, Any] = {}
    for name, value in named(pairs, "--set").items():
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _make(name: str, n_topics: int, params: dict[str, Any]) -> Any:
    cls = model_class(name)
    known = cls().get_params()
    unknown = [p for p in params if p not in known]
    if unknown:
        raise UsageError(
            f"The model {name} has no parameter {', '.join(unknown)}. It has "
            f"{', '.join(sorted(known))}."
        )
    return cls(n_topics, **params)


def named_files(pairs: list[str]) -> dict[str, Path]:
    """FILE or NAME=FILE; a file without a name is called like it."""
    found = named(pairs, "--graph")
    return {Path(n).stem if n == path else n: Path(path) for n, path in found.items()}


def _add_graphs(model: Any, files: dict[str, Path], views: Views) -> None:
    if not files:
        return
    from coview.graphs.adjacency import edge_graph

    graphs = {name: edge_graph(path, document_names(views)) for name, path in files.items()}
    known = model.get_params()
    if "graphs" in known:
        model.set_params(graphs=graphs)
    elif "graph" in known and len(graphs) == 1:
        model.set_params(graph=next(iter(graphs.values())))
    else:
        raise UsageError("--graph is for the models mggm (any number) and ltm (one).")


def _described(views: Views) -> str:
    from coview.views.repr import describe

    return describe(views)


def _run(model, views, classify, output, path, every, resume, fresh) -> Any:
    from coview.classifier import TopicClassifier
    from coview.em.checkpoint import Checkpoint

    path = path or output.with_name(f"{output.name}.checkpoint")
    checkpoint = Checkpoint(path, every=every, resume=resume)
    if fresh:
        checkpoint.delete()
    elif not resume and any(file.exists() for file in checkpoint.files):
        raise UsageError(
            f"{path} holds the state of an earlier fit. Go on with --resume, or begin anew with "
            "--fresh."
        )
    with sigterm_as_interrupt():
        try:
            if classify:
                fitted = TopicClassifier(model).fit(views, _targets(views), checkpoint=checkpoint)
            else:
                fitted = model.fit(views, checkpoint=checkpoint)
        except KeyboardInterrupt:
            _say_how_to_resume(checkpoint)
            raise
        _save(fitted, output)
    checkpoint.delete()
    return fitted


def _save(model: Any, output: Path) -> None:
    """Graphs and the like are not written; that is as it should be, and no reason to warn."""
    import warnings

    from coview.views.checks import DataWarning

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Parameters not saved", DataWarning)
        model.save(output)


def sigterm_as_interrupt():
    """Being asked to end (SIGTERM) keeps the state as Ctrl-C does."""
    from contextlib import contextmanager

    def stop(number, frame):
        raise KeyboardInterrupt

    @contextmanager
    def politely():
        before = signal.signal(signal.SIGTERM, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)

    return politely()


def _say_how_to_resume(checkpoint) -> None:
    from coview.em.checkpoint import describe

    state = describe(checkpoint)
    if state is None:
        note("Stopped before the first iteration was complete: there is no state to keep.")
        return
    note(
        f"Stopped after {state['iterations']} iterations; the state is kept in "
        f"{checkpoint.path}.*. Go on with the same command and --resume."
    )


def _targets(views: Views) -> Any:
    import numpy as np

    if views.labels is None:
        raise UsageError("--classify needs classes: give the column with --label.")
    if views.label_names is None:
        return views.labels
    names = np.array([*views.label_names, None], dtype=object)
    return names[views.labels]


def _report(fitted: Any, output: Path, quiet: bool, as_json: bool) -> None:
    from coview.wording import plural

    model = topic_model(fitted)
    summary: dict[str, Any] = {
        "model": type(model).__name__,
        "topics": int(model._n_features_out),
        "documents": len(model.doc_topic_),
        "views": list(model.view_names_),
        "iterations": int(model.n_iter_),
        "objective": float(model.objective_),
        "file": str(output),
    }
    if as_json:
        print_json(summary)
    elif not quiet:
        note(
            f"{summary['model']} with {plural(summary['topics'], 'topic')}, fitted to "
            f"{plural(summary['documents'], 'document')}, saved as {output}.\n"
            f"See it with: coview topics {output}"
        )
