"""The command `coview explore`: a page to look at a model and its documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coview.cli import options
from coview.cli.inputs import NEW_DOCUMENT_OPTIONS, DataSource, data_options
from coview.cli.options import UsageError
from coview.cli.output import check_output, note
from coview.cli.report import documents_with_classes, with_data

LARGE = 40_000_000  # bytes of a page


@data_options(*NEW_DOCUMENT_OPTIONS, "id", "title", "label", "labels", "ids", "links", "use")
def explore(
    model: options.Model,
    source: DataSource,
    documents: Annotated[
        Path | None,
        typer.Option("--data", help="The documents, as the argument DATA.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page to write, an .html file."),
    ] = None,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve",
            help="Serve the page on this computer, until Ctrl-C: for many documents, and to search "
            "with pictures.",
        ),
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="With --serve: the port. 0 takes a free one.")
    ] = 0,
    page_title: Annotated[
        str | None, typer.Option(help="The title of the page itself. Default: the model's name.")
    ] = None,
    umap: Annotated[
        bool, typer.Option("--umap", help="Add a second layout, by UMAP (needs umap-learn).")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a page to explore topics and documents: offline, in one file.

    DATA are the documents to show, those the model was fitted to or others. The page contains them.

    Examples:

      coview explore news.coview --data news.csv --id id -o news.html

      coview explore news.coview --data news.csv --title headline -o news.html

      coview explore photos.coview photos/ --serve
    """
    source = with_data(source, documents)
    source.check_label_options()
    if (output is None) == (not serve):
        raise UsageError("Say where the page goes: -o FILE.html, or --serve.")
    if output is not None:
        check_output(output, model, *source.files)
        if output.suffix.lower() not in (".html", ".htm"):
            raise UsageError(f"{output.name} is a page: call it {output.stem}.html.")
    fitted, views, raw = _read(model, source)
    shown = {**raw, "title": page_title or f"{model.stem} - coview", "umap": umap}
    if serve:
        _serve(fitted, views, shown, port)
    elif output is not None:
        fitted.explore(views, output, **shown)
        if not quiet:
            _tell(output)


def _tell(page: Path) -> None:
    size = page.stat().st_size
    note(f"Wrote {page} ({size / 1e6:.1f} MB). Open it in a browser.")
    if size > LARGE:
        note("That is much for a browser: --serve sends the same page in parts.")


def _read(path: Path, source: DataSource) -> tuple[Any, Any, dict[str, Any]]:
    """Return the model, the documents, and their titles, raw texts and pictures."""
    from coview.io import load
    from coview.models import topic_model

    fitted = load(path)
    inner = topic_model(fitted)
    views, classes = documents_with_classes(source, inner)
    if classes is not None:
        views = views.with_labels(classes)
    return fitted, views, {"titles": source.titles(), **source.raw_documents(inner)}


def _serve(fitted: Any, views: Any, shown: dict[str, Any], port: int) -> None:
    from coview.captions import texts_by_view
    from coview.explorer.explore import explorer_payload
    from coview.explorer.server import ExplorerSite, serve
    from coview.models import topic_model

    inner = topic_model(fitted)
    payload = explorer_payload(fitted, views, **shown)
    texts = texts_by_view(inner, shown["texts"])
    site = ExplorerSite(fitted, inner.as_views(views), payload, texts)
    serve(site, port, lambda url: note(f"Serving {url} until Ctrl-C."))
