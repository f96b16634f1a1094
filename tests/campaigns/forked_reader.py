"""A process that reads a file, forked from this one: it has nothing to import.

coview starts a new interpreter for each file of a foreign format. That takes a hundred times as
long as reading a small file, so the campaign does so for a part of its inputs only.
"""

from __future__ import annotations

import faulthandler
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NoReturn
from unittest import mock

from coview.reading import child_process


@contextmanager
def forked_reader() -> Iterator[None]:
    """Let coview fork where it would start an interpreter."""
    with mock.patch.object(child_process, "_start", ForkedChild):
        yield


class ForkedChild:
    """A forked process, with what coview uses of `subprocess.Popen`."""

    def __init__(self, errors: BinaryIO) -> None:
        question, to_child = os.pipe()
        from_child, answer = os.pipe()
        self._code: int | None = None
        self._pid = os.fork()
        if not self._pid:
            _serve(question, answer, errors.fileno(), (to_child, from_child))
        os.close(question)
        os.close(answer)
        self.stdin, self.stdout = os.fdopen(to_child, "wb"), os.fdopen(from_child, "rb")

    def kill(self) -> None:
        """End the process, if it has not ended."""
        if self._code is None:
            os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> int:
        """Return how the process ended."""
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._code


def _serve(question: int, answer: int, errors: int, others: tuple[int, int]) -> NoReturn:
    faulthandler.disable()  # a crash is what is looked for
    try:
        for descriptor in others:
            os.close(descriptor)
        for descriptor, place in ((question, 0), (answer, 1), (errors, 2)):
            os.dup2(descriptor, place)
        os.close(question)  # else the end of the question is never seen
        os.close(answer)
        sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb"))
        sys.stdin.buffer.readline()  # where modules are, which is known here
        child_process.serve()
    finally:
        os._exit(1)
