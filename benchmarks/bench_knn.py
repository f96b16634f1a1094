"""Nearest neighbors: exact search against approximate indexes, on dense features and sparse text.

    python benchmarks/bench_knn.py [--docs 30000 100000] [--engines exact approximate sklearn]
                                   [--data dense100 dense500 text] [--views-folder folder view]
    python benchmarks/bench_knn.py --slope --docs 10000 100000 1000000 --data text

Every engine runs in a process of its own, once with two threads and once with one; "exact" and
"approximate" are those of `knn_graph`. Other indexes return four times as many neighbors as wanted,
which are then ranked by exact distances. Indexes of dense vectors get text as 256 singular vectors.
With --slope the approximate search alone is timed, in one process and one thread, and the slope of
log CPU time against log documents is printed. The columns:

first    seconds for 3,000 documents in a fresh process: imports and compilation
seconds  for all documents after that, two threads / one thread
cpu      seconds of all threads together for the same
recall   fraction of the five nearest that were found, over 1,000 documents
bits     whether one and two threads give the same neighbors
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from coview.graphs import neighbors as graphs

P = 5
CANDIDATES = 4 * P + 1


# -- data -----------------------------------------------------------------------------------------


def dense(n_docs, width, rng):
    """Draw points near a curved surface of 16 dimensions, in 30 clusters."""
    latent = 2 * rng.standard_normal((30, 16))[rng.integers(30, size=n_docs)]
    latent += rng.standard_normal((n_docs, 16))
    points = np.tanh(latent @ rng.standard_normal((16, width)) / 4)
    return points + 0.1 * rng.standard_normal((n_docs, width))


def text(n_docs, n_terms, rng, length=80):
    """Draw tf-idf of texts: half of the words from 60 of a thread, half from the whole language."""
    from sklearn.feature_extraction.text import TfidfTransformer

    zipf = np.cumsum(1 / np.arange(1, n_terms + 1))
    zipf /= zipf[-1]
    threads = np.searchsorted(zipf, rng.random((max(1, n_docs // 15), 60)))
    own = threads[rng.integers(len(threads), size=n_docs)]
    own = np.take_along_axis(own, rng.integers(60, size=(n_docs, length // 2)), axis=1)
    words = np.hstack([own, np.searchsorted(zipf, rng.random((n_docs, length // 2)))])
    docs = np.repeat(np.arange(n_docs), words.shape[1])
    counts = sp.csr_array((np.ones(words.size), (docs, words.ravel())), shape=(n_docs, n_terms))
    return sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts))


def make(data, n_docs):
    rng = np.random.default_rng(0)
    if data.startswith("dense"):
        return dense(n_docs, int(data.removeprefix("dense")), rng)
    if data == "text":
        return text(n_docs, 20_000, rng)
    from sklearn.feature_extraction.text import TfidfTransformer

    from coview import Views

    folder, view = data.split(":")
    matrix = Views.load(folder, views=[view]).matrices[view]
    filled = matrix[np.flatnonzero(np.diff(matrix.indptr))]
    return sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(filled))


# -- engines: each returns the candidates of each document, (documents, CANDIDATES) ---------------


def pynndescent(X, threads):
    from pynndescent import NNDescent

    data = sp.csr_matrix(X.astype(np.float32)) if sp.issparse(X) else X.astype(np.float32)
    return NNDescent(data, n_neighbors=CANDIDATES, random_state=0, n_jobs=threads).neighbor_graph[0]


def vectors(X):
    if not sp.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float32)
    from sklearn.decomposition import TruncatedSVD

    rank = min(256, min(X.shape) - 1)
    return TruncatedSVD(rank, n_iter=2, random_state=0).fit_transform(X).astype(np.float32)


def faiss_flat(X, threads):
    import faiss

    faiss.omp_set_num_threads(threads)
    X = vectors(X)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return index.search(X, CANDIDATES)[1]


def faiss_ivf(X, threads):
    import faiss

    faiss.omp_set_num_threads(threads)
    X = vectors(X)
    n_lists = int(4 * np.sqrt(len(X)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], n_lists)
    index.cp.seed, index.cp.niter, index.cp.max_points_per_centroid = 0, 10, 64
    index.train(X)
    index.add(X)
    index.nprobe = 16
    return index.search(X, CANDIDATES)[1]


def faiss_hnsw(X, threads):
    import faiss

    faiss.omp_set_num_threads(threads)
    X = vectors(X)
    index = faiss.IndexHNSWFlat(X.shape[1], 16)
    index.hnsw.efConstruction, index.hnsw.efSearch = 60, 48
    index.add(X)
    return index.search(X, CANDIDATES)[1]


def usearch(X, threads):
    from usearch.index import Index

    X = vectors(X)
    index = Index(ndim=X.shape[1], metric="l2sq", dtype="f32", expansion_add=60)
    index.add(np.arange(len(X)), X, threads=threads)
    return index.search(X, CANDIDATES, threads=threads).keys.astype(np.int64)


def sklearn(X, threads):
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=P + 1, algorithm="brute").fit(X).kneighbors(X)[1]


INDEXES = [pynndescent, faiss_flat, faiss_ivf, faiss_hnsw, usearch, sklearn]
OWN = ["exact", "approximate"]
ENGINES = {**dict.fromkeys(OWN), **{engine.__name__: engine for engine in INDEXES}}


def neighbors(engine, X, threads):
    """Return the neighbors of each document, nearest first: (documents, P)."""
    points = graphs.scaled_points(sp.csr_array(X))
    if engine in OWN:
        return _table(graphs.nearest_pairs(points, P, method=engine, n_jobs=threads), X.shape[0])
    others = np.asarray(ENGINES[engine](X, threads), dtype=np.intp)
    own = np.repeat(np.arange(len(others)), others.shape[1])
    known = (others.ravel() >= 0) & (others.ravel() != own)
    pairs = graphs.NeighborPairs(own[known], others.ravel()[known], np.empty(0))
    return _table(graphs.measured(pairs, points).nearest(P), len(others))


def _table(found, n_docs):
    """Return neighbors as an array (documents, P), -1 where there are fewer."""
    table = np.full((n_docs, P), -1)
    rank = np.arange(len(found.points)) - np.searchsorted(found.points, found.points)
    table[found.points, rank] = found.others
    return table


def recall(found, X):
    from sklearn.neighbors import NearestNeighbors

    rows = np.sort(np.random.default_rng(1).choice(len(found), 1000, replace=False))
    search = NearestNeighbors(n_neighbors=P + 1, algorithm="brute").fit(X)
    true = search.kneighbors(X[rows])[1]
    hits = [len(set(found[r]) & set(t[t != r][:P])) for r, t in zip(rows, true, strict=True)]
    return sum(hits) / (P * len(rows))


# -- one process for each measurement -------------------------------------------------------------


def measure(engine, data, n_docs, threads):
    warnings.simplefilter("ignore")
    X = make(data, n_docs)
    start = time.perf_counter()
    neighbors(engine, X[:3000], threads)
    first = time.perf_counter() - start
    start, cpu = time.perf_counter(), time.process_time()
    found = neighbors(engine, X, threads)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    bits = hashlib.sha256(np.ascontiguousarray(found)).hexdigest()
    share = recall(found, X) if threads > 1 else None
    times = {"first": first, "seconds": seconds, "cpu": cpu}
    print(json.dumps({"documents": X.shape[0], **times, "bits": bits, "recall": share}))


def child(engine, data, n_docs, threads):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(names, str(threads))}
    command = [sys.executable, __file__, "--one", engine, data, str(n_docs), str(threads)]
    out = subprocess.run(command, capture_output=True, text=True, env=environment)
    return json.loads(out.stdout) if out.returncode == 0 else None


def slope(data, sizes):
    """Print CPU seconds and recall of the approximate search by documents, and the slope."""
    neighbors("approximate", make(data, 1000), 1)  # compiled
    times = []
    for n_docs in sizes:
        X = make(data, n_docs)
        start = time.process_time()
        found = neighbors("approximate", X, 1)
        times.append(time.process_time() - start)
        print(f"{data}, {n_docs:,}: {times[-1]:.1f} s, recall {recall(found, X):.3f}", flush=True)
    fitted = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"{data}: slope {fitted:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=int, nargs="+", default=[30_000])
    parser.add_argument("--data", nargs="+", default=["dense100", "dense500", "text"])
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--slope", action="store_true")
    parser.add_argument("--views-folder", nargs=2, help="a views folder and one of its views")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        measure(*args.one[:2], *map(int, args.one[2:]))
        return
    if args.slope:
        for data in args.data:
            slope(data, args.docs)
        return
    sets = [(data, n) for n in args.docs for data in args.data]
    if args.views_folder:
        sets = [(":".join(args.views_folder), 0)]
    print("| data | documents | engine | first | seconds | cpu | recall | bits |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | --- |")
    for data, n in sets:
        for engine in args.engines:
            two, one = (child(engine, data, n, threads) for threads in (2, 1))
            name = Path(data).name
            if two is None or one is None:
                print(f"| {name} | | {engine} | not installed, or failed | | | | |", flush=True)
                continue
            same = "same" if two["bits"] == one["bits"] else "differ"
            what = f"{name} | {two['documents']:,} | {engine} | {two['first']:.1f}"
            times = f"{two['seconds']:.1f} / {one['seconds']:.1f}"
            times += f" | {two['cpu']:.1f} / {one['cpu']:.1f}"
            print(f"| {what} | {times} | {two['recall']:.3f} | {same} |", flush=True)


if __name__ == "__main__":
    main()
