"""A small model of the news that come with coview, whose documents lack views, and node."""

import csv
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from coview import LinkPLSA, Views
from coview.explorer.explore import explorer_payload

ROOT = Path(__file__).parents[2]
NEWS = ROOT / "examples" / "news.csv"


@pytest.fixture(scope="session")
def news():
    return Views.from_table(NEWS, text=["en", "de"], id="id", label="topic")


@pytest.fixture(scope="session")
def news_texts():
    with NEWS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {view: [row[view] or None for row in rows] for view in ("en", "de")}


@pytest.fixture(scope="session")
def news_model(news):
    return LinkPLSA(6, random_state=0, ensemble=0.0, init="kmeans", max_iter=30, tol=0).fit(news)


@pytest.fixture(scope="session")
def news_payload(news_model, news, news_texts):
    return explorer_payload(news_model, news, texts=news_texts, title="News")


@pytest.fixture(scope="session")
def node():
    """Run a script of frontend/test in node."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed: the code of the page is not run")

    def run(*arguments):
        found = subprocess.run(
            [program, *map(str, arguments)],
            cwd=ROOT / "frontend",
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert found.returncode == 0, found.stdout + found.stderr
        return found.stdout

    return run


@pytest.fixture(scope="session")
def page_answers(node, tmp_path_factory):
    """Ask the code of the page: scores and mixtures of queries."""
    from coview.explorer.container import pack

    def ask(payload, queries):
        folder = tmp_path_factory.mktemp("page")
        (folder / "page.bin").write_bytes(pack(payload))
        (folder / "queries.json").write_text(json.dumps(queries))
        return json.loads(
            node("test/helpers/scores.mjs", folder / "page.bin", folder / "queries.json")
        )

    return ask
