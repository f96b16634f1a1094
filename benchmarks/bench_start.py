"""Cold start: CPU seconds of commands in new processes, and what a first fit compiles.

    python benchmarks/bench_start.py [--repeats 3]

Each command runs in a process of its own; the smallest of the repeats is taken. The first fit of
`examples/news.csv` (120 rows) has an empty folder for compiled kernels, the second one a full one.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).parents[1] / "examples" / "news.csv"
DATA = [str(TABLE), "--text", "en", "--text", "de", "--id", "id", "--topics", "6", "--quiet"]
COMPILED = """
import json, sys, time
from numba.core import event
found, begun = [], []
class Log(event.Listener):
    def on_start(self, event):
        begun.append(time.process_time())
    def on_end(self, event):
        seconds, of = time.process_time() - begun.pop(), event.data["dispatcher"].py_func
        if of.__module__.startswith("coview."):
            types = ", ".join(map(str, event.data["args"]))
            found.append([seconds, f"{of.__module__.removeprefix('coview.')}.{of.__name__}", types])
event.register("numba:compile", Log())
from coview.cli import main
sys.argv = ["coview", *json.loads(sys.argv[1])]
try:
    main()
except SystemExit:
    pass
print(json.dumps(found))
"""


def cpu_seconds(command, **env):
    """Return the CPU seconds of a command in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **env})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def short(types):
    """Return the types of arguments without what all arrays have in common."""
    return types.replace(", aligned=True", "").replace(", mutable", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        model, coview = f"{folder}/news.coview", [sys.executable, "-m", "coview"]
        fit = ["fit", *DATA, "-o", model]
        cache = {"NUMBA_CACHE_DIR": f"{folder}/first"}
        print("CPU seconds")
        print(f"  first fit of 120 rows   {cpu_seconds([*coview, *fit], **cache):6.2f}")
        commands = {
            "second fit": fit,
            "topics": ["topics", model],
            "info": ["info", model],
            "--help": ["--help"],
        }
        for name, command in commands.items():
            seconds = min(cpu_seconds([*coview, *command], **cache) for _ in range(repeats))
            print(f"  {name:<22}  {seconds:6.2f}")
        command = [sys.executable, "-c", COMPILED, json.dumps(fit)]
        env = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/again"}
        ran = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
        compiled = json.loads(ran.stdout.splitlines()[-1])
        print(f"compiled: {len(compiled)} kernels, {sum(s for s, *_ in compiled):.1f} CPU seconds")
        for seconds, name, types in compiled:
            print(f"  {seconds:5.2f}  {name}({short(types)})")


if __name__ == "__main__":
    main()
