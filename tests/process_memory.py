"""The memory of this process alone, from /proc (Linux)."""

from pathlib import Path


def process_memory(field: str) -> int:
    """Return "VmRSS" (now) or "VmHWM" (the peak since the program began) in bytes.

    `ru_maxrss` will not do for the peak: it begins with the memory of the process that started
    this one.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) * 1024
