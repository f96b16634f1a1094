"""How much memory is available, checked before large allocations."""

from __future__ import annotations

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")


def check_memory(estimate: float, what: str, limit: float | None = None) -> None:
    """Raise MemoryError if `estimate` bytes are too many, before they are allocated.

    Parameters
    ----------
    estimate : float
        Bytes that will be needed.
    what : str
        What needs them, for the message.
    limit : float or None
        Bytes that may be used; None: those that the machine, or its container, has available.

    Examples
    --------
    >>> check_memory(8e12, "1,000,000 topics", limit=16e9)
    Traceback (most recent call last):
        ...
    MemoryError: 1,000,000 topics would need about 8,000.0 GB, but 16.0 GB may be used. ...
    """
    left = available_memory() if limit is None else limit
    if left is None or estimate <= left:
        return
    found = "are available" if limit is None else "may be used"
    raise MemoryError(
        f"{what} would need about {estimate / 1e9:,.1f} GB, but {left / 1e9:,.1f} GB {found}. "
        "Use fewer topics, a smaller vocabulary, float32, or fewer documents at a time."
    )


def available_memory() -> float | None:
    """Return the bytes that can be allocated without swapping, or None if unknown."""
    known = [left for left in (_machine_available(), _container_available()) if left is not None]
    return min(known, default=None)


def _machine_available() -> float | None:
    try:
        lines = _MEMINFO.read_text().splitlines()
        kib = next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))
        return float(kib) * 1024
    except (OSError, StopIteration):
        return _physical_memory()


def _physical_memory() -> float | None:
    # without /proc only the size of the memory is known, not how much is free
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _container_available() -> float | None:
    """Return what a control group (version 2) leaves; None without a group or a limit."""
    try:
        own = _OWN_CGROUP.read_text().split("::", 1)[1].splitlines()[0]
        group = _CGROUP / own.lstrip("/")
        limit = float((group / "memory.max").read_text())
        used = float((group / "memory.current").read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except (OSError, IndexError, ValueError):  # "max" is not a number: no limit
        return None
    # cached files count as used, but the kernel frees them on demand
    return limit - used + float(stat.get("inactive_file", 0))
