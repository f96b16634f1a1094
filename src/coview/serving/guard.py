"""What stands before every route: access, limits, request ids, headers, errors, the log."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
import traceback
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coview.serving.connections import Connections
from coview.serving.errors import RequestError
from coview.serving.limits import RateLimit, host_is_allowed, token_is_right
from coview.serving.metrics import Metrics
from coview.serving.settings import ServiceSettings
from coview.serving.work import Deadline, busy
from coview.wording import printable

log = logging.getLogger("coview.serving")

OPEN_ROUTES = ("/healthz", "/readyz")  # for probes, which know no token and must not be refused
LINGER = 2.0  # seconds in which the rest of a body that nobody reads is thrown away
SMALL_BODY = 65_536  # bytes that a request may always send
BODIES = 10  # times the largest body: what all larger ones may take together
_CALLERS_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)
SAFETY_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


class Guard:
    """An ASGI app around another.

    Parameters
    ----------
    app : ASGI app
        It finds the `Exchange` of a request in its scope, as "coview".
    settings : ServiceSettings
    metrics : Metrics
    connections : Connections
    """

    def __init__(
        self, app: ASGIApp, settings: ServiceSettings, metrics: Metrics, connections: Connections
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._connections = connections
        self._rate = RateLimit(settings.rate)
        self.settings = settings
        self.n_bytes = 0  # of bodies that are held, but for small ones

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        exchange = Exchange(self, scope, receive, send)
        connection = self._connections.open.get(scope.get("client"))
        if connection is not None:
            connection.begin()
            exchange.at_work = connection.work
        try:
            self._check(exchange)
            scope["coview"], scope["app"] = exchange, self._app
            await self._app(scope, exchange.receive, exchange.send)
        except Exception as error:
            told = RequestError.of(error)
            self._metrics.reject(told.code)
            if told.status == 500:  # in one line, so that no name within it can fake another line
                text = printable(traceback.format_exc(), 10_000)
                log.error("%s failed: %s", exchange.id, text, extra={"request": exchange.id})
            if not exchange.complete:
                await exchange.refuse(told)
        finally:
            self.n_bytes -= exchange.held
            if connection is not None:
                connection.rest()
            self._finish(exchange)

    def _finish(self, exchange: Exchange) -> None:
        seconds = time.perf_counter() - exchange.began
        self._metrics.observe(exchange.route, exchange.status, seconds)
        facts = {
            "request": exchange.id,
            "client": printable(exchange.client),
            "method": printable(exchange.method, 20),
            "route": exchange.route,
            "status": exchange.status,
            "ms": round(1000 * seconds),
        }
        level = logging.DEBUG if exchange.route in OPEN_ROUTES else logging.INFO
        log.log(level, " ".join(map(str, facts.values())) + " ms", extra=facts)

    def _check(self, exchange: Exchange) -> None:
        headers = exchange.headers
        if exchange.version not in ("1.0", "1.1"):
            raise RequestError(505, "bad_version", "Speak HTTP/1.1.", {"Connection": "close"})
        if "content-length" in headers and "transfer-encoding" in headers:
            # two servers may see two different requests: one of them smuggled in
            raise RequestError(
                400,
                "two_lengths",
                "Content-Length beside Transfer-Encoding.",
                {"Connection": "close"},
            )
        if exchange.path in OPEN_ROUTES:
            return
        if not host_is_allowed(headers.get("host", ""), self.settings.hosts):
            raise RequestError(
                400, "bad_host", "The service is not called by this name (header Host)."
            )
        self._rate.take(exchange.client)  # before the token, so that it cannot be guessed quickly
        token = self.settings.token
        if token is not None and not token_is_right(headers.get("authorization", ""), token):
            raise RequestError(
                401,
                "unauthorized",
                "Send the token of the service: Authorization: Bearer TOKEN.",
                {"WWW-Authenticate": "Bearer"},
            )


class Exchange:
    """One request and the way back to its client."""

    def __init__(self, guard: Guard, scope: Scope, receive: Receive, send: Send) -> None:
        self._guard, self._scope, self._receive, self._send = guard, scope, receive, send
        self.headers = Headers(scope=scope)
        self.version, self.method, self.path = scope["http_version"], scope["method"], scope["path"]
        self.client = scope["client"][0] if scope.get("client") else "unknown"
        given = self.headers.get("x-request-id", "")
        self.id = given if _CALLERS_ID.fullmatch(given) else secrets.token_hex(8)
        self.route = "other"  # a path that is no route is never kept
        self.began = time.perf_counter()
        self.status = self.held = 0
        self.complete = False
        self.body_unread = (
            self.headers.get("content-length", "0") != "0" or "transfer-encoding" in self.headers
        )
        self.at_work = lambda: None

    async def receive(self) -> Message:
        """Return the next message of the client, and note the end of its body."""
        message = await self._receive()
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            self.body_unread = False
        return message

    async def json_body(self) -> bytearray:
        """Return the body, read within its limits, if it is declared as JSON."""
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":  # which pages of other sites cannot declare
            raise RequestError(415, "not_json", "Send JSON, with Content-Type: application/json.")
        most = self._guard.settings.max_body
        length = self.headers.get("content-length", "")
        if length.isdecimal() and int(length) > most:
            raise _too_large(most)
        body = bytearray()
        try:
            async with asyncio.timeout(self._guard.settings.read_timeout):
                async for part in Request(self._scope, self.receive).stream():
                    body += part
                    if len(body) > most:
                        raise _too_large(most)
                    self._hold(len(body))
        except TimeoutError:
            raise RequestError(408, "slow", "The body did not come in time.") from None
        except ClientDisconnect:
            raise RequestError(400, "left", "The client has left.") from None
        return body

    def _hold(self, size: int) -> None:
        more = max(0, size - SMALL_BODY) - self.held
        if more > 0 and self._guard.n_bytes + more > BODIES * self._guard.settings.max_body:
            raise busy()
        self.held += more
        self._guard.n_bytes += more

    async def cancel_when_left(self, deadline: Deadline) -> None:
        """Let the work on a request end when its client has left."""
        while (await self.receive())["type"] != "http.disconnect":
            pass
        if not self.status:
            log.info("%s the client has left", self.id, extra={"request": self.id})
        deadline.cancel()

    async def send(self, message: Message) -> None:
        """Pass on a message of the app, with the headers that every answer has."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(raw=message["headers"])
            for name, value in {"X-Request-Id": self.id, **SAFETY_HEADERS}.items():
                headers.setdefault(name, value)
            if self.body_unread:
                headers["Connection"] = "close"
        last = message["type"].endswith("body") and not message.get("more_body")
        if last and self.body_unread and self.status not in (408, 503):
            # a client that still sends would lose the answer to a reset of its connection
            await self._send({**message, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER):
                    while self.body_unread:
                        await self.receive()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)
        self.complete = last

    async def refuse(self, error: RequestError) -> None:
        """Answer by an error, unless an answer has begun."""
        if self.status:  # it can only be cut off
            raise ConnectionAbortedError("An answer was cut off.") from None
        body = error.body(self.id)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        raw = Headers({**headers, **error.headers}).raw
        await self.send({"type": "http.response.start", "status": error.status, "headers": raw})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})


def _too_large(most: int) -> RequestError:
    return RequestError(413, "too_large", f"The body is too large: at most {most:,} bytes.")
