"""Who may ask, and how often: names of the service, the token, the rate of an address."""

from __future__ import annotations

import hashlib
import hmac
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from coview.serving.errors import RequestError

MAX_ADDRESSES = 10_000  # whose rates are known; the oldest are forgotten
BURST = 2.0  # seconds of the rate that may come at once


def host_is_allowed(header: str, allowed: Sequence[str]) -> bool:
    """Tell whether the header Host, with or without a port, is one of the names.

    >>> host_is_allowed("localhost:8000", ["localhost"]), host_is_allowed("evil", ["localhost"])
    (True, False)
    """
    if "*" in allowed:
        return True
    name, colon, port = header.rpartition(":")
    if not colon or header.endswith("]"):
        name = header
    elif not port.isdecimal():
        return False
    return name.lower() in (known.lower() for known in allowed)


def token_is_right(header: str, token: str) -> bool:
    """Tell whether the header Authorization has the token, in the same time for all wrong ones.

    >>> token_is_right("Bearer abc", "abc"), token_is_right("abc", "abc")
    (True, False)
    """
    scheme, _, given = header.partition(" ")
    # digests have one length, so the time does not tell the length of the token either
    found, wanted = (hashlib.sha256(t.encode("utf-8", "replace")) for t in (given.strip(), token))
    return hmac.compare_digest(found.digest(), wanted.digest()) and scheme.lower() == "bearer"


class RateLimit:
    """How many requests each address may send.

    Parameters
    ----------
    rate : float
        Requests a second; 0 is no limit.
    clock : callable, default=time.monotonic

    Examples
    --------
    >>> limit = RateLimit(1.0, clock=lambda: 0.0)
    >>> for _ in range(3):
    ...     limit.take("10.0.0.7")
    Traceback (most recent call last):
        ...
    coview.serving.errors.RequestError: More than 1 requests a second of one address. ...
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._most = max(1.0, rate * BURST)
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, float]] = OrderedDict()  # left, when

    def take(self, address: str) -> None:
        """Count one request; `RequestError` (429) if there were too many."""
        if not self._rate:
            return
        now = self._clock()
        left, then = self._known.pop(address, (self._most, now))
        left = min(self._most, left + (now - then) * self._rate)
        enough = left >= 1
        self._known[address] = (left - 1 if enough else left, now)
        if len(self._known) > MAX_ADDRESSES:
            self._known.popitem(last=False)
        if not enough:
            wait = math.ceil((1 - left) / self._rate)
            raise RequestError(
                429,
                "too_many_requests",
                f"More than {self._rate:g} requests a second of one address. Wait a little.",
                {"Retry-After": str(wait)},
            )
