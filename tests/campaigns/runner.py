"""Runs inputs in worker processes: a death or a hang is counted, and the campaign goes on.

The log, one line of JSON for each input, is what a campaign resumes from.
"""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO

from tests.campaigns.cases import Outcome
from tests.campaigns.generators import ALL, GENERATORS

MEGABYTES = 8192  # address space of a worker; compiled code and libraries take over two
# Inputs; then a new worker, so that one input cannot spoil many others. It makes anew the models
# and files that inputs start from, which takes as long as hundreds of inputs.
FRESH_AFTER = 1500
ROUNDS = 20  # in each of them all kinds have their turn
SECONDS_TO_START = 300.0
SECOND_TRY = 3.0  # an input that seems to hang gets this many times its limit, once

Input = tuple[str, int]


class Worker:
    """A process that runs inputs, started on first use."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._process: subprocess.Popen[bytes] | None = None
        self._done = 0
        self._unread = b""  # what has come from the process beyond the last line
        self._recent: deque[str] = deque(maxlen=8)  # inputs, the last ones

    def run(self, generator: str, number: int) -> Outcome:
        """Return what became of an input; one that seems to hang is tried again, alone."""
        limit = ALL[generator].seconds
        before = list(self._recent)
        outcome = self._try(generator, number, limit)
        if outcome.verdict == "hang":
            outcome = self._try(generator, number, limit * SECOND_TRY)
        elif outcome.verdict == "death":
            again = self._try(generator, number, limit)
            if again.verdict != "death":  # an input before it may have spoiled the memory
                detail = f"{outcome.detail}, but {again.verdict} alone; after {', '.join(before)}"
                outcome = replace(outcome, detail=detail)
        self._recent.append(f"{generator}:{number}")
        return outcome

    def _try(self, generator: str, number: int, seconds: float) -> Outcome:
        process = self._started()
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(f"{generator} {number}\n".encode())
            process.stdin.flush()
        self._done += 1
        what = ""
        while True:
            line = self._answer(process, seconds)
            if line is None:
                self.stop()
                return Outcome(generator, number, "hang", what, f"no answer within {seconds:g} s")
            if not line:
                ended = _how_it_ended(process.wait())
                self.stop()
                return Outcome(generator, number, "death", what, ended)
            answer = json.loads(line)
            if isinstance(answer, dict):
                return Outcome(**answer)
            what = answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._done >= FRESH_AFTER:
            self.stop()
        if self._process is None:
            command = [sys.executable, "-m", "tests.campaigns.worker"]
            self._process = subprocess.Popen(
                [*command, str(self._seed), str(MEGABYTES)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._done = 0
            self._unread = b""
            self._recent.clear()
            if self._answer(self._process, SECONDS_TO_START) != b'"ready"\n':
                raise RuntimeError("A worker of the campaign did not start.")
        return self._process

    def _answer(self, process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        """Return a line, b"" if the process has ended, None if there is none in time."""
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        until = time.monotonic() + seconds
        # not readline: two lines may come at once, and `select` sees only what nobody has taken
        while b"\n" not in self._unread:
            left = max(until - time.monotonic(), 0.0)
            if not select.select([pipe], [], [], left)[0]:
                return None
            came = os.read(pipe, 1 << 16)
            if not came:
                return b""
            self._unread += came
        line, _, self._unread = self._unread.partition(b"\n")
        return line + b"\n"

    def stop(self) -> None:
        """End the process and whatever it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(BrokenPipeError):
                pipe.close()  # type: ignore[union-attr]


def _how_it_ended(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def run_all(
    inputs: Iterable[Input], seed: int, n_workers: int, each: Callable[[Outcome], None]
) -> None:
    """Run inputs in several workers; `each` hears of every outcome, one at a time."""
    todo: queue.SimpleQueue[Input] = queue.SimpleQueue()
    for one in inputs:
        todo.put(one)
    done: queue.SimpleQueue[Outcome | BaseException | None] = queue.SimpleQueue()
    threads = [
        threading.Thread(target=_work, args=(seed, todo, done), daemon=True)
        for _ in range(n_workers)
    ]
    for thread in threads:
        thread.start()
    working = n_workers
    while working:
        found = done.get()
        if isinstance(found, BaseException):
            raise found
        if found is None:
            working -= 1
        else:
            each(found)


def _work(
    seed: int,
    todo: queue.SimpleQueue[Input],
    done: queue.SimpleQueue[Outcome | BaseException | None],
) -> None:
    worker = Worker(seed)
    try:
        while True:
            done.put(worker.run(*todo.get_nowait()))
    except queue.Empty:
        done.put(None)
    except BaseException as error:
        done.put(error)
    finally:
        worker.stop()


# -- the log ---------------------------------------------------------------------------------------


def read_log(path: Path) -> dict[Input, Outcome]:
    """Return the outcomes of an earlier run; a line that a kill cut short is left out."""
    found: dict[Input, Outcome] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        with suppress(ValueError, TypeError):
            outcome = Outcome(**json.loads(line))
            found[outcome.generator, outcome.number] = outcome
    return found


def append_to_log(file: IO[str], outcome: Outcome) -> None:
    """Write one line at once, so that a kill loses one input at most."""
    file.write(json.dumps(asdict(outcome)) + "\n")
    file.flush()


def whole_campaign(share: float, names: Iterable[str] | None = None) -> Iterator[Input]:
    """Yield the inputs of a campaign, or of a share of it, in the order of their numbers.

    The kinds take turns, so that a campaign that is cut short has seen some of each.
    """
    chosen = list(GENERATORS) if names is None else list(names)
    totals = {name: max(1, round(share * GENERATORS[name].inputs)) for name in chosen}
    for step in range(ROUNDS):
        for name, total in totals.items():
            first, last = step * total // ROUNDS, (step + 1) * total // ROUNDS
            yield from ((name, number) for number in range(first, last))
