"""The model of `coview fit`: as its options say, or chosen for the data, with the reasons."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coview.cli.inputs import document_names
from coview.cli.options import UsageError, command_line, given_options, parse_pairs
from coview.models import ONE_VIEW, model_class, topic_model

if TYPE_CHECKING:
    import typer

    from coview.automatic import Choice
    from coview.selection.topics import TopicSelection
    from coview.views.container import Views

TOPICS = 20  # with --model and without --topics
_NEEDS_A_NAME = {
    "feature_topics": "mvplsa",
    **dict.fromkeys(("strength", "graph", "as_published"), "mggm"),
}
# options that do not change the model; its file should not depend on its own name
_OF_THE_RUN = ("output", "resume", "fresh", "quiet", "json", "checkpoint", "every", "jobs", "why")

# -- a model chosen for the data -------------------------------------------------------------------


def refuse_parameters(context: typer.Context) -> None:
    """Refuse parameters that only some models have, where no model is named."""
    for name in given_options(context, _NEEDS_A_NAME):
        raise UsageError(
            f"--{name.replace('_', '-')} needs a model that is named, such as --model "
            f"{_NEEDS_A_NAME[name]}."
        )


def choose_model(
    views: Views, topics: int | list[int] | None, targets: Any, params: dict[str, Any], quiet: bool
) -> Choice:
    """Choose a model for the data, with a progress bar on a terminal."""
    from coview.automatic import choose

    _check_parameters("plsa" if views.n_views == 1 else "link", params)
    show = int(not quiet and sys.stderr.isatty())
    return choose(views, topics, targets, params, verbose=show)


def finish(
    context: typer.Context,
    choice: Choice | None,
    selection: TopicSelection | None,
    views: Any,
    fitted: Any,
) -> None:
    """Give the fitted model its tree and, where it was chosen, its reasons and the command."""
    from coview.tree import grow_tree

    if choice is None:
        if topic_model(fitted) is fitted:
            grow_tree(fitted, views, None if selection is None else selection.levels)
        return
    words = [*command_line(context, but=(*_OF_THE_RUN, "topics")), "--model", choice.model_name]
    if not choice.classify:
        words += ["--topics", str(choice.model.n_components)]
    for name, value in choice.chosen.items():
        words += ["--set", f"{name}={value}"]
    choice.finish(fitted, views, shlex.join(words))


# -- a model by name -------------------------------------------------------------------------------


def _check_views(name: str, views: Views) -> None:
    if name in ONE_VIEW and views.n_views > 1:
        raise UsageError(
            f"The model {name} takes one view; the data have {', '.join(views.names)}. Choose one "
            "with --use VIEW, concatenate them with --concat, or take another --model."
        )


def parse_parameters(pairs: list[str]) -> dict[str, Any]:
    """Parse NAME=VALUE pairs; a value that is not JSON is a string."""
    import json

    found: dict[str, Any] = {}
    for name, value in parse_pairs(pairs, "--set").items():
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def make_model(
    name: str, n_topics: int | None, params: dict[str, Any], views: Views, published: bool
) -> Any:
    """Make the model of a short name, with its own defaults or with the options of its paper."""
    _check_views(name, views)
    _check_parameters(name, params)
    make = model_class(name)
    return (make.as_published if published else make)(n_topics or TOPICS, **params)


def _check_parameters(name: str, params: dict[str, Any]) -> None:
    known = model_class(name)().get_params()
    unknown = [p for p in params if p not in known]
    if unknown:
        raise UsageError(
            f"The model {name} has no parameter {', '.join(unknown)}. It has "
            f"{', '.join(sorted(known))}."
        )


def _graph_files(pairs: list[str]) -> dict[str, Path]:
    """Parse FILE or NAME=FILE; a graph without a name is named after its file."""
    found = parse_pairs(pairs, "--graph")
    return {Path(n).stem if n == path else n: Path(path) for n, path in found.items()}


def set_graphs(model: Any, given: list[str], views: Any) -> None:
    """Give the graphs of the files to a model."""
    files = _graph_files(given)
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
