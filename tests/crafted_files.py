"""Files that are sealed well but hold what coview never writes, and a child process to read them.

A kernel that is given wrong arrays may end the interpreter, so tests read such files in a child.
"""

import json
import subprocess
import sys

import numpy as np

from coview.store import read_sealed, write_sealed

# what can be wrong with an array of numbers
ARRAY_FAULTS = {
    "half of the rows": lambda a: a[: len(a) // 2],
    "half of the columns": lambda a: a[..., : a.shape[-1] // 2],
    "one column more": lambda a: np.concatenate([a, a[..., :1]], axis=-1),
    "no rows": lambda a: a[:0],
    "no columns": lambda a: a[..., :0],
    "flat": lambda a: a.ravel()[None] if a.ndim == 1 else a.ravel(),
    "one NaN": lambda a: with_first(a, np.nan),
    "one infinite": lambda a: with_first(a, np.inf),
    "one negative": lambda a: with_first(a, -3),
    "one too large": lambda a: with_first(a, 10**6),
    "zeros": np.zeros_like,
    "float16": lambda a: a.astype(np.float16),
    "other integers": lambda a: a.astype(np.int8),
}


def with_first(array, value):
    """Return the array with another first element, as far as its type can hold it."""
    changed = array.astype(float)
    changed.flat[:1] = value  # an empty array stays as it is
    fits = array.dtype.kind == "f" or (np.isfinite(value) and value in np.arange(-128, 128))
    with np.errstate(over="ignore"):  # too large for float16: infinite
        return changed.astype(array.dtype) if fits and array.dtype.kind != "u" else changed


def rewrite(path, new_path, kind, change):
    """Seal a changed copy: `change(header, tensors)` changes both in place."""
    header, tensors = read_sealed(path, kind)
    header, tensors = json.loads(json.dumps(header)), {n: a.copy() for n, a in tensors.items()}
    change(header, tensors)
    write_sealed(new_path, kind, header, tensors)


def outcomes_in_a_child(code, arguments, names):
    """Return what a child process printed for each name, in words about its end if it died.

    The code is given the arguments as `sys.argv[1:]`; it prints one line for each name, in order.
    """
    ran = subprocess.run(
        [sys.executable, "-u", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    lines = ran.stdout.splitlines()
    end = f"the child ended with {ran.returncode}: {ran.stderr[-2000:]}"
    return {name: lines[i] if i < len(lines) else end for i, name in enumerate(names)}
