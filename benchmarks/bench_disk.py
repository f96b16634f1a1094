"""A fit from disk: seconds a pass against memory, and peak memory under a limit.

    python benchmarks/bench_disk.py [--nonzeros 20_000_000] [--topics 20] [--memory 1GB]
                                    [--passes 5] [--threads 2] [--only-disk]

Generated documents with planted topics whose words follow Zipf's law, some 100 distinct terms of
100,000 in each; they are written block by block, so that they never are in memory. Each fit runs in
a process of its own, from a random start. A pass is an EM iteration; compilation and what comes
before the first pass are left out. `--only-disk` leaves out the fit in memory, for data that do not
fit there. About 8 bytes of disk for each non-zero, removed in the end.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bench_memory import status

N_TERMS, DOC_TERMS, PLANTED = 100_000, 100, 50


def rows_of(start, stop):
    """The counts of some documents, the same whoever asks."""
    piece = 1 << 13  # documents that are drawn together
    parts = [_piece(i, piece) for i in range(start // piece, -(-stop // piece))]
    first = (start // piece) * piece
    return sp.vstack(parts, format="csr")[start - first : stop - first]


def _piece(i, n_docs):
    rng = np.random.default_rng([7, i])
    n = int(DOC_TERMS * 1.35)  # some terms are drawn twice
    ranks = np.minimum((N_TERMS ** rng.random((n_docs, n))).astype(np.int64), N_TERMS - 1)
    topics = rng.integers(PLANTED, size=(n_docs, 1))
    own = rng.random((n_docs, n)) < 0.5  # half of the words belong to the topic of the document
    terms = np.where(own, (ranks * 7919 + topics * 1987) % N_TERMS, ranks)
    docs = np.repeat(np.arange(n_docs), n)
    counts = sp.csr_array(
        (np.ones(docs.size, np.float32), (docs, terms.ravel())), shape=(n_docs, N_TERMS)
    )
    counts.sum_duplicates()
    return counts


def write(path, nonzeros):
    """Write about so many non-zeros as a sharded folder."""
    from coview.shards.writing import ViewHead, finish_folder, new_folder
    from coview.views.blocks import cut_rows

    n_docs = max(nonzeros // DOC_TERMS, 1)
    lengths = [np.diff(rows_of(s, min(s + 8192, n_docs)).indptr) for s in range(0, n_docs, 8192)]
    blocks = cut_rows(np.cumsum(np.concatenate(lengths), dtype=np.int64))

    def rows(start, stop):
        matrix = rows_of(start, stop)
        return [matrix], np.ones((stop - start, 1), bool)

    with new_folder(path, overwrite=True) as folder:
        head = ViewHead("words", N_TERMS, np.dtype("float32"), False)
        finish_folder(folder, [head], blocks, rows, False, None)


def measure(path, how, args):
    """Print the seconds of each pass and the peak memory of a fit."""
    import coview
    from coview.em import loop

    warnings.simplefilter("ignore")
    # compiles; small data take the same kernels
    small = coview.Views({"words": rows_of(0, 200)})
    coview.PLSA(args.topics, init="random", max_iter=2, random_state=0).fit(small)
    sharded = coview.open_shards(path, memory=args.memory)
    views = sharded.to_views() if how == "memory" else sharded
    spent, step = [], loop._step

    def timed(*arguments):
        begin = time.perf_counter(), time.process_time()
        taken = step(*arguments)
        spent.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
        return taken

    loop._step = timed
    begin = time.perf_counter()
    model = coview.PLSA(
        args.topics,
        init="random",
        view_weights="balanced",
        ensemble=0,
        max_iter=args.passes,
        tol=0.0,
        random_state=0,
        n_jobs=args.threads,
    ).fit(views)
    found = {
        "seconds": time.perf_counter() - begin,
        # the first checks the files, the last takes no M-step
        "wall": [wall for wall, _ in spent[1:-1]],
        "cpu": [cpu for _, cpu in spent[1:-1]],
        "first": spent[0][0],
        "peak": status("VmHWM"),
        "nonzeros": sharded.nonzeros,
        "documents": sharded.n_docs,
        "shards": len(sharded.shards),
        "objective": float(model.objective_).hex(),
    }
    print(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nonzeros", type=int, default=20_000_000)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only-disk", action="store_true")
    parser.add_argument("--folder", type=Path, help="where to write; default: temporary files")
    parser.add_argument("--one", nargs=2, metavar=("PATH", "HOW"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return measure(*args.one, args)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        path = f"{folder}/zipf.shards"
        begin = time.perf_counter()
        write(path, args.nonzeros)
        print(f"written in {time.perf_counter() - begin:.0f} s", file=sys.stderr)
        found = {}
        for how in ("disk",) if args.only_disk else ("memory", "disk"):
            command = [sys.executable, __file__, "--one", path, how, "--memory", args.memory]
            for name in ("topics", "passes", "threads"):
                command += [f"--{name}", str(getattr(args, name))]
            out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            found[how] = json.loads(out)
        show(found)
    return None


def show(found):
    """Print a table."""
    print(
        "| | non-zeros | wall s a pass | CPU s a pass | ns a non-zero (CPU) | first pass | peak |"
    )
    print("| --- |" + " ---: |" * 6)
    for how, one in found.items():
        wall, cpu = np.median(one["wall"]), np.median(one["cpu"])
        print(
            f"| {how} | {one['nonzeros']:,} | {wall:.2f} | {cpu:.2f} "
            f"| {cpu / one['nonzeros'] * 1e9:.1f} | {one['first']:.1f} "
            f"| {one['peak'] / 1e6:,.0f} MB |"
        )
    if len(found) == 2:
        disk, memory = found["disk"], found["memory"]
        ratios = (np.median(memory[k]) / np.median(disk[k]) for k in ("wall", "cpu"))
        print("rate of the disk against memory: wall {:.0%}, CPU {:.0%}".format(*ratios))
        print("same bits:", disk["objective"] == memory["objective"])


if __name__ == "__main__":
    main()
