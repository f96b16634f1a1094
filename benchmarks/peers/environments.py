"""An environment for each library, in a folder that git ignores: each with its own versions."""

import json
import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".bench"

# Packages of each environment. enstop and BigARTM are no longer maintained: these pins run with
# Python 3.11. The others are the newest that can be had.
PACKAGES = {
    "scikit-learn": ("scikit-learn",),
    "gensim": ("gensim",),
    "tomotopy": ("tomotopy", "scipy"),
    "enstop": (
        "enstop==0.2.6",
        *("numpy==1.23.5", "numba==0.58.1", "scikit-learn==1.3.2", "scipy==1.10.1"),
        "dask==2023.5.0",
    ),
    "bigartm": ("bigartm10==0.10.1", "six", "protobuf==3.20.3", "scipy"),
}
# The environment of each method, and the package whose version is recorded; None is coview's own
LIBRARY = {
    "coview": (None, "coview"),
    "coview-random": (None, "coview"),
    "nmf": ("scikit-learn", "scikit-learn"),
    "lda": ("scikit-learn", "scikit-learn"),
    "lda-online": ("scikit-learn", "scikit-learn"),
    "gensim": ("gensim", "gensim"),
    "tomotopy": ("tomotopy", "tomotopy"),
    "enstop": ("enstop", "enstop"),
    "bigartm": ("bigartm", "bigartm10"),
}


class CannotInstall(RuntimeError):
    """The packages of a library could not be installed; the message says what pip said."""


def python_of(method, cache=CACHE):
    """Return the interpreter of a method's environment, which is made if it is not there."""
    name = LIBRARY[method][0]
    if name is None:
        return Path(sys.executable)
    folder = Path(cache) / "environments" / name
    python, stamp = folder / "bin" / "python", folder / "installed.json"
    wanted = json.dumps(PACKAGES[name])
    if not stamp.exists() or stamp.read_text() != wanted:
        base = getattr(sys, "_base_executable", sys.executable)
        _run([base, "-m", "venv", "--clear", folder], name)
        quiet = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _run([python, *quiet, *PACKAGES[name]], name)
        stamp.write_text(wanted)
    return python


def _run(command, name):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        words = " ".join(str(c) for c in command[1:])
        lines = done.stderr.strip().splitlines()
        raise CannotInstall(f"{name}: `python {words}` failed: {lines[-1] if lines else ''}")


def version_of(method, cache=CACHE):
    """Return the version of a method's library."""
    package = LIBRARY[method][1]
    code = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([python_of(method, cache), "-c", code], capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout.strip()
    import coview  # not installed, but imported from its sources

    return coview.__version__ if package == "coview" else "unknown"
