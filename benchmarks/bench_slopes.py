"""Time and peak memory of every model, with its defaults, against the non-zeros of the data.

    python -m benchmarks.bench_slopes [--sizes 1 3 10 30 100] [--models plsa link ltm-given ...]
                                      [--bound 600]
    python -m benchmarks.bench_slopes --page         only the page, from what was measured

Generated documents with planted topics whose terms follow Zipf's law; the vocabulary grows with the
square root of the non-zeros (in millions: `--sizes`). Each fit runs in a process of its own on one
thread; one that takes more than `--bound` seconds is ended, and larger ones are left out. Sizes
that are in benchmarks/measured/slopes.csv already are not measured again. Writes docs/slopes.md.
A corpus of 100 million non-zeros takes 1.6 GB in .bench/ and a fit of it up to 8 GB of memory.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from benchmarks.peers.corpora import Generated, documents, planted_topics
from benchmarks.peers.environments import CACHE
from benchmarks.peers.measure import MEASURED, ONE_THREAD, append, machine, read

SIZES = (1, 3, 10, 30, 100)  # million non-zeros
PLANTED, DOC_LENGTH, TERMS = 50, 140, 20_000  # terms of both views at a million non-zeros
N_TOPICS, ITERATIONS, NEIGHBORS = 10, 3, 5
PIECE = 20_000  # documents that are drawn together
LABELED = 100  # one of so many documents has a label
MODELS = (
    *("plsa", "dual", "link", "mvplsa", "divergence", "pairwise", "voted", "classifier"),
    *("ltm-given", "mggm-given", "ltm", "mggm"),
)
TITLES = {"classifier": "TopicClassifier(LinkPLSA())"}
PARTS = {"step": "a step", "start": "start", "fit": "fit", "memory": "memory"}
FIELDS = ("model", "size", "nonzeros", "documents", "terms", "status", *PARTS)
FILE = MEASURED / "slopes.csv"
PAGE = Path(__file__).parents[1] / "docs" / "slopes.md"
ABOUT = Path(__file__).with_name("pages") / "slopes.md"
NOTES = MEASURED / "slopes-notes.md"  # what a person noted about this measurement, if anything


# -- data ------------------------------------------------------------------------------------------


def n_terms(size):
    """Return the vocabulary of both views."""
    return int(TERMS * size**0.5)


def prepare(size):
    """Write the matrix of a size to the cache, unless it is there; return its path."""
    path = CACHE / "corpora" / f"slopes-{size:g}M.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        rng, spec = np.random.default_rng(3), Generated(PIECE, n_terms(size), PLANTED, DOC_LENGTH)
        topics, parts, missing = planted_topics(spec, rng), [], int(size * 1e6)
        while missing > 0:
            part = sp.csr_array(documents(spec, topics, rng), dtype=np.float32)
            part = part[: np.searchsorted(part.indptr, missing)]
            parts.append(part)
            missing -= part.nnz
        whole = sp.vstack(parts, format="csr")
        whole.indices, whole.indptr = (a.astype(np.int32) for a in (whole.indices, whole.indptr))
        partial = path.with_suffix(".part.npz")
        sp.save_npz(partial, whole, compressed=False)
        partial.rename(path)
    return path


def given_graph(n_docs):
    """Return a graph in which documents have some neighbors, anywhere."""
    docs = np.repeat(np.arange(n_docs, dtype=np.int32), NEIGHBORS)
    others = np.random.default_rng(4).integers(n_docs, size=len(docs), dtype=np.int32)
    edges = sp.csr_array((np.ones(len(docs), np.float32), (docs, others)), shape=(n_docs, n_docs))
    graph = edges.maximum(edges.T)
    graph.setdiag(0)
    graph.eliminate_zeros()
    graph.data[:] = 1
    return graph


def views_of(matrix, name):
    """Return the views that a model takes."""
    from coview.models import ONE_VIEW

    if name.split("-")[0] in ONE_VIEW:
        return {"words": matrix}
    return {"even": matrix[:, ::2], "odd": matrix[:, 1::2]}


def model_of(name, views):
    """Return a model that is not fitted, and what its `fit` takes beside the views."""
    import coview
    from coview.models import model_class

    kind, _, given = name.partition("-")
    n_docs = next(iter(views.values())).shape[0]
    options = {"max_iter": ITERATIONS, "tol": 0.0, "random_state": 0, "n_jobs": 1}
    if kind == "classifier":
        labels = np.arange(n_docs) // LABELED % N_TOPICS
        labels[np.arange(n_docs) % LABELED > 0] = -1
        return coview.TopicClassifier(coview.LinkPLSA(**options)), {"y": labels}
    if given:
        graph = given_graph(n_docs)
        options |= {"graph": graph} if kind == "ltm" else {"graphs": dict.fromkeys(views, graph)}
    return model_class(kind)(N_TOPICS, **options), {}


# -- one fit ---------------------------------------------------------------------------------------


class Watch:
    """CPU seconds of the EM runs of a fit; the last one is the model's own, not that of a voter."""

    def __init__(self):
        from coview.em import restarts

        self.began = self.ended = 0.0
        run_em = restarts._Restarts._em

        def timed(*args):
            self.began = time.process_time()
            run = run_em(*args)
            self.ended = time.process_time()
            return run

        restarts._Restarts._em = timed


def measure(name, path):
    """Print CPU seconds and peak memory of a fit."""
    from benchmarks.bench_memory import status

    warnings.simplefilter("ignore")
    matrix = sp.load_npz(path)
    # compiles, also what only a sample of the documents needs
    small = views_of(matrix[:6000], name)
    model, more = model_of(name, small)
    model.fit(small, **more)
    views = views_of(matrix, name)
    about = {"nonzeros": matrix.nnz, "documents": matrix.shape[0], "terms": matrix.shape[1]}
    del matrix, small, model
    model, more = model_of(name, views)
    watch = Watch()
    ctypes.CDLL(None).malloc_trim(0)  # room that the small fit has left would hide some of the peak
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making the data
    before, begin = status("VmRSS"), time.process_time()
    model.fit(views, **more)
    end = time.process_time()
    found = {
        "status": "done",
        # so many steps, and a pass that only finds the objective
        "step": (watch.ended - watch.began) / (ITERATIONS + 1),
        "start": watch.began - begin,
        "fit": end - begin,
        "memory": (status("VmHWM") - before) / 2**20,
    }
    print(json.dumps(about | {k: v if k == "status" else round(v, 3) for k, v in found.items()}))


# -- all fits --------------------------------------------------------------------------------------


def measure_all(models, sizes, bound):
    """Measure what is missing, the small sizes first."""
    for size in sizes:
        path = prepare(size)
        for name in models:
            rows = [row for row in read(FILE) if row["model"] == name]
            known = any(float(row["size"]) == size for row in rows)
            beyond = any(row["status"] != "done" and float(row["size"]) < size for row in rows)
            if not known and not beyond:
                row = {"model": name, "size": f"{size:g}"} | one_fit(name, path, bound)
                append(FILE, [row], FIELDS)
                print(*row.values(), flush=True)


def one_fit(name, path, bound):
    """Fit in a process of its own; return what was measured, or why there is nothing."""
    command = [sys.executable, "-m", "benchmarks.bench_slopes", "--one", name, str(path)]
    try:
        done = subprocess.run(
            command,
            env=os.environ | ONE_THREAD,
            cwd=Path(__file__).parents[1],
            stdout=subprocess.PIPE,
            text=True,
            timeout=bound,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return {"status": f"more than {bound:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {"status": f"failed: {error.returncode}"}
    return json.loads(done.stdout)


# -- the page --------------------------------------------------------------------------------------


def slopes(rows, part):
    """Return the slope over all sizes, and between the two largest."""
    x, y = (np.log([float(row[field]) for row in rows]) for field in ("nonzeros", part))
    return np.polyfit(x, y, 1)[0], (y[-1] - y[-2]) / (x[-1] - x[-2])


def write_page():
    """Write the page from what was measured."""
    rows = sorted(read(FILE), key=lambda row: float(row["size"]))
    done = [row for row in rows if row["status"] == "done"]
    sizes = sorted({float(row["size"]) for row in done})
    known = {float(row["size"]): row for row in done}
    words = {k: v for k, v in machine().items() if k in ("processor", "cores", "cache")}
    text = ABOUT.read_text().format(
        machine="The machine: " + ", ".join(f"{k} {v}" for k, v in words.items()) + ".",
        planted=PLANTED,
        per_doc=np.mean([float(r["nonzeros"]) / float(r["documents"]) for r in done]),
        terms=", ".join(f"{int(known[s]['terms']):,} at {s:g}M" for s in (sizes[0], sizes[-1])),
        topics=N_TOPICS,
        iterations=ITERATIONS,
    )
    if NOTES.exists():
        text += f"\n{NOTES.read_text()}"
    head = ("model", "largest", *(f"slope of {words}" for words in PARTS.values()))
    by_model = {name: [row for row in done if row["model"] == name] for name in MODELS}
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for name, found in by_model.items():
        if len(found) > 1:
            pairs = [slopes(found, part) for part in PARTS]
            cells = [f"{whole:.2f} ({last:.2f})" for whole, last in pairs]
            lines.append([title(name), f"{float(found[-1]['size']):g}M", *cells])
    text += f"\n{table(lines)}"
    for part, words in PARTS.items():
        unit = "MB" if part == "memory" else "CPU seconds"
        text += f"\n## {words[0].upper()}{words[1:]}, {unit}\n\n"
        lines = [["model", *(f"{size:g}M" for size in sizes)]]
        lines.append(["---", *["---:"] * len(sizes)])
        for name in MODELS:
            cells = {float(r["size"]): cell(r, part) for r in rows if r["model"] == name}
            if cells:
                lines.append([title(name), *(cells.get(size, "") for size in sizes)])
        text += table(lines)
    PAGE.write_text(text)


def cell(row, part):
    """Return a number, or why there is none."""
    if row["status"] != "done":
        return row["status"]
    value = float(row[part])
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def title(name):
    """Return how a model is called on the page."""
    from coview.models import MODEL_NAMES

    kind, _, given = name.partition("-")
    shown = TITLES.get(kind) or MODEL_NAMES[kind][1]
    return f"{shown}, graph given" if given else shown


def table(lines):
    """Return a table in Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main():
    """Measure, unless only the page is wanted, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=float, default=SIZES)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--bound", type=float, default=600.0)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        measure(*args.one)
        return
    if not args.page:
        MEASURED.mkdir(parents=True, exist_ok=True)
        measure_all(args.models, sorted(args.sizes), args.bound)
    write_page()


if __name__ == "__main__":
    main()
