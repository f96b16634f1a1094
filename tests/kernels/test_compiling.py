"""What is compiled, and that it is said."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

import coview.kernels
from coview.compiling import MESSAGE
from coview.datasets import make_views
from coview.em.prepared import _narrow, prepare

SCRIPT = """
import numpy as np
from coview.compiling import tell_when_compiling
tell_when_compiling(print)
from coview.kernels.kmeans import best_trial, squared_lengths
squared_lengths(np.ones((2, 3)))
best_trial(np.ones((2, 3)))
"""


def run(cache, script=SCRIPT):
    found = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )
    return found.stdout


def test_compiling_is_announced_once_and_not_from_the_cache(tmp_path):
    assert run(tmp_path).splitlines() == [MESSAGE]
    assert run(tmp_path) == ""


UNICODE = """
from numba.core import event
class Strings(event.Listener):
    def on_start(self, event):
        if "unicode" in event.data["dispatcher"].py_func.__module__:
            print(event.data["dispatcher"].py_func)
    def on_end(self, event): pass
event.register("numba:compile", Strings())
import coview.kernels.simplex
"""


def test_no_kernel_assigns_an_array_to_an_array(tmp_path):
    """numba then compiles the message of a mismatch of shapes, which takes two seconds."""
    assert run(tmp_path, UNICODE) == ""  # the kernels that are compiled on import
    numbers = re.compile(r"\[\w*:\w*\] = (-?[\d.]+( if .*)?|last|np\.inf)( *#.*)?$")
    for path in sorted(Path(coview.kernels.__path__[0]).glob("*.py")):
        for line in path.read_text().splitlines():
            if re.search(r"^\s+[\w.]+\[\w*:\w*\] = ", line):
                assert numbers.search(line), f"{path.name}: {line}"


def test_the_internal_view_needs_no_kernels_of_its_own():
    """It had indices of 64 bits, where the views of a table have 32."""
    wide = sp.csr_array(np.eye(3))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    narrow = _narrow(wide)
    assert narrow.indices.dtype == narrow.indptr.dtype == np.int32
    np.testing.assert_array_equal(narrow.toarray(), np.eye(3))
    data = prepare(make_views(20, 3, [30], random_state=0), {}, np.float32)
    ensemble = SimpleNamespace(indicators=sp.csr_array(np.ones((20, 2))))
    ensemble.indicators.indices = ensemble.indicators.indices.astype(np.int64)
    joined = replace(data, ensemble=ensemble).with_ensemble_view(0.2)
    assert {m.indices.dtype for m in joined.matrices} == {np.dtype(np.int32)}
