"""Connections that cannot be held: timeouts that uvicorn does not have."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with time limits for headers and for taking answers.

    The time for a body is the guard's, that for idle connections uvicorn's own.

    Parameters
    ----------
    *args, **options
        As of uvicorn's protocol.
    read_timeout : float
        Seconds for the headers of a request, and for a client to take what is sent.
    """

    def __init__(self, *args: Any, read_timeout: float, **options: Any) -> None:
        super().__init__(*args, **options)
        self._seconds = read_timeout
        self._headers_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the headers of the first request."""
        super().connection_made(transport)
        self._await_headers()

    def data_received(self, data: bytes) -> None:
        """Take data; wait for the rest of the headers if they have only begun."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._await_headers()
        else:
            self._forget_headers()

    def _await_headers(self) -> None:
        if self._headers_timer is None:
            self._headers_timer = self.loop.call_later(self._seconds, self._cut_off)

    def pause_writing(self) -> None:
        """Begin to wait for a client that does not take its answer."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self._seconds, self._cut_off)

    def resume_writing(self) -> None:
        """Go on: the client takes its answer."""
        super().resume_writing()
        self._forget_writing()

    def on_response_complete(self) -> None:
        """Look later whether the client has taken the end of the answer."""
        super().on_response_complete()
        if self.transport.get_write_buffer_size() and self._write_timer is None:
            self._write_timer = self.loop.call_later(self._seconds, self._cut_off_unless_taken)

    def _cut_off_unless_taken(self) -> None:
        self._write_timer = None
        if self.transport.get_write_buffer_size():
            self._cut_off()

    def _cut_off(self) -> None:
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._forget_headers()
        self._forget_writing()
        super().connection_lost(exc)

    def _forget_headers(self) -> None:
        if self._headers_timer is not None:
            self._headers_timer.cancel()
            self._headers_timer = None

    def _forget_writing(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
