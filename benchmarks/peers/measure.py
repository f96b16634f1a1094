"""Run the libraries in turns, evaluate their topics, and keep a row for each point of each run."""

import csv
import json
import os
import platform
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from benchmarks.peers import corpora
from benchmarks.peers.environments import CACHE, LIBRARY, CannotInstall, python_of, version_of
from benchmarks.peers.perplexity import background_of, perplexity

MEASURED = Path(__file__).parents[1] / "measured"
RUNNER = Path(__file__).with_name("runner.py")
METHODS = tuple(LIBRARY)
# Bounds of a run in passes: at least before a plateau is believed (from random topics perplexity
# falls slowly at first; the LDAs iterate on each document within a pass), and at most
PASSES = {"lda": (4, 64), "lda-online": (4, 32), "gensim": (4, 32), "tomotopy": (16, 512)}
PASSES |= {"nmf": (16, 512), "enstop": (16, 512), "bigartm": (16, 256)}
FIELDS = (
    *("corpus", "topics", "method", "version", "repetition", "status", "passes", "cpu", "wall"),
    *("perplexity", "peak_mb", "fit_mb"),
)
ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR", "BLIS")
}


@dataclass(frozen=True)
class Plan:
    """Which cells are measured: corpora, numbers of topics, repetitions, and bounds of a run."""

    corpora: tuple[str, ...]
    topics: tuple[int, ...]
    repetitions: int = 3
    methods: tuple[str, ...] = METHODS
    cpu_seconds: float = 600.0
    gigabytes: float = 8.0

    def turns(self) -> Iterator[tuple[int, int, str]]:
        """Yield repetition, topics and method: methods take turns, and so does who is first."""
        for repetition in range(self.repetitions):
            first = repetition * 2 % len(self.methods)
            for n_topics in self.topics:
                for method in self.methods[first:] + self.methods[:first]:
                    yield repetition, n_topics, method


def measure(plan: Plan, folder: Path = MEASURED, cache: Path = CACHE) -> None:
    """Measure what is missing; rows of runs that were made before stay."""
    folder.mkdir(parents=True, exist_ok=True)
    write_machine(folder / "machine.csv")
    for corpus in plan.corpora:
        place = corpora.prepare(corpus, cache)
        parts = [corpora.load(place, part) for part in corpora.PARTS]
        judge = Judge(background_of(parts[0]), *parts[1:])
        path = folder / f"peers-{corpus}.csv"
        for repetition, n_topics, method in plan.turns():
            # read each time: two of these may run at once, for different topics
            if (corpus, n_topics, method, repetition) in {run_of(row) for row in read(path)}:
                continue
            rows = one_run(plan, place, method, n_topics, repetition, judge, cache)
            about = {"corpus": corpus, "topics": n_topics, "method": method}
            about |= {"repetition": repetition, "version": version(method, cache)}
            append(path, [about | row for row in rows])
            last = rows[-1]
            print(*about.values(), *(f"{k}={v}" for k, v in last.items()), flush=True)


def version(method: str, cache: Path) -> str:
    """Return the version of a method's library, or that there is none."""
    try:
        return version_of(method, cache)
    except CannotInstall:
        return "not installed"


def run_of(row: dict) -> tuple[str, int, str, int]:
    """Return which run a row belongs to."""
    return row["corpus"], int(row["topics"]), row["method"], int(row["repetition"])


@dataclass(frozen=True)
class Judge:
    """The held-out perplexity of a corpus."""

    background: np.ndarray
    observed: object
    predicted: object

    def __call__(self, path: Path) -> float:
        return perplexity(np.load(path), self.background, self.observed, self.predicted)


def one_run(
    plan: Plan, corpus: Path, method: str, n_topics: int, seed: int, judge: Judge, cache: Path
) -> list[dict]:
    """Fit once in a process of its own; return a row for each point that it was watched at."""
    try:
        python = python_of(method, cache)
    except CannotInstall as reason:
        return [{"status": f"not installed: {reason}"}]
    with tempfile.TemporaryDirectory() as folder:
        command = [python, RUNNER, method, corpus / "train.npz", folder]
        least, most = PASSES.get(method, (1, 1))  # coview stops by itself
        for name, value in (("topics", n_topics), ("seed", seed), ("at-least", least)):
            command += [f"--{name}", value]
        command += ["--passes", most]
        command += ["--cpu", plan.cpu_seconds, "--gb", plan.gigabytes]
        # by the clock, on a machine that may have much else to do
        return watched(command, Path(folder), 20 * plan.cpu_seconds + 1200, judge)


def watched(command: list, folder: Path, patience: float, judge: Judge) -> list[dict]:
    """Run the runner, and judge the topics that it leaves in the folder."""
    environment = os.environ | ONE_THREAD
    words = [str(c) for c in command]
    try:
        done = subprocess.run(
            words,
            env=environment,
            cwd=folder,  # BigARTM writes logs where it runs
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
        )
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = f"failed: {lines[-1] if lines else f'signal {-done.returncode}'}"[:200]
    except subprocess.TimeoutExpired:
        reason = f"no pass in {patience:.0f} s"
    found = folder / "run.json"
    if not found.exists():
        return [{"status": reason}]
    run = json.loads(found.read_text())
    memory = {"peak_mb": f"{run['peak_mb']:.0f}", "fit_mb": f"{run['fit_mb']:.0f}"}
    rows = []
    for i, row in enumerate(run["rows"]):
        numbers = {"passes": f"{row['passes']:.4g}", "cpu": f"{row['cpu']:.3f}"}
        numbers |= {"wall": f"{row['wall']:.3f}"}
        numbers["perplexity"] = f"{judge(folder / f'topics-{i}.npy'):.2f}"
        rows.append({"status": run["status"], **numbers, **memory})
    return rows or [{"status": run["status"]}]  # ended before there was a peak to measure


def read(path: Path) -> list[dict]:
    """Return the rows of a file of results, none if it is not there."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def append(path: Path, rows: list[dict], fields: Sequence[str] = FIELDS) -> None:
    """Add rows to a file of results."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fields, restval="", lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(rows)


def write_machine(path: Path) -> None:
    """Write what the machine is, without its name."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("what", "value"))
        writer.writerows(machine().items())


def machine() -> dict[str, str]:
    """Return processor, cores, caches, memory, system and versions."""
    return {
        "date": date.today().isoformat(),
        "processor": _field("/proc/cpuinfo", r"model name\s*:\s*(.*)") or platform.machine(),
        "cores": str(os.cpu_count()),
        "cache": _field("/proc/cpuinfo", r"cache size\s*:\s*(.*)"),
        "memory, kB": _field("/proc/meminfo", r"MemTotal:\s*(\d+)"),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "load when it began": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "",
    }


def _field(path: str, pattern: str) -> str:
    try:
        found = re.search(pattern, Path(path).read_text())
    except OSError:
        return ""
    return found[1].strip() if found else ""
