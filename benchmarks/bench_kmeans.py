"""CPU time and inertia of k-means, against scikit-learn's KMeans in the same run.

    python benchmarks/bench_kmeans.py [--repeats 10] [--cases small large ...]

Both choose centers as often (`--n-init`), from the seeds 0, 1, ...; times are CPU seconds in one
thread. Ratios are coview / scikit-learn: below 1, coview is faster or has the lower inertia. The
texts of 20newsgroups are left out if COVIEW_DATA does not name the folder with them.
"""

import argparse
import os
import time

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import TruncatedSVD
from threadpoolctl import threadpool_limits

from coview.datasets import load_20newsgroups, load_python_api
from coview.em.starts import concatenated_tfidf
from coview.ensemble.kmeans import fit_kmeans


def blobs(n_rows, n_features, n_clusters, spread, dtype):
    X, _ = make_blobs(n_rows, n_features, centers=n_clusters, cluster_std=spread, random_state=0)
    return X.astype(dtype), n_clusters


def tfidf(views):
    return concatenated_tfidf([sp.csr_array(views[n], dtype=np.float32) for n in views.names])


def embedding(features, n_features):
    rows = TruncatedSVD(n_features, random_state=0).fit_transform(features)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


CASES = {
    "tiny": lambda: blobs(300, 10, 4, 8.0, np.float64),
    "small": lambda: blobs(2_000, 30, 10, 8.0, np.float64),
    "small, float32": lambda: blobs(2_000, 30, 10, 8.0, np.float32),
    "large": lambda: blobs(5_000, 100, 50, 8.0, np.float64),
    "large, float32": lambda: blobs(5_000, 100, 50, 8.0, np.float32),
    "python_api, SVD": lambda: (embedding(tfidf(load_python_api()), 100), 50),
    "python_api": lambda: (tfidf(load_python_api()), 50),
    "20newsgroups": lambda: (tfidf(load_20newsgroups()), 50),
    "20newsgroups, SVD": lambda: (embedding(tfidf(load_20newsgroups()), 100), 50),
}


def cpu_seconds(run):
    """Return the CPU seconds of a run, and its result."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def compare(X, n_clusters, n_init, repeats):
    """Return CPU seconds and inertias (repeats, 2) of coview and of scikit-learn."""
    fit_kmeans(X[:100], 2, np.random.default_rng(0))  # compile
    seconds, inertias = np.empty((repeats, 2)), np.empty((repeats, 2))
    for seed in range(repeats):
        seconds[seed, 0], ours = cpu_seconds(
            lambda s=seed: fit_kmeans(X, n_clusters, np.random.default_rng(s), n_init=n_init)
        )
        seconds[seed, 1], theirs = cpu_seconds(
            lambda s=seed: KMeans(n_clusters, n_init=n_init, random_state=s).fit(X)
        )
        inertias[seed] = ours.inertia, theirs.inertia_
    return seconds, inertias


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--n-init", type=int, default=1)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    args = parser.parse_args()
    print(f"seeds 0 to {args.repeats - 1}, n_init={args.n_init}; CPU: ratio of the medians;")
    print("inertia: mean of the ratios, its standard error in brackets\n")
    print("| case | rows | features | clusters | ms, coview | ms, sklearn | CPU | inertia |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for case in args.cases:
        if case.startswith("20news") and "COVIEW_DATA" not in os.environ:
            continue
        X, n_clusters = CASES[case]()
        with threadpool_limits(1):
            seconds, inertias = compare(X, n_clusters, args.n_init, args.repeats)
        ours, theirs = 1e3 * np.median(seconds, axis=0)
        ratio = inertias[:, 0] / inertias[:, 1]
        error = ratio.std(ddof=1) / np.sqrt(args.repeats)
        print(
            f"| {case} | {X.shape[0]:,} | {X.shape[1]:,} | {n_clusters} | {ours:.2f} "
            f"| {theirs:.2f} | {ours / theirs:.2f} | {ratio.mean():.4f} ({error:.4f}) |",
            flush=True,
        )


if __name__ == "__main__":
    main()
