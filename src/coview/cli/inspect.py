"""`coview topics`, `info` and `convert`: look at models and data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coview.cli import options
from coview.cli.output import UsageError, cell, console, deliver, note, print_json, table
from coview.cli.source import Source
from coview.models import topic_model


def topics(
    model: options.Model,
    terms: Annotated[int, typer.Option(min=1, help="Words of each topic and view.")] = 8,
    top: Annotated[int | None, typer.Option(min=1, help="Only the largest topics.")] = None,
    view: Annotated[list[str] | None, typer.Option(help="Only this view. May be repeated.")] = None,
    relevance: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="1: likeliest words; 0: most telling words."),
    ] = 0.6,
    output: options.Output = None,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Show the topics of a model, its views side by side.

    Example: coview topics news.coview --terms 6 --top 10
    """
    from coview.report import summarize_topics

    found = summarize_topics(_load(model), terms, views=view, relevance=relevance)[:top]
    if json:
        print_json(found)
        return
    names = list(found[0]["terms"]) if found else []
    rows = [
        [t["topic"], t["name"], t["documents"], *(" ".join(t["terms"][n]) for n in names)]
        for t in found
    ]
    columns = ["topic", "class", "documents", *names]
    if all(t["name"] is None for t in found):  # topics have names only where they are classes
        columns, rows = [columns[0], *columns[2:]], [[r[0], *r[2:]] for r in rows]
    deliver("", columns, rows, as_json=False, output=output, raw=raw)


def info(
    file: Annotated[Path, typer.Argument(help="A model, checkpoint, index or views folder.")],
    json: options.Json = False,
) -> None:
    """Tell what a file holds, without trusting any of it.

    Example: coview info news.coview
    """
    found = _views_info(file) if file.is_dir() else _file_info(file)
    if json:
        print_json(found)
        return
    shown = table("", ["what", "value"])
    for key, value in found.items():
        shown.add_row(cell(key.replace("_", " ")), _value(value))
    console().print(shown)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{cell(k)}: {cell(str(v))}" for k, v in value.items())
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int | float) else cell(value)


def _views_info(folder: Path) -> dict[str, Any]:
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


def _file_info(path: Path) -> dict[str, Any]:
    from coview.io import info as model_info
    from coview.store import read_header

    sealed = read_header(path)
    head = {
        "kind": sealed["kind"],
        "format_version": sealed["format_version"],
        "library_version": sealed["library_version"],
        "bytes": path.stat().st_size,
    }
    if sealed["kind"] != "model":
        return head
    found = model_info(path)
    model = _load(path)
    inner = topic_model(model)
    return head | {
        "class": found["class"]
        if found["class"] == found["model"]
        else f"TopicClassifier of {found['model']}",
        "topics": int(inner._n_features_out),
        "documents": len(inner.doc_topic_),
        "views": {
            name: f"{p.shape[1]:,} terms, {_recipe(inner, name)}"
            for name, p in inner.components_.items()
        },
        "iterations": int(inner.n_iter_),
        "objective": float(inner.objective_),
        "seed": int(inner.random_state_used_),
        "parameters": {k: v for k, v in found["params"].items() if v is not None},
    }


def _recipe(model: Any, view: str) -> str:
    recipe = model.recipes_[view]
    return "from matrices" if recipe is None else f"reads {recipe.kind} of {recipe.source!r}"


def convert(
    context: typer.Context,
    data: options.Data = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A new folder for the views.")
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
    overwrite: Annotated[bool, typer.Option(help="Replace a views folder.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Turn raw data into a views folder: plain files that any tool can read.

    The recipes (vocabularies, visual words) are kept in it, so a model fitted to the folder can
    read new raw documents.

    Example: coview convert news.csv --text en --text de --id id -o news_views
    """
    from coview.views.repr import describe

    if output is None:
        raise UsageError("Give the folder to write: -o FOLDER.")
    views = Source.of(context.params).views()
    views.save(output, overwrite=overwrite)
    if not quiet:
        note(f"{describe(views)}\nsaved in {output}")


def _load(path: Path) -> Any:
    from coview.io import load

    return load(path)
