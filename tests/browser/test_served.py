"""The same page over HTTP on loopback, with data and searches from the server."""

from threading import Thread

import pytest

from coview.explorer.explore import explorer_payload
from coview.explorer.server import ExplorerServer, ExplorerSite


@pytest.fixture(scope="module")
def address(news):
    payload = explorer_payload(news.model, news.views, title="Served")
    payload.meta["search"]["complete"] = False  # as if words had been left out: the server answers
    server = ExplorerServer(ExplorerSite(news.model, news.views, payload, news.texts))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield server.url
    server.shutdown()
    server.server_close()
    thread.join(5)


def test_the_server_gives_data_answers_and_texts(show, address, news):
    opened = show(address, offline=False)
    page = opened.page
    page.fill("#search", "rain and wind")
    page.locator("ol[aria-label='Answers'] button").first.wait_for()
    row = next(i for i, r in enumerate(news.rows) if r["en"])
    page.goto(f"{address}#panel=document&doc={row}")
    text = page.locator(".text").first
    text.wait_for()
    assert text.locator(".tint").count() > 3
    paths = {url.removeprefix(address).split("#")[0] for url in opened.requests}
    assert {"", "data.bin", "search", f"doc/{row}"} <= paths
    assert all(url.startswith(address) for url in opened.requests)


def test_a_filter_holds_for_the_answers_of_the_server(show, address, news):
    page = show(address, offline=False, q="rain and wind", side="results", label="0").page
    first = page.locator("ol[aria-label='Answers'] button").first
    first.click()
    label = sorted({row["topic"] for row in news.rows})[0]
    assert page.locator(".read .tag").first.inner_text() == label
