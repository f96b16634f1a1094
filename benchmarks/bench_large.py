"""The start and the EM run of a fit with all defaults, up to a million documents.

    python benchmarks/bench_large.py [--docs 62500 250000 1000000] [--iterations 10]

Two generated views with some ten tokens of a document in each, 20 topics; each fit in a process of
its own on one thread, compiled before. "start" is all of the fit but its EM run: preparing the
counts, the ensemble, the weights of the views and the share of the ensemble's view before it, the
stability of topics after it. With `--iterations` EM has so many, else as many as it takes. The
slope of log time against log documents is 1 for a linear cost.
Packages that index neighbors are hidden, so that it is known to work without them.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

N_TOPICS = 20


def generate(n_docs):
    from coview.datasets import make_views

    return make_views(n_docs, N_TOPICS, [20_000, 10_000], doc_length=10, random_state=0)


def measure(n_docs, iterations):
    """Print the CPU seconds of the two halves of a fit, its peak memory and how good it is."""
    import warnings

    from bench_memory import status
    from coview import LinkPLSA
    from coview.em import restarts
    from coview.metrics import nmi_max

    warnings.simplefilter("ignore")
    stop = {"max_iter": iterations, "tol": 0.0} if iterations else {}
    model = LinkPLSA(N_TOPICS, random_state=0, n_jobs=1, **stop)
    run_em, spent = restarts._Restarts._em, []

    def timed_em(*args):  # not `restarts.run_em`, whose first arrays would live on here
        start = time.process_time()
        run = run_em(*args)
        spent.append(time.process_time() - start)
        return run

    model.fit(generate(6_000))  # compiles, also what only a sample of the documents needs
    restarts._Restarts._em = timed_em
    before = status("VmRSS")
    views = generate(n_docs)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making the data
    start = time.process_time()
    model.fit(views)
    whole, em = time.process_time() - start, sum(spent)
    measured = {
        "non-zeros": sum(views[name].nnz for name in views.names),
        "start": whole - em,
        "em": em,
        "iterations": model.n_iter_,
        "peak": status("VmHWM") - before,
        "nmi": nmi_max(views.labels, model.labels_),
    }
    print(json.dumps(measured))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=int, nargs="+", default=[62_500, 250_000, 1_000_000])
    parser.add_argument("--iterations", type=int, default=0)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        measure(args.one, args.iterations)
        return
    print("| documents | non-zeros | start, CPU s | EM, CPU s | iterations | peak memory | NMI |")
    print("|" + " ---: |" * 7)
    seconds = []
    for n in args.docs:
        command = [sys.executable, __file__, "--one", str(n)]
        command += ["--iterations", str(args.iterations)]
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        found = json.loads(out)
        seconds.append((found["start"], found["em"] / found["iterations"]))
        print(
            f"| {n:,} | {found['non-zeros']:,} | {found['start']:.1f} | {found['em']:.1f} "
            f"| {found['iterations']} | {found['peak'] / 2**20:,.0f} MB | {found['nmi']:.3f} |",
            flush=True,
        )
    if len(seconds) > 1:
        slopes = np.polyfit(np.log(args.docs), np.log(seconds), 1)[0]
        print(f"slope of time: start {slopes[0]:.2f}, an iteration of EM {slopes[1]:.2f}")


if __name__ == "__main__":
    main()
