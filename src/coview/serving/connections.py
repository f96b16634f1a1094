"""Connections that cannot be held, and that keep nobody else out.

uvicorn limits neither the time for headers nor that for taking an answer, and where there are too
many connections it sends all newcomers away, probes among them. So each of its connections is
wrapped, by the interface of `asyncio.Protocol` alone.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class Connections:
    """All open connections; uvicorn calls it for each new one.

    Where there are more than `most`, one that waits for its client is closed for each newcomer: the
    oldest of the address that has the most of them.

    Parameters
    ----------
    most : int
    seconds : float
        Time for the headers of a request, and for a client to take what is sent.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self.most = most
        self.seconds = seconds
        self.open: dict[Any, Connection] = {}  # by address and port of the client
        self.waiting: dict[str, dict[Connection, None]] = defaultdict(dict)  # by address, in order

    def __call__(self, **options: Any) -> Connection:
        """Return the protocol of a new connection."""
        return Connection(H11Protocol(**options), self)

    def add(self, connection: Connection) -> None:
        """Take a new connection in."""
        self.open[connection.client] = connection
        if len(self.open) > self.most and self.waiting:
            crowd: dict[Connection, None] = max(self.waiting.values(), key=len)
            next(iter(crowd)).cut_off()

    def forget(self, connection: Connection) -> None:
        """Let a connection go."""
        if self.open.get(connection.client) is connection:
            del self.open[connection.client]


class Connection(asyncio.Protocol):
    """One connection of uvicorn's, with time limits."""

    def __init__(self, inner: asyncio.Protocol, all_: Connections) -> None:
        self._inner = inner
        self._all = all_
        self._timer: asyncio.TimerHandle | None = None
        self._in_request = False

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the headers of the first request."""
        self._transport = transport
        self.client = tuple((transport.get_extra_info("peername") or ())[:2])
        self._all.add(self)
        self._inner.connection_made(transport)
        self.rest()

    def data_received(self, data: bytes) -> None:
        """Pass data on."""
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        """Pass the end on."""
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        """Begin to wait for a client that does not take its answer."""
        self._inner.pause_writing()
        self._limit()

    def resume_writing(self) -> None:
        """Go on: the client takes its answer."""
        self._inner.resume_writing()
        if self._in_request:
            self._limit(False)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._leave()
        self._inner.connection_lost(exc)

    # -- what the guard tells it ---------------------------------------------------------------

    def begin(self) -> None:
        """Headers are there: the time for a body is the guard's."""
        self._in_request = True
        self._limit(False)

    def work(self) -> None:
        """The request is there: the client waits for us, no longer the other way round."""
        self._wait(False)

    def rest(self) -> None:
        """A request is answered: wait for the next one."""
        self._in_request = False
        self._limit()
        self._wait()

    def cut_off(self) -> None:
        """Close the connection at once."""
        self._leave()
        self._transport.abort()

    def _leave(self) -> None:
        self._limit(False)
        self._wait(False)
        self._all.forget(self)

    def _limit(self, limited: bool = True) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._all.seconds, self.cut_off) if limited else None

    def _wait(self, waits: bool = True) -> None:
        address = str(self.client[:1])
        self._all.waiting[address].pop(self, None)
        if waits and not self._transport.is_closing():
            self._all.waiting[address][self] = None
        if not self._all.waiting[address]:
            del self._all.waiting[address]
