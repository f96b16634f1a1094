"""Peak memory during `fit`, in a process of its own, against what the library promises.

    python benchmarks/bench_memory.py [--docs 40000] [--topics 20 56 100]

The promise: at most 3 times the input matrix plus 4 times the parameters (documents x topics +
terms x topics, in the precision of the model), input included.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path


def status(field):
    """Return a memory field of this process in bytes (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status: this benchmark needs Linux")


def measure(args):
    """Print sizes and the peak memory of a fit above that before the matrix was loaded."""
    import warnings

    import numpy as np

    from coview import PLSA, Views

    warnings.simplefilter("ignore")
    PLSA(2, init="random", max_iter=1, tol=0.0).fit(np.ones((4, 4), np.float32))  # compile
    before = status("VmRSS")
    X = Views.load(args.data)["view_0"]
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of reading the data
    PLSA(args.k, init="random", max_iter=5, tol=0.0, random_state=0).fit(X)
    peak = status("VmHWM") - before
    matrix = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    parameters = 4 * args.k * sum(X.shape)
    print(f"{matrix} {parameters} {peak}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=int, default=40_000)
    parser.add_argument("--terms", type=int, default=30_000)
    parser.add_argument("--length", type=int, default=80)
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 56, 100])
    parser.add_argument("--k", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--data", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.k:
        measure(args)
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(args, Path(folder) / "data")


def compare(args, folder):
    from coview.datasets import make_views

    make_views(args.docs, 50, [args.terms], doc_length=args.length, random_state=0).save(folder)
    print("| topics | matrix | parameters | peak of fit | promised | peak / promised |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for k in args.topics:
        command = [sys.executable, __file__, "--data", str(folder), "--k", str(k)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        matrix, parameters, peak = map(int, out.split())
        promised = 3 * matrix + 4 * parameters
        shown = " | ".join(f"{b / 2**20:.0f} MB" for b in (matrix, parameters, peak, promised))
        print(f"| {k} | {shown} | {peak / promised:.2f} |")


if __name__ == "__main__":
    main()
