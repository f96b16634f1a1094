"""Read files of foreign formats in a child process, so that a damaged file cannot end this one.

Some libraries crash on damaged files: they take the interpreter, and all unsaved work, with them.
Here they run in another interpreter, with limits on time and memory, which sends back what was
read. If it dies, that is an error which says so.

The child is a new interpreter, not a fork, which threads make unsafe, and none of
`multiprocessing`, which would run the user's script again. It gets the name of a function and its
arguments on its standard input and answers with pickles: they come from our own code, not from the
file. Where no child can be started (in a frozen program or in a browser), the function is called
here.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from types import GeneratorType
from typing import Any, BinaryIO

from coview.memory import available_memory
from coview.reading.plain_files import read_file
from coview.wording import option_words, words_for_options

# isolated: no module of the current folder must take the place of one of Python's own
_COMMAND = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    "from coview.reading.child_process import serve; serve()"
)
SECONDS, BYTES_PER_SECOND = 120.0, 1e6  # what reading may take: a start, and a very slow disk
SPARE_BYTES = 1 << 30  # of addresses, which libraries reserve without using them
# types of errors that coview raises about a file in words of its own, and those that stay beside
_OWN_TYPES = {kind.__name__: kind for kind in (ValueError, TypeError)}
_KEPT_TYPES = {
    kind.__name__: kind
    for kind in (*_OWN_TYPES.values(), MemoryError, ImportError, OSError, PermissionError)
}


def call_in_child(function: Callable[..., Any], path: Path, *arguments: Any) -> Any:
    """Call a function of a file in a child process and return its result; see below."""
    items = iterate_in_child(function, path, *arguments)
    try:
        return next(items)
    finally:
        items.close()


def iterate_in_child(
    function: Callable[..., Any], path: Path, *arguments: Any
) -> Generator[Any, None, None]:
    """Yield the items of a generator function that reads a file in a child process.

    Parameters
    ----------
    function : callable
        At the top of a module, so that the child finds it by name. The child is never more than a
        few items ahead.
    path : path
        The file, the first argument of the function. Its size says how long an item may take.
    *arguments
        Further arguments. They and the items must be picklable.

    Raises
    ------
    ValueError, MemoryError
        If the child dies or takes too long, or if the function fails: the message names the file.
        Errors of the function keep their type if it is one that coview documents; all others, such
        as those of a library that stumbles over damage, become ValueError.
    """
    seconds = read_file(path, _time_limit)
    with TemporaryFile() as errors:
        child = _start(errors)
        if child is None:
            yield from _items_here(function, path, arguments)
            return
        try:
            _ask(child, function, (path, *arguments))
            yield from _answers(child, path, seconds, errors)
        finally:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                with suppress(OSError):  # what was not sent to a dead child
                    pipe.close()


def _time_limit(path: Path) -> float:
    return SECONDS + path.stat().st_size / BYTES_PER_SECOND


def _items_here(
    function: Callable[..., Any], path: Path, arguments: tuple[Any, ...]
) -> Iterator[Any]:
    try:
        yield from _items(function(path, *arguments))
    except Exception as error:
        raise _named_error(*_described(error), path) from error


def _items(result: Any) -> Iterator[Any]:
    if isinstance(result, GeneratorType):
        yield from result
    else:
        yield result


# -- the parent -----------------------------------------------------------------------------------


def _start(errors: BinaryIO) -> Any:
    """Return a new interpreter that waits for its task, or None if there can be none."""
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    flags = ["-X", "utf8"] if sys.flags.utf8_mode else []
    try:
        return subprocess.Popen(
            [sys.executable, "-I", *flags, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError:
        return None


def _ask(child: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Send the child what it shall do."""
    places = [place for place in sys.path if isinstance(place, str)]
    call = function.__module__, function.__qualname__, arguments
    task = *call, available_memory(), option_words()
    with suppress(OSError):  # it is dead already, which is noticed when it does not answer
        child.stdin.write(json.dumps(places).encode() + b"\n" + pickle.dumps(task))
        child.stdin.close()


def _answers(child: Any, path: Path, seconds: float, errors: BinaryIO) -> Iterator[Any]:
    """Yield the items that the child sends; its warnings and errors become ours."""
    while True:
        kind, *values = read_file(path, lambda _: _next_answer(child, seconds, errors))
        if kind == "item":
            yield values[0]
        elif kind == "warning":
            message, category = values
            warnings.warn(message, category, stacklevel=5)
        elif kind == "error":
            name, text = values
            raise _named_error(name, text, path)
        else:
            return


def _next_answer(child: Any, seconds: float, errors: BinaryIO) -> tuple[Any, ...]:
    late: list[bool] = []

    def end() -> None:
        late.append(True)
        child.kill()

    timer = Timer(seconds, end)  # the only way to end a read from a pipe on every platform
    timer.daemon = True
    timer.start()
    try:
        return pickle.load(child.stdout)
    except (EOFError, pickle.UnpicklingError, OSError) as error:
        child.kill()
        raise _death(child.wait(), seconds if late else None, errors) from error
    finally:
        timer.cancel()


def _death(code: int, late: float | None, errors: BinaryIO) -> Exception:
    """Return the error for a child that did not answer."""
    if late is not None:
        return ValueError(
            f"that took more than {late:,.0f} seconds; it is damaged, or the disk is very slow"
        )
    if code == -getattr(signal, "SIGKILL", 9):
        return MemoryError("the process that read it was killed, perhaps for lack of memory")
    if code < 0 or code >= 0xC0000000:  # a signal, or an exception of Windows
        return ValueError(f"it is damaged: the library that reads it crashed ({_cause(code)})")
    errors.seek(0)
    said = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
    return ValueError(f"the process that read it ended with the code {code} ({said[:200]})")


def _cause(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"code {code & 0xFFFFFFFF:#x}"


def _described(error: Exception) -> tuple[str, str]:
    """Return the type of an error by its name, and its words."""
    return type(error).__name__, str(error) or type(error).__name__


def _named_error(name: str, text: str, path: Path) -> Exception:
    """Return an error that names the file, of the type that it had if coview documents that."""
    kind = _KEPT_TYPES.get(name, ValueError)
    if kind is ImportError or str(path) in text:
        return kind(text)
    if name in _OWN_TYPES:
        return kind(f"{path}: {text}")
    return kind(f"Cannot read {path}: {text.rstrip('.')}.")


# -- the child ------------------------------------------------------------------------------------


def serve() -> None:
    """Do the task that is read from standard input; called in the child."""
    # libraries may print: what they print must not get among the answers
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, name, arguments, left, options = pickle.load(sys.stdin.buffer)
    send = _Sender(answers)
    try:
        function = getattr(import_module(module), name)
        _limit_memory(left)
        with warnings.catch_warnings(), words_for_options(options):
            warnings.simplefilter("default")
            warnings.showwarning = send.warning  # type: ignore[assignment]
            for item in _items(function(*arguments)):
                send.message("item", item)
        send.message("end")
    except Exception as error:
        send.message("error", *_described(error))
    # without the cleaning up of libraries, which may stumble over damage
    os._exit(0)


class _Sender:
    """Write answers to the parent."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def message(self, kind: str, *values: Any) -> None:
        """Send one answer."""
        pickle.dump((kind, *values), self._file, protocol=pickle.HIGHEST_PROTOCOL)
        self._file.flush()

    def warning(self, message: Warning | str, category: type[Warning], *place: Any) -> None:
        """Send a warning about the data; what libraries say about themselves is left out."""
        if issubclass(category, UserWarning):
            self.message("warning", str(message), category)


def _limit_memory(left: float | None) -> None:
    """Let allocations fail that are larger than what was available; Linux only."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError, ValueError):
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if left is not None:
        used = pages * resource.getpagesize()
        most = used + int(left) + SPARE_BYTES
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
