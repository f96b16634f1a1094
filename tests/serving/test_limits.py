"""Limits and access; `tests/faults/test_service.py` has those of the catalogue of faults."""

import asyncio
import json
import socket
import threading
import time
import tracemalloc
from unittest.mock import Mock

import pytest

from coview.serving.connections import Connection, Connections
from coview.serving.limits import BURST, MAX_ADDRESSES, RateLimit, host_is_allowed, token_is_right
from coview.serving.settings import ServiceSettings, read_token
from coview.serving.strict_json import parse_json
from tests.process_memory import process_memory
from tests.serving.service import SlowModel, raw_answer, running, until

TOKEN = "a-token-of-enough-characters"
DOCUMENT = {"documents": [{"en": "rain"}]}
HEAD = b"POST /transform HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


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


# -- HTTP ---------------------------------------------------------------------------------------


SMUGGLED = b"0\r\n\r\nGET /topics HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_two_lengths_of_one_body_are_refused_and_the_connection_closed(service):
    with service.connect() as connection:
        lengths = b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(HEAD + lengths + SMUGGLED)
        answer = raw_answer(connection)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"two_lengths" in answer
    assert answer.count(b"HTTP/1.1") == 1


def test_another_version_of_http_is_refused(service):
    with service.connect() as connection:
        connection.sendall(b"GET /topics HTTP/9.9\r\nHost: localhost\r\n\r\n")
        assert raw_answer(connection).startswith(b"HTTP/1.1 505 ")


def test_probes_may_ask_for_the_head_alone(service):
    found = service.ask("HEAD", "/healthz")
    assert (found.status, found.body) == (200, b"")


def test_a_slash_too_many_is_another_path(service):
    assert service.get("/topics/").status == 404


def test_a_callers_id_is_kept_if_it_is_one(service):
    assert service.get("/topics", X_Request_Id="a-1.b_2").headers["x-request-id"] == "a-1.b_2"
    assert service.get("/topics", X_Request_Id="a b").headers["x-request-id"] != "a b"


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


BAD_BODIES = {
    "documents": b'{"documents": [' + b"{}," * 1_000_000 + b"{}]}",
    "ids": b'{"documents": [{"en": "a"}], "ids": [' + b"1," * 1_000_000 + b"1]}",
    "keys": b"{" + b",".join(b'"%d":1' % n for n in range(300_000)) + b"}",
    "views": b'{"documents": [{' + b",".join(b'"%d":1' % n for n in range(300_000)) + b"}]}",
    "nested": b'{"documents": ' + b"[" * 964 + b"]" * 964 + b"}",
    "nested documents": b'{"documents": [{"en": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}]}",
}


@pytest.mark.parametrize("kind", BAD_BODIES)
def test_the_first_fault_ends_the_check_of_a_body(service, kind):
    """A body of 3 MB with a million faults took 2 GB and 7 s of everybody's time."""
    before = process_memory("VmRSS")
    tracemalloc.start()
    try:
        found = service.post("/transform", BAD_BODIES[kind])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.status in (400, 413, 422)
    assert len(found.body) < 2000
    assert peak < 60 * len(BAD_BODIES[kind]) + 10_000_000
    assert process_memory("VmRSS") - before < 400_000_000


@pytest.mark.parametrize("count", [1e-37, -1e-37, 5e-324])
def test_a_count_too_small_to_be_worked_with_is_named(service, count):
    found = service.post("/transform", {"documents": [{"en": "rain"}, {"en": {"rain": count}}]})
    assert found.status == 422
    assert "documents.1: view 'en'" in found.message


def test_a_message_does_not_repeat_a_long_id(service):
    found = service.post("/search", {"like": "x" * 1_000_000})
    assert found.status == 404
    assert len(found.body) < 2000


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


def test_idle_connections_make_room_for_others():
    """Who comes last is answered, probes above all; who waits longest goes."""
    with running(max_connections=5) as service:
        idle = [service.connect() for _ in range(12)]
        try:
            for path in ("/healthz", "/topics"):
                assert service.get(path).status == 200
            assert raw_answer(idle[0]) == b""  # it was closed
            assert len(service.state.connections.open) <= 5
        finally:
            for connection in idle:
                connection.close()
        until(lambda: not service.state.connections.open)
        assert not service.state.connections.waiting


def test_one_address_does_not_drive_others_out():
    connections = Connections(4, 60.0)

    async def come():
        made = [connected(connections, ("10.0.0.9", 1))]
        made += [connected(connections, ("10.0.0.1", port)) for port in range(6)]
        return [c for c in made if not c._transport.abort.called]

    left = asyncio.run(come())
    assert [c.client for c in left] == [("10.0.0.9", 1)] + [("10.0.0.1", p) for p in (3, 4, 5)]


def connected(connections, client):
    connection = Connection(Mock(), connections)
    transport = Mock(is_closing=lambda: False, get_extra_info=lambda name: client)
    connection.connection_made(transport)
    return connection


def test_slow_bodies_leave_room_for_others():
    """They hold a connection, but no place among the requests that are worked on."""
    with running(max_requests=2, read_timeout=30.0) as service:
        slow = [service.connect() for _ in range(8)]
        try:
            for connection in slow:
                connection.sendall(HEAD + b"Content-Length: 1000\r\n\r\n{")
            until(lambda: len(service.state.connections.open) == 8)
            assert service.post("/transform", DOCUMENT).status == 200
        finally:
            for connection in slow:
                connection.close()


def test_large_bodies_are_bounded_together():
    """Of bodies that are read at once, the one too many is sent away; small ones never are."""
    with running(max_body=200_000, read_timeout=30.0) as service:
        large = [service.connect() for _ in range(15)]
        part = b"Content-Length: 200000\r\n\r\n{" + b" " * 199_000
        try:
            for connection in large:
                connection.sendall(HEAD + part)
            until(lambda: 'reason="busy"' in service.state.metrics.text())
            assert service.post("/transform", DOCUMENT).status == 200
        finally:
            for connection in large:
                connection.close()
        until(lambda: not service.state.connections.open)
        assert service.post("/transform", b" " * 150_000 + b"{}").status == 422


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
