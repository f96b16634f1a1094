"""Limits and access; `tests/faults/test_service.py` has those of the catalogue of faults."""

import json
import socket
import threading
import time

import pytest

from coview.serving.limits import BURST, MAX_ADDRESSES, RateLimit, host_is_allowed, token_is_right
from coview.serving.settings import ServiceSettings, read_token
from coview.serving.strict_json import parse_json
from tests.serving.service import SlowModel, raw_answer, running, until

TOKEN = "a-token-of-enough-characters"
DOCUMENT = {"documents": [{"en": "rain"}]}


# -- access ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def locked():
    with running(token=TOKEN) as service:
        yield service


@pytest.mark.parametrize(
    "header", [None, "", TOKEN, f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}"]
)
def test_a_wrong_token_is_refused(locked, header):
    headers = {} if header is None else {"Authorization": header}
    found = locked.post("/transform", DOCUMENT, **headers)
    assert (found.status, found.code) == (401, "unauthorized")
    assert found.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in found.body.decode()


def test_the_right_token_is_accepted(locked):
    assert locked.post("/transform", DOCUMENT, Authorization=f"Bearer {TOKEN}").status == 200


def test_only_probes_need_no_token(locked):
    for path in ("/healthz", "/readyz"):
        assert locked.get(path).status == 200
    for path in ("/topics", "/metrics", "/docs", "/openapi.json", "/nowhere"):
        assert locked.get(path).status == 401


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1:x", ""])
def test_a_wrong_host_is_refused(service, host):
    found = service.get("/topics", Host=host)
    assert (found.status, found.code) == (400, "bad_host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:8000", "[::1]:8000"])
def test_names_of_loopback_are_allowed(service, host):
    assert service.get("/topics", Host=host).status == 200


def test_other_names_can_be_allowed():
    assert host_is_allowed("topics.example.org:443", ["topics.example.org"])
    assert not host_is_allowed("example.org", ["topics.example.org"])
    assert host_is_allowed("anything", ["*"])


def test_the_comparison_of_tokens_takes_any_text():
    assert not token_is_right("Bearer \xe9\udc80", TOKEN)
    assert token_is_right(f"bearer  {TOKEN}", TOKEN)


def test_a_token_comes_from_a_private_file_or_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("COVIEW_TOKEN", "")
    assert read_token(None) is None
    monkeypatch.setenv("COVIEW_TOKEN", TOKEN)
    assert read_token(None) == TOKEN
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        read_token(path)
    path.chmod(0o600)
    assert read_token(path) == TOKEN
    path.write_text("short")
    with pytest.raises(ValueError, match="at least 16"):
        read_token(path)


@pytest.mark.parametrize(
    "wrong", [{"port": 70_000}, {"workers": 0}, {"timeout": 0.0}, {"max_body": -1}, {"token": "x"}]
)
def test_settings_without_sense_are_refused(wrong):
    with pytest.raises(ValueError):
        ServiceSettings(**wrong)


def test_the_token_is_not_shown():
    assert TOKEN not in repr(ServiceSettings(token=TOKEN))


# -- rate ------------------------------------------------------------------------------------------


def test_too_many_requests_of_one_address():
    with running(rate=2) as service:
        found = [service.get("/topics") for _ in range(8)]
        assert 429 in {reply.status for reply in found}
        refused = next(reply for reply in found if reply.status == 429)
        assert int(refused.headers["retry-after"]) >= 1
        assert service.get("/healthz").status == 200


def test_the_rate_comes_back_and_addresses_are_forgotten():
    now = [0.0]
    limit = RateLimit(10, clock=lambda: now[0])
    for _ in range(int(10 * BURST)):
        limit.take("a")
    with pytest.raises(Exception, match="10 requests a second"):
        limit.take("a")
    limit.take("b")
    now[0] = 0.1
    limit.take("a")
    for number in range(MAX_ADDRESSES + 5):
        limit.take(str(number))
    assert len(limit._known) == MAX_ADDRESSES


# -- bodies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_pages_of_other_sites_cannot_post(service, kind):
    found = service.post("/transform", DOCUMENT, Content_Type=kind)
    assert (found.status, found.code) == (415, "not_json")


def test_a_charset_may_be_declared(service):
    kind = "application/json; charset=utf-8"
    assert service.post("/transform", DOCUMENT, Content_Type=kind).status == 200


def test_too_many_documents():
    with running(max_documents=3) as service:
        found = service.post("/transform", {"documents": [{"en": "rain"}] * 4})
        assert (found.status, found.code) == (413, "too_many_documents")


def test_headers_that_are_too_long(service):
    with service.connect() as connection:
        connection.sendall(b"GET /topics HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000)
        assert b" 400 " in raw_answer(connection)


def test_what_is_no_http(service):
    with service.connect() as connection:
        connection.sendall(b"\x16\x03\x01\x02\x00 hello\r\n\r\n")
        assert b" 400 " in raw_answer(connection)


@pytest.mark.parametrize("value", [{"a": [1, {"b": None}]}, "é😀", 1e10, [], True])
def test_sound_json_is_read_as_it_is(value):
    assert parse_json(json.dumps(value).encode()) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


# -- connections -----------------------------------------------------------------------------------


def test_idle_connections_are_bounded():
    with running(max_connections=5) as service:
        idle = [service.connect() for _ in range(6)]
        try:
            until(lambda: len(service.server.server_state.connections) >= 5)
            assert service.get("/topics").status == 503
        finally:
            for connection in idle:
                connection.close()
        until(lambda: len(service.server.server_state.connections) < 2)
        assert service.get("/topics").status == 200


def test_a_second_request_on_a_connection_may_not_be_slow_either():
    with running(read_timeout=0.5) as service, service.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in connection.recv(65536)
        connection.sendall(b"GET /healthz HT")
        began = time.monotonic()
        raw_answer(connection)
        assert time.monotonic() - began < 4


@pytest.mark.parametrize("ask", ["TRACE /predict", "GET /topics", "GET /healthz", "PUT /x"])
def test_an_answer_is_not_lost_to_a_body_that_nobody_reads(service, ask):
    """A connection that is closed with bytes unread is reset, and what was sent goes with it."""
    with service.connect() as connection:
        head = f"{ask} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n"
        connection.sendall(head.encode())
        answer = connection.recv(65536)  # comes before the body was sent
        for _ in range(2):
            connection.sendall(b"x" * 10)
            time.sleep(0.05)
        while part := connection.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 ")


def test_a_client_that_does_not_take_its_answer_is_cut_off():
    with running(read_timeout=0.5) as service:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.settimeout(20)
        connection.connect(("127.0.0.1", service.port))
        with connection:
            ask = b"GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n"
            for _ in range(400):  # 3 MB of answers
                connection.sendall(ask)
            until(lambda: not service.server.server_state.connections)
        assert service.get("/healthz").status == 200


# -- the loop stays free ---------------------------------------------------------------------------


def test_probes_are_answered_while_all_threads_are_busy():
    slow = SlowModel()
    with running(slow, workers=1, max_requests=2) as service:
        threads = [
            threading.Thread(target=service.post, args=("/transform", DOCUMENT)) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        until(lambda: slow.n_begun == 1)
        assert service.get("/healthz").status == 200
        assert service.get("/readyz").status == 200
        slow.go_on.set()
        for thread in threads:
            thread.join()
        assert slow.n_begun == 2
