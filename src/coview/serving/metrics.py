"""Counts and times of requests, in the text format that Prometheus reads."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator

from coview.memory import resident_memory

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Requests by route and status, their times, and those that were sent away.

    Routes and reasons come from the service, never from clients, so their number is bounded.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.observe("/search", 200, 0.02)
    >>> [line for line in metrics.text().splitlines() if line.startswith("coview_requests_total")]
    ['coview_requests_total{route="/search",status="200"} 1']
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, int], int] = defaultdict(int)
        self._rejected: dict[str, int] = defaultdict(int)
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)
        self.gauges: dict[str, Callable[[], float]] = {}

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count one request that was answered."""
        with self._lock:
            self._requests[route, status] += 1
            self._buckets[route][bisect_left(BUCKETS, seconds)] += 1
            self._seconds[route] += seconds

    def reject(self, reason: str) -> None:
        """Count one request that was sent away before any work."""
        with self._lock:
            self._rejected[reason] += 1

    def text(self) -> str:
        """Return everything as Prometheus reads it."""
        with self._lock:
            lines = [*self._counters(), *self._histograms()]
        for name, value in (
            *self.gauges.items(),
            ("process_resident_memory_bytes", resident_memory),
        ):
            lines += [f"# TYPE {name} gauge", f"{name} {value():g}"]
        return "\n".join(lines) + "\n"

    def _counters(self) -> Iterator[str]:
        yield "# HELP coview_requests_total Requests that were answered."
        yield "# TYPE coview_requests_total counter"
        for (route, status), count in sorted(self._requests.items()):
            yield f'coview_requests_total{{route="{route}",status="{status}"}} {count}'
        yield "# HELP coview_rejected_total Requests that were sent away before any work."
        yield "# TYPE coview_rejected_total counter"
        for reason, count in sorted(self._rejected.items()):
            yield f'coview_rejected_total{{reason="{reason}"}} {count}'

    def _histograms(self) -> Iterator[str]:
        name = "coview_request_seconds"
        yield f"# HELP {name} Time from the headers of a request to the end of its answer."
        yield f"# TYPE {name} histogram"
        for route, counts in sorted(self._buckets.items()):
            total = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                total += count
                yield f'{name}_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {total}'
