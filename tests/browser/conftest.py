"""Pages of the explorer in Debian's chromium, from a file and without a network."""

from __future__ import annotations

import csv
import os
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from coview import LinkPLSA, Views

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
OPTIONS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


@dataclass
class News:
    """A small table in two languages with gaps, a model of it, and its page."""

    model: Any
    views: Views
    texts: dict[str, list[str]]
    path: Path = Path()
    rows: list[dict[str, str]] = field(default_factory=list)


def fitted(views: Views, n_topics: int) -> LinkPLSA:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it need not converge to be looked at
        return LinkPLSA(n_topics, init="random", max_iter=40, random_state=0).fit(views)


@pytest.fixture(scope="session")
def news(tmp_path_factory):
    table = ROOT / "examples" / "news.csv"
    views = Views.from_table(table, text=["en", "de"], id="id", label="topic")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = {name: [row[name] for row in rows] for name in ("en", "de")}
    found = News(fitted(views, 6), views, texts, rows=rows)
    path = tmp_path_factory.mktemp("pages") / "news.html"
    found.path = Path(found.model.explore(views, path, texts=texts, title="News"))
    return found


@dataclass
class Opened:
    """A page with what its browser said about it."""

    page: Any
    messages: list[str]
    requests: list[str]

    def hash(self) -> str:
        self.page.wait_for_timeout(250)  # it is written a moment after a change
        return self.page.evaluate("location.hash")


@pytest.fixture
def show(browser, news):
    """Open a page at a state; no message may stand in the console when the test ends."""
    contexts, opened = [], []

    def _show(path: Path | str | None = None, offline: bool = True, **state: Any) -> Opened:
        options = {k: state.pop(k) for k in list(state) if k in CONTEXT}
        context = browser.new_context(viewport=options.pop("viewport", WIDE), **options)
        context.set_offline(offline)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        found = Opened(page, [], [])
        opened.append(found)
        page.on("console", lambda message: found.messages.append(message.text))
        page.on("pageerror", lambda error: found.messages.append(str(error)))
        page.on("request", lambda request: found.requests.append(request.url))
        url = path if isinstance(path, str) else Path(path or news.path).as_uri()
        page.goto(f"{url}#{urlencode(state)}")
        page.wait_for_selector("html[data-ready]", state="attached")
        return found

    yield _show
    for found in opened:
        assert found.messages == []
    for context in contexts:
        context.close()


WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 390, "height": 844}
CONTEXT = {
    *("viewport", "color_scheme", "reduced_motion", "bypass_csp", "accept_downloads"),
    *("permissions", "has_touch", "device_scale_factor", "forced_colors"),
}


@pytest.fixture
def narrow():
    return NARROW
