"""Measure one fit in this process: CPU seconds and peak memory, printed as JSON.

    python -m experiments.defaults.one_fit 20newsgroups "50 topics" default 0

The peak is that of the fit, without reading the data, above what the process had before these were
there, and beside it what the library promises: 3 times the input and 4 times the parameters, input
included. Linux only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench_memory import status

from coview import Views
from coview.datasets import make_views
from experiments.defaults.arms import STARTS
from experiments.defaults.data import load_corpus
from experiments.defaults.parts import timed


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit once; print the measurements."""
    dataset, setting, method, seed = sys.argv[1:] if arguments is None else arguments
    n_topics, fit = int(setting.split()[0]), STARTS[method]
    timed(fit, make_views(100, 3, [30, 20], random_state=0), 3, 0)  # compiles
    before = status("VmRSS")
    views, _ = load_corpus(dataset)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of reading the data
    _, seconds = timed(fit, views, n_topics, int(seed))
    measured = {
        "cpu_seconds": round(seconds, 2),
        "peak_mb": (status("VmHWM") - before) / 2**20,
        "promised_mb": promised_bytes(views, n_topics) / 2**20,
    }
    print(json.dumps(measured))


def promised_bytes(views: Views, n_topics: int) -> int:
    """Return the bound on the peak of a fit, parameters in single precision."""
    matrices = views.matrices.values()
    size = sum(m.data.nbytes + m.indices.nbytes + m.indptr.nbytes for m in matrices)
    return 3 * size + 4 * 4 * n_topics * (views.n_docs + sum(views.widths))


if __name__ == "__main__":
    main()
