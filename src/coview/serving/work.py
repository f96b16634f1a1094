"""Where requests are worked on: a few threads, a deadline for each request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from coview.serving.errors import RequestError

Result = TypeVar("Result")


class Abandoned(Exception):
    """Nobody waits for this work any more: its time is over, or the client has left."""


class Deadline:
    """When a request must be answered; work asks it between its steps.

    Parameters
    ----------
    seconds : float
        From now.

    Examples
    --------
    >>> deadline = Deadline(60)
    >>> deadline.check()
    >>> deadline.cancel()
    >>> deadline.check()
    Traceback (most recent call last):
        ...
    coview.serving.work.Abandoned
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._cancelled = False

    def cancel(self) -> None:
        """Let the work end at its next step."""
        self._cancelled = True

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Raise `Abandoned` if nobody waits any more."""
        if self._cancelled or not self.left:
            raise Abandoned


class WorkerPool:
    """Threads that work on requests, so that the loop of the server stays free to answer others.

    Parameters
    ----------
    n_threads : int
    most : int
        Requests that wait or are worked on; more are sent away.

    Notes
    -----
    A thread cannot be stopped from outside. Work that is late ends at its next step, work that has
    not begun never begins: no more than `n_threads` are ever busy with what nobody waits for.
    """

    def __init__(self, n_threads: int, most: int) -> None:
        self._threads = ThreadPoolExecutor(n_threads, thread_name_prefix="coview-work")
        self._most = most
        self.n_requests = 0

    async def run(self, work: Callable[[], Result], deadline: Deadline) -> Result:
        """Return the result of work done in a thread; `RequestError` (503, 504) if it cannot be."""
        if self.n_requests >= self._most:
            raise busy()
        self.n_requests += 1
        future = self._threads.submit(work)
        try:
            async with asyncio.timeout(deadline.left):
                return await asyncio.wrap_future(future)
        except (TimeoutError, Abandoned):
            raise RequestError(
                504, "too_slow", "This took too long. Send fewer or shorter documents."
            ) from None
        finally:
            self.n_requests -= 1
            deadline.cancel()
            future.cancel()

    def close(self) -> None:
        """End the threads: what has not begun is dropped."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def busy() -> RequestError:
    """Return what a client is told that should come again later."""
    return RequestError(503, "busy", "Too many requests at once. Try again.", {"Retry-After": "1"})
