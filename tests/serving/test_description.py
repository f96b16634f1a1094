"""The OpenAPI description: a page that needs nothing from elsewhere, and a service that obeys it."""

import re

import pytest

from tests.serving.service import running

N_EXAMPLES = 25  # requests of each route, generated from the description
N_EXAMPLES_SLOW = 300


def test_the_page_needs_nothing_from_elsewhere(service):
    page = service.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    text = page.body.decode()
    assert "<script" not in text
    assert not re.search(r"(src|href)=.?(https?:)?//", text)
    for route in ("/transform", "/predict", "/search", "/annotate", "/topics"):
        assert route in text


def test_every_route_is_described(service):
    described = service.get("/openapi.json").json
    assert set(described["paths"]) == {
        *("/transform", "/predict", "/annotate", "/search", "/topics"),
        *("/healthz", "/readyz", "/metrics"),
    }
    assert "HTTPValidationError" not in str(described)
    assert "securitySchemes" not in described["components"]


def test_the_token_is_described():
    with running(token="a-token-of-enough-characters") as service:
        described = service.get("/openapi.json").json
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert described["paths"]["/search"]["post"]["security"] == [{"token": []}]
    assert "security" not in described["paths"]["/healthz"]["get"]


@pytest.mark.parametrize(
    "n_examples", [N_EXAMPLES, pytest.param(N_EXAMPLES_SLOW, marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_generated_requests_find_nothing(service, n_examples, monkeypatch):
    found = schemathesis_failures(f"http://127.0.0.1:{service.port}", n_examples)
    assert not found, "\n\n".join(found)
