"""The same page over HTTP on loopback, with data and searches from the server."""

import random
from contextlib import contextmanager
from threading import Thread

import numpy as np
import pytest

from coview import Views
from coview.explorer.explore import explorer_payload
from coview.explorer.server import ExplorerServer, ExplorerSite
from tests.cli.test_journeys import CAPTIONS, draw, sentence

from .conftest import fitted


@pytest.fixture(scope="module")
def address(news):
    payload = explorer_payload(news.model, news.views, title="Served")
    payload.meta["search"]["complete"] = False  # as if words had been left out: the server answers
    with served(ExplorerSite(news.model, news.views, payload, news.texts)) as url:
        yield url


@contextmanager
def served(site):
    server = ExplorerServer(site)
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


@pytest.mark.filterwarnings("ignore:View .image_color:coview.DataWarning")  # in the server
def test_a_picture_is_asked_with(show, tmp_path):
    cv2 = pytest.importorskip("cv2", reason="pictures need coview[images]")
    rng, words, kinds = np.random.default_rng(0), random.Random(0), list(CAPTIONS)
    drawn = [draw(kinds[i % 3], rng) for i in range(30)]
    texts = [sentence(words, CAPTIONS[kinds[i % 3]], 6) for i in range(30)]
    ids = [f"{kinds[i % 3]} {i}" for i in range(30)]
    given = {"captions": texts, "caption_options": {"languages": {"caption": None}}}
    views = Views.from_images(drawn, **given, ids=ids, n_words=20, random_state=0)
    model = fitted(views, 3)
    payload = explorer_payload(model, views, title="Pictures")
    cv2.imwrite(str(tmp_path / "query.png"), draw("discs", np.random.default_rng(5)))
    with served(ExplorerSite(model, views, payload, {"caption": texts})) as url:
        opened = show(url, offline=False, ask=views.names.index("image_color"))
        page = opened.page
        page.set_input_files("#search", tmp_path / "query.png")
        answers = page.locator("ol[aria-label='Answers'] button")
        answers.first.wait_for()
        assert all("discs" in text for text in answers.all_inner_texts()[:5])
        (tmp_path / "notes.png").write_text("no picture")
        page.set_input_files("#search", tmp_path / "notes.png")
        page.locator(".find .warn").wait_for()
        assert answers.count() == 0
        assert "400" in opened.messages.pop()  # the browser says it by itself
