"""One thread for BLAS and OpenMP, whose number must not change a bit of a result.

threadpoolctl goes through all libraries of the process whenever it is asked, which takes longer
than many a small step that is done under such a limit. Here they are searched again only after an
import: that is how libraries come.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def one_native_thread(user_api: str | None = None) -> AbstractContextManager[Any]:
    """Hold the threads of native libraries to one, as `threadpoolctl.threadpool_limits(1)` does.

    `user_api` is "blas" or "openmp", by default both.
    """
    return _controller(len(sys.modules)).limit(limits=1, user_api=user_api)


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Return what controls the libraries that were loaded with so many modules."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
