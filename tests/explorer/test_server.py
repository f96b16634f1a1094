"""The served explorer: the same page, on this computer only."""

import gzip
import http.client
import json
import threading
from urllib.parse import urlsplit

import numpy as np
import pytest

from coview import LinkPLSA, SearchIndex, Views
from coview.explorer.container import pack
from coview.explorer.explore import explorer_payload
from coview.explorer.server import ExplorerServer, ExplorerSite


@pytest.fixture(scope="module")
def server(news_model, news, news_payload, news_texts):
    site = ExplorerSite(news_model, news, news_payload, news_texts)
    with ExplorerServer(site) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def ask(server, method, path, body=None, headers=None):
    """Return status, headers and body of an answer."""
    place = urlsplit(server.url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def test_only_this_computer_is_served(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.server_address[1]}/"


def test_page_and_data(server, news_payload):
    status, headers, page = ask(server, "GET", "/")
    assert status == 200
    assert b'data-server="1"' in page
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    status, _, data = ask(server, "GET", "/data.bin")
    assert gzip.decompress(data) == pack(news_payload)


def test_a_document_has_its_whole_texts(server, news_texts):
    status, _, data = ask(server, "GET", "/doc/3")
    assert status == 200
    assert json.loads(data)["texts"]["de"] == news_texts["de"][3]
    assert ask(server, "GET", "/doc/120")[0] == 404
    assert ask(server, "GET", "/doc/99999999999999999999999999")[0] == 404


def test_search_is_that_of_python(server, news_model, news):
    asked = {"view": "en", "text": "rain and storm xyzzy"}
    body = json.dumps({"ask": asked, "answer": "de", "top": 3})
    status, _, data = ask(server, "POST", "/search", body)
    assert status == 200
    index = SearchIndex(news_model, in_view="de", training_views=news)
    expected = index.query({"en": asked["text"]}, 3)
    found = json.loads(data)
    assert [hit["row"] for hit in found["hits"]] == [hit.position for hit in expected]
    assert found["hits"][0]["score"] == pytest.approx(expected[0].score)
    assert sum(found["mixture"]) == pytest.approx(1, abs=1e-4)
    assert found["left_out"] == "'xyzzy' is in no document of training"


def test_a_document_may_ask_and_is_no_answer(server):
    body = json.dumps({"ask": {"view": None, "row": 5}, "answer": None, "top": 4})
    _, _, data = ask(server, "POST", "/search", body)
    rows = [hit["row"] for hit in json.loads(data)["hits"]]
    assert len(rows) == 4
    assert 5 not in rows


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "[" * 100_000,
        '{"ask": {"view": "fr", "text": "a"}}',
        '{"ask": {"view": "en", "text": "xyzzy"}}',
        '{"ask": {"view": "en", "row": 500}}',
        '{"ask": {"view": "en", "row": true, "text": 3}}',
        '{"ask": {"view": ["en"], "text": "a"}}',
        '{"ask": {"view": "en", "text": "rain"}, "top": 0}',
        '{"ask": {"view": "en", "text": "rain"}, "top": "many"}',
        '{"ask": {"view": "en", "text": "rain"}, "answer": {}}',
    ],
)
def test_what_cannot_be_asked_is_said(server, body):
    status, _, data = ask(server, "POST", "/search", body)
    assert status == 400
    assert json.loads(data)["error"]


def test_other_paths_and_methods(server):
    assert ask(server, "GET", "/../../etc/passwd")[0] == 404
    assert ask(server, "GET", "/static/explorer.js")[0] == 404
    assert ask(server, "POST", "/")[0] == 404
    assert ask(server, "DELETE", "/")[0] == 501


def test_names_that_point_here_are_refused(server):
    port = server.server_address[1]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", ""):
        status, _, data = ask(server, "GET", "/data.bin", headers={"Host": host})
        assert status == 421
        assert b"only on its own address" in data
    assert ask(server, "GET", "/", headers={"Host": f"LOCALHOST:{port}"})[0] == 200


def test_other_origins_are_refused(server):
    body = json.dumps({"ask": {"view": "en", "text": "rain"}})
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        assert ask(server, "POST", "/search", body, headers)[0] == 403
    own = {"Origin": server.url.rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert ask(server, "POST", "/search", body, own)[0] == 200


def test_large_bodies_are_refused_before_they_are_read(server):
    for length, status in (("2000000", 413), ("9" * 30, 413), ("-1", 411), ("a", 411)):
        headers = {"Content-Length": length}
        assert ask(server, "POST", "/search", None, headers)[0] == status


def test_pictures_can_be_asked_with(tmp_path):
    cv2 = pytest.importorskip("cv2")
    rng = np.random.default_rng(0)
    for number in range(12):
        color = (255, 0, 0) if number % 2 else (0, 0, 255)
        picture = np.full((64, 64, 3), color, np.uint8)
        picture[::7, ::5] = rng.integers(0, 255, 3)
        cv2.imwrite(str(tmp_path / f"p{number:02}.png"), picture)
        word = "sky" if number % 2 else "rose"
        (tmp_path / f"p{number:02}.txt").write_text(f"a {word} of {word} color")
    views = Views.from_images(tmp_path, n_words=0, caption_options={"languages": None})
    model = LinkPLSA(2, init="random", max_iter=10, tol=0, random_state=0).fit(views)
    payload = explorer_payload(model, views)
    view = next(n for n, r in model.recipes_.items() if r.kind == "image_color")
    with ExplorerServer(ExplorerSite(model, views, payload, {})) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        path = f"/picture?view={view}&top=3"
        status, _, data = ask(server, "POST", path, (tmp_path / "p03.png").read_bytes())
        assert status == 200, data
        assert all(hit["row"] % 2 for hit in json.loads(data)["hits"])
        status, _, data = ask(server, "POST", path, b"no picture")
        assert status == 400
        assert str(tmp_path) not in data.decode()
        assert ask(server, "POST", "/picture?view=caption", b"x")[0] == 400
        server.shutdown()
