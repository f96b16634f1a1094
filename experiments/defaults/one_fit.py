"""Measure one fit in this process: CPU seconds and peak memory, printed as JSON.

    python -m experiments.defaults.one_fit 20newsgroups "50 topics" default 0

The peak is that of the fit, without reading the data, above what the process had before these were
there: imports, compiled code and buffers of BLAS are no part of it, since a fit to other data came
before, large enough to need them all. Beside it stands what the library promises: the input and
`fit_bytes`, by which a fit is refused. Linux only.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench_memory import status

from coview import Views
from coview.datasets import make_views
from coview.em.prepared import fit_bytes
from experiments.defaults.arms import STARTS
from experiments.defaults.data import load_corpus
from experiments.defaults.parts import timed

WITHOUT_ENSEMBLE = ("random", "kmeans", "old")  # methods with a start of another kind


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit once; print the measurements."""
    dataset, setting, method, seed = sys.argv[1:] if arguments is None else arguments
    n_topics, fit = int(setting.split()[0]), STARTS[method]
    timed(fit, make_views(2_000, 20, [300, 200], random_state=0), 20, 0)  # compiles
    ctypes.CDLL(None).malloc_trim(0)  # what that fit has left behind would be used again
    before = status("VmRSS")
    views, _ = load_corpus(dataset)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of reading the data
    _, seconds = timed(fit, views, n_topics, int(seed))
    measured = {
        "cpu_seconds": round(seconds, 2),
        "peak_mb": (status("VmHWM") - before) / 2**20,
        "promised_mb": promised_bytes(views, n_topics, method not in WITHOUT_ENSEMBLE) / 2**20,
    }
    print(json.dumps(measured))


def promised_bytes(views: Views, n_topics: int, clusters: bool) -> int:
    """Return the bound on the peak of a fit, parameters in single precision."""
    matrices = list(views.matrices.values())
    size = sum(m.data.nbytes + m.indices.nbytes + m.indptr.nbytes for m in matrices)
    return size + fit_bytes(matrices, n_topics, n_slots=1, itemsize=4, clusters=clusters)


if __name__ == "__main__":
    main()
