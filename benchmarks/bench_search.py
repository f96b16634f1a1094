"""Search in generated mixtures: time, recall and memory, against other libraries.

    python benchmarks/bench_search.py [--docs 1000000] [--topics 100] [--data clusters spread]
                                      [--engines exact approximate sklearn] [--metric hellinger]

Every engine runs in a process of its own, which loads the mixtures and then searches. "clusters"
are mixtures around 2,000 centers; "spread" ones are scattered over the whole simplex, the worst
case for an index. The columns:

build      seconds to build the index (CPU seconds of all threads)
one        queries per second, one at a time (CPU milliseconds per query)
batch      queries per second, 100 at a time (CPU milliseconds per query)
recall     fraction of the ten nearest that were found
memory     peak memory above that before the mixtures were loaded, as a multiple of the mixtures
           (peak memory of the whole process, libraries included)

Times are medians; CPU times are more reliable on a shared machine. sklearn is NearestNeighbors with
algorithm="brute" and metric="cosine" on square roots, which ranks as "hellinger" does.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

TOP = 10
QUERIES = 200
BATCH = 100


# -- data -----------------------------------------------------------------------------------------


def mixtures(data, n_docs, n_topics, seed):
    """Draw sparse mixtures in float32, block by block."""
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(12345).dirichlet(np.full(n_topics, 5 / n_topics), 2000)
    rows = np.empty((n_docs, n_topics), np.float32)
    for begin in range(0, n_docs, 50_000):
        part = rows[begin : begin + 50_000]
        shape = np.full((len(part), n_topics), 5 / n_topics)
        if data == "clusters":
            shape = 10 * centers[rng.integers(len(centers), size=len(part))] + 0.01
        drawn = rng.standard_gamma(shape)
        drawn[drawn < 1e-6] = 0
        drawn[drawn.sum(axis=1) == 0] = 1
        part[:] = drawn / drawn.sum(axis=1, keepdims=True)
    return rows


# -- engines: each returns a function that answers queries (n, topics) ----------------------------


def coview_model(rows):
    """Return a fitted model that has nothing but mixtures."""
    from coview import PLSA

    model = PLSA(rows.shape[1])
    model.components_ = {"X": np.full((rows.shape[1], 1), 1.0, np.float32)}
    model.view_names_, model.doc_topic_, model.view_doc_topic_ = ("X",), rows, {"X": rows}
    model.doc_ids_, model.empty_rows_ = None, np.arange(0)
    model.present_ = np.ones((len(rows), 1), bool)
    return model


def of_coview(method, metric, probes):
    def search(rows):
        from coview import SearchIndex

        options = {"method": method, "metric": metric, "probes": probes}
        index = SearchIndex(coview_model(rows), in_view="X", **options)
        return lambda queries: index.query_many(queries, TOP)[0]

    return search


def sklearn(rows):
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=TOP, algorithm="brute", metric="cosine")
    index.fit(np.sqrt(rows))
    return lambda queries: index.kneighbors(np.sqrt(queries), return_distance=False)


def usearch(rows):
    from usearch.index import Index

    index = Index(ndim=rows.shape[1], metric="ip", dtype="f16", connectivity=16)
    index.expansion_add, index.expansion_search = 64, 128
    index.add(np.arange(len(rows)), np.sqrt(rows), threads=2)
    return lambda queries: index.search(np.sqrt(queries), TOP, threads=2).keys.reshape(-1, TOP)


def faiss_hnsw(rows):
    import faiss

    faiss.omp_set_num_threads(2)
    index = faiss.IndexHNSWFlat(rows.shape[1], 16, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = 64, 128
    index.add(np.sqrt(rows))
    return lambda queries: index.search(np.sqrt(queries), TOP)[1]


def faiss_ivf(rows):
    import faiss

    faiss.omp_set_num_threads(2)
    n_lists = int(2 * np.sqrt(len(rows)))
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(rows.shape[1]), rows.shape[1], n_lists, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.niter, index.cp.max_points_per_centroid = 10, 64
    vectors = np.sqrt(rows)
    index.train(vectors)
    index.add(vectors)
    index.nprobe = int(np.ceil(0.03 * n_lists))
    return lambda queries: index.search(np.sqrt(queries), TOP)[1]


def engine_of(name, metric, probes):
    if name in ("exact", "approximate"):
        return of_coview(name, metric, probes)
    return {"sklearn": sklearn, "usearch": usearch, "faiss_hnsw": faiss_hnsw}.get(name, faiss_ivf)


ENGINES = ["exact", "approximate", "sklearn", "usearch", "faiss_hnsw", "faiss_ivf"]


# -- one process for each engine ------------------------------------------------------------------


def resident():
    """Return the memory of this process in bytes (Linux)."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed(work, turns, seconds=20.0):
    """Return median (wall time, CPU time) over as many turns as begin within `seconds`."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < turns and (not times or time.perf_counter() < end):
        start, cpu = time.perf_counter(), time.process_time()
        work(len(times))
        times.append((time.perf_counter() - start, time.process_time() - cpu))
    return np.median(times, axis=0)


def measure(args):
    warnings.simplefilter("ignore")
    engine = engine_of(args.one, args.metric, args.probes)
    small = mixtures("spread", 500, args.topics[0], 3)
    answer = engine(small)  # imports and compilation
    answer(small[:1]), answer(small[:20])
    del answer
    before = resident()
    rows, queries = (np.load(args.folder / f"{n}.npy") for n in ("gallery", "queries"))
    start, cpu = time.perf_counter(), time.process_time()
    answer = engine(rows)
    build = [time.perf_counter() - start, time.process_time() - cpu]
    found = np.vstack([answer(queries[:BATCH]), answer(queries[BATCH:])])
    np.save(args.folder / f"{args.one}.npy", np.asarray(found, np.int64))
    one = timed(lambda i: answer(queries[[i % QUERIES]]), 20 * args.turns)
    batch = timed(lambda _: answer(queries[:BATCH]), args.turns) / BATCH
    memory = {"peak": (peak() - before) / rows.nbytes, "whole": peak() / rows.nbytes}
    print(json.dumps({"build": build, "one": list(one), "batch": list(batch), **memory}))


def child(engine, topics, folder, args):
    options = ["--metric", args.metric, "--turns", str(args.turns), "--probes", str(args.probes)]
    where = ["--one", engine, "--folder", str(folder), "--topics", str(topics)]
    command = [sys.executable, __file__, *where, *options]
    out = subprocess.run(command, capture_output=True, text=True)
    return json.loads(out.stdout) if out.returncode == 0 else None


def recall(folder, engine):
    found, true = (np.load(folder / f"{name}.npy") for name in (engine, "exact"))
    return np.mean([len(set(a) & set(b)) / TOP for a, b in zip(found, true, strict=True)])


def compare(data, topics, args, folder):
    np.save(folder / "gallery.npy", mixtures(data, args.docs, topics, 0))
    np.save(folder / "queries.npy", mixtures(data, QUERIES, topics, 1))
    for engine in args.engines:
        row = child(engine, topics, folder, args)
        if row is None:
            print(f"| {data} | {topics} | {engine} | not installed, or failed | | | | |")
            continue
        build = "{:.1f} ({:.0f})".format(*row["build"])
        speeds = " | ".join(f"{1 / s:.3g} ({1000 * c:.3g})" for s, c in (row["one"], row["batch"]))
        memory = f"{row['peak']:.2f} ({row['whole']:.2f})"
        share = recall(folder, engine)
        what = f"{data} | {topics} | {engine}"
        print(f"| {what} | {build} | {speeds} | {share:.3f} | {memory} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=int, default=1_000_000)
    parser.add_argument("--topics", type=int, nargs="+", default=[100])
    parser.add_argument("--data", nargs="+", default=["clusters", "spread"])
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--metric", default="hellinger")
    parser.add_argument("--probes", type=float, default=0.03)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        measure(args)
        return
    print(f"{args.docs:,} documents, {QUERIES} queries, metric {args.metric}\n")
    print("| data | topics | engine | build | one | batch | recall | memory |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for data in args.data:
        for topics in args.topics:
            with tempfile.TemporaryDirectory() as folder:
                compare(data, topics, args, Path(folder))


if __name__ == "__main__":
    main()
