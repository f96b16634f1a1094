"""The command `coview serve`: a model as an HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.inputs import DataSource
from coview.cli.options import UsageError
from coview.cli.output import note
from coview.models import topic_model

if TYPE_CHECKING:
    from coview.serving.engine import ServedModel
    from coview.serving.settings import ServiceSettings
    from coview.views.container import Views

_ACCESS = "Access"
_LIMITS = "Limits"


def serve(
    model: options.Model,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Documents to search (a table, folder or .h5mu file); answers show the beginning "
            "of their texts. Those the model was fitted to are then compared by their words as "
            "well. Default: the training documents.",
        ),
    ] = None,
    id: options.Id = None,
    title: options.Title = None,
    index: Annotated[
        Path | None,
        typer.Option(help="Search index written by `coview search --index`, instead of --data."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on.", rich_help_panel=_ACCESS)
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="0: a free one.", rich_help_panel=_ACCESS)
    ] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the token that clients must send (Authorization: Bearer TOKEN). "
            "Default: the environment variable COVIEW_TOKEN. Needed if --host is not loopback.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Name that clients may call the service by; * for any. Repeatable. Needed if "
            "--host is not loopback.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    max_body: Annotated[
        float, typer.Option(min=0.001, help="MB of a request.", rich_help_panel=_LIMITS)
    ] = 10.0,
    max_documents: Annotated[
        int, typer.Option(min=1, help="Documents of a request.", rich_help_panel=_LIMITS)
    ] = 1000,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for an answer.", rich_help_panel=_LIMITS)
    ] = 30.0,
    read_timeout: Annotated[
        float,
        typer.Option(
            min=0.1,
            help="Seconds for a client to send headers, to send a body, to take an answer.",
            rich_help_panel=_LIMITS,
        ),
    ] = 10.0,
    workers: Annotated[
        int,
        typer.Option(
            min=1, help="Requests worked on at once, a thread each.", rich_help_panel=_LIMITS
        ),
    ] = 2,
    max_requests: Annotated[
        int,
        typer.Option(
            min=1,
            help="Requests read, waiting or worked on; more get 503.",
            rich_help_panel=_LIMITS,
        ),
    ] = 64,
    max_connections: Annotated[
        int, typer.Option(min=1, help="Open connections.", rich_help_panel=_LIMITS)
    ] = 512,
    rate: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="Requests a second of one address, twice as many at once; 0: any.",
            rich_help_panel=_LIMITS,
        ),
    ] = 100.0,
    drain: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="Seconds that /readyz says no before SIGTERM ends listening.",
            rich_help_panel=_LIMITS,
        ),
    ] = 0.0,
    quiet: options.Quiet = False,
) -> None:
    """Serve a model over HTTP: topics, predictions, search across views, as JSON.

    Only this machine can reach it unless --host says otherwise; then a token is needed. The routes
    are described at /docs. SIGTERM and Ctrl-C stop it when all requests are answered.

    Examples:

      coview serve news.coview --data news.csv --id id

      COVIEW_TOKEN=... coview serve news.coview --host 0.0.0.0 --allowed-host topics.example.org
    """
    from coview.extras import need

    need("fastapi", "serve")
    need("uvicorn", "serve")
    from coview.serving.server import serve as run

    settings = _settings(
        token_file,
        host=host,
        port=port,
        allowed_hosts=tuple(allowed_host or ()),
        max_body=int(max_body * 1e6),
        max_documents=max_documents,
        timeout=timeout,
        read_timeout=read_timeout,
        workers=workers,
        max_requests=max_requests,
        max_connections=max_connections,
        rate=rate,
        drain=drain,
    )
    if data is not None and index is not None:
        raise UsageError("An index has its own documents: leave out --data, or --index.")
    if title is not None and data is None:
        raise UsageError("--title is a column of the table of --data: give that as well.")
    run(
        _served(model, DataSource(data, id=id, title=title), index),
        settings,
        (lambda words: None) if quiet else note,
    )


def _settings(token_file: Path | None, **given: Any) -> ServiceSettings:
    from coview.serving.settings import ServiceSettings, read_token

    try:
        return ServiceSettings(token=read_token(token_file), **given)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _served(model: Path, source: DataSource, index: Path | None) -> ServedModel:
    from coview.io import load
    from coview.retrieval import SearchIndex
    from coview.serving.engine import ServedModel

    fitted = load(model)
    inner = topic_model(fitted)
    if index is not None:
        return ServedModel(fitted, SearchIndex.load(index, inner))
    if source.data is None:
        return ServedModel(fitted)
    return ServedModel(fitted, documents=_documents(inner, source), captions=source.captions(inner))


def _documents(model: Any, source: DataSource) -> dict[str, Views]:
    """Return the documents of --data as an argument of `SearchIndex`."""
    from coview.cli.apply import all_documents
    from coview.cli.search import in_training_order
    from coview.retrieval.gallery import OtherDocuments, check_training_views

    views, _ = all_documents(source, model)
    if len(views) == len(model.doc_topic_):
        views = in_training_order(model, views)
    try:
        check_training_views(model, views)
    except OtherDocuments:
        note("The documents of --data are not those of the fit: they are searched as new ones.")
        return {"views": views}
    return {"training_views": views}
