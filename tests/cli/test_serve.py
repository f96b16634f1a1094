"""`coview serve` as a real process: it gets ready, answers, and stops when it is told to."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from functools import partial

import pytest

from coview import LinkPLSA
from tests.cli.command import failing, inside
from tests.serving.service import NEWS, WAIT, Running, news, news_model, until


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "news.coview"
    news_model().save(path)
    return path


class Process:
    """A service in a process of its own."""

    def __init__(self, model, log, *options):
        command = [sys.executable, "-m", "coview", "serve", model, "--port", "0", *options]
        self.log = log
        environment = {**os.environ, "COVIEW_TOKEN": ""}
        with log.open("w") as file:
            self.process = subprocess.Popen(list(map(str, command)), stderr=file, env=environment)
        try:
            until(lambda: "Listening" in self.text or self.process.poll() is not None)
            self.service = Running(int(re.search(r"127\.0\.0\.1:(\d+)", self.text)[1]), None)
        except BaseException:
            self.process.kill()
            raise

    @property
    def text(self):
        return self.log.read_text()

    def wait_until_ready(self):
        until(lambda: self.service.get("/readyz").status == 200)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT)


def begin_request(port):
    """Send a request but for the last byte of its body; return the connection."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
    body = json.dumps({"documents": [{"en": "rain"}]}).encode()
    head = "POST /transform HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:-1])
    return connection, body[-1:]


def test_it_gets_ready_answers_and_stops_gracefully(model, tmp_path):
    options = ("--data", NEWS, "--id", "id", "--drain", "1.5")
    with Process(model, tmp_path / "log", *options) as running:
        service = running.service
        first = service.get("/readyz")
        assert first.status in (200, 503)
        running.wait_until_ready()
        hits = service.post("/search", {"query": {"en": "rain"}, "in_view": "de"}).json["hits"]
        assert hits[0]["id"] in news().ids
        connection, rest = begin_request(service.port)
        with connection:
            time.sleep(0.2)
            running.process.send_signal(signal.SIGTERM)
            until(lambda: service.get("/readyz").status == 503)  # it says no, and still answers
            assert service.get("/healthz").status == 200
            assert service.post("/predict", {"documents": [{"en": "rain"}]}).status == 200
            time.sleep(1.5)  # now it does not listen any more, but what has begun is answered
            connection.sendall(rest)
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            assert answer.status == 200
            assert len(json.loads(answer.read())["documents"]) == 1
        assert running.process.wait(WAIT) == 0
        with pytest.raises(OSError), closing(socket.create_connection(("127.0.0.1", service.port))):
            pass
        assert "Traceback" not in running.text
        assert "POST /search 200" in running.text


def test_sighup_lets_it_read_its_files_again_and_its_log_is_json(model, tmp_path):
    path = tmp_path / "a.coview"
    shutil.copy(model, path)
    options = (path.with_name("b.coview"), "--log-format", "json")
    shutil.copy(model, options[0])
    with Process(path, tmp_path / "log", *options) as running:
        running.wait_until_ready()
        ask = partial(running.service.post, "/models/b/transform", {"documents": [{"en": "rain"}]})
        assert len(ask().json["documents"][0]["mixture"]) == 6
        path.write_bytes(b"no model")
        running.process.send_signal(signal.SIGHUP)
        until(lambda: "the old ones stay" in running.text)
        assert ask().status == 200
        LinkPLSA(2, max_iter=2, tol=0.0, init="random", random_state=0).fit(news()).save(path)
        shutil.copy(path, options[0])
        running.process.send_signal(signal.SIGHUP)
        until(lambda: "were read again" in running.text)
        assert len(ask(X_Request_Id="mine").json["documents"][0]["mixture"]) == 2
        until(lambda: '"mine"' in running.text)
        lines = [json.loads(line) for line in running.text.splitlines() if line.startswith("{")]
        (line,) = [line for line in lines if line.get("request") == "mine"]
        assert (line["route"], line["status"]) == ("/models/b/transform", 200)


def test_models_need_names_that_differ(model, tmp_path):
    other = tmp_path / model.name
    shutil.copy(model, other)
    assert "must differ" in failing(2, "serve", model, other)
    second = tmp_path / "b.coview"
    shutil.copy(model, second)
    assert "--data once for each model" in failing(2, "serve", model, second, "--data", NEWS)


@pytest.mark.slow
def test_ctrl_c_stops_it(model, tmp_path):
    with Process(model, tmp_path / "log") as running:
        running.wait_until_ready()
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(WAIT) == 0
        assert "Traceback" not in running.text


def test_a_port_that_is_taken(model):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        assert "cannot be listened on" in failing(1, "serve", model, "--port", port)


def test_other_machines_need_a_token(model, monkeypatch, tmp_path):
    monkeypatch.delenv("COVIEW_TOKEN", raising=False)
    code, _, said = inside("serve", model, "--host", "0.0.0.0", "--allowed-host", "x")
    assert (code, "a token is needed" in said) == (2, True)
    monkeypatch.setenv("COVIEW_TOKEN", "a-token-of-enough-characters")
    assert "--allowed-host" in failing(2, "serve", model, "--host", "0.0.0.0")
    monkeypatch.setenv("COVIEW_TOKEN", "short")
    assert "at least 16" in failing(2, "serve", model)


def test_either_data_or_an_index(model, tmp_path):
    said = failing(2, "serve", model, "--data", NEWS, "--index", tmp_path / "x.index")
    assert "leave out --data, or --index" in said


def test_a_model_that_is_not_there(tmp_path):
    assert "no.coview" in failing(1, "serve", tmp_path / "no.coview")


def test_without_the_extra_it_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert "pip install 'coview[serve]'" in failing(1, "serve", model)
