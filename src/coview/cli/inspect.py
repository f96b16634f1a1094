"""Commands that show models and data: `coview topics` and `coview info`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from coview.cli import options
from coview.cli.options import UsageError
from coview.cli.output import (
    cell,
    check_table_output,
    console,
    print_json,
    show_or_write,
    table,
)
from coview.models import topic_model

_TOPIC_FIELDS = ("topic", "name", "documents", "stability")


def topics(
    model: options.Model,
    terms: Annotated[int, typer.Option(min=1, help="Number of words per topic and view.")] = 8,
    top: Annotated[
        int | None, typer.Option(min=1, help="Show only this many of the largest topics.")
    ] = None,
    view: Annotated[list[str] | None, typer.Option(help="Show only this view. Repeatable.")] = None,
    tree: Annotated[
        bool,
        typer.Option("--tree", help="Show each topic below the coarser one that it is part of."),
    ] = False,
    output: options.Output = None,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Show the topics of a model, with a column of words for each view.

    Stability says how well the documents of a topic are together again in other clusterings: 1
    exactly, 0 as by chance. It is not known of a model fitted to labels with a single run.
    Where too few documents stand behind the words of a view, it says how many have it instead.

    With --tree the topics are read through coarser ones, each the sum of those below it; --top
    counts the coarsest. Levels have topics of their own numbers, from 0.

    Examples:

      coview topics news.coview --terms 6 --top 10

      coview topics news.coview --tree
    """
    from coview.inspection import read_for_display
    from coview.reporting.terms import shown_words, summarize_topics

    check_table_output(output, model)
    say = partial(summarize_topics, n_terms=terms, views=view)
    if tree:
        fitted, nested = _tree(model, say, top)
        found = list(_flat(nested["topics"], None, indent=output is None))
    else:
        fitted = read_for_display(model)
        found = say(fitted)[:top]
    if json:
        print_json(nested if tree else found)
        return
    names = list(found[0]["terms"]) if found else []
    # topics without names, or of unknown stability, have no such column
    extra = ("level", "part_of") if tree and output is not None else ()
    fields = [f for f in (*extra, *_TOPIC_FIELDS) if any(t[f] is not None for t in found)]
    rows = [[*(t[f] for f in fields), *shown_words(t, names)] for t in found]
    named = "name" if topic_model(fitted) is fitted else "class"
    columns = [*(named if f == "name" else f for f in fields), *names]
    show_or_write(columns, rows, as_json=False, output=output, raw=raw)


def _tree(path: Path, say: Callable[[Any], list[dict[str, Any]]], top: int | None) -> Any:
    """Return the model of a file, and its tree, in which each topic is summarized."""
    from coview.io import load
    from coview.tree import at_level, tree_of

    fitted = load(path)
    inner = topic_model(fitted)
    try:
        tree = tree_of(fitted)
    except ValueError as error:
        raise UsageError(
            f"{path.name} has no tree of topics. coview fit makes one for 6 topics or more; in "
            "Python: model.topic_tree_ = coview.topic_tree(model, views)."
        ) from error
    known = {
        n: {t["topic"]: t for t in say(at_level(inner, n) if level else fitted)}
        for level, n in enumerate(tree.levels)
    }
    nested = tree.to_dict(hidden=set(getattr(inner, "hidden_topics_", ())))
    nested["topics"] = nested["topics"][:top]
    waiting = list(nested["topics"])
    while waiting:
        topic = waiting.pop()
        said = known[topic["level"]][topic["topic"]]
        topic |= {f: said[f] for f in ("name", "documents", "stability", "terms", "view_documents")}
        waiting += topic.get("topics", [])
    return fitted, nested


def _flat(
    topics: list[dict[str, Any]], parent: int | None, *, indent: bool, depth: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield the topics of a tree one after the other, on a screen with their depth."""
    for topic in topics:
        shown = f"{'  ' * depth}{topic['topic']}" if indent else topic["topic"]
        yield {**topic, "topic": shown, "part_of": parent}
        below = topic.get("topics", [])
        yield from _flat(below, topic["topic"], indent=indent, depth=depth + 1)


def info(
    file: Annotated[
        Path,
        typer.Argument(help="A model, checkpoint, search index, views folder or sharded folder."),
    ],
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Read all of a sharded folder and compare it with its checksums; anything else is "
            "read whole in any case.",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Show what a file contains; nothing in it is executed.

    Example: coview info news.coview
    """
    if file.is_dir():
        from coview.shards.format import is_sharded_folder

        found = _shards_info(file, check) if is_sharded_folder(file) else _folder_info(file)
    else:
        found = _file_info(_checkpoint_file(file))
    if json:
        print_json(found)
        return
    shown = table("", ["what", "value"])
    for key, value in found.items():
        shown.add_row(cell(key.replace("_", " ")), _info_cell(value))
    console().print(shown)


def _info_cell(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{cell(k)}: {cell(str(v))}" for k, v in value.items())
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int | float) else cell(value)


def _folder_info(folder: Path) -> dict[str, Any]:
    from coview.views.container import Views

    views = Views.load(folder)
    return {
        "kind": "views folder",
        "documents": len(views),
        "views": {
            name: f"{matrix.shape[1]:,} terms, {matrix.nnz:,} non-zeros, "
            f"{int(views.present[:, v].sum()):,} documents"
            for v, (name, matrix) in enumerate(views.matrices.items())
        },
        "labels": views.labels is not None,
        "ids": views.ids is not None,
    }


def _shards_info(folder: Path, check: bool) -> dict[str, Any]:
    from coview.shards.format import KIND
    from coview.shards.sharded import open_shards

    sharded = open_shards(folder)
    if check:
        sharded.check()
    else:
        sharded.files.check_sizes()
    manifest = sharded.manifest
    return {
        "kind": KIND,
        "format_version": manifest.version,
        "library_version": manifest.library_version,
        "bytes": sum(entry["bytes"] for entry in manifest.files.values()),
        "documents": sharded.n_docs,
        "views": {
            view.name: f"{view.n_terms:,} terms, {view.nonzeros:,} non-zeros, "
            f"{view.present:,} documents"
            for view in manifest.views
        },
        "shards": len(sharded.shards),
        "blocks": len(sharded.blocks),
        "labels": manifest.labels is not None,
        "ids": manifest.ids,
        "checked": "sizes and checksums of all files" if check else "sizes (all: --check)",
    }


def _file_info(path: Path) -> dict[str, Any]:
    from coview.store import read_header

    sealed = read_header(path)
    head = {
        "kind": sealed["kind"],
        "format_version": sealed["format_version"],
        "library_version": sealed["library_version"],
        "bytes": path.stat().st_size,
    }
    more = {"model": _model_info, "checkpoint": _checkpoint_info}.get(sealed["kind"])
    return head | more(path) if more else head


def _checkpoint_file(path: Path) -> Path:
    """Return the newest file of a checkpoint, if the path is what they have in common."""
    if path.exists():
        return path
    from coview.em.checkpoint import Checkpoint

    there = [file for file in Checkpoint(path).files if file.exists()]
    return max(there, key=lambda file: file.stat().st_mtime, default=path)


def _checkpoint_info(path: Path) -> dict[str, Any]:
    from coview.em.checkpoint import describe_file

    found = describe_file(path)
    named = {**found, "restarts_done": f"{found['restarts_done']} finished"}
    titles = {"restarts_done": "restarts", "iterations": "iteration"}
    return {titles.get(name, name): v for name, v in named.items() if v is not None}


def _model_info(path: Path) -> dict[str, Any]:
    from coview.inspection import read_for_display
    from coview.io import info as saved_info

    found = saved_info(path)
    inner = topic_model(read_for_display(path))
    is_classifier = found["class"] != found["model"]
    return {
        "class": f"TopicClassifier of {found['model']}" if is_classifier else found["class"],
        "topics": inner.doc_topic_.shape[1],
        "documents": len(inner.doc_topic_),
        "views": {
            name: f"{p.shape[1]:,} terms, {_origin(inner, name)}{_scaling(inner, name)}"
            for name, p in inner.components_.items()
        },
        "iterations": int(inner.n_iter_),
        "objective": float(inner.objective_),
        "seed": int(inner.random_state_used_),
        **_stability(inner),
        "search": "search_" in found["attributes"],
        "parameters": {k: v for k, v in found["params"].items() if v is not None},
    }


def _origin(model: Any, view: str) -> str:
    """Return what a view was made from."""
    recipe = model.recipes_[view]
    if recipe is None:
        return "from matrices"
    whose = getattr(recipe, "stop_words", None)
    stop_words = "" if whose is None else f", stop words: {whose}"
    return f"reads {recipe.kind} of {recipe.source!r}{stop_words}"


def _scaling(model: Any, view: str) -> str:
    """Return how a view was scaled, if it was."""
    if view not in model.scaling_:
        return ""
    from coview.em.scaling import describe_scaling

    how = describe_scaling(model.scaling_)
    return f", scaled: {how[view]}" if view in how else ""


def _stability(model: Any) -> dict[str, str]:
    """Return the range of the topics' stability, if it is known."""
    from coview.reporting import topic_stability

    known = sorted(s for s in topic_stability(model) if s is not None)
    if not known:
        return {}
    middle = known[len(known) // 2]
    return {"stability": f"{known[0]:.2f} to {known[-1]:.2f}, median {middle:.2f}"}
