"""ThreadRunner: work on blocks in a pool of threads of this process.

The kernels release the interpreter's lock, so threads suffice. The pool lives as long as the
`with` block, so there is no global state for forks or other callers. Kernels run in the pool even
for one thread: a Ctrl-C in the main thread then raises KeyboardInterrupt at once, whereas inside
compiled code it would surface as SystemError.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from joblib import cpu_count


class ThreadRunner:
    """`with ThreadRunner(n_jobs) as run: run(function, blocks)` yields results in block order.

    >>> with ThreadRunner(2) as run:
    ...     list(run(lambda x: x * x, [1, 2, 3]))
    [1, 4, 9]
    """

    def __init__(self, n_jobs: int | None = None):
        self.n_threads = effective_threads(n_jobs)

    def __enter__(self) -> "ThreadRunner":
        self._pool = ThreadPoolExecutor(self.n_threads, thread_name_prefix="coview")
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        # after an error or Ctrl-C no further block is begun
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __call__(self, function: Callable, items: Iterable) -> Iterator:
        waiting: deque = deque()
        for item in items:
            waiting.append(self._pool.submit(function, item))
            # a bounded window: finished results wait here until those before them are taken
            if len(waiting) > self.n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def in_this_thread(function: Callable, items: Iterable) -> Iterator:
    """Work on items one after the other where it is called: a runner for milliseconds of work."""
    return map(function, items)


def effective_threads(n_jobs: int | None) -> int:
    """Return the threads for n_jobs: None is every core of this process, -2 all but one, and so on.

    >>> effective_threads(3)
    3
    """
    if n_jobs is None:
        return cpu_count()
    return n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)
