"""A service on loopback in a thread of the test, and a small client."""

import contextlib
import http.client
import json
import socket
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from coview import LinkPLSA, Views
from coview.serving.app import ServiceState
from coview.serving.engine import ServedModel
from coview.serving.server import GracefulServer, listen
from coview.serving.settings import ServiceSettings

NEWS = Path(__file__).parents[2] / "examples" / "news.csv"
JSON = {"Content-Type": "application/json"}
WAIT = 60.0  # seconds after which a test gives up


@cache
def news():
    """Return the views of the small table of news."""
    return Views.from_table(NEWS, text=["en", "de"], id="id")


@cache
def news_model():
    """Return a model of them."""
    return LinkPLSA(6, init="random", max_iter=15, tol=0.0, random_state=0).fit(news())


@cache
def served_news():
    """Return the model ready to be asked, with the words of its documents."""
    served = ServedModel(news_model(), documents={"training_views": news()})
    served.prepare()
    return served


@dataclass
class Reply:
    """The answer to a request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json["error"]["code"]

    @property
    def message(self):
        return self.json["error"]["message"]


@dataclass
class Running:
    """A service that runs, and how to ask it."""

    port: int
    state: ServiceState
    server: object = None
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, method, path, body=None, **headers):
        """Send one request on a connection of its own, and return its answer."""
        given = {**self.headers, **(JSON if body is not None else {})}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        with contextlib.closing(connection):
            connection.request(method, path, content, given)
            answer = connection.getresponse()
            return Reply(answer.status, dict(answer.getheaders()), answer.read())

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, body, **headers):
        return self.ask("POST", path, body, **headers)

    def connect(self):
        """Return a raw connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)


@contextlib.contextmanager
def running(served=None, **options):
    """Run a service in a thread; yield how to ask it; stop it."""
    settings = ServiceSettings(**{"port": 0, "rate": 0, **options})
    models = served if isinstance(served, dict) else {"news": served or served_news()}
    state = ServiceState(models, settings)
    state.prepared = True
    listener = listen(settings)
    server = GracefulServer(state)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        until(lambda: server.started)
        yield Running(listener.getsockname()[1], state, server)
    finally:
        server.should_exit = True
        thread.join(WAIT)
        listener.close()
        state.pool.close()
    assert not thread.is_alive()


def until(condition):
    """Wait until something is so."""
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


def raw_answer(connection):
    """Return all that a connection gives until it is closed by the other side."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


class SlowModel(ServedModel):
    """A model whose work lasts until it is told to go on; it looks at its deadline."""

    def __init__(self):
        super().__init__(news_model())
        self.go_on = threading.Event()
        self.n_begun = self.n_abandoned = 0

    def transform(self, documents, deadline):
        self.n_begun += 1
        try:
            while not self.go_on.wait(0.02):
                deadline.check()
        except BaseException:
            self.n_abandoned += 1
            raise
        return super().transform(documents, deadline)
