"""The command `coview report`: what a model says about documents, and whether it is any good."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.apply import all_documents
from coview.cli.inputs import NEW_DOCUMENT_OPTIONS, DataSource, data_options
from coview.cli.options import UsageError
from coview.cli.output import check_output, note
from coview.models import topic_model

if TYPE_CHECKING:
    import numpy as np

    from coview.views.container import Views


@data_options(*NEW_DOCUMENT_OPTIONS, "id", "title", "label", "labels", "ids", "links", "use")
def report(
    model: options.Model,
    source: DataSource,
    documents_file: Annotated[
        Path | None,
        typer.Option("--data", help="The documents, as the argument DATA.", show_default=False),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, help="Number of topics, and of documents in each list, shown.")
    ] = 10,
    terms: Annotated[int, typer.Option(min=1, help="Number of words per topic and view.")] = 8,
    resamples: Annotated[
        int, typer.Option(min=1, help="How often each document is drawn from the model.")
    ] = 3,
    documents: Annotated[
        bool,
        typer.Option(
            "--documents", help="With JSON: include mixtures and scores of each document."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write to this file: .json or .txt.", show_default=False
        ),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Report on a model: is it any good?

    Topics with the words of each view, agreement of views beyond chance, what each view
    contributes, stability, coherence, search of one view with another; and the documents whose
    views disagree, or that no topic fits. The documents are those that the model was fitted to,
    or others. With class labels (--label, --labels, or those of a views folder) topics are
    compared with classes.

    Examples:

      coview report news.coview --data news.csv --id id

      coview report digits.coview data/mfeat --json
    """
    from coview.io import load
    from coview.reporting import report as make_report

    source = with_data(source, documents_file)
    source.check_label_options()
    _check_output(output, documents, json)
    check_output(output, model, *source.files)
    fitted = load(model)
    views, classes = documents_with_classes(source, topic_model(fitted))
    found = make_report(
        fitted,
        views,
        labels=classes,
        titles=source.titles(),
        n_terms=max(terms, 10),
        n_resamples=resamples,
    )
    as_json = json if output is None else output.suffix.lower() == ".json"
    text = (
        found.to_json(documents=documents, indent=2) + "\n"
        if as_json
        else found.to_text(top=top, terms=terms)
    )
    if output is None:
        print(text, end="")
        return
    _write(text, output)
    if not quiet:
        note(f"Wrote {output}.")


def with_data(source: DataSource, given: Path | None) -> DataSource:
    """Return the source with the data of --data, which may be given in place of the argument."""
    if given is None:
        return source
    if source.data is not None:
        raise UsageError(f"Give the documents once: {source.data}, or --data {given}.")
    return replace(source, data=given)


def _check_output(output: Path | None, documents: bool, json: bool) -> None:
    suffix = None if output is None else output.suffix.lower()
    if suffix not in (None, ".json", ".txt"):
        raise UsageError(f"The suffix of {output} must be .json or .txt.")
    if documents and suffix != ".json" and not (json and output is None):
        raise UsageError("--documents is for JSON: give --json as well, or -o FILE.json.")


def documents_with_classes(source: DataSource, model: Any) -> tuple[Views, np.ndarray | None]:
    """Return the documents with the views of the model, and their classes if a column has them."""
    views, classes = all_documents(source, model)
    if source.links is not None:
        views = source.with_links(views)
    names = [name for name in model.view_names_ if name in views.names]
    if source.use:
        unknown = [name for name in source.use if name not in names]
        if unknown:
            raise UsageError(
                f"--use {unknown[0]}: model and data have the views {', '.join(names)}."
            )
        names = [name for name in names if name in source.use]
    return views.select(*names), classes


def _write(text: str, path: Path) -> None:
    from coview.store import replacing

    with replacing(path) as beside:
        beside.write_text(text, "utf-8")
