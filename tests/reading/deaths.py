"""Ways in which a reader of files can die, for the tests of child processes."""

import builtins
import ctypes
import os
import signal
import time
import warnings

from coview import DataWarning


def segfault(path, *arguments):
    ctypes.string_at(0)


def abort(path, *arguments):
    os.abort()


def leave(path, *arguments):
    os.write(2, b"first line\nwhat went wrong\n")
    os._exit(7)


def be_killed(path, *arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def hang(path, *arguments):
    while True:
        time.sleep(1)


def hoard(path, *arguments):
    return len(bytearray(1 << 45))


def die_later(path, *arguments):
    yield "first"
    yield "second"
    os.abort()


def chatter(path, *arguments):
    os.write(1, b"a library prints")
    print("so does another", flush=True)
    warnings.warn("about the data", DataWarning, stacklevel=1)
    warnings.warn("about a library", DeprecationWarning, stacklevel=1)
    return path.read_text(), arguments


def many(path, count):
    yield from range(count)


def process(path):
    return os.getpid()


def fail(path, kind):
    own = {"unicode": _unicode, "own": OwnError}
    raise (own.get(kind) or getattr(builtins, kind))("of its own")


def complain(path):
    raise ValueError(f"{path} is bad.")


def _unicode(text):
    return UnicodeDecodeError("utf-8", b"\xff", 0, 1, text)


class OwnError(Exception):
    """An error that the parent does not know."""
