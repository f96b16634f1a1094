"""What a fit is watched with: time without the watching, peak memory, topics after chosen passes.

This file, `plateau.py`, `methods.py` and `runner.py` run in the environments of all libraries: they
import numpy and scipy alone, and are plain Python 3.11.
"""

import json
import re
import time
from pathlib import Path

import numpy as np

# Passes after which topics are kept: dense where perplexity still falls quickly
PASSES = (0.25, 0.5, 1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128, 180, 256, 360, 512)


class FitIsOver(Exception):
    """More passes do not pay ("plateau"), or passes or time are used up ("bound")."""


class Clock:
    """CPU and wall seconds of the fit, those of all threads, without what the observer takes."""

    def __init__(self):
        self._cpu = self._wall = 0.0
        self.resume()

    def resume(self):
        """Go on counting."""
        self._from = time.process_time(), time.perf_counter()

    def pause(self):
        """Stop counting."""
        self._cpu += time.process_time() - self._from[0]
        self._wall += time.perf_counter() - self._from[1]

    def read(self):
        """Return CPU and wall seconds up to the last pause."""
        return self._cpu, self._wall


def memory(field):
    """Return `VmRSS` (now) or `VmHWM` (peak) of this process in MB."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024


def forget_peak():
    """Let the peak start again from what is used now (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


class Observer:
    """Keep time, memory and topics of one fit, and end it in time."""

    def __init__(self, folder, max_passes, cpu_limit, plateau=None):
        self.folder = Path(folder)
        self.plateau = plateau
        self.max_passes, self.cpu_limit = max_passes, cpu_limit
        self.rows = []
        self._peak = 0.0
        forget_peak()
        self._before = memory("VmRSS")
        self.clock = None
        self._last = None  # passes, CPU and wall seconds after the last pass that was made

    def begin(self):
        """Start the clock: the corpus has the form that the library wants."""
        self.clock = Clock()

    def next_passes(self, now):
        """Return how many whole passes there are to the next ones that are kept."""
        later = [p for p in PASSES if p > now and p >= 1]
        return int(min([*later, self.max_passes])) - now

    def after(self, passes, topics):
        """Take note of passes made so far; `topics()` gives p(w|z), (topics, terms), if needed."""
        self.clock.pause()
        self._note_peak()
        last, self._last = self._last, (passes, *self.clock.read())
        over = passes >= self.max_passes or self.clock.read()[0] > self.cpu_limit
        if over or any((last[0] if last else 0) < p <= passes for p in PASSES):
            kept = self._keep(topics())
            if not over and self.plateau is not None and self.plateau.reached(passes, kept):
                raise FitIsOver("plateau")
            forget_peak()
        if over:
            raise FitIsOver("bound")
        self.clock.resume()

    def _keep(self, topics):
        passes, cpu, wall = self._last
        topics = np.asarray(topics, dtype=np.float64)
        topics = topics / np.maximum(topics.sum(axis=1, keepdims=True), 1e-300)
        np.save(self.folder / f"topics-{len(self.rows)}.npy", topics.astype(np.float32))
        self.rows.append({"passes": passes, "cpu": cpu, "wall": wall})
        self.write("bound")  # as it stands if the run is killed before its next point
        return topics

    def end(self, topics):
        """Take note of a fit that ended by itself, with its topics.

        What it did after its last pass is added to all times: a user waits for that as well,
        however few passes are made.
        """
        self.clock.pause()
        self._note_peak()
        if self.rows[-1]["passes"] < self._last[0]:
            self._keep(topics)
        _, cpu, wall = self._last
        for row in self.rows:
            row["cpu"] += self.clock.read()[0] - cpu
            row["wall"] += self.clock.read()[1] - wall

    def _note_peak(self):
        self._peak = max(self._peak, memory("VmHWM"))

    def write(self, status):
        """Write what was seen beside the topics; status says how the run ended."""
        found = {"status": status, "rows": self.rows}
        found |= {"peak_mb": self._peak, "fit_mb": self._peak - self._before}
        (self.folder / "run.json").write_text(json.dumps(found))
