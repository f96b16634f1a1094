"""How close a step of EM comes to the memory: against loops that only gather the same rows.

    python -m benchmarks.bench_roofline [--topics 8 16 20 32 56 100 128 256] [--repeats 5]
    python -m benchmarks.bench_roofline --page       only the page, from what was measured

For each non-zero the row pass reads a row of p(w|z) and the column pass a row of p(z|d), all over
the memory. The probes read the same rows in the same order and add them up, nothing else, as fast
as we know how: the better of a plain loop and one that asks for rows ahead. Everything runs on one
thread, in turns; times are CPU seconds. Writes benchmarks/measured/roofline.csv and the page
docs/roofline.md.
"""

import argparse
import csv
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import numpy as np
import scipy.sparse as sp
from benchmarks.peers.corpora import CORPORA, generate
from benchmarks.peers.measure import MEASURED, machine
from numba import njit

from coview.em.emissions import Topics
from coview.em.prepared import make_blocks
from coview.em.problem import Problem
from coview.em.simplex import pad_topics, padded
from coview.em.step import _term_ranges, em_step
from coview.kernels.prefetch import prefetch_row
from coview.kernels.sweep import reorder, sweep_columns, sweep_rows

TOPICS = (8, 16, 20, 32, 56, 100, 128, 256)
PAGE = Path(__file__).parents[1] / "docs" / "roofline.md"
ABOUT = Path(__file__).with_name("pages") / "roofline.md"
FILE = MEASURED / "roofline.csv"
PARTS = ("rows probe", "row pass", "reorder", "columns probe", "column pass", "step")
_OPTIONS = {"error_model": "numpy", "fastmath": {"reassoc", "contract"}}
_u = np.uint64


@njit(**_OPTIONS)
def gather(indices, rows, out):
    """Add up rows[indices], eight at a time."""
    n_topics = _u(rows.shape[1])
    j, end = _u(0), _u(indices.shape[0])
    while j + _u(8) <= end:
        a, b, c, d = (
            rows[indices[j]],
            rows[indices[j + _u(1)]],
            rows[indices[j + _u(2)]],
            rows[indices[j + _u(3)]],
        )
        e, f, g, h = (
            rows[indices[j + _u(4)]],
            rows[indices[j + _u(5)]],
            rows[indices[j + _u(6)]],
            rows[indices[j + _u(7)]],
        )
        for k in range(n_topics):
            out[k] += ((a[k] + b[k]) + (c[k] + d[k])) + ((e[k] + f[k]) + (g[k] + h[k]))
        j += _u(8)


@njit(**_OPTIONS)
def gather_ahead(indices, rows, out):
    """Add up rows[indices], eight at a time, and ask for the next ones."""
    n_topics = _u(rows.shape[1])
    j, end = _u(0), _u(indices.shape[0])
    while j + _u(16) <= end:
        for ahead in range(_u(8), _u(16)):
            prefetch_row(rows, indices[j + ahead])
        a, b, c, d = (
            rows[indices[j]],
            rows[indices[j + _u(1)]],
            rows[indices[j + _u(2)]],
            rows[indices[j + _u(3)]],
        )
        e, f, g, h = (
            rows[indices[j + _u(4)]],
            rows[indices[j + _u(5)]],
            rows[indices[j + _u(6)]],
            rows[indices[j + _u(7)]],
        )
        for k in range(n_topics):
            out[k] += ((a[k] + b[k]) + (c[k] + d[k])) + ((e[k] + f[k]) + (g[k] + h[k]))
        j += _u(8)


class Bench:
    """One corpus and one number of topics: the problem of a PLSA, and its parts one by one."""

    def __init__(self, matrix, n_topics, rng):
        self.nnz, n_docs = matrix.nnz, matrix.shape[0]
        self.theta = pad_topics(rng.dirichlet(np.ones(n_topics), n_docs), np.float32)
        topics = rng.gamma(1.0, size=(n_topics, matrix.shape[1]))
        topics /= topics.sum(axis=1, keepdims=True)
        emission = Topics.from_rows(topics)
        self.by_term = emission.by_term
        self.blocks = tuple(make_blocks([matrix]))
        self.problem = Problem(
            *(self.blocks, (emission,), (self.theta,), (0,), (1.0,), np.ones((n_docs, 1), bool)),
            spare=[],  # as in the loop of a fit
        )
        self.ratio = np.ones(matrix.nnz, np.float32)
        self.in_columns = np.ones(matrix.nnz, np.float32)
        self.counts = np.zeros_like(self.theta)
        self.grad = np.zeros(self.by_term.shape)
        self.out = np.zeros(self.theta.shape[1], np.float32)

    def row_pass(self):
        """Do `sweep_rows` of all blocks."""
        one, floor = np.float32(1), np.float32(1e-30)
        for block in self.blocks:
            part, docs = block.rows[0], np.arange(block.stop - block.start, dtype=np.uint64)
            arrays = part.indptr, part.indices, part.data, self.theta[block.docs], self.by_term
            sweep_rows(docs, *arrays, one, floor, self.ratio[part.place], self.counts[block.docs])

    def column_pass(self):
        """Do `sweep_columns` of all blocks, one range of terms after the other, as a step does."""
        for low, high in _term_ranges(len(self.grad)):
            for block in self.blocks:
                c = block.columns[0]
                first, last = c.between(low, high)
                arrays = c.terms, c.colptr, c.rows, self.in_columns[block.rows[0].place]
                sweep_columns(first, last, *arrays, self.theta[block.docs], self.grad)

    def reorder(self):
        """Bring ratios into the order of columns, and sum n log p."""
        for block in self.blocks:
            part, columns = block.rows[0], block.columns[0]
            ratio, out = self.ratio[part.place], self.in_columns[part.place]
            reorder(part.data, ratio, columns.place, out)

    def rows_probe(self, loop):
        """Gather the rows of p(w|z) that the row pass reads."""
        for block in self.blocks:
            loop(block.rows[0].indices, self.by_term, self.out)

    def columns_probe(self, loop):
        """Gather the rows of p(z|d) that the column pass reads."""
        for block in self.blocks:
            loop(block.columns[0].rows, self.theta[block.docs], self.out)

    def step(self):
        """Take one step of EM."""
        em_step(self.problem, map)

    def seconds(self):
        """Return CPU seconds of each part, once, in turns."""
        probes = {}
        for name, probe in (("rows", self.rows_probe), ("columns", self.columns_probe)):
            probes[name] = min(cpu(lambda p=probe, f=f: p(f)) for f in (gather, gather_ahead))
        return {
            "rows probe": probes["rows"],
            "row pass": cpu(self.row_pass),
            "reorder": cpu(self.reorder),
            "columns probe": probes["columns"],
            "column pass": cpu(self.column_pass),
            "step": cpu(self.step),
        }


def cpu(work):
    """Return the CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(topics, repeats, path=FILE):
    """Measure and write all numbers of topics in turns."""
    rng = np.random.default_rng(0)
    counts = generate(CORPORA["zipf-2.5M"], rng)
    matrix = sp.csr_array(counts, dtype=np.float32)
    rows = []
    for n_topics in topics:
        bench = Bench(matrix, n_topics, rng)
        bench.seconds()  # compile
        for repeat in range(repeats):
            found = bench.seconds()
            rows += [(n_topics, repeat, part, bench.nnz, f"{found[part]:.5f}") for part in PARTS]
        print(n_topics, {part: f"{found[part]:.4f}" for part in PARTS}, flush=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("topics", "repeat", "part", "nonzeros", "cpu"), *rows])


def read(path=FILE):
    """Return {topics: {part: [seconds]}} and the number of non-zeros."""
    found, nnz = defaultdict(lambda: defaultdict(list)), 0
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            found[int(row["topics"])][row["part"]].append(float(row["cpu"]))
            nnz = int(row["nonzeros"])
    return found, nnz


def shares(parts):
    """Return the shares of the probes that the passes and the step reach, one for each turn."""
    rows, columns = np.array(parts["rows probe"]), np.array(parts["columns probe"])
    return {
        "rows": rows / parts["row pass"],
        "columns": columns / parts["column pass"],
        "step": (rows + columns) / parts["step"],
    }


def bytes_and_flops(n_topics):
    """Return bytes and operations of one step for each non-zero.

    Row pass: index, count and ratio, and a row of p(w|z); 2 operations a topic for p(w|d), 2 for
    the sums. Reordering: ratio, its place, and ratio again. Column pass: document (16 bits), ratio,
    and a row of p(z|d); 2 operations a topic.
    """
    width = padded(n_topics)
    return (12 + 4 * width) + 12 + (6 + 4 * width), 6 * n_topics


def write_page(path=FILE, page=PAGE):
    """Write the page from the measured times."""
    found, nnz = read(path)
    repeats = len(next(iter(found.values()))["step"])
    about = {k: v for k, v in machine().items() if k in ("processor", "cores", "cache")}
    words = "The machine: " + ", ".join(f"{k} {v}" for k, v in about.items()) + "."
    head = (
        *("topics", "bytes / nnz", "ops / nnz", "bytes / op", "rows probe, GB/s"),
        *("columns probe, GB/s", "row pass", "column pass", "step", "step, ns / (nnz x topic)"),
    )
    lines = [head, ["---:"] * len(head)]
    for n_topics, parts in sorted(found.items()):
        size, ops = bytes_and_flops(n_topics)
        row = 4 * padded(n_topics) * nnz / 1e9
        rates = [row / median(parts[f"{name} probe"]) for name in ("rows", "columns")]
        lines.append(
            [
                *(str(n_topics), str(size), str(ops), f"{size / ops:.1f}"),
                *(f"{rate:.0f}" for rate in rates),
                *(percent(share) for share in shares(parts).values()),
                f"{median(parts['step']) / nnz / n_topics * 1e9:.2f}",
            ]
        )
    rows = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    about_it = ABOUT.read_text().format(machine=words, nnz=nnz, repeats=repeats)
    page.write_text(f"{about_it}\n{rows}\n")


def percent(values):
    """Return median and spread in percent."""
    return f"{np.median(values):.0%} ({min(values):.0%}-{max(values):.0%})".replace("%", " %")


def main():
    """Measure, unless only the page is wanted, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", nargs="+", type=int, default=TOPICS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--page", action="store_true")
    args = parser.parse_args()
    if not args.page:
        MEASURED.mkdir(parents=True, exist_ok=True)
        measure(args.topics, args.repeats)
    write_page()


if __name__ == "__main__":
    main()
