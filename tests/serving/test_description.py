"""The OpenAPI description: a page without anything from elsewhere, and a service that obeys."""

import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from coview import LinkPLSA, Views
from coview.serving.engine import ServedModel
from tests.serving.service import running

N_EXAMPLES = 12  # requests of each route, generated from the description


def small_model():
    views = Views(
        {
            "words": [[3, 0, 1], [0, 4, 0], [1, 0, 2]],
            "points": np.array([[-1.5, 2], [2, 1], [1, 3]]),
        },
        features={"words": ["ball", "moon", "goal"]},
        ids=["a", "b", "c"],
    )
    made = ServedModel(LinkPLSA(2, init="random", max_iter=5, tol=0.0, random_state=0).fit(views))
    made.prepare()
    return made


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
        *("/healthz", "/readyz", "/metrics", "/models"),
    }
    assert "securitySchemes" not in described["components"]


def test_the_token_is_described():
    token = "a-token-of-enough-characters"
    with running(token=token) as service:
        described = service.get("/openapi.json", Authorization=f"Bearer {token}").json
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert described["paths"]["/search"]["post"]["security"] == [{"token": []}]
    assert "security" not in described["paths"]["/healthz"]["get"]


def test_the_views_are_described(service):
    schemas = service.get("/openapi.json").json["components"]["schemas"]
    document = schemas["SearchRequest"]["properties"]["query"]
    assert set(document["properties"]) == {"en", "de"}
    assert schemas["AnnotateRequest"]["properties"]["in_view"] == {"enum": ["en", "de"]}


def test_the_examples_are_answered(service):
    for path, methods in service.get("/openapi.json").json["paths"].items():
        if "post" in methods:
            content = methods["post"]["requestBody"]["content"]
            found = service.post(path, content["application/json"]["example"])
            assert found.status == 200
            answers = methods["post"]["responses"]["200"]["content"]
            assert found.json == answers["application/json"]["example"]


def test_links_lead_from_one_answer_to_the_next(service):
    paths = service.get("/openapi.json").json["paths"]
    link = paths["/search"]["post"]["responses"]["200"]["links"]["more_like_the_first"]
    assert link["requestBody"]["like"] == "$response.body#/hits/0/id"
    first = service.post("/search", {"query": {"en": "rain"}}).json["hits"][0]["id"]
    assert service.post(f"/{link['operationId']}", {"like": first}).status == 200


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::coview.DataWarning")
def test_generated_requests_find_nothing(tmp_path):
    """schemathesis sends what the description allows and what it does not."""
    if find_spec("schemathesis") is None:
        pytest.skip("schemathesis is not installed: pip install 'coview[fuzz]'")
    config = tmp_path / "schemathesis.toml"
    # a query of unknown words, or a document that is not there, is refused though it fits
    config.write_text(
        '[checks]\npositive_data_acceptance.expected-statuses = ["2xx", "404", "422"]\n'
    )
    with running(small_model()) as service:
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", config, "run"),
            *(f"http://127.0.0.1:{service.port}/openapi.json", "-n", N_EXAMPLES, "--seed", 1),
            *("--phases", "examples,coverage,fuzzing,stateful", "--no-color"),
        ]
        ran = subprocess.run(
            list(map(str, command)), cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        metrics = service.state.metrics.text()
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
    for route in ("/transform", "/predict", "/annotate", "/search"):
        assert f'{{route="{route}",status="200"}}' in metrics
