"""The routes of the service, as a FastAPI app behind the guard."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from coview import __version__
from coview.serving import schemas
from coview.serving.description import describe
from coview.serving.engine import Answers, ServedModel
from coview.serving.errors import RequestError, error_body
from coview.serving.guard import App, Guard, internal_error
from coview.serving.metrics import CONTENT_TYPE, Metrics
from coview.serving.page import PAGE_POLICY, docs_page
from coview.serving.settings import ServiceSettings
from coview.serving.work import Deadline, WorkerPool
from coview.wording import printable

GET_ERRORS = (400, 401, 405, 422, 429, 500, 503)
POST_ERRORS = (*GET_ERRORS, 408, 413, 415, 504)
PROBE_ERRORS = (400, 405, 500)
MEANINGS = {
    400: "Malformed request or JSON, or a wrong Host",
    401: "The token is missing or wrong",
    404: "There is no such document",
    405: "Another method is wanted",
    408: "The body came too slowly",
    413: "The body is too large",
    415: "The body is not declared as JSON",
    422: "The JSON has another shape than the schema, or does not fit the model",
    429: "Too many requests of one address",
    500: "An error of the service",
    501: "This version of coview cannot do it",
    503: "Too many requests at once, or not ready",
    504: "It took too long",
}


class ServiceState:
    """What the routes share: the model, the threads, whether requests are welcome.

    Parameters
    ----------
    served : ServedModel
    settings : ServiceSettings
    """

    def __init__(self, served: ServedModel, settings: ServiceSettings) -> None:
        self.served = served
        self.settings = settings
        self.pool = WorkerPool(settings.workers)
        self.metrics = Metrics()
        self.prepared = False
        self.stopping = False
        self.metrics.gauges["coview_ready"] = lambda: float(self.ready)

    @property
    def ready(self) -> bool:
        """Whether new requests are welcome; while it stops, those that come are still answered."""
        return self.prepared and not self.stopping

    async def answer(self, request: Request, work: Callable[[Deadline], Any]) -> Response:
        """Return what `work` computes in a thread, as JSON."""
        if not self.prepared:
            raise RequestError(503, "not_ready", "The model is not ready.", {"Retry-After": "1"})
        deadline: Deadline = request.scope["coview.deadline"]

        def as_bytes() -> bytes:
            return json.dumps(work(deadline), allow_nan=False).encode()

        body = await self.pool.run(as_bytes, deadline)
        return Response(body, media_type="application/json")


def make_app(state: ServiceState) -> App:
    """Return the ASGI app of a service.

    Parameters
    ----------
    state : ServiceState
    """
    api = FastAPI(
        title="coview",
        version=__version__,
        description="A multi-view topic model: topics, predictions, search across views.",
        docs_url=None,  # FastAPI's own pages load scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
    )
    _add_document_routes(api, state)
    _add_search(api, state)
    _add_topics(api, state)
    _add_probes(api, state)
    _add_errors(api)
    _add_description(api, state)
    routes = {
        route.path: frozenset(route.methods or ())
        for route in api.routes
        if isinstance(route, APIRoute)
    }
    return Guard(api, state.settings, routes, state.metrics)


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {s: {"model": schemas.ErrorAnswer, "description": MEANINGS[s]} for s in statuses}


def _with_ids(found: Answers, body: schemas.DocumentsRequest) -> dict[str, Any]:
    ids: list[Any] = [None] * len(found.rows) if body.ids is None else body.ids
    rows = [{"id": name, **row} for name, row in zip(ids, found.rows, strict=True)]
    return {"documents": rows, "clipped": found.clipped}


def _add_document_routes(api: FastAPI, state: ServiceState) -> None:
    served = state.served

    def checked(body: schemas.DocumentsRequest) -> list[dict[str, Any]]:
        most = state.settings.max_documents
        if len(body.documents) > most:
            raise RequestError(
                413, "too_many_documents", f"At most {most:,} documents in one request."
            )
        return body.documents

    @api.post("/transform", response_model=schemas.TransformAnswer, responses=_errors(*POST_ERRORS))
    async def transform(body: schemas.DocumentsRequest, request: Request) -> Response:
        """Compute the mixture of topics of documents."""
        documents = checked(body)
        return await state.answer(
            request, lambda end: _with_ids(served.transform(documents, end), body)
        )

    @api.post("/predict", response_model=schemas.PredictAnswer, responses=_errors(*POST_ERRORS))
    async def predict(body: schemas.DocumentsRequest, request: Request) -> Response:
        """Predict the topic of documents, or their class if the model is a classifier."""
        documents = checked(body)
        return await state.answer(
            request, lambda end: _with_ids(served.predict(documents, end), body)
        )

    @api.post(
        "/annotate",
        response_model=schemas.AnnotateAnswer,
        responses=_errors(*POST_ERRORS, 501),
    )
    async def annotate(body: schemas.AnnotateRequest, request: Request) -> Response:
        """Predict the terms that documents would have in one of the views."""
        documents = checked(body)
        return await state.answer(
            request,
            lambda end: _with_ids(served.annotate(documents, body.in_view, body.top, end), body),
        )


def _add_search(api: FastAPI, state: ServiceState) -> None:
    @api.post("/search", response_model=schemas.SearchAnswer, responses=_errors(*POST_ERRORS, 404))
    async def search(body: schemas.SearchRequest, request: Request) -> Response:
        """Find the documents most similar to a query in any view, or to a known document."""
        return await state.answer(
            request,
            lambda end: {
                "hits": state.served.search(
                    body.query, body.like, body.in_view, body.top, body.explain, end
                )
            },
        )


def _add_topics(api: FastAPI, state: ServiceState) -> None:
    @api.get("/topics", response_model=schemas.TopicsAnswer, responses=_errors(*GET_ERRORS, 504))
    async def topics(request: Request, terms: Annotated[int, Query(ge=1, le=100)] = 10) -> Response:
        """List the topics, the largest first, with the most relevant terms of each view."""
        served = state.served
        return await state.answer(
            request, lambda end: {**served.facts(), "topics": served.topics(terms)}
        )


def _add_probes(api: FastAPI, state: ServiceState) -> None:
    @api.get("/healthz", response_model=schemas.StatusAnswer, responses=_errors(*PROBE_ERRORS))
    async def healthz() -> dict[str, str]:
        """Tell that the process lives."""
        return {"status": "ok"}

    @api.get("/readyz", response_model=schemas.StatusAnswer, responses=_errors(*PROBE_ERRORS, 503))
    async def readyz() -> dict[str, str]:
        """Tell whether requests are welcome: not before the model is ready, not while stopping."""
        if not state.ready:
            raise RequestError(503, "not_ready", "Not ready: starting or stopping.")
        return {"status": "ready"}

    @api.get(
        "/metrics",
        response_class=Response,
        responses={
            200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
            **_errors(*GET_ERRORS),
        },
    )
    async def metrics() -> Response:
        """Return counts and times of requests, as Prometheus reads them."""
        return Response(state.metrics.text(), media_type=CONTENT_TYPE)


def _add_description(api: FastAPI, state: ServiceState) -> None:
    described = describe(api.openapi(), state.served, state.settings.token is not None)
    text, page = json.dumps(described), docs_page(described)

    @api.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return Response(text, media_type="application/json")

    @api.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        headers = {"Content-Security-Policy": PAGE_POLICY}
        return Response(page, media_type="text/html", headers=headers)


# -- errors ----------------------------------------------------------------------------------------


def _add_errors(api: FastAPI) -> None:
    @api.exception_handler(RequestError)
    async def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestError)
        return _error(request, error)

    @api.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _error(request, RequestError(422, "invalid", validation_message(error.errors())))

    @api.exception_handler(HTTPException)
    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code = {404: "not_found", 405: "bad_method"}.get(error.status_code, "bad_request")
        headers = dict(error.headers or {})
        message = f"{error.detail}."
        return _error(request, RequestError(error.status_code, code, message, headers))

    @api.exception_handler(Exception)
    async def internal(request: Request, error: Exception) -> Response:
        return _error(request, internal_error())  # the guard writes the log


def _error(request: Request, error: RequestError) -> Response:
    body = error_body(error.code, error.message, request.scope["coview.id"])
    return Response(body, error.status, error.headers, media_type="application/json")


def validation_message(errors: Any) -> str:
    """Return the first things that are wrong with a body, in words, without what it holds.

    >>> validation_message([{"loc": ("body", "top"), "msg": "Input should be greater than 0"}])
    'top: Input should be greater than 0.'
    """
    parts = []
    for error in list(errors)[:3]:
        place = ".".join(str(part) for part in error["loc"][1:] if part != "[key]")
        message = str(error["msg"]).removeprefix("Value error, ")
        parts.append(f"{printable(place)}: {message}" if place else message)
    more = len(errors) - len(parts)
    return "; ".join(parts) + (f"; and {more:,} more" if more > 0 else "") + "."
