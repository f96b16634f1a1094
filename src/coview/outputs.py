"""Where files are written: which places can be written to, and errors that say what to do.

A file is written beside its target and moved there when it is complete (`coview.store.replacing`).
What goes beside has a name of its own, ``.<name>.<process>-<system>-<time>.tmp``, by which the next
writer knows what a killed one has left.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

STALE_SECONDS = 600  # what has not changed for so long was left by a killed writer
_TEMPORARY = re.compile(r"\..*\.(?P<pid>[0-9]+)-(?P<system>[0-9a-f]{8})-[0-9a-f]+\.tmp", re.DOTALL)
_LONGEST_STEM = 120  # bytes of the target's name in that of its temporary file
# how libraries that raise no OSError, or one without a number, tell the number of an error
_ERROR_NUMBER = re.compile(r"(?:os error|errno)[ =]+([0-9]+)", re.IGNORECASE)
_FULL = {errno.ENOSPC, errno.EDQUOT}
_TAKEN = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}  # by another lock
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_SPECIAL = (
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)

# -- places ----------------------------------------------------------------------------------------


def output_file(path: str | os.PathLike[str]) -> Path:
    """Return the file that an output is written to: links are followed, special files refused.

    Raises
    ------
    OSError
        If the path is a folder, a device, a pipe or a socket, or if its folder does not exist.
    """
    given = Path(path)
    try:
        mode = given.stat().st_mode  # follows links
    except (FileNotFoundError, NotADirectoryError):
        mode = None
    except OSError as error:
        raise _explained(error, given) from error
    for is_kind, kind in _SPECIAL:
        if mode is not None and is_kind(mode):
            raise OSError(
                f"{given} is {kind}, and would be replaced by a file: give the name of a file."
            )
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{given} is a folder; give the name of a file.")
    real = Path(os.path.realpath(given))
    if not real.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {real.parent} to write {given.name} to.")
    return real


def check_output(path: str | os.PathLike[str]) -> None:
    """Refuse a place that cannot be written to, before the work whose result goes there.

    What killed writers have left in its folder is removed.
    """
    target = output_file(path)
    remove_leftovers(target.parent)
    with explained(target):
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
        _try_to_write(target)


def check_output_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a place where no folder can be written; missing folders above it are made later."""
    above = Path(os.path.realpath(path)).parent
    while not above.exists() and above != above.parent:
        above = above.parent
    try:
        if not above.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        _try_to_write(above / "folder")
    except OSError as error:
        raise _explained(error, Path(path)) from error


def _try_to_write(target: Path) -> None:
    """Create a file beside the target and remove it: rights alone do not tell on every system."""
    beside = temporary_path(target)
    os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    beside.unlink()


# -- locks -----------------------------------------------------------------------------------------


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Work on a file that no other process or thread of this machine works on; wait for none.

    The lock is a file beside it, ``.<name>.lock``; it ends with the process that holds it.

    Raises
    ------
    BlockingIOError
        If somebody else works on it.
    """
    target = output_file(path)
    lock = target.with_name(f".{target.name}.lock")
    with explained(target):
        handle = _lock(lock, target)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps what is open
            lock.unlink()
        with suppress(OSError):
            _flock(handle, taken=False)  # closing alone would leave it to forked processes
        os.close(handle)


def _lock(lock: Path, target: Path) -> int:
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT)
        try:
            _flock(handle, taken=True)
        except OSError as error:
            if error.errno in _TAKEN:
                os.close(handle)
                raise BlockingIOError(
                    f"{target} is being worked on by another fit or update: wait until it has "
                    "ended, or give another file."
                ) from None
        # a file system without locks, or the lock is ours unless its holder has just removed it
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), lock.stat()):
                return handle
        os.close(handle)


def _flock(handle: int, taken: bool) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK if taken else msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB if taken else fcntl.LOCK_UN)


# -- temporary files and folders -------------------------------------------------------------------


def temporary_path(target: Path) -> Path:
    """Return a new name beside the target, by which `remove_leftovers` knows the writer."""
    stem = os.fsdecode(os.fsencode(target.name)[:_LONGEST_STEM])
    return target.with_name(f".{stem}.{os.getpid()}-{_system()}-{time.monotonic_ns():x}.tmp")


@contextmanager
def temporary_folder(target: Path) -> Iterator[Path]:
    """Yield a new folder beside the target, removed in the end if it is still there."""
    with explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent)
        beside = temporary_path(target)
        beside.mkdir()
        try:
            yield beside
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed writers have left in a folder, theirs by name; never anything else."""
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            found = _TEMPORARY.fullmatch(entry.name)
            if found is None or not _is_left(entry, int(found["pid"]), found["system"]):
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                with suppress(OSError):
                    os.unlink(entry.path)


def _is_left(entry: os.DirEntry[str], pid: int, system: str) -> bool:
    """Return whether the writer has ended; of another machine's writers only time can tell."""
    if system == _system() and not _is_running(pid):
        return True
    with suppress(OSError):
        return time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE_SECONDS
    return False


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True


@cache
def _system() -> str:
    """Return a name of what numbers the processes: this machine, since it was started."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text())
        parts.append(str(os.stat("/proc/self/ns/pid").st_ino))  # a container has its own
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


# -- errors ----------------------------------------------------------------------------------------


@contextmanager
def explained(target: Path) -> Iterator[None]:
    """Turn errors of writing, also of libraries, into an OSError with the place and what to do."""
    try:
        yield
    except Exception as error:
        if not _is_about(error, target):
            raise
        raise _explained(error, target) from error


def _is_about(error: Exception, target: Path) -> bool:
    """Return whether an error is one of writing there, and not yet in our words."""
    if isinstance(error, BlockingIOError):
        return False
    if not isinstance(error, OSError):  # safetensors and HDF5 have their own
        return _number(error) is not None
    name = error.filename
    if isinstance(name, str | bytes) and name:
        return Path(os.path.realpath(os.fsdecode(name))).is_relative_to(target.parent)
    return _number(error) is not None or "requested and" in str(error)  # NumPy gives no number


def _number(error: Exception) -> int | None:
    """Return the number of an error of the system, if it is one."""
    if isinstance(error, OSError) and error.errno is not None and error.strerror is not None:
        return error.errno
    found = _ERROR_NUMBER.search(str(error))
    return None if found is None else int(found[1])


def _explained(error: Exception, target: Path) -> OSError:
    number = _number(error) or errno.ENOSPC  # of NumPy's, which has written less than it had
    made = OSError(number, "").__class__(_message(number, target))
    made.errno = number
    return made


def _message(number: int, target: Path) -> str:
    folder = target.parent
    if number in _FULL:
        return (
            f"{target} could not be written: there is no space left in {folder}{_free(folder)}. "
            "Make room there, or write to another place."
        )
    if number == errno.EFBIG:
        return (
            f"{target} could not be written: it is larger than a file may be here, by the file "
            "system or a limit of the process (ulimit -f). Write to another place, or lift it."
        )
    if number in _FORBIDDEN:
        return (
            f"{target} cannot be written: {os.strerror(number).lower()}. Write to another place, "
            "or get the right to write there."
        )
    return f"{target} could not be written: {os.strerror(number).lower()}. Write to another place."


def _free(folder: Path) -> str:
    with suppress(OSError):
        return f" ({shutil.disk_usage(folder).free / 1e6:,.0f} MB free)"
    return ""
