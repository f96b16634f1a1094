"""The command `coview serve`: a model as an HTTP service."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
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
_NAME = re.compile(r"[^A-Za-z0-9._-]")  # what cannot be part of a route


def serve(
    models: Annotated[
        list[Path],
        typer.Argument(
            help="Models, written by `coview fit`.", metavar="MODEL...", show_default=False
        ),
    ],
    data: Annotated[
        list[Path] | None,
        typer.Option(
            help="Documents to search (a table, folder or .h5mu file); answers show the beginning "
            "of their texts. Of several models, one for each. Default: the training documents, as "
            "the model keeps them.",
        ),
    ] = None,
    id: options.Id = None,
    title: options.Title = None,
    index: Annotated[
        list[Path] | None,
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
            help="Requests waiting or worked on; more get 503.",
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
    log_format: Annotated[
        str, typer.Option(help="text, or json: an object for each line.", metavar="FORMAT")
    ] = "text",
    quiet: options.Quiet = False,
) -> None:
    """Serve models over HTTP: topics, predictions, search across views, as JSON.

    Only this machine can reach it unless --host says otherwise; then a token is needed. The routes
    are described at /docs; of several models the first is asked there, and each under
    /models/NAME. SIGTERM and Ctrl-C stop it when all requests are answered, SIGHUP lets it read
    its files again.

    Examples:

      coview serve news.coview

      coview serve news.coview --data news.csv --id id

      coview serve news.coview papers.coview --log-format json

      COVIEW_TOKEN=... coview serve news.coview --host 0.0.0.0 --allowed-host topics.example.org
    """
    from coview.extras import need

    need("starlette", "serve")
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
        log_format=log_format,
    )
    if data and index:
        raise UsageError("An index has its own documents: leave out --data, or --index.")
    if title is not None and not data:
        raise UsageError("--title is a column of the table of --data: give that as well.")
    run(
        {
            name: partial(_served, path, DataSource(documents, id=id, title=title), searched)
            for (name, path), documents, searched in zip(
                _named(models).items(),
                _one_each("--data", data, models),
                _one_each("--index", index, models),
                strict=True,
            )
        },
        settings,
        (lambda words: None) if quiet else note,
    )


def _named(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the files by the names that their routes have."""
    if len(paths) == 1:
        return {_NAME.sub("_", paths[0].stem): paths[0]}
    found = {path.stem: path for path in paths}
    if len(found) < len(paths) or any(map(_NAME.search, found)):
        raise UsageError(
            "Of several models the names of the files are part of addresses: they must differ, "
            "and have only letters of ASCII, digits, '.', '_' and '-'."
        )
    return found


def _one_each(
    option: str, given: Sequence[Path] | None, models: Sequence[Path]
) -> Sequence[Path | None]:
    if given and len(given) != len(models):
        raise UsageError(f"Give {option} once for each model ({len(models)}), or not at all.")
    return given or [None] * len(models)


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
        if not hasattr(inner, "search_"):
            note(
                "Searches rank by topics alone: the model keeps no documents. Give the table it "
                "was fitted to with --data, or fit it again without --no-search."
            )
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
