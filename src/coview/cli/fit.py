"""The command `coview fit`: from raw data to a model file."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.inputs import (
    ALL_DATA_OPTIONS,
    DataSource,
    data_options,
)
from coview.cli.model import (
    TOPICS,
    choose_model,
    finish,
    make_model,
    parse_parameters,
    refuse_parameters,
    set_graphs,
)
from coview.cli.options import UsageError, refuse_options
from coview.cli.output import cell, check_output, note, print_json
from coview.cli.seeds import read_seeds
from coview.cli.sharded import SEARCH_BYTES, keep_search, refuse_memory, views_to_fit
from coview.cli.topics import compare_topics, parse_number_or_range
from coview.models import MODEL_NAMES, topic_model
from coview.params import check_real
from coview.wording import plural

if TYPE_CHECKING:
    from types import FrameType

    import numpy as np

    from coview.em.checkpoint import Checkpoint
    from coview.selection.topics import TopicSelection
    from coview.strength import StrengthPath
    from coview.views.container import Views

ModelName = StrEnum("ModelName", {name: name for name in MODEL_NAMES})  # type: ignore[misc]

_MODEL = "Model"
_RUN = options.RUN_PANEL


@data_options(*ALL_DATA_OPTIONS, "title")
def fit(
    context: typer.Context,
    source: DataSource,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to save the model to.")
    ] = Path("model.coview"),
    model: Annotated[
        ModelName | None,
        typer.Option(
            help="The model to fit. Default: chosen for the data, with the reasons.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    topics: Annotated[
        str | None,
        typer.Option(
            "--topics",
            "-k",
            metavar="NUMBER|LOW:HIGH[:STEP]",
            help="Number of topics, or a range such as 5:40 to choose it from without labels. "
            f"Default: chosen for the data; with --model {TOPICS}.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    feature_topics: Annotated[
        int | None,
        typer.Option(
            min=1, help="Feature topics per view (dual, mvplsa, mggm).", rich_help_panel=_MODEL
        ),
    ] = None,
    strength: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Weight of the penalty (ltm, pairwise, divergence, mggm); auto chooses it without "
            "labels.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published",
            help="Every option of the model as its paper has it, but for those given here.",
            rich_help_panel=_MODEL,
        ),
    ] = False,
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
    search: Annotated[
        bool,
        typer.Option(
            "--search/--no-search",
            help="Keep in the model's file what a search of its documents needs (counts and "
            f"titles, no texts), up to {SEARCH_BYTES // 10**6} MB.",
            rich_help_panel=_RUN,
        ),
    ] = True,
    memory: options.Memory = "1GB",
    dask: options.Dask = None,
    resume: options.Resume = False,
    fresh: options.Fresh = False,
    quiet: options.Quiet = False,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="Say in full why this model and this number of topics were chosen, with the line "
            "of Python that does the same.",
            rich_help_panel=_RUN,
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Fit a model to raw data and save it.

    Without --model, a model is chosen for the data, and without --topics their number: a few lines
    say what was chosen, --why says why.

    Texts become word counts, images counts of visual words; an empty cell is a missing view. The
    model file holds all that was learned, vocabularies included, so it can read new raw documents.

    The file also keeps the counts of the documents, so that coview search, serve and translate need
    no other file; --no-search leaves them out.

    A sharded folder (coview convert --shards) stays on disk: the fit takes about --memory, however
    large the data are. With --dask a cluster works on it, to the same bits.

    Ctrl-C saves the state next to the output; --resume continues from it and ends in the same bits
    as an uninterrupted fit.

    Examples:

      coview fit news.csv --text en --text de -o news.coview

      coview fit news.csv --text en --text de --id id --model link --topics 20 -o news.coview

      coview fit news.csv --text en --text de --topics 5:40 -o news.coview

      coview fit photos/ --model divergence --topics 30 -o photos.coview

      coview fit cells.h5mu --model mvplsa --topics 15 -o cells.coview

      coview fit papers.csv --text abstract --id id --model mggm --graph cites.csv -o papers.coview

      coview fit news.csv --text en --text de --seed-words sport:en=goal,coach -o news.coview

      coview fit --view words=w.mtx --view links=l.npz --topics 10 -o pages.coview

      coview fit news.shards --memory 1GB --topics 50 -o news.coview
    """
    given = {
        "n_feature_topics": feature_topics,
        "strength": _parse_strength(strength),
        "max_iter": max_iter,
        "tol": tol,
        "n_jobs": jobs,
        "random_state": seed,
        "seeds": read_seeds(seeds, seed_words or []),
    }
    if model is None:
        refuse_parameters(context)
    wanted = None if topics is None else parse_number_or_range(topics)
    check_output(output, *source.files, seeds)
    path = checkpoint or output.with_name(f"{output.name}.checkpoint")
    state = _checkpoint(path, every, resume, fresh, quiet)
    if classify:
        refuse_options(context, ["topics"], "With --classify the topics are the classes")
    refuse_memory(context, source, concat or classify)
    known, views = views_to_fit(source, memory, concat or classify, dask)
    if concat:
        known = views = known.concat()
    targets = _targets(known) if classify else None
    params = {k: v for k, v in given.items() if v is not None}
    # null is a value there: --set scaling=null
    params |= parse_parameters(parameter or [])
    if not quiet:
        note(repr(views))
    if fresh:
        state.delete()
    choice, selection = None, None
    if model is None:
        choice = choose_model(known, wanted, targets, params, quiet)
        made, selection = choice.model, choice.selection
    else:
        if isinstance(wanted, list):
            selection = compare_topics(known, wanted, seed, quiet)
            wanted = selection.suggestion or _refuse(selection)
        made = make_model(str(model), wanted, params, known, as_published)
    set_graphs(made, graph or [], views)
    made.set_params(verbose=int(not quiet and sys.stderr.isatty()))
    titles = source.titles()

    def last(fitted: Any) -> None:
        finish(context, choice, selection, views, fitted)
        if search and (why_not := keep_search(fitted, views, titles, memory)) and not quiet:
            note(why_not)

    fitted = _fit_and_save(made, views, targets, output, state, last, dask)
    if choice is not None and not quiet:
        note(str(fitted.why_) if why else "\n".join(choice.summary(fitted, command=True)[1:]))
    elif selection is not None and not quiet:
        note(f"{selection}")
    _report(fitted, output, quiet, json, selection)


def _refuse(selection: TopicSelection) -> int:
    raise UsageError(f"{selection.sentence} --topics 10 says how many anyway.")


# -- checks ----------------------------------------------------------------------------------------


def _parse_strength(text: str | None) -> float | str | None:
    """Return the number, or "auto"."""
    if text is None or text == "auto":
        return text
    try:
        return check_real("--strength", float(text))
    except ValueError:
        raise UsageError(
            f"--strength must be a finite number of at least 0, or auto; got {text!r}."
        ) from None


# -- the fit ---------------------------------------------------------------------------------------


def _checkpoint(
    path: Path, every: int | None, resume: bool, fresh: bool, quiet: bool
) -> Checkpoint:
    """Return the checkpoint; the state of an earlier fit needs --resume or --fresh."""
    from coview.em.checkpoint import Checkpoint

    checkpoint = Checkpoint(path, every=every, resume=resume and not fresh)
    there = any(file.exists() for file in checkpoint.files)
    if there and not resume and not fresh:
        raise UsageError(
            f"{path} holds the state of an earlier fit. Continue it with --resume, or discard it "
            "with --fresh."
        )
    if resume and not there and not quiet:
        note(f"There is no state of an earlier fit in {path}: starting from the beginning.")
    for file in checkpoint.files:
        check_output(file)
    return checkpoint


def _fit_and_save(
    model: Any,
    views: Any,
    targets: np.ndarray | None,
    output: Path,
    checkpoint: Checkpoint,
    last: Callable[[Any], None],
    runner: str | None,
) -> Any:
    from coview.classifier import TopicClassifier

    with sigterm_as_interrupt():
        try:
            if targets is not None:
                fitted = TopicClassifier(model).fit(views, targets, checkpoint=checkpoint)
            else:
                fitted = model.fit(views, checkpoint=checkpoint, runner=runner)
            last(fitted)
        except KeyboardInterrupt:
            _explain_resume(checkpoint)
            raise
        _save(fitted, output)
    checkpoint.delete()
    return fitted


def _targets(views: Views) -> np.ndarray:
    """Return the class of each document by name, None if it has none."""
    if views.named_labels is None:
        raise UsageError("--classify needs class labels: give their column with --label.")
    return views.named_labels


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
    from coview.reporting import topic_stability

    model = topic_model(fitted)
    known = model.topic_stability_ is not None
    summary: dict[str, Any] = {
        "model": type(model).__name__,
        "topics": model.doc_topic_.shape[1],
        "documents": len(model.doc_topic_),
        "views": list(model.view_names_),
        "languages": {v: r.language for v, r in model.recipes_.items() if hasattr(r, "language")},
        "scaling": describe_scaling(model.scaling_),
        "iterations": int(model.n_iter_),
        "objective": float(model.objective_),
        "stability": topic_stability(model) if known else None,
        "file": str(output),
    }
    if hasattr(fitted, "n_unlabeled_"):
        summary["unlabeled"] = fitted.n_unlabeled_
    if hasattr(fitted, "why_"):
        summary["why"] = fitted.why_.as_data()
    path = getattr(model, "strength_path_", None)
    if path is not None:
        summary["strength"] = path.chosen
    if selection is not None:
        summary["topic_selection"] = selection.to_dict()
    if as_json:
        print_json(summary)
    elif not quiet:
        note(
            f"Fitted {summary['model']} with {plural(summary['topics'], 'topic')} to "
            f"{plural(summary['documents'], 'document')} and saved it as {output}.\n"
            f"{_scaling_lines(summary['scaling'])}"
            f"{_stability_line(fitted)}"
            f"{'' if path is None else _strength_line(path)}"
            f"Show its topics with: coview topics {output}"
        )


def _scaling_lines(scaling: dict[str, str]) -> str:
    """Return a line for each view that was scaled."""
    return "".join(f"Scaled {cell(view)}: {how}.\n" for view, how in scaling.items())


def _stability_line(fitted: Any) -> str:
    """Return a line on the topics that are unstable, if there are any."""
    from coview.ensemble.stability import describe_unstable
    from coview.reporting import topic_names

    names = [name and cell(name) for name in topic_names(fitted)]
    text = describe_unstable(topic_model(fitted).topic_stability_, names)
    return f"{text}\n" if text else ""


def _strength_line(path: StrengthPath) -> str:
    """Return which strength was chosen, and from which."""
    if path.mean[0] != path.mean[0]:
        return f"Strength {path.chosen:g}, the usual one: there was nothing to judge others by.\n"
    pairs = zip(path.strengths, path.mean, strict=True)
    return (
        f"Strength {path.chosen:g}, by how well clusters of one half of the columns hold neighbors "
        f"in the other together: {', '.join(f'{mean:.2f} at {s:g}' for s, mean in pairs)}.\n"
    )
