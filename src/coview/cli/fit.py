"""The command `coview fit`: from raw data to a model file."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.inputs import (
    ALL_DATA_OPTIONS,
    DataSource,
    check_not_input,
    data_options,
    document_names,
)
from coview.cli.options import UsageError, parse_pairs, refuse_options
from coview.cli.output import cell, note, print_json
from coview.cli.seeds import read_seeds
from coview.cli.topics import choose_topics, parse_number_or_range
from coview.models import MODEL_NAMES, ONE_VIEW, model_class, topic_model
from coview.views.repr import describe as describe_views
from coview.wording import plural

if TYPE_CHECKING:
    from types import FrameType

    import numpy as np

    from coview.em.checkpoint import Checkpoint
    from coview.selection.topics import TopicSelection
    from coview.views.container import Views

ModelName = StrEnum("ModelName", {name: name for name in MODEL_NAMES})  # type: ignore[misc]

_MODEL = "Model"
_RUN = options.RUN_PANEL


@data_options(*ALL_DATA_OPTIONS)
def fit(
    context: typer.Context,
    source: DataSource,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to save the model to.")
    ] = Path("model.coview"),
    model: Annotated[
        ModelName, typer.Option(help="The model to fit.", rich_help_panel=_MODEL)
    ] = ModelName.link,  # type: ignore[attr-defined]
    topics: Annotated[
        str,
        typer.Option(
            "--topics",
            "-k",
            metavar="NUMBER|LOW:HIGH[:STEP]",
            help="Number of topics, or a range such as 5:40 to choose it from without labels.",
            rich_help_panel=_MODEL,
        ),
    ] = "20",
    feature_topics: Annotated[
        int | None,
        typer.Option(
            min=1, help="Feature topics per view (dual, mvplsa, mggm).", rich_help_panel=_MODEL
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
            help="Edge list of a graph of the documents (ltm, mggm): FILE or NAME=FILE. Repeatable "
            "for mggm.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    seeds: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Words for some topics, .json or .toml: {"sport": {"en": ["goal", "coach"]}}, by '
            "topic (a name or a number) and view; or words with weights.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    seed_words: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC:VIEW=WORDS",
            help="Words for one topic, such as sport:en=goal,coach; with one view "
            "sport=goal,coach. Repeatable.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    classify: Annotated[
        bool,
        typer.Option(
            "--classify",
            help="Fit a classifier: the topics are the classes of --label. Documents without a "
            "label help to learn them.",
            rich_help_panel=_MODEL,
        ),
    ] = False,
    concat: Annotated[
        bool,
        typer.Option(
            "--concat",
            help="Concatenate all views into one (for plsa, dual, ltm).",
            rich_help_panel=_MODEL,
        ),
    ] = False,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Another parameter of the model, such as divergence=l1 or n_init=5. Repeatable.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Random seed: the same seed gives the same bits.", rich_help_panel=_RUN
        ),
    ] = 0,
    max_iter: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of iterations.", rich_help_panel=_RUN)
    ] = None,
    tol: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Stop when the relative change of the objective is smaller.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Number of threads. Default: all cores.", rich_help_panel=_RUN),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="File to save the state to. Default: OUTPUT.checkpoint.", rich_help_panel=_RUN
        ),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Save the state after every this many iterations. Default: every 30 seconds.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    resume: options.Resume = False,
    fresh: options.Fresh = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Fit a model to raw data and save it.

    Texts become word counts, images counts of visual words; an empty cell is a missing view. The
    model file holds all that was learned, vocabularies included, so it can read new raw documents.

    Ctrl-C saves the state next to the output; --resume continues from it and ends in the same bits
    as an uninterrupted fit.

    Examples:

      coview fit news.csv --text en --text de --id id --topics 20 -o news.coview

      coview fit news.csv --text en --text de --topics 5:40 -o news.coview

      coview fit photos/ --model divergence --topics 30 -o photos.coview

      coview fit cells.h5mu --model mvplsa --topics 15 -o cells.coview

      coview fit papers.csv --text abstract --id id --model mggm --graph cites.csv -o papers.coview

      coview fit news.csv --text en --text de --seed-words sport:en=goal,coach -o news.coview

      coview fit --view words=w.mtx --view links=l.npz --topics 10 -o pages.coview
    """
    given = {
        "n_feature_topics": feature_topics,
        "strength": strength,
        "max_iter": max_iter,
        "tol": tol,
        "n_jobs": jobs,
        "random_state": seed,
        "seeds": read_seeds(seeds, seed_words or []),
    }
    wanted = parse_number_or_range(topics)
    _check_output(output)
    check_not_input(output, *source.files, *([seeds] if seeds else []))
    if classify:
        refuse_options(context, ["topics"], "With --classify the topics are the classes")
    views = source.views()
    views = views.concat() if concat else views
    _check_views(model.value, views)
    params = {k: v for k, v in given.items() if v is not None}
    # null is a value there: --set scaling=null
    made = _make_model(model.value, params | _parse_parameters(parameter or []))
    _set_graphs(made, _graph_files(graph or []), views)
    made.set_params(verbose=int(not quiet and sys.stderr.isatty()))
    if not quiet:
        note(describe_views(views))
    path = checkpoint or output.with_name(f"{output.name}.checkpoint")
    state = _open_checkpoint(path, every, resume, fresh)
    selection = None
    if isinstance(wanted, list):
        selection = choose_topics(views, wanted, seed, jobs, quiet)
    made.set_params(n_components=wanted if selection is None else selection.suggestion)
    fitted = _fit_and_save(made, views, classify, output, state)
    _report(fitted, output, quiet, json, selection)


# -- checks and parameters -------------------------------------------------------------------------


def _check_output(output: Path) -> None:
    """Refuse an output that cannot be written, before hours of work rather than after."""
    if output.is_dir():
        raise UsageError(f"{output} is a folder: give the name of a file, -o {output}/news.coview.")
    if not output.parent.is_dir():
        raise UsageError(f"There is no folder {output.parent} to write {output.name} to.")


def _check_views(name: str, views: Views) -> None:
    if name in ONE_VIEW and views.n_views > 1:
        raise UsageError(
            f"The model {name} takes one view; the data have {', '.join(views.names)}. Choose one "
            "with --use VIEW, concatenate them with --concat, or take another --model."
        )


def _parse_parameters(pairs: list[str]) -> dict[str, Any]:
    """Parse NAME=VALUE pairs; a value that is not JSON is a string."""
    import json

    found: dict[str, Any] = {}
    for name, value in parse_pairs(pairs, "--set").items():
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _make_model(name: str, params: dict[str, Any]) -> Any:
    cls = model_class(name)
    known = cls().get_params()
    unknown = [p for p in params if p not in known]
    if unknown:
        raise UsageError(
            f"The model {name} has no parameter {', '.join(unknown)}. It has "
            f"{', '.join(sorted(known))}."
        )
    return cls(**params)


def _graph_files(pairs: list[str]) -> dict[str, Path]:
    """Parse FILE or NAME=FILE; a graph without a name is named after its file."""
    found = parse_pairs(pairs, "--graph")
    return {Path(n).stem if n == path else n: Path(path) for n, path in found.items()}


def _set_graphs(model: Any, files: dict[str, Path], views: Views) -> None:
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


# -- the fit ---------------------------------------------------------------------------------------


def _open_checkpoint(path: Path, every: int | None, resume: bool, fresh: bool) -> Checkpoint:
    """Return the checkpoint; the state of an earlier fit needs --resume or --fresh."""
    from coview.em.checkpoint import Checkpoint

    checkpoint = Checkpoint(path, every=every, resume=resume)
    if fresh:
        checkpoint.delete()
    elif not resume and any(file.exists() for file in checkpoint.files):
        raise UsageError(
            f"{path} holds the state of an earlier fit. Continue it with --resume, or discard it "
            "with --fresh."
        )
    return checkpoint


def _fit_and_save(
    model: Any, views: Views, classify: bool, output: Path, checkpoint: Checkpoint
) -> Any:
    from coview.classifier import TopicClassifier

    with sigterm_as_interrupt():
        try:
            if classify:
                fitted = TopicClassifier(model).fit(views, _targets(views), checkpoint=checkpoint)
            else:
                fitted = model.fit(views, checkpoint=checkpoint)
        except KeyboardInterrupt:
            _explain_resume(checkpoint)
            raise
        _save(fitted, output)
    checkpoint.delete()
    return fitted


def _targets(views: Views) -> np.ndarray:
    """Return the class of each document, None if it has none."""
    import numpy as np

    if views.labels is None:
        raise UsageError("--classify needs class labels: give their column with --label.")
    if views.label_names is None:
        return views.labels
    # label -1 is an unlabeled document and picks the last name
    names = np.array([*views.label_names, None], dtype=object)
    return names[views.labels]


def _save(model: Any, output: Path) -> None:
    """Save without the warning that graphs are not saved: a fitted model does not need them."""
    import warnings

    from coview.views.checks import DataWarning

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Parameters not saved", DataWarning)
        model.save(output)


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, so that the state is saved."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _explain_resume(checkpoint: Checkpoint) -> None:
    from coview.em.checkpoint import describe

    state = describe(checkpoint)
    if state is None:
        note("Stopped before the end of the first iteration: there is no state to save.")
        return
    note(
        f"Stopped after {plural(state['iterations'], 'iteration')}; the state is saved in "
        f"{checkpoint.path}.*. Continue with the same command and --resume."
    )


def _report(
    fitted: Any, output: Path, quiet: bool, as_json: bool, selection: TopicSelection | None
) -> None:
    from coview.em.scaling import describe_scaling

    model = topic_model(fitted)
    summary: dict[str, Any] = {
        "model": type(model).__name__,
        "topics": model.doc_topic_.shape[1],
        "documents": len(model.doc_topic_),
        "views": list(model.view_names_),
        "scaling": describe_scaling(model.scaling_),
        "iterations": int(model.n_iter_),
        "objective": float(model.objective_),
        "file": str(output),
    }
    if selection is not None:
        summary["topic_selection"] = selection.to_dict()
    if as_json:
        print_json(summary)
    elif not quiet:
        note(
            f"Fitted {summary['model']} with {plural(summary['topics'], 'topic')} to "
            f"{plural(summary['documents'], 'document')} and saved it as {output}.\n"
            f"{_scaling_lines(summary['scaling'])}"
            f"Show its topics with: coview topics {output}"
        )


def _scaling_lines(scaling: dict[str, str]) -> str:
    """Return a line for each view that was scaled."""
    return "".join(f"Scaled {cell(view)}: {how}.\n" for view, how in scaling.items())
