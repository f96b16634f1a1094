"""The OpenAPI description of a service, with the views of its model and real answers of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from coview import __version__
from coview.serving import schemas
from coview.serving.engine import ServedModel
from coview.serving.schemas import MAX_COUNT
from coview.serving.work import Deadline

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
    503: "Too many requests at once, or not ready",
    504: "It took too long",
    505: "Another version of HTTP is wanted",
}
PROBE_ERRORS = (400, 405, 500, 505)
GET_ERRORS = (*PROBE_ERRORS, 401, 422, 429, 503, 504)
POST_ERRORS = (*GET_ERRORS, 408, 413, 415)
# what each route says that is answered at once, what it gives, and its errors
PROBES: dict[str, tuple[str, type[BaseModel] | None, tuple[int, ...]]] = {
    "/healthz": ("Tell that the process lives.", schemas.StatusAnswer, PROBE_ERRORS),
    "/readyz": (
        "Tell whether requests are welcome: not before the model is ready, not while stopping.",
        schemas.StatusAnswer,
        (*PROBE_ERRORS, 503),
    ),
    "/metrics": (
        "Return counts and times of requests, as Prometheus reads them.",
        None,
        (*PROBE_ERRORS, 401, 429),
    ),
    "/models": ("List the models.", schemas.ModelsAnswer, (*PROBE_ERRORS, 401, 429)),
}


def describe(
    operations: Sequence[Any], served: ServedModel, with_token: bool, prefix: str = ""
) -> dict[str, Any]:
    """Return the description of the routes of one model.

    Parameters
    ----------
    operations : sequence of Operation
    served : ServedModel
    with_token : bool
        Whether clients need a token.
    prefix : str
        What stands before the routes; without one the routes that belong to no model are described
        as well.
    """
    examples = _examples(served)
    paths: dict[str, Any] = {}
    for one in operations:
        described = _described(one.path, one.words, one.gives, _errors_of(one))
        request = one.takes(**examples[one.path])
        answer = one.work(served, request, Deadline(60))
        described["responses"]["200"]["content"]["application/json"]["example"] = answer
        if one.method == "POST":
            schema = {"$ref": f"#/components/schemas/{one.takes.__name__}"}
            body = {"schema": schema, "example": examples[one.path]}
            described["requestBody"] = {"required": True, "content": {"application/json": body}}
        else:
            fields = one.takes.model_json_schema()["properties"]
            described["parameters"] = [
                {"name": n, "in": "query", "required": False, "schema": f}
                for n, f in fields.items()
            ]
        paths[one.path] = {one.method.lower(): described}
    for path, (words, gives, errors) in PROBES.items() if not prefix else ():
        paths[path] = {"get": _described(path, words, gives, errors)}
    _add_links(paths, examples)
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "coview",
            "version": __version__,
            "description": "A multi-view topic model: topics, predictions, search across views.",
        },
        "servers": [{"url": prefix or "/"}],
        "paths": paths,
        "components": {"schemas": _schemas(operations, served)},
    }
    if with_token:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, methods in paths.items():
            for method in methods.values() if path not in ("/healthz", "/readyz") else ():
                method["security"] = [{"token": []}]
    return found


def _errors_of(operation: Any) -> tuple[int, ...]:
    return (*(POST_ERRORS if operation.method == "POST" else GET_ERRORS), *operation.more_errors)


def _described(
    path: str, words: str, gives: type[BaseModel] | None, errors: Sequence[int]
) -> dict[str, Any]:
    """Return the description of one route, without what it takes."""
    answers = {200: gives, **dict.fromkeys(sorted(errors), schemas.ErrorAnswer)}
    return {
        "operationId": path.strip("/"),
        "description": words,
        "responses": {
            str(status): {
                "description": MEANINGS.get(status, "The answer"),
                "content": {"text/plain": {"schema": {"type": "string"}}}
                if kind is None
                else {
                    "application/json": {
                        "schema": {"$ref": f"#/components/schemas/{kind.__name__}"}
                    }
                },
            }
            for status, kind in answers.items()
        },
    }


def _add_links(paths: Mapping[str, Any], examples: Mapping[str, Any]) -> None:
    """Say what may be asked next with what an answer has: a document found, a view."""
    asked = {**examples["/annotate"], "in_view": "$response.body#/views/0"}
    paths["/search"]["post"]["responses"]["200"]["links"] = {
        "more_like_the_first": {
            "operationId": "search",
            "requestBody": {"like": "$response.body#/hits/0/id"},
        }
    }
    paths["/topics"]["get"]["responses"]["200"]["links"] = {
        "terms_of_a_view": {"operationId": "annotate", "requestBody": asked}
    }


def _schemas(operations: Sequence[Any], served: ServedModel) -> dict[str, Any]:
    """Return the shapes of requests and answers, with the names of the views filled in."""
    kinds = [kind for one in operations for kind in (one.takes, one.gives)]
    kinds += [gives for _, gives, _ in PROBES.values() if gives is not None]
    _, made = models_json_schema(
        [(kind, "validation") for kind in dict.fromkeys([*kinds, schemas.ErrorAnswer])],
        ref_template="#/components/schemas/{model}",
    )
    found: dict[str, Any] = made["$defs"]
    document = _document(served)
    for name in ("DocumentsRequest", "AnnotateRequest"):
        found[name]["properties"]["documents"]["items"] = document
    found["SearchRequest"]["properties"]["query"] = document
    views = list(served.model.view_names_)
    found["AnnotateRequest"]["properties"]["in_view"] = {"enum": views}
    found["SearchRequest"]["properties"]["in_view"] = {"enum": [*views, None]}
    return found


def _examples(served: ServedModel) -> dict[str, Any]:
    """Return a request for each route, with a term that the model knows."""
    document = served.some_document()
    ((view, counts),) = document.items()
    other = next(n for n, t in reversed(served.model.components_.items()) if t.any())
    return {
        "/transform": {"documents": [document]},
        "/predict": {"documents": [document, {view: list(counts)}], "ids": ["first", "second"]},
        "/annotate": {"documents": [document], "in_view": other, "top": 5},
        "/search": {"query": document, "in_view": served.some_view(other), "top": 5},
        "/topics": {"terms": 3},
    }


def _document(served: ServedModel) -> dict[str, Any]:
    """Return the schema of a document: what each view takes."""
    model = served.model
    recipes = [recipe for recipe in model.recipes_.values() if recipe is not None]
    kinds = {recipe.source: recipe.kind for recipe in recipes}
    properties = {
        view: _value(kinds.get(view), topics.shape[1], view in served.real_views)
        for view, topics in model.components_.items()
    }
    for recipe in recipes:
        if recipe.kind == "embedding":  # its rows of numbers are vectors
            rows = _row(recipe.centers.shape[1], real=True)
            properties.setdefault(recipe.source, {"anyOf": [rows]})["anyOf"][-1] = rows
    for source, kind in kinds.items():  # a column of pictures, of which several views are made
        properties.setdefault(source, {"anyOf": _raw(kind)})
    return {
        "type": "object",
        "description": "For some views a text, terms with counts, a list of terms, a row of "
        "numbers or a picture.",
        "properties": properties,
        "additionalProperties": False,
        "minProperties": 1,
    }


def _value(kind: str | None, width: int, real: bool) -> dict[str, Any]:
    row = _row(width, real)
    choices: list[dict[str, Any]] = [
        {"type": "object", "additionalProperties": row["items"]},
        {"type": "array", "items": {"type": "string"}},
        row,
    ]
    return {"anyOf": [{"type": "null"}, *_raw(kind), *choices]}


def _row(width: int, real: bool) -> dict[str, Any]:
    number = {"type": "number", "minimum": -MAX_COUNT if real else 0, "maximum": MAX_COUNT}
    return {"type": "array", "items": number, "minItems": width, "maxItems": width}


def _raw(kind: str | None) -> list[dict[str, Any]]:
    if kind is None or kind == "embedding":
        return []
    if not kind.startswith("image"):
        return [{"type": "string"}]
    base64 = {"type": "string", "contentEncoding": "base64"}
    return [
        {
            "type": "object",
            "properties": {"base64": base64},
            "required": ["base64"],
            "additionalProperties": False,
        }
    ]
