"""Seconds per pass over the data, against other libraries in the same run.

    python benchmarks/bench_sweep.py [--docs 40000] [--topics 20 56 100] [--repeats 3]

A pass is one EM iteration of PLSA, one multiplicative update of scikit-learn's NMF with the
Kullback-Leibler loss (the same objective), or one Gibbs sweep of tomotopy's LDA. Each time is the
difference between a longer and a shorter run, so that starts and compilation cancel. The libraries
take turns, and ratios are formed within a turn.
"""

import argparse
import time
import warnings

import numpy as np
import scipy.sparse as sp

from coview import PLSA
from coview.datasets import make_views

warnings.simplefilter("ignore")


def seconds(run, short, long):
    """Return the seconds per pass; `run(n)` makes n passes."""
    times = []
    for n in (short, long):
        start = time.perf_counter()
        run(n)
        times.append(time.perf_counter() - start)
    return (times[1] - times[0]) / (long - short)


def coview_pass(X, k, n_jobs):
    def run(n):
        PLSA(k, init="random", max_iter=n, tol=0.0, random_state=0, n_jobs=n_jobs).fit(X)

    return seconds(run, 2, 22)


def nmf_pass(X, k):
    from sklearn.decomposition import NMF

    options = {"beta_loss": "kullback-leibler", "solver": "mu", "init": "random", "tol": 0.0}

    def run(n):
        NMF(k, max_iter=n, random_state=0, **options).fit(X)

    return seconds(run, 1, 3)


def tomotopy_pass(X, k, workers):
    import tomotopy

    model = tomotopy.LDAModel(k=k, seed=0)
    for row in range(X.shape[0]):
        here = slice(X.indptr[row], X.indptr[row + 1])
        words = np.repeat(X.indices[here], X.data[here].astype(int))
        if len(words):
            model.add_doc([str(w) for w in words])
    model.train(1, workers=workers)
    start = time.perf_counter()
    model.train(5, workers=workers)
    return (time.perf_counter() - start) / 5


def spread(values):
    return f"{np.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=int, default=40_000)
    parser.add_argument("--terms", type=int, default=30_000)
    parser.add_argument("--length", type=int, default=80)
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 56, 100])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    views = make_views(
        args.docs, 50, [args.terms], doc_length=args.length, concentration=0.1, random_state=0
    )
    X = sp.csr_matrix(views["view_0"])
    print(
        f"{X.shape[0]:,} documents, {X.shape[1]:,} terms, {X.nnz:,} non-zeros; "
        f"{args.threads} threads"
    )
    print("medians over", args.repeats, "turns, smallest and largest in brackets\n")
    print("| topics | ns/(nnz x topic), 1 core | s/pass | NMF / coview | tomotopy / coview |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for k in args.topics:
        ns, passes, nmf, gibbs = [], [], [], []
        coview_pass(X, k, 1)  # compile, warm up
        for _ in range(args.repeats):
            ns.append(coview_pass(X, k, 1) / X.nnz / k * 1e9)
            passes.append(coview_pass(X, k, args.threads))
            nmf.append(nmf_pass(X, k) / passes[-1])
            gibbs.append(tomotopy_pass(X, k, args.threads) / passes[-1])
        print(f"| {k} | {spread(ns)} | {spread(passes)} | {spread(nmf)} | {spread(gibbs)} |")


if __name__ == "__main__":
    main()
