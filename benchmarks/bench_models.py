"""Time and peak memory of every model against the number of documents.

    python benchmarks/bench_models.py [--docs 5000 20000 100000] [--iterations 5]

Three generated views, 20 topics, a fixed number of iterations from random topics, each fit in a
process of its own. The slope of log time against log documents is 1 for a linear cost. LTM and
MGGM get graphs of six neighbors; `bench_knn.py` times the search for neighbors.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from coview.models import MODEL_NAMES, ONE_VIEW, model_class


def ring(n_docs):
    """Return a graph in which each document has six neighbors."""
    import scipy.sparse as sp

    offsets = [d * s for d in (1, 2, 3) for s in (1, -1)]
    bands = [np.ones(n_docs - abs(o)) for o in offsets]
    return sp.diags_array(bands, offsets=offsets, format="csr")


def measure(name, n_docs, iterations):
    import warnings

    from bench_memory import status
    from coview.datasets import make_views

    warnings.simplefilter("ignore")
    options = {"init": "random", "tol": 0.0, "random_state": 0}
    if name == "ltm":
        options["graph"] = ring(n_docs)
    if name == "mggm":
        options["graphs"] = {f"view_{v}": ring(n_docs) for v in range(3)}
    if name in ("ltm", "mggm"):
        options["assign"] = "argmax"
    small = make_views(300, 20, [3000, 2000, 1000], doc_length=40, random_state=0)
    warm = {k: v for k, v in options.items() if not k.startswith("graph")}
    small = small.concat() if name in ONE_VIEW else small
    model_class(name)(2, max_iter=1, **warm).fit(small)  # compile
    before = status("VmRSS")
    views = make_views(n_docs, 20, [3000, 2000, 1000], doc_length=40, random_state=0)
    views = views.concat() if name in ONE_VIEW else views
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making the data
    start = time.perf_counter()
    model_class(name)(20, max_iter=iterations, **options).fit(views)
    print(time.perf_counter() - start, status("VmHWM") - before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=int, nargs="+", default=[5_000, 20_000, 100_000])
    parser.add_argument("--models", nargs="+", default=list(MODEL_NAMES))
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        measure(args.one[0], int(args.one[1]), args.iterations)
        return
    heads = " | ".join(f"{n:,} docs" for n in args.docs)
    print(f"| model | {heads} | slope of time | slope of memory |")
    print("| --- |" + " ---: |" * (len(args.docs) + 2))
    for name in args.models:
        found = []
        for n in args.docs:
            command = [sys.executable, __file__, "--iterations", str(args.iterations)]
            command += ["--one", name, str(n)]
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            found.append([float(x) for x in out.split()])
        seconds, peaks = np.array(found).T
        slopes = [np.polyfit(np.log(args.docs), np.log(y), 1)[0] for y in (seconds, peaks)]
        cells = [f"{s:.1f} s, {p / 2**20:.0f} MB" for s, p in zip(seconds, peaks, strict=True)]
        print(f"| {name} | {' | '.join(cells)} | {slopes[0]:.2f} | {slopes[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
