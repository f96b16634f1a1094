"""The routes of the service, as a Starlette router behind the guard."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, Router

from coview.serving import schemas
from coview.serving.connections import Connections
from coview.serving.description import PROBES, describe
from coview.serving.engine import Answers, ServedModel
from coview.serving.errors import RequestError
from coview.serving.guard import Exchange, Guard
from coview.serving.metrics import CONTENT_TYPE, Metrics
from coview.serving.page import PAGE_POLICY, docs_page
from coview.serving.settings import ServiceSettings
from coview.serving.strict_json import count_containers, parse_json
from coview.serving.work import Deadline, WorkerPool
from coview.wording import listing

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Operation:
    """A route that asks a model: what it takes and gives, and how it is worked on."""

    path: str
    words: str
    takes: type[BaseModel]
    gives: type[BaseModel]
    work: Callable[[ServedModel, Any, Deadline], Mapping[str, Any]]
    method: str = "POST"
    more_errors: tuple[int, ...] = ()


def _with_ids(found: Answers, asked: schemas.DocumentsRequest) -> dict[str, Any]:
    ids: list[Any] = [None] * len(found.rows) if asked.ids is None else asked.ids
    rows = [{"id": name, **row} for name, row in zip(ids, found.rows, strict=True)]
    return {"documents": rows, "clipped": found.clipped}


OPERATIONS = (
    Operation(
        "/transform",
        "Compute the mixture of topics of documents.",
        schemas.DocumentsRequest,
        schemas.TransformAnswer,
        lambda served, asked, end: _with_ids(served.transform(asked.documents, end), asked),
    ),
    Operation(
        "/predict",
        "Predict the topic of documents, or their class if the model is a classifier.",
        schemas.DocumentsRequest,
        schemas.PredictAnswer,
        lambda served, asked, end: _with_ids(served.predict(asked.documents, end), asked),
    ),
    Operation(
        "/annotate",
        "Predict the terms that documents would have in one of the views.",
        schemas.AnnotateRequest,
        schemas.AnnotateAnswer,
        lambda served, asked, end: _with_ids(
            served.annotate(asked.documents, asked.in_view, asked.top, end), asked
        ),
    ),
    Operation(
        "/search",
        "Find the documents most similar to a query in any view, or to a known document.",
        schemas.SearchRequest,
        schemas.SearchAnswer,
        lambda served, asked, end: {
            "hits": served.search(
                asked.query, asked.like, asked.in_view, asked.top, asked.explain, end
            )
        },
        more_errors=(404,),
    ),
    Operation(
        "/topics",
        "List the topics, the largest first, with the most relevant terms of each view.",
        schemas.TopicsRequest,
        schemas.TopicsAnswer,
        lambda served, asked, end: {**served.facts(), "topics": served.topics(asked.terms)},
        method="GET",
    ),
)


class ServiceState:
    """What the routes share: the models, the threads, whether requests are welcome.

    Parameters
    ----------
    models : dict of ServedModel
        By name; the first is asked where no name is given. A model may be replaced by another while
        requests are worked on: they end with the one they began with.
    settings : ServiceSettings
    """

    def __init__(self, models: Mapping[str, ServedModel], settings: ServiceSettings) -> None:
        self.models = dict(models)
        self.settings = settings
        self.pool = WorkerPool(settings.workers, settings.max_requests)
        self.metrics = Metrics()
        self.connections = Connections(settings.max_connections, settings.read_timeout)
        self.prepared = False
        self.stopping = False
        self.metrics.gauges["coview_ready"] = lambda: float(self.ready)
        self.metrics.gauges["coview_requests_in_flight"] = lambda: self.pool.n_requests
        self.metrics.gauges["coview_connections"] = lambda: len(self.connections.open)

    @property
    def ready(self) -> bool:
        """Whether new requests are welcome; while it stops, those that come are still answered."""
        return self.prepared and not self.stopping

    async def compute(self, exchange: Exchange, work: Callable[[Deadline], bytes]) -> bytes:
        """Return what `work` computes in a thread, unless its client leaves."""
        if not self.prepared:
            raise RequestError(503, "not_ready", "The model is not ready.", {"Retry-After": "1"})
        exchange.at_work()
        deadline = Deadline(self.settings.timeout)
        listener = asyncio.ensure_future(exchange.cancel_when_left(deadline))
        try:
            return await self.pool.run(lambda: work(deadline), deadline)
        finally:
            listener.cancel()
            with suppress(asyncio.CancelledError):
                await listener

    def asked(
        self, operation: Operation, served: ServedModel, body: bytes | bytearray
    ) -> BaseModel:
        """Return a request that was sent as JSON, if it has the right shape and is not too long."""
        most, fields = self.settings.max_documents, operation.takes.model_fields
        too_many = RequestError(
            413, "too_many_documents", f"At most {most:,} documents in one request."
        )
        containers = (most + 1) * (1 + served.n_values) + 1  # of that many documents
        if count_containers(body, containers) > containers:
            raise too_many
        value = parse_json(body)
        if not isinstance(value, dict):
            raise RequestError(422, "invalid", "Send an object, a dictionary of JSON.")
        if unknown := value.keys() - fields.keys():  # all at once: there may be many
            message = f"There is no {listing(sorted(unknown))}. Known are {listing(fields)}."
            raise RequestError(422, "invalid", message)
        documents = value.get("documents")
        if isinstance(documents, list) and len(documents) > most:
            raise too_many
        return operation.takes.model_validate(value)


def make_app(state: ServiceState) -> Guard:
    """Return the ASGI app of a service.

    Parameters
    ----------
    state : ServiceState
    """
    first, *_ = state.models
    routes: list[Any] = _model_routes(state, first, "")
    routes += [
        Mount(f"/models/{name}", routes=_model_routes(state, name, f"/models/{name}"))
        for name in state.models
    ]
    routes += [_route(path, _probe(state, path)) for path in PROBES]
    router = Router(routes, redirect_slashes=False)
    return Guard(router, state.settings, state.metrics, state.connections)


def _route(path: str, endpoint: Endpoint, method: str = "GET", prefix: str = "") -> Route:
    async def noting(request: Request) -> Response:
        request.scope["coview"].route = prefix + path
        return await endpoint(request)

    return Route(path, noting, methods=[method])


def _model_routes(state: ServiceState, name: str, prefix: str) -> list[Route]:
    """Return the routes of one model."""

    def describing(as_text: Callable[[dict[str, Any]], str], **headers: str) -> Endpoint:
        async def described(request: Request) -> Response:
            served, with_token = state.models[name], state.settings.token is not None
            text = await state.compute(
                request.scope["coview"],
                lambda end: as_text(describe(OPERATIONS, served, with_token, prefix)).encode(),
            )
            return Response(text, headers=headers)

        return described

    json_type, page_type = "application/json", "text/html; charset=utf-8"
    page_headers = {"Content-Type": page_type, "Content-Security-Policy": PAGE_POLICY}
    return [
        *(_route(o.path, _operation(state, name, o), o.method, prefix) for o in OPERATIONS),
        _route(
            "/openapi.json", describing(json.dumps, **{"Content-Type": json_type}), "GET", prefix
        ),
        _route("/docs", describing(docs_page, **page_headers), "GET", prefix),
    ]


def _operation(state: ServiceState, name: str, operation: Operation) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        exchange, served = request.scope["coview"], state.models[name]
        body = b"" if operation.method == "GET" else await exchange.json_body()
        query = dict(request.query_params)

        def work(end: Deadline) -> bytes:
            if operation.method == "GET":
                asked = operation.takes.model_validate(query)
            else:
                asked = state.asked(operation, served, body)
            return json.dumps(operation.work(served, asked, end), allow_nan=False).encode()

        return Response(await state.compute(exchange, work), media_type="application/json")

    return endpoint


def _probe(state: ServiceState, path: str) -> Endpoint:
    """Return a route that is answered at once, without a thread."""

    async def endpoint(request: Request) -> Response:
        if path == "/metrics":
            return Response(state.metrics.text(), headers={"Content-Type": CONTENT_TYPE})
        content: dict[str, Any] = {"status": "ready" if path == "/readyz" else "ok"}
        if path == "/readyz" and not state.ready:
            raise RequestError(503, "not_ready", "Not ready: starting or stopping.")
        if path == "/models":
            content = {"models": [{"name": n, **m.facts()} for n, m in state.models.items()]}
        return Response(json.dumps(content), media_type="application/json")

    return endpoint
