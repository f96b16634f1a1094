"""SQUAREM against plain EM: passes and CPU seconds to the same objective, and what defaults give.

    python benchmarks/bench_acceleration.py race [--data cora ...] [--models link ...] [--topics 10]
    python benchmarks/bench_acceleration.py starts
    python benchmarks/bench_acceleration.py defaults

`race`: from the same random start, 200 passes of plain EM; then the passes and CPU seconds (start
and everything else included) in which `acceleration="squarem"` reaches that objective. `inf` where
it does not in 400 passes: it went to another optimum. Behind it, the objective of SQUAREM's
pass 200 minus that of plain EM's, as parts per million.

`starts`: the iterations after which plain EM from `init="stepwise"` has the objectives of
iterations 20, 50 and 100 from `init="random"` (`inf` if not in 100), the same accelerated, and how
many iterations the epoch of the start costs in CPU time, without the one of the random start.

`defaults`: with all defaults, agreement of labels with the classes (NMI) of all documents,
and perplexity of one document in five that was not fitted, plain and accelerated.

Models with an unsafe step by default get `step="safe"`. One thread. COVIEW_DATA names the data.
"""

import argparse
import time
import warnings

import numpy as np

from coview.datasets import load_dataset, load_python_api
from coview.metrics import nmi_max
from coview.models import MODEL_NAMES, ONE_VIEW, model_class

DATA = ["20newsgroups", "reuters1200", "wikipedia", "python_api", "cora"]
PASSES = 200
HEADS = {
    "race": "data,model,topics,seed,passes,cpu_ratio,gain_ppm",
    "starts": "data,model,topics,seed,20,50,100,fast_20,fast_50,fast_100,cost",
    "defaults": "data,model,topics,seed,acceleration,iterations,seconds,nmi,perplexity",
}


def make(name, n_topics, **options):
    safe = {"step": "safe"} if name in ("ltm", "mggm", "pairwise") else {}
    return model_class(name)(n_topics, n_jobs=1, **safe, **options)


def timed_fit(model, views):
    start = time.process_time()
    model.fit(views)
    return time.process_time() - start


def race(name, views, n_topics, seed):
    """Return passes, CPU ratio and the difference of objectives at the same pass."""
    common = {"init": "random", "ensemble": 0, "random_state": seed, "tol": 0.0}
    if name == "voted":  # the same votes, hence the same start
        common["voter"] = make("plsa", n_topics, **common, max_iter=20)
    common["view_weights"] = "balanced"
    make(name, n_topics, max_iter=3, acceleration="squarem", **common).fit(views)  # compile
    plain = make(name, n_topics, max_iter=PASSES, **common)
    seconds = timed_fit(plain, views)
    fast = make(name, n_topics, max_iter=2 * PASSES, acceleration="squarem", **common)
    fast.fit(views)
    objective = fast.trace_.objective
    gain = 1e6 * (objective[PASSES - 1] - plain.objective_) / abs(plain.objective_)
    there = np.flatnonzero(objective >= plain.objective_)
    if not len(there):
        return np.inf, np.inf, gain
    passes = int(there[0]) + 1
    fast.set_params(max_iter=passes)
    return passes, seconds / timed_fit(fast, views), gain


def compare_starts(name, views, n_topics, seed):
    """Return iterations from the warm start, plain and accelerated, and the cost of the start."""
    common = {"ensemble": 0, "random_state": seed, "tol": 0.0, "view_weights": "balanced"}
    found = []
    for acceleration in (None, "squarem"):
        fits = {}
        for init in ("random", "stepwise"):
            options = {**common, "init": init, "acceleration": acceleration}
            fits[init] = make(name, n_topics, max_iter=100, **options).fit(views).trace_
        warm = np.array([fits["stepwise"].start_objective, *fits["stepwise"].objective])
        for pass_ in (20, 50, 100):
            there = np.flatnonzero(warm >= fits["random"].objective[pass_ - 1])
            found.append(int(there[0]) if len(there) else np.inf)
    seconds = []
    for init, n in (("random", 1), ("random", 11), ("stepwise", 1)):
        model = make(name, n_topics, max_iter=n, init=init, **common)
        seconds.append(min(timed_fit(model, views) for _ in range(3)))
    return [*found, (seconds[2] - seconds[0]) / ((seconds[1] - seconds[0]) / 10)]


def by_defaults(name, views, n_topics, seed):
    """Return iterations, CPU seconds, NMI and perplexity, plain and accelerated."""
    rng = np.random.default_rng(seed)
    new = rng.random(len(views)) < 0.2
    known, unknown = views[np.flatnonzero(~new)], views[np.flatnonzero(new)]
    found = []
    for acceleration in (None, "squarem"):
        model = make(name, n_topics, random_state=seed, acceleration=acceleration)
        seconds = timed_fit(model, views)
        row = [model.n_iter_, seconds, nmi_max(views.labels, model.labels_)]
        found.append([*row, model.fit(known).perplexity(unknown)])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["race", "starts", "defaults"])
    parser.add_argument("--data", nargs="+", default=DATA)
    parser.add_argument("--models", nargs="+", default=list(MODEL_NAMES))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--topics", type=int, nargs="+", default=[10, 20, 50])
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(HEADS[args.part])
    for data in args.data:
        views = load_python_api() if data == "python_api" else load_dataset(data)
        for name in args.models:
            if len(views.names) == 1 and name not in ONE_VIEW:
                continue
            here = views.concat() if name in ONE_VIEW and len(views.names) > 1 else views
            for k, seed in ((k, seed) for k in args.topics for seed in args.seeds):
                first = f"{data},{name},{k},{seed}"
                if args.part == "race":
                    passes, ratio, gain = race(name, here, k, seed)
                    print(f"{first},{passes},{ratio:.2f},{gain:.1f}", flush=True)
                    continue
                if args.part == "starts":
                    *iterations, cost = compare_starts(name, here, k, seed)
                    print(f"{first},{','.join(map(str, iterations))},{cost:.1f}", flush=True)
                    continue
                pairs = zip(("none", "squarem"), by_defaults(name, here, k, seed), strict=True)
                for how, (n_iter, seconds, nmi, perplexity) in pairs:
                    print(
                        f"{first},{how},{n_iter},{seconds:.2f},{nmi:.4f},{perplexity:.2f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
