"""The OpenAPI description of a service, with the views of its model."""

from __future__ import annotations

from typing import Any

from coview.serving.engine import ServedModel
from coview.serving.schemas import MAX_COUNT


def describe(described: dict[str, Any], served: ServedModel, with_token: bool) -> dict[str, Any]:
    """Return the description that FastAPI makes, with the names of the views filled in.

    Parameters
    ----------
    described : dict
        As `FastAPI.openapi` returns it; it is changed.
    served : ServedModel
    with_token : bool
        Whether clients need a token.
    """
    schemas = described["components"]["schemas"]
    document = _document(served)
    for name in ("DocumentsRequest", "AnnotateRequest"):
        schemas[name]["properties"]["documents"]["items"] = document
    schemas["SearchRequest"]["properties"]["query"] = document
    views = list(served.model.view_names_)
    schemas["AnnotateRequest"]["properties"]["in_view"] = {"enum": views}
    schemas["SearchRequest"]["properties"]["in_view"] = {"enum": [*views, None]}
    for path, example in _examples(served).items():
        content = described["paths"][path]["post"]["requestBody"]["content"]
        content["application/json"]["example"] = example
    if with_token:
        _add_token(described)
    return described


def _examples(served: ServedModel) -> dict[str, Any]:
    """Return a request for each route that takes one, with a term that the model knows."""
    document = served.some_document()
    ((view, counts),) = document.items()
    other = served.model.view_names_[-1]
    return {
        "/transform": {"documents": [document]},
        "/predict": {"documents": [document, {view: list(counts)}], "ids": ["first", "second"]},
        "/annotate": {"documents": [document], "in_view": other, "top": 5},
        "/search": {"query": document, "in_view": other, "top": 5, "explain": True},
    }


def _add_token(described: dict[str, Any]) -> None:
    described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for path, methods in described["paths"].items():
        for method in methods.values():
            if path not in ("/healthz", "/readyz"):
                method["security"] = [{"token": []}]


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
    return {"anyOf": [*_raw(kind), *choices]}


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
