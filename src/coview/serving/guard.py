"""What stands before every route: limits, access, strict JSON, request ids, the log.

A plain ASGI layer. It reads the whole body within its limits before a route sees the request, so
that nothing behind it waits for a client.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from coview.serving.errors import RequestError, error_body
from coview.serving.limits import RateLimit, host_is_allowed, token_is_right
from coview.serving.metrics import Metrics
from coview.serving.settings import ServiceSettings
from coview.serving.strict_json import parse_json
from coview.serving.work import Deadline
from coview.wording import printable

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Routes = Mapping[str, frozenset[str]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

log = logging.getLogger("coview.serving")

OPEN_ROUTES = ("/healthz", "/readyz")  # for probes, which know no token and must not be refused
LINGER = 2.0  # seconds in which the rest of a body that nobody reads is thrown away
SAFETY_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


@dataclass
class RequestRecord:
    """One request on its way through the guard."""

    id: str
    method: str
    route: str
    client: str
    headers: dict[str, str]
    began: float
    status: int = 0
    body_unread: bool = False

    @classmethod
    def of(cls, scope: MutableMapping[str, Any], routes: Routes) -> RequestRecord:
        """Return the record of a request; a path that is no route is never kept."""
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        route = scope["path"] if scope["path"] in routes else "other"
        client = scope["client"][0] if scope.get("client") else "unknown"
        record = cls(
            secrets.token_hex(8), scope["method"], route, client, headers, time.perf_counter()
        )
        record.body_unread = (
            headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        )
        return record


class Guard:
    """An ASGI app around another: limits, access, strict JSON, errors, the log.

    Parameters
    ----------
    app : ASGI app
    settings : ServiceSettings
    routes : dict of frozenset of str
        The methods of each path that there is.
    metrics : Metrics
    """

    def __init__(
        self, app: App, settings: ServiceSettings, routes: Routes, metrics: Metrics
    ) -> None:
        self._app = app
        self._settings = settings
        self._routes = routes
        self._metrics = metrics
        self._rate = RateLimit(settings.rate)
        self.n_requests = 0  # that are read, wait or are worked on
        metrics.gauges["coview_requests_in_flight"] = lambda: self.n_requests

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        record = RequestRecord.of(scope, self._routes)
        scope["coview.id"] = record.id
        receive = _noting_the_end(receive, record)
        answer = _Answer(send, receive, record)
        try:
            await self._guarded(scope, receive, answer)
        except RequestError as error:
            self._metrics.reject(error.code)
            await answer.refuse(error)
        except Exception:
            # in one line, so that no name within it can fake another line
            log.error("%s failed: %s", record.id, printable(traceback.format_exc(), 10_000))
            if not answer.complete:
                await answer.refuse(internal_error())
        finally:
            self._finish(record)

    def _finish(self, record: RequestRecord) -> None:
        seconds = time.perf_counter() - record.began
        self._metrics.observe(record.route, record.status, seconds)
        where = f"{printable(record.client)} {printable(record.method, 20)} {record.route}"
        level = logging.DEBUG if record.route in OPEN_ROUTES else logging.INFO
        log.log(level, "%s %s %d %.0f ms", record.id, where, record.status, 1000 * seconds)

    async def _guarded(
        self, scope: MutableMapping[str, Any], receive: Receive, answer: _Answer
    ) -> None:
        record = answer.record
        self._check_access(record)
        if record.route in OPEN_ROUTES:
            await self._app(scope, receive, answer.send)
            return
        if self.n_requests >= self._settings.max_requests:
            raise RequestError(
                503, "busy", "Too many requests at once. Try again.", {"Retry-After": "1"}
            )
        self.n_requests += 1
        try:
            await self._read_and_answer(scope, receive, answer)
        finally:
            self.n_requests -= 1

    def _check_access(self, record: RequestRecord) -> None:
        if record.route in OPEN_ROUTES:
            return
        if not host_is_allowed(record.headers.get("host", ""), self._settings.hosts):
            raise RequestError(
                400, "bad_host", "The service is not called by this name (header Host)."
            )
        self._rate.take(record.client)  # before the token, so that it cannot be guessed quickly
        token = self._settings.token
        if token is not None and not token_is_right(record.headers.get("authorization", ""), token):
            raise RequestError(
                401,
                "unauthorized",
                "Send the token of the service: Authorization: Bearer TOKEN.",
                {"WWW-Authenticate": "Bearer"},
            )

    async def _read_and_answer(
        self, scope: MutableMapping[str, Any], receive: Receive, answer: _Answer
    ) -> None:
        record = answer.record
        body = b""
        if record.method == "POST" and "POST" in self._routes.get(record.route, ()):
            _check_json_type(record.headers.get("content-type", ""))
            body = await self._read_body(receive, record)
            parse_json(body)  # the framework would take NaN, and one of two equal keys
        deadline = Deadline(self._settings.timeout)
        scope["coview.deadline"] = deadline
        listener = asyncio.ensure_future(_cancel_when_left(receive, deadline, record))
        try:
            await self._app(scope, _replayed(body), answer.send)
        finally:
            listener.cancel()

    async def _read_body(self, receive: Receive, record: RequestRecord) -> bytes:
        most = self._settings.max_body
        length = record.headers.get("content-length", "")
        if length.isdecimal() and int(length) > most:
            raise _too_large(most)
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self._settings.read_timeout):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise RequestError(400, "left", "The client has left.")
                    parts.append(message.get("body", b""))
                    if sum(map(len, parts)) > most:
                        raise _too_large(most)
                    if not message.get("more_body"):
                        break
                    parts = [b"".join(parts)]
        except TimeoutError:
            raise RequestError(408, "slow", "The body did not come in time.") from None
        return b"".join(parts)


class _Answer:
    """The way back to the client: headers that every answer has, and errors."""

    def __init__(self, send: Send, receive: Receive, record: RequestRecord) -> None:
        self._send = send
        self._receive = receive
        self.record = record
        self.complete = False

    async def send(self, message: Message) -> None:
        """Pass on a message of the app, with the headers that every answer has."""
        if message["type"] == "http.response.start":
            self.record.status = message["status"]
            given = list(message.get("headers", []))
            names = {name.lower() for name, _ in given}
            more = {"X-Request-Id": self.record.id, **SAFETY_HEADERS}
            if self.record.body_unread:
                more["Connection"] = "close"
            given += [
                (name.lower().encode(), value.encode())
                for name, value in more.items()
                if name.lower().encode() not in names
            ]
            message = {**message, "headers": given}
        last = message["type"].endswith("body") and not message.get("more_body")
        if last and self.record.body_unread and self.record.status not in (408, 503):
            # a client that still sends would lose the answer to a reset of its connection
            await self._send({**message, "more_body": True})
            await _throw_away(self._receive, self.record)
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)
        self.complete = last

    async def refuse(self, error: RequestError) -> None:
        """Answer by an error, unless an answer has begun."""
        if self.record.status:  # it can only be cut off
            raise ConnectionAbortedError("An answer was cut off.") from None
        body = error_body(error.code, error.message, self.record.id)
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **error.headers,
        }
        pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await self.send({"type": "http.response.start", "status": error.status, "headers": pairs})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})


def _noting_the_end(receive: Receive, record: RequestRecord) -> Receive:
    """Return a `receive` that writes down when the whole body was read, whoever reads it."""

    async def noting() -> Message:
        message = await receive()
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            record.body_unread = False
        return message

    return noting


async def _throw_away(receive: Receive, record: RequestRecord) -> None:
    """Read the rest of a body for a moment."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER):
            while record.body_unread:
                await receive()


async def _cancel_when_left(receive: Receive, deadline: Deadline, record: RequestRecord) -> None:
    """Let the work on a request end when its client has left."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            if not record.status:
                log.info("%s the client has left", record.id)
            deadline.cancel()
            return


def _replayed(body: bytes) -> Receive:
    """Return a `receive` that gives a body that was read already."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await asyncio.Event().wait()  # the guard itself listens for the end
        raise AssertionError

    return receive


def _check_json_type(header: str) -> None:
    """Refuse bodies that are not declared as JSON; pages of other sites cannot declare that."""
    if header.partition(";")[0].strip().lower() != "application/json":
        raise RequestError(415, "not_json", "Send JSON, with Content-Type: application/json.")


def internal_error() -> RequestError:
    """Return what a client is told of an error of ours: nothing but where to look."""
    return RequestError(500, "internal", "Something went wrong here. The log has the request.")


def _too_large(most: int) -> RequestError:
    return RequestError(413, "too_large", f"The body is too large: at most {most:,} bytes.")
