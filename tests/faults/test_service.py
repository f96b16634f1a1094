"""Known faults of a service: rows 72 to 86 of the catalogue."""

import json
import logging
import threading
import time

import numpy as np
import pytest

from coview import PLSA, Views
from coview.serving.engine import ServedModel
from coview.serving.server import OneLine
from coview.serving.settings import ServiceSettings
from tests.serving.service import SlowModel, raw_answer, running, until

DOCUMENT = {"documents": [{"en": "rain"}]}
HEAD = b"POST /transform HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def served(terms, ids=None):
    """Return a service's model with these terms in its only view."""
    views = Views({"en": np.eye(len(terms)) + 1}, features={"en": terms}, ids=ids)
    model = PLSA(2, init="random", max_iter=3, tol=0.0, random_state=0).fit(views)
    ready = ServedModel(model)
    ready.prepare()
    return ready


@pytest.fixture(scope="module")
def service():
    with running(max_body=2000, read_timeout=0.6) as service:
        yield service


# -- 72 and 73: too large, too slow ----------------------------------------------------------------


def test_row_72_a_request_that_is_too_large(service):
    """It is refused by its declared length, before anything of it is read."""
    with service.connect() as connection:
        connection.sendall(HEAD + b"Content-Length: 2000000000\r\n\r\n")
        answer = b""
        while b"}}" not in answer:  # it comes at once, long before the connection ends
            answer += connection.recv(65536)
    assert b" 413 " in answer
    assert b"too_large" in answer


def test_row_72_a_large_request_that_is_sent_all_the_same(service):
    found = service.post("/transform", b'"' + b"x" * 3_000_000 + b'"')
    assert (found.status, found.code) == (413, "too_large")


def test_row_72_a_large_request_without_a_length(service):
    with service.connect() as connection:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        connection.sendall((b"400\r\n" + b" " * 0x400 + b"\r\n") * 3)
        assert b" 413 " in connection.recv(65536)


@pytest.mark.parametrize(
    "sent",
    [b"", b"POST /transf", HEAD, HEAD + b"X-Slow: 1\r\n"],
    ids=["none", "line", "some", "more"],
)
def test_row_73_slow_headers(service, sent):
    with service.connect() as connection:
        connection.sendall(sent)
        began = time.monotonic()
        assert raw_answer(connection) == b""
        assert time.monotonic() - began < 5


def test_row_73_a_slow_body(service):
    with service.connect() as connection:
        connection.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        answer = raw_answer(connection)
    assert b" 408 " in answer
    assert b"connection: close" in answer.lower()
    assert service.state.metrics.text().count('reason="slow"') == 1


# -- 74: JSON --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "line 1, column 1"),
        (b'{"documents": ', "line 1, column 15"),
        (b'{"documents": [\n{"en": rain}]}', "line 2, column 8"),
        (b'{"documents": [{"en": NaN}]}', "NaN is no number"),
        (b'{"documents": [{"en": [-Infinity]}]}', "Infinity is no number"),
        (b"[" * 1900, "nested too deeply"),
        (b'{"documents": [{"en": "a", "en": "b"}]}', "twice"),
        (b'{"documents": [{"en": "\\ud800"}]}', "surrogate"),
        (b'{"documents": "\xff"}', "UTF-8 at byte 15"),
        (b"\xff\xfe{\x00", "UTF-8"),
        (b"{} {}", "Extra data"),
    ],
)
def test_row_74_malformed_json_in_a_request(service, body, words):
    found = service.post("/transform", body)
    assert (found.status, found.code) == (400, "bad_json")
    assert words in found.message


def test_row_74_a_number_of_thousands_of_digits():
    with running() as service:
        assert service.post("/transform", b'{"documents": %s}' % (b"9" * 5000)).status == 400


# -- 75 to 77: too many, too long, gone ------------------------------------------------------------


def test_row_75_more_requests_than_can_be_answered():
    slow = SlowModel()
    found = []
    with running(slow, workers=1, max_requests=3) as service:

        def ask():
            found.append(service.post("/transform", DOCUMENT))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        until(lambda: len(found) == 5)
        assert {reply.status for reply in found} == {503}
        assert all(reply.headers["retry-after"] == "1" for reply in found)
        slow.go_on.set()
        for thread in threads:
            thread.join()
    assert sorted(reply.status for reply in found) == [200] * 3 + [503] * 5


def test_row_76_an_answer_that_takes_too_long():
    slow = SlowModel()
    with running(slow, workers=1, timeout=0.3) as service:
        found = service.post("/transform", DOCUMENT)
        assert (found.status, found.code) == (504, "too_slow")
        until(lambda: slow.n_abandoned == 1)  # no work is left behind
        slow.go_on.set()
        assert service.post("/transform", DOCUMENT).status == 200


def test_row_76_work_that_waited_too_long_never_begins():
    slow = SlowModel()
    with running(slow, workers=1, timeout=0.4) as service:
        threads = [
            threading.Thread(target=service.post, args=("/transform", DOCUMENT)) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        until(lambda: slow.n_abandoned == slow.n_begun)
        assert slow.n_begun <= 2  # the second may begin in the moment in which all end


def test_row_77_a_client_that_leaves():
    slow = SlowModel()
    with running(slow, workers=1) as service:
        body = json.dumps(DOCUMENT).encode()
        with service.connect() as connection:
            connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            until(lambda: slow.n_begun == 1)
        until(lambda: slow.n_abandoned == 1)
        slow.go_on.set()
        assert service.post("/transform", DOCUMENT).status == 200
        assert service.state.metrics.text().count('status="500"') == 0


# -- 78: errors ------------------------------------------------------------------------------------


class Failing(ServedModel):
    """A model with a bug."""

    def transform(self, documents, deadline):
        raise RuntimeError("secret of /etc/passwd\nFAKE LINE")


def test_row_78_an_error_while_a_request_is_answered(service, caplog):
    broken = Failing(service.state.models["news"].fitted)
    logging.getLogger("coview.serving").propagate = True
    with running(broken) as other, caplog.at_level(logging.ERROR, "coview.serving"):
        found = other.post("/transform", DOCUMENT)
        assert other.get("/topics").status == 200
    assert (found.status, found.code) == (500, "internal")
    assert b"secret" not in found.body
    assert b"Traceback" not in found.body
    request = found.json["error"]["request"]
    (line,) = [r.getMessage() for r in caplog.records if r.getMessage().startswith(request)]
    assert "secret of /etc/passwd\\nFAKE LINE" in line
    assert "\n" not in line


# -- 79 and 80: who may ask, and for what ----------------------------------------------------------


def test_row_79_a_service_is_for_this_machine_alone():
    assert ServiceSettings().host == "127.0.0.1"
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(ValueError, match="a token is needed"):
            ServiceSettings(host=host, allowed_hosts=("a",))
        with pytest.raises(ValueError, match="--allowed-host"):
            ServiceSettings(host=host, token="x" * 16)
        ServiceSettings(host=host, token="x" * 16, allowed_hosts=("a",))


@pytest.mark.parametrize(
    "path",
    ["/../../etc/passwd", "/etc/passwd", "/docs/../../x", "/%2e%2e/x", "/topics?model=/etc/passwd"],
)
def test_row_80_a_path_in_the_address_is_no_file(service, path):
    found = service.get(path)
    assert b"root:" not in found.body
    assert found.status == (200 if "topics" in path else 404)


def test_row_80_a_text_is_never_taken_for_the_path_of_a_picture(tmp_path):
    pictures = [np.full((8, 8, 3), level, np.uint8) for level in (0, 90, 200)]
    views = Views.from_images(pictures, n_words=0)
    model = PLSA(2, init="random", max_iter=3, tol=0.0, random_state=0).fit(views)
    ready = ServedModel(model)
    ready.prepare()
    with running(ready) as service:
        found = service.post("/transform", {"documents": [{"image": "/etc/passwd"}]})
    assert found.status == 422
    assert "paths are not taken" in found.message


# -- 81 to 86: names -------------------------------------------------------------------------------

ODD = ["é", "e\u0301", "\u202eright to left", "😀", "nul\0", "a\nb", "<script>alert(1)</script>"]
ODD += ["=1+1", "\x1b[31m", "x" * 100_000, "</script>", '"', "base64"]


@pytest.fixture(scope="module")
def odd_service():
    with running(served(ODD, ids=[f"id {name[:50]}." for name in ODD])) as service:
        yield service


@pytest.mark.parametrize("name", ODD, ids=lambda name: ascii(name[:12]))
def test_row_81_names_of_any_characters_in_requests_and_answers(odd_service, name):
    found = odd_service.post("/predict", {"documents": [{"en": {name: 2}}], "ids": [name]})
    (row,) = found.json["documents"]
    assert row["known"]
    assert row["id"] == name
    hits = odd_service.post("/search", {"like": f"id {name[:50]}.", "top": 20}).json["hits"]
    assert len(hits) == len(ODD) - 1


def test_row_82_a_long_name_is_kept_in_answers_and_cut_in_messages(odd_service):
    found = odd_service.get("/topics?terms=100").json
    assert any("x" * 100_000 in topic["terms"]["en"] for topic in found["topics"])
    wrong = odd_service.post("/transform", {"documents": [{"y" * 100_000: "a"}]})
    assert wrong.status == 422
    assert len(wrong.body) < 1000


def test_row_83_markup_in_names_is_data(odd_service):
    found = odd_service.get("/topics?terms=100")
    assert found.headers["content-type"] == "application/json"
    assert found.headers["x-content-type-options"] == "nosniff"
    page = odd_service.get("/docs")
    assert "<script" not in page.body.decode()
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_row_85_names_do_not_reach_the_log(odd_service, caplog):
    logging.getLogger("coview.serving").propagate = True
    with caplog.at_level(logging.INFO, "coview.serving"):
        odd_service.post("/predict", {"documents": [{"\x1b[31m\nFAKE": "a"}], "ids": ["\nFAKE"]})
        odd_service.get("/%0aFAKE%1b[31m")
        until = time.monotonic() + 10  # a line is written after the answer
        while len(caplog.records) < 2 and time.monotonic() < until:
            time.sleep(0.05)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) >= 2
    assert not any("FAKE" in line for line in lines)


def test_row_86_a_line_of_the_log_is_one_line():
    record = logging.LogRecord("x", logging.INFO, "", 0, "a\nb\x1b[31m %s", ("c\rd",), None)
    assert OneLine("%(message)s").format(record) == "a b\\x1b[31m c d"
