"""Say when kernels are compiled: seconds of a first fit in which nothing else happens.

numba compiles a kernel when it is first called with arrays of some type, and keeps the result on
disk for later processes. `coview.kernels` calls `announce` when that begins; nothing here imports
numba.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

MESSAGE = "Compiling for this computer, once: this takes some seconds."

_listeners: list[Callable[[str], None]] = []
_announced: list[bool] = []  # one entry when it has been said


def tell_when_compiling(tell: Callable[[str], None]) -> None:
    """Call `tell` with a message when this process first compiles something, and never again."""
    _listeners[:] = [tell]


def announce() -> None:
    """Say that compiling begins, unless this process has said so before."""
    if _announced:
        return
    _announced.append(True)
    logging.getLogger("coview").info(MESSAGE)
    for tell in _listeners:
        tell(MESSAGE)
