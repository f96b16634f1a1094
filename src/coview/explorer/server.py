"""The explorer over HTTP, on this computer only: for models too large for one file, and pictures.

The same page, which asks for its data, and for searches that it cannot do itself: with pictures,
and among documents of which it has not all words. Only the loopback address is bound, and a request
must name it as its host, so that a web page elsewhere cannot reach it by a name of its own that it
points here (DNS rebinding); requests of other origins are refused.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from coview.explorer.container import Payload, compress, pack
from coview.explorer.page import served_html
from coview.explorer.payload import plain
from coview.models import topic_model
from coview.reading.left_out import name_left_out
from coview.retrieval.index import SearchIndex
from coview.views.container import Views

LOOPBACK = "127.0.0.1"
MOST_JSON = 1_000_000  # bytes of a query
MOST_PICTURE = 30_000_000
MOST_ANSWERS = 1000
EXPLAINED = 20  # answers, with the reasons for them
TIMEOUT = 30  # seconds without a byte after which a client is cut off


class BadRequest(ValueError):
    """What a client asked cannot be answered, with the status to say so."""

    def __init__(self, message: str, status: int = 400):
        super().__init__(message)
        self.status = status


class ExplorerSite:
    """What the server answers with, without HTTP.

    Parameters
    ----------
    model : fitted model or TopicClassifier
    views : Views
        The documents, with the columns of the model.
    payload : Payload
        The data of the page.
    texts : dict of list of (str or None)
        Raw texts by view.
    """

    def __init__(self, model: Any, views: Views, payload: Payload, texts: dict[str, list[Any]]):
        self.model, self.views, self.payload, self.texts = topic_model(model), views, payload, texts
        if payload.evidence is not None:  # scores are those that the page computes
            self.model = copy(self.model)
            self.model.search_ = payload.evidence
        self._indices: dict[str | None, SearchIndex] = {}
        self._lock = Lock()  # one search at a time: each may use all cores

    @cached_property
    def page(self) -> bytes:
        """The page, without data."""
        return served_html(self.payload.meta["title"]).encode("utf-8")

    @cached_property
    def data(self) -> bytes:
        """The data of the page, compressed."""
        return compress(pack(self.payload))

    def document(self, row: int) -> dict[str, Any]:
        """Return one document with its whole texts."""
        if not 0 <= row < self.views.n_docs:
            raise BadRequest(f"There is no document {row}.", 404)
        name = None if self.views.ids is None else str(self.views.ids[row])
        return {"row": row, "id": name, "texts": {v: t[row] for v, t in self.texts.items()}}

    def search(self, asked: Any) -> dict[str, Any]:
        """Answer {"ask": {"view", "text" or "row"}, "answer": view or None, "top": n}."""
        if not isinstance(asked, dict) or not isinstance(asked.get("ask"), dict):
            raise BadRequest(
                'Expected {"ask": {"view": ..., "text": ...}, "answer": ..., "top": n}.'
            )
        ask = asked["ask"]
        view = self._view(ask.get("view"))
        if isinstance(ask.get("text"), str) and view is not None:
            query: Any = {view: ask["text"]}
        elif type(ask.get("row")) is int and 0 <= ask["row"] < self.views.n_docs:
            row = self.views[[ask["row"]]]
            query = row if view is None else row.select(view)
        else:
            raise BadRequest("Ask with the text of a view, or with the row of a document.")
        return self._answer(query, asked.get("answer"), asked.get("top", 10), ask.get("row"))

    def picture(
        self, data: bytes, view: str | None, answer: str | None, top: int
    ) -> dict[str, Any]:
        """Answer a picture, given as the bytes of its file."""
        name = self._view(view)
        recipe = None if name is None else self.model.recipes_.get(name)
        if name is None or recipe is None or not recipe.kind.startswith("image"):
            raise BadRequest("Give a view that is made from pictures.")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture"
            path.write_bytes(data)
            try:
                query = self.model.read({recipe.source: [path]}).select(name)
            except ValueError as error:
                raise BadRequest(str(error).replace(str(path), "picture")) from error
        return self._answer(query, answer, top, None)

    def _answer(self, query: Any, answer: Any, top: Any, row: int | None) -> dict[str, Any]:
        if type(top) is not int or not 1 <= top <= MOST_ANSWERS:
            raise BadRequest(f"top must be a whole number from 1 to {MOST_ANSWERS:,}.")
        with self._lock:
            try:
                index, top_all = self._index(self._view(answer)), top + (row is not None)
                found = index.query(query, top_all)
                why = index.query(query, min(top_all, EXPLAINED), explain=True).to_rows()
                mixture = self.model.fold_in(query).doc_topic[0]
            except ValueError as error:
                raise BadRequest(str(error)) from error
        hits: list[dict[str, Any]] = [{"row": hit.position, "score": hit.score} for hit in found]
        for hit, explained in zip(hits, why, strict=False):
            hit["why"] = explained["explanation"]
        hits = [hit for hit in hits if hit["row"] != row]
        left_out = name_left_out(found.left_out, stop_words=False)
        return {"hits": hits[:top], "mixture": plain(mixture), "left_out": left_out}

    def _index(self, view: str | None) -> SearchIndex:
        if view not in self._indices:
            self._indices[view] = SearchIndex(self.model, in_view=view, views=self.views)
        return self._indices[view]

    def _view(self, name: Any) -> str | None:
        if name is not None and name not in self.model.view_names_:
            raise BadRequest(f"There is no view {str(name)[:100]!r}.")
        return name


class ExplorerServer(ThreadingHTTPServer):
    """A server of one site on the loopback address.

    Parameters
    ----------
    site : ExplorerSite
    port : int, default=0
        0 takes one that is free.
    """

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, site: ExplorerSite, port: int = 0):
        self.site = site
        super().__init__((LOOPBACK, port), ExplorerHandler)

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{LOOPBACK}:{self.server_address[1]}/"

    @property
    def hosts(self) -> set[str]:
        """The names by which a request may call this server."""
        port = self.server_address[1]
        names = {f"{LOOPBACK}:{port}", f"localhost:{port}"}
        return names | ({LOOPBACK, "localhost"} if port == 80 else set())


class ExplorerHandler(BaseHTTPRequestHandler):
    """One request."""

    server: ExplorerServer
    timeout = TIMEOUT
    server_version, sys_version = "coview", ""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer the page, its data, or a document."""
        self._guarded(self._get)

    def do_POST(self) -> None:
        """Answer a search."""
        self._guarded(self._post)

    def _get(self) -> None:
        site, path = self.server.site, urlsplit(self.path).path
        if path == "/":
            self._send(site.page, "text/html; charset=utf-8")
        elif path == "/data.bin":
            self._send(site.data, "application/octet-stream")
        elif path.startswith("/doc/") and path[5:].isascii() and path[5:].isdigit():
            self._send_json(site.document(int(path[5:20])))
        else:
            raise BadRequest("There is nothing here.", 404)

    def _post(self) -> None:
        site, parts = self.server.site, urlsplit(self.path)
        if parts.path == "/search":
            try:
                asked = json.loads(self._body(MOST_JSON))
            except (ValueError, RecursionError) as error:
                if isinstance(error, BadRequest):
                    raise
                raise BadRequest("This is not JSON.") from error
            self._send_json(site.search(asked))
        elif parts.path == "/picture":
            given = {name: values[0] for name, values in parse_qs(parts.query).items()}
            top = given.get("top", "10")
            number = int(top) if top.isascii() and top.isdigit() and len(top) < 6 else 0
            data = self._body(MOST_PICTURE)
            self._send_json(site.picture(data, given.get("view"), given.get("answer"), number))
        else:
            raise BadRequest("There is nothing here.", 404)

    def _guarded(self, answer: Callable[[], None]) -> None:
        """Answer requests that are meant for this server; say what is wrong with others."""
        try:
            self._check_sender()
            answer()
        except BadRequest as error:
            self.close_connection = True  # its body may not have been read
            self._send_json({"error": str(error)}, error.status)

    def _check_sender(self) -> None:
        if self.headers.get("Host", "").lower() not in self.server.hosts:
            raise BadRequest("This server answers only on its own address.", 421)
        origin = self.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc.lower() not in self.server.hosts:
            raise BadRequest("This server answers only its own page.", 403)
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise BadRequest("This server answers only its own page.", 403)

    def _body(self, most: int) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise BadRequest("The length of the body must be given.", 411)
        if len(length) > 12 or int(length) > most:
            raise BadRequest(f"The body may have {most:,} bytes.", 413)
        return self.rfile.read(int(length))

    def _send_json(self, value: Any, status: int = 200) -> None:
        data = json.dumps(value, allow_nan=False).encode("ascii")
        self._send(data, "application/json", status)

    def _send(self, data: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Print nothing: the terminal shows the address alone."""


def serve(site: ExplorerSite, port: int = 0, ready: Callable[[str], None] = print) -> None:
    """Serve a site until Ctrl-C; `ready` is told the address."""
    with ExplorerServer(site, port) as server:
        ready(server.url)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
