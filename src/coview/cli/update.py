"""The command `coview update`: let a fitted model learn from new documents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.inputs import NEW_DOCUMENT_OPTIONS, DataSource, check_not_input, data_options
from coview.cli.output import cell, check_output, console, note, print_json, table
from coview.outputs import locked
from coview.wording import plural

if TYPE_CHECKING:
    import numpy as np


@data_options(*NEW_DOCUMENT_OPTIONS, "id")
def update(
    model: options.Model,
    source: DataSource,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The model file to write. Default: the model itself, replaced once the new one is "
            "complete.",
            show_default=False,
        ),
    ] = None,
    grow: Annotated[
        bool,
        typer.Option("--grow/--fixed", help="Add new words to the vocabulary, or leave them out."),
    ] = False,
    forgetting: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=100.0,
            help="Early documents weigh less, by this power of their place in the stream; 0: all "
            "weigh the same.",
        ),
    ] = 1.0,
    half_life: Annotated[
        float | None,
        typer.Option(
            metavar="DOCUMENTS",
            help="Instead: after so many new documents, what was known weighs half.",
            show_default=False,
        ),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Let a model learn from new documents: its topics move, and stay the same topics.

    The data are read as the model has read those it was fitted to. PLSA, LinkPLSA, MVPLSA and
    DivergenceCoPLSA can be updated.

    Examples:

      coview update news.coview new.csv --id id

      coview update news.coview new.csv --grow -o newer.coview
    """
    from coview.io import load

    written = model if output is None else output
    if os.path.realpath(written) == os.path.realpath(model):
        check_output(written, *source.files)
    else:
        check_output(written, model, *source.files)
    check_not_input(model, *source.files)
    with locked(written):  # two updates at once would lose what one of them has learned
        fitted = load(model)
        if not hasattr(fitted, "partial_fit"):
            raise ValueError(
                f"{model} is a {type(fitted).__name__}, which cannot learn from batches: fit it "
                "again to all documents. PLSA, LinkPLSA, MVPLSA and DivergenceCoPLSA can learn."
            )
        learning = {
            "new_terms": grow,
            "forgetting": forgetting,
            "half_life": half_life,
        }
        searched = hasattr(fitted, "search_")
        change = _learn(fitted, source, learning)
        fitted.save(written)
    if searched and not quiet:
        note(
            "What a search needs was of the documents before, and is gone: search with --among and "
            "a table, or fit the model again to all documents."
        )
    if json:
        print_json({"model": str(written), **change})
        return
    if not quiet:
        _show(change, fitted, written)


def _learn(fitted: Any, source: DataSource, learning: dict[str, Any]) -> dict[str, Any]:
    """Give all documents to a model, and return what has changed."""
    import numpy as np

    from coview.em.stream import topic_shift

    before, names = fitted.components_, fitted.view_names_
    found = np.zeros(fitted.n_components, int)
    n_docs = n_empty = 0
    for views in source.new_documents(fitted, new_terms=learning["new_terms"]):
        fitted.partial_fit(views, **learning)
        n_docs, n_empty = n_docs + len(views), n_empty + len(fitted.empty_rows_)
        known = np.delete(fitted.labels_, fitted.empty_rows_)
        found += np.bincount(known, minlength=len(found))
    if not n_docs:
        raise ValueError(f"There are no documents in {source.data}.")
    shift = topic_shift(before, fitted.components_)
    return {
        "documents": n_docs,
        "without_known_terms": n_empty,
        "documents_seen": fitted.n_docs_seen_,
        "new_terms": {n: fitted.components_[n].shape[1] - before[n].shape[1] for n in names},
        "topics": [_topic(z, fitted, shift[z], int(found[z])) for z in range(len(found))],
    }


def _topic(z: int, fitted: Any, shift: np.ndarray, n_docs: int) -> dict[str, Any]:
    moved = dict(zip(fitted.view_names_, map(float, shift), strict=True))
    return {"topic": z, "name": fitted.topic_names_[z], "documents": n_docs, "moved": moved}


def _show(change: dict[str, Any], fitted: Any, written: Path) -> None:
    """Show what has changed: a table of the topics, and a line below it."""
    named = any(topic["name"] for topic in change["topics"])
    views = list(change["new_terms"])
    columns = ["topic", *(["name"] if named else []), "documents", *(f"moved: {v}" for v in views)]
    shown = table("", columns, right=[c for c in columns if c != "name"])
    for topic in change["topics"]:
        moved = (cell(topic["moved"][view]) for view in views)
        name = [cell(topic["name"])] if named else []
        shown.add_row(str(topic["topic"]), *name, f"{topic['documents']:,}", *moved)
    console().print(shown)
    new = sum(change["new_terms"].values())
    empty = change["without_known_terms"]
    note(
        f"Learned from {plural(change['documents'], 'document')}"
        + (f" ({empty:,} without a known term)" if empty else "")
        + (f" and {plural(new, 'new term')}" if new else "")
        + f"; the model has seen {change['documents_seen']:,}. Moved is the share of a topic's "
        f"probability that is at other terms now. Wrote {written}."
    )
