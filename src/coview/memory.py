"""How much memory is available, checked before large allocations."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")
LEAST_MEMORY = 1_000_000  # bytes that a setting may say at least
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?i?b|)", re.IGNORECASE)
_UNITS = {"": 1, "B": 1, "IB": 1}
_UNITS |= {f"{unit}B": 1000 ** (n + 1) for n, unit in enumerate("KMGT")}
_UNITS |= {f"{unit}IB": 1024 ** (n + 1) for n, unit in enumerate("KMGT")}


class _Version(NamedTuple):
    """The names under which a version of control groups says how much memory there is."""

    limit: str
    used: str
    cached: str


_V1 = _Version("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = _Version("memory.max", "memory.current", "inactive_file")


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


def memory_bytes(name: str, value: Any) -> int:
    """Return an amount of memory in bytes, from a number or a text such as "1GB" or "512 MiB".

    >>> memory_bytes("memory", "1GB"), memory_bytes("memory", "1.5 MiB")
    (1000000000, 1572864)
    """
    found = _AMOUNT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is not None:
        n_bytes = float(found[1]) * _UNITS[found[2].upper()]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        n_bytes = float(value)
    else:
        n_bytes = math.nan
    if not LEAST_MEMORY <= n_bytes < 2**60:  # NaN: refused
        raise ValueError(
            f"{name} must be an amount of memory of {LEAST_MEMORY // 10**6} MB or more, such as "
            f"'1GB', '512MB' or a number of bytes; got {value!r}."
        )
    return int(n_bytes)


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
        pass
    try:  # macOS and Windows
        import psutil

        return float(psutil.virtual_memory().available)
    except ImportError:
        return _physical_memory()


def _physical_memory() -> float | None:
    # without /proc and psutil only the size of the memory is known, not how much is free
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def resident_memory() -> float:
    """Return the bytes of memory that this process holds now; NaN where that is not known."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return float(pages * os.sysconf("SC_PAGE_SIZE"))
    except OSError:
        pass
    try:
        import psutil

        return float(psutil.Process().memory_info().rss)
    except ImportError:
        return math.nan


def _container_available() -> float | None:
    """Return what the control groups leave, of either version; None without one or a limit."""
    try:
        lines = _OWN_CGROUP.read_text().splitlines()
    except OSError:
        return None
    left = [_left(group, version) for group, version in _own_groups(lines)]
    return min((bytes_ for bytes_ in left if bytes_ is not None), default=None)


def _own_groups(lines: list[str]) -> Iterator[tuple[Path, _Version]]:
    """Yield the folders of this process's groups and of the groups around them.

    In a container the path may be that of the host, which is not there: then the outermost folder
    is that of the container.
    """
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            top, version = _CGROUP, _V2
        elif "memory" in controllers.split(","):
            top, version = _CGROUP / "memory", _V1
        else:
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for depth in range(len(parts), -1, -1):
            yield top.joinpath(*parts[:depth]), version


def _left(group: Path, version: _Version) -> float | None:
    """Return what a group leaves; None if it is not there or has no limit."""
    try:
        limit = float((group / version.limit).read_text())
        used = float((group / version.used).read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        # cached files count as used, but the kernel frees them on demand
        return max(limit - used + float(stat.get(version.cached, 0)), 0.0)
    except (OSError, ValueError):  # "max" is not a number: no limit
        return None
