"""Fit one corpus with one library, watched: the script that every environment runs.

    python runner.py METHOD CORPUS.npz FOLDER --topics 20 --seed 0 --passes 100 --cpu 600 --gb 8

FOLDER receives `run.json` and p(w|z) after some passes. Beside the corpus there are held-out
documents, which say whether more passes still pay. A run that needs more memory than allowed ends
with the status "memory"; one in the middle of a long pass is killed by the system.
"""

import argparse
import resource
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from methods import METHODS
from observer import FitIsOver, Observer
from plateau import Plateau

WARM_UP = 3  # topics of a fit of a few documents, so that compilers and lazy imports are done


def main():
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("corpus")
    parser.add_argument("folder")
    for name, kind in (("topics", int), ("seed", int), ("passes", int), ("cpu", float)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    parser.add_argument("--at-least", type=int, default=1, help="passes before a plateau is one")
    parser.add_argument("--gb", type=float, default=8.0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.method.startswith("coview"):  # it stops by itself
        args.passes, args.cpu = 10**6, np.inf
    warm_up(args)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (int(args.gb * 2**30), limits[1]))
    plateau = None
    if not args.method.startswith("coview"):
        plateau = Plateau(Path(args.corpus).parent, args.at_least)
    observer = Observer(args.folder, args.passes, args.cpu, plateau)
    # a pass cannot be ended in the middle, but the process can: what was kept before counts
    if np.isfinite(args.cpu):
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime + 1.5 * args.cpu + 60)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    observer.write(run(args, observer))


def warm_up(args):
    """Fit a few documents, not timed."""
    counts = np.random.default_rng(0).poisson(2.0, size=(60, 30))
    counts += np.arange(30) % 3 == np.arange(60)[:, None] % 3
    observer = Observer(args.folder, min(args.passes, 2), args.cpu)
    try:
        observed = METHODS[args.method](sp.csr_matrix(counts), WARM_UP, 0)
        observer.begin()
        observed.fit(observer)
    except FitIsOver:
        pass
    (Path(args.folder) / "run.json").unlink(missing_ok=True)


def run(args, observer):
    """Fit, and return how it ended."""
    try:
        corpus = sp.load_npz(args.corpus)
        method = METHODS[args.method](corpus, args.topics, args.seed)
        del corpus  # methods keep the form they need
        observer.begin()
        method.fit(observer)
    except FitIsOver as reason:
        return str(reason)
    except MemoryError:
        return "memory"
    return "stopped"


if __name__ == "__main__":
    main()
